// The frame of the page: bar, alerts, menu, view.

import { html } from "../vendor/ui.js";
import { Alerts } from "./parts/alerts.js";
import { Bar } from "./parts/bar.js";
import { Help } from "./parts/help.js";
import { Asking } from "./parts/question.js";
import { TokenForm } from "./parts/token.js";
import { connection } from "./state.js";
import { view, VIEWS } from "./views.js";

export function App() {
  const current = view.value;
  const View = current.view;
  return html`
    <a class="skip" href="#view-title" onClick=${skip}>To the view</a>
    <${Bar} />
    <div class="body">
      <nav class="menu" aria-label="Views">
        <ul>
          ${VIEWS.map(
            (one) => html`<li key=${one.name}>
              <a href=${`#${one.name}`} aria-current=${one === current ? "page" : undefined}>${one.title}</a>
            </li>`,
          )}
        </ul>
      </nav>
      <main>
        <${Alerts} />
        ${connection.value === "token"
          ? html`<${TokenForm} />`
          : html`<h1 id="view-title" tabindex="-1">${current.title}</h1>
              <${View} key=${current.name} />`}
      </main>
    </div>
    <${Help} />
    <${Asking} />
  `;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("view-title")?.focus();
}
