/** The filters of a query, for the chips: the server reads the query itself (docs/query-language.md). */

const KEYS = new Set([
  "tag", "type", "kind", "project", "entered_by", "by", "path", "title", "file", "concept", "bead", "bead_id",
  "confidence", "session", "client", "model", "is", "after", "before", "source",
]);
const TOKEN = new RegExp([
  '(-?)(?:"[^"]*"',
  '([A-Za-z_]+):(?!:|//)(?:"([^"]*)"|([^\\s"()]+))',
  "\\[([^[\\]\\n]{1,200})\\](?=[\\s)]|$)",
  "[()|]",
  "[^\\s()|]+)",
].join("|"), "g");
const PROPERTY = /^(?:"[^":]+"|[^\W\d][\w.-]+)\s*(?::\s*\S.*)?$/;
const ONE_KIND = { notes: "note", memories: "memory", sessions: "session" };
const JOINED_BEFORE = /(^|\s|\()(?:OR|AND|\|)$/;
const JOINED_AFTER = /^(?:OR|AND|\|)(?=\s|$)/;

/**
 * In their order: `[{ key, value, negated, start, end }]`, with `NOT` or `-` where they have it. The key of
 * `[status:done]` is "property".
 */
export function filtersOf(text) {
  const found = [];
  const groups = [];
  let not = -1;
  for (const match of text.matchAll(TOKEN)) {
    const [token, minus, name = "", quoted, plain, inside = ""] = match;
    const denied = Boolean(minus) !== not >= 0;
    if (token.endsWith("(")) groups.push(denied);
    if (token === ")") groups.pop();
    const known = KEYS.has(name.toLowerCase());
    // `[x]` is a ticked box, and `[ERROR]` a line of a log.
    const isProperty = PROPERTY.test(inside) && inside !== inside.toUpperCase();
    const value = known ? (quoted ?? plain.replace(/[,;]+$/, "")).trim() : isProperty && inside;
    if (value) {
      const negated = [denied, ...groups].filter(Boolean).length % 2 === 1;
      const start = not < 0 ? match.index : not;
      const key = known ? name.toLowerCase() : "property";
      found.push({ key, value, negated, start, end: match.index + token.length });
    }
    not = token === "NOT" ? match.index : -1;
  }
  return found;
}

/** The filter of a query that says this and is not negated, if it has one. */
export function filterOf(text, key, value) {
  const same = (one) => (key === "kind" && ONE_KIND[one.toLowerCase()]) || one.toLowerCase();
  return filtersOf(text).find((one) => one.key === key && !one.negated && same(one.value) === same(value));
}

/** The query without one of its filters, nor the OR that joined it, nor parentheses around nothing. */
export function without(text, { start, end }) {
  let before = text.slice(0, start).trimEnd();
  let after = text.slice(end).trimStart();
  if (JOINED_BEFORE.test(before)) before = before.replace(JOINED_BEFORE, "$1").trimEnd();
  else after = after.replace(JOINED_AFTER, "").trimStart();
  if (before.endsWith("(") && after.startsWith(")")) {
    before = before.replace(/-?\($/, "").trimEnd();
    after = after.slice(1).trimStart();
  }
  return `${before}${before.endsWith("(") || after.startsWith(")") ? "" : " "}${after}`.trim();
}

/** The query with this filter, or without it where it has it; an `after` takes the place of another. */
export function turned(text, key, value) {
  const has = filterOf(text, key, value);
  if (has) return without(text, has);
  const other = key === "after" && filtersOf(text).find((one) => one.key === key && !one.negated);
  const rest = other ? without(text, other) : text.trim();
  return `${rest} ${key}:${/[\s"()]/.test(value) ? `"${value.replaceAll('"', "")}"` : value}`.trim();
}

/** What to look for while somebody types at the end of it: the last word may go on. */
export function unfinished(written) {
  // Of a compound (`vault-i`) the last part counts once it has three letters: too many words begin with fewer.
  const text = written.replace(/([\p{L}\p{N}])[-_./]+[\p{L}\p{N}]{0,2}$/u, "$1");
  const last = /(?:^|[\s(])([\p{L}\p{N}][^\s"():*|]*[\p{L}\p{N}])$/u.exec(text)?.[1];
  const isOpen = (text.match(/["“”„]/g) || []).length % 2 === 1;
  return !last || isOpen || /^(?:AND|OR|NOT)$/.test(last) ? text : `${text}*`;
}
