/** One thing to decide: why it is here, what it says, and what can be done with it. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { ask, call } from "../api.js";
import { Diff } from "../diff.js";
import { useKeys } from "../keys.js";
import { Markdown } from "../markdown.js";
import { documentLink, go, link } from "../router.js";
import { Button, Dialog, ErrorNote, Icon, Kbd, Loading, When, toast, useAnswer } from "../ui.js";
import { Edit } from "./review-edit.js";

const MOST_READ = 40;
/** No decision sooner after an item came: a second press was meant for the one before. */
const SETTLE_MS = 250;

/** Of each the name of one thing, and of all of them. */
export const REASONS = {
  unreviewed: ["In the inbox", "Inbox"],
  contradiction: ["Contradiction", "Contradictions"],
  duplicate: ["Near duplicate", "Duplicates"],
  expired: ["Expired", "Expired"],
  outdated: ["Outdated", "Outdated"],
  unopened: ["Not opened for a year", "Not opened"],
};
const ICONS = {
  accept: "check", edit: "edit", supersede: "next", archive: "archive", delete: "trash",
  keep: "check", merge: "merge", swap: "swap",
};
const KEYS = { accept: "a", edit: "e", merge: "m", supersede: "s", swap: "x", archive: "r", delete: "d", keep: "k" };
const OF_TWO = ["merge", "supersede", "keep", "swap"];
const ASKED = ["edit", "merge"];
const OF_GOING = ["archive", "delete"];

export const capital = (text) => text[0].toUpperCase() + text.slice(1);

const known = new Map();
const keyOf = (item) => item.memories.map((one) => `${one.source}:${one.path}@${one.seen}`).join("\n");
const filesOf = (memories) => memories.map(({ source, path }) => ({ source, path }));

/** The whole texts of an item, and what they were when they were read; kept for a while. */
function readOf(item) {
  if (!item) return Promise.resolve(null);
  const key = keyOf(item);
  if (!known.has(key)) {
    const entry = {};
    entry.promise = ask("memories", { files: filesOf(item.memories) }).then((answer) => (entry.value = answer));
    entry.promise.catch(() => known.delete(key));
    known.set(key, entry);
    if (known.size > MOST_READ) known.delete(known.keys().next().value);
  }
  return known.get(key).promise;
}

export function Item({ item, gone, next, moves, steps, done, again, onward, filters }) {
  const key = keyOf(item);
  const [answer, unread] = useAnswer(() => readOf(item), [key]);
  const [swapped, setSwapped] = useState(false);
  const [plain, setPlain] = useState(false);
  const [ready, setReady] = useState(false);
  const [refused, setRefused] = useState(null);
  const [dialog, setDialog] = useState("");
  const busy = useRef(false);
  const alive = useRef(true);
  const [working, setWorking] = useState(false);
  const head = useRef(null);

  useEffect(() => {
    setReady(false);
    const timer = setTimeout(() => setReady(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [key]);
  useEffect(() => { readOf(next).catch(() => {}); }, [next && keyOf(next)]);
  useEffect(() => () => { alive.current = false; }, []);
  useEffect(() => {
    if (!moves) return;
    head.current.focus({ preventScroll: true });
    const article = head.current.closest("article");
    if (article.getBoundingClientRect().top < 0) article.scrollIntoView();
  }, [moves]);

  const read = known.get(key)?.value || answer;
  const order = swapped ? [1, 0] : [0, 1];
  const memories = item.memories.map((one, at) => ({ ...one, ...read?.results[at], id: one.id, at }));
  const pair = memories.length > 1;
  const [first, last] = pair ? order.map((at) => memories[at]) : [memories[0], memories[0]];
  const settles = item.reason === "unreviewed" ? "accept" : "keep";
  const actions = [...(pair ? OF_TWO : [settles]), "edit", ...OF_GOING];
  const about = (action) => {
    if (["merge", "supersede", "keep"].includes(action)) return pair ? [first, last] : [first];
    return [OF_GOING.includes(action) ? last : first];
  };

  /** Whether it was done. What was seen goes along, so that nothing is done to what changed meanwhile. */
  const decide = async (action, more = {}) => {
    // A text that was written may still be wanted: the server says whether it can be.
    if (busy.current || (gone && action !== "edit")) return false;
    busy.current = true;
    setWorking(true);
    setRefused(null);
    const named = about(action);
    const shared = new Set(named.map((one) => one.id)).size < named.length;
    const sources = new Set(named.map((one) => one.source));
    const params = { action, ref: named.map((one) => (shared ? one.path : one.id)), ...more };
    if (named.every((one) => one.seen)) params.seen ??= named.map((one) => one.seen);
    if (sources.size === 1) params.source = [...sources];
    try {
      const told = await call("decide", params);
      const [failed] = told.failed || [];
      if (failed) throw Object.assign(new Error(failed.error), { hint: failed.hint, status: 409 });
      if (told.results.every((one) => one.outcome === "unchanged")) toast("Nothing was changed.");
      else done(action, named.map((one) => `“${one.title}”`).join(" and "), told);
      return true;
    } catch (error) {
      if (action === "edit") throw error; // its dialog says so, and keeps the text
      if (alive.current) setRefused(unsure(error));
      again();
      return false;
    } finally {
      busy.current = false;
      if (alive.current) setWorking(false);
    }
  };

  const run = (action, event) => {
    if (event?.repeat || event?.detail > 1 || !ready || gone || working) return;
    if (action === "swap") setSwapped(!swapped);
    else if (ASKED.includes(action)) setDialog(action);
    else decide(action);
  };
  const labels = { swap: "Swap", keep: pair ? "Keep both" : "Keep" };
  const what = (action) => ({
    accept: "move it out of the inbox",
    swap: "keep the other one instead",
    keep: "keep as it is; hidden until it changes",
    merge: "add what the one that stays lacks, and mark the other as superseded",
    supersede: "mark the one that goes as superseded",
    edit: `edit the file${pair ? " of the one that stays" : ""}`,
    archive: `hide ${pair ? "the one that goes" : "it"} from search`,
    delete: `move ${pair ? "the one that goes" : "it"} to the trash`,
  })[action];
  useKeys("This item", {
    ...Object.fromEntries(actions.map(
      (action) => [KEYS[action], [`${action}: ${what(action)}`, (event) => run(action, event)]],
    )),
    ...(pair ? { v: ["full texts or differences", () => setPlain(!plain)] } : {}),
    ...(first.seen ? { o: ["open the document", () => go(documentLink(first))] } : {}),
  });

  const button = (action) => html`
    <button type="button" key=${action} class=${{ delete: "danger", accept: "primary", merge: "primary" }[action] || ""}
      disabled=${gone || null} aria-keyshortcuts=${KEYS[action]} title=${what(action)}
      onClick=${(event) => run(action, event)}>
      <${Icon} name=${ICONS[action]} /><span>${labels[action] || capital(action)}</span>
      <${Hint} keys=${KEYS[action]} /></button>`;
  const [kind] = REASONS[item.reason];
  return html`<article class="review-item" aria-busy=${String(working || !ready)} data-id=${item.id} aria-label=${kind}>
    <div class="review-bar">${steps}
      <div class="review-actions" role="group" aria-label="Decide">${(pair ? OF_TWO : actions).map(button)}</div></div>
    ${refused && html`<${ErrorNote} error=${refused} />`}
    ${gone && html`<div class="note warn" role="status"><${Icon} name="warning" />
      <div>This item was decided elsewhere, or no longer applies.</div>
      <${Button} onClick=${onward}>Next<//></div>`}
    <div class="apart"><h2 class="review-why" ref=${head} tabindex="-1">
      <span>${kind}</span> <small class="dim">${item.about.replace(/^in the inbox /, "")}</small></h2>
      ${pair && html`<button class="quiet small" onClick=${() => setPlain(!plain)}>
        ${plain ? "Show differences" : "Show full texts"}<${Hint} keys="v" /></button>`}</div>
    ${unread && html`<${ErrorNote} error=${unread} retry=${again} />`}
    ${pair ? html`<${Pair} first=${first} last=${last} plain=${plain} filters=${filters}
        button=${button} />`
      : html`<section class="card review-memory">
        <${Facts} memory=${first} filters=${filters} /><${Text} memory=${first} /></section>`}
    ${dialog === "edit" && html`<${Edit} memory=${first} close=${() => setDialog("")}
      save=${(more) => decide("edit", more)} again=${again} />`}
    ${dialog === "merge" && html`<${Merge} first=${first} last=${last} swap=${() => setSwapped(!swapped)}
      close=${() => setDialog("")} merge=${(seen) => { setDialog(""); decide("merge", { seen }); }} />`}
  </article>`;
}

const Hint = ({ keys }) => html`<span class="review-key" aria-hidden="true"><${Kbd} keys=${keys} /></span>`;

/** Where nobody answered it may have been done all the same: the list says so, as soon as it comes. */
function unsure(error) {
  if (error.status !== 0 && error.status !== 503) return error;
  const hint = "the list shows the result when the server answers again; no file is half written";
  return Object.assign(new Error(error.message), { hint, status: error.status });
}

function Pair({ first, last, plain, filters, button }) {
  return html`<div class="review-pair">
      <section class="card review-memory">
        <div class="review-side goes"><span>Goes</span>${OF_GOING.map(button)}</div>
        <${Facts} memory=${last} filters=${filters} />
        ${plain && html`<${Text} memory=${last} />`}</section>
      <section class="card review-memory">
        <div class="review-side stays"><span>Stays</span>${button("edit")}</div>
        <${Facts} memory=${first} filters=${filters} />
        ${plain && html`<${Text} memory=${first} />`}</section></div>
    ${!plain && html`<${Diff} before=${last.body ?? last.text} after=${first.body ?? first.text}
      labels=${["Goes", "Stays"]}
      same="The texts below the frontmatter are identical." />`}`;
}

function Facts({ memory, filters }) {
  const ends = [["expires", memory.expires], ["valid until", memory.valid_until]].filter(([, day]) => day);
  return html`<header class="review-facts"><h3>${memory.seen
      ? html`<a href=${documentLink(memory)}>${memory.title}</a>` : memory.title}</h3>
    <p class="mono dim">${memory.path}</p>
    <p class="small dim review-list-of">
      ${memory.type && html`<span>${memory.type}</span>`}
      ${memory.project && html`<a href=${link("review", [], { ...filters, project: memory.project })}
        title="Review only this project">${memory.project}</a>`}
      ${memory.created && html`<span><${When} time=${memory.created} /></span>`}
      ${memory.entered_by && html`<span>by ${memory.entered_by}</span>`}
      ${ends.map(([label, day]) => html`<span>${label} ${day}</span>`)}
      ${memory.tags.map((tag) => html`<a href=${link("search", [], { q: `tag:${tag}` })}>#${tag}</a>`)}</p></header>`;
}

function Text({ memory }) {
  if (memory.nodes) return html`<${Markdown} nodes=${memory.nodes} document=${memory} under=${3} />`;
  return html`<div class="prose review-plain" dir="auto">${memory.text}${memory.cut && "…"}</div>`;
}

/** What one file would say, before it does. */
function Merge({ first, last, swap, close, merge }) {
  const [answer, error] = useAnswer(
    () => ask("memories", { files: filesOf([first, last]), merge: true }), [first.path, last.path],
  );
  const taken = (event) => answer && event.detail < 2 && merge(answer.results.map((one) => one.seen));
  return html`<${Dialog} title="Merge them" wide close=${close}>
    <p class="dim">“${first.title}” gets the paragraphs, tags and dates that it lacks. “${last.title}” keeps its file, and
      is marked as superseded.</p>
    <div class="row review-foot">
      <${Button} kind="primary" icon="merge" autofocus onClick=${taken}>Merge<//>
      <${Button} icon="swap" onClick=${swap}>Keep the other one instead<//>
      <${Button} onClick=${close}>Cancel<//></div>
    ${error && html`<${ErrorNote} error=${error} />`}
    ${!answer && !error && html`<${Loading} />`}
    ${answer && html`<${Diff} before=${answer.results[0].text} after=${answer.merged}
      labels=${[`${first.path} now`, "merged"]} />`}<//>`;
}
