// Constituents that are dragged among their siblings, by mouse, pen or finger.

import { element } from "./dom.js";
import { itemsOf } from "./tree.js";

const THRESHOLD = 6; // pixels

/** dropped(node, position): Called with the place among the others of its row. */
export function enableDragging(tree, dropped) {
  let drag = null;

  tree.addEventListener("pointerdown", (event) => {
    const node = draggable(event);
    if (!node || !event.isPrimary || event.button !== 0) return;
    drag = { node, x: event.clientX, y: event.clientY, place: null, bar: null };
  });

  tree.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const distance = Math.hypot(event.clientX - drag.x, event.clientY - drag.y);
    if (!drag.bar) {
      if (distance < THRESHOLD) return;
      tree.setPointerCapture(event.pointerId);
      drag.node.classList.add("dragged");
      drag.bar = element("li", { class: "drop", role: "none" });
    }
    event.preventDefault();
    show(drag, event);
  });

  tree.addEventListener("pointerup", () => {
    const { node, place, bar } = drag ?? {};
    end();
    if (!bar || place === null) return;
    // A drag is no click.
    tree.addEventListener("click", (event) => event.stopPropagation(), {
      capture: true,
      once: true,
    });
    dropped(node, place);
  });

  tree.addEventListener("pointercancel", end);

  function end() {
    drag?.bar?.remove();
    drag?.node.classList.remove("dragged");
    drag = null;
  }
}

/** Fingers scroll the page, unless they are on what is selected. */
function draggable({ target, pointerType }) {
  const wanted = pointerType === "mouse" ? ".node" : ".node.selected";
  const node = target.closest(wanted);
  return node && !node.classList.contains("whole") ? node : null;
}

function show(drag, { clientX, clientY }) {
  const row = drag.node.parentElement;
  const all = itemsOf(row.parentElement);
  const others = all.filter((item) => item !== drag.node);
  const isRightToLeft = getComputedStyle(row).direction === "rtl";
  let best = Infinity;
  others.forEach((item, k) => {
    const box = item.getBoundingClientRect();
    const [first, last] = isRightToLeft ? [box.right, box.left] : [box.left, box.right];
    const beyond = Math.max(box.top - clientY, clientY - box.bottom, 0);
    for (const [edge, place] of [[first, k], [last, k + 1]]) {
      const distance = Math.hypot(clientX - edge, 3 * beyond);
      if (distance < best) [best, drag.place] = [distance, place];
    }
  });
  if (drag.place === all.indexOf(drag.node)) {
    drag.bar.remove();
  } else {
    const next = others[drag.place];
    if (next) next.before(drag.bar);
    else others[others.length - 1].after(drag.bar);
  }
}
