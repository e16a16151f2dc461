// @ts-check
// Everything that flows into the page while somebody looks at it; a hidden tab has no connection and asks nothing.

import { batch } from "../vendor/ui.js";
import { eventsUrl, usePorts } from "./net/address.js";
import { Channel } from "./net/channel.js";
import { FrameReader } from "./net/frames.js";
import { ask, text } from "./net/http.js";
import { Poll } from "./net/polls.js";
import { isStatistic } from "./event_words.js";
import { History } from "./history.js";
import { LoopJudge } from "./loop_judge.js";
import { quantile, readLoop } from "./metrics.js";
import {
  ageOf,
  brakes,
  connection,
  deviceList,
  devices,
  gone,
  events,
  eventsLive,
  live,
  loop,
  loopStatistics,
  noteStop,
  ports,
  readAt,
  readiness,
  service,
  sessionId,
  STALE_MS,
} from "./state.js";

const MOST_EVENTS = 500;
const MOST_STATISTICS = 100;
const MOST_GONE = 20;
const SECOND_MS = 1000;
/** What the bar shows as a fact must not grow older than STALE_MS between two answers. */
const FRESH_MS = 700;
const SHOWN_MS = matchMedia("(prefers-reduced-motion: reduce)").matches ? 500 : 200;
// The channel tells again what it still has; a time before every event asks for all of it.
const LONG_AGO = "2000-01-01T00:00:00Z";
const CHANGES_MUCH = /^(device-|grip-|port-)/;

/** Rows of the plots: {position, force} of each device by id, and of the loop [time, Hz, us]. */
export const histories = { loop: new History(2, 180), devices: new Map() };
const ROWS = 750;

const frames = new FrameReader(takeFrame, () => {
  if (connection.value === "open") connection.value = "lost";
  live.value += 1;
});
const eventChannel = new Channel(() => eventsUrl(lastEventTime()), {
  onOpen: () => {
    eventsLive.value = true;
  },
  onMessage: (message) => takeEvent(JSON.parse(message)),
  onLost: () => {
    eventsLive.value = false;
  },
});
const polls = [
  new Poll(readMetrics, FRESH_MS),
  new Poll(readDevices, SECOND_MS),
  new Poll(readPorts, FRESH_MS),
  new Poll(readStop, FRESH_MS),
  new Poll(readBrakes, SECOND_MS),
];
const shown = new Poll(async () => {
  showEvents();
  live.value += 1;
}, SHOWN_MS);
let arrived = [];
/** Time of the newest event that came, statistics among them. */
let lastTime = LONG_AGO;
let changed = false;
let taken = 0;
let running = false;
let round = 0;
let before = null;
const judge = new LoopJudge();
/** Readings in a row that said so. */
let unready = 0;

/** Follow the tab's visibility from now on. */
export function begin() {
  document.addEventListener("visibilitychange", follow);
  follow();
}

/** Connect again, for example with a token that was just typed in. */
export function again() {
  end();
  follow();
}

/** Ask for everything that a press may have changed, instead of at the next second. */
export function refresh() {
  if (running) for (const poll of polls) poll.now();
}

function follow() {
  if (document.visibilityState === "hidden") {
    end();
    connection.value = "paused";
  } else if (!running) {
    running = true;
    round += 1;
    connection.value = "starting";
    connect(round);
  }
}

function end() {
  running = false;
  frames.stop();
  eventChannel.stop();
  for (const poll of [...polls, shown]) poll.stop();
}

async function connect(mine) {
  shown.start();
  while (running && mine === round) {
    const [told, version] = await Promise.all([text("dashboard/service.json"), ask("GET", "version")]);
    if (!running || mine !== round) return;
    if (version.status === 401) {
      connection.value = "token";
      return;
    }
    if (told && version.ok) {
      const found = JSON.parse(told);
      usePorts(found.ports);
      service.value = { ...found, version: version.data };
      break;
    }
    connection.value = "lost";
    await new Promise((resolve) => setTimeout(resolve, SECOND_MS));
  }
  if (!running || mine !== round) return;
  frames.start();
  eventChannel.start();
  for (const poll of polls) poll.start();
}

// ------------------------------------------------------------ frames

/** How many frames this page has taken. */
export function frameCount() {
  return taken;
}

/**
 * Words and entries of the groups of devices; kinds of modules are among them.
 * @param {import("../../../../clients/typescript/src/channels").Frame} frame
 * @returns {[string, (import("../../../../clients/typescript/src/channels").MoverFrame | import("../../../../clients/typescript/src/channels").HandleFrame)[]][]}
 */
function groupsOf(frame) {
  /** @type {[string, any][]} */
  const found = Object.entries(frame);
  return found.filter(([word, group]) => word !== "errors" && Array.isArray(group));
}

/** @param {import("../../../../clients/typescript/src/channels").Frame} frame */
function takeFrame(frame) {
  taken += 1;
  const now = performance.now();
  const known = devices.value;
  const present = new Map();
  for (const [kind, group] of groupsOf(frame)) {
    for (const entry of group) {
      const old = known.get(entry.device_id);
      const device = old ?? { id: entry.device_id, kind, config: null, more: {} };
      device.kind = kind;
      device.config = entry.config ?? device.config;
      device.state = entry.state;
      device.status = entry.status;
      device.seen = now;
      present.set(device.id, device);
      remember(device, now / 1000);
    }
  }
  const changed = present.size !== known.size || [...present.keys()].some((id) => !known.has(id));
  batch(() => {
    if (connection.value !== "open") connection.value = "open";
    if (sessionId.value !== frame.session_id) sessionId.value = frame.session_id;
    if (changed) {
      noteGone(known, present);
      devices.value = present;
      live.value += 1;
    }
  });
  if (changed) {
    for (const id of histories.devices.keys()) if (!present.has(id)) histories.devices.delete(id);
    polls[1].now();
  }
}

function noteGone(known, present) {
  const went = [...known.values()].filter((device) => !present.has(device.id));
  const left = gone.value.filter((one) => !present.has(one.id));
  if (went.length === 0 && left.length === gone.value.length) return;
  const now = went.map(({ id, kind, config }) => ({ id, kind, config, at: new Date(), seen: performance.now() }));
  gone.value = [...now, ...left].slice(0, MOST_GONE);
}

function remember(device, time) {
  const at = device.state?.cursor_position;
  if (!at) return;
  if (!histories.devices.has(device.id)) {
    histories.devices.set(device.id, { position: new History(3, ROWS), force: new History(3, ROWS) });
  }
  const rows = histories.devices.get(device.id);
  const force = device.state.current_cursor_force;
  rows.position.add(time, 1000 * at.x, 1000 * at.y, 1000 * at.z);
  rows.force.add(time, force.x, force.y, force.z);
}

// ------------------------------------------------------------ events

function lastEventTime() {
  return lastTime;
}

function takeEvent(event) {
  event.key = `${event.time} ${event.name} ${event.message}`;
  arrived.push(event);
  if (event.time > lastTime) lastTime = event.time;
  if (CHANGES_MUCH.test(event.name)) changed = true;
}

// Many events at once are shown at once.
function showEvents() {
  if (arrived.length > 0) {
    add(loopStatistics, arrived.filter(isStatistic), MOST_STATISTICS);
    add(events, arrived.filter((event) => !isStatistic(event)), MOST_EVENTS);
    arrived = [];
  }
  if (changed) refresh();
  changed = false;
}

function add(list, arrived, most) {
  const known = new Set(list.value.map((event) => event.key));
  const found = arrived.filter((event) => !known.has(event.key) && known.add(event.key));
  if (found.length > 0) list.value = [...found.reverse(), ...list.value].slice(0, most);
}

// ------------------------------------------------------------ polls

async function readMetrics() {
  const page = await text("metrics");
  if (page === null) return;
  const read = performance.now();
  readAt.loop = read;
  const now = read / 1000;
  const { values, buckets, ready } = readLoop(page);
  const late = before && values.ticks_total >= before.ticks ? quantile(before.buckets, buckets, 0.99) : null;
  before = { ticks: values.ticks_total, buckets };
  loop.value = { ...judge.take(now, values), lateness: late };
  histories.loop.add(now, values.frequency_hertz, late === null ? NaN : 1e6 * late);
  await readReadiness(ready);
}

async function readDevices() {
  // To ask for devices where there are none would be an error.
  if (devices.value.size === 0) return;
  const reply = await ask("GET", "haptic*/*");
  if (reply.status === 401) again();
  if (!reply.ok) return;
  for (const { config, device_id: id, held_by, reports, interruptions } of reply.data.results ?? [reply.data]) {
    const device = devices.value.get(id);
    if (!device) continue;
    device.config = config;
    device.more = { held_by, reports, interruptions };
  }
}

async function readPorts() {
  const reply = await ask("GET", "ports");
  if (!reply.ok) return;
  readAt.ports = performance.now();
  ports.value = keepIfSame(ports.value, reply.data.ports);
}

async function readStop() {
  const asked = performance.now();
  const reply = await ask("GET", "stop");
  if (reply.ok) noteStop(reply.data, asked);
}

/** Asked only when the metrics page has said twice that the service is not ready: its 503 is a line in the browser's console. */
async function readReadiness(ready) {
  unready = ready ? 0 : unready + 1;
  if (unready < 2) {
    readiness.value = "";
    return;
  }
  const reply = await ask("GET", "readyz");
  if (reply.status !== 0) readiness.value = reply.ok ? "" : reply.error;
}

async function readBrakes() {
  const found = {};
  // To ask for devices with motors where there are none would be an error.
  const asked = deviceList().some((device) => device.status?.power_supply !== undefined && ageOf(device) < STALE_MS);
  const reply = asked ? await ask("GET", "*/*/resume") : { ok: true, data: { results: [] } };
  if (!reply.ok) return;
  for (const { device_id: id, waiting, braking } of reply.data.results ?? [reply.data]) {
    if (waiting) found[id] = "waiting";
    else if (braking) found[id] = "braking";
  }
  brakes.value = keepIfSame(brakes.value, found);
}

/** The old value while the new one says the same: nothing is drawn again. */
function keepIfSame(old, found) {
  return JSON.stringify(old) === JSON.stringify(found) ? old : found;
}
