// Stop and resume of one device alone. The large STOP stops them all.

import { html, useMemo } from "../../vendor/ui.js";
import { isStopped, titleOf } from "../device_state.js";
import { refresh } from "../feed.js";
import { ask, deviceRoute } from "../net/http.js";
import { stopped } from "../state.js";
import { Outcome, outcomes } from "./done.js";
import { question } from "./question.js";

export function StopOne({ device }) {
  const outcome = useMemo(outcomes, []);
  const { id } = device;
  const now = isStopped(id);
  const press = async () => {
    if (now) {
      const yes = await question({
        title: `Release ${titleOf(device)}?`,
        text: "It may move with force at once, if a program commands it. Keep hands and faces clear.",
        yes: "Release",
        no: "Keep stopped",
      });
      if (!yes) return;
    }
    await outcome.run(ask(now ? "DELETE" : "POST", deviceRoute(device, "stop"), undefined, { keepalive: true }), "");
    refresh();
  };
  // While everything is stopped RELEASE is the only way out.
  return html`<button type="button" class="stop-one" data-stop=${id} disabled=${stopped.value?.everything} onClick=${press}>
      ${now ? `Release ${id}…` : `Stop ${id}`}
    </button>
    <${Outcome} of=${outcome} />`;
}
