/** Tasks in the text of a file. */

const TASK = /^([\s>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[)(.)(\](?:[ \t]|$))/u;

/** The text with the task on a line (from 1) done, or to do again; null where the line is none. */
export function turnedTask(text, line) {
  const lines = text.split("\n");
  const match = TASK.exec(lines[line - 1] ?? "");
  if (!match) return null;
  const [whole, before, mark, after] = match;
  lines[line - 1] = before + (mark === " " ? "x" : " ") + after + lines[line - 1].slice(whole.length);
  return lines.join("\n");
}
