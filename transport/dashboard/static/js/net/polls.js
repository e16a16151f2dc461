// Questions that are asked again and again while somebody looks: each waits for its answer before it is asked once more, and a hidden
// tab asks nothing.

export class Poll {
  /** `run()` is an async function; it is called at once on start and `periodMs` after each end. */
  constructor(run, periodMs) {
    this.run = run;
    this.periodMs = periodMs;
    this.timer = 0;
    this.round = 0;
  }

  start() {
    this.stop();
    this.#next(this.round);
  }

  stop() {
    this.round += 1;
    clearTimeout(this.timer);
  }

  /** Ask now instead of at the end of the pause. */
  now() {
    this.start();
  }

  async #next(round) {
    if (document.visibilityState === "hidden") {
      document.addEventListener("visibilitychange", () => round === this.round && this.#next(round), { once: true });
      return;
    }
    await this.run();
    if (round === this.round) this.timer = setTimeout(() => this.#next(round), this.periodMs);
  }
}
