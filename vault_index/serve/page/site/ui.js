/** What all views are made of: icons, buttons, dialogs, messages, times, and words that are marked. */

import { dayOf, isDay, today } from "./times.js";
import { createContext, html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";

/** What `/page/about` told: `{ version, name, editor, sources: [{ name, kind, path }] }`. */
export const About = createContext(null);

const PATHS = {
  brand: "M5 5l7 14 7-14",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  sessions: "M4 5h16v11H9l-5 4zM8 9h8M8 12.5h5",
  review: "M4 6h9M4 12h6M4 18h9M14 14l3 3 5-6",
  recall: "M12 3v4M12 17v4M3 12h4M17 12h4M12 15.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z",
  health: "M3 12h4l3-7 4 14 3-7h4",
  tokens: "M15.5 12a4.5 4.5 0 1 0-4.4-5.5L3 14.5V19h4v-2.5h2.5V14l2.5-2.5a4.5 4.5 0 0 0 3.5.5zM16 8h.01",
  keyboard: "M3 7h18v10H3zM7 10.5h.01M10.5 10.5h.01M14 10.5h.01M17 10.5h.01M8 14h8",
  "theme-system": "M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16",
  "theme-light": "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  "theme-dark": "M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z",
  document: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  memory: "M12 4c-4 0-7 2.5-7 6 0 2 1 3.5 2.5 4.6V19l3.5-2.2c.3 0 .7.1 1 .1 4 0 7-2.9 7-6.9s-3-6-7-6zM9.5 10.5h5",
  folder: "M3 6h6l2 2.5h10V19H3z",
  clock: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM12 8v4.5l3 2",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  external: "M14 4h6v6M20 4l-9 9M18 14v5H5V6h5",
  close: "M6 6l12 12M18 6L6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  archive: "M3 5h18v4H3zM5 9v10h14V9M10 13h4",
  trash: "M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13",
  swap: "M4 8h15l-4-4M20 16H5l4 4",
  merge: "M6 4v5c0 4 6 4 6 8v3M18 4v5c0 4-6 4-6 8",
  undo: "M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-3",
  history: "M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.5M12 8v4.5l3 2",
  timeline: "M4 12h16M7 9v6M12 7v10M17 9v6",
  next: "M9 5l7 7-7 7",
  back: "M15 5l-7 7 7 7",
  up: "M6 15l6-6 6 6",
  down: "M6 9l6 6 6-6",
  warning: "M12 4l9 16H3zM12 10v4.5M12 17.5h.01",
  info: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM12 11.5V16M12 8.2h.01",
  question: "M8.5 9a3.5 3.5 0 1 1 5.2 3c-1.2.7-1.7 1.4-1.7 2.8M12 18.5h.01",
  quote: "M10 7c-3.2.8-5 3-5 6.5V17h4.5v-4.5H5.2M19 7c-3.2.8-5 3-5 6.5V17h4.5v-4.5h-4.3",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  outline: "M4 6h16M8 12h12M12 18h8",
  filter: "M4 5h16l-6 7.5V19l-4-2v-4.5z",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  plus: "M12 5v14M5 12h14",
};

/** A picture beside words that say the same: screen readers pass over it. Names: `PATHS` above. */
export function Icon({ name }) {
  return html`<svg class=${`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d=${PATHS[name] || PATHS.document} /></svg>`;
}

/** What went wrong, and what to do next. */
export function ErrorNote({ error, retry }) {
  // The same question would be refused again.
  const refused = error.status >= 400 && error.status < 500;
  return html`<div class="note fault" role="alert">
    <${Icon} name="warning" />
    <div><strong>${sentence(error.message)}</strong>${error.hint && html`<p>${sentence(error.hint)}</p>`}</div>
    ${retry && !refused && html`<button onClick=${retry}>Try again</button>`}
  </div>`;
}

/** Where there is nothing to show: why, and what to do. */
export const Empty = ({ icon = "search", title, children }) => html`
  <div class="empty"><${Icon} name=${icon} /><p class="empty-title">${title}</p><div class="dim">${children}</div></div>`;

/** Only after a moment: most answers are there before it would be seen. */
export const Loading = ({ what = "Loading" }) => html`<p class="loading" role="status"><span>${what}…</span></p>`;

export const Button = ({ icon, children, kind = "", ...rest }) => html`
  <button type="button" class=${kind} ...${rest}>${icon && html`<${Icon} name=${icon} />`}${children && html`<span>${children}</span>`}</button>`;

const STATES = {
  expired: "Its expiry date has passed", superseded: "Another memory replaces it", outdated: "Its valid-until date has passed",
  archived: "Hidden from search and recall", unreviewed: "Captured from an agent, not reviewed yet",
};

/** What of a memory is over, or not reviewed, as chips. */
export const States = ({ of }) => (of.states || []).map((state) => html`
  <span class=${state === "unreviewed" ? "chip" : "chip warn"} title=${STATES[state]}>${state}</span>`);

export const Kbd = ({ keys }) => html`<span class="keys">${keys.split(" ").map((one) => html`<kbd>${KEY_NAMES[one] || one}</kbd>`)}</span>`;
const KEY_NAMES = { ArrowDown: "↓", ArrowUp: "↑", Enter: "↵", Escape: "esc" };

/** The list that `?` shows. */
export const Keys = ({ groups }) => html`${groups.map(({ label, bindings }) => html`
  <section class="key-group"><h3>${label}</h3><dl>
    ${Object.entries(bindings).map(([key, [what]]) => html`<div><dt>${what}</dt><dd><${Kbd} keys=${key} /></dd></div>`)}
  </dl></section>`)}
  <section class="key-group"><h3>In lists</h3><dl>
    <div><dt>go up and down</dt><dd><${Kbd} keys="ArrowUp ArrowDown" /> <${Kbd} keys="k j" /></dd></div>
    <div><dt>open</dt><dd><${Kbd} keys="Enter" /></dd></div>
  </dl></section>`;

/** A dialog of the browser: it keeps the focus inside, and Escape closes it. */
export function Dialog({ title, close, wide, children }) {
  const dialog = useRef(null);
  // Before anything is drawn, or a key may come before it is open.
  useLayoutEffect(() => {
    dialog.current.showModal();
  }, []);
  const outside = (event) => event.target === dialog.current && close();
  return html`<dialog ref=${dialog} class=${wide ? "wide" : ""} aria-labelledby="dialog-title" onClose=${close} onClick=${outside}>
    <div class="dialog-body">
      <div class="dialog-head"><h2 id="dialog-title">${title}</h2>
        <button class="quiet" aria-label="Close" onClick=${close}><${Icon} name="close" /></button></div>
      ${children}
    </div></dialog>`;
}

let showToast = () => {};

/** Say what was done; `action` is `["Undo", run]`. */
export const toast = (text, action, kind = "") => showToast({ text, action, kind });

export function Toasts() {
  const [message, setMessage] = useState(null);
  useLayoutEffect(() => {
    let timer;
    showToast = (next) => {
      clearTimeout(timer);
      setMessage(next);
      timer = setTimeout(() => setMessage(null), next.action ? 12000 : 6000);
    };
    return () => clearTimeout(timer);
  }, []);
  const act = () => {
    setMessage(null);
    message.action[1]();
  };
  return html`<div class="toasts" role="status" aria-live="polite">${message && html`
    <div class=${`toast ${message.kind}`}><span>${message.text}</span>
      ${message.action && html`<button onClick=${act}>${message.action[0]}</button>`}
      <button class="quiet" aria-label="Close the message" onClick=${() => setMessage(null)}><${Icon} name="close" /></button>
    </div>`}</div>`;
}

/**
 * The answer of a call, asked again when `inputs` change: `[answer, error, again]`. `ask(signal)` is aborted when it is
 * no longer wanted; while another answer comes the one before stays.
 */
export function useAnswer(ask, inputs) {
  const [state, setState] = useState([null, null]);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const wanted = new AbortController();
    ask(wanted.signal).then(
      (answer) => wanted.signal.aborted || setState([answer, null]),
      (error) => wanted.signal.aborted || setState(([answer]) => [answer, error]),
    );
    return () => wanted.abort();
  }, [...inputs, turn]);
  return [...state, () => setTurn((one) => one + 1)];
}

/** Called with `{ event, data }` of /events at most once in `pause` milliseconds: the latest, `changed` if any was. */
export function useChanges(told, pause = 1000) {
  const current = useRef(told);
  current.current = told;
  useLayoutEffect(() => {
    let timer;
    let news;
    const changed = ({ detail }) => {
      news = { ...detail, event: news?.event === "changed" ? "changed" : detail.event };
      timer ??= setTimeout(() => {
        const all = news;
        timer = news = undefined;
        current.current(all);
      }, pause);
    };
    addEventListener("vault-index:changed", changed);
    return () => {
      clearTimeout(timer);
      removeEventListener("vault-index:changed", changed);
    };
  }, []);
}

/** A text with its `spans` ([start, end] in characters, as Python counts them) marked. */
export function Marked({ text, spans = [] }) {
  if (!spans.length) return text;
  const characters = /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
  const cut = (from, to) => (typeof characters === "string" ? text.slice(from, to) : characters.slice(from, to).join(""));
  const parts = [];
  let at = 0;
  for (const [from, to] of [...spans].sort((one, other) => one[0] - other[0])) {
    if (from < at) continue;
    parts.push(cut(at, from), html`<mark>${cut(from, to)}</mark>`);
    at = to;
  }
  return [...parts, cut(at, text.length)];
}

/** A sentence of a message of ours, which has no capital and no full stop; a path that it begins with stays one. */
export const sentence = (text = "") => text
  && (/^\S*[/.]\w/.test(text) ? text[0] : text[0].toUpperCase()) + text.slice(1) + (/[.!?:]$/.test(text) ? "" : ".");

const DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });
const EXACT = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "short" });
const LONG_DAY = new Intl.DateTimeFormat("en", { dateStyle: "long" });
const AGO = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** When, as people say it: `3 hours ago`, `yesterday`, `12 Mar 2026`; exactly under the pointer. */
export function When({ time }) {
  if (!time) return null;
  const at = new Date(time);
  return isDay(time) ? html`<time datetime=${dayOf(time)} title=${LONG_DAY.format(at)}>${daysAgo(dayOf(time))}</time>`
    : html`<time datetime=${time} title=${EXACT.format(at)}>${ago(at)}</time>`;
}

function daysAgo(day) {
  const days = (new Date(today()) - new Date(day)) / 86400000;
  return days >= 0 && days < 7 ? AGO.format(-days, "day") : DAY.format(new Date(`${day}T00:00`));
}

export function ago(at, now = new Date()) {
  const seconds = (at - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 60) return AGO.format(Math.round(seconds), "second");
  if (size < 3600) return AGO.format(Math.round(seconds / 60), "minute");
  if (size < 86400) return AGO.format(Math.round(seconds / 3600), "hour");
  if (size < 7 * 86400) return AGO.format(Math.round(seconds / 86400), "day");
  return DAY.format(at);
}

export const day = (time) => DAY.format(new Date(time));

/** `1 h 20 min`, `45 s`, of seconds. */
export function duration(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
}

export const count = (number, one, several = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : several}`;

export function bytes(number) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const step = number < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(number) / 3));
  const value = number / 1000 ** step;
  return `${step && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[step]}`;
}

export async function copy(text, what = "It") {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} is copied.`);
  } catch {
    toast("The browser does not allow copying: select the text and copy it yourself.");
  }
}

/** Whether a media query matches, now and later. */
export function useMedia(query) {
  const [matches, setMatches] = useState(query.matches);
  useEffect(() => {
    const changed = () => setMatches(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return matches;
}

const styles = new Set();

/** A stylesheet of one view (`views/review.css`), which comes with it. */
export async function loadStyle(file) {
  if (!file || styles.has(file)) return;
  styles.add(file);
  const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `/page/${file}` });
  await new Promise((resolve) => {
    sheet.onload = sheet.onerror = resolve;
    document.head.append(sheet);
  });
}
