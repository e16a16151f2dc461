// A program of a user: a wall until its standard input closes; compiled with the client under strict.

import { connect, HapticsError, type Service, type Vector } from "../../../clients/typescript/src/hapticd.js";

const WALL_M = 1.0; // above the whole reach: it pushes always
const STIFFNESS = 2.0;

const push = (position: Vector): Vector => [0, 0, Math.max(0, STIFFNESS * (WALL_M - position[2]))];

async function wall(service: Service, way: string): Promise<void> {
  const arm = service.arm;
  let told = false;
  for await (const turn of service.loop({ rate: 200, maxForce: 3 })) {
    arm.force = way === "nan" && turn.number > 4 ? [0, 0, NaN] : push(arm.position);
    if (way === "bad" && told) arm.command("set_cursor_forces", {});
    if (!told && turn.number > 20) {
      told = true;
      console.log(`pushing in session ${service.sessionId}`);
      if (way === "throw") throw new Error("of the program");
      if (way === "break") break;
    }
    if (done) break;
  }
  const { turns, roundTripP99 } = service.loopStatistics;
  console.log(`${turns} turns, round trip p99 ${roundTripP99.toFixed(2)} ms`);
}

declare const process: {
  argv: string[];
  exitCode: number;
  stdin: { resume(): void; on(name: string, act: () => void): void; unref(): void };
};
const [, , url, way = ""] = process.argv;
let done = false;
process.stdin.on("end", () => (done = true));
process.stdin.resume();
try {
  const service = await connect(url, { profile: "wall", ...(way.startsWith("instance=") ? { expectInstance: way.slice(9) } : {}) });
  try {
    await wall(service, way);
  } finally {
    service.close();
  }
} catch (error) {
  console.log(error instanceof HapticsError ? `${error.name}: ${error.message}` : String(error));
  process.exitCode = 1;
}
process.stdin.unref();
