import assert from "node:assert/strict";
import { test } from "node:test";

import { turnedTask } from "../../vault_index/serve/page/site/tasks.js";

const TEXT = "---\na: 1\n---\n- [ ] due\r\n  1. [x] done ^id\n> - [/] half\n- none\n";

for (const [line, expected] of [
  [4, TEXT.replace("[ ] due", "[x] due")],
  [5, TEXT.replace("[x] done", "[ ] done")],
  [6, TEXT.replace("[/]", "[ ]")],
  [7, null],
  [99, null],
]) {
  test(`task on line ${line}`, () => assert.equal(turnedTask(TEXT, line), expected));
}
