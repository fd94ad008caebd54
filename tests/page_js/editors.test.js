import assert from "node:assert/strict";
import { test } from "node:test";

import { editorLink } from "../../vault_index/serve/page/site/editors.js";

for (const [editor, expected] of [
  ["vscode", "vscode://file/v/a%20%24%26.md:7"],
  ["Zed", "zed://file/v/a%20%24%26.md:7"],
  ["idea", "idea://open?file=/v/a%20%24%26.md&line=7"],
  ["my-editor://{line}?{path}", "my-editor://7?/v/a%20%24%26.md"],
  ["javascript:alert({line})", ""],
  ["constructor", ""],
  ["", ""],
]) {
  test(`editor ${editor}`, () => assert.equal(editorLink(editor, "/v/a $&.md", 7), expected));
}
