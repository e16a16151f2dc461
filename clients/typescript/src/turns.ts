// What a loop takes and yields, what it came to, and which loops run.

import { InvalidCommand } from "./errors.js";

export interface LoopOptions {
  rate?: number; // turns/s; 250. A browser's timers are too coarse for more
  maxForce?: number; // N; longer forces are shortened, keeping their direction
  seconds?: number; // end after that time
  stopAfterMisses?: number; // LoopTooSlow after so many misses in a row
}
export interface Turn {
  readonly number: number; // 0 for the first
  readonly time: number; // s since the loop began
  readonly late: number; // s after it was due
  readonly skipped: number; // turns that were due before this one and were left out
}
export interface LoopStatistics {
  turns: number;
  missed: number;
  roundTripP50: number; // ms, of the newest 4096
  roundTripP99: number;
  longestGap: number; // ms between the beginnings of two turns
}

const KEPT = 4096;
const BUSY = "a turn is under way: await it before the next one begins";

/** One loop. InvalidCommand for what it does not take. */
export class Run {
  readonly rate: number;
  readonly mostForce: number;
  readonly seconds: number;
  readonly mostMisses: number;
  inBody = false; // of a turn: another loop may begin
  readonly figures = { turns: 0, missed: 0, longestGap: 0 };
  private readonly trips: number[] = [];

  constructor({ rate = 250, maxForce, seconds = Infinity, stopAfterMisses = Infinity }: LoopOptions) {
    const check = (fits: boolean, takes: string, value: unknown) => {
      if (!fits) throw new InvalidCommand(`${takes}, and this is ${typeof value === "string" ? JSON.stringify(value) : String(value)}`);
    };
    check(Number.isFinite(rate) && rate > 0, "rate is a number above 0 turns/s", rate);
    check(maxForce === undefined || (Number.isFinite(maxForce) && maxForce >= 0), "maxForce is a number of 0 N or more", maxForce);
    check(typeof seconds === "number" && seconds >= 0, "seconds is a number of 0 s or more", seconds);
    const whole = Number.isInteger(stopAfterMisses) || stopAfterMisses === Infinity;
    check(whole && stopAfterMisses >= 1, "stopAfterMisses is a whole number of 1 or more", stopAfterMisses);
    [this.rate, this.mostForce, this.seconds, this.mostMisses] = [rate, maxForce ?? Infinity, seconds, stopAfterMisses];
  }
  /** Count a turn whose states have come, and return its number. */
  answered(trip: number): number {
    this.trips[this.figures.turns % KEPT] = trip;
    return this.figures.turns++;
  }
  get statistics(): LoopStatistics {
    const sorted = [...this.trips].sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return { ...this.figures, roundTripP50: at(0.5), roundTripP99: at(0.99) };
  }
}

/** Loops that run, each in the body of the one before it: the last one's limit is in force. */
export class Runs {
  private running: Run[] = [];
  private last = new Run({}); // ran last

  get newest(): Run {
    return this.running.at(-1) ?? this.last;
  }
  get mostForce(): number {
    return this.running.at(-1)?.mostForce ?? Infinity;
  }
  /** Begin a loop; InvalidCommand unless none runs, or it begins in the body of one. */
  begin(run: Run, waiting: boolean): void {
    if (waiting || this.running.at(-1)?.inBody === false) throw busy();
    this.running.push(run);
  }
  /** Whether loops that began in the body of this one had not ended; they have now. InvalidCommand for one that has ended so. */
  goOn(run: Run): boolean {
    const place = this.running.indexOf(run);
    if (place < 0) throw busy();
    return this.running.splice(place + 1).length > 0;
  }
  /** Whether it was this loop that led: it has not ended already, and no newer one runs. */
  end(run: Run): boolean {
    const led = this.running.at(-1) === run;
    this.running = this.running.filter((one) => one !== run);
    if (led) this.last = run;
    return led;
  }
}

/** What is said to whoever begins a turn during another one. */
export function busy(): InvalidCommand {
  return new InvalidCommand(BUSY);
}
