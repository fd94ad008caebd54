/** One hit of a search: where it stands, what it says, what is to be known of it, and why it was found. */

import { html, useState } from "./vendor/preact.js";
import { documentLink, link } from "./router.js";
import { Icon, States, When, count } from "./ui.js";

const ICONS = { memory: "memory", session: "sessions" };

/** The document, at the lines that answer; `q` has it mark the words, and lead back. */
export const hitLink = (hit, query) => documentLink(hit, { lines: hit.focus.join("-"), q: query });

export const timelineLink = (hit) => link("timeline", [], { ref: hit.id });

/**
 * @param {{ hit: object, query: string, why: boolean, act: (what: string, hit: object) => void }}
 * props `act` does what keys do as well: "copy", "why".
 */
export function Hit({ hit, query, act, why }) {
  const [open, setOpen] = useState(false);
  const remarks = remarksOn(hit);
  const href = hitLink(hit, query);
  // All of a hit leads to its document; its words can be selected, and its own links and buttons pressed.
  const pressed = (event) => {
    if (event.target.closest("a, button") || String(getSelection())) return;
    event.currentTarget.querySelector("a").click();
  };
  return html`<li class="hit" data-item data-key=${hit.key} onClick=${pressed}>
    <${Icon} name=${ICONS[hit.kind] || "document"} />
    <div class="hit-body">
      <div class="hit-head">
        <h2><a href=${href} data-id=${hit.id}>${hit.title}</a></h2>
        <span class="dim small"><${When} time=${hit.updated} /></span>
        <button class="quiet" aria-expanded=${open} aria-label=${`More about ${hit.title}`} title="More"
          onClick=${() => setOpen(!open)}><${Icon} name="more" /></button>
      </div>
      <${Place} hit=${hit} />
      <p class="snippet" dir="auto">${passage(hit)}</p>
      ${(hit.states || remarks.length > 0 || hit.also.length > 0) && html`<p class="hit-notes">
        <${States} of=${hit} />
        ${remarks.map(([text, title]) => html`<span class="chip" title=${title}>${text}</span>`)}
        ${hit.also.length > 0 && html`<span class="dim small">Also in ${listed(hit.also)}</span>`}</p>`}
      ${why && hit.explain && html`<${Why} explain=${hit.explain} score=${hit.score} />`}
      ${open && html`<p class="row hit-actions">
        ${hit.link && html`<a class="chip" href=${hit.link}><${Icon} name="external" />Open in Obsidian</a>`}
        <a class="chip" href=${timelineLink(hit)}><${Icon} name="timeline" />Show in timeline</a>
        <button class="chip" onClick=${() => act("copy", hit)}><${Icon} name="copy" />Copy link</button>
        <button class="chip" aria-pressed=${why} onClick=${() => act("why", hit)}>Why this?</button></p>`}
    </div></li>`;
}

const OF_KIND = { memory: "Memory", session: "Session" };

function Place({ hit }) {
  const folders = hit.path.split("/");
  const file = folders.pop().replace(/\.md$/i, "");
  const under = hit.headings.filter((heading) => heading !== hit.title);
  const kind = hit.kind === "memory" && hit.type ? hit.type : OF_KIND[hit.kind];
  const named = hit.kind === "note" && file !== hit.title ? [file] : []; // of the others it says nothing
  const place = [hit.source, ...(hit.kind === "session" ? [hit.project] : folders), ...named].filter(Boolean);
  const [from, to] = hit.focus;
  return html`<p class="hit-place">
    ${kind && html`<b>${kind}</b>`}<span title=${hit.path}>${place.join(" › ")}</span>
    ${under.length > 0 && html`<span title=${under.join(" › ")}>§ ${under.join(" › ")}</span>`}
    <span class="lines">${from === to ? `line ${from}` : `lines ${from}–${to}`}</span></p>`;
}

/** What else sets it apart: `[text, more]`. */
function remarksOn(hit) {
  return [
    hit.supersedes && ["supersedes", "It replaces a memory that matches your query"],
    hit.changed_since_index && ["changed since", "The file was changed after it was indexed"],
    hit.kind === "memory" && hit.confidence === "low" && ["low confidence", ""],
    hit.weak && ["weak", "Probably not an answer"],
  ].filter(Boolean);
}

const listed = (paths) =>
  paths.map((path, at) => html`${at > 0 && ", "}<a href=${link("doc", [], { ref: path })}>${path}</a>`);

// --- what it says ---------------------------------------------------------------------------------------------

// Marks of markdown around words, which only get in the way of reading: what is in the groups is not shown.
const MARKS = [
  /^([-*] )()/g,
  /(?<!\S)(`{3,}\w*)()(?!\S)/g,
  /(`+)[^`\n]+(\1)/g,
  /(\*\*|~~|==)(?! )[^*~=\n]+(\1)/g,
  /(?<![\w*])(\*)(?=[^\s*])[^*\n]+(?<=\S)(\*)(?![\w*])/g,
  /(!?\[\[(?:[^[\]|\n]*\|)?)[^[\]|\n]+(\]\])/g,
  /(!?\[)[^[\]\n]*(\]\([^()\s]*\))/g,
  /(?<!\S)((?:#{2,6}|>) (?:\[![\w-]+\][+-]? )?)()/g,
  /(?<=\S)( \^[\w-]+)()(?=\n|$)/g,
];

/** The snippet without these marks, its words marked, and what stands around the answer a little fainter. */
export function passage({ snippet, digest, spans }) {
  const text = snippet || digest;
  const at = offsets(text);
  const [[from, to] = [0, Infinity]] = snippet ? spans.focus : [];
  const kinds = new Uint8Array(text.length).fill(AROUND).fill(ANSWER, at(from), at(to));
  for (const [start, end] of snippet ? spans.snippet : spans.digest) kinds.fill(WORD, at(start), at(end));
  for (const one of MARKS.flatMap((mark) => [...text.matchAll(mark)])) {
    const end = one.index + one[0].length;
    kinds.fill(HIDDEN, one.index, one.index + one[1].length).fill(HIDDEN, end - one[2].length, end);
  }
  const parts = [];
  for (let start = 0, end; start < text.length; start = end) {
    for (end = start + 1; end < text.length && kinds[end] === kinds[start]; end++);
    const part = text.slice(start, end);
    if (kinds[start] === WORD) parts.push(html`<mark>${part}</mark>`);
    else if (kinds[start] === AROUND) parts.push(html`<span class="around">${part}</span>`);
    else if (kinds[start] === ANSWER) parts.push(part);
  }
  return parts;
}

const [AROUND, ANSWER, WORD, HIDDEN] = [0, 1, 2, 3];

/** Where a character is in a text: Python counts an emoji as one, JavaScript as two. */
function offsets(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (at) => at;
  const starts = [];
  for (let at = 0; at < text.length; at += text.codePointAt(at) > 0xffff ? 2 : 1) starts.push(at);
  return (at) => starts[at] ?? text.length;
}

// --- why ------------------------------------------------------------------------------------------------------

const PARTS = [
  ["text", "words", "words of the query; rare words count more"],
  ["vector", "meaning", "similarity in meaning"],
  ["path", "name", "title and name of the file"],
  ["passage", "passage", "share of the query that the passage contains"],
];

/** What the score is the sum of: a bar, and the same in words. */
function Why({ explain, score }) {
  const factors = Object.entries(explain.factors);
  const product = factors.reduce((all, [, factor]) => all * factor, 1);
  const shown = PARTS.filter(([name]) => explain.parts[name] * product >= 0.005);
  const { text, vector } = explain.channels;
  const told = [
    explain.matched.length && `contains ${explain.matched.join(", ")}`,
    explain.corrected.length && `contains a correction of ${explain.corrected.join(", ")}`,
    explain.missing.length && `does not contain ${explain.missing.join(", ")}`,
    text && `${ordinal(text.rank)} by its words`,
    vector && `${ordinal(vector.rank)} in meaning (cosine ${vector.score.toFixed(2)})`,
    ...factors.map(([name, factor]) => `${name} × ${factor.toFixed(2)}`),
  ].filter(Boolean);
  const sum = shown.map(([name, label], at) => html`${at > 0 && " + "}${label} ${explain.parts[name].toFixed(2)}`);
  return html`<div class="why">
    <div class="why-bar" aria-hidden="true">${shown.map(([name]) => html`
      <i class=${`why-${name}`} style=${{ width: `${Math.min(100, explain.parts[name] * product * 100)}%` }} />`)}</div>
    <p><b>${score.toFixed(2)}</b>${sum.length > 0 && " = "}${sum}</p>
    <p>${told.join(" · ")}</p></div>`;
}

const ENDINGS = { one: "st", two: "nd", few: "rd", other: "th" };
const RULES = new Intl.PluralRules("en", { type: "ordinal" });
const ordinal = (rank) => `${rank}${ENDINGS[RULES.select(rank)]}`;

/** What the colours of the bars mean, and how the question was read. */
export function Legend({ reading }) {
  const words = reading?.words.map(({ text, texts, meant }) =>
    `${text}${meant.length ? ` (perhaps ${meant.join(" or ")})` : ""}, in ${count(texts, "passage")}`);
  const read = [
    words?.length && `Searched for: ${words.join("; ")}.`,
    reading?.required && `A hit must contain ${reading.required}.`,
    reading?.excluded && `A hit must not contain ${reading.excluded}.`,
  ].filter(Boolean);
  return html`<div class="legend"><p>${PARTS.map(([name, label, what]) => html`
    <span><i class=${`why-${name}`} aria-hidden="true" /><b>${label}</b> ${what}</span>`)}</p>
    <p>${read.join(" ") || "The query has only filters, so all hits rank equally."}</p></div>`;
}
