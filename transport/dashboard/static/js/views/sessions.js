// Sessions: who is connected, how fast, with what share of its force, and Disconnect.

import { html, signal, useEffect, useMemo } from "../../vendor/ui.js";
import { clock, fixed, percent } from "../format.js";
import { ask } from "../net/http.js";
import { Poll } from "../net/polls.js";
import { sessionId, sessions } from "../state.js";
import { Outcome, outcomes } from "../parts/done.js";
import { question } from "../parts/question.js";

const PREVIEW = "features/session_force_scale/enabled";
/** Gains by session id; null while the preview is off. */
const gains = signal(null);
let before = new Map();

// Asked only while the preview is on: a refusal would be an error of the browser's console.
async function readShares() {
  const setting = await ask("GET", `settings/${PREVIEW}`);
  return setting.ok && setting.data.effective ? ask("GET", "sessions/*/force_scale") : { ok: false, data: null };
}

async function read() {
  const [reply, shares] = await Promise.all([ask("GET", "sessions"), readShares()]);
  if (!reply.ok) return;
  const now = performance.now() / 1000;
  const counted = new Map();
  sessions.value = reply.data.sessions.map((one) => {
    const old = before.get(one.session_id);
    const passed = old ? now - old.now : NaN;
    counted.set(one.session_id, { now, frames: one.frames_sent, commands: one.commands_received });
    return {
      ...one,
      frameRate: (one.frames_sent - old?.frames) / passed,
      commandRate: (one.commands_received - old?.commands) / passed,
    };
  });
  before = counted;
  const found = shares.data?.results ?? (shares.ok && shares.data ? [shares.data] : null);
  gains.value = found ? new Map(found.map((one) => [one.session_id, one.gain])) : null;
}

export function SessionsView() {
  const outcome = useMemo(outcomes, []);
  useEffect(() => {
    const poll = new Poll(read, 1000);
    poll.start();
    return () => poll.stop();
  }, []);
  const disconnect = async (id) => {
    const yes = await question({
      title: `Disconnect session ${id}?`,
      text: "Its forces end at once. The program may connect again by itself.",
      yes: "Disconnect",
      no: "Keep it",
    });
    if (yes) await outcome.run(ask("DELETE", `sessions/${id}`), `Session ${id} is disconnected.`);
  };
  const share = (id, gain) =>
    outcome.run(ask("POST", `sessions/${id}/force_scale`, { gain }), `Session ${id} puts out ${percent(gain)} of its force.`);
  return html`
    <div class="scroll" role="region" aria-label="Sessions" tabindex="0">
      <table class="as-cards keeps-last">
        <thead>
          <tr>${["Session", "Profile", "Address", "Since", "Frames/s", "Commands/s", "Devices", "Share of force", ""].map((name) => html`<th scope="col" key=${name}>${name || html`<span class="hidden">Disconnect</span>`}</th>`)}</tr>
        </thead>
        <tbody>
          ${sessions.value.map((one) => html`<${Row} key=${one.session_id} one=${one} gain=${gains.value?.get(one.session_id)} share=${share} disconnect=${disconnect} />`)}
        </tbody>
      </table>
    </div>
    <${Outcome} of=${outcome} id="session-outcome" />
    ${gains.value === null
      ? html`<p class="dim">The share of force of a session can be changed while the preview <code>${PREVIEW}</code> is on (<a href="#settings">Settings</a>).</p>`
      : ""}
  `;
}

function Row({ one, gain, share, disconnect }) {
  const id = one.session_id;
  const mine = id === sessionId.value;
  return html`
    <tr data-session=${id}>
      <th scope="row">${id}${mine ? html` <span class="dim">this page</span>` : ""}</th>
      <td data-name="Profile">${one.profile.name}</td>
      <td data-name="Address">${one.remote_address}</td>
      <td data-name="Since">${clock(one.connected_at)}</td>
      <td data-name="Frames/s">${fixed(one.frameRate, 0)}</td>
      <td data-name="Commands/s">${mine ? "only reads" : fixed(one.commandRate, 0)}</td>
      <td data-name="Devices">${one.devices.join(", ") || "–"}</td>
      <td data-name="Share of force">
        ${gain === undefined
          ? "100 %"
          : html`<label class="share"><span class="hidden">Share of force of session ${id}</span>
              <input type="range" min="0" max="1" step="0.05" value=${gain} onChange=${(event) => share(id, Number(event.target.value))} />
              <span class="number">${percent(gain)}</span></label>`}
      </td>
      <td><button type="button" aria-label=${`Disconnect session ${id}`} aria-haspopup="dialog" onClick=${() => disconnect(id)}>Disconnect…</button></td>
    </tr>
  `;
}
