// @ts-check
// What a device does, as a tone and words.

import { brakes, stopped } from "./state.js";

export const isStopped = (id) => Boolean(stopped.value?.everything || stopped.value?.devices.includes(id));
export const hasMotors = (device) => device.status?.power_supply !== undefined;

/** What a device is called in a sentence: the name that people gave it, kind and id. */
export const titleOf = ({ kind, id, config }) => (config?.name ? `${config.name} (${kind} ${id})` : `${kind} ${id}`);
/** Whether a button of it is pressed now: a handle says so which one it is. */
export const isPressed = (device) => Object.values(device.state?.buttons ?? {}).some(Boolean);

/** [tone, words] of a device's state. */
export function stateWords(device) {
  const { id, status } = device;
  if (isStopped(id) && hasMotors(device)) return ["bad", "stopped"];
  if (brakes.value[id]) return ["warn", brakes.value[id] === "waiting" ? "held by its e-brake" : "brakes until it is slow"];
  if (status?.awake === false) return ["off", "asleep"];
  if (!status?.ready) return ["wait", "not ready"];
  if (status.error) return ["warn", `error ${status.error}`];
  if (status.calibrated === false) return ["warn", "not calibrated"];
  return ["good", status.in_use ? "ready, in use" : "ready"];
}
