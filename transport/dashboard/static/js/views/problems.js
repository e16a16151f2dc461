// Everything that is wrong now, with its cause and what mends it.

import { html } from "../../vendor/ui.js";
import { problems } from "../problems.js";
import { gone } from "../state.js";
import { viewTitle } from "../views.js";
import { Chip } from "../parts/chip.js";

export function ProblemsView() {
  const found = problems.value;
  if (found.length === 0) return html`<p id="no-problem"><${Chip} tone="good">nothing<//> is wrong.</p>`;
  return html`
    <ul class="cards problems">
      ${found.map(
        (one) => html`<li key=${one.key} class="card" data-problem=${one.key}>
          <h2><${Chip} tone=${one.tone}>${one.what}<//></h2>
          <p>${one.mend}</p>
          <p class="row">
            ${one.view ? html`<a href=${`#${one.view}`}>${viewTitle(one.view)}</a>` : ""}
            ${one.forget ? html`<button type="button" onClick=${() => (gone.value = gone.value.filter(({ id }) => id !== one.forget))}>It was meant to go</button>` : ""}
          </p>
        </li>`,
      )}
    </ul>
  `;
}
