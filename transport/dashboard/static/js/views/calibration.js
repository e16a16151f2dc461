// Pairs, and the steps of a calibration of a device with its handle.

import { html, signal, useEffect, useMemo, useState } from "../../vendor/ui.js";
import { ask, deviceRoute } from "../net/http.js";
import { Poll } from "../net/polls.js";
import { deviceList, devices, live } from "../state.js";
import { refresh } from "../feed.js";
import { Outcome, outcomes } from "../parts/done.js";
import { Title } from "../parts/title.js";

const STEPS = ["Attach the paired handle", "Start the calibration", "Keep still while it runs", "Calibrated"];
const STARTED = "Started: forces are zero while it runs.";
const STEP_OF = { locked: 0, ready: 1, failed: 1, running: 2, calibrated: 3 };
const SORTS = { arm: "grip", compact: "pen" };
const progress = signal(new Map());

const isMover = (device) => device.status?.power_supply !== undefined;

async function read() {
  const found = await Promise.all(
    deviceList().filter(isMover).map(async (device) => [device.id, await ask("GET", deviceRoute(device, "calibration"))]),
  );
  progress.value = new Map(found.map(([id, reply]) => [id, reply.ok ? reply.data : { state: "unknown", reason: reply.error }]));
}

export function CalibrationView() {
  live.value;
  useEffect(() => {
    const poll = new Poll(read, 500);
    poll.start();
    return () => poll.stop();
  }, []);
  const all = deviceList().filter(isMover);
  const handles = [...devices.value.values()].filter((device) => !isMover(device));
  if (all.length === 0) return html`<p>No device with motors is connected.</p>`;
  return html`<ul class="cards wide">${all.map((device) => html`<${Mover} key=${device.id} device=${device} handles=${handles} turn=${live.value} />`)}</ul>`;
}

/** The paired handle, else a free one of the sort that the device has had or is made for, else any free one. */
function fitting(device, handles) {
  const partner = device.config?.paired_with;
  if (handles.some((one) => one.id === partner)) return partner;
  const taken = new Set(deviceList().map((one) => one.config?.paired_with));
  const free = handles.filter((one) => !taken.has(one.id));
  return (free.find((one) => one.kind === SORTS[device.kind]) ?? free[0])?.id ?? "";
}

function Mover({ device, handles }) {
  const outcome = useMemo(outcomes, []);
  const now = progress.value.get(device.id) ?? { state: "unknown" };
  const partner = device.config?.paired_with ?? null;
  const [choice, setChoice] = useState("");
  const wanted = handles.some((one) => one.id === choice) ? choice : fitting(device, handles);
  // What was said of a start ends with the run.
  useEffect(() => {
    if (now.state !== "running" && outcome.told.value?.text === STARTED) outcome.told.value = null;
  }, [now.state]);
  const act = async (asking, done) => {
    await outcome.run(asking, done);
    refresh();
  };
  return html`
    <li class="card" data-device=${device.id}>
      <h2><${Title} device=${device} /></h2>
      <h3>Pair</h3>
      <p>Paired with <strong>${partner ?? "nothing"}</strong></p>
      <p class="row">
        <label>
          Handle
          <select value=${wanted} onChange=${(event) => setChoice(event.target.value)}>
            ${wanted ? "" : html`<option value="">none is free</option>`}
            ${handles.map((one) => html`<option key=${one.id} value=${one.id}>${one.kind} ${one.id}</option>`)}
          </select>
        </label>
        <button type="button" disabled=${!wanted} onClick=${() => act(ask("POST", deviceRoute(device, "config/paired_with"), { device_id: wanted }), `Paired with ${wanted}.`)}>Pair</button>
        <button type="button" disabled=${!partner} onClick=${() => act(ask("DELETE", deviceRoute(device, "config/paired_with")), "The pair is dissolved.")}>Unpair</button>
      </p>
      <h3>Calibration</h3>
      <ol class="steps">
        ${STEPS.map((step, at) => {
          const here = STEP_OF[now.state] ?? -1;
          const done = at < here || now.state === "calibrated";
          return html`<li key=${step} aria-current=${at === here ? "step" : undefined} class=${done ? "is-done" : ""}>
            ${done ? "✓ " : ""}${step}
          </li>`;
        })}
      </ol>
      <p>State: <strong class="calibration-state">${now.state}</strong>${now.reason ? ` (${now.reason.replaceAll("_", " ")})` : ""}</p>
      <p>
        <button type="button" disabled=${!["ready", "failed", "calibrated"].includes(now.state)} onClick=${() => act(ask("POST", deviceRoute(device, "calibration")), STARTED)}>
          Start calibration
        </button>
      </p>
      <${Outcome} of=${outcome} />
    </li>
  `;
}
