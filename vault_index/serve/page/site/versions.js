/** What a version of a memory said, as a whole: `diff` tells of two only where they differ. */

import { call } from "./api.js";

/**
 * The text of version `name`; `texts` has those that are known. All there is of the oldest one differs from nothing,
 * and from that one each other is made.
 * @param {{ source: string, path: string, texts: Map<string, string>, oldest: string, name: string }} of
 */
export async function textOf({ source, path, texts, oldest, name }, signal) {
  const made = async (text, params) => {
    const told = await call("diff", { ref: path, source, ...params }, { signal });
    if ((told.before === null) !== (params.before === undefined)) throw new Error("its versions changed meanwhile");
    return patched(text, told.text);
  };
  if (!texts.has(oldest)) texts.set(oldest, await made("", { after: oldest }));
  if (!texts.has(name)) texts.set(name, await made(texts.get(oldest), { before: oldest, after: name }));
  return texts.get(name);
}

/** What a unified diff makes of a text. */
export function patched(text, diff) {
  const [lines, made] = [text.split("\n"), []];
  let at = 0;
  const keep = (to) => {
    while (at < to) made.push(lines[at++]);
  };
  const told = diff.split("\n");
  for (const line of told.slice(told.findIndex((one) => one.startsWith("@@ -")))) {
    const hunk = /^@@ -(\d+)(,0)?/.exec(line);
    if (hunk) keep(hunk[1] - (hunk[2] ? 0 : 1));
    else if (line[0] === "+") made.push(line.slice(1));
    else if (line[0] === "-") at++;
    else if (line) keep(at + 1);
  }
  keep(lines.length);
  return made.join("\n");
}
