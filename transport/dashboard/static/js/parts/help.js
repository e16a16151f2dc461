// The list of keys, with the switch for those that are single letters.

import { html, useEffect, useRef } from "../../vendor/ui.js";
import { helpOpen, KEYS, lettersOn, setLetters } from "../keys.js";

export function Help() {
  const dialog = useRef(null);
  const open = helpOpen.value;
  useEffect(() => {
    if (open && dialog.current && !dialog.current.open) dialog.current.showModal();
  }, [open]);
  if (!open) return null;
  return html`
    <dialog ref=${dialog} id="help" aria-labelledby="help-title" onClose=${() => (helpOpen.value = false)}>
      <h2 id="help-title">Keys</h2>
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
      <p class="row"><button type="button" onClick=${() => (helpOpen.value = false)}>Close</button></p>
    </dialog>
  `;
}
