// The canvas of the 3D view, with its viewpoints; what it shows as numbers stands beside it in each view.

import { html, useEffect, useRef, useState } from "../../vendor/ui.js";
import { bubbleOf } from "../navigation.js";
import { loadScene } from "../scene/load.js";
import { chosenMover } from "../state.js";
import { repaint } from "../theme.js";

const VIEWPOINTS = ["perspective", "front", "side", "top"];

export function Space({ children }) {
  const canvas = useRef(null);
  const labels = useRef(null);
  const scene = useRef(null);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    let ended = false;
    loadScene()
      .then((make) => {
        if (ended) return;
        scene.current = make(canvas.current, labels.current, () => ({ device: chosenMover(), bubble: bubbleOf(chosenMover()) }));
      })
      .catch((error) => setTrouble(`The 3D view cannot be shown (${error.message}); it needs WebGL 2. The numbers are the same.`));
    return () => {
      ended = true;
      scene.current?.end();
      scene.current = null;
    };
  }, []);
  useEffect(() => scene.current?.repaint(), [repaint.value]);
  return html`
    <div class="row">
      ${children}
      <span class="row" role="group" aria-label="Viewpoint">
        ${VIEWPOINTS.map((name) => html`<button type="button" key=${name} onClick=${() => scene.current?.look(name)}>${name}</button>`)}
      </span>
    </div>
    <div class="canvas-box">
      <canvas
        ref=${canvas}
        id="space"
        tabindex="0"
        role="img"
        aria-label="3D view of the chosen device; arrow keys turn it, page up and down zoom. The same numbers stand beside it."
      ></canvas>
      <div ref=${labels} class="canvas-labels" aria-hidden="true"></div>
      ${trouble ? html`<p class="notice" id="no-webgl">${trouble}</p>` : ""}
    </div>
  `;
}
