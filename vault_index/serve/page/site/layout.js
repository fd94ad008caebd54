/** Places for the nodes of a small graph, by forces: always the same for the same graph. */

const ROUNDS = 300;

/**
 * `[[x, y]]` of `count` nodes within `width` and `height`; the first is in the middle. Links pull, all nodes push each
 * other away.
 */
export function layoutOf(count, links, width, height) {
  const middle = [width / 2, height / 2];
  // On a spiral: no two begin at one place, and none in line.
  const places = Array.from({ length: count }, (_, at) => {
    const far = 0.4 * Math.sqrt(at / Math.max(1, count - 1));
    return [middle[0] + far * width * Math.cos(2.4 * at), middle[1] + far * height * Math.sin(2.4 * at)];
  });
  const ideal = 0.6 * Math.sqrt((width * height) / Math.max(1, count));
  for (let round = 0; round < ROUNDS; round++) {
    const moves = places.map(([x, y]) => [(middle[0] - x) * 0.06, (middle[1] - y) * 0.09]);
    const act = (one, other, strength) => {
      const [dx, dy] = [places[one][0] - places[other][0], places[one][1] - places[other][1]];
      const apart = Math.max(1, Math.hypot(dx, dy));
      const force = strength(apart) / apart;
      moves[one][0] += dx * force;
      moves[one][1] += dy * force;
      moves[other][0] -= dx * force;
      moves[other][1] -= dy * force;
    };
    for (let one = 0; one < count; one++) {
      for (let other = 0; other < one; other++) act(one, other, (apart) => (ideal * ideal) / apart / 4);
    }
    for (const [one, other] of links) act(one, other, (apart) => -(apart * apart) / ideal / 4);
    const most = ideal * (1 - round / ROUNDS) * 0.5;
    places.forEach((place, at) => {
      if (at === 0) return;
      const length = Math.max(1e-9, Math.hypot(...moves[at]));
      const step = Math.min(most, length) / length;
      place[0] = Math.min(width, Math.max(0, place[0] + moves[at][0] * step));
      place[1] = Math.min(height, Math.max(0, place[1] + moves[at][1] * step));
    });
  }
  return places;
}
