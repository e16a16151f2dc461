// @ts-check
// One HTTP exchange with the service. Never throws: a refusal and a lost connection are answers too.

import { routeUrl, token } from "./address.js";

const WITHIN_MS = 5000;

/**
 * Ask a route. Returns {ok, status, data, error, results}: `error` is one sentence, "" without one; status 0 means no answer.
 * `body` undefined sends none.
 */
export async function ask(method, path, body, { query = {}, withinMs = WITHIN_MS, keepalive = false } = {}) {
  const headers = headersOf();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const reply = await fetch(routeUrl(path, { format: "json", vocabulary: "neutral", ...query }), {
      method,
      headers,
      keepalive,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(withinMs),
    });
    return read(reply.status, await reply.json());
  } catch (error) {
    return { ok: false, status: 0, data: null, error: whyNot(error, withinMs) };
  }
}

/** GET of a text that is not JSON; null without an answer. */
export async function text(path) {
  const headers = headersOf();
  try {
    const reply = await fetch(routeUrl(path), {
      headers,
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.timeout(WITHIN_MS),
    });
    return reply.ok ? await reply.text() : null;
  } catch {
    return null;
  }
}

/** GET of a file. Returns {ok, blob, error}: `error` is one sentence, "" without one. */
export async function file(path, withinMs) {
  const headers = headersOf();
  try {
    const reply = await fetch(routeUrl(path), {
      headers,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(withinMs),
    });
    if (reply.ok) return { ok: true, blob: await reply.blob(), error: "" };
    return { ok: false, blob: null, error: read(reply.status, await reply.json()).error };
  } catch (error) {
    return { ok: false, blob: null, error: whyNot(error, withinMs) };
  }
}

/** @returns {Record<string, string>} */
function headersOf() {
  const known = token();
  return known ? { Authorization: `Bearer ${known}` } : {};
}

function whyNot(error, withinMs) {
  return error.name === "TimeoutError" ? `no answer within ${withinMs / 1000} s` : "the service cannot be reached";
}

function read(status, body) {
  const failed = body.data?.results?.find((one) => one.ok === false);
  const error = body.error ?? failed?.error ?? "";
  return { ok: body.ok && !failed, status, data: body.data, error: error ? String(error) : "" };
}

/** Path of one device's route, its id percent-encoded. */
export function deviceRoute(device, rest = "") {
  return `${device.kind}/${encodeURIComponent(device.id)}${rest && `/${rest}`}`;
}
