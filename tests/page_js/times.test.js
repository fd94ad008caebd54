import assert from "node:assert/strict";
import { test } from "node:test";

import { isDay } from "../../vault_index/serve/page/site/times.js";

test("a time at midnight is only a day", () => {
  assert.equal(isDay("2026-11-21T00:00:00+01:00"), true);
  assert.equal(isDay("2026-11-21T00:00:01+01:00"), false);
});
