/** How the index is doing: what it watches, what waits, what is wrong, what it takes, and what left this machine. */

import { html, useContext, useEffect, useRef, useState } from "../vendor/preact.js";
import { ask, call } from "../api.js";
import { Meter, Spark, Stacked, Bars } from "../charts.js";
import { Remedy } from "../commands.js";
import { useKeys } from "../keys.js";
import { link } from "../router.js";
import { clientName } from "../times.js";
import { About, Button, ErrorNote, Icon, Loading, When, bytes, count, duration, useAnswer, useChanges } from "../ui.js";
import { Ledger } from "./ledger.js";

export const title = "Health";
export const style = "views/health.css";

const MONTHS = 12;
const SHOWN = 6;
const RATES = 40;
const STAGES = { text: "Reading documents", embed: "Embedding passages" };
const WATCHED = { native: "by system events", polling: "by polling" };
/** Until these are mended, something is not found, not kept or not safe. */
const SERIOUS = new Set([
  "index_corrupt", "index_damaged", "index_too_new", "state_damaged", "not_saved", "disk_full", "source_vanished",
  "config", "tokens", "vectors", "terms", "permissions", "failed", "not_set_up",
]);

const kindName = (kind) => (kind === "vault" ? kind : `sessions of ${clientName(kind)}`);
const number = (value) => (value ?? 0).toLocaleString("en");

export default function Health() {
  const [status, error, again] = useRenewed((signal) => call("status", {}, { signal }));
  const [stats] = useAnswer((signal) => call("stats", {}, { signal }), [status?.index.documents, status?.index.chunks]);
  const [disk] = useAnswer((signal) => ask("disk", {}, { signal }), [status]);
  const [work, rates] = useProgress(status);
  const [checked, checking, check, fault] = useCheck();
  useKeys("Health", { x: ["check everything", check] });

  if (!status) return html`<div class="page"><h1>Health</h1>${error ? html`<${ErrorNote} error=${error}
    retry=${again} />` : html`<${Loading} />`}</div>`;
  const problems = allProblems(status, checked);
  return html`<div class="page health">
    <div class="page-head">
      <h1>Health</h1>
      <p class="dim" role="status">${inShort(status, work, problems)}</p>
      <${Button} icon="check" onClick=${check} disabled=${checking} title="Checks the whole index (x)">
        ${checking ? "Checking…" : "Check everything"}<//>
    </div>
    ${error && html`<${ErrorNote} error=${error} retry=${again} />`}
    ${fault && html`<${ErrorNote} error=${fault} retry=${check} />`}
    ${checked && html`<p class="checked" role="status"><${Icon} name=${checked.healthy ? "check" : "warning"} />
      Everything was checked <${When} time=${checked.at} />:
      ${checked.healthy ? " no problems found." : ` ${count(checked.problems.length, "problem")}, listed below.`}</p>`}
    <${Numbers} stats=${stats} status=${status} />
    <${Problems} problems=${problems} />
    <div class="cards">
      <${Watch} status=${status} />
      <${Work} work=${work} rates=${rates} indexed=${stats?.indexed} />
      <${Embedder} status=${status} />
      <${Disk} disk=${disk} />
    </div>
    <${Sources} sources=${status.sources} />
    <${Ledger} spent=${status.spent} provider=${status.embedder.provider} />
    <${Growth} documents=${status.index.documents} />
  </div>`;
}

function inShort(status, { work }, problems) {
  if (!status.daemon.running) return "The daemon is not running: search shows the state of the last sync.";
  if (work) return `${STAGES[work.stage] || "Working"}: ${percent(work.done, work.total)}.`;
  if (problems.length) return `${count(problems.length, "problem")}. Everything else is up to date.`;
  return "No problems. Everything is up to date.";
}

const percent = (done, total) => (total ? `${Math.floor((100 * done) / total)} %` : number(done));

/** Those of `status`, and what only a look through everything finds; serious ones first. */
function allProblems(status, checked) {
  const all = [...status.problems, ...(checked?.problems || [])];
  const byText = new Map(all.map((one) => [one.code + one.message, one]));
  return [...byText.values()].sort((one, other) => SERIOUS.has(other.code) - SERIOUS.has(one.code));
}

/** Asked again when something changed: not before it was answered, nor so often that asking is work itself. */
function useRenewed(asked) {
  const state = useRef({ asking: false, rest: 0 }).current;
  const timed = async (signal) => {
    const began = performance.now();
    state.asking = true;
    try {
      return await asked(signal);
    } finally {
      state.asking = false;
      state.rest = performance.now() + Math.min(60_000, 4 * (performance.now() - began));
    }
  };
  const [answer, error, again] = useAnswer(timed, []);
  const renew = () => {
    clearTimeout(state.timer);
    if (state.asking || performance.now() < state.rest) state.timer = setTimeout(renew, 1000);
    else again();
  };
  useChanges(({ event, data }) => (event === "changed" || !data.progress?.work) && renew(), 1500);
  useEffect(() => {
    const minute = setInterval(() => document.hidden || renew(), 60_000);
    return () => {
      clearInterval(minute);
      clearTimeout(state.timer);
    };
  }, []);
  return [answer, error, again];
}

/** What the daemon works at, as it tells it each second; and how fast that went of late. */
function useProgress(status) {
  const [told, setTold] = useState(null);
  const [rates, setRates] = useState([]);
  useEffect(() => {
    const changed = ({ detail: { data } }) => {
      if (!data.progress) return;
      setTold(data.progress);
      const { work } = data.progress;
      setRates((before) => (work ? [...before, work.rate].slice(-RATES) : []));
    };
    addEventListener("vault-index:changed", changed);
    return () => removeEventListener("vault-index:changed", changed);
  }, []);
  // What `status` says is newer where it came last.
  useEffect(() => setTold(null), [status]);
  return [told || { work: status?.daemon.work || null, waiting: 0, pending: status?.index.pending || 0 }, rates];
}

function useCheck() {
  const [state, setState] = useState({ found: null, checking: false, fault: null });
  const check = () => {
    if (state.checking) return;
    setState({ ...state, checking: true, fault: null });
    call("doctor").then(
      (found) => setState({ found: { ...found, at: new Date().toISOString() }, checking: false, fault: null }),
      (fault) => setState({ found: null, checking: false, fault }),
    );
  };
  return [state.found, state.checking, check, state.fault];
}

function Numbers({ stats, status }) {
  const sum = (key) => (stats ? number(stats[key]) : "–");
  const shown = [
    ["note", "notes", sum("notes"), link("search", [], { q: "kind:note" })],
    ["memory", "memories", sum("memories"), link("search", [], { q: "kind:memory" })],
    ["session", "sessions", sum("sessions"), link("sessions")],
    ["passage", "passages", number(status.index.chunks)],
    ["tag", "tags", sum("tags")],
    ["author", "authors", sum("agents")],
  ];
  return html`<dl class="numbers">${shown.map(([one, several, value, to]) => html`<div key=${one}>
    <dt>${value === "1" ? one : several}</dt><dd>${to ? html`<a href=${to}>${value}</a>` : value}</dd></div>`)}</dl>`;
}

function Problems({ problems }) {
  const [all, setAll] = useState(false);
  if (!problems.length) return null;
  const shown = all ? problems : problems.slice(0, SHOWN);
  return html`<section class="problems" aria-labelledby="problems"><h2 id="problems">Problems</h2>
    <ul>${shown.map((one) => html`<li key=${one.code + one.message} class=${SERIOUS.has(one.code) ? "serious" : ""}>
      <${Icon} name="warning" /><div><p><${Placed} text=${one.message} /></p>
      ${one.hint && html`<${Remedy} hint=${one.hint} />`}</div></li>`)}</ul>
    ${problems.length > SHOWN && html`<button class="small" onClick=${() => setAll(!all)} aria-expanded=${all}>
      ${all ? "Show fewer" : `Show all ${problems.length}`}</button>`}
  </section>`;
}

/** A message that begins with a place in a note leads there. */
function Placed({ text }) {
  const [, path, line, rest] = text.match(/^([^:]+\.(?:md|canvas))(?::(\d+))?: (.+)$/s) || [];
  if (!path) return text;
  return html`<a href=${link("doc", [], { ref: path })}>${path}</a>${line && html`<span
    class="dim">, line ${line}</span>`}: ${rest}`;
}

const timeOr = (time, none = "–") => (time ? html`<${When} time=${time} />` : none);

function Watch({ status: { daemon, watch } }) {
  return html`<section class="card"><h2>Watch</h2>
    <p class=${`state ${daemon.running ? "on" : "off"}`}>${daemon.running ? "The daemon runs, and watches" : "The daemon is not running"}
      ${daemon.running && ` ${WATCHED[watch.backend] || "files for changes"}`}.</p>
    ${!daemon.running && html`<${Remedy} hint="start it: vault-index watch" />`}
    <dl class="facts">
      <div><dt>Since</dt><dd>${timeOr(daemon.since)}</dd></div>
      <div><dt>Last change</dt><dd>${timeOr(watch.last_event, "none yet")}</dd></div>
      <div><dt>Last full comparison</dt><dd>${timeOr(watch.last_reconcile, "not yet")}</dd></div>
      <div><dt>Missed changes</dt><dd>${number(watch.missed)}</dd></div>
    </dl>
  </section>`;
}

function Work({ work: { work, waiting, pending }, rates, indexed }) {
  const left = work?.seconds_left;
  return html`<section class="card work"><h2>Pending work</h2>
    ${work ? html`
      <div class="apart"><p>${STAGES[work.stage] || "Working"}</p><${Spark} values=${rates}
        label=${`Currently ${work.rate} a second`} /></div>
      <${Meter} label=${STAGES[work.stage] || "Work"} value=${work.done} most=${work.total} />
      <p class="dim small">${number(work.done)}${work.total ? ` of ${number(work.total)}` : ""}
        ${` · ${number(work.rate)} a second`}
        ${left !== null && ` · ${left < 1 ? "nearly done" : `${duration(left)} left`}`}</p>`
      : html`<p class=${`state ${pending ? "busy" : "on"}`}>
        ${pending ? "Passages are waiting for the embedder." : "No pending work."}</p>`}
    <dl class="facts">
      <div><dt>Files to index</dt><dd>${number(waiting)}</dd></div>
      <div><dt>Passages to embed</dt><dd>${number(pending)}</dd></div>
      <div><dt>Up to date since</dt><dd>${timeOr(indexed)}</dd></div>
    </dl></section>`;
}

function Embedder({ status: { embedder, index } }) {
  const { provider } = embedder;
  const model = provider === "none" ? "No embedding model" : embedder.model || "The server's own model";
  const where = { local: "on this machine", none: "search by keywords only" }[provider] || `on a server (${provider})`;
  return html`<section class="card"><h2>Meaning</h2>
    <p class=${`state ${embedder.ready ? "on" : provider === "none" ? "" : "off"}`}>${`${model}, ${where}.`}</p>
    ${provider !== "none" && html`
      <${Meter} kind="meter" label="Passages with a vector" value=${index.vectors ?? 0} most=${index.chunks ?? 0} />
      <dl class="facts">
        <div><dt>Passages with a vector</dt><dd>${number(index.vectors)} of ${number(index.chunks)}</dd></div>
        <div><dt>Dimensions</dt><dd>${number(embedder.dimensions)}</dd></div>
        <div><dt>Ready</dt><dd>${embedder.ready ? "yes" : "not yet"}</dd></div>
      </dl>`}
    ${embedder.advice && html`<div class="advice"><${Remedy} hint=${embedder.advice} /></div>`}
  </section>`;
}

function Disk({ disk }) {
  if (!disk) return null;
  const parts = disk.results.map((one) => ({ label: one.name, value: one.bytes, told: bytes(one.bytes) }));
  const shown = parts.slice(0, 6);
  return html`<section class="card"><h2>Disk</h2>
    <p><b class="large">${bytes(disk.total)}</b> <span class="dim">in addition to your notes</span></p>
    <${Stacked} label="On the disk" parts=${shown} />
    <p class="small dim">The index and the cache can be rebuilt. Back up the state.</p></section>`;
}

function Sources({ sources }) {
  return html`<section aria-labelledby="sources"><h2 id="sources">Sources</h2>
    <table class="sources"><thead><tr><th scope="col">Source</th><th scope="col" class="number">Documents</th>
      <th scope="col">Up to date</th><th scope="col" class="number">Passages</th><th scope="col"
        class="number">Problems</th></tr></thead>
    <tbody>${sources.map((one) => html`<tr key=${one.name}>
      <th scope="row"><span>${one.name}</span><small class="dim">${kindName(one.kind)} · <span
        class="mono">${one.path}</span></small>
        ${one.kept > 0 && html`<small class="dim">
          ${`copies of ${count(one.kept, "session")}, ${bytes(one.kept_bytes)}`}</small>`}</th>
      <td class="number" data-label="Documents">${number(one.documents)}</td>
      <td data-label="Up to date"><${Covered} source=${one} /></td>
      <td class="number" data-label="Passages">${number(one.chunks)}</td>
      <td class=${`number ${one.failed ? "gone" : ""}`} data-label="Problems">${number(one.failed)}</td></tr>`)}</tbody>
        </table>
  </section>`;
}

function Covered({ source: { name, found, current } }) {
  if (found === null) return html`<span class="gone">missing</span>`;
  if (!found) return html`<span class="dim">no data yet</span>`;
  return html`<span class="covered"><${Meter} kind="meter" label=${`Indexed of ${name}`} value=${current}
    most=${found} />
    <span>${number(current)} of ${number(found)}</span></span>`;
}

const MONTH = new Intl.DateTimeFormat("en", { month: "long", year: "numeric" });
const SHORT = new Intl.DateTimeFormat("en", { month: "short" });
const iso = (date) => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-01`;

/** How many documents are of each of the last months. */
function Growth({ documents }) {
  const now = new Date();
  const first = now.getMonth() - MONTHS + 1;
  const months = Array.from({ length: MONTHS }, (_, index) => new Date(now.getFullYear(), first + index, 1));
  const [counts] = useAnswer(async (signal) => {
    const found = [];
    for (const [index, month] of months.entries()) {
      const next = index + 1 < MONTHS ? { before: iso(months[index + 1]) } : {};
      found.push((await call("list", { limit: 1, after: iso(month), ...next }, { signal })).total);
    }
    return found;
  }, [documents, iso(now)]);
  if (!counts || !documents) return null;
  const total = counts.reduce((sum, one) => sum + one, 0);
  const data = months.map((month, index) => ({
    label: MONTH.format(month), value: counts[index], told: count(counts[index], "document"), tick: SHORT.format(month),
  }));
  return html`<section class="card" aria-labelledby="growth"><h2 id="growth" class="unseen">Growth</h2>
    <${Bars} label="New documents by month" data=${data} most=${number(Math.max(...counts))}>
      ${`${number(total)} of ${count(documents, "document")} in a year`}<//></section>`;
}
