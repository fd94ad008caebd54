/** A session as a conversation: who said what and when, with the calls of tools as a line each, which opens. */

import { html, useEffect, useMemo, useRef } from "./vendor/preact.js";
import { call } from "./api.js";
import { useKeys } from "./keys.js";
import { Markdown, refLink } from "./markdown.js";
import { link } from "./router.js";
import { Button, Icon, copy, count, duration, loadStyle, useAnswer } from "./ui.js";
import { clientName, dayName } from "./times.js";

const TURN = /^(User|Assistant|Compaction summary) · (\d{4}-\d\d-\d\d) (\d\d:\d\d)$/;
const CALL = /^([\w.-]+):(?: |$)/;
const PAUSE = 30;
const QUESTION = 90;

await loadStyle("session.css");

/**
 * @param {{ read: { document: object, nodes: Array, outline: Array }, lines?: [number, number] }} props what /page/read
 * gave of a session, or several parts of it with their nodes in one list; `lines` are those of a hit.
 */
export function SessionText({ read, lines }) {
  const { document, nodes } = read;
  const turns = useMemo(() => turnsOf(nodes, read.outline), [nodes]);
  const questions = turns.filter(({ who }) => who === "User");
  const box = useRef(null);
  const front = document.metadata?.frontmatter || {};

  const step = (by) => {
    const all = [...box.current.querySelectorAll(".turn.user")];
    const focused = all.findIndex((one) => one.contains(globalThis.document.activeElement));
    const below = all.findIndex((one) => one.getBoundingClientRect().top > (by > 0 ? 24 : -8));
    const near = by > 0 ? (below < 0 ? all.length : below) : (below < 0 ? all.length : below) - 1;
    goTo(all[Math.max(0, Math.min(all.length - 1, focused < 0 ? near : focused + by))]);
  };
  const folded = () => [...box.current.querySelectorAll(".turns details")];
  const fold = () => {
    const all = folded();
    const open = all.some((one) => !one.open);
    for (const one of all) one.open = open;
  };
  useKeys("Session", {
    n: ["next question", () => step(1)],
    p: ["previous question", () => step(-1)],
    x: ["open or close all calls", fold],
  });

  return html`<div class="session" ref=${box}>
    <${Facts} document=${document} front=${front} questions=${questions} />
    ${turns.some(hasMore) && html`<p class="session-fold"><${Button} kind="quiet small" icon="outline" onClick=${fold}
      title="Tool calls and reasoning (x)">Open or close all<//></p>`}
    <div class="turns">${turns.map((turn, at) => html`
      <${Pause} before=${turns[at - 1]} turn=${turn} />
      <${Turn} key=${turn.line} turn=${turn} document=${document} front=${front} lines=${lines} />`)}</div>
  </div>`;
}

/** What the user asked, as an outline of a session: `[{ level, text, id, line }]`. */
export const outlineOf = (nodes) => turnsOf(nodes).filter(({ who }) => who === "User")
  .map(({ id, line, blocks }) => ({ level: 2, text: questionOf(blocks), id, line }));

function goTo(turn) {
  turn?.focus({ preventScroll: true });
  turn?.scrollIntoView({ block: "start" });
}

// --- what stands above it ----------------------------------------------------------------------------------------

function Facts({ document, front, questions }) {
  const session = front.session || "";
  const [told] = useAnswer(async (signal) => {
    const asked = { session, source: document.source, since: "1970-01-02", summary: true };
    return session ? (await call("sessions", asked, { signal })).results[0] : null;
  }, [session]);
  const [resume] = useAnswer((signal) => call("resume", { ref: document.id }, { signal }), [document.id]);
  const parent = String(front.parent || "").replace(/^\[\[|\]\]$/g, "");
  const facts = [
    ["Project", front.project && html`<a href=${link("sessions", [], { project: front.project })}>${front.project}</a>`],
    ["Client", clientName(front.client || document.source)],
    ["Model", front.model],
    ["Worked", told && duration(told.duration)],
    ["Turns", front.turns?.toLocaleString("en")],
    ["Tokens", front.tokens?.toLocaleString("en")],
  ].filter(([, value]) => value);
  const more = [
    questions.length > 1 && count(questions.length, "question"), told?.files > 0 && `${count(told.files, "file")} written`,
    told?.failed > 0 && `${count(told.failed, "failed command")}`,
  ].filter(Boolean);
  return html`<div class="card session-facts">
    ${parent && html`<p class="session-parent"><${Icon} name="up" /> Session of a subagent:${" "}
      <a href=${refLink(`[[${parent}]]`, { document })}>open its parent session</a></p>`}
    <dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${more.length > 0 && html`<details class="fold"><summary>${more.join(" · ")}</summary>
      ${questions.length > 1 && html`<h2>Questions</h2><ol>${questions.map(({ id, blocks, time }) => html`
        <li><button class="plain" onClick=${() => goTo(globalThis.document.getElementById(id)?.closest(".turn"))}>
          <time>${time}</time><span>${questionOf(blocks)}</span></button></li>`)}</ol>`}
      ${told?.files > 0 && html`<h2>Files written</h2><ul>${told.written.map(({ path, edits }) => html`
        <li><a class="mono" title="Sessions that used this file" href=${link("sessions", [], { file: path })}>${path}</a>
          <span class="dim">${edits}×</span></li>`)}
        ${told.files > told.written.length && html`
          <li class="dim">and ${told.files - told.written.length} more</li>`}</ul>`}
      ${told?.failed > 0 && html`<h2>Failed commands</h2><ul>${told.failing.map(({ command, outcome }) => html`
        <li><code>${command}</code>
          <span class=${outcome === "ok" ? "dim" : "bad"}>${outcome === "ok" ? "fixed later" : outcome}</span></li>`)}</ul>`}
    </details>`}
    ${resume && html`<div class="session-resume"><code>${resume.shell}</code>
      <${Button} kind="small" icon="copy" onClick=${() => copy(resume.shell, "The command")}>Copy<//>
      <small class="dim">Resumes ${resume.instead_of ? "the parent session" : "this session"}.
        ${resume.directory && !resume.there ? ` Its folder no longer exists: ${resume.directory}` : ""}</small></div>`}
  </div>`;
}

// --- its turns ---------------------------------------------------------------------------------------------------

function Pause({ before, turn }) {
  if (!turn.day) return null;
  const said = [];
  const minute = ({ day, time }) => Date.parse(`${day}T${time}Z`) / 60000;
  const passed = before?.day ? minute(turn) - minute(before) : 0;
  if (passed >= PAUSE) said.push(`${passed < 2880 ? duration(passed * 60) : `${Math.round(passed / 1440)} days`} later`);
  if (turn.day !== before?.day) said.push(dayName(turn.day, undefined, true));
  return said.length ? html`<p class="pause"><span>${said.join(" · ")}</span></p>` : null;
}

function Turn({ turn, document, front, lines }) {
  const { who, time, id, line, blocks } = turn;
  const drawn = blocks.map((block) => drawBlock(block, { document, lines }));
  if (!who) return html`<div class="turn">${drawn}</div>`;
  if (who === "Compaction summary") {
    const hit = blocks.some(({ nodes = [] }) => nodes.some((node) => isHit(node[1], lines)));
    return html`<section class="turn"><details class="thought" open=${hit}>
      <summary id=${id} data-line=${line}>Summary of the conversation so far${" "}<time>${time}</time></summary>
      ${drawn}</details></section>`;
  }
  const asks = front.parent ? "Parent agent" : "You";
  const name = who === "User" ? asks : clientName(front.client || document.source);
  return html`<section class=${`turn ${who.toLowerCase()}`} tabindex=${who === "User" ? -1 : null} aria-labelledby=${id}>
    <h2 id=${id} data-line=${line} class=${isHit({ line }, lines) ? "hit" : ""}>
      <span>${name}</span> <time>${time}</time></h2>
    ${drawn}</section>`;
}

function drawBlock({ kind, nodes, calls }, context) {
  if (kind === "calls") {
    return html`<ul class="calls">${calls.map((one) => html`<${Call} key=${one.line} call=${one} ...${context} />`)}</ul>`;
  }
  const text = html`<${Markdown} nodes=${nodes} document=${context.document} lines=${context.lines} under=${2} />`;
  if (kind !== "thought") return text;
  const hit = nodes.some((node) => isHit(node[1], context.lines));
  return html`<details class="thought" open=${hit}><summary>Reasoning</summary>${text}</details>`;
}

function Call({ call: { tool, target, outcome, child, more, line }, document, lines }) {
  const root = document.metadata?.frontmatter?.directory?.replace(/[/\\]?$/, "/");
  const bad = /^(?:exit (?!0$)|error|broken off)/.test(outcome);
  const said = html`<span class="tool">${tool}</span>
    <span class="target" title=${target}>${root && target.startsWith(root) ? target.slice(root.length) : target}</span>
    ${outcome && html`<span class=${`outcome ${bad ? "bad" : ""}`}>${outcome}</span>`}`;
  const hit = isHit({ line }, lines) || more.some(([, attrs]) => isHit(attrs, lines)) ? "hit" : "";
  const theirs = child && html`<a class="child" href=${refLink(child, { document })}>Read its session</a>`;
  if (!opens({ more, target })) {
    return html`<li class=${hit} data-line=${line}><div class="call">${said}</div>${theirs}</li>`;
  }
  return html`<li class=${hit} data-line=${line}><details open=${Boolean(hit)}><summary class="call">${said}</summary>
    ${target.length >= QUESTION && html`<pre class="whole" tabindex="0">${target}</pre>`}
    ${more.map((node) => html`<${Shown} node=${node} />`)}</details>${theirs}</li>`;
}

const LINES = { "+": "added", "-": "removed", "@": "place" };

/** What a tool said, or the change that it made. */
function Shown({ node: [, { lang, line }, ...children] }) {
  const text = children.map(textOf).join("").replace(/\n$/, "");
  if (lang !== "diff") return html`<pre tabindex="0" data-line=${line}>${text}</pre>`;
  const drawn = text.split("\n").filter((one) => !/^(?:Index: |=+$|--- |\+\+\+ |\\ No newline)/.test(one));
  return html`<pre tabindex="0" class="code-diff" data-line=${line} aria-label="Change">${drawn.map((one) => html`
    <span class=${LINES[one[0]] || ""}>${one || " "}${"\n"}</span>`)}</pre>`;
}

const opens = ({ more, target }) => more.length > 0 || target.length >= QUESTION;
const hasMore = ({ who, blocks }) => who === "Compaction summary"
  || blocks.some(({ kind, calls }) => kind === "thought" || calls?.some(opens));

const isHit = ({ line, end = line } = {}, lines) => Boolean(lines && line && line <= lines[1] && end >= lines[0]);

// --- from the tree of its markdown -------------------------------------------------------------------------------

/**
 * `[{ who, day, time, id, line, blocks }]`; what stands before the first turn has no `who`. A part of a session may begin
 * within a turn, which the outline of the whole knows.
 */
export function turnsOf(nodes, outline = []) {
  const begun = outline.filter(({ text, line }) => TURN.test(text) && line < (nodes[0]?.[1]?.line ?? 0)).at(-1);
  const turns = begun ? [turnOf(TURN.exec(begun.text), begun)] : [];
  for (const node of nodes) {
    const [tag, attrs, ...children] = typeof node === "string" ? ["p", {}, node] : node;
    const found = tag === "h2" && TURN.exec(textOf(node));
    if (found) {
      turns.push(turnOf(found, attrs));
      continue;
    }
    if (!turns.length) turns.push({ who: "", line: 0, blocks: [] });
    addBlock(turns.at(-1), node, tag, attrs, children);
  }
  return turns;
}

const turnOf = ([, who, day, time], { id, line }) => ({ who, day, time, id, line, blocks: [] });

function addBlock({ who, blocks }, node, tag, attrs, children) {
  const last = blocks.at(-1);
  const calls = tag === "ul" ? children.map(callOf) : [];
  const attached = who === "User" && calls.every((one) => one?.tool === "file" && !one.outcome);
  if (calls.length && calls.every(Boolean) && (who === "Assistant" || attached)) {
    if (last?.kind === "calls") last.calls.push(...calls);
    else blocks.push({ kind: "calls", calls });
  } else if (tag === "pre" && last?.kind === "calls" && who === "Assistant" && ["text", "diff"].includes(attrs.lang)) {
    last.calls.at(-1).more.push(node);
  } else if (tag === "blockquote" && textOf(node).startsWith("Reasoning\n")) {
    blocks.push({ kind: "thought", nodes: children.map(withoutWord) });
  } else if (last?.kind === "said") last.nodes.push(node);
  else blocks.push({ kind: "said", nodes: [node] });
}

/** The line of a call (`sources.sessions.render`): tool, subject, the session of a subagent, how it ended. */
function callOf([tag, attrs, ...children]) {
  const found = tag === "li" && typeof children[0] === "string" && CALL.exec(children[0]);
  if (!found) return null;
  const rest = children.slice(1);
  const target = children[0].length === found[0].length && rest[0]?.[0] === "code" ? textOf(rest.shift()) : "";
  const child = rest.find((one) => one[0] === "a")?.[1].ref;
  const written = rest.filter((one) => one[0] !== "a").map(textOf).join("");
  const tail = written || (target ? "" : children[0].slice(found[0].length));
  const outcome = /^→?\s*\((.*)\)$/.exec(tail.trim())?.[1] ?? "";
  if (!outcome && !["file", "error"].includes(found[1])) return null;
  return { tool: found[1], target, child, outcome, more: [], line: attrs.line };
}

/** The word that says what a quote is; the fold says it. */
function withoutWord(node, at) {
  if (at || node[0] !== "p" || node[2]?.[0] !== "em") return node;
  const [tag, attrs, , first = "", ...rest] = node;
  return [tag, attrs, typeof first === "string" ? first.replace(/^\n/, "") : first, ...rest];
}

export function textOf(node) {
  if (typeof node === "string") return node;
  return node.slice(2).map(textOf).join("");
}

/** The first words of a question. */
function questionOf(blocks) {
  const words = blocks.flatMap(({ nodes = [] }) => nodes).map(textOf).join(" ").replace(/\s+/g, " ").trim();
  return words.length > QUESTION ? `${words.slice(0, QUESTION - 1)}…` : words || "…";
}
