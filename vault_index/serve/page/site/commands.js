/** Commands for a shell: shown with a button that copies them, and found in the hints of problems. */

import { html } from "./vendor/preact.js";
import { Icon, copy, sentence } from "./ui.js";

const ONE = "(?:vault-index (?:config (?:set|delete) [\\w.]+(?: [\\w.-]+)?"
  + "|(?:service|source|token) [a-z]+|doctor(?: --[a-z]+)*|sync|watch|rebuild|embed|init|open|logs)\\b)";
const COMMAND = new RegExp(`\`([^\`]+)\`|(${ONE}(?: && ${ONE})*)`, "g");

export const Command = ({ text }) => html`<span class="command"><code>${text}</code>
  <button class="quiet" aria-label=${`Copy ${text}`} title="Copy" onClick=${() => copy(text, "The command")}><${Icon}
    name="copy" /></button></span>`;

/** A longer one, or what goes into a file. */
export const CommandBlock = ({ label, text }) => html`<div class="command-block">
  <div class="apart"><b>${label}</b><button class="small" aria-label=${`Copy: ${label}`}
    onClick=${() => copy(text, label)}>
    <${Icon} name="copy" /><span>Copy</span></button></div>
  <pre tabindex="0"><code>${text}</code></pre></div>`;

/** What mends something: its sentence, and in it the commands as what can be copied. */
export function Remedy({ hint }) {
  const parts = [];
  let at = 0;
  for (const found of hint.matchAll(COMMAND)) {
    const text = found[1] || found[2];
    if (!/^(?:vault-index|make|pipx|uv|chmod|sudo|\S*python\S* -m pip) /.test(text)) continue;
    parts.push(hint.slice(at, found.index), html`<${Command} text=${text} />`);
    at = found.index + found[0].length;
  }
  if (!at) return html`<p class="remedy">${sentence(hint)}</p>`;
  parts[0] = parts[0] && parts[0][0].toUpperCase() + parts[0].slice(1);
  return html`<p class="remedy">${parts}${hint.slice(at)}</p>`;
}
