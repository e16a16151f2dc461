// Floor of the reach with lines every 50 mm from a corner, the box above it, and the names of its axes.

const PITCH_M = 0.05;

/** {lines: [LineSegments of the box, LineSegments of the floor], labels: [[text, point, class], ...]} of a reach {low, high}, m. */
export function makeGrid(three, { low, high }, colours) {
  const size = high.map((most, axis) => most - low[axis]);
  const centre = high.map((most, axis) => (most + low[axis]) / 2);
  const box = new three.LineSegments(
    new three.EdgesGeometry(new three.BoxGeometry(...size)),
    new three.LineBasicMaterial({ color: colours.box }),
  );
  box.position.set(...centre);
  const points = [];
  for (let x = low[0]; x < high[0]; x += PITCH_M) points.push(x, low[1], low[2], x, high[1], low[2]);
  for (let y = low[1]; y < high[1]; y += PITCH_M) points.push(low[0], y, low[2], high[0], y, low[2]);
  const geometry = new three.BufferGeometry();
  geometry.setAttribute("position", new three.Float32BufferAttribute(points, 3));
  const floor = new three.LineSegments(geometry, new three.LineBasicMaterial({ color: colours.grid }));
  const labels = [
    ["x", [high[0], low[1], low[2]], "axis-x"],
    ["y", [low[0], high[1], low[2]], "axis-y"],
    ["z", [low[0], low[1], high[2]], "axis-z"],
    [`grid ${1000 * PITCH_M} mm`, [centre[0], low[1], low[2]], "axis-scale"],
  ].map(([text, at, kind]) => [text, new three.Vector3(...at), kind]);
  return { lines: [box, floor, ...axes(three, low, high, colours)], labels, centre, size };
}

// The three edges that the axes' names stand at, in their colours.
function axes(three, low, high, colours) {
  return [0, 1, 2].map((axis) => {
    const end = low.map((value, at) => (at === axis ? high[at] : value));
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", new three.Float32BufferAttribute([...low, ...end], 3));
    return new three.LineSegments(geometry, new three.LineBasicMaterial({ color: colours.axes[axis] }));
  });
}
