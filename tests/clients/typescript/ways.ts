// Programs of a user that meet something: `node ways.js URL WAY`; a line on standard input lets them go on.

import { connect, DeviceGone, HapticsError, type Service } from "../../../clients/typescript/src/hapticd.js";

declare const process: { argv: string[]; exitCode: number; stdin: { once(name: string, act: () => void): void; unref(): void } };
const line = () => new Promise<void>((done) => process.stdin.once("data", done));
const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

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
  console.log(error instanceof HapticsError ? `${error.name}: ${error.message}` : String(error));
  process.exitCode = 1;
}
process.stdin.unref();
