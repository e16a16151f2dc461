// The three things that interrupt: a lost connection, a stop, a blocked port. Nothing else on the page is an alert.

import { html } from "../../vendor/ui.js";
import { blockedPorts, connection, stopped, stopRequest } from "../state.js";

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
      ${blockedPorts.value.map(
        (port) => html`<p key=${`port ${port.port}`} class="alert is-warn" role="alert">
          <strong>Port ${port.port} is ${port.state}</strong>${port.reason ? `: ${port.reason.replaceAll("_", " ")}.` : "."}${" "}
          <a href="#ports">Ports</a>
        </p>`,
      )}
    </div>
  `;
}
