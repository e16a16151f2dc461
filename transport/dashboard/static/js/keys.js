// Keyboard: Pause and Ctrl+. always stop, Escape does when nothing is open and no field is in focus; letters can be turned off.

import { signal } from "../vendor/ui.js";
import { closeNewest, dialogOpen } from "./layers.js";
import { hint, stopAll } from "./stop.js";
import { nextTheme } from "./theme.js";
import { show, VIEWS } from "./views.js";

const KEY = "hapticd-letters";
const FIELDS = "input:not([type=checkbox], [type=range]), select, textarea, [contenteditable]";

export const lettersOn = signal(localStorage.getItem(KEY) !== "off");
export const helpOpen = signal(false);

export const KEYS = [
  ["Pause or Ctrl+.", "STOP: zero force on every device, wherever the focus is"],
  ["Esc", "close what is open, or clear and leave a field; with neither, and at the second press, STOP"],
  ["?", "this list"],
  ...VIEWS.slice(0, 10).map((one, at) => [String((at + 1) % 10), one.title]),
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
  if (event.key === "Pause" || (event.key === "." && event.ctrlKey)) {
    event.preventDefault();
    if (!event.repeat) stopAll();
    return;
  }
  if (event.key === "Escape") {
    if (!event.repeat) escape(event);
    return;
  }
  const writes = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.ctrlKey || event.altKey || event.metaKey || writes || !lettersOn.value) return;
  if (dialogOpen.value) return;
  if (event.key === "?") helpOpen.value = true;
  else if (event.key === "t") nextTheme();
  else if (/^[0-9]$/.test(event.key)) {
    const found = VIEWS[(Number(event.key) + 9) % 10];
    if (found) show(found.name);
  } else return;
  event.preventDefault();
}

// Who clears a search or closes a question does not mean to end an experiment; whoever means it presses again.
function escape(event) {
  const field = event.target.closest?.(FIELDS) ?? null;
  if (closeNewest()) hint("Closed. Esc again stops.");
  else if (field !== null) {
    leave(field);
    hint("Left the field. Esc again stops.");
  } else {
    stopAll();
    return;
  }
  event.preventDefault();
}

function leave(field) {
  if (field.type === "search" && field.value !== "") {
    field.value = "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  field.blur();
}
