// What is to be thought of an event: how loud it is, and whether it is one of the statistics that come by themselves.

const TONES = { info: "off", notice: "off", warning: "warn", error: "bad", critical: "bad", panic: "bad" };

export const isStatistic = (event) => event.name === "main-loop-statistics";

/** A stop is what somebody asked for: loud in the bar, no error here. */
const asked = (event) => event.name === "device-safety-triggered" && event.data?.safety_type === "stopped";

export function tone(event) {
  return asked(event) ? "warn" : (TONES[event.level] ?? "off");
}
