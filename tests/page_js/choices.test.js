import assert from "node:assert/strict";
import { test } from "node:test";

import { fitting, rarest } from "../../vault_index/serve/page/site/choices.js";

const TITLES = ["The old pond", "Ponds", "Pond", "Respond", "Café by the pond"];

for (const [typed, expected] of [
  ["pond", ["Pond", "Ponds", "The old pond", "Café by the pond", "Respond"]],
  ["pond cafe", ["Café by the pond"]],
  ["heron", []],
  ["", TITLES],
]) {
  test(`choices for ${typed}`, () => assert.deepEqual(fitting(typed, TITLES), expected));
}

test("the longest word is the rarest", () => assert.equal(rarest("by the Café"), "Café"));
