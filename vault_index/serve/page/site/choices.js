/** What of a list of names fits the words that are typed, the best first. */

const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const wordsOf = (typed) => fold(typed).split(/\s+/).filter(Boolean);

/** The longest word, by which a server that looks for one word finds the fewest. */
export const rarest = (typed) => typed.split(/\s+/).reduce((one, other) => (other.length > one.length ? other : one), "");

/** The entries whose name has all words; names that begin with the text come first, then words that begin with it. */
export function fitting(typed, entries, nameOf = (entry) => entry) {
  const words = wordsOf(typed);
  const text = words.join(" ");
  return entries.map((entry, at) => [rank(words, text, fold(nameOf(entry))), at, entry])
    .filter(([ranked]) => ranked < Infinity)
    .sort((one, other) => one[0] - other[0] || one[1] - other[1])
    .map(([, , entry]) => entry);
}

function rank(words, text, name) {
  if (!words.every((word) => name.includes(word))) return Infinity;
  if (name === text) return 0;
  if (name.startsWith(text)) return 1;
  return words.every((word) => name.startsWith(word) || / |[-_/.]/.test(name[name.indexOf(word) - 1] ?? "x")) ? 2 : 3;
}
