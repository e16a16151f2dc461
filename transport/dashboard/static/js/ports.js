// Resetting a port, from wherever it is told that it is blocked.

import { refresh } from "./feed.js";
import { ask } from "./net/http.js";

/** Reset a port; returns the answer. */
export async function resetPort(port) {
  const reply = await ask("POST", `ports/${encodeURIComponent(port)}/reset`);
  refresh();
  return reply;
}
