// The panel of a notebook: a session that commands nothing, asked for a frame 20 times a second, and STOP as a request of the browser.

const FRAME_MS = 50;
const STATE_MS = 1000;
const OLD_MS = 1000;
const RETRY_MS = 1000;
const WITHIN_MS = 2000;
const MOVERS = ["arm", "compact"];
const RATE = /^hapticd_loop_frequency_hertz ([\d.e+]+)$/m;

function element(name, className, text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

const millimetres = (place) => ["x", "y", "z"].map((axis) => (1000 * place[axis]).toFixed(1).padStart(7)).join(" ");
const newtons = (force) => ["x", "y", "z"].map((axis) => force[axis].toFixed(2).padStart(6)).join(" ");

function render({ model, el }) {
  const url = model.get("url");
  const http = model.get("http");
  const panel = element("div", "hapticd-panel");
  const stop = element("button", "hapticd-stop", "STOP");
  const release = element("button", "hapticd-release", "RELEASE");
  const said = element("span", "hapticd-said");
  const rate = element("span", "hapticd-rate");
  const table = element("table", "");
  const bar = element("div", "hapticd-bar");
  release.hidden = true;
  said.setAttribute("role", "status");
  bar.append(stop, release, said, rate);
  panel.append(bar, table);
  el.append(panel);

  let socket = null;
  let newest = 0;
  let ended = false;

  function say(text, wrong = false) {
    said.textContent = text;
    said.classList.toggle("hapticd-wrong", wrong);
  }

  async function ask(method, path) {
    const answer = await fetch(`${http}${path}`, { method, signal: AbortSignal.timeout(WITHIN_MS), keepalive: method !== "GET" });
    const text = await answer.text();
    if (!answer.ok) throw new Error(JSON.parse(text).error ?? `status ${answer.status}`);
    return text;
  }

  function show({ stopped }) {
    release.hidden = !stopped;
    panel.classList.toggle("hapticd-stopped", stopped);
    say(stopped ? "Stopped: every force is zero" : "Not stopped");
  }

  async function act(name, method) {
    try {
      show(JSON.parse(await ask(method, "/stop")));
    } catch (error) {
      say(`${name} not delivered (${error.message}): press again, or switch the device off`, true);
    }
  }
  stop.addEventListener("click", () => act("STOP", "POST"));
  release.addEventListener("click", () => act("RELEASE", "DELETE"));

  function draw(frame) {
    newest = performance.now();
    const rows = MOVERS.flatMap((kind) => (frame[kind] ?? []).map((device) => [kind, device]));
    const head = element("tr", "");
    head.append(...["Device", "Cursor x y z, mm", "Force x y z, N"].map((text) => element("th", "", text)));
    table.replaceChildren(head);
    for (const [kind, { device_id, state }] of rows) {
      const row = element("tr", "");
      row.dataset.device = device_id;
      row.append(element("td", "", `${kind} ${device_id}`), element("td", "", millimetres(state.cursor_position)), element("td", "", newtons(state.current_cursor_force)));
      table.append(row);
    }
    if (rows.length === 0) table.append(element("caption", "", "No device is here."));
  }

  function connect() {
    if (ended) return;
    socket = new WebSocket(`${url}/?vocabulary=neutral`);
    socket.onmessage = ({ data }) => {
      draw(JSON.parse(data));
      setTimeout(() => socket?.readyState === WebSocket.OPEN && socket.send("{}"), FRAME_MS);
    };
    socket.onclose = () => setTimeout(connect, RETRY_MS);
  }

  async function look() {
    const old = performance.now() - newest > OLD_MS;
    panel.classList.toggle("hapticd-old", old);
    try {
      show(JSON.parse(await ask("GET", "/stop")));
      const found = RATE.exec(await ask("GET", "/metrics"));
      rate.textContent = found ? `Loop ${Math.round(Number(found[1])).toLocaleString("en-GB")} Hz` : "";
    } catch (error) {
      say(`The service at ${http} does not answer this browser (${error.message}): the numbers are old`, true);
    }
  }

  // A browser may keep a page that was left, and its connection with it.
  const leave = () => socket?.close();
  addEventListener("pagehide", leave);
  connect();
  look();
  const timer = setInterval(look, STATE_MS);
  return () => {
    ended = true;
    clearInterval(timer);
    removeEventListener("pagehide", leave);
    socket?.close();
    socket = null;
  };
}

export default { render };
