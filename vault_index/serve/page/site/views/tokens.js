/** Who may ask by way of this address: tokens are made, shown once, and revoked; and pages are signed out. */

import { html, useState } from "../vendor/preact.js";
import { ask, signOut } from "../api.js";
import { CommandBlock } from "../commands.js";
import { arrows, useKeys } from "../keys.js";
import { Button, Dialog, Empty, ErrorNote, Icon, Loading, When, day, sentence, toast, useAnswer } from "../ui.js";

export const title = "Tokens";
export const style = "views/tokens.css";

const ENDS = [
  ["in 30 days", "30 days"], ["in 3 months", "3 months"], ["in 1 year", "a year"], ["", "until revoked"],
  ["day", "a date"],
];
/** Which field a refusal is about, by its words. */
const ABOUT = [
  ["expires", /^expires/], ["folders", /folder/], ["projects", /^project/],
  ["sources", /source/], ["name", /name of a token|token \S+ already|has a name/],
];

export default function Tokens() {
  const [told, error, again] = useAnswer((signal) => ask("tokens", {}, { signal }), []);
  const [making, setMaking] = useState(false);
  const [ending, setEnding] = useState(null);
  useKeys("Tokens", { n: ["make a token", () => setMaking(true)] });
  const end = async () => {
    const { name } = ending;
    setEnding(null);
    try {
      await ask("tokens", { revoke: name });
    } catch (refused) {
      if (refused.status === 401) return; // signed out already
      toast(sentence(refused.message), null, "fault");
      again();
      return;
    }
    if (name === told.name) signOut();
    else {
      toast(ending.owner ? "That page is signed out." : `${name} is revoked.`);
      again();
    }
  };
  const callers = told?.results.filter((one) => !one.owner) || [];
  const mine = (one) => one.name === told.name;
  const pages = told?.results.filter((one) => one.owner).sort((one, other) => mine(other) - mine(one)) || [];
  return html`<div class="page tokens">
    <div class="page-head"><h1>Tokens</h1><p class="dim">Who may use this server, and what each token may see.</p>
      <${Button} kind="primary" icon="plus" onClick=${() => setMaking(true)} title="n">Create a token<//></div>
    ${error && html`<${ErrorNote} error=${error} retry=${again} />`}
    ${!told && !error && html`<${Loading} />`}
    ${told && html`
      <section aria-labelledby="callers"><h2 id="callers">Programs and machines</h2>
        ${callers.length ? html`<ul onKeyDown=${(event) => arrows(event)}>${callers.map((one) => html`<${Caller}
          key=${one.name} one=${one} end=${setEnding} />`)}</ul>`
          : html`<${Empty} icon="tokens" title="No token yet">
            An agent, another machine or a script needs a token to use this server.<//>`}
      </section>
      <section aria-labelledby="pages"><h2 id="pages">Signed-in pages</h2>
        <ul onKeyDown=${(event) => arrows(event)}>${pages.map((one) => html`<${SignedIn} key=${one.name} one=${one}
          mine=${mine(one)} end=${setEnding} />`)}</ul></section>`}
    ${making && html`<${Make} sources=${told?.sources || []} close=${() => { setMaking(false); again(); }} />`}
    ${ending && html`<${Dialog} title=${ending.owner ? "Sign out" : `Revoke ${ending.name}`}
      close=${() => setEnding(null)}>
      <p>${endsWhat(ending, told)}</p>
      <div class="row actions"><button class="danger" onClick=${end}>${ending.owner ? "Sign out" : "Revoke"}</button>
        <button onClick=${() => setEnding(null)}>Cancel</button></div><//>`}
  </div>`;
}

function endsWhat(one, { name }) {
  if (one.name === name) return "To sign in again, run vault-index open on the machine with your vault.";
  if (one.owner) return "The other page must sign in again.";
  return "The next request with this token is refused. This cannot be undone.";
}

/** `everything`, or `vault, below work/acme or plans, of the project acme`. */
function seen({ sources, folders, projects }) {
  const below = folders.length ? `below ${folders.join(" or ")}` : "";
  const of = projects.length ? `of the project ${projects.join(" or ")}` : "";
  const parts = [sources.join(", "), below, of].filter(Boolean);
  if (!parts.length) return "everything";
  return `${sources.length ? "" : "documents "}${parts.join(", ")}`;
}

function Caller({ one, end }) {
  return html`<li class=${one.expired ? "expired" : ""} data-item><div class="who">
      <p><b>${one.name}</b>
        <span class=${`chip ${one.writes && !one.expired ? "on" : ""}`}>
          ${one.writes ? "reads and writes" : "reads"}</span>${one.expired && html` <span class="chip">expired</span>`}</p>
      <p>Sees ${seen(one)}.</p>
      <p class="small dim">Created <${When} time=${one.created} /> · ${until(one)}</p></div>
    <button class="danger small" onClick=${() => end(one)} aria-label=${`Revoke ${one.name}`}>Revoke</button></li>`;
}

function until({ expires, expired }) {
  if (!expires) return "valid until revoked";
  return `${expired ? "expired on" : "valid until"} ${day(expires)}`;
}

const SignedIn = ({ one, mine, end }) => html`<li class=${one.expired ? "expired" : ""} data-item><div class="who">
    <p><b>${mine ? "This page" : "Another page"}</b>${mine && html` <span
      class="chip on">you are here</span>`}${one.expired && html` <span class="chip">expired</span>`}</p>
    <p class="small dim">Signed in <${When} time=${one.created} /> · ${until(one)} · <span
      class="mono">${one.name}</span></p></div>
  <button class="small" onClick=${() => end(one)}
    aria-label=${mine ? "Sign out this page" : `Sign out ${one.name}`}>Sign out</button></li>`;

const EMPTY = {
  name: "", writes: false, sources: [], folders: "", projects: "", ends: "in 3 months", day: "",
};

function Make({ sources, close }) {
  const [said, setSaid] = useState(EMPTY);
  const [error, setError] = useState(null);
  const [made, setMade] = useState(null);
  const say = (change) => {
    setSaid((before) => ({ ...before, ...change }));
    setError(null);
  };
  const part = said.sources.length > 0 || said.folders.trim();
  const submit = async (event) => {
    event.preventDefault();
    try {
      setMade(await ask("tokens", { add: asked(said) }));
    } catch (refused) {
      setError(refused);
      const field = aboutWhat(refused);
      event.target.querySelector(`[name="${field === "expires" ? "day" : field}"]`)?.focus();
    }
  };
  if (made) return html`<${Dialog} title=${`The token of ${made.made.name}`} close=${close}><${Made} made=${made}
    close=${close} /><//>`;
  const at = error && aboutWhat(error);
  const fault = (field) => at === field && html`<p class="field-fault" id=${`fault-${field}`}
    role="alert">${sentence(error.message)} ${error.hint && sentence(error.hint)}</p>`;
  const field = (name) => ({
    name, value: said[name], onInput: (event) => say({ [name]: event.target.value }),
    autocomplete: "off", spellcheck: false,
    "aria-invalid": at === name ? "true" : null, "aria-describedby": at === name ? `fault-${name}` : null,
  });
  const turned = (one) => {
    const others = said.sources.filter((other) => other !== one);
    return others.length < said.sources.length ? others : [...others, one];
  };
  return html`<${Dialog} title="Create a token" close=${close}><form class="make" onSubmit=${submit}>
    <label>Name<input ...${field("name")} autofocus placeholder="laptop, ci, claude-code" /></label>${fault("name")}
    <fieldset><legend>Permissions</legend>
      ${[[false, "read"], [true, "read, and write memories"]].map(([writes, label]) => html`<label class="choice">
        <input type="radio" name="writes" checked=${said.writes === writes}
          onChange=${() => say({ writes })} />${label}</label>`)}</fieldset>
    <fieldset><legend>Scope</legend>
      <p class="small dim">${part || said.projects.trim() ? "Only documents that match all of these:"
        : "Everything. To limit it, choose:"}</p>
      <div class="row" role="group" aria-label="Sources">${sources.map((one) => html`<button type="button" class="chip"
        key=${one} aria-pressed=${said.sources.includes(one)}
        onClick=${() => say({ sources: turned(one) })}>${one}</button>`)}</div>${fault("sources")}
      <label>Folders, one per line<textarea rows="2" ...${field("folders")} placeholder="work/acme"></textarea>
        </label>${fault("folders")}
      <label>Projects, separated by commas<input ...${field("projects")} placeholder="acme, website" />
        </label>${fault("projects")}
    </fieldset>
    <fieldset><legend>Valid for</legend>
      <div class="row" role="group" aria-label="Valid for">${ENDS.map(([ends, label]) => html`<button type="button"
        class="chip" key=${label} aria-pressed=${said.ends === ends}
        onClick=${() => say({ ends })}>${label}</button>`)}</div>
      ${said.ends === "day" && html`<label>Last valid day<input type="date" ...${field("day")} required />
        </label>`}${fault("expires")}</fieldset>
    ${error && !at && html`<${ErrorNote} error=${error} />`}
    <div class="row actions"><button type="submit" class="primary">Create</button><button type="button"
      onClick=${close}>Cancel</button></div>
  </form><//>`;
}

const aboutWhat = ({ message }) => ABOUT.find(([, words]) => words.test(message))?.[0];

/** As the server wants it: what restricts nothing is left out. */
function asked({ name, writes, sources, folders, projects, ends, day: last }) {
  const listed = { sources, folders: lines(folders, "\n"), projects: lines(projects, ",") };
  const given = Object.fromEntries(Object.entries(listed).filter(([, values]) => values.length));
  return { name: name.trim(), writes, ...given, expires: ends === "day" ? last : ends };
}

const lines = (text, mark) => text.split(mark).map((one) => one.trim()).filter(Boolean);

function Made({ made: { token, made, warnings }, close }) {
  const header = `Authorization: Bearer ${token}`;
  const url = `${location.origin}/mcp`;
  const server = { type: "http", url, headers: { Authorization: `Bearer ${token}` } };
  const json = `-H "Content-Type: application/json" -d '{"query": "wal", "limit": 5}'`;
  return html`<div class="made">
    <div class="note"><${Icon} name="tokens" /><div><strong>Copy the token now: it is not shown again.</strong>
      <p class="small">${made.name} ${made.writes ? "reads and writes" : "reads"} ${seen(made)}, ${until(made)}.</p>
        </div></div>
    ${warnings.map((one) => html`<div class="note warn" key=${one}><${Icon} name="warning" /><div>${one}</div></div>`)}
    <${CommandBlock} label="Token" text=${token} />
    <${CommandBlock} label="Claude Code"
      text=${`claude mcp add --transport http vault-index ${url} --header "${header}"`} />
    <${CommandBlock} label="Another MCP client"
      text=${JSON.stringify({ mcpServers: { "vault-index": server } }, null, 2)} />
    <${CommandBlock} label="curl" text=${`curl ${location.origin}/api/search -H "${header}" ${json}`} />
    <div class="row actions"><button class="primary" onClick=${close}>Done</button></div>
  </div>`;
}
