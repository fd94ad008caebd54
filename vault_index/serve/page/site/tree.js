/** Folders and tags as trees. */

/**
 * Nodes of paths with counts: `[{ name, path, count, children }]`, where `count` is all that is below. Rows are
 * `[path, count]`; a path of no parts counts for none of them.
 */
export function treeOf(rows) {
  const root = { children: new Map() };
  for (const [path, count] of rows) {
    let node = root;
    for (const name of path.split("/").filter(Boolean)) {
      const at = node.path === undefined ? name : `${node.path}/${name}`;
      if (!node.children.has(name)) node.children.set(name, { name, path: at, count: 0, children: new Map() });
      node = node.children.get(name);
      node.count += count;
    }
  }
  return sorted(root);
}

const ORDER = new Intl.Collator(undefined, { numeric: true });

const sorted = ({ children }) => [...children.values()].sort((one, other) => ORDER.compare(one.name, other.name))
  .map((node) => ({ ...node, children: sorted(node) }));

/** A tree for each source of `[source, folder, count]`, the sources as its roots. */
export function foldersOf(rows) {
  return [...new Set(rows.map(([source]) => source))].map((source) => {
    const own = rows.filter(([one]) => one === source);
    const count = own.reduce((all, [, , number]) => all + number, 0);
    return { name: source, path: "", source, count, children: within(source, treeOf(own.map(([, path, number]) => [path, number]))) };
  });
}

const within = (source, nodes) => nodes.map((node) => ({ ...node, source, children: within(source, node.children) }));
