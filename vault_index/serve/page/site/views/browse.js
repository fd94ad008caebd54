/** Folders and tags as trees, and the documents of one of them. */

import { html } from "../vendor/preact.js";
import { ask, call } from "../api.js";
import { arrows, useKeys } from "../keys.js";
import { documentLink, go, link } from "../router.js";
import { foldersOf, treeOf } from "../tree.js";
import { Empty, ErrorNote, Icon, Loading, When, count, useAnswer, useChanges } from "../ui.js";

export const title = "Browse";
export const style = "views/browse.css";

const PAGE = 200;
const ICONS = { memory: "memory", session: "sessions" };

export default function Browse({ params: { source = "", path = "", tag = "" } }) {
  const [values, error, again] = useAnswer((signal) => ask("values", {}, { signal }), []);
  const chosen = source || tag;
  const [found, refused, retry] = useAnswer(
    async (signal) => chosen && call("list", { sort: "title", order: "asc", limit: PAGE, ...(source && { source }),
      ...(path && { path }), ...(tag && { tags: tag }) }, { signal }),
    [source, path, tag],
  );
  useChanges(() => { again(); retry(); });
  const query = tag ? `tag:${tag}` : path ? `path:"${path}"` : `source:${source}`;
  useKeys("Browse", { f: ["search in it", () => chosen && go(link("search", [], { q: `${query} ` }))] });
  const fold = (event) => {
    const open = { ArrowRight: true, ArrowLeft: false }[event.key];
    const details = event.target.closest("li")?.querySelector("details");
    if (open === undefined || !details) return arrows(event);
    event.preventDefault();
    details.open = open;
  };
  return html`<div class="page browse">
    <div class="page-head"><h1>Browse</h1></div>
    ${error && html`<${ErrorNote} error=${error} retry=${again} />`}
    ${!values && !error && html`<${Loading} />`}
    ${values && html`<div class="browse-columns">
      <div class="browse-trees" onKeyDown=${fold}>
        <nav aria-label="Folders"><h2>Folders</h2><${Nodes} nodes=${foldersOf(values.folders)} open=${true} at=${`${source}:${path}`}
          keyOf=${(one) => `${one.source}:${one.path}`} to=${(one) => ({ source: one.source, path: one.path })} /></nav>
        ${values.values.tag.length > 0 && html`<nav aria-label="Tags"><h2>Tags</h2><${Nodes} nodes=${treeOf(values.values.tag)}
          at=${tag} keyOf=${(one) => one.path} to=${(one) => ({ tag: one.path })} /></nav>`}
      </div>
      <section class="browse-list" aria-label="Documents">
        ${refused && html`<${ErrorNote} error=${refused} retry=${retry} />`}
        ${!chosen && html`<${Empty} icon="folder" title="Choose a folder or a tag">Its documents are listed here.<//>`}
        ${found && chosen && html`<div class="apart"><h2>${tag ? `#${tag}` : [source, ...path.split("/")].filter(Boolean).join(" › ")}</h2>
          <a class="button" href=${link("search", [], { q: `${query} ` })}><${Icon} name="search" /><span>Search in it</span></a></div>
          <p class="dim small">${count(found.total, "document")}</p>
          <ol onKeyDown=${(event) => arrows(event)}>${found.results.map((one) => html`<li key=${one.id}>
            <a data-item href=${documentLink(one)}><${Icon} name=${ICONS[one.kind] || "document"} /><b>${one.title}</b>
              <span class="dim small"><${When} time=${one.updated} /></span></a></li>`)}</ol>
          ${found.total > PAGE && html`<p class="dim small">Only the first ${PAGE} are listed.</p>`}`}
      </section></div>`}
  </div>`;
}

/** Nodes below each other; one that holds the chosen one is open. */
function Nodes({ nodes, open = false, at, keyOf, to }) {
  const holds = (node) => node.children.some((one) => keyOf(one) === at || holds(one));
  return html`<ul>${nodes.map((node) => {
    const place = html`<a data-item href=${link("browse", [], to(node))} aria-current=${keyOf(node) === at ? "true" : null}>
      <span>${node.name}</span><small class="dim">${node.count.toLocaleString("en")}</small></a>`;
    return html`<li key=${keyOf(node)}>${!node.children.length ? html`<div class="browse-leaf">${place}</div>` : html`
      ${place}<details open=${open || holds(node)}><summary aria-label=${`Below ${node.name}`}><${Icon} name="next" /></summary>
        <${Nodes} nodes=${node.children} at=${at} keyOf=${keyOf} to=${to} /></details>`}</li>`;
  })}</ul>`;
}
