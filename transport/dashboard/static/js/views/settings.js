// Settings in sections: search, change with a check of the range, hint of a restart, back to the default.

import { html, signal, useEffect } from "../../vendor/ui.js";
import { ask } from "../net/http.js";
import { asText, parse, takes } from "../setting_values.js";
import { short } from "../format.js";
import { question } from "../parts/question.js";
import { mayLeave } from "../views.js";

const records = signal([]);
const trouble = signal("");
const wanted = signal("");
const advanced = signal(false);
const onlyChanged = signal(false);
/** Texts that were typed and not saved, by key. */
const drafts = signal(new Map());
/** What became of the last press at a setting, by key: {tone, text}. */
const told = signal(new Map());

const isChanged = (record) => JSON.stringify(record.value) !== JSON.stringify(record.default);
const section = (key) => key.split("/")[0];

async function read() {
  const reply = await ask("GET", "settings", undefined, { query: { advanced: String(advanced.value) } });
  trouble.value = reply.error;
  if (reply.ok) records.value = Object.values(reply.data);
}

function put(map, key, value) {
  const changed = new Map(map.value);
  if (value === undefined) changed.delete(key);
  else changed.set(key, value);
  map.value = changed;
}

async function leave() {
  if (drafts.value.size === 0) return true;
  const keys = [...drafts.value.keys()];
  const yes = await question({
    title: "Leave without saving?",
    text: `Not saved: ${keys.join(", ")}.`,
    yes: "Leave",
    no: "Stay",
  });
  if (yes) drafts.value = new Map();
  return yes;
}

// The browser's own question, when the tab is closed or loaded again.
function warn(event) {
  if (drafts.value.size > 0) event.preventDefault();
}

export function SettingsView() {
  useEffect(() => {
    read();
  }, [advanced.value]);
  useEffect(() => {
    mayLeave.current = leave;
    addEventListener("beforeunload", warn);
    return () => {
      mayLeave.current = null;
      removeEventListener("beforeunload", warn);
    };
  }, []);
  const words = wanted.value.trim().toLowerCase().split(/\s+/);
  const changed = records.value.filter(isChanged);
  const found = (onlyChanged.value ? changed : records.value).filter((one) => {
    const text = `${one.key} ${one.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const sections = [...new Set(found.map((one) => section(one.key)))];
  const all = () => {
    wanted.value = "";
    onlyChanged.value = false;
  };
  return html`
    <div class="row" role="search">
      <label>Search <input id="setting-search" type="search" value=${wanted.value} onInput=${(event) => (wanted.value = event.target.value)} /></label>
      <label class="check">
        <input type="checkbox" id="setting-advanced" checked=${advanced.value} onChange=${(event) => (advanced.value = event.target.checked)} />
        Advanced settings, too
      </label>
      <label class="check">
        <input type="checkbox" id="setting-changed" checked=${onlyChanged.value} onChange=${(event) => (onlyChanged.value = event.target.checked)} />
        Changed ones only (${changed.length})
      </label>
      <p class="dim" role="status">${found.length} of ${records.value.length} settings</p>
    </div>
    ${trouble.value ? html`<p class="bad">${trouble.value}</p>` : ""}
    ${records.value.length > 0 && found.length === 0
      ? html`<p id="no-setting">No setting fits. <button type="button" onClick=${all}>Show all</button>
          ${advanced.value ? "" : " Advanced settings are not searched."}</p>`
      : ""}
    <p class="row" role="group" aria-label="Sections">${sections.map((name) => html`<button type="button" key=${name} data-jump=${name} onClick=${() => jump(name)}>${name}</button>`)}</p>
    ${sections.map(
      (name) => html`<section key=${name} aria-labelledby=${`section-${name}`}>
        <h2 id=${`section-${name}`} tabindex="-1">${name}</h2>
        <ul class="settings">${found.filter((one) => section(one.key) === name).map((record) => html`<${Setting} key=${record.key} record=${record} />`)}</ul>
      </section>`,
    )}
  `;
}

function jump(name) {
  const heading = document.getElementById(`section-${name}`);
  heading.scrollIntoView();
  heading.focus({ preventScroll: true });
}

function Setting({ record }) {
  const { key } = record;
  const draft = drafts.value.get(key);
  const text = draft ?? asText(record);
  const outcome = told.value.get(key);
  const field = `setting-${key}`;
  const changed = isChanged(record);
  const setText = (typed) => put(drafts, key, typed === asText(record) ? undefined : typed);

  const take = (reply, done) => {
    if (reply.ok) {
      records.value = records.value.map((one) => (one.key === key ? reply.data : one));
      put(drafts, key, undefined);
    }
    put(told, key, reply.ok ? { tone: "good", text: done } : { tone: "bad", text: reply.error });
  };
  const save = async (event, typed = text) => {
    event.preventDefault();
    const { value, error } = parse(record, typed);
    if (error) put(told, key, { tone: "bad", text: error });
    else take(await ask("POST", `settings/${key}`, { value }), "Saved.");
  };
  const reset = async () => take(await ask("DELETE", `settings/${key}`), "Back to the default.");

  return html`
    <li class="setting" data-setting=${key}>
      <form onSubmit=${save} novalidate>
        <label for=${field}><code>${key}</code></label>
        ${changed ? html` <span class="chip is-warn">▲ changed</span>` : ""}
        <p id=${`${field}-says`}>${record.description}</p>
        <div class="row">
          <${Field} record=${record} id=${field} text=${text} setText=${setText} save=${save} wrong=${outcome?.tone === "bad"} />
          <span class="unit">${record.unit ?? ""}</span>
          ${record.type_hint === "BOOL" ? "" : html`<button type="submit" disabled=${draft === undefined}>Save</button>`}
          <button type="button" disabled=${!changed} onClick=${reset}>Default: ${short(record.default, 40)}</button>
        </div>
        ${record.type_hint === "BOOL" ? "" : html`<p class="dim" id=${`${field}-takes`}>${takes(record)}</p>`}
        ${record.overridden_by ? html`<p class="notice">Given by the ${record.overridden_by}: ${short(record.effective, 60)} is in force.</p>` : ""}
        ${record.restart_required ? html`<p class="notice">▲ Acts at the next start of the service; until then ${short(record.effective, 60)} is in force.</p>` : ""}
        <p class=${`outcome is-${outcome?.tone ?? "off"}`} id=${`${field}-told`} role="status">${outcome?.text ?? ""}</p>
      </form>
    </li>
  `;
}

function Field({ record, id, text, setText, save, wrong }) {
  const { choices } = record.metadata.constraint;
  const common = {
    id,
    "aria-describedby": `${id}-says ${id}-takes ${id}-told`,
    "aria-invalid": wrong ? "true" : undefined,
  };
  if (record.type_hint === "BOOL") {
    return html`<span class="check">
      <input ...${common} type="checkbox" role="switch" checked=${text === "true"} onChange=${(event) => save(event, String(event.target.checked))} />
      <span aria-hidden="true">${text === "true" ? "on" : "off"}</span>
    </span>`;
  }
  if (choices && record.type_hint === "STRING") {
    return html`<select ...${common} value=${text} onChange=${(event) => setText(event.target.value)}>
      ${choices.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
    </select>`;
  }
  const numeric = record.type_hint === "INT" || record.type_hint === "FLOAT";
  return html`<input ...${common} value=${text} inputmode=${numeric ? "decimal" : "text"} onInput=${(event) => setText(event.target.value)} />`;
}
