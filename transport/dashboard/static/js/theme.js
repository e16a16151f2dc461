// Light, dark, or as the system wants it; kept for the next visit.

import { signal } from "../vendor/ui.js";

const KEY = "hapticd-theme";
const CHOICES = ["system", "light", "dark"];

export const theme = signal(CHOICES.includes(localStorage.getItem(KEY)) ? localStorage.getItem(KEY) : "system");
const system = matchMedia("(prefers-color-scheme: dark)");

/** Counts changes of colours: what draws on a canvas reads them again. */
export const repaint = signal(0);

export function nextTheme() {
  theme.value = CHOICES[(CHOICES.indexOf(theme.value) + 1) % CHOICES.length];
  localStorage.setItem(KEY, theme.value);
  apply();
}

export function beginTheme() {
  system.addEventListener("change", apply);
  apply();
}

/** A custom property of the theme in force, such as "--x". */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function apply() {
  const dark = theme.value === "dark" || (theme.value === "system" && system.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  repaint.value += 1;
}
