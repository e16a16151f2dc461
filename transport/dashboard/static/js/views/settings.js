// Settings: search, change with a check of the range, hint of a restart, back to the default.

import { html, signal, useEffect, useState } from "../../vendor/ui.js";
import { ask } from "../net/http.js";
import { asText, parse, takes } from "../setting_values.js";
import { short } from "../format.js";

const records = signal([]);
const trouble = signal("");
const wanted = signal("");
const advanced = signal(false);

async function read() {
  const reply = await ask("GET", "settings", undefined, { query: { advanced: String(advanced.value) } });
  trouble.value = reply.error;
  if (reply.ok) records.value = Object.values(reply.data);
}

export function SettingsView() {
  useEffect(() => {
    read();
  }, [advanced.value]);
  const words = wanted.value.trim().toLowerCase().split(/\s+/);
  const found = records.value.filter((one) => {
    const text = `${one.key} ${one.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return html`
    <div class="row" role="search">
      <label>Search <input id="setting-search" type="search" value=${wanted.value} onInput=${(event) => (wanted.value = event.target.value)} /></label>
      <label class="check">
        <input type="checkbox" id="setting-advanced" checked=${advanced.value} onChange=${(event) => (advanced.value = event.target.checked)} />
        Advanced settings, too
      </label>
      <p class="dim" role="status">${found.length} of ${records.value.length} settings</p>
    </div>
    ${trouble.value ? html`<p class="bad">${trouble.value}</p>` : ""}
    <ul class="settings">${found.map((record) => html`<${Setting} key=${record.key} record=${record} />`)}</ul>
  `;
}

function Setting({ record }) {
  const [text, setText] = useState(asText(record));
  const [told, setTold] = useState(null);
  const field = `setting-${record.key}`;
  const changed = JSON.stringify(record.value) !== JSON.stringify(record.default);

  const take = (reply, done) => {
    if (reply.ok) {
      records.value = records.value.map((one) => (one.key === record.key ? reply.data : one));
      setText(asText(reply.data));
    }
    setTold(reply.ok ? { tone: "good", text: done } : { tone: "bad", text: reply.error });
  };
  const save = async (event) => {
    event.preventDefault();
    const { value, error } = parse(record, text);
    if (error) setTold({ tone: "bad", text: error });
    else take(await ask("POST", `settings/${record.key}`, { value }), "Saved.");
  };
  const reset = async () => take(await ask("DELETE", `settings/${record.key}`), "Back to the default.");

  return html`
    <li class="setting" data-setting=${record.key}>
      <form onSubmit=${save} novalidate>
        <label for=${field}><code>${record.key}</code></label>
        <p id=${`${field}-says`}>${record.description}</p>
        <div class="row">
          <${Field} record=${record} id=${field} text=${text} setText=${setText} wrong=${told?.tone === "bad"} />
          <span class="unit">${record.unit ?? ""}</span>
          <button type="submit">Save</button>
          <button type="button" disabled=${!changed} onClick=${reset}>Default: ${short(record.default, 40)}</button>
        </div>
        <p class="dim" id=${`${field}-takes`}>${takes(record)}</p>
        ${record.overridden_by ? html`<p class="notice">Given by the ${record.overridden_by}: ${short(record.effective, 60)} is in force.</p>` : ""}
        ${record.restart_required ? html`<p class="notice">▲ Acts at the next start of the service; until then ${short(record.effective, 60)} is in force.</p>` : ""}
        <p class=${`outcome is-${told?.tone ?? "off"}`} id=${`${field}-told`} role="status">${told?.text ?? ""}</p>
      </form>
    </li>
  `;
}

function Field({ record, id, text, setText, wrong }) {
  const { choices } = record.metadata.constraint;
  const common = {
    id,
    value: text,
    "aria-describedby": `${id}-says ${id}-takes ${id}-told`,
    "aria-invalid": wrong ? "true" : undefined,
  };
  if (record.type_hint === "BOOL" || (choices && record.type_hint === "STRING")) {
    const options = record.type_hint === "BOOL" ? ["true", "false"] : choices;
    return html`<select ...${common} onChange=${(event) => setText(event.target.value)}>
      ${options.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
    </select>`;
  }
  const numeric = record.type_hint === "INT" || record.type_hint === "FLOAT";
  return html`<input ...${common} inputmode=${numeric ? "decimal" : "text"} onInput=${(event) => setText(event.target.value)} />`;
}
