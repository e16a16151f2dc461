// One question at a time, in a modal dialog with the harmless answer first.

import { html, signal, useEffect, useRef } from "../../vendor/ui.js";

const asked = signal(null);

/** Ask; resolves to true for `yes`, to false for `no`, Escape and a second question. */
export function question({ title, text, yes, no }) {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      title,
      text,
      yes,
      no,
      answer: (said) => {
        asked.value = null;
        resolve(said);
      },
    };
  });
}

export function Asking() {
  const now = asked.value;
  const dialog = useRef(null);
  useEffect(() => {
    if (now && dialog.current && !dialog.current.open) dialog.current.showModal();
  }, [now]);
  if (now === null) return null;
  return html`
    <dialog ref=${dialog} aria-labelledby="question-title" onClose=${() => now.answer(false)}>
      <h2 id="question-title">${now.title}</h2>
      <p>${now.text}</p>
      <p class="row">
        <button type="button" id="question-no" autofocus onClick=${() => now.answer(false)}>${now.no}</button>
        <button type="button" id="question-yes" class="strong" onClick=${() => now.answer(true)}>${now.yes}</button>
      </p>
    </dialog>
  `;
}
