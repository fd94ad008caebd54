/** Sessions with agents: when they were held, what was worked on, and which they are. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../api.js";
import { Calendar } from "../calendar.js";
import { Command } from "../commands.js";
import { arrows, focusItem, useKeys } from "../keys.js";
import { go, here, link } from "../router.js";
import { Button, Empty, ErrorNote, Icon, Loading, count, duration, useAnswer, useChanges } from "../ui.js";
import { addDays, clientName, clock, dayName, dayOf, mondayOf, today } from "../times.js";

export const title = "Sessions";
export const style = "views/sessions.css";

const PAGE = 40;
const CARDS = 3;
const WEEKS = 53;
const SPANS = [["", "Any time"], ["1 week ago", "7 days"], ["30 days ago", "30 days"]];

export default function Sessions({ params }) {
  const { project, client, day, since, file } = params;
  const subagents = Boolean(params.subagents);
  const calendar = useRef(null);
  const list = useRef(null);
  const field = useRef(null);
  const place = (changed) => link("sessions", [], { ...params, ...changed });
  // A field says its change as late as when it is gone, with whoever went elsewhere.
  const show = (changed, options) => here().name === "sessions" && go(place(changed), options);

  const asked = { project, client, subagents };
  const first = addDays(mondayOf(today()), -7 * (WEEKS - 1));
  const byDay = (of, signal) => call("sessions", given({ ...of, days: true }), { signal });
  const [counts, failed, again] = useAnswer((signal) => byDay(asked, signal), [project, client, subagents]);
  // What there is to choose from does not shrink by choosing.
  const [whole] = useAnswer(async (signal) => (project || client) && byDay({}, signal), [Boolean(project || client)]);
  const all = whole || counts;
  const of = given({ project, client, file, since: day || since, until: day });
  const found = usePages({ ...of, ...(subagents && { subagents }) });
  useChanges(() => {
    again();
    found.again();
  }, 5000);

  const chosen = project || client || day || since || file;
  useKeys("Sessions", {
    c: ["go to the calendar", () => calendar.current?.focus()],
    l: ["go to the list", () => focusItem(list.current?.querySelector("[data-item]"))],
    f: ["sessions that used a file", () => field.current?.focus()],
    a: ["show all again", () => go(link("sessions"))],
  });

  if (!chosen && all?.total === 0) return html`<${None} />`;
  return html`<div class="page">
    <div class="page-head"><h1>Sessions</h1>
      ${all?.total > 0 && html`<p class="dim sessions-all">
        ${count(all.total, "session")} with ${listed(all.clients.map(({ name }) => clientName(name)))}</p>`}</div>
    ${failed && html`<${ErrorNote} error=${failed} retry=${again} />`}
    ${!file && html`<${Calendar} focus=${calendar} first=${first} weeks=${WEEKS} counts=${counts?.results}
      selected=${day} choose=${(one) => show({ day: one === day ? "" : one, since: "" })} />`}
    <div class="sessions-filters" role="group" aria-label="Filters">
      <${Choice} label="Project" value=${project} counts=${all?.projects} choose=${(name) => show({ project: name })} />
      <${Choice} label="Client" value=${client} counts=${all?.clients} shown=${clientName}
        choose=${(name) => show({ client: name })} />
      <label class="field"><span>Day</span>
        <input type="date" max=${today()} value=${day || ""}
          onChange=${(event) => show({ day: event.target.value, since: "" })} /></label>
      <label class="field wide"><span>Used the file</span>
        <input type="search" ref=${field} value=${file || ""} placeholder="src/app.py" spellcheck=${false}
          autocomplete="off" onChange=${(event) => show({ file: event.target.value.trim() })} /></label>
    </div>
    <div class="row sessions-chips">
      ${SPANS.map(([value, label]) => html`<button class="chip" aria-pressed=${!day && (since || "") === value}
        onClick=${() => show({ since: value, day: "" })}>${label}</button>`)}
      ${!file && html`<button class="chip" aria-pressed=${subagents}
        onClick=${() => show({ subagents: subagents ? "" : 1 })}>With subagents</button>`}
      ${chosen && html`<button class="chip" onClick=${() => go(link("sessions"))}>
        <${Icon} name="close" />Show all</button>`}
    </div>
    ${found.results && html`<${Worked} of=${of} span=${spanOf(day, since)}
      choose=${(name) => show({ project: name })} />`}
    ${found.error && html`<${ErrorNote} error=${found.error} retry=${found.again} />`}
    ${!found.results && !found.error && html`<${Loading} what="Loading the sessions" />`}
    ${found.results && !found.results.length && html`<${Empty} icon="sessions" title="No sessions match">
      <${Button} onClick=${() => go(link("sessions"))}>Show all<//><//>`}
    <div class="sessions-list" ref=${list} onKeyDown=${(event) => arrows(event, calendar.current)}>
      ${grouped(found.results || [], day).map(({ name, when, sessions }) => html`
        <section key=${name} aria-label=${name}>
          <h2 class="day"><span>${name}</span>${when && html` <small class="dim">${when}</small>`}</h2>
          <ol>${sessions.map((one) => html`<${Row} key=${one.id} session=${one} project=${project} />`)}</ol>
        </section>`)}
      ${found.more && html`<p class="more">
        <${Button} data-item onClick=${found.next} disabled=${found.waits}>Show more<//></p>`}
    </div>
  </div>`;
}

const None = () => html`<div class="page narrow">
  <div class="page-head"><h1>Sessions</h1></div>
  <${Empty} icon="sessions" title="There are no sessions yet">
    <p>Sessions of Claude Code, Codex, OpenCode and other agents appear here automatically.</p>
    <p>To include a client: <${Command} text="vault-index config set sessions.claude-code.enabled true" /></p><//>
</div>`;

function Row({ session, project }) {
  const { edits, reads } = session;
  const touched = edits ? `wrote it${times(edits)}` : reads ? `read it${times(reads)}` : "";
  const facts = [
    session.project !== project && session.project, clientName(session.client), session.model,
    session.turns && count(session.turns, "turn"), session.files && count(session.files, "file"),
  ];
  return html`<li data-item>
    <a href=${link("doc", [], { ref: session.id })}>
      <span class="name">${session.title || session.session}</span>
      <span class="facts">
        ${session.parent && html`<b class="sub">subagent</b>`}${touched && html`<b>${touched}</b>`}
        ${facts.filter(Boolean).map((fact) => html`<span>${fact}</span>`)}
      </span>
      <span class="when"><time datetime=${session.updated}>${clock(session.created)}</time>
        <small>${session.duration < 60 ? "< 1 min" : duration(session.duration)}</small></span>
    </a></li>`;
}

const times = (number) => (number > 1 ? ` ${number} times` : "");

/** What was worked on in this time, by project: counted by the server, from the calls of tools. */
function Worked({ of, span, choose }) {
  const [every, setEvery] = useState(false);
  const key = JSON.stringify(of);
  const [told] = useAnswer((signal) => {
    const asked = { ...of, since: of.since || "1 week ago", summary: true, limit: every ? 60 : CARDS };
    return call("sessions", asked, { signal });
  }, [key, every]);
  if (!told?.results.length) return null;
  const most = told.results[0].duration || 1;
  const facts = [count(told.sessions, "session"), duration(told.duration), told.tokens && `${short(told.tokens)} tokens`];
  return html`<section class="worked" aria-labelledby="worked">
    <div class="apart"><h2 id="worked">What was worked on</h2>
      <p class="dim small">${span}: ${facts.filter(Boolean).join(" · ")}</p></div>
    <div class="cards">${told.results.map((one) => html`
      <${Work} key=${one.project} work=${one} most=${most} choose=${choose} />`)}</div>
    ${told.total > CARDS && html`<p><${Button} kind="quiet" aria-expanded=${every} onClick=${() => setEvery(!every)}>
      ${every ? "Fewer projects" : `All ${told.total} projects`}<//></p>`}
  </section>`;
}

function Work({ work, most, choose }) {
  const failing = work.failing.filter(({ outcome }) => outcome !== "ok");
  return html`<div class="card work">
    <div class="apart"><h3>${work.project
      ? html`<button class="plain" onClick=${() => choose(work.project)}>${work.project}</button>` : "No project"}</h3>
      <span class="dim small">${duration(work.duration)}</span></div>
    <div class="share" aria-hidden="true">
      <i style=${{ width: `${Math.max(2, (100 * work.duration) / most)}%` }} /></div>
    <p class="dim small">${[
      count(work.sessions.length, "session"), work.subagents && count(work.subagents, "subagent"),
      work.files && `${count(work.files, "file")} written`, work.commands && count(work.commands, "command"),
    ].filter(Boolean).join(" · ")}</p>
    ${work.written.length > 0 && html`<ul>${work.written.slice(0, 3).map(({ path, edits }) => html`
      <li><a class="mono" href=${link("sessions", [], { file: path })} title=${path}>${path}</a>
        <span class="dim small">${edits}×</span></li>`)}</ul>`}
    ${failing.length > 0 && html`<p class="failing small"><${Icon} name="warning" /><span>
      <b>${count(failing.length, "command")} still ${failing.length === 1 ? "fails" : "fail"}</b>:${" "}
      <code>${cut(failing[0].command)}</code></span></p>`}
  </div>`;
}

function Choice({ label, value, counts, choose, shown = (name) => name }) {
  const names = (counts || []).filter(({ name }) => name);
  if (value && !names.some(({ name }) => name === value)) names.unshift({ name: value });
  return html`<label class="field"><span>${label}</span>
    <select value=${value || ""} onChange=${(event) => choose(event.target.value)}>
      <option value="">All</option>
      ${names.map(({ name, sessions }) => html`
        <option value=${name}>${shown(name)}${sessions ? ` (${sessions})` : ""}</option>`)}
    </select></label>`;
}

/** The pages of a list that are there: `next` gets one more. */
function usePages(asked) {
  const key = JSON.stringify(asked);
  const [state, setState] = useState({});
  const turn = useRef(0);
  const ask = async (results) => {
    const mine = ++turn.current;
    setState((before) => ({ ...before, waits: true }));
    try {
      const found = await call("sessions", { ...asked, limit: PAGE, offset: results.length });
      if (mine !== turn.current) return;
      const known = new Set(results.map(({ id }) => id));
      const joined = [...results, ...found.results.filter(({ id }) => !known.has(id))];
      const more = found.total === null || results.length + found.results.length < found.total;
      setState({ key, results: joined, more });
    } catch (error) {
      if (mine === turn.current) setState({ key, error });
    }
  };
  useEffect(() => {
    ask([]);
    return () => { turn.current += 1; };
  }, [key]);
  // What changed is seen where one looks at the newest; whoever read on stays where they are.
  const again = () => (!state.results || state.results.length <= PAGE) && ask([]);
  return { ...state, again, next: () => ask(state.results) };
}

/** By the day they ended on; of one day those that it saw, and those that only may have gone on through it. */
function grouped(results, day) {
  if (day) {
    const saw = (one) => dayOf(one.created) === day || dayOf(one.updated) === day;
    return [
      { name: dayName(day, today(), true), sessions: results.filter(saw) },
      {
        name: "Began earlier, ended later",
        when: "possibly inactive on this day",
        sessions: results.filter((one) => !saw(one)),
      },
    ].filter(({ sessions }) => sessions.length);
  }
  const groups = new Map();
  for (const one of results) {
    const ended = dayOf(one.updated);
    if (!groups.has(ended)) groups.set(ended, { name: dayName(ended, today()), sessions: [] });
    groups.get(ended).sessions.push(one);
  }
  return [...groups.values()];
}

function spanOf(day, since) {
  if (day) return dayName(day, today(), true);
  if (!since || since === "1 week ago") return "In the last 7 days";
  return since === "30 days ago" ? "In the last 30 days" : `Since ${since}`;
}

const given = (params) => Object.fromEntries(Object.entries(params).filter(([, value]) => value));

const short = (number) => new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(number);

const cut = (text) => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

const listed = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);
