// @ts-check
// Addresses of the service as this page reaches it, and the token that another machine needs.

const TOKEN_KEY = "hapticd-token";
const BASE = new URL("../", location.href.split(/[?#]/)[0]);

/** Ports by purpose from service.json; null before it is read. */
let ports = null;

export function usePorts(found) {
  ports = found;
}

/** The token of this tab, or null. It ends with the tab and is never in the page's address. */
export function token() {
  return sessionStorage.getItem(TOKEN_KEY);
}

export function keepToken(text) {
  if (text) sessionStorage.setItem(TOKEN_KEY, text);
  else sessionStorage.removeItem(TOKEN_KEY);
}

/** URL of one HTTP route; `path` begins without a slash. */
export function routeUrl(path, query = {}) {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

/** URL of a session channel with neutral words and frames v3.1. */
export function sessionUrl() {
  return channelUrl(ports?.session, "", { version: "3.1", vocabulary: "neutral" });
}

/** URL of the event channel, which first tells again what happened after `since` (ISO 8601). */
export function eventsUrl(since) {
  return channelUrl(ports?.events, "events", { vocabulary: "neutral", ...(since ? { since } : {}) });
}

// On a port of the service a channel is found by its port; behind a proxy at the page's origin, events below `events`.
function channelUrl(port, path, query) {
  const direct = ports !== null && Object.values(ports).includes(Number(location.port || 80));
  const url = direct && port ? new URL(`http://${location.hostname}:${port}/`) : new URL(path, BASE);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  // A browser cannot set headers on a WebSocket; the service never logs a query.
  const known = token();
  if (known) url.searchParams.set("token", known);
  return url;
}
