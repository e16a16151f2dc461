// One question at a time, with the harmless answer first.

import { html, signal } from "../../vendor/ui.js";
import { Modal } from "./modal.js";

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
  if (now === null) return null;
  return html`
    <${Modal} key=${now.title} id="question" title=${now.title} close=${() => now.answer(false)}>
      <p>${now.text}</p>
      <p class="row">
        <button type="button" id="question-no" autofocus onClick=${() => now.answer(false)}>${now.no}</button>
        <button type="button" id="question-yes" class="strong" onClick=${() => now.answer(true)}>${now.yes}</button>
      </p>
    <//>
  `;
}
