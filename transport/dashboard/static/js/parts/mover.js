// Choice of the device that a view is about.

import { html } from "../../vendor/ui.js";
import { titleOf } from "../device_state.js";
import { chosenMover, movers, selected } from "../state.js";

export function MoverChoice() {
  const found = movers();
  if (found.length < 2) return null;
  return html`
    <label>
      Device
      <select id="mover" value=${chosenMover()?.id} onChange=${(event) => (selected.value = event.target.value)}>
        ${found.map((one) => html`<option key=${one.id} value=${one.id}>${titleOf(one)}</option>`)}
      </select>
    </label>
  `;
}
