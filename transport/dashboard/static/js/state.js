// What the page knows, as signals. Values that change with every frame are plain fields; `live` counts when to show them again.

import { computed, signal } from "../vendor/ui.js";

/** "starting", "open", "lost", "paused" (hidden tab) or "token" (another machine that has shown none). */
export const connection = signal("starting");
export const service = signal({ version: null, ports: {}, kinds: {} });
/** A few times a second while the page is seen: tables follow this one, not each frame. */
export const live = signal(0);
export const sessionId = signal(null);
/** {hz, target, slow, missedLastMinute, missedShare, manyMissed, realtime, lateness} or null. */
export const loop = signal(null);
export const ports = signal([]);
/** Devices that went and are not back, newest first: {id, kind, config, at: Date, seen: performance.now()}. */
export const gone = signal([]);
/** Why the service is not ready, "" when it is. */
export const readiness = signal("");
export const sessions = signal([]);
/** {stopped, everything, devices} of GET /stop; null before the first answer. */
export const stopped = signal(null);
/** performance.now() of the newest answer, by what was asked: "stop", "ports", "loop". What is older than STALE_MS is shown as old. */
/** @type {Record<"stop" | "ports" | "loop", number | null>} */
export const readAt = { stop: null, ports: null, loop: null };
/** "waiting" (for a request to resume) or "braking" (until it is slow), by id of the devices whose e-brake acts. */
export const brakes = signal({});
/** What became of the last press of STOP or RELEASE: {act, state: "sent" | "acknowledged" | "failed" | "hint", text, at} or null. */
export const stopRequest = signal(null);
/** Newest first, without the statistics of the loop, which have a list of their own. */
export const events = signal([]);
export const loopStatistics = signal([]);
export const eventsLive = signal(false);
/** Device records by id: {id, kind, config, state, status, more, seen}. `seen` is performance.now() of the last frame with it. */
export const devices = signal(new Map());
export const selected = signal(null);

export const blockedPorts = computed(() => ports.value.filter((port) => port.state !== "active"));

const TOLD_MS = 10000;

/** The service has said what is stopped, to a question that was asked at `askedAt`: words of a press that no longer hold are forgotten. */
export function noteStop(found, askedAt) {
  readAt.stop = performance.now();
  if (JSON.stringify(stopped.value) !== JSON.stringify(found)) stopped.value = found;
  stopRequest.value = stillSo(stopRequest.value, found, askedAt);
}

/** The words about the last press, or null when they say nothing that still holds. */
export function stillSo(request, found, askedAt) {
  if (request === null || request.state === "sent" || request.at > askedAt) return request;
  if (request.state === "failed") return null;
  const contradicted = request.state === "acknowledged" && (request.act === "STOP") !== found.stopped;
  const lasts = request.state === "acknowledged" && found.stopped;
  return contradicted || (!lasts && askedAt - request.at > TOLD_MS) ? null : request;
}

/** Devices in the order of frames. */
export function deviceList() {
  return [...devices.value.values()];
}

/** Devices with a cursor. */
export function movers() {
  return deviceList().filter((device) => device.state?.cursor_position);
}

/** The chosen device with a cursor, else the first one; null without any, and while the chosen one has just gone. */
export function chosenMover() {
  const found = movers();
  if (goneChoice()) return null;
  return found.find((device) => device.id === selected.value) ?? found[0] ?? null;
}

/** The chosen device while it is unplugged: nobody is shown another one in its place. */
export function goneChoice() {
  return devices.value.has(selected.value) ? null : (gone.value.find((one) => one.id === selected.value) ?? null);
}

/** ms since the last frame that showed the device. */
export function ageOf(device) {
  return performance.now() - device.seen;
}

export const STALE_MS = 1000;

/** ms since `what` was read, Infinity before the first time. */
export function readAge(what) {
  return readAt[what] === null ? Infinity : performance.now() - readAt[what];
}
