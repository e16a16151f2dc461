// Numbers and times as text, always with the same number of digits, so that columns do not jump.

const MINUS = "\u2212";

/** A number with fixed decimals; an en dash for what is no number. */
export function fixed(value, decimals) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "\u2013";
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", MINUS);
}

export const millimetres = (metres) => fixed(1000 * metres, 1);
export const newtons = (value) => fixed(value, 2);
export const whole = (value) => (Number.isFinite(value) ? Math.round(value).toLocaleString("en-GB") : "\u2013");
export const percent = (share) => `${fixed(100 * share, 0)} %`;

export function length(vector) {
  return vector ? Math.hypot(vector.x, vector.y, vector.z) : NaN;
}

/** x, y and z of a vector with a factor; numbers of equal width, so that columns of cards line up. */
export const vector = ({ x, y, z }, factor, decimals) => [x, y, z].map((value) => fixed(factor * value, decimals)).join(", ");

const NATURAL = new Intl.Collator("en", { numeric: true });
/** Compare texts with the numbers in them as numbers: sim2 before sim10. */
export const natural = (a, b) => NATURAL.compare(a, b);

/** Age in words: "now" within a second, then "1.4 s old". */
export function age(ms) {
  return ms < 1000 ? "now" : `${fixed(ms / 1000, 1)} s old`;
}

/** Local time of an ISO 8601 text, with the date before it when that is not today. */
export function clock(iso) {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return String(iso);
  const day = time.toDateString() === new Date().toDateString() ? "" : `${time.toLocaleDateString("en-CA")} `;
  return `${day}${time.toLocaleTimeString("en-GB")}`;
}

/** A JSON value as one short text. */
export function short(value, longest = 160) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest - 1)}\u2026` : text;
}
