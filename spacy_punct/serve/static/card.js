// The card beside a mark: who put it there, and what else might stand there.

import { element } from "./dom.js";

const GAP = 6;
const card = document.getElementById("card");
let owner = null;
let isPinned = false;
let onClose = () => {};

/**
 * Let an element open a card when it is pointed at, focused or tapped.
 *
 * contents(): The card's nodes. light(isOn): Lights up what it is about.
 */
export function explain(button, contents, light) {
  const open = (pin) => show(button, contents(), light, pin);
  button.addEventListener("pointerenter", (event) => {
    if (event.pointerType === "mouse" && !isPinned) open(false);
  });
  button.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse" && owner === button && !isPinned) hide();
  });
  button.addEventListener("focus", () => open(false));
  button.addEventListener("blur", ({ relatedTarget }) => {
    if (owner === button && !card.contains(relatedTarget)) hide();
  });
  button.addEventListener("click", ({ detail }) => {
    open(true);
    if (detail === 0) card.querySelector("button")?.focus(); // by a key
  });
}

function show(button, nodes, light, pin) {
  if (owner !== button) {
    hide();
    owner = button;
    light(true);
    button.classList.add("shown");
    button.setAttribute("aria-describedby", card.id);
    onClose = () => {
      light(false);
      button.classList.remove("shown");
      button.removeAttribute("aria-describedby");
    };
  }
  isPinned = pin;
  card.replaceChildren(...nodes);
  card.hidden = false;
  place(button.getBoundingClientRect());
}

export function hide() {
  if (owner === null) return;
  onClose();
  owner = null;
  isPinned = false;
  card.hidden = true;
}

/** Below the mark, or above it where there is no room; never beyond the sides. */
function place(box) {
  const width = document.documentElement.clientWidth;
  const { width: own, height } = card.getBoundingClientRect();
  const middle = box.left + box.width / 2 - own / 2;
  const left = Math.max(GAP, Math.min(middle, width - own - GAP));
  const isBelow = box.bottom + GAP + height <= window.innerHeight || box.top < height;
  const top = isBelow ? box.bottom + GAP : box.top - GAP - height;
  card.style.left = `${left}px`;
  card.style.top = `${top}px`;
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !owner) return;
  if (card.contains(document.activeElement)) {
    owner.focus();
  }
  hide();
});
document.addEventListener("pointerdown", ({ target }) => {
  if (owner && !owner.contains(target) && !card.contains(target)) hide();
});
window.addEventListener("resize", hide);
const follow = () => owner && place(owner.getBoundingClientRect());
document.addEventListener("scroll", follow, { capture: true, passive: true });

/** Rows of a mark, a bar and a number. */
export function chances(rows) {
  return element(
    "dl",
    {},
    ...rows.map(({ label, p, shown, isNow }) => {
      const bar = element("span", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--p", p);
      const name = isNow ? "now" : null;
      return element(
        "div",
        {},
        element("dt", { class: name, text: label }),
        element("dd", {}, bar),
        element("dd", { class: name, text: shown }),
      );
    }),
  );
}
