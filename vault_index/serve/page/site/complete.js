/** What completes a filter while it is typed: keys, and values with the number of documents that have them. */

const MOST = 8;
const KEYS = {
  tag: "documents with this tag", path: "a folder or a path", kind: "note, memory or session", type: "type of a memory",
  project: "a project", title: "words of the title", file: "words of the file name", source: "a vault or client",
  after: "created since", before: "created before", is: "expired, archived, …", entered_by: "a person or agent",
  confidence: "high, medium or low", concept: "a concept", client: "a client of agents", model: "a model",
  session: "an ID of a session",
};
const FIXED = {
  is: ["unreviewed", "expired", "superseded", "outdated", "archived"],
  after: ["today", "yesterday", "last week", "last month"],
  before: ["today", "last week", "last month"],
  confidence: ["high", "medium", "low"],
};
const ALIASES = { by: "entered_by" };
const TOKEN = /(?<=^|[\s(])(-?)(?:([A-Za-z_]+):(?:"([^"]*)"?|([^\s"()]*))|([A-Za-z_]{2,}))$/;

/**
 * The filter that ends at the caret: `{ key, typed, start }` where its value begins, or `{ key: "", typed, start }` of
 * a word that may become a key. Null where there is none.
 */
export function filterAt(text, caret) {
  const match = TOKEN.exec(text.slice(0, caret));
  if (!match || /^[^\s)]/.test(text.slice(caret))) return null;
  const [, , key, quoted, plain, word] = match;
  if (word) return { key: "", typed: word.toLowerCase(), start: caret - word.length };
  const known = ALIASES[key.toLowerCase()] || key.toLowerCase();
  if (!(known in KEYS)) return null;
  const isQuoted = quoted !== undefined;
  const typed = isQuoted ? quoted : plain;
  const closed = isQuoted && match[0].endsWith('"') && match[0].length > match[0].indexOf('"') + 1;
  if (closed) return null;
  return { key: known, typed: typed.toLowerCase(), start: caret - typed.length - (isQuoted ? 1 : 0) };
}

/** What may stand there: `[{ label, note, insert }]`; `values` is the answer of /page/values, or null. */
export function offersOf(at, values) {
  if (!at) return [];
  if (!at.key) {
    return Object.entries(KEYS).filter(([key]) => key.startsWith(at.typed))
      .map(([key, note]) => ({ label: `${key}:`, note, insert: `${key}:` }));
  }
  const found = FIXED[at.key]?.map((value) => [value, 0]) || (at.key === "path" ? foldersOf(values) : values?.values[at.key]) || [];
  const begin = found.filter(([value]) => value.toLowerCase().startsWith(at.typed));
  const hold = found.filter(([value]) => value.toLowerCase().indexOf(at.typed) > 0);
  // What is written out needs no more.
  return [...begin, ...hold].filter(([value]) => value.toLowerCase() !== at.typed).slice(0, MOST)
    .map(([value, count]) => ({ label: value, note: count ? count.toLocaleString("en") : "", insert: `${written(value)} ` }));
}

const written = (value) => (/[\s"()]/.test(value) ? `"${value.replaceAll('"', "")}"` : value);

/** Folders with all that is below them, as `path:` counts it. */
function foldersOf(values) {
  const counts = new Map();
  for (const [, folder, count] of values?.folders || []) {
    const parts = folder.split("/").slice(0, -1);
    parts.forEach((_, at) => {
      const path = parts.slice(0, at + 1).join("/");
      counts.set(path, (counts.get(path) || 0) + count);
    });
  }
  return [...counts].sort((one, other) => other[1] - one[1]);
}

/** The text with an offer taken, and where the caret is then: `{ text, caret }`. */
export function taken(text, caret, at, { insert }) {
  const rest = text.slice(caret).trimStart();
  const before = text.slice(0, at.start) + insert;
  return { text: before + rest, caret: before.length };
}
