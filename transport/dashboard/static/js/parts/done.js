// What became of the last press on a view, in words beside it.

import { html, signal } from "../../vendor/ui.js";

/** A place for the outcome of presses: `run(promise of ask(), "what was done")` shows it and returns the reply. */
export function outcomes() {
  const told = signal(null);
  return {
    told,
    async run(asking, done) {
      told.value = { tone: "wait", text: "Sent\u2026" };
      const reply = await asking;
      told.value = reply.ok ? { tone: "good", text: done } : { tone: "bad", text: reply.error };
      return reply;
    },
  };
}

export function Outcome({ of, id }) {
  const now = of.told.value;
  return html`<p class=${`outcome is-${now?.tone ?? "off"}`} id=${id} role="status">${now?.text ?? ""}</p>`;
}
