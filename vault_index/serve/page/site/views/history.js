/** The versions of a memory: what one says otherwise than another, and going back to one. */

import { html, useMemo, useState } from "../vendor/preact.js";
import { ask, call } from "../api.js";
import { Diff } from "../diff.js";
import { arrows, focusItem, useKeys } from "../keys.js";
import { documentLink, go, link } from "../router.js";
import { Button, Dialog, ErrorNote, Loading, When, count, sentence, toast, useAnswer, useChanges } from "../ui.js";
import { textOf } from "../versions.js";

export const title = "History";
export const style = "views/history.css";

const MOST = 500;
const DONE = {
  add: "added", update: "updated", accept: "accepted", merge: "merged", revert: "reverted", undo: "undone",
};

export default function History({ parts: [source, ...folders], params }) {
  const path = folders.join("/");
  const list = (signal) => call("history", { ref: path, source, limit: MOST }, { signal });
  const [found, error, again] = useAnswer(list, []);
  useChanges(({ event }) => event === "changed" && again());
  const foot = { u: ["go back", () => history.back()] };
  if (!found) {
    return html`<div class="page narrow"><div class="page-head"><h1>History</h1></div><${Back} keys=${foot} />
      ${error ? html`<${ErrorNote} error=${error} retry=${again} />` : html`<${Loading} what="Looking" />`}</div>`;
  }
  return html`<${Versions} ...${{ source, path, found, params, again, list }} />`;
}

function Back({ keys }) {
  useKeys("History", keys);
  return null;
}

function Versions({ source, path, found, params, again, list }) {
  const [asked, setAsked] = useState(null);
  const [undo, setUndo] = useState(null);
  const [busy, setBusy] = useState(false);
  const all = found.results.map((one) => ({ ...one, name: String(one.number ?? one.commit) }));
  const named = (name) => all.find((one) => one.name === name);
  const now = all.find((one) => one.number);
  const after = named(params.after) || now || all[0];
  const before = params.before ? named(params.before) : after && olderThan(all, after);
  const target = [after, before].find((one) => one && one !== now && isThere(one));

  const texts = useMemo(() => new Map(), [found]);
  const [both, fault, retry] = useAnswer(async (signal) => {
    const oldest = all.findLast((one) => one.number) || all.at(-1);
    const saying = (one) => (one ? textOf({ source, path, texts, oldest: oldest.name, name: one.name }, signal) : "");
    return after && { before, after, old: await saying(before), fresh: await saying(after) };
  }, [found, before?.name, after?.name]);

  const place = (chosen) => link("history", [source, ...path.split("/")], chosen);
  const pick = (chosen) => (
    chosen && go(place({ before: before?.name, after: after?.name, ...chosen }), { replace: true }));
  const only = (one) => one && go(place({ after: one.name }), { replace: true });
  const atFocus = () => document.activeElement?.closest("[data-version]")?.dataset.version;
  const picked = (which) => pick(atFocus() && { [which]: atFocus() });

  /** Do it, one thing at a time, and look again whatever became of it. */
  const doing = async (work) => {
    if (busy) return;
    setAsked(null);
    setUndo(null);
    setBusy(true);
    try {
      await work();
    } catch (refused) {
      toast(`${sentence(refused.message)} ${sentence(refused.hint)}`);
    } finally {
      setBusy(false);
      again();
    }
  };
  const seenNow = async (file) => (await ask("memories", { files: [{ source, path: file }] })).results[0].seen;
  const revert = (one) => doing(async () => {
    const made = await call("revert", { ref: path, source, to: one.name });
    const said = `Restored ${labelOf(one)}.`;
    if (made.warnings.length) {
      toast(`The file already has the text of ${labelOf(one)}.`);
      return;
    }
    const [seen, { results }] = await Promise.all([seenNow(made.path), list()]);
    const [ours, previous] = results.filter((other) => other.number);
    go(place({}), { replace: true });
    if (ours?.action !== "revert" || !(made.created || previous)) {
      toast(said);
      return;
    }
    const back = () => doing(async () => {
      const file = { ref: made.path, source };
      if (await seenNow(made.path) !== seen) throw new Error("the file has changed since; nothing was undone");
      if (made.created) await call("decide", { action: "delete", ...file });
      else await call("revert", { ...file, to: previous.number });
      toast("Undone.");
    });
    setUndo(() => back);
    toast(said, ["Undo", back]);
  });

  useKeys("History", {
    "[": ["an older change", () => only(after && olderThan(all, after))],
    "]": ["a newer change", () => only(after && all.findLast((one) => olderThan(all, one) === after))],
    l: ["go to the versions", () => focusItem(document.querySelector(".versions [aria-current]"))],
    b: ["compare from the focused version", () => picked("before")],
    a: ["compare to the focused version", () => picked("after")],
    ...(target && { r: [`restore ${labelOf(target)}`, () => setAsked(target)] }),
    ...(undo && { z: ["undo the last restore", undo] }),
    u: ["go back", () => history.back()],
  });

  return html`<div class="page history">
    <div class="page-head"><h1>History</h1><p class="dim">of ${now && !isThere(now) ? found.title || path
      : html`<a href=${documentLink({ source, path })}>${found.title || path}</a>`}</p></div>
    <div class="history-columns">
      <section class="history-list" aria-label="Versions">
        <ol class="versions" onKeyDown=${(event) => event.target.type !== "radio" && arrows(event)}>
          <li class="versions-head small dim" aria-hidden="true"><span>From</span><span>To</span></li>
          ${all.map((one) => html`<li key=${one.name} data-version=${one.name}
            class=${one === after || one === before ? "version on" : "version"}>
            ${[["before", before, "From"], ["after", after, "To"]].map(([which, chosen, said]) => html`
              <label class="version-pick"><input type="radio" name=${which} value=${one.name} checked=${chosen === one}
                onChange=${() => pick({ [which]: one.name })} aria-label=${`${said} ${labelOf(one)}`} /></label>`)}
            <a data-item href=${place({ after: one.name })} aria-current=${one === after ? "true" : null}>
              <b>${capital(labelOf(one))}</b>
              ${one === now && isThere(one) && html` <span class="version-now">now</span>`}
              <span class="version-what">${DONE[one.action] || one.action}</span>
              <span class="version-when dim small">
                <${When} time=${one.seen} />${one.by && ` · ${authorOf(one)}`}</span>
              ${one.path !== found.path && html`<span class="version-when mono dim">${one.path}</span>`}</a></li>`)}
        </ol>
        ${found.total > all.length && html`
          <p class="dim small">And ${count(found.total - all.length, "older one")}.</p>`}
        ${found.forgotten > 0 && html`
          <p class="dim small">${count(found.forgotten, "older version is", "older versions are")} no longer kept.</p>`}
      </section>
      <section class="history-diff" aria-labelledby="history-what">
        <div class="apart history-head"><h2 id="history-what">${headingOf(all, before, after)}</h2>
          ${target && html`<${Button} icon="undo" disabled=${busy} onClick=${() => setAsked(target)}>
            Restore ${labelOf(target)}<//>`}</div>
        ${fault && html`<${ErrorNote} error=${fault} retry=${retry} />`}
        ${!both && !fault && after && html`<${Loading} what="Comparing" />`}
        ${both && !fault && html`<${Diff}
          key=${`${both.before?.name} ${both.after.name}`} before=${both.old} after=${both.fresh}
          labels=${[capital(labelOf(both.before)), capital(labelOf(both.after))]}
          same=${both.old === both.fresh ? "The texts are identical." : "Only the line endings differ."} />`}
      </section>
    </div>
    ${asked && html`<${Dialog} title=${`Restore ${labelOf(asked)}?`} close=${() => setAsked(null)}>
      <p>The file is restored byte for byte. The current text stays in this list, and you can undo this.</p>
      <div class="row history-answers">
        <${Button} kind="primary" autofocus onClick=${() => revert(asked)}>Restore<//>
        <${Button} onClick=${() => setAsked(null)}>Cancel<//></div><//>`}
  </div>`;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** The one before it, among those of its kind: versions that were seen, or commits. */
function olderThan(all, one) {
  return all.slice(all.indexOf(one) + 1).find((other) => !other.number === !one.number);
}

/** Whether there was a file: a commit tells it only when it is asked. */
const isThere = (one) => !one.number || one.action !== "removed";

const authorOf = ({ by }) => (by.startsWith("by ") ? by : `by ${by}`);

function labelOf(one) {
  if (!one) return "nothing";
  return one.number ? `version ${one.number}` : `commit ${one.name.slice(0, 8)}`;
}

function headingOf(all, before, after) {
  if (!after) return "No recorded version";
  if (before === olderThan(all, after)) return `What ${labelOf(after)} ${before ? "changed" : "said"}`;
  return `From ${labelOf(before)} to ${labelOf(after)}`;
}
