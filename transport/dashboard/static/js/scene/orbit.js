// A camera that turns about the device: drag, wheel, arrow keys, and four viewpoints.

const STEP = Math.PI / 24;
const STEEPEST = Math.PI / 2 - 0.02;
const LOOKS = {
  perspective: [-0.9, 0.45],
  front: [-Math.PI / 2, 0.02],
  side: [0, 0.02],
  top: [-Math.PI / 2, STEEPEST],
};

export class Orbit {
  constructor(three, camera, canvas) {
    this.camera = camera;
    this.centre = new three.Vector3();
    this.far = 1;
    [this.turn, this.tilt] = LOOKS.perspective;
    this.listening = new AbortController();
    const { signal } = this.listening;
    canvas.addEventListener("pointermove", (event) => this.#drag(event), { signal });
    canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId), { signal });
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { signal, passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event), { signal });
  }

  /** Look at `centre` from so far away that `size` (m) fits. */
  around(centre, size) {
    this.centre.set(...centre);
    this.far = 1.5 * size;
    this.#move();
  }

  look(name) {
    [this.turn, this.tilt] = LOOKS[name];
    this.#move();
  }

  end() {
    this.listening.abort();
  }

  #drag(event) {
    if (!event.buttons) return;
    this.turn -= 0.008 * event.movementX;
    this.#tiltBy(0.008 * event.movementY);
  }

  #wheel(event) {
    event.preventDefault();
    this.#zoom(event.deltaY > 0 ? 1.1 : 1 / 1.1);
  }

  #key(event) {
    const acts = {
      ArrowLeft: () => (this.turn -= STEP),
      ArrowRight: () => (this.turn += STEP),
      ArrowUp: () => this.#tiltBy(STEP),
      ArrowDown: () => this.#tiltBy(-STEP),
      PageUp: () => this.#zoom(1 / 1.1),
      PageDown: () => this.#zoom(1.1),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
    this.#move();
  }

  #tiltBy(angle) {
    this.tilt = Math.max(-STEEPEST, Math.min(STEEPEST, this.tilt + angle));
    this.#move();
  }

  #zoom(factor) {
    this.far = Math.max(0.1, Math.min(4, this.far * factor));
    this.#move();
  }

  #move() {
    const flat = this.far * Math.cos(this.tilt);
    this.camera.position.set(
      this.centre.x + flat * Math.cos(this.turn),
      this.centre.y + flat * Math.sin(this.turn),
      this.centre.z + this.far * Math.sin(this.tilt),
    );
    this.camera.lookAt(this.centre);
  }
}
