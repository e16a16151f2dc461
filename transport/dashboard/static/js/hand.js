// The simulated hand over HTTP: at most one request under way for a device, and only the newest position waits.

import { ask } from "./net/http.js";

export class Hand {
  /** `path` is the route of one simulated device; `onReply(reply)` is called for each answer. */
  constructor(path, onReply = () => {}) {
    this.path = path;
    this.onReply = onReply;
    this.waiting = null;
    this.busy = false;
  }

  /** Put the hand at `position` (m, device frame) and let it rest there. */
  place(position) {
    return this.tell({ hand: { position, path: "rest" } });
  }

  async tell(change) {
    this.waiting = change;
    if (this.busy) return;
    this.busy = true;
    while (this.waiting !== null) {
      const next = this.waiting;
      this.waiting = null;
      this.onReply(await ask("POST", this.path, next));
    }
    this.busy = false;
  }
}

export function handPath(device) {
  return `simulation/${device.kind}/${encodeURIComponent(device.id)}`;
}
