// The first view: the chosen device in space, a line for each device, the newest events, and how the loop does.

import { html } from "../../vendor/ui.js";
import { clock, fixed, length, newtons, percent, short, whole } from "../format.js";
import { histories } from "../feed.js";
import { ageOf, chosenMover, deviceList, events, live, loop, movers, selected, service, STALE_MS } from "../state.js";
import { Chip } from "../parts/chip.js";
import { MoverChoice } from "../parts/mover.js";
import { Space } from "../parts/space.js";
import { Sparkline } from "../parts/sparkline.js";
import { StopOne } from "../parts/stop_one.js";
import { Title } from "../parts/title.js";
import { isPressed, stateWords } from "../device_state.js";
import { isStatistic, tone } from "../event_words.js";

const NEWEST = 5;

export function OverviewView() {
  live.value;
  const found = deviceList();
  const real = found.some((device) => !device.config?.port?.startsWith("sim"));
  return html`
    <div class="split overview">
      <div>
        <${Space}><${MoverChoice} /><//>
      </div>
      <div class="stack">
        ${real || movers().length === 0
          ? ""
          : html`<p class="panel row" id="feel">Only simulated devices are here. <a class="button" href="#touch">Feel a wall</a></p>`}
        <section class="panel" aria-label="Devices">
          <h2>Devices</h2>
          ${found.length === 0 ? html`<p id="no-devices">No device is connected. One that is plugged in appears here by itself.</p>` : ""}
          <ul class="lines">${found.map((device) => html`<${Line} key=${device.id} device=${device} turn=${live.value} />`)}</ul>
        </section>
        <section class="panel" aria-label="Loop">
          <h2>Loop</h2>
          <${LoopLines} turn=${live.value} />
        </section>
        <section class="panel" aria-label="Newest events">
          <h2>Events</h2>
          <${Newest} />
        </section>
      </div>
    </div>
  `;
}

function Line({ device }) {
  const { id, state } = device;
  const old = ageOf(device);
  const stale = old > STALE_MS;
  const [tone, words] = stale ? ["off", `no data for ${fixed(old / 1000, 0)} s`] : stateWords(device);
  const cursor = Boolean(state?.cursor_position);
  const choose = () => {
    if (cursor) selected.value = id;
  };
  return html`
    <li class=${`${stale ? "stale" : ""} ${isPressed(device) ? "pressed" : ""}`} data-line=${id} aria-current=${chosenMover()?.id === id ? "true" : undefined}>
      <a href=${`#device/${encodeURIComponent(id)}`} onClick=${choose}><strong><${Title} device=${device} /></strong></a>
      <${Chip} tone=${tone}>${words}<//>
      ${cursor ? html`<${ForceBar} device=${device} turn=${live.value} />` : html`<span class="dim">${state?.battery_level === undefined ? "" : `battery ${percent(state.battery_level)}`}</span>`}
      <span class="row">
        ${cursor ? html`<a href="#plots" onClick=${choose}>Plots</a>` : ""}
        ${device.config?.port?.startsWith("sim") ? html`<a href="#simulation">Hand</a>` : ""}
        ${cursor ? html`<${StopOne} device=${device} />` : ""}
      </span>
    </li>
  `;
}

function ForceBar({ device }) {
  const size = length(device.state.current_cursor_force);
  const most = service.value.kinds[device.kind]?.peak_force ?? 10;
  return html`<span class="force-bar">
    <meter min="0" max=${most} value=${size} aria-label=${`Force of ${device.id}`}></meter>
    <span class="number">${newtons(size)} N</span>
  </span>`;
}

function LoopLines() {
  const now = loop.value;
  const [, rates, late] = histories.loop.read();
  return html`
    <dl class="with-lines">
      <dt>Rate</dt>
      <dd><${Sparkline} values=${rates} span=${0.05 * (now?.target ?? 1000)} label="Rate of the last three minutes" /></dd>
      <dd class="number">${whole(now?.hz)} Hz</dd>
      <dt>Late, 99 %</dt>
      <dd><${Sparkline} values=${late} span=${20} label="Lateness of the last three minutes" /></dd>
      <dd class="number">${now?.lateness == null ? "–" : fixed(1e6 * now.lateness, 0)} µs</dd>
    </dl>
  `;
}

function Newest() {
  const found = events.value.filter((event) => !isStatistic(event)).slice(0, NEWEST);
  if (found.length === 0) return html`<p class="dim">None yet.</p>`;
  return html`<ol class="lines" id="newest-events">
    ${found.map(
      (event) => html`<li key=${event.key}><span class="number dim">${clock(event.time)}</span> <span class=${`is-${tone(event)}`}>${short(event.message, 90)}</span></li>`,
    )}
  </ol>
  <p><a href="#events">All events</a></p>`;
}
