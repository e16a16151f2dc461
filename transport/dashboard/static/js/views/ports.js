// Ports: which are blocked, why, and Reset.

import { html, useMemo } from "../../vendor/ui.js";
import { clock, natural } from "../format.js";
import { resetPort } from "../ports.js";
import { ports } from "../state.js";
import { Chip } from "../parts/chip.js";
import { Outcome, outcomes } from "../parts/done.js";

// An active port may be without a device, as after a device was unplugged.
const words = ({ state, device_id }) => (state === "active" && !device_id ? "no device" : state);
const tone = ({ state, device_id }) => (state !== "active" ? "bad" : device_id ? "good" : "off");
const cell = (name, text) => html`<td data-name=${name} class=${text ? "" : "nothing"}>${text || "–"}</td>`;

export function PortsView() {
  const outcome = useMemo(outcomes, []);
  const reset = async (port) => {
    await outcome.run(resetPort(port), `Port ${port} is reset.`);
  };
  if (ports.value.length === 0) return html`<p>No port is known.</p>`;
  return html`
    <div class="scroll" role="region" aria-label="Ports" tabindex="0">
      <table class="as-cards">
        <thead>
          <tr>${["Port", "State", "Device", "Reason", "Since", "Connections in a row", ""].map((name) => html`<th scope="col" key=${name}>${name || html`<span class="hidden">Reset</span>`}</th>`)}</tr>
        </thead>
        <tbody>
          ${[...ports.value].sort((a, b) => natural(a.port, b.port)).map(
            (port) => html`<tr key=${port.port} data-port=${port.port}>
              <th scope="row">${port.port}</th>
              <td data-name="State"><${Chip} tone=${tone(port)}>${words(port)}<//></td>
              ${cell("Device", port.device_id)}
              ${cell("Reason", port.reason?.replaceAll("_", " "))}
              ${cell("Since", port.blocked_since && clock(port.blocked_since))}
              <td data-name="Connections in a row">${port.loops}</td>
              <td>${port.state === "active" ? "" : html`<button type="button" aria-label=${`Reset port ${port.port}`} onClick=${() => reset(port.port)}>Reset</button>`}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <${Outcome} of=${outcome} id="port-outcome" />
    <p class="dim">A port that connects and drops again and again is blocked. Check the cable and the supply, then reset it.</p>
  `;
}
