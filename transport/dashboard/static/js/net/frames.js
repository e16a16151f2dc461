// @ts-check
// The read-only session of this page: asks for a frame PERIOD_MS after the last one was asked for, and sends no command.

import { sessionUrl } from "./address.js";
import { Channel } from "./channel.js";

const PERIOD_MS = 40;
const SILENT_MS = 3000;
const PROFILE = "hapticd dashboard";

export class FrameReader {
  /**
   * `onFrame(frame)` for each frame, `onLost()` once for each loss.
   * @param {(frame: import("../../../../../clients/typescript/src/channels").Frame) => void} onFrame
   * @param {() => void} onLost
   */
  constructor(onFrame, onLost) {
    this.onFrame = onFrame;
    this.onLost = onLost;
    this.askedAt = 0;
    this.timer = 0;
    this.watch = 0;
    this.named = false;
    this.channel = new Channel(sessionUrl, {
      onOpen: () => {
        this.named = false;
        this.#watch();
      },
      onMessage: (text) => this.#frame(text),
      onLost: () => {
        this.#quiet();
        this.onLost();
      },
    });
  }

  start() {
    this.channel.start();
  }

  stop() {
    this.#quiet();
    this.channel.stop();
  }

  #frame(text) {
    this.#watch();
    this.onFrame(JSON.parse(text));
    const wait = Math.max(0, this.askedAt + PERIOD_MS - performance.now());
    this.timer = setTimeout(() => this.#ask(), wait);
  }

  #ask() {
    this.askedAt = performance.now();
    /** @type {import("../../../../../clients/typescript/src/channels").SentMessage} */
    const message = this.named ? {} : { session: { configure: { profile: { name: PROFILE } } } };
    this.channel.send(message);
    this.named = true;
  }

  #watch() {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => this.channel.drop(), SILENT_MS);
  }

  #quiet() {
    clearTimeout(this.timer);
    clearTimeout(this.watch);
  }
}
