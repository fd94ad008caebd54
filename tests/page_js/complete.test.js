import assert from "node:assert/strict";
import { test } from "node:test";

import { filterAt, offersOf, taken } from "../../vault_index/serve/page/site/complete.js";

const VALUES = {
  values: { tag: [["recipe", 4], ["garden", 3], ["old recipes", 1]], project: [["a b", 2]] },
  folders: [["vault", "", 1], ["vault", "food/", 2], ["vault", "food/cake/", 3]],
};
const complete = (text) => offersOf(filterAt(text, text.length), VALUES).map(({ label, note }) => [label, note]);

for (const [text, expected] of [
  ["soup tag:re", [["recipe", "4"], ["old recipes", "1"]]],
  ["-tag:RE", [["recipe", "4"], ["old recipes", "1"]]],
  ["(tag:gar", [["garden", "3"]]],
  ['tag:"old r', [["old recipes", "1"]]],
  ["tag:recipe", [["old recipes", "1"]]],
  ["path:", [["food", "5"], ["food/cake", "3"]]],
  ["is:arch", [["archived", ""]]],
  ["ta", [["tag:", "documents with this tag"]]],
  ["tag:none", []],
  ['tag:"recipe"', []],
  ["https://example.org/ta", []],
  ["t", []],
  ["unknown:re", []],
]) {
  test(`completion of ${text}`, () => assert.deepEqual(complete(text), expected));
}

test("a taken offer replaces what was typed and quotes spaces", () => {
  const text = "cake project:a soup";
  const at = filterAt(text, 14);
  const [offer] = offersOf(at, VALUES);
  assert.deepEqual(taken(text, 14, at, offer), { text: 'cake project:"a b" soup', caret: 19 });
});

test("no offer inside a word", () => assert.equal(filterAt("tag:recipe", 6), null));
