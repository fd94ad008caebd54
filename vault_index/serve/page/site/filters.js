/** The filters of a search as chips: some to turn on and off, and those of the query, which can be taken away. */

import { html, useContext, useEffect, useState } from "./vendor/preact.js";
import { call } from "./api.js";
import { filterOf, filtersOf, turned, without } from "./query.js";
import { About, Icon } from "./ui.js";

const KINDS = [["note", "Notes"], ["memory", "Memories"], ["session", "Sessions"]];
const SINCE = [
  ["today", "Today"], ["last week", "Last week"], ["last month", "Last month"],
  [String(new Date().getFullYear()), "This year"],
];
const STATES = ["unreviewed", "expired", "superseded", "outdated", "archived"];
const MOST_TAGS = 14;

/** @param {{ text: string, change: (text: string, stay?: boolean) => void }} props `stay`: the focus stays here. */
export function Filters({ text, change }) {
  const [open, setOpen] = useState(false);
  const chip = (key, value, label) => html`
    <button class="chip" aria-pressed=${Boolean(filterOf(text, key, value))}
      onClick=${() => change(turned(text, key, value), true)}>${label}</button>`;
  const given = filtersOf(text).filter((one) => !isOffered(one));
  return html`<div class="filters">
    <div class="filter-row" role="group" aria-label="Filters">
      <button id="filters" class="chip" aria-expanded=${open} aria-label="More filters" title="More filters (f)"
        onClick=${() => setOpen(!open)}><${Icon} name="filter" /></button>
      ${KINDS.map(([value, label]) => chip("kind", value, label))}
      <i class="between" />
      ${SINCE.map(([value, label]) => chip("after", value, label))}
    </div>
    ${open && html`<${MoreFilters} chip=${chip} />`}
    ${given.length > 0 && html`<div class="filter-row given" role="group" aria-label="Filters of this search">
      ${given.map((one) => html`
        <button class=${`chip ${one.negated ? "not" : "on"}`} onClick=${() => change(without(text, one))}>
          <span>${one.negated && "not "}${one.key !== "property" && html`<b>${one.key}</b> `}${one.value}</span>
          <i class="unseen">, remove this filter</i><${Icon} name="close" /></button>`)}
    </div>`}</div>`;
}

/** Whether one of the chips that are always there says it. */
const isOffered = ({ key, value, negated }) => !negated
  && ({ kind: KINDS, after: SINCE }[key] || []).some(([one]) => filterOf(`${key}:"${value}"`, key, one));

let topTags = [];

function MoreFilters({ chip }) {
  const about = useContext(About);
  const [tags, setTags] = useState(topTags);
  useEffect(() => {
    call("tags", {}).then((found) => setTags((topTags = found.results.slice(0, MOST_TAGS))), () => {});
  }, []);
  return html`<div class="filter-more">
    <div><span>Source</span><p>${about.sources.map(({ name }) => chip("source", name, name))}</p></div>
    ${tags.length > 0 && html`<div><span>Tag</span><p>${tags.map(({ tag }) => chip("tag", tag, `#${tag}`))}</p></div>`}
    <div><span>Memory</span><p>${STATES.map((state) => chip("is", state, state))}</p></div>
  </div>`;
}
