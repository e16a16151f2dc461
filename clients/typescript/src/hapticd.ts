// Client of hapticd for browser and node. A set-point holds for the turn in which it was assigned; every way out of a loop means zero force.

import type { Fault, Frame, HandleFrame, MoverFrame } from "./channels.js";
import { Device, KINDS, type Kind } from "./device.js";
import { FrameErrors, type HapticsError, LoopTooSlow, NoService, NoSuchDevice, Refused, ServiceLost, SessionClosed, WrongInstance, WrongVersion } from "./errors.js";
import type { paths } from "./http.js";
import { busy, type LoopOptions, type LoopStatistics, Run, Runs, type Turn } from "./turns.js";

export * from "./device.js";
export * from "./errors.js";
export type { Fault, Frame, HandleFrame, LoopOptions, LoopStatistics, MoverFrame, Turn };
export type Version = Exclude<paths["/version"]["get"]["responses"]["200"]["content"]["application/json"], { ok: true }>;
export type Status = "open" | "lost" | "closed";

/** What a connection needs of WebSocket: the browser's, node's (22 or newer), or that of the package ws. */
export interface Socket {
  readyState: number;
  send(text: string): void;
  close(code?: number): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
}
export interface ConnectOptions {
  profile?: string; // name of this program at the service
  token?: string; // bearer token of a service on another machine
  expectInstance?: string; // the only running service that will do, as `instance` showed it
  timeout?: number; // ms for connecting and for each answer; 5000
  WebSocket?: new (url: string) => Socket; // where there is no global one
}

const UNKNOWN_DEVICE = "].device_id";
const OPEN = 1;
const LONGEST_PAUSE = 1e9; // ms; timers take 2^31 at most
const GOODBYE = 1000;

export class Service {
  readonly devices = new Map<string, Device>();
  status: Status = "open";
  sessionId = 0;
  instance = ""; // random id of the running service, another one after each of its starts
  commandTimeout = 50; // ms, `sessions/command_timeout`: set-points that answer to an older state are dropped
  private lost: ServiceLost | null = null;
  private owed = 1; // frames: the first comes unasked
  private inForce = false;
  private readonly runs = new Runs();
  private faults: Fault[] = [];
  private waiting: { done: () => void; failed: (error: HapticsError) => void } | null = null;
  private readonly leave = () => this.close();

  /** Made by `connect`. */
  constructor(private readonly socket: Socket, private readonly url: string, private readonly timeout: number) {
    socket.onmessage = ({ data }) => this.took(data);
    socket.onclose = ({ code, reason }) => this.ended(new ServiceLost(`The service at ${url} has ended the session (${code}${reason && `: ${reason}`}); forces are zero, connect again`));
    // A browser may keep a page that was left, and its connection with it.
    (globalThis as { addEventListener?: Window["addEventListener"] }).addEventListener?.("pagehide", this.leave);
  }

  get arm(): Device {
    return this.only("arm");
  }
  get compact(): Device {
    return this.only("compact");
  }
  get grip(): Device {
    return this.only("grip");
  }
  get pen(): Device {
    return this.only("pen");
  }
  /** Devices of a kind that are there, in the order of the frames. */
  all(kind: Kind): Device[] {
    return [...this.devices.values()].filter((device) => device.kind === kind && device.present);
  }
  private only(kind: Kind): Device {
    const [found, ...more] = this.all(kind);
    if (!found) throw new NoSuchDevice(`no ${kind} is here: plug one in, or start the service with --simulate ${kind}`);
    if (more.length > 0) throw new NoSuchDevice(`${more.length + 1} devices are a ${kind}: choose one of all("${kind}")`);
    return found;
  }

  /** What the loop that runs, or ran last, came to. */
  get loopStatistics(): LoopStatistics {
    return this.runs.newest.statistics;
  }

  /**
   * Yield turns, each with new states; what its body assigns is sent when the body has ended. Late turns are left out, and what was assigned
   * before the loop is dropped. A loop in the body of another one has its own options and figures; the outer one's hold again after it.
   * InvalidCommand for an option, and during a turn of another loop. SessionClosed, FrameErrors, LoopTooSlow, ServiceLost.
   */
  async *loop(options: LoopOptions = {}): AsyncGenerator<Turn, void, void> {
    const run = new Run(options);
    this.check();
    this.runs.begin(run, this.waiting !== null);
    this.forget();
    const { rate, figures } = run;
    const period = 1000 / rate;
    const begun = performance.now();
    let [slot, before, misses] = [0, begun, 0];
    try {
      while (true) {
        const due = begun + slot * period;
        while (due > performance.now()) await new Promise((done) => setTimeout(done, Math.min(LONGEST_PAUSE, due - performance.now())));
        this.goOn(run);
        const now = performance.now();
        if (this.isClosed() || now - begun >= 1000 * run.seconds) return;
        const late = Math.max(0, now - due);
        const skipped = Math.floor(late / period);
        slot += skipped + 1;
        misses = skipped > 0 ? misses + 1 : 0;
        if (misses >= run.mostMisses) throw new LoopTooSlow(`${misses} turns in a row were missed at ${rate} turns/s: forces are zero; make the body shorter, or lower the rate`);
        figures.missed += skipped;
        figures.longestGap = Math.max(figures.longestGap, now - before);
        before = now;
        try {
          await this.fresh();
        } catch (error) {
          if (this.isClosed()) return;
          throw error;
        }
        this.goOn(run);
        const answered = performance.now();
        run.inBody = true;
        yield { number: run.answered(answered - now), time: (now - begun) / 1000, late: late / 1000, skipped };
        run.inBody = false;
        if (this.isClosed()) return;
        this.goOn(run);
        if (performance.now() - answered > this.commandTimeout) this.forget();
        this.act();
      }
    } finally {
      if (this.runs.end(run)) this.release();
    }
  }

  /** Send what was assigned now, and take new states: one turn without pacing. FrameErrors, ServiceLost. */
  async update(): Promise<void> {
    if (this.waiting) throw busy();
    this.act();
    await this.fresh();
  }

  /** Release every force and close the connection; a second call does nothing. */
  close(): void {
    if (this.status === "open") {
      this.release();
      this.socket.close(GOODBYE);
    }
    this.status = "closed";
    (globalThis as { removeEventListener?: Window["removeEventListener"] }).removeEventListener?.("pagehide", this.leave);
  }
  [Symbol.dispose](): void {
    this.close();
  }

  /** Ask for the newest states; an empty message neither releases nor refreshes what is in force. */
  private async fresh(): Promise<void> {
    if (this.waiting) throw busy();
    this.send({});
    await this.answered();
    let found = this.faults.splice(0);
    // Sent while it was being unplugged: the program is told by DeviceGone as soon as it reads or commands it.
    if ([...this.devices.values()].some((device) => !device.present)) found = found.filter(({ path }) => !path.endsWith(UNKNOWN_DEVICE));
    if (found.length > 0) {
      this.release();
      throw new FrameErrors(found);
    }
  }
  /** Wait until every frame that is owed has come. ServiceLost. */
  answered(): Promise<void> {
    return new Promise<void>((done, failed) => {
      if (this.lost) return failed(this.lost);
      const timer = setTimeout(() => this.ended(new ServiceLost(`The service at ${this.url} has not answered for ${this.timeout} ms; forces fade by themselves: see its log`)), this.timeout);
      this.waiting = {
        done: () => (clearTimeout(timer), done()),
        failed: (error) => (clearTimeout(timer), failed(error)),
      };
    });
  }
  /** Send what was assigned; what was not assigned again is released. */
  private act(): void {
    const message: Record<string, object[]> = {};
    let commanded = false;
    for (const device of this.devices.values()) {
      const found = device.take(this.runs.mostForce);
      if (found.commands || found.configure) (message[device.kind] ??= []).push({ device_id: device.id, ...found });
      commanded ||= found.commands !== undefined;
    }
    if (!commanded) this.release();
    if (Object.keys(message).length > 0) this.send(message);
    this.inForce = commanded;
  }
  /** Have a message carry a map without a command, which releases everything of this session. */
  private release(): void {
    this.forget();
    const device = [...this.devices.values()].find((one) => one.present);
    if (this.inForce && device && this.socket.readyState === OPEN) this.send({ [device.kind]: [{ device_id: device.id, commands: {} }] });
    this.inForce = false;
  }
  /** Go on with a loop; those that began in its body and have not ended are refused from now on, with what they assigned. InvalidCommand. */
  private goOn(run: Run): void {
    if (!this.runs.goOn(run)) return;
    this.forget();
    this.waiting?.failed(busy());
    this.waiting = null;
  }
  private isClosed(): boolean {
    return this.status === "closed";
  }
  private forget(): void {
    for (const device of this.devices.values()) device.forget();
  }
  private check(): void {
    if (this.isClosed()) throw new SessionClosed("this service object is closed: connect again");
    if (this.lost) throw this.lost;
  }
  send(message: object): void {
    this.check();
    this.owed += 1;
    this.socket.send(JSON.stringify(message));
  }

  private took(data: unknown): void {
    let frame: Frame;
    try {
      frame = JSON.parse(String(data)) as Frame;
      this.faults.push(...(frame.errors ?? []));
      const seen = new Set<string>();
      for (const kind of KINDS) {
        for (const entry of frame[kind] ?? []) {
          seen.add(entry.device_id);
          if (!this.devices.has(entry.device_id)) this.devices.set(entry.device_id, new Device(kind, entry.device_id));
          this.devices.get(entry.device_id)?.show(entry);
        }
      }
      for (const device of this.devices.values()) if (!seen.has(device.id)) device.show(null);
    } catch {
      return this.ended(new NoService(`What answers at ${this.url} sends no frames of hapticd: give the service's address`));
    }
    this.sessionId = frame.session_id ?? this.sessionId;
    this.owed -= 1;
    if (this.owed > 0) return;
    this.waiting?.done();
    this.waiting = null;
  }
  private ended(error: HapticsError): void {
    if (this.status === "open") this.status = "lost";
    this.lost ??= error;
    this.waiting?.failed(error);
    this.waiting = null;
    this.socket.close(GOODBYE);
  }
}

/** Connect to `ws://HOST:PORT` and return the service; close it, or declare it with `using`. NoService, Refused, WrongInstance, WrongVersion. */
export async function connect(url = "ws://localhost:10001", options: ConnectOptions = {}): Promise<Service> {
  const { profile, token, expectInstance, timeout = 5000 } = options;
  const address = new URL(url);
  const path = `//${address.host}${address.pathname.replace(/\/$/, "")}`;
  const Maker = options.WebSocket ?? (globalThis as { WebSocket?: new (url: string) => Socket }).WebSocket;
  if (!Maker) throw new NoService("there is no WebSocket here: use node 22 or newer, or give one with {WebSocket}");
  const ask = async <T>(route: string): Promise<T> => {
    const http = `${address.protocol.replace("ws", "http")}${path}${route}?format=json`;
    const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
    const answer = await fetch(http, { headers, signal: AbortSignal.timeout(timeout) });
    const { data, error } = (await answer.json()) as { data: T; error?: string };
    if (!answer.ok) throw new Refused(error ?? `status ${answer.status}`, answer.status);
    return data;
  };
  const query = new URLSearchParams({ vocabulary: "neutral", ...(token ? { token } : {}) });
  const service = new Service(new Maker(`${address.protocol}${path}/?${query}`), url, timeout);
  try {
    await service.answered();
    // Asked once the session is open: it is this service that answers.
    const version = await ask<Version>("/version");
    service.instance = version.instance;
    if (expectInstance !== undefined && service.instance !== expectInstance) throw new WrongInstance(`another service answers at ${url} (${service.instance}) than ${expectInstance}`);
    const [major = 0, minor = 0] = version.interface.split(".").map(Number);
    if (major !== 3 || minor < 5) throw new WrongVersion(`the service at ${url} has interface ${version.interface}, and this client speaks to 3.5 and newer ones of 3.x`);
    service.commandTimeout = 1000 * (await ask<{ effective: number }>("/settings/sessions/command_timeout")).effective;
    if (profile !== undefined) {
      service.send({ session: { configure: { profile: { name: profile } } } });
      await service.answered();
    }
    return service;
  } catch (error) {
    const opened = service.sessionId > 0;
    service.close();
    if (opened) throw error;
    // A browser does not tell why a handshake failed; the same question over HTTP is answered with a sentence.
    const why: unknown = await ask("/sessions").catch((said: unknown) => said);
    throw why instanceof Refused ? why : new NoService(`No service answers at ${url}: start one with hapticd run, or give its address`);
  }
}
