/** The properties (frontmatter) of a document as rows of a table. */

/** Shown above the text in other ways, or of use only to programs. */
const ELSEWHERE = new Set([
  "title", "tags", "tag", "id", "type", "project", "entered_by", "confidence", "created", "updated", "expires",
  "superseded_by", "archived", "imported_id", "cssclasses", "cssclass",
]);
const WIKI = /^\[\[([^[\]|]+)(?:\|([^[\]]*))?\]\]$/;

/**
 * `[[name, [{ text, ref?, href? }]]]` in the order of the file: `ref` is a document of the vault, `href` a web address.
 */
export function propertiesOf(frontmatter) {
  return Object.entries(frontmatter || {})
    .filter(([name, value]) => !ELSEWHERE.has(name.toLowerCase()) && value !== null && value !== "")
    .map(([name, value]) => [name, (Array.isArray(value) ? value : [value]).map(shown)])
    .filter(([, values]) => values.length);
}

function shown(value) {
  if (typeof value === "boolean") return { text: value ? "yes" : "no" };
  if (value !== null && typeof value === "object") return { text: JSON.stringify(value) };
  const text = String(value);
  const wiki = WIKI.exec(text);
  if (wiki) return { text: wiki[2] || wiki[1], ref: `[[${wiki[1]}]]` };
  return /^https?:\/\/[^\s/]/.test(text) ? { text, href: text } : { text };
}
