// What interrupts: a lost connection, a stop, one that was not delivered, a blocked port. An e-brake is told in its place too, without
// an alarm.

import { html, signal } from "../../vendor/ui.js";
import { titleOf } from "../device_state.js";
import { refresh } from "../feed.js";
import { ask } from "../net/http.js";
import { resetPort } from "../ports.js";
import { blockedPorts, brakes, connection, devices, stopped, stopRequest } from "../state.js";

/** What the last press of Resume was answered, if it was refused. */
const refused = signal("");

/** What the last press of Reset was answered, if it was refused. */
const refusedReset = signal("");

async function reset(port) {
  const reply = await resetPort(port);
  refusedReset.value = reply.ok ? "" : `Port ${port} is not reset: ${reply.error}`;
}

export function Alerts() {
  const lost = connection.value === "lost";
  const failed = stopRequest.value?.state === "failed";
  const latch = stopped.value;
  return html`
    <div class="alerts">
      ${failed ? html`<p key="failed" class="alert is-bad" role="alert">${stopRequest.value.text}</p>` : ""}
      ${lost
        ? html`<p key="lost" class="alert is-bad" role="alert" id="lost">
            <strong>Connection lost.</strong> Values are old and STOP may not reach the service. Trying again by itself.
          </p>`
        : ""}
      ${latch?.stopped
        ? html`<p key="stopped" class="alert is-stop" role="alert">
            <strong>${latch.everything ? "Everything is stopped" : `Stopped: ${latch.devices.join(", ")}`}.</strong>
            ${" "}Output is zero until RELEASE, also over a restart.
          </p>`
        : ""}
      ${Object.entries(brakes.value).map(([id, brake]) => html`<${Brake} key=${`brake ${id}`} id=${id} brake=${brake} />`)}
      ${blockedPorts.value.map(
        (port) => html`<p key=${`port ${port.port}`} class="alert is-warn" role="alert">
          <strong>Port ${port.port} is ${port.state}</strong>${port.reason ? `: ${port.reason.replaceAll("_", " ")}.` : "."}${" "}
          Check its cable. <button type="button" aria-label=${`Reset port ${port.port}`} onClick=${() => reset(port.port)}>Reset</button>${" "}
          <a href="#ports">Ports</a>
        </p>`,
      )}
      ${refusedReset.value ? html`<p key="reset" class="alert is-bad" role="alert">${refusedReset.value}</p>` : ""}
    </div>
  `;
}

function Brake({ id, brake }) {
  const device = devices.value.get(id);
  const kind = device?.kind;
  const resume = async () => {
    const reply = await ask("POST", `${kind}/${id}/resume`);
    refused.value = reply.ok ? "" : reply.error;
    refresh();
  };
  return html`<p class="alert is-warn" role="status" data-brake=${id}>
    <strong>${device ? titleOf(device) : `device ${id}`} ${brake === "waiting" ? "is held by its e-brake" : "brakes"}.</strong>${" "}
    ${brake === "waiting" && kind
      ? html`Resume lets it move once it is slow. <button type="button" onClick=${resume}>Resume</button>`
      : "It ends when the device has been slower than 300 mm/s for 1 s: move its handle slowly."}
    ${refused.value ? html` ${refused.value}` : ""}
  </p>`;
}
