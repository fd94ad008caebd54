import assert from "node:assert/strict";
import { test } from "node:test";

import { propertiesOf } from "../../vault_index/serve/page/site/properties.js";

test("properties keep their order and leave out those shown elsewhere", () => {
  const rows = propertiesOf({ title: "Herons", status: "done", Tags: ["a"], rating: 4, none: null, list: [] });
  assert.deepEqual(rows, [["status", [{ text: "done" }]], ["rating", [{ text: "4" }]]]);
});

test("properties link to notes and web addresses, and to nothing else", () => {
  const rows = propertiesOf({ see: ["[[pond#Water|the pond]]", "https://example.org/a", "javascript:alert(1)", true, { a: 1 }] });
  assert.deepEqual(rows, [["see", [
    { text: "the pond", ref: "[[pond#Water]]" },
    { text: "https://example.org/a", href: "https://example.org/a" },
    { text: "javascript:alert(1)" },
    { text: "yes" },
    { text: '{"a":1}' },
  ]]]);
});
