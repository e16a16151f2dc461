// The menu: the views, then the theme and the list of keys.

import { html, useEffect } from "../../vendor/ui.js";
import { helpOpen } from "../keys.js";
import { opened } from "../layers.js";
import { menuOpen } from "../menu.js";
import { service } from "../state.js";
import { nextTheme, theme } from "../theme.js";
import { view, VIEWS } from "../views.js";

const close = () => (menuOpen.value = false);

export function Menu() {
  const open = menuOpen.value;
  useEffect(() => {
    if (!open) return undefined;
    document.querySelector(".menu [aria-current]")?.scrollIntoView({ block: "nearest" });
    return opened(close, { modal: false });
  }, [open]);
  return html`
    <nav class=${`menu ${open ? "is-open" : ""}`} id="menu" aria-label="Views">
      <ul>
        ${VIEWS.map(
          (one) => html`<li key=${one.name}>
            <a href=${`#${one.name}`} aria-current=${one === view.value || one.name === view.value.menu ? "page" : undefined} onClick=${close}>${one.title}</a>
          </li>`,
        )}
        <li class="menu-tools">
          <button type="button" onClick=${nextTheme}>Theme: ${theme.value}</button>
          <button type="button" aria-haspopup="dialog" onClick=${() => (close(), (helpOpen.value = true))}>Keys <kbd>?</kbd></button>
          <p class="dim">hapticd ${service.value.version?.project_version ?? ""}</p>
        </li>
      </ul>
    </nav>
  `;
}
