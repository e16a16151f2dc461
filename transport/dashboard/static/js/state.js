// What the page knows, as signals. Values that change with every frame are plain fields; `live` counts when to show them again.

import { computed, signal } from "../vendor/ui.js";

/** "starting", "open", "lost", "paused" (hidden tab) or "token" (another machine that has shown none). */
export const connection = signal("starting");
export const service = signal({ version: null, ports: {}, kinds: {} });
/** A few times a second while the page is seen: tables follow this one, not each frame. */
export const live = signal(0);
export const sessionId = signal(null);
export const loop = signal(null);
export const ports = signal([]);
export const sessions = signal([]);
/** {stopped, everything, devices} of GET /stop; null before the first answer. */
export const stopped = signal(null);
/** "waiting" (for a request to resume) or "braking" (until it is slow), by id of the devices whose e-brake acts. */
export const brakes = signal({});
/** What became of the last press of STOP or RELEASE: {act, state: "sent" | "acknowledged" | "failed", text} or null. */
export const stopRequest = signal(null);
/** Newest first. */
export const events = signal([]);
export const eventsLive = signal(false);
/** Device records by id: {id, kind, config, state, status, more, seen}. `seen` is performance.now() of the last frame with it. */
export const devices = signal(new Map());
export const selected = signal(null);

export const blockedPorts = computed(() => ports.value.filter((port) => port.state !== "active"));

/** Devices in the order of frames. */
export function deviceList() {
  return [...devices.value.values()];
}

/** Devices with a cursor. */
export function movers() {
  return deviceList().filter((device) => device.state?.cursor_position);
}

/** The chosen device with a cursor, else the first one; null without any. */
export function chosenMover() {
  const found = movers();
  return found.find((device) => device.id === selected.value) ?? found[0] ?? null;
}

/** ms since the last frame that showed the device. */
export function ageOf(device) {
  return performance.now() - device.seen;
}

export const STALE_MS = 1000;
