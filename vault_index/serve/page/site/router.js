/** Places of the page are fragments, which no server and no log ever sees: `#/doc/notes/ideas/wal.md?lines=3-9`. */

/** The fragment of a place; `params` that are empty are left out. */
export function link(name, parts = [], params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(given).toString();
  return `#/${[name, ...parts].map(encodeURIComponent).join("/")}${query && `?${query}`}`;
}

/** The place of a document, or of a hit in it: anything with `source` and `path`. */
export const documentLink = ({ source, path }, params) => link("doc", [source, ...path.split("/")], params);

/** `{ name, parts, params }` of the address. */
export function here(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [name, ...parts] = path.split("/").map(decoded);
  return { name: name || "search", parts, params: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Go there; with `replace` the place before is forgotten, as for each letter of a search. */
export function go(hash, { replace = false } = {}) {
  if (hash === location.hash) return;
  if (!replace) {
    location.hash = hash;
    return;
  }
  history.replaceState(history.state, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

const HITS = "vault-index.hits";

/** What the last search found, as places: for as long as the tab is open. */
export const hits = {
  get() {
    try {
      return JSON.parse(sessionStorage.getItem(HITS)) || [];
    } catch {
      return [];
    }
  },
  put(places) {
    try {
      sessionStorage.setItem(HITS, JSON.stringify(places));
    } catch {
      // they are not gone through one by one, then
    }
  },
};
