// STOP and RELEASE: each is one request of its own, beside whatever else the page is doing.

import { ask } from "./net/http.js";
import { noteStop, stopRequest } from "./state.js";
import { refresh } from "./feed.js";

const WITHIN_MS = 2000;

/** Stop every device. One press, no question; a press while one is on its way sends another. */
export function stopAll() {
  return request("STOP", "POST");
}

/** Let every device move again; whoever calls it has asked. */
export function releaseAll() {
  return request("RELEASE", "DELETE");
}

/** Say something about stopping that is no press. */
export function hint(text) {
  if (stopRequest.value?.state !== "failed") stopRequest.value = { act: "hint", state: "hint", text, at: performance.now() };
}

async function request(act, method) {
  const sent = performance.now();
  const mine = { act, state: "sent", text: `${act} sent\u2026`, at: sent };
  stopRequest.value = mine;
  const reply = await ask(method, "stop", undefined, { withinMs: WITHIN_MS, keepalive: true });
  if (reply.data && typeof reply.data.stopped === "boolean") noteStop(reply.data, sent);
  // The answer to an older press says nothing about the newest one.
  if (stopRequest.value === mine) stopRequest.value = { act, ...outcome(act, reply, performance.now() - sent), at: performance.now() };
  refresh();
}

function outcome(act, reply, tookMs) {
  if (reply.ok) return { state: "acknowledged", text: `${act} acknowledged after ${tookMs.toFixed(0)} ms` };
  const again = act === "STOP" ? "press again, or switch the device off." : "press again.";
  return { state: "failed", text: `${act} not ${reply.status === 0 ? "delivered" : "done"} (${reply.error.replace(/\.$/, "")}): ${again}` };
}
