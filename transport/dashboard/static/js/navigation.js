// The bubble of a session: each session navigates by itself, so the view asks for the one that is chosen.

import { html, signal, useEffect } from "../vendor/ui.js";
import { ask, deviceRoute } from "./net/http.js";
import { Poll } from "./net/polls.js";
import { sessionId } from "./state.js";

const PERIOD_MS = 250;
const session = signal("");
const known = signal([]);
const bubble = signal(null);

/** {session, device, center, zone, zoneWidth, shape} of the chosen session's bubble on a device, or null. */
export function bubbleOf(device) {
  return device && bubble.value?.device === device.id ? bubble.value : null;
}

export function Navigation({ device }) {
  useEffect(() => {
    const list = new Poll(readSessions, 2000);
    const one = new Poll(() => readBubble(device), PERIOD_MS);
    list.start();
    one.start();
    return () => {
      list.stop();
      one.stop();
    };
  }, [device?.id]);
  return html`
    <label>
      Bubble of
      <select id="bubble-of" value=${session.value} onChange=${(event) => (session.value = event.target.value)}>
        <option value="">no session</option>
        ${known.value.map((one) => html`<option key=${one.id} value=${one.id}>session ${one.id} (${one.name})</option>`)}
      </select>
    </label>
  `;
}

async function readSessions() {
  const reply = await ask("GET", "sessions");
  if (!reply.ok) return;
  const others = reply.data.sessions.filter((one) => one.session_id !== sessionId.value);
  known.value = others.map((one) => ({ id: String(one.session_id), name: one.profile.name }));
}

async function readBubble(device) {
  if (!session.value || !device) {
    if (bubble.value !== null) bubble.value = null;
    return;
  }
  const query = { session: session.value };
  const [config, all] = await Promise.all([
    ask("GET", deviceRoute(device, "config/navigation"), undefined, { query }),
    ask("GET", "devices", undefined, { query }),
  ]);
  const entry = all.ok ? all.data[device.kind]?.find((one) => one.device_id === device.id) : null;
  const now = entry?.state.navigation?.bubble;
  const shape = entry?.config.navigation?.bubble?.shape ?? config.data?.bubble?.shape;
  if (!now || !shape) {
    bubble.value = null;
    return;
  }
  bubble.value = { session: session.value, device: device.id, center: now.center, zone: now.zone, zoneWidth: now.velocity_zone_width, shape };
}
