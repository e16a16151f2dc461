// A square that is dragged in: x and y of the simulated hand from above, with a slider for z and the arrow keys.

import { html, useRef } from "../../vendor/ui.js";
import { millimetres } from "../format.js";

const STEP = 0.005;
const KEYS = {
  ArrowLeft: ["x", -STEP],
  ArrowRight: ["x", STEP],
  ArrowUp: ["y", STEP],
  ArrowDown: ["y", -STEP],
  PageUp: ["z", STEP],
  PageDown: ["z", -STEP],
};

/** `low`, `high`: corners of the reach, m; `at`: where the hand is told to be; `cursor`: where the device is; `move(position)`. */
export function Pad({ low, high, at, cursor, move, id }) {
  const box = useRef(null);
  const wide = high[0] - low[0];
  const deep = high[1] - low[1];
  const limit = (axis, value) => Math.max(low[axis], Math.min(high[axis], value));
  const to = (change) => move({ x: limit(0, change.x ?? at.x), y: limit(1, change.y ?? at.y), z: limit(2, change.z ?? at.z) });
  const drag = (event) => {
    if (!event.buttons) return;
    const rect = box.current.getBoundingClientRect();
    to({
      x: low[0] + ((event.clientX - rect.left) / rect.width) * wide,
      y: high[1] - ((event.clientY - rect.top) / rect.height) * deep,
    });
  };
  const press = (event) => {
    const step = KEYS[event.key];
    if (!step) return;
    event.preventDefault();
    to({ [step[0]]: at[step[0]] + step[1] });
  };
  const tall = (100 * deep) / wide;
  const mark = (point) => ({ cx: 100 * ((point.x - low[0]) / wide), cy: tall * ((high[1] - point.y) / deep) });
  return html`
    <div class="pad-box">
      <svg
        ref=${box}
        id=${id}
        class="pad"
        viewBox=${`0 0 100 ${tall}`}
        tabindex="0"
        role="application"
        aria-label="Simulated hand from above: arrow keys move it by 5 mm, page up and down raise and lower it."
        onPointerDown=${(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          drag(event);
        }}
        onPointerMove=${drag}
        onKeyDown=${press}
      >
        <path class="pad-grid" d=${`M25 0V${tall}M50 0V${tall}M75 0V${tall}M0 ${tall / 4}H100M0 ${tall / 2}H100M0 ${(3 * tall) / 4}H100`} />
        ${cursor ? html`<circle class="pad-cursor" r="2" ...${mark(cursor)} />` : ""}
        <circle class="pad-hand" r="3.5" ...${mark(at)} />
      </svg>
      <label class="pad-height">
        Height z
        <input type="range" min=${low[2]} max=${high[2]} step="0.001" value=${at.z} onInput=${(event) => to({ z: Number(event.target.value) })} />
        <span class="number">${millimetres(at.z)} mm</span>
      </label>
      <p class="dim">Hand at <span class="number">${millimetres(at.x)}, ${millimetres(at.y)}, ${millimetres(at.z)} mm</span>; ring: hand, dot: cursor</p>
    </div>
  `;
}
