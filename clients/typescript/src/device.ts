// A device as a program holds it: reads come from the newest frame, what is assigned goes with the next message.

import type { HandleFrame, MoverFrame } from "./channels.js";
import { DeviceGone, InvalidCommand } from "./errors.js";

export type Vector = readonly [number, number, number];
export type Kind = "arm" | "compact" | "grip" | "pen";
export const KINDS: readonly Kind[] = ["arm", "compact", "grip", "pen"];

const vector = ({ x, y, z }: { x: number; y: number; z: number }): Vector => [x, y, z];

function checked(value: Vector, what: string): Vector {
  if (value.length !== 3 || !value.every(Number.isFinite)) throw new InvalidCommand(`${what} is three finite numbers, and this is ${String(value)}`);
  return [value[0], value[1], value[2]];
}

function limited(force: Vector, most: number): Vector {
  const length = Math.hypot(...force);
  const factor = length > most ? most / length : 1;
  return [factor * force[0], factor * force[1], factor * force[2]];
}

export class Device {
  private entry: MoverFrame | HandleFrame | null = null;
  private commands: Record<string, unknown> = {};
  private pushed: Vector | null = null;

  constructor(readonly kind: Kind, readonly id: string) {}

  /** Whether it was in the newest frame. */
  get present(): boolean {
    return this.entry !== null;
  }
  /** Its entry of the newest frame, as docs/wire.md describes it. DeviceGone. */
  get state(): (MoverFrame | HandleFrame)["state"] {
    if (this.entry === null) throw new DeviceGone(`${this.kind} ${this.id} is unplugged: its forces are zero`);
    return this.entry.state;
  }
  private get mover(): MoverFrame["state"] {
    const found = this.state;
    if (!("cursor_position" in found)) throw new InvalidCommand(`a ${this.kind} has no cursor`);
    return found;
  }
  /** Cursor, m. DeviceGone. */
  get position(): Vector {
    return vector(this.mover.cursor_position);
  }
  /** Velocity of the cursor, m/s. DeviceGone. */
  get velocity(): Vector {
    return vector(this.mover.cursor_velocity);
  }
  /** Read: force that the service's loop applied, N. Assign: force wanted for this turn. InvalidCommand, DeviceGone. */
  get force(): Vector {
    return this.pushed ?? vector(this.mover.current_cursor_force);
  }
  set force(value: Vector) {
    this.pushed = checked(value, "a force");
  }
  /** Position that the service's loop holds in this turn, m. InvalidCommand. */
  set targetPosition(value: Vector) {
    const [x, y, z] = checked(value, "a target position");
    this.command("set_cursor_position", { position: { x, y, z } });
  }
  /** Any command for this turn, as docs/wire.md describes it. */
  command(name: string, body: object): void {
    this.commands[name] = body;
  }

  /** For the service object: take the newest entry. */
  show(entry: MoverFrame | HandleFrame | null): void {
    this.entry = entry;
  }
  /** For the service object: the commands of this turn, which it forgets. */
  take(mostForce: number): Record<string, unknown> {
    const found = this.commands;
    if (this.pushed !== null) {
      const [x, y, z] = limited(this.pushed, mostForce);
      found["set_cursor_force"] = { vector: { x, y, z } };
    }
    this.commands = {};
    this.pushed = null;
    return this.entry === null ? {} : found;
  }
}
