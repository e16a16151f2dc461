// Drawing that leaves the page its time: where it is slow (no graphics processor), two thirds stay free for everything else, STOP above all.

const FRAME_MS = 17;

/** Draw at most each `least` ms, until the function that is returned is called; a page that is hidden draws nothing. */
export function drawing(draw, least) {
  let ended = false;
  let timer = 0;
  const turn = () => {
    if (ended) return;
    const began = performance.now();
    draw();
    // What was drawn is on its way to the screen when the next frame begins: some browsers draw only then.
    requestAnimationFrame(() => {
      const taken = Math.max(0, performance.now() - began - FRAME_MS);
      timer = setTimeout(turn, Math.max(least, 2 * taken));
    });
  };
  turn();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
