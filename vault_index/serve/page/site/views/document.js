/** A document, to be read: its text, what is known of it, and what is around it. */

import { html, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { ask, call } from "../api.js";
import { editorLink } from "../editors.js";
import { useKeys } from "../keys.js";
import { Markdown, refLink } from "../markdown.js";
import { propertiesOf } from "../properties.js";
import { turnedTask } from "../tasks.js";
import { documentLink, go, here, hits, link } from "../router.js";
import { About, Button, Empty, ErrorNote, Icon, Loading, States, When, copy, sentence, toast, useAnswer, useMedia } from "../ui.js";

export const title = "Document";
export const style = "views/document.css";

const WIDE = matchMedia("(min-width: 1100px)");
const RELATIONS = [["superseded by", "Superseded by"], ["supersedes", "Supersedes"], ["backlink", "Linked from"], ["link", "Links to"], ["near", "Similar in meaning"]];

export default function Document({ parts: [source, ...folders], params }) {
  const path = folders.join("/");
  const [reads, setReads] = useState([]);
  const [error, setError] = useState(null);
  const [raw, setRaw] = useState(false);
  const [gone, setGone] = useState(false);
  const [arrived, setArrived] = useState(0);
  const [turn, setTurn] = useState(0);
  const shown = useRef(null);
  const lines = /^\d+-\d+$/.test(params.lines || "") ? params.lines.split("-").map(Number) : null;
  const goal = lines ? lines[0] : Number(params.at) || 0;

  const [first] = reads;
  const conversation = useConversation(first?.document.kind === "session");

  const load = async (asked, put, signal) => {
    try {
      const read = await ask("read", asked, { signal });
      setError(null);
      setReads((before) => put(read, before));
      return read;
    } catch (refused) {
      if (!signal?.aborted) setError(refused);
      return null;
    }
  };

  // A late effect would scroll back over what a key did meanwhile.
  useLayoutEffect(() => {
    const wanted = new AbortController();
    const { signal } = wanted;
    if (!source) {
      load({ ref: params.ref, from: params.from, source: params.source }, () => [], signal).then((read) => {
        // Whoever went elsewhere meanwhile stays there; the address says so before anything is drawn.
        if (!read || here().params.ref !== params.ref) return;
        const [first, last] = read.named || [];
        const at = params.from ? { at: first } : { lines: first ? `${first}-${last}` : params.lines };
        if (read.missing) toast(`The document has no heading “${read.missing}”.`);
        go(documentLink(read.document, at), { replace: true });
      });
    } else if (goal && reads.some(({ document: { lines: [a, b] } }) => a <= goal && goal <= b)) {
      setArrived((one) => one + 1);
    } else {
      const place = lines ? `:${lines[0]}-${lines[1]}` : goal ? `:${goal}` : "";
      load({ ref: path + place, source }, (read) => [read], signal).then((read) => read && setArrived((one) => one + 1));
    }
    return () => wanted.abort();
  }, [params.lines, params.at, params.ref, turn]);

  useEffect(() => {
    document.title = `${first?.document.title || title} · vault-index`;
  }, [first?.document.title]);

  useLayoutEffect(() => {
    if (!arrived || !goal) return;
    const marked = lines && document.querySelector(".doc-text .hit");
    // Of one that fills the screen the middle would be no place to begin.
    const short = marked?.clientHeight < innerHeight / 2;
    const place = marked || lineElement(goal);
    for (let folded = place; (folded = folded?.parentElement?.closest("details"));) folded.open = true;
    place?.scrollIntoView({ block: short ? "center" : "start" });
  }, [arrived, conversation]);

  // The index does not say which document changed.
  useEffect(() => {
    if (source) recordOf(source, path).then((record) => (shown.current = record));
  }, []);

  // What is there by now, with what is looked at kept where it is.
  useEffect(() => {
    let timer;
    const changed = ({ detail: { event } }) => {
      if (event !== "changed") return;
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const now = await recordOf(source, path);
        if (now === null || now === shown.current) return;
        shown.current = now;
        const top = topLine();
        if (now === "") setGone(true);
        else load({ ref: top ? `${path}:${top.line}` : path, source }, (read, before) => {
          // Not for what stands in its frontmatter, as whether it is archived: that is seen.
          if (wordsOf([read]) !== wordsOf(before)) toast("The file changed on disk; this is the new text.");
          setGone(false);
          keepPlace(top);
          return [read];
        });
      }, 300);
    };
    addEventListener("vault-index:changed", changed);
    return () => { clearTimeout(timer); removeEventListener("vault-index:changed", changed); };
  }, []);

  const retry = () => setTurn(turn + 1);
  if (error && !first) return html`<${NotThere} ...${{ error, source, path, wanted: params.ref || path, retry }} />`;
  if (!first) return html`<div class="page"><${Loading} what="Reading" /></div>`;
  return html`<${Shown} ...${{ reads, lines, raw, setRaw, gone, error, load, goal, conversation }} />`;
}

function NotThere({ error, source, path, wanted, retry }) {
  const words = wanted.replace(/^\[\[|\]\]$/g, "").split("#")[0].split("/").pop().replace(/\.md$/, "");
  const [was] = useAnswer(async (signal) => path && call("history", { ref: path, source, limit: 1 }, { signal }), []);
  const versions = link("history", [source, ...path.split("/")]);
  useKeys("Document", {
    ...(was && { h: ["history", () => go(versions)] }),
    u: ["go back", () => history.back()],
  });
  if (error.status !== 404) return html`<div class="page narrow"><h1 class="unseen">Document</h1>
    <${ErrorNote} error=${error} retry=${retry} /></div>`;
  if (was) return html`<div class="page narrow"><h1 class="unseen">Deleted</h1>
    <${Empty} icon="trash" title=${`“${was.title}” was deleted`}>
      <p>You can restore any of its versions.</p>
      <p class="row doc-centre"><a class="button" href=${versions}><${Icon} name="history" /><span>History</span></a></p>
    <//></div>`;
  return html`<div class="page narrow"><h1 class="unseen">Not found</h1>
    <${Empty} icon="document" title=${`There is no document “${words}” yet`}>
      <p>No indexed document has this name.</p>
      <p class="row doc-centre"><a class="button" href=${link("search", [], { q: words })}>Search for “${words}”</a></p>
    <//></div>`;
}

function Shown({ reads, lines, raw, setRaw, gone, error, load, goal, conversation }) {
  const about = useContext(About);
  const wide = useMedia(WIDE);
  const read = reads[0];
  const last = reads[reads.length - 1];
  const doc = read.document;
  const facts = doc.metadata;
  const isMemory = doc.kind === "memory";
  const own = read.nodes[0]?.[0] === "h1" && textOf(read.nodes[0]) === doc.title;
  const isSession = doc.kind === "session";
  const parts = useMemo(() => reads.map((one, at) => (at === 0 && own ? one.nodes.slice(1) : one.nodes)), [reads]);
  const nodes = useMemo(() => parts.flat(), [parts]);
  const outline = conversation ? conversation.outlineOf(nodes)
    : read.outline.filter((one, at) => !(at === 0 && one.text === doc.title));
  const obsidian = facts.link?.startsWith("obsidian://") ? facts.link : "";
  const editor = ownEditor(about, doc, goal || 1);
  const around = [doc.source, ...doc.path.split("/")];
  const timeline = link("timeline", [], { ref: doc.path, source: doc.source });
  const versions = link("history", around);
  const found = useHits();
  const successor = facts.frontmatter.superseded_by;
  const copyLink = () => copy(location.href.split("?")[0] + (lines ? `?lines=${lines.join("-")}` : ""), "The link");
  const step = (by) => {
    const heads = [...document.querySelectorAll(".doc-text [id^=h-]")];
    const tops = heads.map((one) => one.getBoundingClientRect().top);
    const to = by > 0 ? tops.findIndex((top) => top > 30) : tops.findLastIndex((top) => top < 10);
    heads[to]?.scrollIntoView();
  };
  const away = (address) => () => address && Object.assign(document.createElement("a"), { href: address }).click();
  const [Editor, setEditor] = useState(null);
  const edit = () => import("./review-edit.js").then((module) => setEditor(() => module.Edit), (error) => toast(sentence(error.message)));
  const [Graph, setGraph] = useState(null);
  const graph = () => import("../graph.js").then((module) => setGraph(() => module.default), (error) => toast(sentence(error.message)));
  const save = async (more, said = "It is saved.", undone = () => {}) => {
    const done = await call("decide", { action: "edit", ref: [doc.path], source: [doc.source], ...more });
    const [failed] = done.failed || [];
    if (failed) throw Object.assign(new Error(failed.error), { hint: failed.hint, status: 409 });
    dispatchEvent(new CustomEvent("vault-index:reviewed"));
    toast(said, done.change ? ["Undo", () => undo(done.change).then(undone)] : undefined);
    return true;
  };
  const tick = async (line, box) => {
    const back = () => { box.checked = !box.checked; };
    try {
      const [file] = (await ask("memories", { files: [{ source: doc.source, path: doc.path }] })).results;
      const text = turnedTask(file.text, line);
      if (text === null) throw new Error("the file changed");
      await save({ text, seen: [file.seen] }, box.checked ? "Done." : "To do again.", back);
    } catch (refused) {
      back();
      toast(sentence(refused.message));
    }
  };
  useKeys("Document", {
    ...(!isSession && { n: ["next heading", () => step(1)], p: ["previous heading", () => step(-1)] }),
    ...(found && { "[": ["previous hit", () => found.step(-1)], "]": ["next hit", () => found.step(1)] }),
    ...(obsidian && { o: ["open in Obsidian", away(obsidian)] }),
    ...(editor && { e: ["open in the editor", away(editor)] }),
    ...(isMemory && { h: ["history", () => go(versions)], i: ["edit", edit] }),
    t: ["timeline", () => go(timeline)],
    v: ["links around it", graph],
    m: ["markdown or text", () => setRaw(!raw)],
    u: ["go back", () => history.back()],
    Backspace: ["go back", () => history.back()],
  });
  const change = async (method, params, said) => {
    try {
      const done = await call(method, { ...params, ref: doc.path, source: doc.source });
      dispatchEvent(new CustomEvent("vault-index:reviewed"));
      toast(said, done.change ? ["Undo", () => undo(done.change)] : undefined);
      if (params.action === "delete") go(link("search"));
    } catch (refused) {
      toast(sentence(refused.message));
    }
  };
  const archive = () => change("decide", { action: "archive" }, "It is archived.");
  const restore = () => change("archive", { restore: true }, "It is no longer archived.");
  const remove = () => change("decide", { action: "delete" }, "It is in the trash.");
  const earlier = () => {
    const top = topLine();
    load(read.previous, (got, before) => {
      if (before[0] !== read) return before;
      keepPlace(top);
      return [got, ...before];
    });
  };
  const later = () => load(last.next, (got, before) => (before.at(-1) === last ? [...before, got] : before));

  const outlined = outline.length > 1 && html`<${Outline} items=${outline} document=${doc} wide=${wide} />`;
  const connections = html`<${Connections} document=${doc} />`;
  return html`<div class="page doc">
    <header class="doc-head">
      <div class="apart"><nav class="doc-crumbs small dim" aria-label="Where it is">${around.slice(0, -1).map((part, at) => html`
        ${at > 0 && html`<span aria-hidden="true">›</span>`}
        <a href=${link("search", [], { q: at ? `path:"${around.slice(1, at + 1).join("/")}"` : `source:${part}` })}>${part}</a>`)}</nav>
        ${found && html`<span class="doc-hits small dim">
          <${Button} kind="quiet" icon="back" aria-label="Previous hit" title="Previous hit ([)"
            disabled=${!found.at} onClick=${() => found.step(-1)} />
          <span>hit ${found.at + 1} of ${found.all}</span>
          <${Button} kind="quiet" icon="next" aria-label="Next hit" title="Next hit (])"
            disabled=${found.at + 1 >= found.all} onClick=${() => found.step(1)} /></span>`}</div>
      <h1>${doc.title}</h1>
      <p class="doc-facts small dim">
        ${[facts.type || doc.kind, facts.project, facts.entered_by && `by ${facts.entered_by}`,
          facts.confidence && `${facts.confidence} confidence`].filter(Boolean).map((one) => html`<span>${one}</span>`)}
        <span>updated <${When} time=${facts.updated} /></span>
        ${facts.expires && html`<span>expires <${When} time=${facts.expires} /></span>`}
        <${States} of=${doc} />
      </p>
      ${facts.tags?.length > 0 && html`<p class="row doc-tags">${facts.tags.map((tag) => html`
        <a class="chip" href=${link("search", [], { q: `tag:${tag}` })}>#${tag}</a>`)}</p>`}
      <div class="doc-actions">
        ${obsidian && html`<a class="button" href=${obsidian}><${Icon} name="external" /><span>Obsidian</span></a>`}
        ${editor && html`<a class="button" href=${editor}><${Icon} name="edit" /><span>Editor</span></a>`}
        <a class="button" href=${timeline}><${Icon} name="timeline" /><span>Timeline</span></a>
        <${Button} icon="link" onClick=${graph}>Links<//>
        <${Button} icon="copy" onClick=${copyLink}>Copy link<//>
        <${Button} icon="document" aria-pressed=${raw} onClick=${() => setRaw(!raw)}>Source<//>
        ${isMemory && html`<${Button} icon="edit" onClick=${edit}>Edit<//>
          <a class="button" href=${versions}><${Icon} name="history" /><span>History</span></a>
          ${doc.archived ? html`<${Button} icon="undo" onClick=${restore}>Restore<//>`
            : html`<${Button} icon="archive" onClick=${archive}>Archive<//>`}
          <${Button} icon="trash" onClick=${remove}>Delete<//>`}
      </div>
      ${gone && html`<${Note} icon="warning">The file no longer exists. This is its last indexed text.<//>`}
      ${doc.archived && html`<${Note} icon="archive">It is archived: search and recall do not show it.<//>`}
      ${successor && html`<${Note} icon="merge">It is superseded:
        <a href=${link("doc", [], { ref: successor })}> read its successor</a>.<//>`}
      ${error && html`<${ErrorNote} error=${error} />`}
    </header>
    ${!wide && outlined}
    <article class="doc-text">
      ${!read.previous && !raw && html`<${Properties} document=${doc} />`}
      ${read.previous && html`<${Button} icon="up" onClick=${earlier}>Earlier<//>`}
      ${raw ? reads.map((one) => html`<${Raw} key=${one.document.lines[0]} read=${one} lines=${lines} />`)
        : !nodes.length && !last.next ? html`<p class="dim">The document is empty.</p>`
        : !isSession ? reads.map((one, at) => html`
          <${Markdown} key=${one.document.lines[0]} nodes=${parts[at]} document=${doc} lines=${lines} outline=${outline}
            tick=${isMemory && !gone ? tick : null} />`)
        : conversation && html`
          <${conversation.SessionText} read=${{ document: doc, nodes, outline: read.outline }} lines=${lines} />`}
      ${last.next && html`<${ReadOn} key=${last.next.ref} later=${later}
        share=${(facts.lines[1] - last.document.lines[1]) / (last.document.lines[1] - doc.lines[0] + 1)} />`}
    </article>
    ${Graph && html`<${Graph} document=${doc} close=${() => setGraph(null)} />`}
    ${Editor && html`<${Editor} memory=${{ source: doc.source, path: doc.path }} close=${() => setEditor(null)}
      save=${save} again=${() => {}} />`}
    ${wide ? html`<aside class="doc-side" aria-label="Around it">${outlined}${connections}</aside>` : connections}
  </div>`;
}

const FEW = 8;

function Properties({ document: doc }) {
  const rows = propertiesOf(doc.metadata.frontmatter);
  const value = ({ text, ref, href }) => (ref ? html`<a class="ref" href=${refLink(ref, { document: doc })}>${text}</a>`
    : href ? html`<a href=${href} target="_blank" rel="noopener noreferrer">${text}</a>` : text);
  return rows.length > 0 && html`<details class="doc-properties" open=${rows.length <= FEW}><summary>Properties</summary>
    <dl>${rows.map(([name, values]) => html`<div><dt>${name}</dt>
      <dd>${values.map((one, at) => html`${at > 0 && ", "}${value(one)}`)}</dd></div>`)}</dl></details>`;
}

const Note = ({ icon, children }) => html`
  <div class="note warn" role="status"><${Icon} name=${icon} /><div>${children}</div></div>`;

async function undo(change) {
  try {
    await call("undo", { change });
    dispatchEvent(new CustomEvent("vault-index:reviewed"));
    toast("Undone.");
  } catch (refused) {
    toast(`Not undone: ${sentence(refused.message)}`);
  }
}

/** The next part, on a press or as soon as the end comes near. It is as high as what is to come: `share` of what is there. */
function ReadOn({ later, share }) {
  const end = useRef(null);
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    setHeight(share * (end.current.getBoundingClientRect().top - end.current.parentElement.getBoundingClientRect().top));
  }, []);
  const latest = useRef(later);
  latest.current = later;
  useEffect(() => {
    const near = ([{ isIntersecting }]) => isIntersecting && latest.current();
    const seen = new IntersectionObserver(near, { rootMargin: "400px" });
    seen.observe(end.current);
    return () => seen.disconnect();
  }, []);
  return html`<p class="doc-more" ref=${end} style=${{ minHeight: `${Math.round(height)}px` }}><${Button} icon="down" onClick=${later}>Show more<//></p>`;
}

let session = null;

/** What draws sessions, which only they need. */
function useConversation(isSession) {
  const [, loaded] = useState(session);
  useEffect(() => {
    if (isSession && !session) import("../session.js").then((module) => loaded(session = module));
  }, [isSession]);
  return isSession && session;
}

/** Where one is among the hits of the last search: `{ at, all, step }`. */
function useHits() {
  const all = hits.get();
  const at = all.indexOf(location.hash);
  const step = (by) => all[at + by] && go(all[at + by], { replace: true });
  return at >= 0 && all.length > 1 ? { at, all: all.length, step } : null;
}

const Raw = ({ read, lines }) => html`<pre class="doc-raw" tabindex="0">${read.text.split("\n").map((line, at) => {
  const number = read.document.lines[0] + at;
  return html`<span data-line=${number} class=${lines && number >= lines[0] && number <= lines[1] ? "hit" : ""}>${line}${"\n"}</span>`;
})}</pre>`;

function Outline({ items, document: doc, wide }) {
  const [current, setCurrent] = useState("");
  const top = Math.min(...items.map((one) => one.level));
  useEffect(() => {
    let frame = 0;
    const look = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        const above = items.findLast(({ id }) => document.getElementById(id)?.getBoundingClientRect().top < 120);
        setCurrent(above?.id || "");
      });
    };
    look();
    addEventListener("scroll", look, { passive: true });
    return () => { cancelAnimationFrame(frame); removeEventListener("scroll", look); };
  }, [items.length]);
  const list = html`<ul>${items.map((one) => html`<li style=${{ paddingLeft: `${(one.level - top) * 0.85}em` }}>
    <a href=${documentLink(doc, { at: one.line })} aria-current=${one.id === current ? "location" : null}
      onClick=${() => lineElement(one.line)?.scrollIntoView()}>${one.text}</a></li>`)}</ul>`;
  return wide ? html`<nav class="doc-outline" aria-label="Outline"><h2>Outline</h2>${list}</nav>`
    : html`<details class="doc-outline"><summary>Outline</summary><nav aria-label="Outline">${list}</nav></details>`;
}

function Connections({ document: doc }) {
  const [found] = useAnswer((signal) => call("related", { ref: doc.path, source: doc.source, limit: 60 }, { signal }), [doc.source, doc.path]);
  const groups = RELATIONS.map(([relation, label], at) => [label, relation, (found?.results || []).filter(
    (one) => one.relations.includes(relation) && !RELATIONS.slice(0, at).some(([other]) => one.relations.includes(other)))]);
  return html`<div class="doc-around">${groups.filter(([, , ones]) => ones.length).map(([label, relation, ones]) => html`
    <section><h2>${label}</h2><ul>${ones.slice(0, relation === "near" ? 8 : 30).map((one) => html`
      <li><a href=${documentLink(one)}>${one.title}</a> <${States} of=${one} />
        ${relation === "near" && html`<span class="dim small" title="similarity in meaning">${Math.round(one.cosine * 100)} %</span>`}</li>`)}</ul></section>`)}</div>`;
}

/** Empty for what is no file of a vault. */
function ownEditor(about, doc, line) {
  const root = about.sources.find((one) => one.name === doc.source && one.kind === "vault")?.path;
  return root ? editorLink(about.editor, `${root}/${doc.path}`, line) : "";
}

const textOf = (node) => (typeof node === "string" ? node : node.slice(2).map(textOf).join(""));

/** What the index knows of a document, as text to compare, without counting as opening it; empty for none. */
async function recordOf(source, path) {
  try {
    const { anchor } = await call("timeline", { ref: path, source, depth_before: 0, depth_after: 0 });
    return JSON.stringify({ ...anchor, accesses: 0 });
  } catch (refused) {
    return refused.status === 404 ? "" : null;
  }
}

const wordsOf = (reads) => reads.flatMap((one) => one.nodes).map(textOf).join("\n");

/** What begins at a line, or holds it: the deepest. */
function lineElement(line) {
  return [...document.querySelectorAll(".doc-text [data-line]")].findLast((one) => Number(one.dataset.line) <= line);
}

function topLine() {
  const found = [...document.querySelectorAll(".doc-text [data-line]")].find((one) => one.getBoundingClientRect().bottom > 0);
  return found && { line: Number(found.dataset.line), y: found.getBoundingClientRect().top };
}

/** What stood at the top stands there again, once what is new is drawn. */
function keepPlace(top) {
  requestAnimationFrame(() => top && scrollBy(0, (lineElement(top.line)?.getBoundingClientRect().top ?? top.y) - top.y));
}
