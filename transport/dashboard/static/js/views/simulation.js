// The simulated hand of each simulated device: drag it, press buttons, pull the grip off, make each fault happen.

import { html, signal, useEffect, useMemo } from "../../vendor/ui.js";
import { percent } from "../format.js";
import { Hand, handPath } from "../hand.js";
import { ask } from "../net/http.js";
import { Poll } from "../net/polls.js";
import { refresh } from "../feed.js";
import { devices, live, ports, service } from "../state.js";
import { Outcome, outcomes } from "../parts/done.js";
import { Pad } from "../parts/pad.js";

const FAULTS = ["unplug", "connection_loop", "hang"];
/** Of devices with motors alone. */
const MOTOR_FAULTS = ["stall", "throw", "foreign_object", "oscillating_hall", "calibration_blocked"];
const KINDS = ["arm", "compact", "grip", "pen"];
const told = signal([]);
const chosen = signal("");

// The answer covers unplugged devices too, which no frame shows.
async function read() {
  // To ask where nothing is simulated would be an error; an unplugged device keeps its port.
  if (told.value.length === 0 && !ports.value.some((one) => one.port.startsWith("sim"))) return;
  const reply = await ask("GET", "simulation/haptic*/*");
  if (!reply.ok) told.value = [];
  else told.value = reply.data.results ?? [reply.data];
}

export function SimulationView() {
  live.value;
  useEffect(() => {
    const poll = new Poll(read, 500);
    poll.start();
    return () => poll.stop();
  }, []);
  const one = told.value.find((each) => each.device_id === chosen.value) ?? told.value[0];
  return html`
    <div class="row">
      <label>
        Device
        <select id="simulated" value=${one?.device_id} onChange=${(event) => (chosen.value = event.target.value)}>
          ${told.value.map((each) => html`<option key=${each.device_id} value=${each.device_id}>${kindOf(each)} ${each.device_id}</option>`)}
        </select>
      </label>
      <${Adding} one=${one} />
    </div>
    ${one ? html`<${Simulated} key=${one.device_id} one=${one} turn=${live.value} />` : html`<p>No device is simulated.</p>`}
  `;
}

/** Kind of a simulated device; an unplugged one is in no frame, but what it has tells whether it is a handle. */
function kindOf(one) {
  return devices.value.get(one.device_id)?.kind ?? (one.buttons ? "grip" : "arm");
}

function Adding({ one }) {
  const outcome = useMemo(outcomes, []);
  const add = (type) => outcome.run(ask("POST", "simulation/devices", { type }), `One more ${type} is simulated.`).then(read);
  const remove = () =>
    outcome.run(ask("DELETE", `simulation/devices/${encodeURIComponent(one.device_id)}`), `${one.device_id} is simulated no longer.`).then(read);
  return html`
    <span class="row" role="group" aria-label="Simulate">
      ${KINDS.map((type) => html`<button type="button" key=${type} id=${`add-${type}`} onClick=${() => add(type)}>Add ${type}</button>`)}
      ${one ? html`<button type="button" id="remove-simulated" onClick=${remove}>Remove ${one.device_id}</button>` : ""}
    </span>
    <${Outcome} of=${outcome} />
  `;
}

function Simulated({ one }) {
  const outcome = useMemo(outcomes, []);
  const kind = kindOf(one);
  const path = handPath({ kind, id: one.device_id });
  const hand = useMemo(() => new Hand(path, (reply) => take(outcome, reply)), [path]);
  const tell = async (change, done) => {
    await outcome.run(ask("POST", path, change), done);
    await read();
    refresh();
  };
  const reach = service.value.kinds[kind];
  return html`
    <div class="split even">
      <section class="panel" aria-label="Hand">
        <h2>Hand</h2>
        ${reach && one.hand.position
          ? html`<${Pad} id="pad" low=${reach.low} high=${reach.high} at=${one.hand.position} cursor=${devices.value.get(one.device_id)?.state?.cursor_position} move=${(position) => hand.place(position)} />`
          : ""}
        <p class="row" role="group" aria-label="Motion">
          ${["circle", "rest", "hold"].map(
            (name) => html`<button type="button" key=${name} aria-pressed=${String(one.hand.path === name)} onClick=${() => tell({ hand: { path: name } }, `The hand's motion: ${name}.`)}>${name}</button>`,
          )}
          ${one.hand.position ? html`<button type="button" onClick=${() => tell({ hand: { position: null } }, "Back to the centre.")}>centre</button>` : ""}
        </p>
        ${one.hand.stiffness === undefined
          ? ""
          : html`<label>Stiffness <input type="range" min="10" max="1000" step="10" value=${one.hand.stiffness} onChange=${(event) => tell({ hand: { stiffness: Number(event.target.value) } }, "The hand is as stiff as that.")} /> <span class="number">${one.hand.stiffness} N/m</span></label>`}
        ${one.buttons ? html`<${Buttons} one=${one} tell=${tell} />` : ""}
      </section>
      <section class="panel" aria-label="Faults">
        <h2>Faults</h2>
        <p>In force: <strong id="fault">${one.fault.replaceAll("_", " ")}</strong></p>
        <p class="row">
          ${[...FAULTS, ...(one.buttons ? [] : MOTOR_FAULTS)].map(
            (fault) => html`<button type="button" key=${fault} data-fault=${fault} onClick=${() => tell({ fault }, `Fault: ${fault.replaceAll("_", " ")}.`)}>${fault.replaceAll("_", " ")}</button>`,
          )}
        </p>
        <p class="row">
          <button type="button" data-fault="none" onClick=${() => tell({ fault: "none" }, "No fault any more.")}>Clear the fault</button>
          <button type="button" onClick=${() => tell({ awake: !one.awake }, one.awake ? "It sleeps." : "It is awake.")}>${one.awake ? "Put to sleep" : "Wake"}</button>
        </p>
        <${Outcome} of=${outcome} id="simulation-outcome" />
      </section>
    </div>
  `;
}

function Buttons({ one, tell }) {
  return html`
    <p class="row" role="group" aria-label="Buttons">
      ${Object.entries(one.buttons).map(
        ([name, down]) => html`<button type="button" key=${name} data-button=${name} aria-pressed=${String(down)} onClick=${() => tell({ buttons: { [name]: !down } }, `Button ${name} is ${down ? "up" : "down"}.`)}>Button ${name}</button>`,
      )}
      <button type="button" id="attached" aria-pressed=${String(one.attached)} onClick=${() => tell({ attached: !one.attached }, one.attached ? "The grip is pulled off." : "The grip is attached.")}>
        Attached
      </button>
    </p>
    ${one.battery_level === undefined
      ? ""
      : html`<label>Battery <input type="range" min="0" max="1" step="0.01" value=${one.battery_level} onChange=${(event) => tell({ battery_level: Number(event.target.value) }, "The charge is set.")} /> <span class="number">${percent(one.battery_level)}</span></label>`}
  `;
}

function take(outcome, reply) {
  if (!reply.ok) outcome.told.value = { tone: "bad", text: reply.error };
  else {
    const now = reply.data.results?.[0] ?? reply.data;
    told.value = told.value.map((each) => (each.device_id === now.device_id ? { ...each, ...now } : each));
    if (outcome.told.value?.tone === "bad") outcome.told.value = null;
  }
}
