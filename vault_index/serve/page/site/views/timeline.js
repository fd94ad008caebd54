/** What was written before and after a document. */

import { html } from "../vendor/preact.js";
import { call } from "../api.js";
import { arrows, useKeys } from "../keys.js";
import { documentLink, go, link } from "../router.js";
import { Button, ErrorNote, Icon, Loading, day, useAnswer } from "../ui.js";

export const title = "Timeline";
export const style = "views/timeline.css";

const KINDS = [["", "All"], ["note", "Notes"], ["memory", "Memories"], ["session", "Sessions"]];

export default function Timeline({ params }) {
  const { ref, source, q: query, kind = "", project = "" } = params;
  const before = Number(params.before) || 8;
  const after = Number(params.after) || 8;
  const [found, error] = useAnswer((signal) => call("timeline", {
    ...(ref ? { ref } : { query: query || "" }), ...(source && { source }), ...(kind && { kind }), ...(project && { project }),
    depth_before: before, depth_after: after,
  }, { signal }), [ref, source, query, kind, project, before, after]);
  const change = (changed) => go(link("timeline", [], { ...params, ...changed }), { replace: true });
  useKeys("Timeline", {
    "[": ["further back", () => change({ before: before + 12 })],
    "]": ["further on", () => change({ after: after + 12 })],
    u: ["go back", () => history.back()],
  });
  if (error && !found) return html`<div class="page narrow"><h1>Timeline</h1><${ErrorNote} error=${error} /></div>`;
  if (!found) return html`<div class="page narrow"><h1>Timeline</h1><${Loading} what="Looking" /></div>`;
  const { anchor } = found;
  const all = [...found.before, anchor, ...found.after];
  return html`<div class="page narrow">
    <div class="page-head"><h1>Timeline</h1><p class="dim">around <a href=${documentLink(anchor)}>${anchor.title}</a></p></div>
    <div class="row" role="group" aria-label="Which">${KINDS.map(([value, label]) => html`
      <button class="chip" aria-pressed=${kind === value} onClick=${() => change({ kind: value })}>${label}</button>`)}
      ${(project || anchor.project) && html`<button class="chip" aria-pressed=${Boolean(project)}
        onClick=${() => change({ project: project ? "" : anchor.project })}>Only ${project || anchor.project}</button>`}</div>
    ${error && html`<${ErrorNote} error=${error} />`}
    ${found.before.length >= before && html`<p class="line-more"><${Button} icon="up" onClick=${() => change({ before: before + 12 })}>Further back<//></p>`}
    <ol class="line" onKeyDown=${(event) => arrows(event)}>${all.map((one, at) => html`
      ${day(one.created) !== (at && day(all[at - 1].created)) && html`<li class="line-day" key=${`day ${one.id}`}>${day(one.created)}</li>`}
      <li key=${one.source + one.path} data-item class=${one === anchor ? "line-one anchor" : "line-one"}>
        <a href=${documentLink(one)} aria-current=${one === anchor ? "true" : null}>
          <${Icon} name=${{ session: "sessions", memory: "memory" }[one.kind] || "document"} /><span>${one.title}</span></a>
        <p class="dim small">${[one.type, one.project, one.path].filter(Boolean).join(" · ")}</p></li>`)}</ol>
    ${found.after.length >= after && html`<p class="line-more"><${Button} icon="down" onClick=${() => change({ after: after + 12 })}>Further on<//></p>`}
  </div>`;
}
