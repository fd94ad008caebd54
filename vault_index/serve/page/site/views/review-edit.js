/** The whole file of a memory in a field, and what changes in it. */

import { html, useEffect, useState } from "../vendor/preact.js";
import { ask } from "../api.js";
import { Diff } from "../diff.js";
import { Button, Dialog, ErrorNote, Kbd, Loading, loadStyle } from "../ui.js";

await loadStyle("views/edit.css");

/** Texts that were not saved, each with the version that it changes, by their files: closing the dialog loses none. */
const drafts = new Map();

/** For a field that comes later than its dialog, which `autofocus` does not reach. */
const focus = (field) => field?.focus();

/** `save({ text, seen, force })` says whether it was done, and raises what the server refuses. */
export function Edit({ memory, close, save, again }) {
  const file = `${memory.source}:${memory.path}`;
  const [draft] = useState(drafts.get(file));
  // A draft is compared with the version that it changes, so that a file that changed since is not overwritten.
  const [base, setBase] = useState(draft?.base ?? (memory.nodes ? memory : null));
  const [text, setText] = useState(draft?.text ?? base?.text);
  const [compared, setCompared] = useState(text);
  const [error, setError] = useState(null);
  const [working, setWorking] = useState(false);

  const look = async () => {
    try {
      const [now] = (await ask("memories", { files: [{ source: memory.source, path: memory.path }] })).results;
      setBase(now);
      setText((one) => one ?? now.text);
    } catch (refused) {
      setError(refused);
    }
  };
  useEffect(() => { if (!draft) look(); }, []);
  useEffect(() => {
    const timer = setTimeout(setCompared, 150, text);
    return () => clearTimeout(timer);
  }, [text]);

  const typed = (event) => {
    setText(event.target.value);
    drafts.set(file, { text: event.target.value, base });
  };
  const changed = base && text !== undefined && lf(text) !== lf(base.text);
  const keep = async (force) => {
    if (working || !changed) return;
    setWorking(true);
    setError(null);
    try {
      if (!await save({ text, seen: [base.seen], ...(force ? { force } : {}) })) {
        setWorking(false);
        return;
      }
      drafts.delete(file);
      close();
    } catch (refused) {
      setError(refused);
      setWorking(false);
      if (refused.status === 409) await look();
      again();
    }
  };
  const leave = () => {
    if (!changed) drafts.delete(file);
    close();
  };
  const discard = () => {
    drafts.delete(file);
    setText(base.text);
  };
  const keys = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    keep();
  };
  const secret = error && /looks like/.test(error.message);
  return html`<${Dialog} title="Edit" wide close=${leave}>
    <p class="mono dim">${memory.path}</p>
    ${error && html`<${ErrorNote} error=${error} />`}
    ${error?.status === 409 && html`
      <p class="small">Your text is still here, with what it would change in the file as it is now.</p>`}
    ${draft && !error && html`<p class="small dim">This is your earlier text, which was not saved.</p>`}
    ${text === undefined ? html`<${Loading} />` : html`<div class="review-edit">
      <textarea aria-label="The whole file" rows="18" autofocus ref=${focus} value=${text}
        onInput=${typed} onKeyDown=${keys} />
      <div class="review-edit-diff" aria-live="off"><h3>What changes</h3>
        ${base && html`<${Diff} before=${base.text} after=${compared ?? text}
          labels=${["The file now", "Yours"]} same="No changes yet." />`}</div></div>`}
    <div class="row review-foot">
      <${Button} kind="primary" icon="check" disabled=${!changed || working} onClick=${() => keep()}>Save<//>
      <span class="review-key dim" aria-hidden="true"><${Kbd} keys="Ctrl Enter" /></span>
      ${secret && html`<${Button} kind="danger" onClick=${() => keep(true)}>Not a credential: save it<//>`}
      ${changed && html`<${Button} icon="undo" onClick=${discard}>Discard my changes<//>`}
      <${Button} onClick=${leave}>Close<//></div><//>`;
}

/** As a field has it. */
const lf = (text) => text.replace(/\r\n?/g, "\n");
