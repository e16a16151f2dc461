// What a device is called: the name that people gave it, else its kind, and always its id.

import { html } from "../../vendor/ui.js";

export function Title({ device }) {
  const { id, kind, config } = device;
  return config?.name
    ? html`${config.name} <small class="dim">${kind} <span class="number">${id}</span></small>`
    : html`${kind} <span class="number">${id}</span>`;
}
