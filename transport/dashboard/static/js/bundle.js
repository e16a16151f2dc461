// The support bundle: made by the service, saved by the browser.

import { file } from "./net/http.js";
import { saveAs } from "./save.js";

// The service's doctor may take 10 s.
const WITHIN_MS = 30000;

/** Download it. Returns {ok, error}. */
export async function downloadBundle() {
  const reply = await file("support-bundle", WITHIN_MS);
  if (reply.ok) saveAs(bundleName(new Date()), reply.blob);
  return reply;
}

/** Name of a bundle that is made at this time, as the service names it. */
export function bundleName(date) {
  const [day, time] = date.toISOString().split(/[T.]/);
  return `hapticd-support-${day.replaceAll("-", "")}-${time.replaceAll(":", "")}.zip`;
}
