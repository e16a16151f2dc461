// What is wrong now: one list, the worst first, each with its cause and with what mends it.

import { computed } from "../vendor/ui.js";
import { titleOf } from "./device_state.js";
import { fixed, percent, whole } from "./format.js";
import { blockedPorts, brakes, connection, deviceList, devices, eventsLive, gone, live, loop, readiness } from "./state.js";

const LOW_BATTERY = 0.2;
const CONNECTIONS_OF_REAL_DEVICES = ["usb", "wired", "wireless"];

/** [{key, tone: "bad" | "warn", what, mend, view?: name of the view that mends it, forget?: id of a device that is gone}] */
export const problems = computed(() => {
  live.value;
  const found = [...ofService(), ...ofPorts(), ...deviceList().flatMap(ofDevice), ...ofGone()];
  return [...found.filter((one) => one.tone === "bad"), ...found.filter((one) => one.tone === "warn")];
});

function* ofService() {
  if (connection.value === "lost") {
    yield { key: "lost", tone: "bad", what: "The service does not answer", mend: "The page tries again by itself. On its machine, hapticd status says whether it runs." };
    return;
  }
  if (readiness.value) {
    yield { key: "readiness", tone: "bad", what: "The service is not ready", mend: `${readiness.value} hapticd doctor says what the machine lacks.` };
  }
  if (connection.value === "open" && !eventsLive.value) {
    yield { key: "events", tone: "warn", what: "No events arrive", mend: "The port of the event channel cannot be reached from here: a firewall or a proxy." };
  }
  const now = loop.value;
  if (now === null) return;
  if (now.slow) {
    yield { key: "slow", tone: "bad", what: `The loop runs at ${whole(now.hz)} of ${whole(now.target)} Hz`, mend: "The processor has no time for it: end other programs, or lower control/frequency.", view: "settings" };
  } else if (now.manyMissed) {
    yield { key: "missed", tone: "bad", what: `${whole(now.missedLastMinute)} ticks were missed in the last minute`, mend: `That is ${fixed(100 * now.missedShare, 1)} % of them: end other programs, or see hapticd doctor.`, view: "plots" };
  }
  if (!now.realtime && deviceList().some(isReal)) {
    yield { key: "realtime", tone: "warn", what: "The loop has no realtime priority", mend: "hapticd doctor says how the service gets it." };
  }
}

const isReal = (device) => CONNECTIONS_OF_REAL_DEVICES.includes(device.config?.connection) && !device.config.port?.startsWith("sim");

function ofPorts() {
  return blockedPorts.value.map(({ port, state, reason }) => ({
    key: `port ${port}`,
    tone: "bad",
    what: `Port ${port} is ${state}`,
    mend: `${reason ? `${reason.replaceAll("_", " ")}: check` : "Check"} the cable and the supply, then reset it.`,
    view: "ports",
    reset: port,
  }));
}

function* ofDevice(device) {
  const { id, state, status, more } = device;
  const name = titleOf(device);
  if (brakes.value[id] === "waiting") {
    yield { key: `brake ${id}`, tone: "warn", what: `${name} is held by its e-brake`, mend: "Resume it, on top of the page." };
  }
  if (status?.error) yield { key: `error ${id}`, tone: "warn", what: `${name} reports error ${status.error}`, mend: more.reports || "hapticd check tells more.", view: "devices" };
  else if (more.reports) yield { key: `reports ${id}`, tone: "warn", what: `${name} reports: ${more.reports}`, mend: "hapticd check tells more.", view: "devices" };
  if (status?.calibrated === false) {
    yield { key: `calibration ${id}`, tone: "warn", what: `${name} is not calibrated`, mend: "Start its calibration.", view: "calibration" };
  }
  if (state?.battery_level < LOW_BATTERY) {
    yield { key: `battery ${id}`, tone: "warn", what: `The battery of ${name} is at ${percent(state.battery_level)}`, mend: "Charge it." };
  }
}

function ofGone() {
  return gone.value
    .filter(({ id, config }) => !devices.value.has(id) && !blockedPorts.value.some(({ port }) => port === config?.port))
    .map(({ id, kind, config, at }) => ({
      key: `gone ${id}`,
      tone: "warn",
      what: `${titleOf({ id, kind, config })} went at ${at.toLocaleTimeString("en-GB")}`,
      mend: "If nobody unplugged it, check its cable and supply.",
      forget: id,
    }));
}
