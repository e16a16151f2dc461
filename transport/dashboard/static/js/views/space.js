// The 3D view and, beside it, the same numbers as a table.

import { html } from "../../vendor/ui.js";
import { titleOf } from "../device_state.js";
import { age, fixed, length, millimetres, newtons } from "../format.js";
import { bubbleOf, Navigation } from "../navigation.js";
import { ageOf, chosenMover, live, STALE_MS } from "../state.js";
import { MoverChoice } from "../parts/mover.js";
import { Space } from "../parts/space.js";

export function SpaceView() {
  live.value;
  const device = chosenMover();
  return html`
    <div class="split">
      <div>
        <${Space}>
          <${MoverChoice} />
          <${Navigation} device=${device} />
        <//>
      </div>
      ${device ? html`<${Numbers} device=${device} turn=${live.value} />` : html`<p>No device with a cursor is connected.</p>`}
    </div>
  `;
}

function Numbers({ device }) {
  const { state } = device;
  const bubble = bubbleOf(device);
  const rows = [
    ["Cursor", "mm", state.cursor_position, millimetres],
    ["Velocity", "mm/s", state.cursor_velocity, (value) => fixed(1000 * value, 0)],
    ["Force", "N", state.current_cursor_force, newtons],
  ];
  const old = ageOf(device);
  return html`
    <div class=${old > STALE_MS ? "stale" : ""}>
      <div class="scroll" role="region" aria-label="Numbers of the 3D view" tabindex="0">
      <table id="space-numbers">
        <caption>${titleOf(device)}: ${age(old)}</caption>
        <thead>
          <tr><th scope="col">Value</th><th scope="col">x</th><th scope="col">y</th><th scope="col">z</th><th scope="col">length</th><th scope="col">unit</th></tr>
        </thead>
        <tbody>
          ${rows.map(
            ([name, unit, vector, text]) => html`<tr key=${name} data-row=${name.toLowerCase()}>
              <th scope="row">${name}</th>
              <td>${text(vector.x)}</td><td>${text(vector.y)}</td><td>${text(vector.z)}</td><td>${text(length(vector))}</td>
              <td class="unit">${unit}</td>
            </tr>`,
          )}
        </tbody>
      </table>
      </div>
      <p>Joints: <span class="number">${Object.values(state.angular_position).map((angle) => fixed(angle, 1)).join("°, ")}°</span></p>
      ${bubble
        ? html`<p>Bubble of session ${bubble.session}: zone <strong>${bubble.zone}</strong>, centre
            ${" "}${["x", "y", "z"].map((axis) => millimetres(bubble.center[axis])).join(", ")} mm, ${bubble.shape.primitive}</p>`
        : ""}
    </div>
  `;
}
