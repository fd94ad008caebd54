import assert from "node:assert/strict";
import { test } from "node:test";

import { layoutOf } from "../../vault_index/serve/page/site/layout.js";

const distance = ([a, b], [c, d]) => Math.hypot(a - c, b - d);

for (const count of [1, 2, 12, 50]) {
  test(`a layout of ${count} nodes keeps them apart, inside, and the first in the middle`, () => {
    const links = Array.from({ length: count - 1 }, (_, at) => [at + 1, at % 7 === 0 ? 0 : at]);
    const places = layoutOf(count, links, 800, 500);
    assert.deepEqual(places, layoutOf(count, links, 800, 500));
    assert.deepEqual(places[0], [400, 250]);
    places.forEach(([x, y], at) => {
      assert.ok(x >= 0 && x <= 800 && y >= 0 && y <= 500);
      places.slice(0, at).forEach((other) => assert.ok(distance([x, y], other) > 15, `${x} ${y} ${other}`));
    });
  });
}

test("linked nodes are nearer than others", () => {
  const [one, linked, other] = layoutOf(3, [[0, 1]], 800, 500);
  assert.ok(distance(one, linked) < distance(one, other));
});
