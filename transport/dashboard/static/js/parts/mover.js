// Choice of the device that a view is about.

import { html } from "../../vendor/ui.js";
import { titleOf } from "../device_state.js";
import { chosenMover, goneChoice, movers, selected } from "../state.js";

export function MoverChoice() {
  const found = movers();
  const away = goneChoice();
  if (found.length < 2 && !away) return null;
  return html`
    <label>
      Device
      <select id="mover" value=${away?.id ?? chosenMover()?.id} onChange=${(event) => (selected.value = event.target.value)}>
        ${away ? html`<option key=${away.id} value=${away.id}>${titleOf(away)}, unplugged</option>` : ""}
        ${found.map((one) => html`<option key=${one.id} value=${one.id}>${titleOf(one)}</option>`)}
      </select>
    </label>
  `;
}
