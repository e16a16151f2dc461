// The session of the guided first touch: the only one of this page that commands a force, open only while the touch runs.

import { sessionUrl } from "./net/address.js";
import { Channel } from "./net/channel.js";
import { ask } from "./net/http.js";

export const PREVIEW = "features/contact/enabled";
/** Beside a person's hand: soft enough for the loop to hold it, stiff enough to be a wall. */
const WALL = { stiffness: 600, damping: 4 };
/** What the page renders by itself, a round trip later, is softer. */
const SOFT = { stiffness: 250, damping: 1, most: 3 };
const EVERY_MS = 15;
const MOST_UNANSWERED = 4;
const PROFILE = "hapticd first touch";

export class TouchSession {
  /** `onState(state of the device)` for each frame; `onLost()` when the session has ended by itself. */
  constructor(device, onState, onLost) {
    this.device = device;
    this.onState = onState;
    this.height = null;
    this.state = null;
    this.unanswered = 0;
    this.timer = 0;
    this.rendered = false;
    this.switched = false;
    this.channel = new Channel(sessionUrl, {
      onOpen: () => {
        this.unanswered = 0;
        this.channel.send({ session: { configure: { profile: { name: PROFILE } } } });
      },
      onMessage: (text) => this.#frame(JSON.parse(text)),
      onLost,
    });
  }

  /** Find out who renders the wall, then open the session. */
  async start() {
    // All previews at once: to ask for one that this service does not have would be an error.
    const previews = await ask("GET", "settings/features");
    const setting = previews.ok ? previews.data[PREVIEW] : undefined;
    this.rendered = setting !== undefined;
    if (setting?.effective === false) {
      this.switched = (await ask("POST", `settings/${PREVIEW}`, { value: true })).ok;
      this.rendered = this.switched;
    }
    this.channel.start();
    this.timer = setInterval(() => this.#send(), EVERY_MS);
  }

  /** Release the wall, close the session, and put the preview back. */
  async stop() {
    clearInterval(this.timer);
    this.channel.stop();
    if (this.switched) await ask("DELETE", `settings/${PREVIEW}`, undefined, { keepalive: true });
    this.switched = false;
  }

  /** A floor at `height` (m), free above it; null: none. */
  wall(height) {
    this.height = height;
  }

  #frame(frame) {
    this.unanswered = Math.max(0, this.unanswered - 1);
    const found = frame[this.device.kind]?.find((one) => one.device_id === this.device.id);
    if (!found) return;
    this.state = found.state;
    // A service whose preview has just been switched off, or that has none: the page takes over.
    if (frame.errors?.some((one) => one.path.endsWith("set_contact"))) this.rendered = false;
    this.onState(found.state);
  }

  #send() {
    if (this.unanswered >= MOST_UNANSWERED) return;
    this.unanswered += 1;
    const commands = this.height === null ? { probe_position: {} } : this.#wallCommand();
    this.channel.send({ [this.device.kind]: [{ device_id: this.device.id, commands }] });
  }

  #wallCommand() {
    if (this.rendered) {
      const point = { x: 0, y: 0, z: this.height };
      return { set_contact: { shape: "plane", point, normal: { x: 0, y: 0, z: 1 }, ...WALL } };
    }
    const { cursor_position: at, cursor_velocity: velocity } = this.state ?? {};
    const depth = at ? this.height - at.z : 0;
    const push = depth > 0 ? Math.max(0, SOFT.stiffness * depth - SOFT.damping * velocity.z) : 0;
    return { set_cursor_force: { vector: { x: 0, y: 0, z: Math.min(SOFT.most, push) } } };
  }
}
