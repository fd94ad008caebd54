/** Charts of plain HTML, which are read as well as seen: every value can be had by keys, by touch and by ear. */

import { html, useRef, useState } from "./vendor/preact.js";
import { loadStyle } from "./ui.js";

await loadStyle("charts.css");

const part = (value, most) => `${most > 0 ? Math.max(0, Math.min(100, (100 * value) / most)) : 0}%`;
const percent = (share) => (share > 0 && share < 0.01 ? "under 1 %" : `${Math.round(100 * share)} %`);

/**
 * Bars over time. What one stands for is said above them while it has the pointer or the focus (← →, Home,
 * End); else `children` are. `tick` stands below a bar, and may be left out of some.
 * @param {{ label: string, data: Array<{ label: string, value: number, told: string, tick?: string }>, most: string }}
 * props `most` is what the highest bar stands for, in words.
 */
export function Bars({ label, data, most, children }) {
  const [at, setAt] = useState(-1);
  const bars = useRef(null);
  const highest = Math.max(...data.map((one) => one.value), 0);
  const stop = at < 0 || at >= data.length ? data.length - 1 : at;
  const move = (event) => {
    const to = { ArrowLeft: stop - 1, ArrowRight: stop + 1, Home: 0, End: data.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    bars.current.children[Math.max(0, Math.min(data.length - 1, to))].focus();
  };
  const shown = data[at];
  return html`<figure class="chart">
    <figcaption><span>${label}</span>
      <span class="told">${shown ? html`<b>${shown.label}</b> ${shown.told}` : children}</span></figcaption>
    <div class="bars-frame" data-most=${most}>
      <div class=${`bars ${data.length > 40 ? "many" : ""} ${data.some((one) => !one.tick) ? "sparse" : ""}`}
        role="group" aria-label=${label} ref=${bars}
        onKeyDown=${move} onPointerLeave=${() => setAt(-1)} onFocusOut=${() => setAt(-1)}>
        ${data.map((one, index) => html`<div key=${one.label} class=${`bar ${index === at ? "on" : ""}`} role="img"
          tabindex=${index === stop ? 0 : -1} aria-label=${`${one.label}: ${one.told}`}
          onPointerEnter=${() => setAt(index)} onFocus=${() => setAt(index)}>
          <i style=${{ height: part(one.value, highest), minHeight: one.value ? "3px" : "0" }}></i>
          <span aria-hidden="true">${one.tick}</span></div>`)}
      </div>
    </div></figure>`;
}

/** What a whole is made of: one bar, and a legend with the numbers. `parts`: `[{ label, value, told }]`. */
export function Stacked({ label, parts }) {
  const whole = parts.reduce((sum, one) => sum + one.value, 0);
  const told = `${label}: ${parts.map((one) => `${one.label} ${one.told}`).join(", ")}`;
  return html`<div class="stacked">
    <div class="stack" role="img" aria-label=${told}>
      ${parts.map((one, index) => html`<i key=${one.label} class=${`tone-${index + 1}`}
        title=${`${one.label}: ${one.told}`}
        style=${{ flexGrow: one.value, flexBasis: one.value ? "2px" : "0" }}></i>`)}
    </div>
    <dl>${parts.map((one, index) => html`<div key=${one.label} title=${percent(one.value / (whole || 1))}>
      <dt><i class=${`tone-${index + 1}`}></i>${one.label}</dt><dd>${one.told}</dd></div>`)}</dl>
  </div>`;
}

/** Bars beside their names, of one scale (`most`). `rows`: `[{ label, value, told, note }]`; null is unknown. */
export const Rows = ({ label, rows, most = 1 }) => html`
  <dl class="rows" aria-label=${label}>${rows.map((one) => html`<div key=${one.label}>
    <dt>${one.label}${one.note && html` <small class="dim">${one.note}</small>`}</dt>
    <dd><span class="track" aria-hidden="true">${one.value !== null && html`<i
      style=${{ width: part(one.value, most) }}></i>`}</span>
      <b>${one.told}</b></dd></div>`)}</dl>`;

/** How far something is; without `most` nobody knows. */
export function Meter({ label, value, most, kind = "progressbar" }) {
  const known = most > 0;
  return html`<div class=${`meter ${known || kind === "meter" ? "" : "unknown"}`} role=${kind} aria-label=${label}
    aria-valuemin="0"
    aria-valuemax=${known ? most : null} aria-valuenow=${known ? Math.min(value, most) : null}>
    <i style=${{ width: known || kind === "meter" ? part(value, most) : "100%" }}></i></div>`;
}

/** A line of the last values, as long as there are two; `label` says in words what it shows. */
export function Spark({ label, values }) {
  if (values.length < 2) return null;
  const most = Math.max(...values) || 1;
  const points = values.map((value, index) => `${(100 * index) / (values.length - 1)},${22 - (20 * value) / most}`);
  return html`<svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label=${label}>
    <polyline points=${points.join(" ")} /></svg>`;
}
