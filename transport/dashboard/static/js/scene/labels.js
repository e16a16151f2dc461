// Words at points of the 3D view: elements over the canvas, so that they are as sharp as every other text.

/** {use(labels), place(camera)}; `labels`: [[text, point, class], ...]. */
export function makeLabels(box) {
  let shown = [];

  return {
    use(labels) {
      box.replaceChildren();
      shown = labels.map(([text, point, kind]) => {
        const element = document.createElement("span");
        element.textContent = text;
        element.className = kind;
        box.append(element);
        return { element, point, at: point.clone() };
      });
    },
    place(camera, width, height) {
      for (const { element, point, at } of shown) {
        at.copy(point).project(camera);
        element.hidden = Math.abs(at.z) > 1;
        const x = ((at.x + 1) / 2) * width;
        const y = ((1 - at.y) / 2) * height;
        element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -50%)`;
      }
    },
  };
}
