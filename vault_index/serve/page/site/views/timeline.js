/** What was written before and after a document. */

import { html, useLayoutEffect, useRef } from "../vendor/preact.js";
import { call } from "../api.js";
import { arrows, focusItem, useKeys } from "../keys.js";
import { documentLink, go, link } from "../router.js";
import { isDay } from "../times.js";
import { Button, ErrorNote, Icon, Loading, States, day, useAnswer, useChanges } from "../ui.js";

export const title = "Timeline";
export const style = "views/timeline.css";

const KINDS = [["", "All"], ["note", "Notes"], ["memory", "Memories"], ["session", "Sessions"]];
const [FIRST, MORE] = [8, 12];
const CLOCK = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export default function Timeline({ params }) {
  const { ref, source, q: query, kind = "", project = "" } = params;
  const before = Number(params.before) || FIRST;
  const after = Number(params.after) || FIRST;
  const [found, error, again] = useAnswer((signal) => call("timeline", {
    ...(ref ? { ref } : { query: query || "" }), ...(source && { source }), ...(kind && { kind }),
    ...(project && { project }), depth_before: before, depth_after: after,
  }, { signal }), [ref, source, query, kind, project, before, after]);
  useChanges(({ event }) => event === "changed" && again());
  const list = useRef(null);
  const change = (changed) => go(link("timeline", [], { ...params, ...changed }), { replace: true });
  const own = project || found?.anchor.project || "";
  const nextKind = KINDS[(KINDS.findIndex(([value]) => value === kind) + 1) % KINDS.length][0];
  const back = found?.before.length >= before && (() => change({ before: before + MORE }));
  const onward = found?.after.length >= after && (() => change({ after: after + MORE }));
  const onlyOwn = () => change({ project: project ? "" : own });
  useKeys("Timeline", {
    ...(back && { "[": ["earlier documents", back] }),
    ...(onward && { "]": ["later documents", onward] }),
    f: ["only notes, memories or sessions", () => change({ kind: nextKind })],
    ...(own && { p: [`only ${own}`, onlyOwn] }),
    l: ["go to the list", () => focusItem(list.current?.querySelector(".anchor"))],
    u: ["go back", () => history.back()],
  });

  // What it is around comes into the middle, and stays where it is while more comes before it.
  const top = useRef(null);
  const anchorTop = () => list.current?.querySelector(".anchor").getBoundingClientRect().top;
  useLayoutEffect(() => {
    if (!found) return undefined;
    if (top.current === null) list.current.querySelector(".anchor").scrollIntoView({ block: "center" });
    else scrollBy(0, anchorTop() - top.current);
    const moved = () => { top.current = anchorTop() ?? top.current; };
    moved();
    addEventListener("scroll", moved, { passive: true });
    return () => removeEventListener("scroll", moved);
  }, [found]);

  if (!found) {
    return html`<div class="page narrow"><div class="page-head"><h1>Timeline</h1></div>
      ${error ? html`<${ErrorNote} error=${error} retry=${again} />` : html`<${Loading} what="Looking" />`}</div>`;
  }
  const { anchor } = found;
  const all = [...found.before, anchor, ...found.after];
  const dayBefore = (at) => (at ? day(all[at - 1].created) : "");
  return html`<div class="page narrow">
    <div class="page-head"><h1>Timeline</h1>
      <p class="dim">around <a href=${documentLink(anchor)}>${anchor.title}</a></p></div>
    <div class="row" role="group" aria-label="Which">${KINDS.map(([value, label]) => html`
      <button class="chip" aria-pressed=${kind === value} onClick=${() => change({ kind: value })}>${label}</button>`)}
      ${own && html`
        <button class="chip" aria-pressed=${Boolean(project)} onClick=${onlyOwn}>Only ${own}</button>`}</div>
    ${error && html`<${ErrorNote} error=${error} retry=${again} />`}
    ${back && html`
      <p class="line-more"><${Button} kind="small" icon="up" onClick=${back}>Earlier<//></p>`}
    <ol class="line" ref=${list} onKeyDown=${(event) => arrows(event)}>${all.map((one, at) => html`
      ${day(one.created) !== dayBefore(at) && html`
        <li class="line-day" key=${`day ${one.source} ${one.path}`}>${day(one.created)}</li>`}
      <li key=${`${one.source} ${one.path}`} data-item class=${one === anchor ? "line-one anchor" : "line-one"}>
        <a href=${documentLink(one)} aria-current=${one === anchor ? "true" : null}>
          <${Icon} name=${{ session: "sessions", memory: "memory" }[one.kind] || "document"} />
          <span class="line-title">${one.title} <${States} of=${one} /></span>
          <time class="dim small" datetime=${one.created}>${isDay(one.created) ? "" : CLOCK.format(new Date(one.created))}</time>
          <span class="line-place dim small">${[one.type, one.project, one.path].filter(Boolean).join(" · ")}</span></a>
      </li>`)}</ol>
    ${all.length === 1 && html`
      <p class="dim">No other documents${kind || project ? " of this kind" : ""} around this time.</p>`}
    ${onward && html`
      <p class="line-more"><${Button} kind="small" icon="down" onClick=${onward}>Later<//></p>`}
  </div>`;
}
