/** The keyboard: what each key does where one is, and the list of it that `?` shows. */

import { useLayoutEffect, useRef } from "./vendor/preact.js";

const layers = [];
let prefix = "";
let prefixUntil = 0;

const isTyping = (element) => element?.matches?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");

function pressed(event) {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) && event.key !== "Escape") return;
  if (document.querySelector("dialog[open]")) return;
  const now = performance.now();
  const key = prefix && now < prefixUntil ? `${prefix} ${event.key}` : event.key;
  prefix = "";
  for (const { bindings } of [...layers].reverse()) {
    if (bindings[key]) {
      event.preventDefault();
      bindings[key][1](event);
      return;
    }
    if (Object.keys(bindings).some((one) => one.startsWith(`${key} `))) {
      prefix = key;
      prefixUntil = now + 1500;
      return;
    }
  }
}

addEventListener("keydown", pressed);

/** All keys that do something now: `[{ label, bindings: { key: [what it does, run] } }]`. */
export const allKeys = () => layers.map(({ label, bindings }) => ({ label, bindings }));

/**
 * Have keys do something while a component is there: `useKeys("Review", { a: ["accept it", accept], "g s": […] })`.
 * What came last comes first, and those of everywhere (`level` 0) last; none while somebody types, but for Escape.
 */
export function useKeys(label, bindings, level = 1) {
  const layer = useRef({ label, level }).current;
  layer.bindings = bindings;
  useLayoutEffect(() => {
    layers.push(layer);
    layers.sort((one, other) => one.level - other.level);
    return () => layers.splice(layers.indexOf(layer), 1);
  }, []);
}

/** Move the focus among the `[data-item]` of a list: for its `onKeyDown`. `before` has the focus above the first. */
export function arrows(event, before) {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, Home: -Infinity, End: Infinity }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const items = [...event.currentTarget.querySelectorAll("[data-item]")];
  const at = items.findIndex((item) => item.contains(document.activeElement));
  const to = at + step;
  event.preventDefault();
  if (to < 0 && before && step === -1) before.focus();
  else focusItem(items[Math.max(0, Math.min(items.length - 1, to))]);
}

/** The element itself where it can have the focus, else what in it can. */
export function focusItem(item) {
  const target = item?.matches("a, button, [tabindex]") ? item : item?.querySelector("a, button, [tabindex]");
  target?.focus();
  item?.scrollIntoView({ block: "nearest" });
}
