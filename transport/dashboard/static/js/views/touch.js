// The guided first touch: move the hand, feel a wall, see the force. It needs no client program.

import { html, signal, useEffect, useRef } from "../../vendor/ui.js";
import { titleOf } from "../device_state.js";
import { fixed, millimetres, newtons } from "../format.js";
import { Hand, handPath } from "../hand.js";
import { ask } from "../net/http.js";
import { brakes, chosenMover, live, service, stopped } from "../state.js";
import { TouchSession } from "../touch.js";
import { MoverChoice } from "../parts/mover.js";
import { Pad } from "../parts/pad.js";
import { Side } from "../parts/side.js";

const MOVED_M = 0.02;
const BELOW_M = 0.015;
const FELT_N = 0.3;
const SEEN_N = 1;

const STEPS = ["Move the hand", "Feel a wall", "See the force"];
/** m under the wall at which a hand that feels nothing is told so. */
const LET_GO_M = 0.005;
/** {step, from, height, most, hand, before, letGo} of a running touch; null before the start. `before`: what the simulated hand did. */
const run = signal(null);
/** The newest state of the device in the session of the touch. */
const moment = signal(null);
const trouble = signal("");

export function TouchView() {
  live.value;
  const session = useRef(null);
  const hand = useRef(null);
  const device = chosenMover();

  const end = () => {
    session.current?.stop();
    session.current = null;
    const before = run.value?.before;
    if (before) hand.current.tell({ hand: before });
    run.value = null;
    moment.value = null;
  };
  useEffect(() => {
    const hidden = () => {
      if (document.visibilityState === "hidden") end();
    };
    document.addEventListener("visibilitychange", hidden);
    return () => {
      document.removeEventListener("visibilitychange", hidden);
      end();
    };
  }, []);

  const begin = async () => {
    trouble.value = "";
    const at = device.state.cursor_position;
    hand.current = device.config?.connection === "simulated" ? new Hand(handPath(device), takeHand) : null;
    let before = null;
    if (hand.current) {
      // The hand comes to rest where the cursor is, so that it is the person who moves it; at the end it goes on as before.
      const told = await ask("GET", handPath(device));
      if (!told.ok) {
        trouble.value = told.error;
        return;
      }
      const { path, position } = told.data.hand;
      before = { path, position };
      await hand.current.place(at);
    }
    run.value = { step: 0, from: device.state.cursor_position, height: null, most: 0, hand: at, device, before, letGo: false };
    session.current = new TouchSession(device, (state) => follow(session.current, state), () => {
      trouble.value = "The session was lost; it is opened again.";
    });
    await session.current?.start();
  };

  // A stop takes the wall away: the touch is over.
  useEffect(() => {
    if (run.value === null || !stopped.value?.stopped) return;
    end();
    trouble.value = "Everything was stopped, so the touch has ended. Press RELEASE, then begin again.";
  }, [stopped.value?.stopped]);

  if (!device) return html`<p>No device with a cursor is connected.</p>`;
  if (run.value === null) return html`<${Intro} begin=${begin} device=${device} />`;
  return html`<${Running} end=${end} hand=${hand.current} session=${session.current} turn=${live.value} />`;
}

function Intro({ begin, device }) {
  const latch = stopped.value;
  const braked = brakes.value[device.id] !== undefined;
  return html`
    <div class="panel narrow">
      <p>Three steps that show what this service does. The page opens a session of its own for them and closes it at the end.</p>
      <ol class="steps">${STEPS.map((step) => html`<li key=${step}>${step}</li>`)}</ol>
      <p class="row">
        <${MoverChoice} />
        <button type="button" class="strong" id="touch-begin" disabled=${latch?.stopped || braked} onClick=${begin}>Begin with ${titleOf(device)}</button>
      </p>
      ${trouble.value ? html`<p class="notice" id="touch-trouble" role="status">${trouble.value}</p>` : ""}
      ${latch?.stopped && !trouble.value ? html`<p class="notice">Everything is stopped: press RELEASE first.</p>` : ""}
      ${braked ? html`<p class="notice">The e-brake of ${device.id} acts: see above.</p>` : ""}
      <p class="dim">Force comes only from the wall of step 2, and only while this page is seen. STOP ends it at once.</p>
    </div>
  `;
}

function Running({ end, hand, session }) {
  const now = run.value;
  const state = moment.value;
  const force = state?.current_cursor_force.z ?? 0;
  const reach = service.value.kinds[now.device.kind];
  return html`
    <div class="split even">
      <section class="panel" aria-label="Steps">
        <ol class="steps" id="touch-steps">
          ${STEPS.map(
            (step, at) => html`<li key=${step} aria-current=${at === now.step ? "step" : undefined} class=${at < now.step ? "is-done" : ""}>
              ${at < now.step ? "✓ " : ""}${step}
            </li>`,
          )}
        </ol>
        <p id="touch-words" role="status">${words(now, Boolean(hand), session?.rendered)}</p>
        ${hand && reach ? html`<${Pad} id="touch-pad" low=${reach.low} high=${reach.high} at=${now.hand} cursor=${state?.cursor_position} move=${(position) => moveHand(hand, position)} />` : ""}
        <p class="row"><button type="button" id="touch-end" onClick=${end}>${now.step > 2 ? "Finish" : "End the touch"}</button></p>
        ${trouble.value ? html`<p class="bad">${trouble.value}</p>` : ""}
        ${session && !session.rendered && now.height !== null ? html`<p class="dim">This service renders no walls by itself, so the page does; its wall is softer.</p>` : ""}
      </section>
      <section class="panel" aria-label="Side view">
        <${Side} reach=${reach} state=${state} height=${now.height} />
        <p class="big-number" id="touch-force">${newtons(Math.abs(force))} N</p>
        <p class="dim">
          Height <span class="number">${state ? millimetres(state.cursor_position.z) : "–"} mm</span>
          ${now.height === null ? "" : html`, wall at <span class="number">${millimetres(now.height)} mm</span>`},
          largest force so far <span class="number" id="touch-most">${newtons(now.most)} N</span>
        </p>
      </section>
    </div>
  `;
}

function words(now, simulated, rendered) {
  const how = simulated ? "Drag the ring, or click the map and press the arrow keys." : "Take the handle.";
  if (now.letGo) return "The wall has let go: this page was late. Raise the hand above it and press again.";
  const down = simulated ? "Lower the hand with the slider or Page down" : "Lower the handle";
  if (now.step === 0) return `${how} Move it by two centimetres.`;
  if (now.step === 1) return `A wall is ${fixed(1000 * BELOW_M, 0)} mm below the hand. ${down} until it meets the wall.`;
  if (now.step === 2) return `The arrow is the force on the hand. Press harder, to ${SEEN_N} N.`;
  const who = rendered ? "rendered at the rate of the control loop" : "rendered by this page";
  return `That is a wall, ${who}. Finish takes it away.${simulated ? " The hand then goes on as before." : ""}`;
}

function moveHand(hand, position) {
  run.value = { ...run.value, hand: position };
  hand.place(position);
}

function takeHand(reply) {
  // The answer to the end of a touch says nothing about why it ended.
  if (run.value === null) return;
  trouble.value = reply.ok ? "" : reply.error;
}

function follow(session, state) {
  const now = run.value;
  if (now === null || session === null) return;
  moment.value = state;
  const at = state.cursor_position;
  const force = Math.hypot(...Object.values(state.current_cursor_force));
  const most = Math.max(now.most, now.height === null ? 0 : force);
  let { step, height } = now;
  if (step === 0 && Math.hypot(at.x - now.from.x, at.y - now.from.y, at.z - now.from.z) > MOVED_M) {
    step = 1;
    height = Math.min(at.z, now.hand.z) - BELOW_M;
    session.wall(height);
  } else if (step === 1 && force > FELT_N) step = 2;
  else if (step === 2 && most >= SEEN_N) step = 3;
  // After a pause of the page the wall is met anew where the hand is: it must be told that nothing pushes there.
  const letGo = step > 1 && force < FELT_N && at.z < height - LET_GO_M;
  if (step !== now.step || most > now.most || letGo !== now.letGo) run.value = { ...run.value, step, height, most, letGo };
}
