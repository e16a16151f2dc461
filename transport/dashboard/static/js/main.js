// Start of the page.

import { html, render } from "../vendor/ui.js";
import { App } from "./app.js";
import { begin } from "./feed.js";
import { beginKeys } from "./keys.js";
import { beginTheme } from "./theme.js";
import { beginViews } from "./views.js";

beginTheme();
beginKeys();
beginViews();
render(html`<${App} />`, document.getElementById("app"));
begin();
