/** Two texts beside each other, or one under the other where there is little room: what only one says is marked. */

import { html, useMemo, useState } from "./vendor/preact.js";
import { count, loadStyle } from "./ui.js";

await loadStyle("diff.css");

const MOST_EDITS = 1500; // of lines: the memory it takes grows with their square
const MOST_EDITS_OF_WORDS = 600;
const MOST_PAIRS = 4000; // lines that are compared with each other for which belong together
const ALIKE = 0.3; // the share of common words from which two lines are one that was changed
const AROUND = 3; // equal lines that are shown beside a change
const ROWS = 600; // that are drawn at once
const WORD = /\s+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}_]+|./gsu;

/** @param {{ before: string, after: string, labels?: [string, string], same?: string }} props */
export function Diff({ before, after, labels = ["before", "after"], same = "The texts are identical." }) {
  const rows = useMemo(() => rowsOf(linesOf(before), linesOf(after)), [before, after]);
  const [open, setOpen] = useState(() => new Set());
  const [most, setMost] = useState(ROWS);
  const parts = useMemo(() => folded(rows), [rows]);
  if (!rows.some((row) => !row.equal)) return html`<p class="diff-same dim">${same}</p>`;
  const shown = parts.flatMap((part) => (part.rows && open.has(part.at) ? part.rows : [part]));
  return html`<div class="diff-box">
    <p class="diff-sum small dim">${summary(rows)}</p>
    <div class="diff" role="table" aria-label=${`${labels[0]} and ${labels[1]}, line by line`}>
      <div class="diff-row diff-head" role="row">
        <div class="old" role="columnheader"><span class="number">−</span><b>${labels[0]}</b></div>
        <div class="new" role="columnheader"><span class="number">+</span><b>${labels[1]}</b></div></div>
      ${shown.slice(0, most).map((one) => (one.rows
        ? html`<div class="diff-fold" role="row" key=${`fold${one.at}`}><div role="cell">
            <button class="quiet" onClick=${() => setOpen(new Set([...open, one.at]))}>
              ${count(one.rows.length, "equal line")}</button></div></div>`
        : html`<${Row} key=${`${one.a}-${one.b}`} row=${one} />`))}
    </div>
    ${shown.length > most && html`<button class="diff-more" onClick=${() => setMost(Infinity)}>
      Show ${count(shown.length - most, "more line")}</button>`}</div>`;
}

function Row({ row }) {
  const [old, fresh] = row.marked || [row.old, row.fresh];
  const cell = (side, text, number, said) => html`
    <div class=${`${side}${text === undefined ? " blank" : ""}`} role="cell">
      <span class="number" aria-hidden="true">${text === undefined ? "" : number + 1}</span>
      <span class="line">${text !== undefined && !row.equal && html`<i class="unseen">${said}: </i>`}${text}</span>
    </div>`;
  return html`<div class=${`diff-row ${row.equal ? "equal" : "differs"}`} role="row">
    ${cell("old", old, row.a, "removed")}${cell("new", fresh, row.b, "added")}</div>`;
}

function summary(rows) {
  const of = (test) => rows.filter((row) => !row.equal && test(row)).length;
  const changed = of((row) => row.old !== undefined && row.fresh !== undefined);
  const told = [
    [changed, "changed"],
    [of((row) => row.fresh === undefined), "removed"],
    [of((row) => row.old === undefined), "added"],
  ].filter(([number]) => number);
  return told.map(([number, what]) => `${count(number, "line")} ${what}`).join(", ");
}

const linesOf = (text) => {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
};

/** A row for each line, or for two that belong together: `{ a, b, old, fresh, equal, marked }`. */
export function rowsOf(before, after) {
  const rows = [];
  let [a, b] = [0, 0];
  for (const [atOld, atNew, length] of [...runs(before, after, MOST_EDITS), [before.length, after.length, 0]]) {
    rows.push(...changedRows(before, after, a, atOld, b, atNew));
    for (let at = 0; at < length; at++) {
      rows.push({ a: atOld + at, b: atNew + at, old: before[atOld + at], fresh: after[atNew + at], equal: true });
    }
    [a, b] = [atOld + length, atNew + length];
  }
  return rows;
}

/** Lines `a` to `aEnd` became lines `b` to `bEnd`: those that are alike stand beside each other. */
function changedRows(before, after, a, aEnd, b, bEnd) {
  const rows = [];
  const apart = (toOld, toNew) => {
    while (a < toOld || b < toNew) {
      const row = { a, b, old: undefined, fresh: undefined };
      if (a < toOld) row.old = before[a++];
      if (b < toNew) row.fresh = after[b++];
      rows.push(row);
    }
  };
  const [fromOld, fromNew] = [a, b];
  for (const [one, other] of alike(before.slice(a, aEnd), after.slice(b, bEnd))) {
    apart(fromOld + one, fromNew + other);
    const [old, fresh] = [before[a], after[b]];
    rows.push({ a: a++, b: b++, old, fresh, marked: markedWords(old, fresh) });
  }
  apart(aEnd, bEnd);
  return rows;
}

/** The lines of both that are most alike, in order: `[[place in one, place in the other]]`. */
function alike(one, other) {
  if (!one.length || !other.length || one.length * other.length > MOST_PAIRS) return [];
  const wordsOf = (line) => new Set(line.match(/[\p{L}\p{M}\p{N}_]+/gu) || [line]);
  const [left, right] = [one, other].map((lines) => lines.map(wordsOf));
  const share = (x, y) => {
    let common = 0;
    for (const word of left[x]) if (right[y].has(word)) common++;
    const found = (2 * common) / (left[x].size + right[y].size);
    return found < ALIKE ? 0 : found;
  };
  const best = Array.from({ length: one.length + 1 }, () => new Float64Array(other.length + 1));
  const shares = one.map((_, x) => other.map((_, y) => share(x, y)));
  for (let x = one.length - 1; x >= 0; x--) {
    for (let y = other.length - 1; y >= 0; y--) {
      const both = shares[x][y] ? shares[x][y] + best[x + 1][y + 1] : 0;
      best[x][y] = Math.max(both, best[x + 1][y], best[x][y + 1]);
    }
  }
  const pairs = [];
  for (let x = 0, y = 0; x < one.length && y < other.length;) {
    if (shares[x][y] && best[x][y] === shares[x][y] + best[x + 1][y + 1]) pairs.push([x++, y++]);
    else if (best[x][y] === best[x + 1][y]) x++;
    else y++;
  }
  return pairs;
}

/** Both lines with the words marked that the other does not have there. */
function markedWords(old, fresh) {
  const [one, other] = [old.match(WORD) || [], fresh.match(WORD) || []];
  const equal = runs(one, other, MOST_EDITS_OF_WORDS);
  return [marked(one, equal.map(([at, , length]) => [at, length]), "del"),
    marked(other, equal.map(([, at, length]) => [at, length]), "ins")];
}

function marked(words, equal, tag) {
  const same = new Uint8Array(words.length);
  for (const [at, length] of equal) same.fill(1, at, at + length);
  // A space between two words that are marked is marked, too.
  words.forEach((word, at) => {
    if (same[at] && at && at + 1 < words.length && !word.trim() && !same[at - 1] && !same[at + 1]) same[at] = 0;
  });
  const parts = [];
  for (let at = 0; at < words.length;) {
    let end = at;
    while (end < words.length && same[end] === same[at]) end++;
    const text = words.slice(at, end).join("");
    parts.push(same[at] ? text : html`<${tag}>${text}<//>`);
    at = end;
  }
  return parts;
}

/** Equal rows far from any change, as one part each: `{ at, rows }`. */
function folded(rows) {
  const near = new Uint8Array(rows.length);
  rows.forEach((row, at) => {
    if (!row.equal) near.fill(1, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  const parts = [];
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (end < rows.length && !near[end]) end++;
    if (end - at > 1) {
      parts.push({ at, rows: rows.slice(at, end) });
      at = end;
    } else parts.push(rows[at++]);
  }
  return parts;
}

/**
 * Where two sequences are equal: `[[place in one, place in the other, length]]`, by Myers' O(ND) algorithm (1986). Of
 * what has more than `most` edits nothing between the equal ends is.
 */
export function runs(one, other, most) {
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start++;
  let [end, otherEnd] = [one.length, other.length];
  while (end > start && otherEnd > start && one[end - 1] === other[otherEnd - 1]) { end--; otherEnd--; }
  const found = start ? [[0, 0, start]] : [];
  for (const [x, y] of middle(one.slice(start, end), other.slice(start, otherEnd), most)) {
    const last = found.at(-1);
    if (last && last[0] + last[2] === start + x && last[1] + last[2] === start + y) last[2]++;
    else found.push([start + x, start + y, 1]);
  }
  if (end < one.length) found.push([end, otherEnd, one.length - end]);
  return found;
}

/** The places at which both are equal, one by one. */
function middle(one, other, most) {
  const size = Math.min(one.length + other.length, most);
  if (!one.length || !other.length) return [];
  const furthest = new Int32Array(2 * size + 2);
  const trace = [];
  for (let edits = 0; edits <= size; edits++) {
    trace.push(furthest.slice(size - edits, size + edits + 1));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const at = size + diagonal;
      const down = diagonal === -edits || (diagonal !== edits && furthest[at - 1] < furthest[at + 1]);
      let x = down ? furthest[at + 1] : furthest[at - 1] + 1;
      while (x < one.length && x - diagonal < other.length && one[x] === other[x - diagonal]) x++;
      furthest[at] = x;
      if (x >= one.length && x - diagonal >= other.length) return wayBack(trace, one.length, other.length);
    }
  }
  return [];
}

function wayBack(trace, x, y) {
  const places = [];
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const [before, diagonal] = [trace[edits], x - y];
    const at = diagonal + edits;
    const down = diagonal === -edits || (diagonal !== edits && before[at - 1] < before[at + 1]);
    const from = diagonal + (down ? 1 : -1);
    const [fromX, fromY] = edits ? [before[from + edits], before[from + edits] - from] : [0, 0];
    while (x > fromX && y > fromY) places.push([--x, --y]);
    [x, y] = [fromX, fromY];
  }
  return places.reverse();
}
