// Programs of a user that meet something: `node ways.js URL WAY`; a line on standard input lets them go on.

import { connect, DeviceGone, HapticsError, type LoopOptions, type Service } from "../../../clients/typescript/src/hapticd.js";

declare const process: { argv: string[]; exitCode: number; stdin: { once(name: string, act: () => void): void; unref(): void } };
const line = () => new Promise<void>((done) => process.stdin.once("data", done));
const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

const told = (error: unknown) => (error instanceof HapticsError ? `${error.name}: ${error.message}` : String(error));

/** Push 100 N for some turns, and return the most that is felt from the third one on. */
async function pushed(service: Service, options: LoopOptions, turns: number, body: (number: number) => unknown = () => {}): Promise<number> {
  let most = 0;
  for await (const { number } of service.loop({ rate: 200, ...options })) {
    if (number > 2) most = Math.max(most, service.arm.force[2]);
    await body(number);
    service.arm.force = [0, 0, 100];
    if (number === turns) break;
  }
  return most;
}

const WAYS: Record<string, (service: Service) => Promise<void>> = {
  /** Pushes on whatever happens, and says what it meets. */
  async unplug(service) {
    const arm = service.arm;
    try {
      for await (const turn of service.loop({ rate: 200 })) {
        arm.force = [0, 0, 1];
        if (turn.number === 20) console.log("pushing");
      }
    } catch (error) {
      if (!(error instanceof DeviceGone)) throw error;
      console.log(`gone: ${error.message}`);
    }
    while (!arm.ready) await service.update();
    let held = 0;
    for await (const _ of service.loop({ rate: 200 })) {
      arm.force = [0, 0, 1];
      if (held++ === 40) break;
    }
    console.log(`withheld ${arm.withheld}, ${Math.max(...arm.force)} N`);
    arm.resume();
    for await (const turn of service.loop({ rate: 200, seconds: 20 })) {
      arm.force = [0, 0, 1];
      if (turn.number > 10 && arm.force[2] > 0) break;
    }
    console.log(`resumed, ${arm.force[2]} N`);
  },
  /** Bodies that take longer than commands live. */
  async stale(service) {
    let most = 0;
    for await (const turn of service.loop({ rate: 20 })) {
      most = Math.max(most, service.arm.force[2]);
      await pause(1.5 * service.commandTimeout);
      service.arm.force = [0, 0, 1];
      if (turn.number === 3) break;
    }
    console.log(`at most ${most} N, ${service.commandTimeout} ms`);
  },
  async twice(service) {
    const found = await Promise.allSettled([service.update(), service.update()]);
    console.log(found.map((one) => (one.status === "rejected" ? String(one.reason) : "done")).join(" / "), service.status);
  },
  /** A loop in the body of another one. */
  async nested(service) {
    let turns = 0;
    const outer = await pushed(service, { maxForce: 0.5 }, 40, async (number) => {
      if (number === 10) await pushed(service, { maxForce: 0.25 }, 10);
      turns = service.loopStatistics.turns;
    });
    console.log(`at most ${outer} N, ${turns} turns`);
  },
  /** Loops that begin while a turn of another one is under way: in its pauses, while it waits for an answer, and in its body without being awaited. */
  async refused(service) {
    const refused: Promise<string>[] = [];
    const refuse = () => refused.push(pushed(service, {}, 20).then(String, told));
    const first = pushed(service, { maxForce: 0.5 }, 80, (number) => void (number === 20 && refuse()));
    for (let i = 0; i < 30; i++) {
      await pause(7);
      if (i > 20) refuse();
    }
    console.log(`at most ${await first} N, ${service.loopStatistics.turns} turns`);
    console.log([...new Set(await Promise.all(refused))].join(" / "));
  },
  /** A loop that nobody went on with is closed during a newer one. */
  async abandoned(service) {
    const older = service.loop();
    await older.next();
    let least = Infinity;
    const most = await pushed(service, { maxForce: 0.5 }, 60, async (number) => {
      if (number === 20) await older.return();
      if (number > 10) least = Math.min(least, service.arm.force[2]);
    });
    console.log(`${least} to ${most} N`);
  },
  /** A loop that went on although the one in whose body it began has gone on. */
  async outlived(service) {
    const older = service.loop({ maxForce: 0.5 });
    await older.next();
    const newer = service.loop();
    await newer.next();
    await older.next();
    console.log(await newer.next().then(() => "it went on", told));
    for (let i = 0; i < 3; i++) {
      service.arm.force = [0, 0, 100];
      await older.next();
    }
    console.log(`${service.arm.force[2]} N`);
    await older.return();
  },
  /** A force of before a loop that assigns none. */
  async old(service) {
    service.arm.force = [0, 0, 1];
    let most = 0;
    for await (const turn of service.loop({ rate: 200 })) {
      most = Math.max(most, service.arm.force[2]);
      if (turn.number === 20) break;
    }
    console.log(`at most ${most} N`);
  },
  async options(service) {
    const wrong = { rate: [NaN, Infinity, 0, -1, "9"], maxForce: [NaN, Infinity, -1, "9", null], seconds: [NaN, -1, "9"], stopAfterMisses: [NaN, 0, 1.5, "9"] };
    for (const [name, values] of Object.entries(wrong)) {
      const said = await Promise.all(values.map((value) => service.loop({ [name]: value }).next().then(() => "no error", told)));
      console.log(said.join(" / "));
    }
  },
  async closed(service) {
    service.close();
    for await (const _ of service.loop()) break;
    console.log("no error");
  },
  async configure(service) {
    service.arm.configure("damping", { scalar: 2 });
    await service.update();
    console.log(`configured in session ${service.sessionId}`);
    await line();
  },
  async number(service) {
    service.arm.command("set_cursor_position", { position: { x: 0, y: NaN, z: 0 } });
  },
};

const [, , url, way = ""] = process.argv;
try {
  const service = await connect(url);
  try {
    await WAYS[way]?.(service);
  } finally {
    service.close();
  }
} catch (error) {
  console.log(told(error));
  process.exitCode = 1;
}
process.stdin.unref();
