// The frame of the page: bar, menu, alerts, view. While a dialog is open only the dialog and the stop can be reached.

import { effect, html, useEffect } from "../vendor/ui.js";
import { dialogOpen } from "./layers.js";
import { Alerts } from "./parts/alerts.js";
import { Bar } from "./parts/bar.js";
import { Help } from "./parts/help.js";
import { Menu } from "./parts/menu.js";
import { Asking } from "./parts/question.js";
import { TokenForm } from "./parts/token.js";
import { problems } from "./problems.js";
import { blockedPorts, connection, stopped } from "./state.js";
import { argument, view } from "./views.js";

export function App() {
  useEffect(() => effect(() => (document.title = title())), []);
  const current = view.value;
  const View = current.view;
  return html`
    <a class="skip" href="#view-title" onClick=${skip}>To the view</a>
    <${Bar} />
    <div class="body" inert=${dialogOpen.value}>
      <${Menu} />
      <main>
        <${Alerts} />
        ${connection.value === "token"
          ? html`<${TokenForm} />`
          : html`<h1 id="view-title" tabindex="-1">${current.title} ${argument.value}</h1>
              <${View} key=${current.name} />`}
      </main>
    </div>
    <${Help} />
    <${Asking} />
  `;
}

// What a tab among others says: the worst first.
function title() {
  if (stopped.value?.stopped) return "STOPPED · hapticd";
  if (blockedPorts.value.length > 0) return "BLOCKED · hapticd";
  const count = problems.value.length;
  return count > 0 ? `(${count}) hapticd` : "hapticd";
}

function skip(event) {
  event.preventDefault();
  document.getElementById("view-title")?.focus();
}
