// One device: its live numbers, how they went, its stop, its trips, and the ways to its other views.

import { html, signal, useEffect } from "../../vendor/ui.js";
import { histories } from "../feed.js";
import { clock, fixed, length, newtons, short, vector } from "../format.js";
import { ask, deviceRoute } from "../net/http.js";
import { Poll } from "../net/polls.js";
import { ageOf, devices, live, selected, STALE_MS } from "../state.js";
import { Chip } from "../parts/chip.js";
import { Sparkline } from "../parts/sparkline.js";
import { StopOne } from "../parts/stop_one.js";
import { Title } from "../parts/title.js";
import { Which } from "../parts/which.js";
import { hasMotors, isPressed, stateWords } from "../device_state.js";
import { argument } from "../views.js";
import { Facts } from "./devices.js";

const TRIPS_MS = 2000;
const SHOWN_TRIPS = 10;
/** {id, trips, changes} of the device that is shown. */
const told = signal(null);

export function DeviceView() {
  live.value;
  const device = devices.value.get(argument.value);
  const id = device?.id;
  useEffect(() => {
    if (!device?.state?.cursor_position) return undefined;
    selected.value = id;
    const poll = new Poll(() => read(device), TRIPS_MS);
    poll.start();
    return () => poll.stop();
  }, [id]);
  if (!device) return html`<p id="no-device">No device ${argument.value} is connected. <a href="#devices">All devices</a></p>`;
  const old = ageOf(device);
  const stale = old > STALE_MS;
  const [tone, words] = stale ? ["off", "no data"] : stateWords(device);
  const simulated = device.config?.port?.startsWith("sim");
  return html`
    <div class=${`row ${isPressed(device) ? "pressed" : ""}`}>
      <strong class="device-name"><${Title} device=${device} /></strong>
      <${Chip} tone=${tone}>${words}<//>
      ${hasMotors(device) ? html`<${StopOne} device=${device} />` : ""}
    </div>
    <p class="row">
      <a href="#devices">All devices</a>
      ${device.state?.cursor_position ? html`<a href="#plots">Plots</a> <a href="#space">3D view</a>` : ""}
      ${hasMotors(device) ? html`<a href="#calibration">Pair and calibrate</a>` : ""}
      ${simulated ? html`<a href="#simulation">Simulated hand</a>` : ""}
      <span class="dim">Check the hardware: <code>hapticd check ${id}</code></span>
    </p>
    <div class=${`split even ${stale ? "stale" : ""}`} data-device=${id}>
      <section class="panel" aria-label="Values"><h2>Values</h2><${Facts} device=${device} old=${old} /></section>
      ${device.state?.cursor_position ? html`<${Motion} device=${device} turn=${live.value} />` : ""}
    </div>
    <${Which} key=${id} device=${device} />
    ${device.state?.cursor_position && told.value?.id === id ? html`<${Trips} />` : ""}
  `;
}

async function read(device) {
  const reply = await ask("GET", deviceRoute(device, "trips"));
  if (reply.ok) told.value = { id: device.id, ...reply.data };
}

function Motion({ device }) {
  const { state } = device;
  const rows = histories.devices.get(device.id);
  const [, x, y, z] = rows?.position.read() ?? [[], [], [], []];
  const forces = rows?.force.read() ?? [[], [], [], []];
  const sizes = forces[1].map((value, at) => Math.hypot(value, forces[2][at], forces[3][at]));
  return html`
    <section class="panel" aria-label="Motion">
      <h2>Last 30 s</h2>
      <dl class="with-lines">
        ${[["x", x], ["y", y], ["z", z]].map(
          ([axis, values]) => html`<dt>${axis}</dt><dd><${Sparkline} values=${values} span=${20} label=${`${axis} of the last 30 s`} /></dd>
            <dd class="number">${fixed(1000 * state.cursor_position[axis], 1)} mm</dd>`,
        )}
        <dt>Force</dt><dd><${Sparkline} values=${sizes} span=${2} label="Force of the last 30 s" /></dd>
        <dd class="number">${newtons(length(state.current_cursor_force))} N</dd>
      </dl>
      <p class="dim">Velocity <span class="number">${vector(state.cursor_velocity, 1000, 0)} mm/s</span></p>
    </section>
  `;
}

function Trips() {
  const { trips, changes } = told.value;
  return html`
    <section class="panel" aria-label="Trips">
      <h2>Trips of filter and monitors</h2>
      ${trips.length === 0
        ? html`<p class="dim">None since the device is here.</p>`
        : html`<ul class="lines">${trips.slice(-SHOWN_TRIPS).reverse().map((trip, at) => html`<li key=${at}>${short(sentence(trip), 200)}</li>`)}</ul>`}
      <p class="dim">
        Force taken and added since then:
        ${" "}${Object.entries(changes).map(([by, { taken_n_s: taken, added_n_s: added }]) => `${by} ${fixed(taken, 2)} and ${fixed(added, 2)} N·s`).join("; ")}
      </p>
    </section>
  `;
}

function sentence(trip) {
  return Object.entries(trip)
    .map(([name, value]) => (name === "time" ? clock(value) : `${name.replaceAll("_", " ")} ${typeof value === "number" ? fixed(value, 2) : value}`))
    .join(", ");
}
