// The list of keys, with the switch for those that are single letters.

import { html } from "../../vendor/ui.js";
import { helpOpen, KEYS, lettersOn, setLetters } from "../keys.js";
import { Modal } from "./modal.js";

const close = () => (helpOpen.value = false);

export function Help() {
  if (!helpOpen.value) return null;
  return html`
    <${Modal} id="help" title="Keys" close=${close}>
      <table>
        <tbody>
          ${KEYS.map(([key, does]) => html`<tr key=${key}><th scope="row"><kbd>${key}</kbd></th><td>${does}</td></tr>`)}
        </tbody>
      </table>
      <p>
        <label class="check">
          <input type="checkbox" checked=${lettersOn.value} onChange=${(event) => setLetters(event.target.checked)} />
          Single letters and digits act as keys
        </label>
      </p>
      <p class="row"><button type="button" autofocus onClick=${close}>Close</button></p>
    <//>
  `;
}
