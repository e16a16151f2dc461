// What is to be thought of the loop's numbers: one missed tick harms nobody, many in a minute do.

const MINUTE_S = 60;
/** As the alert HapticdTicksMissed has it. */
const MANY = 0.01;
const SLOW = 0.9;
/** The measured rate follows a new target by so much. */
const SETTLES_S = 5;

export class LoopJudge {
  constructor() {
    this.past = [];
    this.target = null;
    this.since = 0;
  }

  /** Judge numbers of the metrics page that were read at `now`, s. */
  take(now, values) {
    const { frequency_hertz: hz, target_frequency_hertz: target, ticks_total: ticks, ticks_missed_total: missed, realtime } = values;
    if (target !== this.target) {
      this.since = this.target === null ? now - SETTLES_S : now;
      this.target = target;
    }
    // After a restart of the service the counts begin anew.
    if (this.past.length > 0 && ticks < this.past.at(-1).ticks) this.past = [];
    this.past.push({ now, ticks, missed });
    while (this.past[0].now < now - MINUTE_S) this.past.shift();
    const first = this.past[0];
    const missedLastMinute = missed - first.missed;
    const all = ticks - first.ticks + missedLastMinute;
    const missedShare = all > 0 ? missedLastMinute / all : 0;
    return {
      hz,
      target,
      slow: hz < SLOW * target && now - this.since >= SETTLES_S,
      missedLastMinute,
      missedShare,
      manyMissed: missedShare > MANY,
      realtime: realtime === 1,
    };
  }
}
