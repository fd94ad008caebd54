/** Search as one types. */

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { ask } from "../api.js";
import { filterAt, offersOf, taken } from "../complete.js";
import { Filters } from "../filters.js";
import { Hit, Legend, hitLink, timelineLink } from "../hit.js";
import { arrows, focusItem, useKeys } from "../keys.js";
import { filtersOf } from "../query.js";
import { go, hits as kept, link } from "../router.js";
import { useSearch } from "../searching.js";
import { Start, remember } from "../start.js";
import { Empty, ErrorNote, Icon, Kbd, copy, count, sentence, useMedia } from "../ui.js";

export const title = "Search";

const ADDRESS_REST = 300;
const ALWAYS_SHOWN = 3;  // the best hits, even where they are weak
/** Has room for a document beside the hits. */
const WIDE = matchMedia("(min-width: 1280px)");
const CAN_HOVER = matchMedia("(hover: hover)");

/** The field that was there before any module, until it is taken over. */
let early = document.querySelector("#search");

/** What was last asked, and where somebody was in the hits when they went to a document: `{ text, key }`. */
export const asked = { last: "", left: null };

export default function Search({ params }) {
  const [query, setQuery] = useState(() => {
    const text = early?.value;
    early = null;
    return text ? { text, typed: true } : { text: params.q || "", typed: false };
  });
  const { text } = query;
  asked.last = text;
  const why = Boolean(params.why);
  const field = useRef(null);
  const list = useRef(null);
  const search = useSearch(query, why);
  const { found, error } = search;
  const put = useAddress(params, query, (told) => setQuery({ text: told, typed: false }));

  const results = found?.results || [];
  const shown = results.filter((hit, at) => params.all || at < ALWAYS_SHOWN || !hit.weak);
  const hidden = results.length - shown.length;
  const explained = why && found?.reading?.words.length > 0;

  const opening = useRef("");
  const typed = ({ target }) => {
    opening.current = "";
    setQuery({ text: target.value, typed: true, caret: target.selectionStart });
  };
  const change = (next, stay = false) => {
    setQuery({ text: next, typed: false });
    // What was pressed may be gone; but the keyboard of a phone would hide the hits.
    if (!stay && (!next || CAN_HOVER.matches)) field.current.focus();
  };
  const first = () => focusItem(list.current?.querySelector("[data-item]"));
  const enter = () => {
    remember(text);
    opening.current = text;
    if (!open()) search.soon();
  };
  // The first hit, as soon as it is certain which one it is; on a phone the hits, which its keyboard hid.
  const open = () => {
    if (!search.refined || search.text !== text || opening.current !== text) return false;
    opening.current = "";
    if (!CAN_HOVER.matches) first();
    else if (shown.length) {
      leave(shown[0]);
      go(hitLink(shown[0], text));
    }
    return true;
  };
  useEffect(() => { open(); }, [found]);

  const hitAt = (element) => {
    const key = element?.closest("[data-item]")?.dataset.key;
    return shown.find((hit) => hit.key === key);
  };
  const leave = (hit) => {
    put({});
    remember(text);
    asked.left = { text, key: hit?.key };
    kept.put(shown.map((one) => hitLink(one, text)));
  };
  const act = (what, hit = hitAt(document.activeElement) || shown[0]) => {
    if (what === "why") put({ why: why ? "" : "1" });
    else if (hit && what === "copy") copy(location.href.split("#")[0] + hitLink(hit, text), "The link");
    else if (hit && what === "timeline") {
      leave(hit);
      go(timelineLink(hit));
    } else if (hit?.link) press(hit.link);
  };
  useKeys("Search", {
    j: ["go to the hits", first],
    ArrowDown: ["go to the hits", first],
    o: ["open the hit in Obsidian", () => act("obsidian")],
    c: ["copy the link of the hit", () => act("copy")],
    t: ["show it in the timeline", () => act("timeline")],
    e: ["why it was found", () => act("why")],
    f: ["more filters", () => document.querySelector("#filters").click()],
  });
  const followed = ({ target }) => {
    if (target.closest("a[href^='#']")) leave(hitAt(target));
  };
  const [selected, setSelected] = useState("");
  const focus = useFocus(list, field, text, found, setSelected);

  const latest = useRef(act);
  latest.current = act;
  // The same nodes for the same hits: a key that is typed draws none of them anew.
  const hits = useMemo(() => shown.map((hit) => html`
    <${Hit} key=${hit.key} hit=${hit} query=${search.text} why=${explained}
      act=${(...done) => latest.current(...done)} />`), [found, params.all, explained]);

  const split = useMedia(WIDE) && Boolean(text.trim());
  return html`<div class=${split ? "search-split" : null}><div class="page narrow search">
    <h1 class="unseen">Search</h1>
    <${Field} text=${text} field=${field} typed=${typed} put=${(next) => setQuery({ text: next, typed: true, caret: next.length })} clear=${() => change("")} down=${first} enter=${enter} />
    <${Filters} text=${text} change=${change} />
    ${!text.trim() ? html`<${Start} ask=${change} list=${list} field=${field} />` : html`
      ${error && html`<${ErrorNote} error=${error} retry=${search.again} />`}
      ${found && html`
        <${Told} search=${search} shown=${shown.length} hidden=${hidden} text=${text} change=${change} />
        ${why && shown.length > 0 && html`<${Legend} reading=${found.reading} />`}
        ${!shown.length && search.refined && html`<${Empty} title="Nothing answers this">
          ${filtersOf(text).length ? "Try other words, or remove a filter." : "Try fewer or other words."}<//>`}
        <ol class="hits" ref=${list} aria-label="Hits" onKeyDown=${(event) => arrows(event, field.current)}
          onClick=${followed} ...${focus}>${hits}</ol>
        ${hidden > 0 && search.refined && html`<p class="hits-foot">
          <button onClick=${() => put({ all: "1" })}>Show ${count(hidden, "weak hit")}</button></p>`}
        ${search.more && !hidden && html`<${More} more=${search.more} at=${results.length} />`}`}`}
  </div>${split && html`<${Beside} any=${shown.length > 0} hit=${shown.find((hit) => hit.key === selected)} query=${search.text} />`}</div>`;
}

let preview = null;

function Beside({ hit, any, query }) {
  const [, loaded] = useState(preview);
  const wanted = Boolean(hit);
  useEffect(() => {
    if (wanted && !preview) import("../preview.js").then((module) => loaded(preview = module), () => {});
  }, [wanted]);
  const Text = preview?.default;
  return (hit || any) && html`<aside class="preview" aria-label="Selected hit">${hit && Text ? html`<${Text} hit=${hit} query=${query} />`
    : html`<p class="dim">Select a hit with <${Kbd} keys="ArrowDown" /> to read it here.</p>`}</aside>`;
}

/**
 * The address follows what is typed, as soon as the keys rest, and `follow` is told where it changes by itself: a link,
 * the way back. Returns what puts more into it at once.
 */
function useAddress(params, { text, typed }, follow) {
  const told = useRef(params.q || "");
  const put = (more) => {
    told.current = text;
    go(link("search", [], { ...params, q: text, ...more }), { replace: true });
  };
  const latest = useRef(put);
  latest.current = put;
  useLayoutEffect(() => {
    if ((params.q || "") === told.current) return;
    told.current = params.q || "";
    follow(told.current);
  }, [params.q]);
  useLayoutEffect(() => {
    if (text === told.current) return undefined;
    // What was pressed is in the address at once: a reload would lose it.
    if (!typed) return put({});
    const rest = setTimeout(() => text !== told.current && latest.current({}), ADDRESS_REST);
    return () => clearTimeout(rest);
  }, [text]);
  return put;
}

/** Whoever comes back goes on where they were; and the focus goes with a hit that moves. */
function useFocus(list, field, text, found, select) {
  const at = useRef(null);
  const item = (key) => key && list.current?.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const returns = useRef(Boolean(asked.left)).current;
  useLayoutEffect(() => {
    if (!returns && CAN_HOVER.matches) field.current.focus({ preventScroll: true });
  }, []);
  useLayoutEffect(() => {
    if (!found) return;
    if (asked.left) {
      const { key } = asked.left;
      const same = asked.left.text === text;
      asked.left = null;
      if (same) requestAnimationFrame(() => focusItem(item(key)));
    } else if (at.current && document.activeElement === document.body) {
      (item(at.current)?.querySelector("a") || field.current).focus({ preventScroll: true });
    }
  }, [found]);
  return {
    onfocusin: ({ target }) => {
      at.current = target.closest("[data-item]")?.dataset.key;
      select(at.current);
    },
    onfocusout: ({ relatedTarget }) => { if (relatedTarget) at.current = null; },
  };
}

/** The values of filters, asked for with the first filter that is typed. */
let values = null;
addEventListener("vault-index:changed", ({ detail }) => { if (detail.event === "changed") values = null; });

function useOffers(text, caret, isOpen) {
  const [, loaded] = useState(null);
  const at = isOpen ? filterAt(text, caret) : null;
  const wants = Boolean(at?.key);
  useEffect(() => {
    if (wants && !values) ask("values").then((found) => loaded(values = found), () => {});
  }, [wants]);
  return [at, offersOf(at, values)];
}

function Field({ text, field, typed, put, clear, down, enter }) {
  const [caret, setCaret] = useState(-1);
  const [active, setActive] = useState(-1);
  const [at, offers] = useOffers(text, caret, caret >= 0);
  const isOpen = offers.length > 0;
  const close = () => { setCaret(-1); setActive(-1); };
  const next = useRef(null);
  useLayoutEffect(() => {
    if (next.current === null) return;
    field.current.setSelectionRange(next.current, next.current);
    next.current = null;
  }, [text]);
  const take = (offer) => {
    const done = taken(text, caret, at, offer);
    next.current = done.caret;
    setActive(-1);
    setCaret(offer.insert.endsWith(":") ? done.caret : -1);
    put(done.text);
    field.current.focus();
  };
  const key = (event) => {
    if (event.isComposing) return;
    const moves = isOpen && at.key ? { ArrowDown: 1, ArrowUp: -1 }[event.key] : 0;
    const chosen = offers[active] || (event.key === "Tab" && !event.shiftKey ? offers[0] : null);
    if (moves) setActive(Math.min(offers.length - 1, Math.max(-1, active + moves)));
    else if (isOpen && chosen && ["Enter", "Tab"].includes(event.key)) take(chosen);
    else if (isOpen && event.key === "Escape") {
      close();
      event.stopPropagation();
    } else if (event.key === "ArrowDown") down();
    else if (event.key === "Enter") {
      close();
      enter();
    } else return;
    event.preventDefault();
  };
  const input = (event) => {
    setCaret(event.target.selectionStart);
    setActive(-1);
    typed(event);
  };
  return html`<div class="search-field"><${Icon} name="search" />
    <input id="search" type="search" ref=${field} value=${text} onInput=${input} onKeyDown=${key} onBlur=${close}
      enterkeyhint="search" placeholder="Search notes, memories and sessions" aria-label="Search" autocomplete="off"
      autocapitalize="off" spellcheck=${false} role="combobox" aria-expanded=${isOpen} aria-controls="offers"
      aria-autocomplete="list" aria-activedescendant=${active >= 0 ? `offer-${active}` : null} />
    ${!text && html`<kbd aria-hidden="true">/</kbd>`}
    ${text && html`
      <button class="quiet" aria-label="Clear the search" onClick=${clear}><${Icon} name="close" /></button>`}
    <ul id="offers" role="listbox" aria-label="Filters to complete" hidden=${!isOpen}>${offers.map((offer, index) => html`
      <li id=${`offer-${index}`} key=${offer.label} role="option" aria-selected=${index === active}
        onPointerDown=${(event) => { event.preventDefault(); take(offer); }}><b>${offer.label}</b>
        <span class="dim small">${offer.note}</span></li>`)}</ul>
  </div>`;
}

const DOUBT = { low: "not certain", none: "no sure answer" };

/** How many, how sure, and what was not done as asked. */
function Told({ search, shown, hidden, text, change }) {
  const { found, refined } = search;
  const [said, setSaid] = useState("");
  const number = count(shown, "hit").replace(" ", search.isPart && !hidden ? "+ " : " ");
  const doubt = refined && DOUBT[found.confidence];
  const meant = Object.entries(found.corrections);
  const words = meant.map(([typed, word], at) => html`${at > 0 && ", "}
    <button class="as-link" onClick=${() => change(text.replace(typed, word))}>${word}</button>`);
  // Not for each letter.
  useEffect(() => { if (refined) setSaid(shown ? number : "Nothing answers this"); }, [refined, number]);
  return html`
    <p class="told">
      <span>${shown > 0 && number}${shown > 0 && doubt && html` · <em>${doubt}</em>`}</span>
      <span>${Math.max(1, Math.round(found.took_ms))} ms</span></p>
    <p class="unseen" role="status">${said}</p>
    ${refined && meant.length > 0 && html`<p class="told-more">Also showing hits for ${words}.</p>`}
    ${refined && found.hints?.map((hint) => html`<p class="told-more"><${Hint} text=${hint} query=${text} change=${change} /></p>`)}
    ${refined && found.degraded.map((reason) => html`
      <p class="told-more"><${Icon} name="warning" /> ${sentence(reason)}</p>`)}`;
}

/** A filter that nothing meets, and the nearest one: pressed, it takes its place. */
function Hint({ text, query, change }) {
  const [, unmet, near, rest] = /^no document meets (\S+); (\S+)( has \d+)$/.exec(text) || [];
  if (!near || !query.includes(unmet)) return sentence(text);
  return html`No document meets ${unmet}; <button class="as-link"
    onClick=${() => change(query.replace(unmet, () => near))}>${near}</button>${rest}.`;
}

/** The next hits, on a press or as soon as the end comes near. */
function More({ more, at }) {
  const button = useRef(null);
  useEffect(() => {
    const seen = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && more(), { rootMargin: "400px" });
    seen.observe(button.current);
    return () => seen.disconnect();
  }, [at]);
  return html`<p class="hits-foot"><button ref=${button} onClick=${more}>Show more</button></p>`;
}

/** What another program opens, as if its link was pressed. */
function press(href) {
  const to = Object.assign(document.createElement("a"), { href, hidden: true });
  document.body.append(to);
  to.click();
  to.remove();
}
