import { html, useEffect } from "../vendor/preact.js";
import { ask } from "../api.js";
import { ErrorNote, Loading, useAnswer } from "../ui.js";
import { SessionText } from "../session.js";
export const title = "Document";
export default function Doc({ parts, params }) {
  const ref = params.ref || parts.slice(1).join("/");
  const [read, error] = useAnswer((signal) => ask("read", { ref: ref, source: parts[0] }, { signal }), [ref]);
  const lines = params.lines?.split("-").map(Number);
  return html`<div class="page"><h1>${read?.document.title || "…"}</h1>
    ${error && html`<${ErrorNote} error=${error} />`}
    ${read && html`<${SessionText} read=${read} lines=${lines} />`}</div>`;
}
