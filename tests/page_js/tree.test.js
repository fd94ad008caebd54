import assert from "node:assert/strict";
import { test } from "node:test";

import { foldersOf, treeOf } from "../../vault_index/serve/page/site/tree.js";

const told = ({ name, path, count, children }) => [name, path, count, children.map(told)];

test("a tag counts for those above it", () => {
  assert.deepEqual(treeOf([["food/cake", 2], ["food", 1], ["art", 4]]).map(told), [
    ["art", "art", 4, []],
    ["food", "food", 3, [["cake", "food/cake", 2, []]]],
  ]);
});

test("folders of a source are sorted by number and count what is below", () => {
  const [vault, other] = foldersOf([["vault", "", 1], ["vault", "b/10/", 1], ["vault", "b/9/", 2], ["other", "", 5]]);
  assert.deepEqual(told(vault), ["vault", "", 4, [["b", "b", 3, [["9", "b/9", 2, []], ["10", "b/10", 1, []]]]]]);
  assert.equal(vault.children[0].children[0].source, "vault");
  assert.deepEqual(told(other), ["other", "", 5, []]);
});
