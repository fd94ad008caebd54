/** What an agent would get, and how well the notes of this vault are found by what they are called. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../api.js";
import { Meter, Rows } from "../charts.js";
import { arrows, useKeys } from "../keys.js";
import { documentLink, go, link } from "../router.js";
import { Button, Empty, ErrorNote, Icon, Loading, When, copy, count, duration, sentence, useAnswer } from "../ui.js";

export const title = "Recall";
export const style = "views/recall.css";

const BUDGET = 1200;
const BUDGETS = [400, 800, BUDGET, 2000, 4000, 8000];
const WHY = { project: "memory of the project", query: "answers the question", session: "a recent session" };
const NAMED = { title: "title", alias: "alias", link: "link text", heading: "heading" };
const ASKED_BY = {
  all: "All names", title: "Titles", alias: "Aliases", link: "Link texts", heading: "Headings",
};
const CONFIDENCE = { high: "", low: "Not certain: the passages may not answer the question.", none: "No sure answer." };

export default function Recall({ params }) {
  const field = useRef(null);
  useKeys("Recall", { i: ["show what an agent would get", () => field.current.select()] });
  return html`<div class="page recall">
    <div class="page-head"><h1>Recall</h1>
      <p class="dim">What an agent gets when a session begins, and how well search finds your notes.</p></div>
    <${Told} params=${params} field=${field} />
    <${SelfTest} />
  </div>`;
}

function Told({ params, field }) {
  const budget = Number(params.budget) || BUDGET;
  const asked = { ...(params.q && { query: params.q }), ...(params.project && { project: params.project }), budget };
  const inputs = [params.q, params.project, budget];
  const [answer, error, again] = useAnswer((signal) => call("recall", asked, { signal }), inputs);
  const submit = (event) => {
    event.preventDefault();
    const said = Object.fromEntries(new FormData(event.currentTarget));
    const most = Number(said.budget) === BUDGET ? "" : said.budget;
    const next = link("recall", [], { q: said.q.trim(), project: said.project.trim(), budget: most });
    if (next === location.hash) again();
    else go(next);
  };
  return html`<section aria-labelledby="told"><h2 id="told">What an agent would get</h2>
    <form class="asked" onSubmit=${submit} key=${JSON.stringify(params)}>
      <label class="wide">Question<input name="q" ref=${field} defaultValue=${params.q || ""} autocomplete="off"
        placeholder="optional" /></label>
      <label>Project<input name="project" defaultValue=${params.project || ""} autocomplete="off" placeholder="any" />
        </label>
      <label>Maximum tokens<select name="budget">${[...new Set([...BUDGETS, budget])].sort((one, other) => one - other)
        .map((one) => html`<option value=${one} selected=${one === budget}>
          ${one.toLocaleString("en")}</option>`)}</select></label>
      <button class="primary">Ask</button>
    </form>
    ${error && html`<${ErrorNote} error=${error} retry=${again} />`}
    ${!answer && !error && html`<${Loading} />`}
    ${answer && !error && (answer.text ? html`<${Answer} answer=${answer} budget=${budget} />`
      : html`<${Empty} icon="recall" title="An agent would get nothing">${params.q || params.project
        ? "No memory or passage matches."
        : "No memory applies to all projects: enter a question or a project."}<//>`)}
  </section>`;
}

function Answer({ answer, budget }) {
  return html`
    <div class="told-bar"><${Meter} kind="meter" label="Tokens of the budget" value=${answer.tokens} most=${budget} />
      <span class="small dim">${answer.tokens.toLocaleString("en")} of ${count(budget, "token")}</span></div>
    ${CONFIDENCE[answer.confidence] && html`<p class="small warned">${CONFIDENCE[answer.confidence]}</p>`}
    ${answer.degraded.map((one) => html`<p class="small warned" key=${one}>${sentence(one)}</p>`)}
    <div class="told-answer">
      <div class="card told-text"><div class="apart"><h3>The text</h3>
        <button class="quiet" aria-label="Copy the text" title="Copy" onClick=${() => copy(answer.text, "The text")}>
          <${Icon} name="copy" /></button></div>
        <${Quoted} text=${answer.text} /></div>
      <div><h3>Sources</h3>
        <ol class="told-from" onKeyDown=${(event) => arrows(event)}>${answer.sources.map((one) => html`<li
          key=${one.id + one.lines} data-item>
          <${Icon} name=${{ memory: "memory", session: "sessions" }[one.kind] || "document"} /><div>
          <a href=${documentLink(one, { lines: one.lines.join("-") })}>${one.title}</a>
          <p class="small dim">${WHY[one.why]}${one.project ? ` · ${one.project}` : ""}${" · "}
            <${When} time=${one.created} />${` · ${linesOf(one)}`}</p></div></li>`)}</ol>
        ${answer.waiting > 0 && html`<p class="small"><a href=${link("review")}>
          ${count(answer.waiting, "memory", "memories")} to review</a></p>`}
      </div>
    </div>`;
}

function linesOf({ lines: [first, last], whole }) {
  return (first === last ? `line\u00a0${first}` : `lines\u00a0${first}–${last}`) + (whole ? "" : ", cut");
}

const LOOKS = { ">": "quote", "<": "frame", "`": "place" };

/** The text as it is; what is quoted looks so. */
const Quoted = ({ text }) => html`<pre class="quoted" tabindex="0"
  aria-label="What the agent reads">${text.split("\n").map((line) => html`<span
  class=${LOOKS[line[0]] || ""}>${line}</span>`)}</pre>`;

/** The last test, kept for as long as the page is open: it takes a while. */
let lastReport = null;

function SelfTest() {
  const [report, setReport] = useState(lastReport);
  const [began, setBegan] = useState(0);
  const [error, setError] = useState(null);
  const there = useRef(true);
  useEffect(() => () => { there.current = false; }, []);
  const run = async () => {
    if (began) return;
    setBegan(Date.now());
    setError(null);
    try {
      const { recall } = await call("doctor", { recall: true });
      lastReport = recall && { ...recall, at: new Date().toISOString() };
      if (there.current) setReport(lastReport);
    } catch (refused) {
      if (there.current) setError(refused);
    }
    if (there.current) setBegan(0);
  };
  useKeys("How well search finds your notes", { x: ["test how well search finds notes", run] });
  return html`<section class="self-test" aria-labelledby="test"><div class="apart"><h2
    id="test">How well search finds your notes</h2>
      <${Button} icon="check" onClick=${run} disabled=${Boolean(began)}
        title="Searches for notes by their names (x)">${report ? "Test again" : "Test it"}<//></div>
    <p class="dim">The test searches for up to 200 notes by their titles, aliases, headings and link texts. It stores
      nothing.</p>
    ${began > 0 && html`<${Running} began=${began} before=${report?.seconds} />`}
    ${error && html`<${ErrorNote} error=${error} retry=${run} />`}
    ${report && html`<${Report} report=${report} />`}
  </section>`;
}

function Running({ began, before }) {
  const [now, setNow] = useState(began);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((now - began) / 1000));
  return html`<div class="card"><p role="status">Searching for notes by their names. In a large vault this takes a minute or two.</p>
    <${Meter} label="Test" value=${0} most=${0} />
    <p class="small dim">${duration(seconds)}${before ? `; last time it took ${duration(before)}` : ""}.
      ${" You can leave this view meanwhile."}</p></div>`;
}

const share = (value) => `${(100 * value).toFixed(value === 1 ? 0 : 1)} %`;

function Report({ report }) {
  if (!report.queries) {
    return html`<${Empty} icon="recall" title="There are no notes to search for">
      Names of notes are what is asked for.<//>`;
  }
  const rows = [{ ...report, named_by: "all" }, ...report.classes].map((one) => ({
    label: ASKED_BY[one.named_by] || one.named_by, note: count(one.queries, "question"),
    value: one.recall_5, told: share(one.recall_5),
  }));
  return html`
    <div class="cards">
      <div class="card"><h3>Among the first five hits</h3>
        <${Rows} label="Share of the questions whose note is among the first five hits"
          rows=${rows} />
        <p class="small dim">${count(report.documents, "note")}, tested <${When} time=${report.at} />
          ${` in ${duration(report.seconds)}.`}</p></div>
    </div>
    <${Hard} hard=${report.hard} />`;
}

function Hard({ hard }) {
  if (!hard.length) return html`<p class="found-all"><${Icon}
    name="check" /> Each note is among the first five hits for all of its names.</p>`;
  return html`<div><h3>Hard to find</h3>
    <ol class="hard" onKeyDown=${(event) => arrows(event)}>${hard.map((one) => html`<${HardOne}
      key=${one.query + one.path} one=${one} />`)}</ol></div>`;
}

function HardOne({ one }) {
  const [open, setOpen] = useState(false);
  return html`<li data-item>
    <div class="apart"><div>
      <a href=${link("search", [], { q: one.query })}><q>${one.query}</q></a>
      <p class="small dim">${NAMED[one.named_by] || one.named_by} of <a
        href=${link("doc", [], { ref: one.path })}>${one.path}</a></p></div>
      <div class="row"><span class="chip">${one.rank ? `hit ${one.rank}` : "not in 20"}</span>
        <button class="small" aria-expanded=${open} aria-label=${`Why? (${one.query})`}
          onClick=${() => setOpen(!open)}>Why?</button></div></div>
    ${open && html`<${Because} one=${one} />`}
  </li>`;
}

function Because({ one }) {
  const [why, error] = useAnswer((signal) => call("why", { query: one.query, ref: one.path }, { signal }), []);
  if (error) return html`<${ErrorNote} error=${error} />`;
  if (!why) return html`<${Loading} />`;
  const explained = why.hit?.explain;
  const channels = Object.entries(explained?.channels || {})
    .map(([name, { rank }]) => `number ${rank} by ${name === "vector" ? "meaning" : "words"}`);
  const words = (why.reading?.words || []).map((word) => `“${word.text}” is in ${count(word.texts, "passage")}`);
  return html`<div class="because small">
    ${why.reasons.map(({ message, hint }) => html`<p key=${message}>${`${sentence(message)} ${sentence(hint)}`}</p>`)}
    ${explained && html`<p class="dim">Its best passage has score ${why.hit.score.toFixed(2)}:
      ${` ${channels.join(", ")}.`}
      ${explained.missing.length > 0 && ` It lacks: ${explained.missing.join(", ")}.`}</p>`}
    ${words.length > 0 && html`<p class="dim">${words.join(", ")}.</p>`}
  </div>`;
}
