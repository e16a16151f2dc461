// The service's log, newest line first, with a filter and a pause.

import { html, signal, useEffect } from "../../vendor/ui.js";
import { clock, short } from "../format.js";
import { askedAfter, FIELDS, fits, LEVELS, merged, MOST_LINES, toneOf } from "../log_lines.js";
import { ask } from "../net/http.js";
import { Poll } from "../net/polls.js";
import { Chip } from "../parts/chip.js";

const PERIOD_MS = 2000;
const MOST_SHOWN = 200;
const LONGEST_MESSAGE = 1000;

/** Newest first; null before the first answer. */
const lines = signal(null);
/** Why the log could not be read, "" when it could. */
const trouble = signal("");
const words = signal("");
const level = signal("info");
/** The lines as they were at the press of Pause; null while they run. */
const frozen = signal(null);

async function read() {
  const known = lines.value ?? [];
  const reply = await ask("GET", "log", undefined, { query: { after: String(askedAfter(known)), limit: String(MOST_LINES) } });
  trouble.value = reply.ok ? "" : reply.error;
  if (!reply.ok) return;
  const found = merged(known, reply.data);
  if (found !== null) lines.value = found;
  else {
    lines.value = [];
    await read();
  }
}

export function LogView() {
  useEffect(() => {
    const poll = new Poll(read, PERIOD_MS);
    poll.start();
    return () => poll.stop();
  }, []);
  const source = frozen.value ?? lines.value ?? [];
  const found = source.filter((line) => fits(line, level.value, words.value));
  const newest = lines.value?.[0]?.number ?? 0;
  const waiting = frozen.value === null ? 0 : newest - (frozen.value[0]?.number ?? 0);
  return html`
    <div class="row" role="search">
      <label>Text <input id="log-text" type="search" value=${words.value} onInput=${(event) => (words.value = event.target.value)} /></label>
      <label>
        Level
        <select id="log-level" value=${level.value} onChange=${(event) => (level.value = event.target.value)}>
          ${LEVELS.map((name) => html`<option key=${name} value=${name}>${name} and above</option>`)}
        </select>
      </label>
      <button type="button" id="log-pause" aria-pressed=${String(frozen.value !== null)} onClick=${() => (frozen.value = frozen.value ? null : source)}>
        Pause
      </button>
      <p class="dim" id="log-count">
        ${found.length > MOST_SHOWN ? `the newest ${MOST_SHOWN} of ` : ""}${found.length} of ${source.length} lines
        ${frozen.value ? `, paused${waiting > 0 ? `, ${waiting} new` : ""}` : ""}
      </p>
    </div>
    ${trouble.value ? html`<p class="outcome is-bad" id="log-trouble" role="status">The log cannot be read: ${trouble.value}</p>` : ""}
    ${found.length > 0 ? html`<${Lines} found=${found.slice(0, MOST_SHOWN)} />` : html`<p id="log-empty">${empty(source.length)}</p>`}
  `;
}

function empty(count) {
  if (lines.value === null) return trouble.value ? "" : "The log is being read\u2026";
  return count === 0 ? "The service has logged nothing yet." : "No line fits: choose a lower level, or another text.";
}

function Lines({ found }) {
  return html`
    <div class="scroll" role="region" aria-label="Log" tabindex="0">
      <table class="log as-cards">
        <thead><tr><th scope="col">Time</th><th scope="col">Level</th><th scope="col">Logger</th><th scope="col">Message</th></tr></thead>
        <tbody>
          ${found.map(
            (line) => html`<tr key=${line.number} data-line=${line.number} data-level=${line.level}>
              <td class="number" data-name="Time">${clock(line.time)}</td>
              <td data-name="Level"><${Chip} tone=${toneOf(line)}>${line.level}<//></td>
              <td data-name="Logger">${line.kind}</td>
              <td data-name="Message">
                ${short(line.message, LONGEST_MESSAGE)} <span class="dim">${fieldsOf(line)}</span>
                ${line.traceback ? html`<details><summary>Traceback</summary><pre>${line.traceback}</pre></details>` : ""}
              </td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
  `;
}

function fieldsOf(line) {
  return FIELDS.filter((name) => line[name] !== undefined)
    .map((name) => `${name} ${line[name]}`)
    .join(", ");
}
