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

/** Refuse a number that is none anywhere in the body of a command. */
function finite(value: unknown, what: string): void {
  if (typeof value === "number" && !Number.isFinite(value)) throw new InvalidCommand(`${what} has numbers that are finite, and this is ${value}`);
  if (typeof value === "object" && value !== null) for (const part of Object.values(value)) finite(part, what);
}

export class Device {
  /** True while forces are held back, because the device or the service had gone, until `resume`. */
  withheld = false;
  private entry: MoverFrame | HandleFrame | null = null;
  private commands: Record<string, unknown> = {};
  private configuration: Record<string, unknown> = {};
  private pushed: Vector | null = null;

  constructor(readonly kind: Kind, readonly id: string) {}

  /** Whether it was in the newest frame. */
  get present(): boolean {
    return this.entry !== null;
  }
  /** Whether it is there, has settled and takes commands. */
  get ready(): boolean {
    return this.entry !== null && this.entry.status.ready === true;
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
    return vector(this.mover.current_cursor_force);
  }
  set force(value: Vector) {
    this.pushed = checked(value, "a force");
  }
  /** Position that the service's loop holds in this turn, m. InvalidCommand. */
  set targetPosition(value: Vector) {
    const [x, y, z] = checked(value, "a target position");
    this.command("set_cursor_position", { position: { x, y, z } });
  }
  /** Any command for this turn, as docs/wire.md describes it. InvalidCommand. */
  command(name: string, body: object): void {
    finite(body, name);
    this.commands[name] = body;
  }
  /** Configuration for the session, such as `configure("damping", { scalar: 2 })`; it goes with the next turn. InvalidCommand. */
  configure(key: string, body: unknown): void {
    finite(body, key);
    this.configuration[key] = body;
  }
  /** Let what is assigned from now on act again, after the device or the service had gone. */
  resume(): void {
    this.withheld = false;
  }

  /** For the service object: take the newest entry. */
  show(entry: MoverFrame | HandleFrame | null): void {
    if (entry === null && this.entry !== null) {
      this.withheld = true;
      this.forget();
    }
    this.entry = entry;
  }
  /** For the service object: commands and configuration of this turn, which it forgets. DeviceGone. */
  take(mostForce: number): { commands?: Record<string, unknown>; configure?: Record<string, unknown> } {
    const { commands, configuration, pushed } = this;
    if (pushed !== null) {
      const [x, y, z] = limited(pushed, mostForce);
      commands["set_cursor_force"] = { vector: { x, y, z } };
    }
    this.forget();
    const assigned = Object.keys(commands).length > 0;
    const configured = Object.keys(configuration).length > 0;
    if (assigned || configured) void this.state; // DeviceGone
    const commanded = assigned && !this.withheld;
    this.configuration = {};
    return { ...(commanded ? { commands } : {}), ...(configured ? { configure: configuration } : {}) };
  }
  /** For the service object: forget the commands of this turn. */
  forget(): void {
    this.commands = {};
    this.pushed = null;
  }
}
