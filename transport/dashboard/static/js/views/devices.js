// Every device: state in words, firmware, battery, pair, age of its values, interrupted force, reports.

import { html } from "../../vendor/ui.js";
import { age, fixed, length, millimetres, newtons, percent } from "../format.js";
import { ageOf, brakes, deviceList, live, STALE_MS, stopped } from "../state.js";
import { Chip } from "../parts/chip.js";

export function DevicesView() {
  live.value;
  const found = deviceList();
  if (found.length === 0) return html`<p id="no-devices">No device is connected. One that is plugged in appears here by itself.</p>`;
  return html`<ul class="cards">${found.map((device) => html`<${Device} key=${device.id} device=${device} turn=${live.value} />`)}</ul>`;
}

function Device({ device }) {
  const { id, kind, config, state, status, more } = device;
  const old = ageOf(device);
  const stale = old > STALE_MS;
  const [tone, words] = stale ? ["off", "no data"] : stateWords(device);
  return html`
    <li class=${`card ${stale ? "stale" : ""}`} data-device=${id}>
      <h2>${kind} <span class="number">${id}</span></h2>
      <p><${Chip} tone=${tone}>${words}<//></p>
      <dl>
        <dt>Firmware</dt><dd>${firmware(config)}</dd>
        <dt>Connection</dt><dd>${config ? `${config.connection}, ${config.port}` : "–"}</dd>
        ${state?.battery_level === undefined
          ? ""
          : html`<dt>Battery</dt><dd>${percent(state.battery_level)}${state.battery_level < 0.2 ? " ▲ low" : ""}</dd>`}
        <dt>Paired with</dt><dd>${config?.paired_with ?? "nothing"}</dd>
        ${state?.cursor_position ? html`<${Cursor} state=${state} />` : html`<${Handle} state=${state} status=${status} />`}
        ${more.held_by ? html`<dt>Position held by</dt><dd>session ${more.held_by}</dd>` : ""}
        <dt>Age of data</dt><dd class="age">${age(old)}</dd>
        ${more.interruptions && status?.power_supply !== undefined
          ? html`<dt>Force lost, last minute</dt><dd>${interrupted(more.interruptions)}</dd>`
          : ""}
        <dt>Reports</dt><dd>${more.reports || "nothing wrong"}</dd>
      </dl>
    </li>
  `;
}

function Cursor({ state }) {
  const { cursor_position: at, current_cursor_force: force } = state;
  return html`
    <dt>Cursor x, y, z</dt>
    <dd class="number">${millimetres(at.x)}, ${millimetres(at.y)}, ${millimetres(at.z)} mm</dd>
    <dt>Force</dt><dd class="number">${newtons(length(force))} N</dd>
    <dt>Control</dt><dd>${state.control_mode}</dd>
  `;
}

function Handle({ state, status }) {
  const pressed = Object.entries(state?.buttons ?? {}).filter(([, down]) => down);
  return html`
    <dt>Buttons</dt><dd>${pressed.length ? pressed.map(([name]) => name).join(", ") : "none pressed"}</dd>
    <dt>Attached</dt><dd>${status?.attached ? "yes" : "no"}</dd>
    <dt>Hall sensor</dt><dd class="number">${fixed(state?.hall, 0)}</dd>
  `;
}

/** Tone and words of a device's state. */
export function stateWords({ id, status }) {
  const latch = stopped.value;
  if (latch?.everything || latch?.devices.includes(id)) {
    if (status?.power_supply !== undefined) return ["bad", "stopped"];
  }
  if (brakes.value[id]) return ["warn", brakes.value[id] === "waiting" ? "held by its e-brake" : "brakes until it is slow"];
  if (status?.awake === false) return ["off", "asleep"];
  if (!status?.ready) return ["wait", "not ready"];
  if (status.error) return ["warn", `error ${status.error}`];
  if (status.calibrated === false) return ["warn", "not calibrated"];
  return ["good", status.in_use ? "ready, in use" : "ready"];
}

function firmware(config) {
  const info = config?.device_info ?? config;
  return info?.major_version === undefined ? "–" : `${info.major_version}.${info.minor_version}`;
}

function interrupted({ interrupted_s: seconds, force_lost: lost, gaps, longest_ms: longest }) {
  if (!gaps) return "none";
  return `${fixed(seconds, 3)} s (${fixed(100 * lost, 1)} %), ${gaps} gaps, longest ${fixed(longest, 0)} ms`;
}
