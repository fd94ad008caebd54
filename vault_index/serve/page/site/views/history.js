/** The versions of a memory: what one says otherwise than another, and going back to one. */

import { html, useState } from "../vendor/preact.js";
import { call } from "../api.js";
import { useKeys } from "../keys.js";
import { documentLink, go, link } from "../router.js";
import { Button, Dialog, ErrorNote, Loading, When, toast, useAnswer } from "../ui.js";

export const title = "History";
export const style = "views/history.css";

export default function History({ parts: [source, ...folders], params }) {
  const path = folders.join("/");
  const [asked, setAsked] = useState(null);
  const [found, error, again] = useAnswer((signal) => call("history", { ref: path, source, limit: 100 }, { signal }), [source, path]);
  const names = (found?.results || []).map((one) => String(one.number ?? one.commit));
  const after = params.after || names[0];
  const before = params.before || names[names.indexOf(after) + 1];
  const [diff, fault] = useAnswer(
    async (signal) => (after ? call("diff", { ref: path, source, after, ...(before && { before }) }, { signal }) : null),
    [source, path, after, before, found],
  );
  const pick = (which) => (event) => go(link("history", [source, ...folders], { before, after, [which]: event.target.value }), { replace: true });
  useKeys("History", { u: ["go back", () => history.back()] });
  const revert = () => {
    setAsked(null);
    call("revert", { ref: path, source, to: asked }).then(() => {
      toast(`It says what it said in version ${asked.slice(0, 8)}.`, ["Undo", () => call("undo", {}).then(again, (no) => toast(no.message))]);
      again();
    }, (refused) => toast(refused.message));
  };
  if (error && !found) return html`<div class="page narrow"><h1>History</h1><${ErrorNote} error=${error} /></div>`;
  if (!found) return html`<div class="page narrow"><h1>History</h1><${Loading} what="Looking" /></div>`;
  return html`<div class="page">
    <div class="page-head"><h1>History</h1><p class="dim">of <a href=${documentLink({ source, path })}>${found.title}</a></p></div>
    <div class="scroll-x" role="group" aria-label="Versions" tabindex="0"><table class="versions">
      <thead><tr><th>Before</th><th>After</th><th>Version</th><th>When</th><th>What</th><th>By</th><th></th></tr></thead>
      <tbody>${found.results.map((one, at) => html`<tr key=${names[at]}>
        ${[["before", before], ["after", after]].map(([which, chosen]) => html`<td><input type="radio" name=${which} value=${names[at]}
          checked=${chosen === names[at]} onChange=${pick(which)} aria-label=${`${which}: version ${names[at].slice(0, 8)}`} /></td>`)}
        <td class="mono">${names[at].slice(0, 8)}</td><td><${When} time=${one.seen} /></td><td>${one.action}</td><td>${one.by}</td>
        <td>${at > 0 && html`<${Button} kind="small" onClick=${() => setAsked(names[at])} aria-label=${`Go back to version ${names[at].slice(0, 8)}`}>Go back to it<//>`}</td>
      </tr>`)}</tbody></table></div>
    ${found.forgotten > 0 && html`<p class="dim small">${found.forgotten} older versions are not kept any more.</p>`}
    <h2 class="diff-title">What changed</h2>
    ${fault ? html`<${ErrorNote} error=${fault} />` : html`<pre class="unified" tabindex="0">${
      (diff?.text || "They say the same.").split("\n").map((line) => html`<span class=${{ "+": "plus", "-": "minus", "@": "hunk" }[line[0]] || ""}>${line}${"\n"}</span>`)}</pre>`}
    ${asked && html`<${Dialog} title="Go back to this version?" close=${() => setAsked(null)}>
      <p>The file will say again, byte for byte, what it said in version ${asked.slice(0, 8)}. This can be undone.</p>
      <p class="row diff-title"><${Button} kind="primary" onClick=${revert}>Go back to it<//><${Button} onClick=${() => setAsked(null)}>Cancel<//></p><//>`}
  </div>`;
}
