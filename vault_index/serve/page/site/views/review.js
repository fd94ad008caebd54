/** What agents left, and what no longer holds: one thing at a time, and one key for each decision. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { ask, call } from "../api.js";
import { Diff } from "../diff.js";
import { arrows, useKeys } from "../keys.js";
import { Markdown } from "../markdown.js";
import { documentLink, go, link } from "../router.js";
import {
  Button, Dialog, Empty, ErrorNote, Icon, Kbd, Loading, When, count, sentence, toast, useAnswer, useChanges,
} from "../ui.js";
import { Edit } from "./review-edit.js";

export const title = "Review";
export const style = "views/review.css";

const PAGE = 50;
const MOST_READ = 40;
/** No decision sooner after an item came: a second press was meant for the one before. */
const SETTLE_MS = 250;
const AGAIN_MS = 2000;

const REASONS = {
  unreviewed: ["In the inbox", "Inbox"],
  contradiction: ["Contradiction", "Contradictions"],
  duplicate: ["Near duplicate", "Duplicates"],
  expired: ["Expired", "Expired"],
  outdated: ["Outdated", "Outdated"],
  unopened: ["Not opened for a year", "Not opened"],
  deleted: ["Deleted session", "Deleted sessions"],
};
const DONE = {
  accept: "accepted", edit: "edited", merge: "merged", supersede: "superseded", archive: "archived", delete: "deleted",
  keep: "kept",
};
const ICONS = { accept: "check", edit: "edit", supersede: "next", archive: "archive", delete: "trash", keep: "check", merge: "merge" };
const KEYS = { accept: "a", edit: "e", merge: "m", supersede: "s", swap: "x", archive: "r", delete: "d", keep: "k" };
const ALONE = { unreviewed: ["accept", "edit", "archive", "delete"], deleted: ["keep", "delete"] };
const OF_TWO = ["merge", "supersede", "keep", "swap", "edit", "archive", "delete"];

/** What was decided since the page was opened, the last one at the end: `{ action, title, item, change }`. */
const decided = [];
let undone = 0;

export default function Review({ params }) {
  const filters = { reason: params.reason || undefined, project: params.project || undefined };
  const [list, setList] = useState(null);
  const [error, setError] = useState(null);
  const [asking, setAsking] = useState(false);
  const [moves, setMoves] = useState(0);
  const shown = useRef(null);
  const latest = useRef(0);
  const again = useRef(0);
  const current = useRef();
  current.current = { list, at: params.at };

  const place = (at, more = {}) => link("review", [], { ...filters, at, ...more });
  const move = (at) => {
    setMoves((one) => one + 1);
    go(place(at), { replace: true });
  };

  /** Ask anew, as far as it was read; where nobody answers, until somebody does. */
  const load = async ({ at, least = PAGE } = {}) => {
    const turn = ++latest.current;
    clearTimeout(again.current);
    try {
      const of = { ...filters, limit: Math.max(least, current.current.list?.items.length || 0) };
      const [found, all] = await Promise.all([
        call("review", of), filters.reason ? call("review", { project: filters.project, limit: 1 }) : null,
      ]);
      let items = found.results;
      const wanted = at ?? current.current.at;
      if (wanted && wanted !== "end" && found.total > items.length && !items.some((item) => item.id === wanted)) {
        items = (await call("review", { ...filters, limit: found.total })).results;
      }
      if (turn !== latest.current) return;
      setError(null);
      setList({ items, total: found.total, counts: (all || found).counts, all: (all || found).total });
    } catch (refused) {
      if (turn !== latest.current) return;
      setError(refused);
      if (refused.status === 0 || refused.status === 503) again.current = setTimeout(load, AGAIN_MS, { at, least });
    }
  };
  useEffect(() => {
    setList(null);
    current.current.list = null;
    shown.current = null;
    load();
    return () => { latest.current++; clearTimeout(again.current); };
  }, [filters.reason, filters.project]);
  useChanges(() => load());

  const items = list?.items || [];
  const index = items.findIndex((item) => item.id === params.at);
  const here = index >= 0 ? items[index] : null;
  // What is looked at stays, also when it was decided elsewhere: no key may mean another one all of a sudden.
  if (here) shown.current = { item: here, index };
  const gone = !here && params.at && params.at !== "end" && shown.current?.item.id === params.at;
  const item = here || (gone ? shown.current.item : null);
  const position = gone ? Math.min(shown.current.index, items.length) : index;

  useEffect(() => {
    if (list && !item && params.at !== "end") go(place(items[0]?.id || "end"), { replace: true });
  }, [list, params.at]);
  useEffect(() => {
    if (!list || position < items.length - 5 || items.length >= list.total) return;
    load({ least: items.length + PAGE });
  }, [position, items.length]);

  const step = (by) => {
    const to = params.at === "end" ? items.length - 1 : position + (gone && by > 0 ? 0 : by);
    if (to >= items.length && list.total > items.length) return;
    if (to >= 0) move(items[to]?.id || "end");
  };

  /** It was decided: out of the list, and on to the next. */
  const done = (action, names, answer) => {
    const what = { action, title: names, item, change: answer.change || 0 };
    decided.push(what);
    dispatchEvent(new Event("vault-index:reviewed"));
    const warnings = answer.results.flatMap((one) => one.details?.warnings || []).map((one) => ` ${sentence(one)}`);
    toast(`${capital(DONE[action])}: ${names}.${warnings.join("")}`, what.change ? ["Undo", () => undo(what)] : undefined);
    if (action === "edit") {
      load();
      return;
    }
    const rest = items.filter((one) => one !== here);
    const { [item.reason]: number, ...others } = list.counts;
    latest.current++; // an answer that is under way knows it still
    setList({ ...list, items: rest, total: list.total - 1, all: list.all - 1, counts: { ...others, [item.reason]: number - 1 } });
    if (rest.length < list.total - 1 && position >= rest.length) load({ at: "end", least: rest.length + PAGE });
    move(rest[position]?.id || "end");
  };

  const undo = async (what) => {
    if (asking) return;
    setAsking(true);
    try {
      const answer = await call("undo", what ? { change: what.change } : {});
      if (what) undone++;
      toast(`Undone: ${what ? `${DONE[what.action]} ${what.title}` : sentence(answer.results.map((one) => one.title).join(", "))}`);
    } catch (refused) {
      toast(`Not undone: ${refused.message}`);
      if (refused.status === 0 || refused.status === 503) return;
    } finally {
      setAsking(false);
    }
    if (what) decided.splice(decided.indexOf(what), 1);
    dispatchEvent(new Event("vault-index:reviewed"));
    await load({ at: what?.item.id });
    if (what) move(what.item.id);
  };
  const undoable = decided.findLast((one) => one.change);

  useKeys("Review", {
    n: ["decide later: the next", () => list && step(1)],
    p: ["the one before", () => list && step(-1)],
    u: ["undo the last decision", (event) => event.repeat || !undoable || undo(undoable)],
  });

  if (error && !list) return html`<div class="page"><h1>Review</h1><${ErrorNote} error=${error} retry=${() => load()} /></div>`;
  return html`<div class="page review">
    <div class="page-head"><h1>Review</h1>
      <p class="dim">${list && (list.all ? `${count(list.all, "thing")} to decide` : "")}</p></div>
    ${list && html`<${Reasons} list=${list} filters=${filters} />`}
    ${error && html`<${ErrorNote} error=${error} retry=${() => load()} />`}
    ${!list && html`<${Loading} what="Looking through the memories" />`}
    ${list && !items.length && !gone && html`<${End} list=${list} filters=${filters} undo=${undoable && (() => undo(undoable))} />`}
    ${list && (items.length > 0 || gone) && html`<div class="review-columns">
      <${List} items=${items} total=${list.total} at=${params.at} place=${place} chosen=${() => setMoves((one) => one + 1)} />
      ${item ? html`<${Item} key=${item.id} item=${item} gone=${gone} next=${items[position + 1]} moves=${moves}
          steps=${html`<${Steps} position=${position} total=${list.total} step=${step} undo=${undoable && (() => undo(undoable))} />`}
          done=${done} again=${() => load()} onward=${() => step(1)} filters=${filters} />`
        : params.at === "end" && html`<${End} list=${list} filters=${filters} undo=${undoable && (() => undo(undoable))}
          first=${place(items[0]?.id)} />`}
    </div>`}</div>`;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

function Reasons({ list, filters }) {
  const chip = (reason, label, number) => html`
    <a class=${`chip ${(filters.reason || "") === reason ? "on" : ""}`} href=${link("review", [], { ...filters, reason })}
      aria-current=${(filters.reason || "") === reason ? "true" : null}>${label} <b>${number}</b></a>`;
  return html`<nav class="row review-reasons" aria-label="Reasons">
    ${chip("", "All", list.all)}
    ${Object.entries(REASONS).map(([reason, [, label]]) => (list.counts[reason] > 0 || filters.reason === reason)
      && chip(reason, label, list.counts[reason] || 0))}
    ${filters.project && html`<a class="chip on" href=${link("review", [], { ...filters, project: "" })}
      aria-label=${`Project ${filters.project}: show those of all`}>${filters.project}<${Icon} name="close" /></a>`}</nav>`;
}

function List({ items, total, at, place, chosen }) {
  const list = useRef(null);
  useEffect(() => list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }), [at]);
  let reason = "";
  return html`<aside class="review-list" aria-label="To review" ref=${list} onKeyDown=${(event) => arrows(event)}>
    ${items.map((item) => {
      const head = item.reason !== reason && html`<h2 key=${item.reason}>${REASONS[item.reason][1]}</h2>`;
      reason = item.reason;
      return html`${head}<a key=${item.id} data-item href=${place(item.id)} onClick=${chosen}
        aria-current=${item.id === at ? "true" : null}>
        ${item.memories.map((one) => html`<span>${one.title}</span>`)}</a>`;
    })}
    ${total > items.length && html`<p class="dim small">and ${count(total - items.length, "more", "more")}</p>`}</aside>`;
}

function Steps({ position, total, step, undo }) {
  return html`<div class="review-steps">
    <${Button} icon="back" kind="quiet" aria-label="Previous (p)" title="Previous (p)" disabled=${!position} onClick=${() => step(-1)} />
    <span class="small dim">${Math.min(position + 1, total)} of ${total}</span>
    <${Button} icon="next" kind="quiet" aria-label="Next (n)" title="Next (n)" onClick=${() => step(1)} />
    <${Button} icon="undo" kind="quiet" aria-label="Undo (u)" title="Undo (u)" disabled=${!undo} onClick=${undo} /></div>`;
}

const known = new Map();
const keyOf = (item) => item.memories.map((one) => `${one.source}:${one.path}@${one.seen}`).join("\n");
const filesOf = (memories) => memories.map(({ source, path }) => ({ source, path }));

/** The whole texts of an item, and what they were when they were read; kept for a while. */
function readOf(item) {
  if (!item || item.reason === "deleted") return Promise.resolve(null);
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

function Item({ item, gone, next, moves, steps, done, again, onward, filters }) {
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
  const actions = pair ? OF_TWO : ALONE[item.reason] || ["keep", "edit", "archive", "delete"];
  const about = (action) => {
    if (["merge", "supersede", "keep"].includes(action)) return pair ? [first, last] : [first];
    return [["archive", "delete"].includes(action) ? last : first];
  };

  /** Whether it was done. What was seen goes along, so that nothing is done to what changed meanwhile. */
  const decide = async (action, more = {}) => {
    if (busy.current || gone) return false;
    busy.current = true;
    setWorking(true);
    setRefused(null);
    const named = about(action);
    const shared = new Set(named.map((one) => one.id)).size < named.length;
    const sources = new Set(named.map((one) => one.source));
    const params = { action, ref: named.map((one) => (shared ? one.path : one.id)), ...more };
    if (named.every((one) => one.seen)) params.seen ??= named.map((one) => one.seen);
    if (sources.size === 1 && item.reason !== "deleted") params.source = [...sources];
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
    else if (action === "edit" || action === "merge" || (action === "delete" && item.reason === "deleted")) setDialog(action);
    else decide(action);
  };
  const labels = { swap: "Swap", keep: pair ? "Keep both" : "Keep" };
  const what = (action) => ({
    accept: "move it out of the inbox", swap: "have the other one stay", keep: "all is well: not shown again until it changes",
    merge: "what stays takes over what it lacks, and replaces the other", supersede: "what stays replaces the other as it is",
    edit: `change the file of ${pair ? "what stays" : "it"}`, archive: `leave ${pair ? "what goes" : "it"} out of search`,
    delete: item.reason === "deleted" ? "delete it for good" : `move ${pair ? "what goes" : "it"} to the trash`,
  })[action];
  useKeys("This one", {
    ...Object.fromEntries(actions.map((action) => [KEYS[action], [`${action}: ${what(action)}`, (event) => run(action, event)]])),
    ...(pair ? { v: ["as they read, or what differs", () => setPlain(!plain)] } : {}),
    o: ["open the document", () => go(documentLink(first))],
  });

  const [kind] = REASONS[item.reason];
  return html`<article class="review-item" aria-busy=${String(working || !ready)} data-id=${item.id} aria-label=${kind}>
    <div class="review-bar">${steps}
      <div class="review-actions" role="group" aria-label="Decide">${actions.map((action) => html`
        <button type="button" class=${{ delete: "danger", accept: "primary", merge: "primary" }[action] || ""} disabled=${gone || null}
          aria-keyshortcuts=${KEYS[action]} title=${what(action)} onClick=${(event) => run(action, event)}>
          <${Icon} name=${action === "swap" ? "swap" : ICONS[action]} />
          <span>${labels[action] || capital(action)}</span><span class="review-key" aria-hidden="true"><${Kbd} keys=${KEYS[action]} /></span></button>`)}
      </div></div>
    ${refused && html`<${ErrorNote} error=${refused} />`}
    ${gone && html`<div class="note warn" role="status"><${Icon} name="warning" /><div>This was decided meanwhile, or is no longer
      so: there is nothing left to decide about it.</div><${Button} onClick=${onward}>Next<//></div>`}
    <h2 class="review-why" ref=${head} tabindex="-1"><span>${kind}</span> <small class="dim">${item.about}</small></h2>
    ${unread && html`<${ErrorNote} error=${unread} retry=${again} />`}
    ${pair ? html`<${Pair} first=${first} last=${last} plain=${plain} turn=${() => setPlain(!plain)} filters=${filters} />`
      : html`<section class="card review-memory"><${Facts} memory=${first} filters=${filters} /><${Text} memory=${first} /></section>`}
    ${dialog === "edit" && html`<${Edit} memory=${first} close=${() => setDialog("")} save=${(more) => decide("edit", more)} again=${again} />`}
    ${dialog === "merge" && html`<${Merge} first=${first} last=${last} swap=${() => setSwapped(!swapped)}
      close=${() => setDialog("")} merge=${(seen) => { setDialog(""); decide("merge", { seen }); }} />`}
    ${dialog === "delete" && html`<${Dialog} title="Delete it for good?" close=${() => setDialog("")}>
      <p>The session is forgotten: its text, its vectors, and what was kept of it. There is no undo.</p>
      <div class="row review-foot"><${Button} kind="danger" icon="trash" autofocus onClick=${() => { setDialog(""); decide("delete"); }}>Delete for good<//>
        <${Button} onClick=${() => setDialog("")}>Cancel<//></div><//>`}
  </article>`;
}

/** Where nobody answered it may have been done all the same: the list says so, as soon as it comes. */
function unsure(error) {
  if (error.status !== 0 && error.status !== 503) return error;
  const hint = "whether it was done shows as soon as there is an answer; nothing is ever half written";
  return Object.assign(new Error(error.message), { hint, status: error.status });
}

function Pair({ first, last, plain, turn, filters }) {
  return html`<div class="review-pair">
      <section class="card review-memory"><p class="review-side goes">Goes</p><${Facts} memory=${last} filters=${filters} />
        ${plain && html`<${Text} memory=${last} />`}</section>
      <section class="card review-memory"><p class="review-side stays">Stays</p><${Facts} memory=${first} filters=${filters} />
        ${plain && html`<${Text} memory=${first} />`}</section></div>
    <div class="apart review-turn"><h3>${plain ? "As they read" : "What differs"}</h3>
      <button class="quiet" onClick=${turn}>${plain ? "Show what differs" : "Show them as they read"} <span class="review-key" aria-hidden="true"><${Kbd} keys="v" /></span></button></div>
    ${!plain && html`<${Diff} before=${last.body ?? last.text} after=${first.body ?? first.text} labels=${["Goes", "Stays"]}
      same="Below their frontmatter both say the same, word for word." />`}`;
}

function Facts({ memory, filters }) {
  const ends = [["expires", memory.expires], ["valid until", memory.valid_until]].filter(([, day]) => day);
  return html`<header class="review-facts"><h3><a href=${documentLink(memory)}>${memory.title}</a></h3>
    <p class="mono dim">${memory.path}</p>
    <p class="small dim review-list-of">
      ${memory.type && html`<span>${memory.type}</span>`}
      ${memory.project && html`<a href=${link("review", [], { ...filters, project: memory.project })}
        title="Review only those of this project">${memory.project}</a>`}
      ${memory.created && html`<span><${When} time=${memory.created} /></span>`}
      ${memory.entered_by && html`<span>by ${memory.entered_by}</span>`}
      ${ends.map(([label, day]) => html`<span>${label} ${day}</span>`)}
      ${memory.tags.map((tag) => html`<a href=${link("search", [], { q: `tag:${tag}` })}>#${tag}</a>`)}</p></header>`;
}

function Text({ memory }) {
  if (memory.nodes) return html`<${Markdown} nodes=${memory.nodes} document=${memory} />`;
  return html`<div class="prose review-plain" dir="auto">${memory.text}${memory.cut && "…"}</div>`;
}

/** What one file would say, before it does. */
function Merge({ first, last, swap, close, merge }) {
  const [answer, error] = useAnswer(
    () => ask("memories", { files: filesOf([first, last]), merge: true }), [first.path, last.path],
  );
  return html`<${Dialog} title="Merge them" wide close=${close}>
    <p class="dim">“${first.title}” takes over what it lacks: paragraphs, tags, dates. “${last.title}” keeps its file, and is
      marked as superseded.</p>
    <div class="row review-foot">
      <${Button} kind="primary" icon="merge" autofocus disabled=${!answer} onClick=${(event) => event.detail > 1 || merge(answer.results.map((one) => one.seen))}>Merge<//>
      <${Button} icon="swap" onClick=${swap}>Have the other one stay<//>
      <${Button} onClick=${close}>Cancel<//></div>
    ${error && html`<${ErrorNote} error=${error} />`}
    ${!answer && !error && html`<${Loading} />`}
    ${answer && html`<${Diff} before=${answer.results[0].text} after=${answer.merged} labels=${[`${first.path} now`, "merged"]} />`}<//>`;
}

function End({ list, filters, undo, first }) {
  const done = Object.values(DONE).map((word) => [decided.filter((one) => DONE[one.action] === word).length, word]);
  const told = done.filter(([number]) => number).map(([number, word]) => `${number} ${word}`);
  if (undone) told.push(`${undone} undone`);
  const filtered = filters.reason || filters.project;
  const title = decided.length || first ? "That is all" : filtered ? "Nothing of this kind to review" : "Nothing to review";
  return html`<section class="review-end"><${Empty} icon="review" title=${title}>
    ${told.length > 0 && html`<p>${capital(told.join(", "))}.</p>`}
    ${list.total > 0 ? html`<p>${count(list.total, "thing is", "things are")} left as ${list.total === 1 ? "it is" : "they are"}.</p>`
      : !told.length && html`<p>What agents leave in the inbox, near duplicates, contradictions and what has expired comes up here.</p>`}
    <div class="row review-foot">${undo && html`<${Button} icon="undo" onClick=${undo}>Undo the last one<//>`}
      ${first && list.total > 0 && html`<a class="button" href=${first}>From the beginning</a>`}
      ${filtered && list.all > list.total && html`<a class="button" href=${link("review")}>All there is to review</a>`}</div><//></section>`;
}
