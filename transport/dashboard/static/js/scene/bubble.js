// The bubble of a session: its shape as a wire frame, and the velocity zone around it.

export function makeBubble(three) {
  const group = new three.Group();
  const inner = new three.LineBasicMaterial({ transparent: true, opacity: 0.55 });
  const outer = new three.LineBasicMaterial({ transparent: true, opacity: 0.18 });
  let drawn = "";

  function rebuild(bubble) {
    const size = extent(bubble.shape);
    for (const [material, more] of [[inner, 0], [outer, bubble.zoneWidth]]) {
      const round = !bubble.shape.primitive.endsWith("box");
      const solid = round
        ? new three.SphereGeometry(1, 20, 14).scale(...size.map((half) => half + more))
        : new three.BoxGeometry(...size.map((half) => 2 * (half + more)));
      group.add(new three.LineSegments(new three.WireframeGeometry(solid), material));
      solid.dispose();
    }
  }

  return {
    group,
    show(bubble) {
      group.visible = bubble !== null;
      if (bubble === null) return;
      const wanted = JSON.stringify([bubble.shape, bubble.zoneWidth]);
      if (wanted !== drawn) {
        for (const part of group.children) part.geometry.dispose();
        group.clear();
        rebuild(bubble);
        drawn = wanted;
      }
      group.position.set(bubble.center.x, bubble.center.y, bubble.center.z);
    },
    paint(text) {
      inner.color.set(text);
      outer.color.set(text);
    },
  };
}

/** Half sizes on each axis, m: exact for spheres, boxes and ellipsoids, the bounding size for every other shape. */
function extent({ primitive, parameters }) {
  const vector = parameters.b ?? parameters.a;
  if (primitive === "sphere") return [parameters.r, parameters.r, parameters.r];
  if (vector && typeof vector === "object" && "x" in vector && !primitive.startsWith("cap")) return [vector.x, vector.y, vector.z];
  const widest = Math.max(0.02, ...Object.values(parameters).map((value) => (typeof value === "number" ? value : 0)));
  return [widest, widest, widest];
}
