/** Ctrl+K: go to a document by its title, or do what a key does. */

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { call } from "./api.js";
import { fitting, rarest } from "./choices.js";
import { allKeys } from "./keys.js";
import { documentLink, go } from "./router.js";
import { Dialog, Icon, Kbd } from "./ui.js";

const MOST = 8;
const ICONS = { memory: "memory", session: "sessions" };
const REST = 80;

export default function Palette({ close }) {
  const [typed, setTyped] = useState("");
  const [found, setFound] = useState([]);
  const [active, setActive] = useState(0);
  const list = useRef(null);
  // Those of the view below, which are not there any more once the dialog is.
  const commands = useRef(allKeys().flatMap(({ bindings }) => Object.entries(bindings)
    .filter(([key]) => key !== "Escape" && key !== "Ctrl k")
    .map(([key, [name, run]]) => ({ name: name[0].toUpperCase() + name.slice(1), key, run })))).current;

  useEffect(() => {
    const wanted = new AbortController();
    const title = rarest(typed);
    const look = () => call("list", { sort: "updated", limit: title ? 200 : MOST, ...(title && { title }) }, { signal: wanted.signal })
      .then(({ results }) => setFound(results), () => {});
    const timer = setTimeout(look, typed ? REST : 0);
    return () => { clearTimeout(timer); wanted.abort(); };
  }, [typed]);

  const documents = fitting(typed, found, (one) => one.title).slice(0, MOST)
    .map((one) => ({ name: one.title, place: [one.source, ...one.path.split("/").slice(0, -1)].join(" › "),
      icon: ICONS[one.kind] || "document", run: () => go(documentLink(one)) }));
  const offers = [...documents, ...fitting(typed, commands, (one) => one.name).slice(0, typed ? MOST : 4)];
  const at = Math.min(active, offers.length - 1);
  useEffect(() => { list.current?.children[at]?.scrollIntoView({ block: "nearest" }); }, [at]);

  const take = (offer) => {
    close();
    // After the dialog gave the focus back.
    setTimeout(offer.run);
  };
  const key = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing || !(step || event.key === "Enter")) return;
    event.preventDefault();
    if (step) setActive((at + step + offers.length) % offers.length);
    else if (offers[at]) take(offers[at]);
  };
  const input = ({ target }) => {
    setTyped(target.value);
    setActive(0);
  };
  return html`<${Dialog} title="Go to" close=${close}>
    <input autofocus value=${typed} onInput=${input} onKeyDown=${key} role="combobox" aria-expanded="true"
      aria-label="Title of a document, or a command" placeholder="Title of a document, or a command" autocomplete="off"
      spellcheck=${false} aria-controls="palette" aria-activedescendant=${offers.length ? `choice-${at}` : null} />
    <ul id="palette" class="palette" role="listbox" aria-label="Documents and commands" ref=${list}>${offers.map((offer, index) => html`
      <li id=${`choice-${index}`} key=${`${offer.name} ${offer.place || offer.key}`} role="option" aria-selected=${index === at}
        onClick=${() => take(offer)}><${Icon} name=${offer.icon || "next"} /><span>${offer.name}</span>
        ${offer.key ? html`<${Kbd} keys=${offer.key} />` : html`<small class="dim">${offer.place}</small>`}</li>`)}</ul>
    ${!offers.length && html`<p class="dim">No document has this title.</p>`}<//>`;
}
