/** What the search shows while nothing is asked: what was asked before, what one may ask, and what changed. */

import { html, useState } from "./vendor/preact.js";
import { call } from "./api.js";
import { arrows } from "./keys.js";
import { documentLink } from "./router.js";
import { ErrorNote, Icon, When, useAnswer, useChanges } from "./ui.js";

const KEY = "vault-index.searches";
const MOST = 8;
const ICONS = { memory: "memory", session: "sessions" };

const EXAMPLES = [
  ["how do I …", "a question in plain words"],
  ['"two words"', "this exact phrase"],
  ["dock*", "words that begin with this"],
  ["-java", "without a word"],
  ["tag:food", "with a tag"],
  ["path:projects", "in a folder"],
  ['after:"last week"', "created since then", true],
  ["is:unreviewed", "memories to review", true],
];

function searches() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) || [];
  } catch {
    return [];
  }
}

/** Keep a search that led somewhere. */
export function remember(text) {
  const asked = text.trim();
  if (!asked) return;
  keep([asked, ...searches().filter((one) => one !== asked)].slice(0, MOST));
}

function keep(all) {
  try {
    if (all.length) localStorage.setItem(KEY, JSON.stringify(all));
    else localStorage.removeItem(KEY);
  } catch {
    // not kept, then
  }
}

export function Start({ ask, list, field }) {
  const [recent, setRecent] = useState(searches);
  const [changed, error, again] = useAnswer((signal) => call("list", { sort: "updated", limit: MOST }, { signal }), []);
  useChanges(again);
  const forget = () => {
    keep([]);
    setRecent([]);
    field.current.focus();
  };
  return html`
    ${recent.length > 0 && html`<section class="start">
      <div class="apart"><h2>Recent searches</h2>
        <button class="as-link small" onClick=${forget}>Clear list</button></div>
      <p class="filter-row">${recent.map((one) => html`
        <button class="chip" onClick=${() => ask(one)}><${Icon} name="history" /><span>${one}</span></button>`)}</p>
    </section>`}
    ${error && html`<${ErrorNote} error=${error} retry=${again} />`}
    ${changed && html`<section class="start"><h2>Recently changed</h2>
      ${!changed.results.length && html`<p class="dim">Nothing is indexed yet.</p>`}
      <ol class="changed" ref=${list} onKeyDown=${(event) => arrows(event, field.current)}>
        ${changed.results.map((one) => html`<li key=${one.id}><a data-item href=${documentLink(one)}>
          <${Icon} name=${ICONS[one.kind] || "document"} />
          <b>${one.title}</b><span>${[one.source, ...one.path.split("/").slice(0, -1)].join(" › ")}</span>
          <${When} time=${one.updated} /></a></li>`)}</ol></section>`}
    <section class="start"><h2>Query syntax</h2>
      <dl class="ways">${EXAMPLES.map(([example, what, whole]) => html`<div>
        <dt>${whole ? html`<button class="as-link" onClick=${() => ask(example)}><code>${example}</code></button>`
          : html`<code>${example}</code>`}</dt>
        <dd>${what}</dd></div>`)}</dl></section>`;
}
