// A line without axes beside its newest value: how a number went, at a glance.

import { html } from "../../vendor/ui.js";

/** `values`: newest last, null for a gap; at least `span` is drawn as the full height, so that noise looks flat. */
export function Sparkline({ values, span, label }) {
  const known = values.filter((value) => value !== null && Number.isFinite(value));
  if (known.length < 2) return html`<svg class="sparkline" viewBox="0 0 100 24" role="img" aria-label=${`${label}: no values yet`}></svg>`;
  const low = Math.min(...known);
  const high = Math.max(...known);
  const more = Math.max(0, (span - (high - low)) / 2);
  const y = (value) => 22 - (20 * (value - low + more)) / (high - low + 2 * more || 1);
  let path = "";
  let drawn = false;
  values.forEach((value, at) => {
    const there = value !== null && Number.isFinite(value);
    if (there) path += `${drawn ? "L" : "M"}${((100 * at) / (values.length - 1)).toFixed(2)} ${y(value).toFixed(2)}`;
    drawn = there;
  });
  return html`<svg class="sparkline" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label=${label}><path d=${path} /></svg>`;
}
