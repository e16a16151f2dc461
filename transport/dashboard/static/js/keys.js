// Keyboard: Escape and Pause stop wherever the focus is; single letters only outside of fields, and they can be turned off.

import { signal } from "../vendor/ui.js";
import { stopAll } from "./stop.js";
import { nextTheme } from "./theme.js";
import { show, VIEWS } from "./views.js";

const KEY = "hapticd-letters";

export const lettersOn = signal(localStorage.getItem(KEY) !== "off");
export const helpOpen = signal(false);

export const KEYS = [
  ["Esc or Pause", "STOP: zero force on every device, wherever the focus is"],
  ["?", "this list"],
  ...VIEWS.map((one, at) => [String((at + 1) % 10), one.title]),
  ["t", "theme: as the system, light, dark"],
  ["Tab, Shift+Tab", "to the next or the previous control"],
  ["Arrow keys", "turn the 3D view or move the simulated hand, while it has the focus"],
  ["Page up, Page down", "zoom the 3D view; raise or lower the simulated hand"],
];

export function setLetters(on) {
  lettersOn.value = on;
  localStorage.setItem(KEY, on ? "on" : "off");
}

export function beginKeys() {
  // In the capture phase: nothing on the page can keep a stop from being sent.
  addEventListener("keydown", pressed, { capture: true });
}

function pressed(event) {
  if ((event.key === "Escape" || event.key === "Pause") && !event.repeat) {
    stopAll();
    return;
  }
  const writes = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.ctrlKey || event.altKey || event.metaKey || writes || !lettersOn.value) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "?") helpOpen.value = true;
  else if (event.key === "t") nextTheme();
  else if (/^[0-9]$/.test(event.key)) {
    const found = VIEWS[(Number(event.key) + 9) % 10];
    if (found) show(found.name);
  } else return;
  event.preventDefault();
}
