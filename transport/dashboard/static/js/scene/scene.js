// The chosen device in its own frame: reach, arm, cursor, force, bubble. Drawn at most as often as frames come.

import { drawing } from "../drawing.js";
import { service } from "../state.js";
import { colour } from "../theme.js";
import { makeArm } from "./arm.js";
import { makeArrow } from "./arrow.js";
import { makeBubble } from "./bubble.js";
import { makeGrid } from "./grid.js";
import { makeLabels } from "./labels.js";
import { Orbit } from "./orbit.js";

const METRES_PER_NEWTON = 0.02;
const LEAST_NEWTONS = 0.02;
/** Length of the arrow of a force near zero, m: its head. */
const SHORTEST = 0.02;
const DRAW_MS = matchMedia("(prefers-reduced-motion: reduce)").matches ? 500 : 30;
const NO_REACH = { low: [-0.15, -0.15, 0], high: [0.15, 0.15, 0.3], shoulder: null, links: null };

/**
 * Draw on `canvas`, with words in the element `words` over it, what `now()` says until `end()`; throws without WebGL 2.
 * `now()`: {device, bubble}, each may be null.
 */
export function makeScene(three, canvas, words, now) {
  const renderer = new three.WebGLRenderer({ canvas, antialias: true, powerPreference: "low-power" });
  const scene = new three.Scene();
  const camera = new three.PerspectiveCamera(40, 1, 0.01, 10);
  camera.up.set(0, 0, 1);
  scene.add(new three.AmbientLight(0xffffff, 1.6));
  const sun = new three.DirectionalLight(0xffffff, 2.2);
  sun.position.set(0.6, -1, 1.4);
  scene.add(sun);
  const orbit = new Orbit(three, camera, canvas);
  const cursor = new three.Mesh(new three.SphereGeometry(0.011, 24, 16), new three.MeshLambertMaterial());
  const force = makeArrow(three);
  const arm = makeArm(three);
  const bubble = makeBubble(three);
  const reach = new three.Group();
  const labels = makeLabels(words);
  scene.add(cursor, force.group, arm.group, bubble.group, reach);
  let kind = null;

  function paint() {
    renderer.setClearColor(colour("--canvas"), 1);
    cursor.material.color.set(colour("--cursor"));
    force.paint(colour("--force"));
    arm.paint(colour("--arm"));
    bubble.paint(colour("--bubble"));
    kind = null;
  }

  function setKind(device) {
    if (device?.kind === kind) return;
    kind = device?.kind ?? null;
    const found = service.value.kinds[kind] ?? NO_REACH;
    dispose(reach);
    reach.clear();
    const grid = makeGrid(three, found, { box: colour("--box"), grid: colour("--grid"), axes: ["--x", "--y", "--z"].map(colour) });
    reach.add(...grid.lines);
    labels.use(grid.labels);
    arm.use(found);
    orbit.around(grid.centre, Math.hypot(...grid.size));
  }

  function draw() {
    const { device, bubble: around } = now();
    fit();
    setKind(device);
    const at = device?.state?.cursor_position;
    cursor.visible = force.group.visible = arm.group.visible = Boolean(at);
    if (at) {
      cursor.position.set(at.x, at.y, at.z);
      arm.reach(cursor.position);
      point(device.state.current_cursor_force);
    }
    bubble.show(around);
    renderer.render(scene, camera);
    labels.place(camera, canvas.clientWidth, canvas.clientHeight);
    // Read by tests, and by whoever wants to know what is drawn.
    canvas.dataset.cursor = at ? [at.x, at.y, at.z].join(" ") : "";
    canvas.dataset.force = String(force.group.visible);
  }

  function point(vector) {
    const size = Math.hypot(vector.x, vector.y, vector.z);
    force.group.visible = size > LEAST_NEWTONS;
    if (force.group.visible) force.point(cursor.position, vector, SHORTEST + METRES_PER_NEWTON * size);
  }

  function fit() {
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = Math.min(devicePixelRatio, 2);
    if (canvas.width === Math.floor(width * ratio) && canvas.height === Math.floor(height * ratio)) return;
    renderer.setPixelRatio(ratio);
    renderer.setSize(width, height, false);
    camera.aspect = width / Math.max(1, height);
    camera.updateProjectionMatrix();
  }

  paint();
  const end = drawing(draw, DRAW_MS);
  return {
    repaint: paint,
    look: (name) => orbit.look(name),
    end() {
      end();
      orbit.end();
      dispose(scene);
      renderer.dispose();
      renderer.forceContextLoss();
    },
  };
}

function dispose(group) {
  group.traverse((one) => {
    one.geometry?.dispose();
    one.material?.dispose();
  });
}
