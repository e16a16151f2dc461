// Everything that is wrong now, with its cause and what mends it.

import { html, signal } from "../../vendor/ui.js";
import { downloadBundle } from "../bundle.js";
import { resetPort } from "../ports.js";
import { problems } from "../problems.js";
import { gone } from "../state.js";
import { viewTitle } from "../views.js";
import { Chip } from "../parts/chip.js";
import { Outcome, outcomes } from "../parts/done.js";

const outcome = outcomes();
const making = signal(false);

export function ProblemsView() {
  const found = problems.value;
  return html`
    ${found.length === 0 ? html`<p id="no-problem"><${Chip} tone="good">nothing is wrong<//></p>` : html`<${Found} found=${found} />`}
    <p><a href="runbook.html">Runbook</a>: what each alert means, and what mends it.</p>
    <h2>Support bundle</h2>
    <p>
      One file for whoever helps: log, settings, findings of the doctor, versions, devices, events and metrics. Tokens and passwords are taken
      out; it names devices and addresses.
    </p>
    <p class="row"><button type="button" id="bundle" disabled=${making.value} onClick=${download}>Download support bundle</button></p>
    <${Outcome} of=${outcome} id="bundle-outcome" />
  `;
}

async function download() {
  making.value = true;
  await outcome.run(downloadBundle(), "The bundle is saved with the downloads of this browser.");
  making.value = false;
}

function Found({ found }) {
  return html`
    <ul class="cards problems">
      ${found.map(
        (one) => html`<li key=${one.key} class="card" data-problem=${one.key}>
          <h2><${Chip} tone=${one.tone}>${one.what}<//></h2>
          <p>${one.mend}</p>
          <p class="row">
            ${one.reset ? html`<button type="button" aria-label=${`Reset port ${one.reset}`} onClick=${() => outcome.run(resetPort(one.reset), `Port ${one.reset} is reset.`)}>Reset</button>` : ""}
            ${one.view ? html`<a href=${`#${one.view}`}>${viewTitle(one.view)}</a>` : ""}
            ${one.forget ? html`<button type="button" onClick=${() => (gone.value = gone.value.filter(({ id }) => id !== one.forget))}>It was meant to go</button>` : ""}
          </p>
        </li>`,
      )}
    </ul>
  `;
}
