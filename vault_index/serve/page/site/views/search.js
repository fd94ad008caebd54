/** Search as one types. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../api.js";
import { arrows, focusItem } from "../keys.js";
import { documentLink, go, link } from "../router.js";
import { Empty, ErrorNote, Icon, Marked } from "../ui.js";

export const title = "Search";

export default function Search({ params }) {
  const query = params.q || "";
  const field = useRef(null);
  const list = useRef(null);
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);

  useEffect(() => {
    const wanted = new AbortController();
    if (!query.trim()) setFound(null);
    else {
      call("search", { query, limit: 20 }, { signal: wanted.signal }).then(
        (answer) => { setFound(answer); setError(null); },
        (refused) => refused.name === "AbortError" || setError(refused),
      );
    }
    return () => wanted.abort();
  }, [query]);

  useEffect(() => {
    if (!found) return;
    document.documentElement.dataset.shown = found.query;
    performance.mark("shown");
  }, [found]);

  const typed = (event) => go(link("search", [], { ...params, q: event.target.value }), { replace: true });
  const down = (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    focusItem(list.current?.querySelector("[data-item]"));
  };
  return html`<div class="page narrow">
    <h1 class="unseen">Search</h1>
    <div class="search-field"><${Icon} name="search" />
      <input id="search" type="search" ref=${field} value=${query} onInput=${typed} onKeyDown=${down} autofocus
        placeholder="Search notes, memories and sessions" aria-label="Search" autocomplete="off" spellcheck=${false} /></div>
    ${error && html`<${ErrorNote} error=${error} />`}
    ${found && !found.results.length && html`<${Empty} title="Nothing answers this">Try fewer or other words.<//>`}
    <ol class="hits" ref=${list} onKeyDown=${(event) => arrows(event, field.current)}>
      ${found?.results.map((hit) => html`<li key=${hit.id + hit.lines} data-item>
        <a href=${documentLink(hit, { lines: hit.lines.join("-") })}>${hit.title}</a>
        <p><${Marked} text=${hit.snippet} spans=${hit.spans.snippet} /></p></li>`)}
    </ol></div>`;
}
