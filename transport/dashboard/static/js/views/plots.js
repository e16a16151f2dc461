// Scrolling plots of the last 30 seconds of the chosen device, and of the last 3 minutes of the loop. A press holds them still.

import { html, signal, useEffect, useRef } from "../../vendor/ui.js";
import { Plot } from "../../vendor/plot.js";
import { drawing } from "../drawing.js";
import { histories } from "../feed.js";
import { fixed } from "../format.js";
import { saveAs } from "../save.js";
import { chosenMover, connection, live } from "../state.js";
import { colour, repaint } from "../theme.js";
import { MoverChoice } from "../parts/mover.js";

const DRAW_MS = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 50;
const HEIGHT = 200;
const AXES = [
  ["x", "--x", []],
  ["y", "--y", [8, 4]],
  ["z", "--z", [2, 3]],
];

const ofDevice = (name) => () => histories.devices.get(chosenMover()?.id)?.[name] ?? null;
const ofLoop = () => histories.loop;
const PLOTS = [
  { name: "position", title: "Position", unit: "mm", lines: AXES, seconds: 30, rows: ofDevice("position"), span: 20, decimals: 1 },
  { name: "force", title: "Force", unit: "N", lines: AXES, seconds: 30, rows: ofDevice("force"), span: 2, decimals: 2 },
  { name: "rate", title: "Loop rate", unit: "Hz", lines: [["rate", "--line", []]], seconds: 180, rows: ofLoop, columns: [1], span: 200, decimals: 0 },
  { name: "lateness", title: "Lateness, 99 % of ticks", unit: "µs", lines: [["p99", "--line", []]], seconds: 180, rows: ofLoop, columns: [2], span: 20, decimals: 1 },
];

/** Columns by plot as they were at the press of Pause; null while the plots run. */
const held = signal(null);
/** Plots that are on the page: what draws each, how often it is due, and when again. One is drawn at a time. */
const shown = new Set();
/** Row under the cursor, by plot; null without one. */
const pointed = signal({});

export function PlotsView() {
  live.value;
  useEffect(() => () => (held.value = null), []);
  useEffect(() => drawing(drawNext, DRAW_MS / 2), []);
  const pause = () => {
    held.value = held.value === null ? Object.fromEntries(PLOTS.map((plot) => [plot.name, columnsOf(plot)])) : null;
  };
  return html`
    <div class="row">
      <${MoverChoice} />
      <button type="button" id="plots-pause" aria-pressed=${String(held.value !== null)} onClick=${pause}>Pause</button>
      ${held.value === null
        ? html`<p class="dim with-mouse">Drag in a plot to zoom; a double click shows all of it.</p>`
        : html`<p class="dim">Held still: the service goes on.</p>`}
    </div>
    <div class="plots">${PLOTS.map((plot) => html`<${Figure} key=${plot.name} plot=${plot} paint=${repaint.value} turn=${live.value} />`)}</div>
  `;
}

function Figure({ plot, paint }) {
  const box = useRef(null);
  useEffect(() => draw(plot, box.current), [paint]);
  const at = pointed.value[plot.name] ?? null;
  const row = shownRow(plot, at);
  const id = chosenMover()?.id;
  const name = `${plot.columns || !id ? plot.name : `${plot.name}-${id}`}-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}`;
  return html`
    <figure data-plot=${plot.name} class=${connection.value === "open" || held.value ? "" : "stale"}>
      <figcaption>
        <span><strong>${plot.title}</strong>${plot.columns ? "" : ` of ${id ?? "no device"}`}, ${plot.unit}, last ${plot.seconds} s</span>
        <span class="number latest">
          ${plot.lines.map(
            ([axis, name, dash], line) => html`<span class=${`legend ${name.slice(2)}`} key=${axis}>
              <svg viewBox="0 0 24 6" aria-hidden="true"><line x1="0" y1="3" x2="24" y2="3" stroke-dasharray=${dash.join(" ")} /></svg>
              ${axis} ${fixed(row?.[line + 1], plot.decimals)}
            </span>`,
          )}
          ${at === null ? "" : html`<span class="dim">at ${fixed(row?.[0], 1)} s</span>`}
        </span>
      </figcaption>
      <div ref=${box} class="plot"></div>
      <p class="row">
        <button type="button" data-save="csv" aria-label=${`Save ${plot.title} as CSV`} onClick=${() => saveAs(`${name}.csv`, new Blob([asCsv(plot)], { type: "text/csv" }))}>CSV</button>
        <button type="button" data-save="png" aria-label=${`Save ${plot.title} as PNG`} onClick=${() => box.current.querySelector("canvas").toBlob((blob) => saveAs(`${name}.png`, blob))}>PNG</button>
      </p>
    </figure>
  `;
}

function columnsOf(plot) {
  const rows = plot.rows();
  if (rows === null || rows.count === 0) return [[], ...plot.lines.map(() => [])];
  const all = rows.read();
  const now = performance.now() / 1000;
  return [all[0].map((time) => time - now), ...(plot.columns ?? [1, 2, 3]).map((at) => all[at])];
}

const shownColumns = (plot) => held.value?.[plot.name] ?? columnsOf(plot);

/** Seconds before now and values of one row, the newest for null; undefined without one. */
function shownRow(plot, at) {
  const rows = plot.rows();
  if (at === null && held.value === null) {
    const newest = rows?.newest();
    return newest && [newest[0] - performance.now() / 1000, ...(plot.columns ?? [1, 2, 3]).map((column) => newest[column])];
  }
  const columns = shownColumns(plot);
  return columns[0].length ? columns.map((column) => column.at(at ?? -1)) : undefined;
}

/** Draw the plot that has been due for longest. */
function drawNext() {
  const now = performance.now();
  const due = [...shown].filter((one) => one.due <= now).sort((a, b) => a.due - b.due)[0];
  if (!due) return;
  due.due = now + due.every;
  due.draw();
}

/** Seconds before now, then a column for each line; an empty field is a gap. */
function asCsv(plot) {
  const columns = shownColumns(plot);
  const head = ["time_s", ...plot.lines.map(([axis]) => `${axis}_${plot.unit}`)].join(",");
  const rows = columns[0].map((_, at) => columns.map((column) => (column[at] === null ? "" : String(column[at]))).join(","));
  return `${[head, ...rows].join("\n")}\n`;
}

/** Range of the values with a margin, at least `span` wide, so that noise does not look like motion. */
function padded(low, high, span) {
  if (low === null || high === null) return [-span / 2, span / 2];
  const more = Math.max(0.08 * (high - low), (span - (high - low)) / 2);
  return [low - more, high + more];
}

/** Draw until the function that is returned is called. */
function draw(plot, box) {
  const ink = colour("--ink");
  const grid = { stroke: colour("--grid"), width: 1 };
  let zoom = null;
  const options = {
    width: Math.max(200, box.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: true, y: false, setScale: false } },
    hooks: {
      setCursor: [({ cursor }) => (pointed.value = { ...pointed.value, [plot.name]: cursor.idx ?? null })],
      // Read by tests: the seconds that are shown.
      setScale: [(figure, name) => name === "x" && (box.dataset.shown = `${figure.scales.x.min} ${figure.scales.x.max}`)],
      setSelect: [
        (figure) => {
          const { left, width } = figure.select;
          if (width < 4) return;
          zoom = [figure.posToVal(left, "x"), figure.posToVal(left + width, "x")];
          figure.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          figure.setScale("x", { min: zoom[0], max: zoom[1] });
        },
      ],
    },
    scales: { x: { time: false, range: () => zoom ?? [-plot.seconds, 0] }, y: { range: (_, low, high) => padded(low, high, plot.span) } },
    axes: [
      { stroke: ink, grid, ticks: grid, values: (_, marks) => marks.map((mark) => `${fixed(mark, Number.isInteger(marks[1] - marks[0]) ? 0 : 1)} s`) },
      { stroke: ink, grid, ticks: grid, size: 64 },
    ],
    series: [{}, ...plot.lines.map(([label, name, dash]) => ({ label, stroke: colour(name), width: 1.5, dash, points: { show: false } }))],
  };
  const figure = new Plot(options, shownColumns(plot), box);
  const whole = () => {
    zoom = null;
    figure.setData(shownColumns(plot));
  };
  figure.over.addEventListener("dblclick", whole);
  const sizes = new ResizeObserver(() => figure.setSize({ width: Math.max(200, box.clientWidth), height: HEIGHT }));
  sizes.observe(box);
  const turn = { draw: () => figure.setData(shownColumns(plot)), every: DRAW_MS * (plot.seconds > 60 ? 10 : 1), due: 0 };
  shown.add(turn);
  return () => {
    shown.delete(turn);
    sizes.disconnect();
    figure.destroy();
  };
}
