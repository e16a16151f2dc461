// The 3D library is three quarters of everything that this page can load: it comes when the 3D view is first shown.

/** Resolves to a function (canvas, words, now) -> scene; rejects when the library cannot be loaded. */
export async function loadScene() {
  const [library, { makeScene }] = await Promise.all([import("../../vendor/scene.js"), import("./scene.js")]);
  return (canvas, words, now) => makeScene(library, canvas, words, now);
}
