// The bar that is always there: service, loop, ports, connection, STOP.

import { html } from "../../vendor/ui.js";
import { fixed, whole } from "../format.js";
import { helpOpen } from "../keys.js";
import { blockedPorts, connection, loop, service, stopped, stopRequest } from "../state.js";
import { releaseAll, stopAll } from "../stop.js";
import { nextTheme, theme } from "../theme.js";
import { Chip } from "./chip.js";
import { question } from "./question.js";

const CONNECTIONS = {
  starting: ["wait", "connecting"],
  open: ["good", "connected"],
  lost: ["bad", "connection lost"],
  paused: ["wait", "paused"],
  token: ["bad", "token needed"],
};

export function Bar() {
  const [tone, words] = CONNECTIONS[connection.value];
  return html`
    <header class="bar">
      <div class="bar-facts">
        <p class="brand">
          <strong>hapticd</strong>
          <span class="dim"> ${service.value.version?.project_version ?? ""}</span>
        </p>
        <p><${Chip} tone=${tone} id="connection">${words}<//></p>
        <${LoopFacts} />
        <${PortFacts} />
        <p class="bar-tools">
          <button type="button" onClick=${nextTheme}>Theme: ${theme.value}</button>
          <button type="button" aria-haspopup="dialog" onClick=${() => (helpOpen.value = true)}>
            Keys <kbd>?</kbd>
          </button>
        </p>
      </div>
      <${Stop} />
    </header>
  `;
}

function LoopFacts() {
  const now = loop.value;
  if (now === null) return html`<p class="dim">loop: no numbers yet</p>`;
  const slow = now.hz < 0.9 * now.target;
  return html`
    <p class=${connection.value === "open" ? "" : "stale"}>
      <span class="label">Loop</span>
      <span class="number">${fixed(now.hz, 0)}</span> of ${whole(now.target)} Hz
      ${slow ? html` <${Chip} tone="bad">slow<//>` : ""}
    </p>
    <p class=${connection.value === "open" ? "" : "stale"}>
      <span class="label">Missed ticks</span> <span class="number">${whole(now.missed)}</span>
    </p>
  `;
}

function PortFacts() {
  const blocked = blockedPorts.value.length;
  return html`
    <p>
      <span class="label">Ports</span>
      ${blocked === 0 ? " none blocked" : html` <${Chip} tone="bad">${blocked} blocked<//>`}
    </p>
  `;
}

function Stop() {
  const latch = stopped.value;
  const request = stopRequest.value;
  return html`
    <section class=${`stop ${latch?.stopped ? "is-stopped" : ""}`} aria-label="Stop">
      <button type="button" class="stop-button" id="stop" onClick=${stopAll}>
        <span aria-hidden="true">■</span> STOP
      </button>
      <div class="stop-words">
        <p class="stop-state" id="stop-state">${latchWords(latch)}</p>
        <p class=${`stop-request is-${request?.state ?? "none"}`} id="stop-request" aria-live="polite">
          ${request?.text ?? "Esc stops, too."}
        </p>
        <p class="dim">Software stop, not an emergency stop device.</p>
      </div>
      ${latch?.stopped
        ? html`<button type="button" id="release" aria-haspopup="dialog" onClick=${askRelease}>RELEASE…</button>`
        : ""}
    </section>
  `;
}

function latchWords(latch) {
  if (latch === null) return "Stop state unknown";
  if (latch.everything) return "■ Everything is stopped";
  if (latch.stopped) return `■ Stopped: ${latch.devices.join(", ")}`;
  return "Not stopped";
}

async function askRelease() {
  const yes = await question({
    title: "Release the stop?",
    text: "Devices may move with force at once, if a program commands them. Keep hands and faces clear.",
    yes: "RELEASE",
    no: "Keep stopped",
  });
  if (yes) releaseAll();
}
