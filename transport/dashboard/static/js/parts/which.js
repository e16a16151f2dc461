// Which device is it? A name for it, and a sign that it gives.

import { html, useMemo, useState } from "../../vendor/ui.js";
import { hasMotors } from "../device_state.js";
import { refresh } from "../feed.js";
import { ask, deviceRoute } from "../net/http.js";
import { Outcome, outcomes } from "./done.js";

const LONGEST = 32;
/** Three vibrations take about a second. */
const SIGN_MS = 5000;

export function Which({ device }) {
  const outcome = useMemo(outcomes, []);
  const [typed, type] = useState(null);
  const now = device.config?.name ?? "";
  const text = typed ?? now;
  const name = async (wanted) => {
    const route = deviceRoute(device, "config/name");
    const reply = await outcome.run(
      wanted ? ask("POST", route, { name: wanted }) : ask("DELETE", route),
      wanted ? `Every page and command calls it ${wanted} now.` : "It has no name now.",
    );
    if (!reply.ok) return;
    type(null);
    refresh();
  };
  const save = (event) => {
    event.preventDefault();
    name(text.trim());
  };
  const identify = () =>
    outcome.run(ask("POST", deviceRoute(device, "identify"), undefined, { withinMs: SIGN_MS }), "It has vibrated three times.");
  return html`
    <section class="panel" aria-label="Which device is it?">
      <h2>Which device is it?</h2>
      <form class="row" onSubmit=${save}>
        <label>Name <input id="device-name" type="text" maxlength=${LONGEST} autocomplete="off" placeholder="such as left arm" value=${text} onInput=${(event) => type(event.target.value)} /></label>
        <button type="submit" disabled=${text.trim() === now}>Save</button>
        ${now ? html`<button type="button" onClick=${() => name("")}>Remove the name</button>` : ""}
      </form>
      ${hasMotors(device)
        ? html`<p class="row"><button type="button" id="identify" onClick=${identify}>Identify</button> <span class="dim">It vibrates three times.</span></p>`
        : html`<p class="dim">Press one of its buttons: it lights up here and in every list.</p>`}
      <${Outcome} of=${outcome} id="which-told" />
    </section>
  `;
}
