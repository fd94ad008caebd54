/** What agents left, and what no longer holds: one thing at a time, and one key for each decision. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../api.js";
import { arrows, useKeys } from "../keys.js";
import { go, link } from "../router.js";
import { Button, Empty, ErrorNote, Icon, Loading, count, sentence, toast, useChanges } from "../ui.js";
import { Item, REASONS, capital } from "./review-item.js";

export const title = "Review";
export const style = "views/review.css";

const PAGE = 50;
const AGAIN_MS = 2000;

const DONE = {
  accept: "accepted", edit: "edited", merge: "merged", supersede: "superseded", archive: "archived", delete: "deleted",
  keep: "kept",
};
/** What was decided since the page was opened, the last one at the end: `{ action, title, item, change }`. */
const decided = [];
let undone = 0;

export default function Review({ params }) {
  const filters = { reason: params.reason || undefined, project: params.project || undefined };
  const of = JSON.stringify(filters);
  const [latestList, setList] = useState(null);
  const list = latestList?.of === of ? latestList : null; // not one of other filters
  const [error, setError] = useState(null);
  const undoing = useRef(false);
  const [moves, setMoves] = useState(0);
  const shown = useRef(null);
  const latest = useRef(0);
  const again = useRef(0);
  const waiting = useRef(false);
  const size = useRef(PAGE); // of the list that is wanted: no later request may ask for fewer items and come first
  const open = useRef(true);
  const current = useRef();
  current.current = { list, at: params.at };

  const place = (at, more = {}) => link("review", [], { ...filters, at, ...more });
  const move = (at) => {
    if (!open.current) return; // whoever has left for another page stays there
    setMoves((one) => one + 1);
    go(place(at), { replace: true });
  };

  /** Ask anew, as far as it was read; where nobody answers, until somebody does. */
  const load = async ({ at, least = PAGE } = {}) => {
    const turn = ++latest.current;
    clearTimeout(again.current);
    try {
      size.current = Math.max(size.current, least);
      const [found, all] = await Promise.all([
        call("review", { ...filters, limit: size.current }),
        filters.reason ? call("review", { project: filters.project, limit: 1 }) : null,
      ]);
      let items = found.results;
      const wanted = at ?? current.current.at;
      if (wanted && wanted !== "end" && found.total > items.length && !items.some((item) => item.id === wanted)) {
        size.current = found.total;
        items = (await call("review", { ...filters, limit: found.total })).results;
      }
      if (turn !== latest.current) return;
      setError(null);
      setList({ of, items, total: found.total, counts: (all || found).counts, all: (all || found).total });
    } catch (refused) {
      if (turn !== latest.current) return;
      setError(refused);
      if (refused.status === 0 || refused.status === 503) again.current = setTimeout(load, AGAIN_MS, { at, least });
    }
  };
  useEffect(() => {
    shown.current = null;
    size.current = PAGE;
    load();
    return () => { latest.current++; clearTimeout(again.current); };
  }, [of]);
  useEffect(() => () => { open.current = false; }, []);
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
  const near = position >= items.length - 5;
  useEffect(() => {
    if (waiting.current && items.length > position + 1) step(1);
    else if (list && near && items.length < list.total) load({ least: items.length + PAGE });
  }, [near, items.length]);

  const step = (by) => {
    const to = params.at === "end" ? items.length - 1 : position + (gone && by > 0 ? 0 : by);
    waiting.current = to >= items.length && list.total > items.length; // for more of the list
    if (waiting.current) return;
    if (to >= 0) move(items[to]?.id || "end");
  };

  /** It was decided: out of the list, and on to the next. */
  const done = (action, names, answer) => {
    const what = { action, title: names, item, change: answer.change || 0 };
    decided.push(what);
    dispatchEvent(new Event("vault-index:reviewed"));
    const warnings = answer.results.flatMap((one) => one.details?.warnings || []).map((one) => ` ${sentence(one)}`);
    const back = what.change ? ["Undo", () => undo(what)] : undefined;
    toast(`${capital(DONE[action])}: ${names}.${warnings.join("")}`, back);
    if (action === "edit") {
      load();
      return;
    }
    // While it was done the list may have come anew, or somebody may have gone on.
    const { list: now, at } = current.current;
    latest.current++; // an answer that is under way knows it still
    if (!now) {
      load();
      return;
    }
    const rest = now.items.filter((one) => one.id !== item.id);
    const left = rest.length < now.items.length ? 1 : 0;
    const counts = { ...now.counts, [item.reason]: now.counts[item.reason] - left };
    setList({ of, items: rest, total: now.total - left, all: now.all - left, counts });
    if (rest.length < now.total - left && position >= rest.length) load({ at: "end", least: rest.length + PAGE });
    if (at === item.id) move(rest[position]?.id || "end");
  };

  const undo = async (what) => {
    if (undoing.current || !decided.includes(what)) return;
    undoing.current = true;
    try {
      await call("undo", { change: what.change });
      undone++;
      toast(`Undone: ${DONE[what.action]} ${what.title}.`);
    } catch (refused) {
      toast(`Not undone: ${refused.message}`);
      if (refused.status === 0 || refused.status === 503) return;
    } finally {
      undoing.current = false;
    }
    decided.splice(decided.indexOf(what), 1);
    dispatchEvent(new Event("vault-index:reviewed"));
    await load({ at: what.item.id });
    move(what.item.id);
  };
  // Asked anew each time: the last one may not be drawn yet.
  const last = () => decided.findLast((one) => one.change);
  const undoLast = last() && (() => undo(last()));

  useKeys("Review", {
    n: ["decide later (next item)", () => list && step(1)],
    p: ["previous item", () => list && step(-1)],
    u: ["undo the last decision", (event) => event.repeat || (last() && undo(last()))],
  });

  return html`<div class="page review">
    <div class="page-head"><h1>Review</h1>
      <p class="dim">${list && (list.all ? `${count(list.all, "item")} to decide` : "")}</p></div>
    ${list && html`<${Reasons} list=${list} filters=${filters} />`}
    ${error && html`<${ErrorNote} error=${error} retry=${() => load()} />`}
    ${!list && !error && html`<${Loading} what="Loading the memories" />`}
    ${list && !items.length && !gone && html`<${End} list=${list} filters=${filters} undo=${undoLast} />`}
    ${list && (items.length > 0 || gone) && html`<div class="review-columns">
      <${List} items=${items} total=${list.total} at=${params.at} place=${place}
        chosen=${() => setMoves((one) => one + 1)} />
      ${item ? html`<${Item} key=${item.id} item=${item} gone=${gone} next=${items[position + 1]} moves=${moves}
          steps=${html`<${Steps} position=${position} total=${list.total} step=${step} undo=${undoLast} />`}
          done=${done} again=${() => load()} onward=${() => step(1)} filters=${filters} />`
        : params.at === "end" && html`<${End} list=${list} filters=${filters} undo=${undoLast}
          first=${place(items[0]?.id)} />`}
    </div>`}</div>`;
}

function Reasons({ list, filters }) {
  const chip = (reason, label, number, on = (filters.reason || "") === reason) => html`
    <a class=${on ? "chip on" : "chip"} href=${link("review", [], { ...filters, reason })}
      aria-current=${on ? "true" : null}>${label} <b>${number}</b></a>`;
  return html`<nav class="row review-reasons" aria-label="Reasons">
    ${chip("", "All", list.all)}
    ${Object.entries(REASONS).map(([reason, [, label]]) => (list.counts[reason] > 0 || filters.reason === reason)
      && chip(reason, label, list.counts[reason] || 0))}
    ${filters.project && html`
      <a class="chip on" href=${link("review", [], { ...filters, project: "" })}
        aria-label=${`${filters.project}: show all projects`}>${filters.project}<${Icon} name="close" />
      </a>`}</nav>`;
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
    ${total > items.length && html`<p class="dim small">and ${count(total - items.length, "more", "more")}</p>`}
    </aside>`;
}

function Steps({ position, total, step, undo }) {
  return html`<div class="review-steps">
    <${Button} icon="back" kind="quiet" aria-label="Previous (p)" title="Previous (p)" disabled=${!position}
      onClick=${() => step(-1)} />
    <span class="small dim">${Math.min(position + 1, total)} of ${total}</span>
    <${Button} icon="next" kind="quiet" aria-label="Next (n)" title="Next (n)" onClick=${() => step(1)} />
    <${Button} icon="undo" kind="quiet" aria-label="Undo (u)" title="Undo (u)" disabled=${!undo}
      onClick=${undo} /></div>`;
}

function End({ list, filters, undo, first }) {
  const done = Object.values(DONE).map((word) => [decided.filter((one) => DONE[one.action] === word).length, word]);
  const told = done.filter(([number]) => number).map(([number, word]) => `${number} ${word}`);
  if (undone) told.push(`${undone} undone`);
  const filtered = filters.reason || filters.project;
  const none = filtered ? "Nothing of this kind to review" : "Nothing to review";
  const title = decided.length || first ? "Review finished" : none;
  return html`<section class="review-end"><${Empty} icon="review" title=${title}>
    ${told.length > 0 && html`<p>${capital(told.join(", "))}.</p>`}
    ${list.total > 0 && html`<p>${count(list.total, "item is undecided", "items are undecided")}.</p>`}
    ${!list.total && !told.length && html`
      <p>This list shows new memories in the inbox, near duplicates, contradictions and expired memories.
        Settings: <code>agents.capture</code> and <code>memory.review</code> in the configuration.</p>`}
    <div class="row review-foot">${undo && html`<${Button} icon="undo" onClick=${undo}>Undo the last decision<//>`}
      ${first && list.total > 0 && html`<a class="button" href=${first}>From the beginning</a>`}
      ${filtered && list.all > list.total && html`
        <a class="button" href=${link("review")}>Show all items</a>`}</div><//></section>`;
}
