// A state as a shape and a word: colour only repeats what they say.

import { html } from "../../vendor/ui.js";

const SHAPES = { good: "●", wait: "◐", warn: "▲", bad: "■", off: "○" };

/** `tone` is good, wait, warn, bad or off. */
export function Chip({ tone, id, children }) {
  return html`<span class=${`chip is-${tone}`} id=${id}><span aria-hidden="true">${SHAPES[tone]}</span> ${children}</span>`;
}
