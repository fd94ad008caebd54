/** How much there was on each day of a year: a grid of days, which arrows move in and Enter chooses from. */

import { html, useLayoutEffect, useMemo, useRef, useState } from "./vendor/preact.js";
import { count } from "./ui.js";
import { addDays, dayName, today } from "./times.js";

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTH = new Intl.DateTimeFormat("en", { month: "short", timeZone: "UTC" });
const STEPS = { ArrowLeft: -7, ArrowRight: 7, ArrowUp: -1, ArrowDown: 1, PageUp: -28, PageDown: 28, Home: 0, End: 0 };

/**
 * @param {{ first: string, weeks: number, counts?: Array<{ day: string, sessions: number }>,
 *   selected?: string, choose: (day: string) => void, focus: { current: any } }} props `first` is a Monday; `focus` is
 * given the element that takes the focus.
 */
export function Calendar({ first, weeks, counts, selected, choose, focus }) {
  const last = today();
  const box = useRef(null);
  const [at, setAt] = useState(selected || last);
  const days = useMemo(() => new Map(
    counts?.filter(({ day }) => day >= first && day <= last).map(({ day, sessions }) => [day, sessions])), [counts, first]);
  const top = useMemo(() => busy([...days.values()]), [days]);
  const here = at < first || at > last ? last : at;
  // What is newest stands on the right, and is what a narrow screen shows first.
  useLayoutEffect(() => { box.current.scrollLeft = box.current.scrollWidth; }, []);
  focus.current = { focus: () => box.current?.querySelector(`[data-day="${here}"]`)?.focus() };

  const move = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") choose(here);
    else if (event.key in STEPS) {
      const to = { Home: first, End: last }[event.key] || addDays(here, STEPS[event.key]);
      if (to >= first && to <= last) {
        setAt(to);
        box.current.querySelector(`[data-day="${to}"]`).focus();
      }
    } else return;
    event.preventDefault();
  };
  const clicked = ({ target }) => {
    const day = target.closest("[data-day]")?.dataset.day;
    if (!day) return;
    setAt(day);
    choose(day);
  };
  const cell = (row, week) => {
    const day = addDays(first, 7 * week + row);
    if (day > last) return html`<td key=${week} class="none" />`;
    const number = days.get(day) || 0;
    const said = `${dayName(day, last, true)}: ${number ? count(number, "session") : "no session"}`;
    return html`<td key=${week} role="gridcell" tabindex=${day === here ? 0 : -1} data-day=${day}
      data-level=${level(number, top)} aria-label=${said} title=${said} aria-selected=${day === selected ? "true" : null} />`;
  };
  const months = useMemo(() => monthsOf(first, weeks), [first, weeks]);
  return html`<div class="card calendar">
    <div class="calendar-box" ref=${box}>
      <table role="grid" aria-label="Sessions by day" onKeyDown=${move} onClick=${clicked}>
        <thead><tr><td class="none" />${months.map(([name, span]) => (name
          ? html`<th colspan=${span} scope="colgroup">${name}</th>` : html`<td colspan=${span} class="none" />`))}</tr></thead>
        <tbody>${DAYS.map((name, row) => html`<tr><th scope="row"><span class=${row % 2 ? "unseen" : ""}>${name}</span></th>
          ${Array.from({ length: weeks }, (_, week) => cell(row, week))}</tr>`)}</tbody>
      </table>
    </div>
    <div class="apart small dim"><p>${counts ? told(days, last) : ""}</p>
      <p class="heat-legend" aria-hidden="true">Less
        ${[0, 1, 2, 3, 4].map((one) => html`<i data-level=${one} />`)} More</p></div>
  </div>`;
}

/** Days that had this much, or more, are the darkest: one wild day shall not pale all others. */
function busy(numbers) {
  const sorted = numbers.filter(Boolean).sort((one, other) => one - other);
  return Math.max(4, sorted[Math.floor(sorted.length * 0.95)] || 0);
}

const level = (number, top) => Math.min(4, Math.ceil((4 * number) / top));

function told(days, last) {
  if (!days.size) return "No session in the last year.";
  const [day, number] = [...days].reduce((one, other) => (other[1] > one[1] ? other : one));
  return `Sessions on ${count(days.size, "day")} of the last year. Most on ${dayName(day, last, true)}: ${number}.`;
}

/** The name of each month above the week it begins in; one that has no room has none. */
function monthsOf(first, weeks) {
  const months = [];
  for (let week = 0; week < weeks; week += 1) {
    const name = MONTH.format(new Date(`${addDays(first, 7 * week + 6)}T00:00Z`));
    if (months.at(-1)?.[0] === name) months.at(-1)[1] += 1;
    else months.push([name, 1]);
  }
  return months.map(([name, span]) => [span > 1 ? name : "", span]);
}
