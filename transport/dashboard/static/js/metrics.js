// The lines of the Prometheus page that the bar and the plots show.

const LINE = /^hapticd_loop_([a-z_]+)(?:\{le="([^"]+)"\})? ([-+0-9.eInfNa]+)$/;

/** Read the loop's numbers: {values: {name: number}, buckets: [[upper bound in s, count], …], ready}. */
export function readLoop(page) {
  const values = {};
  const buckets = [];
  let ready = true;
  for (const line of page.split("\n")) {
    if (line.startsWith("hapticd_ready ")) ready = Number(line.slice(14)) === 1;
    const found = LINE.exec(line);
    if (!found) continue;
    const [, name, bound, text] = found;
    if (name === "lateness_seconds_bucket") buckets.push([bound === "+Inf" ? Infinity : Number(bound), Number(text)]);
    else if (bound === undefined) values[name] = Number(text);
  }
  return { values, buckets, ready };
}

/** Quantile of what was counted between two readings, s; a straight line between two bounds. null when nothing was counted. */
export function quantile(before, after, share) {
  const counts = after.map(([bound, count], at) => [bound, count - (before[at]?.[1] ?? 0)]);
  const all = counts.at(-1)?.[1] ?? 0;
  if (all <= 0) return null;
  let low = 0;
  let under = 0;
  for (const [bound, count] of counts) {
    if (count >= share * all) {
      if (!Number.isFinite(bound)) return low;
      return low + ((share * all - under) / (count - under || 1)) * (bound - low);
    }
    low = bound;
    under = count;
  }
  return low;
}
