// @ts-check
// A WebSocket that is opened again until it is told to end, later after each failure, from 0.25 s to 2 s.

const FIRST_MS = 250;
const LONGEST_MS = 2000;

export class Channel {
  /**
   * `url()` is asked at each attempt; `onLost()` is called once for each loss.
   * @param {() => URL} url
   * @param {{onMessage: (text: string, channel: Channel) => void, onOpen?: (channel: Channel) => void, onLost?: () => void}} told
   */
  constructor(url, { onMessage, onOpen = () => {}, onLost = () => {} }) {
    this.url = url;
    this.on = { onMessage, onOpen, onLost };
    this.socket = null;
    this.timer = 0;
    this.pauseMs = FIRST_MS;
    this.wanted = false;
  }

  start() {
    if (this.wanted) return;
    this.wanted = true;
    this.pauseMs = FIRST_MS;
    this.#connect();
  }

  stop() {
    this.wanted = false;
    clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = null;
    if (socket) socket.close(1000);
  }

  /** Drop a connection that has gone silent; it is opened again. */
  drop() {
    this.socket?.close(4000);
    this.#lost(this.socket);
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  #connect() {
    const socket = new WebSocket(this.url());
    this.socket = socket;
    socket.onopen = () => {
      if (socket !== this.socket) return;
      this.pauseMs = FIRST_MS;
      this.on.onOpen(this);
    };
    socket.onmessage = (event) => {
      if (socket === this.socket) this.on.onMessage(event.data, this);
    };
    socket.onclose = () => this.#lost(socket);
  }

  #lost(socket) {
    if (socket === null || socket !== this.socket) return;
    this.socket = null;
    this.on.onLost();
    if (!this.wanted) return;
    this.timer = setTimeout(() => this.#connect(), this.pauseMs);
    this.pauseMs = Math.min(LONGEST_MS, this.pauseMs * 2);
  }
}
