// Events, newest first, with a filter and a pause.

import { html, signal } from "../../vendor/ui.js";
import { clock, short } from "../format.js";
import { events, eventsLive, loopStatistics } from "../state.js";
import { Chip } from "../parts/chip.js";
import { tone } from "../event_words.js";

const LEVELS = ["info", "notice", "warning", "error", "critical", "panic"];
const CATEGORIES = ["device", "session", "system", "input"];
const MOST_SHOWN = 200;

const words = signal("");
const level = signal("info");
const category = signal("");
/** The loop tells its statistics all the time: they are shown when asked for. */
const statistics = signal(false);
/** The list as it was at the press of Pause; null while it runs. */
const frozen = signal(null);

export function EventsView() {
  const source = statistics.value ? loopStatistics.value : (frozen.value ?? events.value);
  const found = source.filter(fits);
  const waiting = frozen.value === null ? 0 : events.value.length - frozen.value.length;
  return html`
    <div class="row" role="search">
      <label>Text <input id="event-text" type="search" value=${words.value} onInput=${(event) => (words.value = event.target.value)} /></label>
      <label>
        Level
        <select id="event-level" value=${level.value} onChange=${(event) => (level.value = event.target.value)}>
          ${LEVELS.map((name) => html`<option key=${name} value=${name}>${name} and above</option>`)}
        </select>
      </label>
      <label>
        Category
        <select id="event-category" value=${category.value} onChange=${(event) => (category.value = event.target.value)}>
          <option value="">all</option>
          ${CATEGORIES.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
        </select>
      </label>
      <label class="check">
        <input type="checkbox" id="event-statistics" checked=${statistics.value} onChange=${(event) => (statistics.value = event.target.checked)} />
        Statistics of the loop instead
      </label>
      <button type="button" id="event-pause" aria-pressed=${String(frozen.value !== null)} onClick=${() => (frozen.value = frozen.value ? null : events.value)}>
        Pause
      </button>
      <p class="dim">
        ${eventsLive.value ? "" : "The event channel is not connected. "}${found.length} of ${source.length} events
        ${frozen.value ? `, paused${waiting > 0 ? `, ${waiting} new` : ""}` : ""}
      </p>
    </div>
    <div class="scroll" role="region" aria-label="Events" tabindex="0">
      <table class="events as-cards">
        <thead><tr><th scope="col">Time</th><th scope="col">Level</th><th scope="col">Event</th><th scope="col">Message</th></tr></thead>
        <tbody>
          ${found.slice(0, MOST_SHOWN).map(
            (event) => html`<tr key=${event.key} data-event=${event.name}>
              <td class="number" data-name="Time">${clock(event.time)}</td>
              <td data-name="Level"><${Chip} tone=${tone(event)}>${event.level}<//></td>
              <td data-name="Event">${event.name}</td>
              <td data-name="Message">${short(event.message)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
  `;
}

function fits(event) {
  const text = words.value.trim().toLowerCase();
  return (
    LEVELS.indexOf(event.level) >= LEVELS.indexOf(level.value) &&
    (category.value === "" || event.category === category.value) &&
    (text === "" || `${event.name} ${event.message} ${JSON.stringify(event.data)}`.toLowerCase().includes(text))
  );
}
