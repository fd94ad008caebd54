import assert from "node:assert/strict";
import { test } from "node:test";

import { scopesOf } from "../../vault_index/serve/page/site/scopes.js";
import library from "../../vault_index/serve/page/site/vendor/highlight.js";

const textOf = (part) => (typeof part === "string" ? part : part[1].map(textOf).join(""));

test("code is split into scopes that keep every character", () => {
  const text = 'def nests(n):\n    return f"<b>{n}"  # <img onerror=x>\n';
  const parts = scopesOf(library, text, "python");
  assert.equal(parts.map(textOf).join(""), text);
  assert.deepEqual(parts[0], ["code-keyword", ["def"]]);
});

test("a language inside another one keeps its text", () => {
  const text = "<style>a { color: red }</style><script>let a = 1;</script>";
  assert.equal(scopesOf(library, text, "html").map(textOf).join(""), text);
});

test("an unknown language is left alone", () => assert.equal(scopesOf(library, "a", "none"), null));
