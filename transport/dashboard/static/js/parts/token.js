// The token that a browser on another machine needs.

import { html, useState } from "../../vendor/ui.js";
import { again } from "../feed.js";
import { keepToken, token } from "../net/address.js";

export function TokenForm() {
  const [text, setText] = useState("");
  const wrong = token() !== null;
  const send = (event) => {
    event.preventDefault();
    keepToken(text.trim());
    again();
  };
  return html`
    <h1 id="view-title" tabindex="-1">Token</h1>
    <form class="panel" onSubmit=${send}>
      <p>This browser is on another machine. Type what <code>hapticd token</code> prints on the machine of the service.</p>
      ${wrong ? html`<p class="bad" id="token-wrong">The token that was used is not the right one.</p>` : ""}
      <p>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          spellcheck="false"
          required
          value=${text}
          aria-describedby=${wrong ? "token-wrong" : undefined}
          onInput=${(event) => setText(event.target.value)}
        />
        <button type="submit" class="strong">Connect</button>
      </p>
      <p class="dim">It is kept in this tab until the tab is closed, and never in the address of the page.</p>
    </form>
  `;
}
