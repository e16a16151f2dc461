// The force as a solid arrow that is drawn over everything else: a push along a link would be hidden in it.

const HEAD = 0.02;
const THICK = 0.004;

/** {group, point(from, vector, long), paint(colour)}; `long` in m, at least the length of the head. */
export function makeArrow(three) {
  const group = new three.Group();
  const material = new three.MeshBasicMaterial({ depthTest: false, transparent: true });
  const shaft = new three.Mesh(new three.CylinderGeometry(THICK, THICK, 1, 12), material);
  const head = new three.Mesh(new three.CylinderGeometry(0, 2.2 * THICK, HEAD, 16), material);
  group.add(shaft, head);
  for (const part of group.children) part.renderOrder = 1;
  const up = new three.Vector3(0, 1, 0);

  return {
    group,
    point(from, { x, y, z }, long) {
      group.position.copy(from);
      group.quaternion.setFromUnitVectors(up, new three.Vector3(x, y, z).normalize());
      const bare = Math.max(1e-4, long - HEAD);
      shaft.scale.set(1, bare, 1);
      shaft.position.set(0, bare / 2, 0);
      head.position.set(0, bare + HEAD / 2, 0);
    },
    paint(text) {
      material.color.set(text);
    },
  };
}
