// The bar that is always there: menu, connection, loop, problems, STOP.

import { html, useEffect, useRef } from "../../vendor/ui.js";
import { giveFocus } from "../focus.js";
import { fixed, whole } from "../format.js";
import { dialogOpen } from "../layers.js";
import { menuOpen } from "../menu.js";
import { problems } from "../problems.js";
import { connection, live, loop, readAge, STALE_MS, stopped, stopRequest } from "../state.js";
import { releaseAll, stopAll } from "../stop.js";
import { view } from "../views.js";
import { Chip } from "./chip.js";
import { question } from "./question.js";

const CONNECTIONS = {
  starting: ["wait", "connecting"],
  open: ["good", "connected"],
  lost: ["bad", "connection lost"],
  paused: ["wait", "paused"],
  token: ["bad", "token needed"],
};

export function Bar() {
  const bar = useRef(null);
  useEffect(() => measure(bar.current), []);
  const [tone, words] = CONNECTIONS[connection.value];
  return html`
    <header ref=${bar} class=${`bar ${stopped.value?.stopped ? "is-stopped" : ""}`}>
      <div class="bar-facts" inert=${dialogOpen.value}>
        <button type="button" id="menu-button" class="menu-button" aria-expanded=${String(menuOpen.value)} aria-controls="menu" onClick=${() => (menuOpen.value = !menuOpen.value)}>
          <span aria-hidden="true">☰</span> ${view.value.title}
        </button>
        <p class="brand"><strong>hapticd</strong></p>
        <p><${Chip} tone=${tone} id="connection">${words}<//></p>
        <${LoopFacts} turn=${live.value} />
        <${ProblemCount} />
      </div>
      <${Stop} turn=${live.value} />
    </header>
  `;
}

// Dialogs, the menu and jumps to a heading begin below the bar, whose height depends on what it has to say.
function measure(bar) {
  const note = () => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
  const sizes = new ResizeObserver(note);
  sizes.observe(bar);
  return () => sizes.disconnect();
}

/** "" while a fact is fresh, else how old it is. */
function old(what) {
  const ms = readAge(what);
  return ms > STALE_MS && Number.isFinite(ms) ? ` ${fixed(ms / 1000, 0)} s old` : "";
}

function LoopFacts() {
  const now = loop.value;
  if (now === null) return html`<p class="dim fact-loop">loop: no numbers yet</p>`;
  const age = old("loop");
  return html`
    <p class=${`fact-loop ${age ? "stale" : ""}`} id="loop">
      <span class="label">Loop</span>
      <span class="number">${whole(now.hz)} of ${whole(now.target)} Hz</span>${age}
      ${now.slow && !age ? html` <${Chip} tone="bad">slow<//>` : ""}
    </p>
    <p class=${`fact-missed ${age ? "stale" : now.manyMissed ? "bad" : "dim"}`} id="missed">
      <span class="label">Missed ticks</span>
      <span class="number">${whole(now.missedLastMinute)} per min</span>
    </p>
  `;
}

function ProblemCount() {
  const count = problems.value.length;
  const worst = problems.value.some((one) => one.tone === "bad") ? "bad" : "warn";
  return html`
    <p id="problem-count">
      <a href="#problems">${count === 0 ? "No problem" : html`<${Chip} tone=${worst}>${count}<span class="chip-word"> ${count === 1 ? "problem" : "problems"}</span><//>`}</a>
    </p>
  `;
}

function Stop() {
  const latch = stopped.value;
  const request = stopRequest.value;
  const age = old("stop");
  return html`
    <section class="stop" aria-label="Stop">
      <div class="stop-words">
        <p class=${`stop-state ${age ? "stale" : ""}`} id="stop-state">${latchWords(latch)}${age}</p>
        <p class=${`stop-request is-${request?.state ?? "none"}`} id="stop-request" aria-live="polite">
          ${request?.text ?? html`<span class="with-keys">Pause, Ctrl+. and Esc stop, too.</span>`}
        </p>
        <p class="stop-kind">Software stop, not an emergency stop device.</p>
      </div>
      ${latch?.stopped ? html`<button type="button" id="release" aria-haspopup="dialog" disabled=${dialogOpen.value} onClick=${askRelease}>RELEASE…</button>` : ""}
      <button type="button" class="stop-button" id="stop" onPointerDown=${touched} onClick=${clicked}><span aria-hidden="true">■</span> STOP</button>
    </section>
  `;
}

let touchedBy = null;

// As a switch: it stops when it is pressed, not when it is let go.
function touched(event) {
  if (event.button !== 0) return;
  touchedBy = event.pointerId;
  stopAll();
}

// The click of that press is none of its own; one from the keyboard or a screen reader is.
function clicked(event) {
  if (event.pointerId === touchedBy) touchedBy = null;
  else stopAll();
}

function latchWords(latch) {
  if (latch === null) return "Stop state unknown";
  if (latch.everything) return "■ Everything is stopped";
  if (latch.stopped) return `■ Stopped: ${latch.devices.join(", ")}`;
  return "Not stopped";
}

async function askRelease() {
  const yes = await question({
    title: "Release the stop?",
    text: "Devices may move with force at once, if a program commands them. Keep hands and faces clear.",
    yes: "RELEASE",
    no: "Keep stopped",
  });
  if (yes) await releaseAll();
  // It goes with the state that it has ended.
  if (document.activeElement?.id === "release") document.activeElement.blur();
  giveFocus(document.getElementById("stop"));
}
