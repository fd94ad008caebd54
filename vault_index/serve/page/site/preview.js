/** The document of the selected hit, beside the hits on a wide screen. */

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { ask } from "./api.js";
import { Markdown } from "./markdown.js";
import { hitLink } from "./hit.js";
import { ErrorNote, Icon } from "./ui.js";

/** Somebody who goes through the hits does not read each. */
const REST = 120;

export default function Preview({ hit, query }) {
  const [state, setState] = useState(null);
  const box = useRef(null);
  useEffect(() => {
    const wanted = new AbortController();
    const look = async () => {
      try {
        const ref = `${hit.path}:${hit.focus[0]}-${hit.focus[1]}`;
        const read = await ask("read", { ref, source: hit.source }, { signal: wanted.signal });
        const text = read.document.kind === "session" ? (await import("./session.js")).SessionText : null;
        if (!wanted.signal.aborted) setState({ key: hit.key, read, text });
      } catch (error) {
        if (!wanted.signal.aborted) setState({ key: hit.key, error });
      }
    };
    const timer = setTimeout(look, REST);
    return () => { clearTimeout(timer); wanted.abort(); };
  }, [hit.key]);
  useLayoutEffect(() => {
    if (!state?.read) return;
    const marked = box.current.querySelector(".prose .hit, [class~=hit]");
    box.current.scrollTop += marked ? marked.getBoundingClientRect().top - box.current.getBoundingClientRect().top - 120 : 0;
  }, [state]);
  const { read, text, error } = state || {};
  const props = read && { document: read.document, nodes: read.nodes, outline: read.outline };
  return html`<div class="preview-text" ref=${box} tabindex="0" role="region" aria-label="The selected document">
    <p class="preview-head"><a href=${hitLink(hit, query)}>${hit.title}</a><${Icon} name="next" /></p>
    ${error && html`<${ErrorNote} error=${error} />`}
    ${read && (text ? html`<${text} key=${state.key} read=${props} lines=${hit.focus} />`
      : html`<${Markdown} key=${state.key} ...${props} lines=${hit.focus} under=${2} />`)}</div>`;
}
