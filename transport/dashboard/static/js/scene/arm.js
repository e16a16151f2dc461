// Two links from the shoulder to the cursor, the elbow above them; a drawing, not the device's own kinematics.

const THICK = 0.006;

/** {group, use(kind), reach(cursor), paint(colour)}; a kind without links shows nothing. */
export function makeArm(three) {
  const group = new three.Group();
  const material = new three.MeshLambertMaterial();
  const rod = () => new three.Mesh(new three.CylinderGeometry(THICK, THICK, 1, 12), material);
  const joint = () => new three.Mesh(new three.SphereGeometry(1.8 * THICK, 16, 12), material);
  const upper = rod();
  const fore = rod();
  const foot = rod();
  const elbow = joint();
  const shoulderBall = joint();
  group.add(upper, fore, foot, elbow, shoulderBall);
  const shoulder = new three.Vector3();
  const up = new three.Vector3(0, 1, 0);
  let links = null;

  function between(mesh, from, to) {
    const way = to.clone().sub(from);
    const long = Math.max(1e-4, way.length());
    mesh.position.copy(from).addScaledVector(way, 0.5);
    mesh.scale.set(1, long, 1);
    mesh.quaternion.setFromUnitVectors(up, way.divideScalar(long));
  }

  return {
    group,
    use(kind) {
      links = kind.links;
      for (const part of group.children) part.visible = Boolean(links);
      if (!links) return;
      shoulder.set(...kind.shoulder);
      shoulderBall.position.copy(shoulder);
      between(foot, new three.Vector3(shoulder.x, shoulder.y, kind.low[2]), shoulder);
    },
    reach(cursor) {
      if (!links) return;
      const way = cursor.clone().sub(shoulder);
      const far = Math.min(way.length(), links[0] + links[1] - 1e-6);
      const along = (links[0] ** 2 - links[1] ** 2 + far ** 2) / (2 * far);
      const high = Math.sqrt(Math.max(0, links[0] ** 2 - along ** 2));
      const forward = way.clone().normalize();
      const lift = new three.Vector3(0, 0, 1).addScaledVector(forward, -forward.z).normalize();
      elbow.position.copy(shoulder).addScaledVector(forward, along).addScaledVector(lift, high);
      between(upper, shoulder, elbow.position);
      between(fore, elbow.position, cursor);
    },
    paint(text) {
      material.color.set(text);
    },
  };
}
