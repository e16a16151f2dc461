// Every device as a card: state in words, what it is connected by, its values and their age.

import { html, signal } from "../../vendor/ui.js";
import { age, fixed, length, natural, newtons, percent, vector } from "../format.js";
import { ageOf, devices, deviceList, gone, live, STALE_MS } from "../state.js";
import { Chip } from "../parts/chip.js";
import { Title } from "../parts/title.js";
import { isPressed, stateWords, titleOf } from "../device_state.js";

/** From so many devices on they can be searched and sorted. */
const MANY = 10;
const SHOW_GONE_MS = 10000;
const ORDERS = {
  frame: ["as in frames", () => 0],
  id: ["by id", (a, b) => natural(a.id, b.id)],
  name: ["by name", (a, b) => natural(a.config?.name ?? "\uffff", b.config?.name ?? "\uffff") || natural(a.id, b.id)],
  kind: ["by kind", (a, b) => natural(a.kind, b.kind) || natural(a.id, b.id)],
  port: ["by port", (a, b) => natural(a.config?.port ?? "", b.config?.port ?? "")],
};
const wanted = signal("");
const order = signal("frame");

export function DevicesView() {
  live.value;
  const all = deviceList();
  const many = all.length >= MANY;
  const words = wanted.value.trim().toLowerCase();
  const found = many ? all.filter((device) => words === "" || searched(device).includes(words)).sort(ORDERS[order.value][1]) : all;
  return html`
    ${many ? html`<${Search} shown=${found.length} all=${all.length} />` : ""}
    <${Gone} turn=${live.value} />
    ${all.length === 0 ? html`<p id="no-devices">No device is connected. One that is plugged in appears here by itself.</p>` : ""}
    ${many && found.length === 0 ? html`<p>No device fits. <button type="button" onClick=${() => (wanted.value = "")}>Show all</button></p>` : ""}
    <ul class="cards">${found.map((device) => html`<${Device} key=${device.id} device=${device} turn=${live.value} />`)}</ul>
  `;
}

const searched = (device) => `${titleOf(device)} ${device.config?.port} ${stateWords(device)[1]}`.toLowerCase();

function Search({ shown, all }) {
  return html`
    <div class="row" role="search">
      <label>Search <input id="device-search" type="search" value=${wanted.value} onInput=${(event) => (wanted.value = event.target.value)} /></label>
      <label>
        Order
        <select id="device-order" value=${order.value} onChange=${(event) => (order.value = event.target.value)}>
          ${Object.entries(ORDERS).map(([name, [title]]) => html`<option key=${name} value=${name}>${title}</option>`)}
        </select>
      </label>
      <p class="dim" role="status">${shown} of ${all} devices</p>
    </div>
  `;
}

function Gone() {
  const now = performance.now();
  const found = gone.value.filter((one) => now - one.seen < SHOW_GONE_MS && !devices.value.has(one.id));
  return html`<div role="status">
    ${found.map((one) => html`<p key=${one.id} class="alert is-warn" data-gone=${one.id}>${titleOf(one)} unplugged at ${one.at.toLocaleTimeString("en-GB")}</p>`)}
  </div>`;
}

function Device({ device }) {
  const { id } = device;
  const old = ageOf(device);
  const stale = old > STALE_MS;
  const [tone, words] = stale ? ["off", "no data"] : stateWords(device);
  return html`
    <li class=${`card ${stale ? "stale" : ""} ${isPressed(device) ? "pressed" : ""}`} data-device=${id}>
      <h2><a href=${`#device/${encodeURIComponent(id)}`}><${Title} device=${device} /></a></h2>
      <p><${Chip} tone=${tone}>${words}<//></p>
      <${Facts} device=${device} old=${old} />
    </li>
  `;
}

/** The values of a device, a line each. */
export function Facts({ device, old }) {
  const { config, state, status, more } = device;
  return html`
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
      ${more.interruptions?.gaps && more.interruptions.force_lost > 0
        ? html`<dt>Force lost, last minute</dt><dd>${interrupted(more.interruptions)}</dd>`
        : ""}
      <dt>Reports</dt><dd>${more.reports || "nothing wrong"}</dd>
    </dl>
  `;
}

function Cursor({ state }) {
  return html`
    <dt>Cursor x, y, z</dt>
    <dd class="number">${vector(state.cursor_position, 1000, 1)} mm</dd>
    <dt>Force</dt><dd class="number">${newtons(length(state.current_cursor_force))} N</dd>
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

function firmware(config) {
  const info = config?.device_info ?? config;
  return info?.major_version === undefined ? "–" : `${info.major_version}.${info.minor_version}`;
}

function interrupted({ interrupted_s: seconds, force_lost: lost, gaps, longest_ms: longest }) {
  return `${fixed(seconds, 3)} s (${fixed(100 * lost, 1)} %), ${gaps} gaps, longest ${fixed(longest, 0)} ms`;
}
