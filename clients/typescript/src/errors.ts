// What can go wrong, each with a sentence that says what to do.

import type { Fault } from "./channels.js";

export class HapticsError extends Error {
  override name = this.constructor.name;
}
/** No service answers, or what answers is none. */
export class NoService extends HapticsError {}
/** The service refuses the session; `status` is that of HTTP. */
export class Refused extends HapticsError {
  constructor(sentence: string, readonly status: number) {
    super(sentence);
  }
}
/** The service speaks a version of the interface that this client does not know. */
export class WrongVersion extends HapticsError {}
/** Another running service answers than the one that was expected. */
export class WrongInstance extends HapticsError {}
/** The connection has ended; the service releases every force of its session by itself. */
export class ServiceLost extends HapticsError {}
/** The service object is closed. */
export class SessionClosed extends HapticsError {}
export class NoSuchDevice extends HapticsError {}
/** The device was unplugged; its forces are zero. */
export class DeviceGone extends HapticsError {}
/** A value that no command takes; raised where it is assigned. */
export class InvalidCommand extends HapticsError {}
/** Too many turns in a row were missed. */
export class LoopTooSlow extends HapticsError {}
/** The service refused parts of a message; every command of it has been released. */
export class FrameErrors extends HapticsError {
  constructor(readonly faults: readonly Fault[]) {
    super(faults.map(({ path, reason }) => `${path || "the message"}: ${reason}`).join("; "));
  }
}
