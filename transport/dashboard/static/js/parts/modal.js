// A dialog below the bar. Unlike a modal one of the browser it leaves the stop alive: everything else on the page is inert meanwhile.

import { html, useLayoutEffect, useRef } from "../../vendor/ui.js";
import { giveFocus } from "../focus.js";
import { opened } from "../layers.js";

const CONTROLS = "[autofocus], button, input, select, a[href]";

/** `close()` is called for Escape and for a press beside the dialog; who shows it takes it away then. */
export function Modal({ id, title, close, children }) {
  const dialog = useRef(null);
  // Before anything is drawn: who sees the dialog has its keys.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const gone = opened(close, { modal: true });
    (dialog.current.querySelector("[autofocus]") ?? dialog.current.querySelector(CONTROLS))?.focus({ preventScroll: true });
    return () => {
      gone();
      // What had the focus may have gone: RELEASE does, by its own press.
      requestAnimationFrame(() => giveFocus(before?.isConnected && before !== document.body ? before : document.getElementById("stop")));
    };
  }, []);
  const beside = (event) => {
    if (event.target === event.currentTarget) close();
  };
  return html`
    <div class="over" onClick=${beside}>
      <dialog open ref=${dialog} id=${id} aria-labelledby=${`${id}-title`}>
        <h2 id=${`${id}-title`}>${title}</h2>
        ${children}
      </dialog>
    </div>
  `;
}
