// What lies open over the page, newest last: dialogs and the menu of narrow windows. Escape closes the newest.

import { computed, signal } from "../vendor/ui.js";

const open = signal([]);

/** Whether a dialog is open: everything but it and the stop is out of reach then. */
export const dialogOpen = computed(() => open.value.some((layer) => layer.modal));

/** Something opens; `close()` closes it. Call what is returned when it is gone. */
export function opened(close, { modal }) {
  const layer = { close, modal };
  open.value = [...open.peek(), layer];
  return () => {
    open.value = open.peek().filter((one) => one !== layer);
  };
}

/** Close the newest; whether there was one. */
export function closeNewest() {
  const newest = open.peek().at(-1);
  newest?.close();
  return newest !== undefined;
}
