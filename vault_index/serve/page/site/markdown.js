/** Draws the tree that the server makes of a note's markdown: only elements that are named here, and no HTML of it. */

import { h, html, useContext, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { ask, imageUrl } from "./api.js";
import { Code, Formula } from "./code.js";
import { link } from "./router.js";
import { About, Button, Icon, copy } from "./ui.js";

const PLAIN = new Set([
  "ul", "ol", "blockquote", "code", "em", "strong", "del", "mark", "sup", "sub", "hr", "br", "thead", "tbody", "tr",
]);
const WEB = /^(?:https?:|mailto:)/i;
const HEADING = /^h[1-6]$/;

/** Kinds of callouts that look alike: `[colour, icon, kinds]`. */
const CALLOUTS = [
  ["", "edit", "note"],
  ["", "info", "info todo abstract summary tldr example"],
  ["good", "recall", "tip hint important"],
  ["good", "check", "success check done"],
  ["warn", "question", "question help faq"],
  ["warn", "warning", "warning caution attention"],
  ["bad", "warning", "danger error bug failure fail missing"],
  ["calm", "quote", "quote cite"],
];
const LOOKS = new Map(CALLOUTS.flatMap(
  ([colour, icon, kinds]) => kinds.split(" ").map((kind) => [kind, [colour, icon]])));

/** How many notes may be shown inside each other. */
const DEEPEST_EMBED = 2;

/** Characters of the lines of a paragraph whose author let an editor break them. */
const BROKEN = [55, 130];

/**
 * @param {{ nodes: Array, document: { source: string, path: string }, lines?: [number, number], outline?: Array,
 * under?: number }} props the lines of the hit are marked: an element is that begins there, and holds no other block
 * that is. Headings go on from `under`, that of the page above it, whatever levels a note begins with or leaves out; of
 * a part of a note `outline` says what it stands below. Of an embedded note `inside` names the documents that embed it. `tick(line, box)` does a task, where it may be done.
 */
export function Markdown({ nodes, document, lines, outline = [], under = 1, inside = [], tick }) {
  const links = document.metadata?.links || [];
  const missing = new Set(links.filter((one) => one.missing).map(({ target }) => targetOf(target)));
  const context = { document, lines, missing, inside, tick, levels: levelsOf(nodes, outline, under) };
  return html`<div class="prose" dir="auto">${nodes.map((node) => draw(node, context))}</div>`;
}

/** The level that each heading is drawn with. */
function levelsOf(nodes, outline, under) {
  const above = [];
  const levels = new Map();
  const next = (level) => {
    while (above.at(-1) >= level) above.pop();
    return Math.min(6, under + above.push(level));
  };
  const look = (node) => {
    if (typeof node === "string") return;
    if (HEADING.test(node[0])) levels.set(node, next(Number(node[0][1])));
    else node.slice(2).forEach(look);
  };
  const first = nodes[0]?.[1]?.line;
  outline.filter(({ line }) => line < first).forEach(({ level }) => next(level));
  nodes.forEach(look);
  return levels;
}

const textOf = (node) => (typeof node === "string" ? node : node.slice(2).map(textOf).join(""));

/** Whether the line breaks of a text are its author's, and not those of an editor at the end of its lines. */
function breaks(children) {
  const said = children.filter((child) => typeof child === "string" || !child[1].line).map(textOf).join("").split("\n");
  const last = said.pop();
  const [least, most] = BROKEN;
  return said.length > 0 && !said.every((one) => one.length >= least && one.length <= most && last.length <= most);
}

function draw(node, context) {
  if (typeof node === "string") return node;
  const [tag, attrs, ...children] = node;
  const below = tag === "li" ? { ...context, item: attrs.line } : context;
  const inside = () => children.map((child) => draw(child, below));
  const props = placed(attrs, context, children);
  if (PLAIN.has(tag)) {
    if (tag === "ol" && attrs.start !== undefined) props.start = attrs.start;
    return h(tag, props, inside());
  }
  if (HEADING.test(tag)) {
    // One that says nothing is none to who hears it.
    if (attrs.id && !context.inside.length) props.id = attrs.id;
    return h(children.length ? `h${context.levels.get(node)}` : "p", props, inside());
  }
  switch (tag) {
    case "p":
    case "li":
      if (breaks(children)) props.class = `${props.class || ""} lines`;
      return h(tag, props, inside());
    case "th":
    case "td":
      if (attrs.align) props.style = { textAlign: attrs.align };
      return h(children.length ? tag : "td", props, inside());
    case "table":
      return h("div", { class: "scroll-x", tabindex: 0, role: "group", "aria-label": "Table" },
        h("table", props, inside()));
    case "pre":
      return h("div", { class: "code" }, h("pre", { ...props, tabindex: 0 },
        html`<${Code} text=${textOf(node)} lang=${attrs.lang?.toLowerCase()} />`), html`
        <p class="code-foot">${attrs.lang && html`<span>${attrs.lang}</span>`}
          <${Button} kind="quiet" icon="copy" aria-label="Copy the code" title="Copy"
            onClick=${() => copy(textOf(node), "The code")} /></p>`);
    case "a": {
      const shown = children.length ? inside() : attrs.href || attrs.ref;
      if (attrs.href && WEB.test(attrs.href)) {
        return h("a", { href: attrs.href, target: "_blank", rel: "noopener noreferrer", title: attrs.title }, shown);
      }
      return attrs.ref ? h("a", refProps(attrs.ref, context), shown) : h("span", {}, shown);
    }
    case "embed":
      return html`<${Embed} key=${attrs.ref} link=${refProps(attrs.ref, context)} context=${context}
        target=${attrs.ref}>${children.length ? inside() : attrs.ref}<//>`;
    case "img":
      return html`<${Picture} ...${attrs} document=${context.document} />`;
    case "input":
      return html`<${Task} checked=${Boolean(attrs.checked)} line=${context.item} tick=${context.tick} />`;
    case "callout":
      return callout(attrs, props, inside(), context);
    case "math":
      return html`<${Formula} ...${props} text=${textOf(node)} display=${Boolean(attrs.display)} />`;
    case "tag":
      return h("a", { class: "tag", href: link("search", [], { q: `tag:${attrs.name}` }) }, inside());
    default:
      return h("span", {}, inside());
  }
}

/** The box of a task. Its file says whether it is done, also after somebody pressed it. */
function Task({ checked, line, tick }) {
  const box = useRef(null);
  useLayoutEffect(() => { box.current.checked = checked; });
  return html`<input type="checkbox" ref=${box} disabled=${!tick} checked=${checked}
    aria-label=${checked ? "done" : "to do"} onChange=${({ target }) => tick(line, target)} />`;
}

/** One that its author folded is closed, unless what was found is in it. */
function callout({ kind, title, fold, line, end }, props, inside, { lines }) {
  const [colour, icon] = LOOKS.get(kind) || LOOKS.get("note");
  const open = fold === "+" || Boolean(lines && line <= lines[1] && end >= lines[0]);
  return h(fold ? "details" : "div", { ...props, open: fold && open, class: `callout ${colour} ${props.class || ""}` },
    h(fold ? "summary" : "p", { class: "callout-title" }, html`<${Icon} name=${icon} />`, h("span", {}, title || kind),
      fold && html`<${Icon} name="down" />`), inside);
}

/** An embedded note, or the part of it that is named, as soon as it comes into sight; else a link to it. */
function Embed({ link: { class: look, ...props }, target, context: { document, missing, inside, lines }, children }) {
  const [read, setRead] = useState(null);
  const box = useRef(null);
  const chain = [...inside, `${document.source}:${document.path}`];
  const isShown = !missing.has(targetOf(target)) && chain.length <= DEEPEST_EMBED;
  useEffect(() => {
    if (!isShown) return undefined;
    const wanted = new AbortController();
    const seen = new IntersectionObserver(([{ isIntersecting }]) => {
      if (!isIntersecting) return;
      seen.disconnect();
      ask("read", { ref: target, from: chain.at(-1) }, { signal: wanted.signal }).then(setRead, () => {});
    }, { rootMargin: "400px" });
    seen.observe(box.current);
    return () => { seen.disconnect(); wanted.abort(); };
  }, [target, isShown]);
  const title = h("a", { ...props, class: `${look} embed` }, html`<${Icon} name="document" />`, h("span", {}, children));
  const doc = read?.document;
  const [first, last] = read?.named || [0, Infinity];
  const nodes = (read?.nodes || []).filter(([, { line, end }]) => line <= last && end >= first);
  const isText = doc && doc.kind !== "session" && !chain.includes(`${doc.source}:${doc.path}`) && nodes.length > 0;
  return h("div", { class: isText ? "embedded" : "embed-place", ref: box }, title,
    isText && html`<${Markdown} nodes=${nodes} document=${doc} under=${3} inside=${chain} />`);
}

/** Its line, and whether it is what was found. */
function placed(attrs, { lines, inside }, children) {
  if (!attrs.line || inside.length) return {};
  const props = { "data-line": attrs.line };
  const end = attrs.end ?? attrs.line;
  const holdsBlocks = children.some((child) => Array.isArray(child) && child[1].line);
  if (lines && attrs.line <= lines[1] && end >= lines[0] && !holdsBlocks) props.class = "hit";
  return props;
}

/** What the index finds by it, in the document that says it: `[[Note]]`, `../other.md#part`. */
export const refLink = (ref, { document }) => link("doc", [], { ref, from: `${document.source}:${document.path}` });

/** What a reference names, as the links of a document name it. */
const targetOf = (ref) => ref.replace(/^\[\[|\]\]$/g, "").split("#")[0].trim().replace(/\.md$/i, "");

function refProps(ref, context) {
  const gone = context.missing.has(targetOf(ref)) && !/\.(?!canvas$)[a-z][a-z\d]{1,4}$/i.test(targetOf(ref));
  return { href: refLink(ref, context), ...(gone ? { class: "ref missing", title: "No document has this name" } : { class: "ref" }) };
}

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
