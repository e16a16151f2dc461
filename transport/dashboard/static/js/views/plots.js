// Scrolling plots of the last 30 seconds of the chosen device, and of the last 3 minutes of the loop.

import { html, useEffect, useRef } from "../../vendor/ui.js";
import { Plot } from "../../vendor/plot.js";
import { histories } from "../feed.js";
import { fixed } from "../format.js";
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

export function PlotsView() {
  live.value;
  return html`
    <div class="row"><${MoverChoice} /></div>
    <div class="plots">${PLOTS.map((plot) => html`<${Figure} key=${plot.name} plot=${plot} paint=${repaint.value} turn=${live.value} />`)}</div>
  `;
}

function Figure({ plot, paint }) {
  const box = useRef(null);
  useEffect(() => draw(plot, box.current), [paint]);
  return html`
    <figure data-plot=${plot.name} class=${connection.value === "open" ? "" : "stale"}>
      <figcaption>
        <span><strong>${plot.title}</strong>, ${plot.unit}, last ${plot.seconds} s</span>
        <span class="number latest">${latest(plot)}</span>
      </figcaption>
      <div ref=${box} class="plot"></div>
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

function latest(plot) {
  const columns = columnsOf(plot);
  return plot.lines.map(([name], at) => `${name} ${fixed(columns[at + 1].at(-1), plot.decimals)}`).join("  ");
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
  const options = {
    width: Math.max(200, box.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, range: [-plot.seconds, 0] }, y: { range: (_, low, high) => padded(low, high, plot.span) } },
    axes: [
      { stroke: ink, grid, ticks: grid, values: (_, marks) => marks.map((mark) => `${fixed(mark, 0)} s`) },
      { stroke: ink, grid, ticks: grid, size: 64 },
    ],
    series: [{}, ...plot.lines.map(([label, name, dash]) => ({ label, stroke: colour(name), width: 1.5, dash, points: { show: false } }))],
  };
  const figure = new Plot(options, columnsOf(plot), box);
  const sizes = new ResizeObserver(() => figure.setSize({ width: Math.max(200, box.clientWidth), height: HEIGHT }));
  sizes.observe(box);
  const timer = setInterval(() => figure.setData(columnsOf(plot)), DRAW_MS * (plot.seconds > 60 ? 10 : 1));
  return () => {
    clearInterval(timer);
    sizes.disconnect();
    figure.destroy();
  };
}
