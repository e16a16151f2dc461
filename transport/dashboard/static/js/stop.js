// STOP and RELEASE: each is one request of its own, beside whatever else the page is doing.

import { ask } from "./net/http.js";
import { stopped, stopRequest } from "./state.js";
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

async function request(act, method) {
  const sent = performance.now();
  const mine = { act, state: "sent", text: `${act} sent\u2026` };
  stopRequest.value = mine;
  const reply = await ask(method, "stop", undefined, { withinMs: WITHIN_MS, keepalive: true });
  if (reply.data && typeof reply.data.stopped === "boolean") stopped.value = reply.data;
  // The answer to an older press says nothing about the newest one.
  if (stopRequest.value === mine) stopRequest.value = outcome(act, reply, performance.now() - sent);
  refresh();
}

function outcome(act, reply, tookMs) {
  if (reply.ok) return { act, state: "acknowledged", text: `${act} acknowledged after ${tookMs.toFixed(0)} ms` };
  const help = act === "STOP" ? "Press again, or switch the device off." : "Press again.";
  return { act, state: "failed", text: `${act} FAILED: ${reply.error.replace(/\.$/, "")}. ${help}` };
}
