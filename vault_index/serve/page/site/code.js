/** Code in colours, and formulas as MathML: by libraries that only a document which needs them loads. */

import { h, html, useEffect, useRef, useState } from "./vendor/preact.js";
import { scopesOf } from "./scopes.js";

/** Characters; longer ones stay as they are written. */
const LONGEST_CODE = 50_000;
const LONGEST_FORMULA = 5_000;
/** `trust` refuses links and images, `maxExpand` ends macros that grow. MathML needs no fonts and no styles. */
const OPTIONS = { output: "mathml", trust: false, strict: "ignore", maxExpand: 500, maxSize: 40 };

let highlighting = null;
let typesetting = null;

/** The text of a code block. */
export function Code({ text, lang, ...props }) {
  const [drawn, setDrawn] = useState(null);
  useEffect(() => {
    if (!lang || text.length > LONGEST_CODE) return undefined;
    let wanted = true;
    highlighting ??= import("./vendor/highlight.js");
    highlighting.then(({ default: library }) => wanted && setDrawn(scopesOf(library, text, lang)), () => {});
    return () => { wanted = false; };
  }, [text, lang]);
  const draw = (part) => (typeof part === "string" ? part : h("span", { class: part[0] }, part[1].map(draw)));
  return html`<code ...${props}>${drawn ? drawn.map(draw) : text}</code>`;
}

/** A formula; its source until it is typeset, and where it is none. */
export function Formula({ text, display, ...props }) {
  const [failed, setFailed] = useState(true);
  const place = useRef(null);
  useEffect(() => {
    if (text.length > LONGEST_FORMULA) return undefined;
    let wanted = true;
    typesetting ??= import("./vendor/katex.js");
    typesetting.then(() => {
      if (!wanted) return;
      globalThis.katex.render(text, place.current, { ...OPTIONS, displayMode: display });
      setFailed(false);
    }).catch(() => setFailed(true));
    return () => { wanted = false; };
  }, [text, display]);
  return h("span", { ...props, class: `math ${display ? "display" : ""} ${props.class || ""}` },
    failed && html`<code key="source">${text}</code>`, html`<span key="formula" ref=${place} hidden=${failed} />`);
}
