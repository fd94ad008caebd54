/** The links around a document: a picture, and the same as a list. */

import { html } from "./vendor/preact.js";
import { ask } from "./api.js";
import { layoutOf } from "./layout.js";
import { documentLink } from "./router.js";
import { Dialog, ErrorNote, Loading, count, useAnswer } from "./ui.js";

const [WIDTH, HEIGHT, EDGE] = [900, 560, 60];
const LONGEST = 24;

const short = (title) => (title.length > LONGEST ? `${title.slice(0, LONGEST - 1)}…` : title);

export default function Graph({ document, close }) {
  const [found, error, again] = useAnswer((signal) => ask("around", { ref: document.path, source: document.source }, { signal }), []);
  return html`<${Dialog} title="Links around it" wide close=${close}>
    ${error && html`<${ErrorNote} error=${error} retry=${again} />`}
    ${!found && !error && html`<${Loading} />`}
    ${found && (found.results.length === 1 ? html`<p class="dim">It has no links to other documents, nor they to it.</p>`
      : html`<${Picture} ...${found} close=${close} />`)}<//>`;
}

function Picture({ results, links, close }) {
  const places = layoutOf(results.length, links, WIDTH - 2 * EDGE, HEIGHT - 2 * EDGE).map(([x, y]) => [x + EDGE, y + EDGE]);
  const near = (at) => links.filter((pair) => pair.includes(at)).map(([from, to]) => results[from === at ? to : from].title);
  return html`<svg class="graph" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label="Documents and the links between them">
      ${links.map(([from, to]) => html`<line key=${`${from} ${to}`} x1=${places[from][0]} y1=${places[from][1]}
        x2=${places[to][0]} y2=${places[to][1]} />`)}
      ${results.map((one, at) => html`<a key=${at} href=${documentLink(one)} class=${at ? one.kind : "first"} onClick=${close}
        aria-label=${one.title}><title>${one.title}</title><circle cx=${places[at][0]} cy=${places[at][1]} r=${at ? 7 : 10} />
        <text x=${places[at][0]} y=${places[at][1] - 13} text-anchor="middle">${short(one.title)}</text></a>`)}
    </svg>
    <details class="graph-list"><summary>${count(results.length, "document")} as a list</summary><ul>${results.map((one, at) => html`
      <li key=${at}><a href=${documentLink(one)} onClick=${close}>${one.title}</a>
        <span class="dim small">${near(at).length ? `linked with ${[...new Set(near(at))].join(", ")}` : ""}</span></li>`)}</ul></details>`;
}
