/** Draws the tree that the server makes of a note's markdown: only elements that are named here, and no HTML of it. */

import { h, html, useContext, useEffect, useState } from "./vendor/preact.js";
import { imageUrl } from "./api.js";
import { link } from "./router.js";
import { About } from "./ui.js";

const PLAIN = new Set([
  "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "code", "em", "strong", "del", "mark", "sup",
  "sub", "hr", "br", "table", "thead", "tbody", "tr",
]);
const WEB = /^(?:https?:|mailto:)/i;

/**
 * @param {{ nodes: Array, document: { source: string, path: string }, lines?: [number, number] }} props the lines of
 * the hit are marked: an element is that begins there, and holds no other block that is.
 */
export function Markdown({ nodes, document, lines }) {
  return html`<div class="prose" dir="auto">${nodes.map((node) => draw(node, { document, lines }))}</div>`;
}

function draw(node, context) {
  if (typeof node === "string") return node;
  const [tag, attrs, ...children] = node;
  const inside = () => children.map((child) => draw(child, context));
  const props = placed(attrs, context, children);
  if (PLAIN.has(tag)) {
    if (attrs.id) props.id = attrs.id;
    if (tag === "ol" && attrs.start !== undefined) props.start = attrs.start;
    if (tag === "table") return h("div", { class: "scroll-x", tabindex: 0, role: "group", "aria-label": "Table" }, h("table", props, inside()));
    return h(tag, props, inside());
  }
  switch (tag) {
    case "th":
    case "td":
      return h(tag, attrs.align ? { ...props, style: { textAlign: attrs.align } } : props, inside());
    case "pre":
      return h("pre", { ...props, tabindex: 0, "data-lang": attrs.lang }, inside());
    case "a":
      if (attrs.href && WEB.test(attrs.href)) {
        return h("a", { href: attrs.href, target: "_blank", rel: "noopener noreferrer", title: attrs.title }, inside());
      }
      return attrs.ref ? h("a", { href: refLink(attrs.ref, context), class: "ref" }, inside()) : h("span", {}, inside());
    case "embed":
      return h("a", { href: refLink(attrs.ref, context), class: "ref embed" }, children.length ? inside() : attrs.ref);
    case "img":
      return html`<${Picture} ...${attrs} document=${context.document} />`;
    case "input":
      return h("input", { type: "checkbox", checked: Boolean(attrs.checked), disabled: true, "aria-label": attrs.checked ? "done" : "to do" });
    case "callout":
      return h("div", { ...props, class: `callout ${props.class || ""}` },
        h("p", { class: "callout-title" }, attrs.title || attrs.kind), inside());
    case "math":
      return h("code", { class: attrs.display ? "math display" : "math" }, inside());
    case "tag":
      return h("a", { class: "tag", href: link("search", [], { q: `tag:${attrs.name}` }) }, inside());
    default:
      return h("span", {}, inside());
  }
}

/** Its line, and whether it is what was found. */
function placed(attrs, { lines }, children) {
  if (!attrs.line) return {};
  const props = { "data-line": attrs.line };
  const end = attrs.end ?? attrs.line;
  const holdsBlocks = children.some((child) => Array.isArray(child) && child[1].line);
  if (lines && attrs.line <= lines[1] && end >= lines[0] && !holdsBlocks) props.class = "hit";
  return props;
}

/** What the index finds by it, in the document that says it: `[[Note]]`, `../other.md#part`. */
export const refLink = (ref, { document }) => link("doc", [], { ref, from: `${document.source}:${document.path}` });

function Picture({ src, alt = "", title, width, document }) {
  const [url, setUrl] = useState("");
  const [gone, setGone] = useState(false);
  const about = useContext(About);
  useEffect(() => {
    let wanted = true;
    const folder = document.path.split("/").slice(0, -1).join("/");
    imageUrl(document.source, pathFrom(folder, src)).then((found) => wanted && setUrl(found), () => wanted && setGone(true));
    return () => { wanted = false; };
  }, [src, document.source, about]);
  if (gone) return h("span", { class: "no-image dim" }, `[image: ${alt || src}]`);
  return url ? h("img", { src: url, alt, title, width, loading: "lazy" }) : h("span", { class: "no-image" });
}

/** Beside the note; the server finds it elsewhere in the vault, as Obsidian does. */
function pathFrom(folder, src) {
  const parts = [];
  for (const part of [...(src.startsWith("/") ? [] : folder.split("/")), ...src.split("/")]) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return parts.join("/");
}
