// The device from the side: height over x, the wall as a hatched floor, the cursor, and the force as an arrow.

import { html } from "../../vendor/ui.js";
import { newtons } from "../format.js";

const UNITS_PER_NEWTON = 8;
const LEAST_N = 0.02;

/** `reach`: {low, high} in m; `state` of the device or null; `height` of the wall in m or null. */
export function Side({ reach, state, height }) {
  const low = reach?.low ?? [-0.15, 0, 0];
  const high = reach?.high ?? [0.15, 0, 0.3];
  const across = (x) => 100 * ((x - low[0]) / (high[0] - low[0]));
  const down = (z) => 100 * ((high[2] - z) / (high[2] - low[2]));
  const at = state?.cursor_position;
  const force = state?.current_cursor_force;
  const size = force ? Math.hypot(force.x, force.y, force.z) : 0;
  const label = `Side view: force ${newtons(size)} N, ${height === null ? "no wall" : at && at.z < height ? "in the wall" : "above the wall"}.`;
  return html`
    <svg class="side" viewBox="0 0 100 100" role="img" aria-label=${label}>
      <rect class="side-box" x="0.5" y="0.5" width="99" height="99" />
      ${height === null ? "" : html`<rect class="side-wall" x="1" y=${down(height)} width="98" height=${Math.max(0, 99 - down(height))} />
        <line class="side-surface" x1="1" x2="99" y1=${down(height)} y2=${down(height)} />`}
      ${at && size > LEAST_N ? html`<${Arrow} x=${across(at.x)} y=${down(at.z)} dx=${UNITS_PER_NEWTON * force.x} dy=${-UNITS_PER_NEWTON * force.z} />` : ""}
      ${at ? html`<circle class="side-cursor" cx=${across(at.x)} cy=${down(at.z)} r="2.5" />` : ""}
    </svg>
  `;
}

function Arrow({ x, y, dx, dy }) {
  const long = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / long, dy / long];
  const [ex, ey] = [x + dx + 4 * ux, y + dy + 4 * uy];
  const head = [
    [ex, ey],
    [ex - 5 * ux - 3 * uy, ey - 5 * uy + 3 * ux],
    [ex - 5 * ux + 3 * uy, ey - 5 * uy - 3 * ux],
  ];
  return html`<g class="side-force" id="force-arrow">
    <line x1=${x} y1=${y} x2=${ex - 4 * ux} y2=${ey - 4 * uy} />
    <polygon points=${head.map((point) => point.map((value) => value.toFixed(2)).join(",")).join(" ")} />
  </g>`;
}
