// Elements; text goes in as text, never as markup.

export function element(tag, { text, data, on, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  Object.assign(made.dataset, data ?? {});
  for (const [name, listener] of Object.entries(on ?? {})) {
    made.addEventListener(name, listener);
  }
  if (text != null) made.textContent = text;
  made.append(...children.filter((child) => child != null));
  return made;
}

/** A button in a line of text, which breaks and runs as if there was none. */
export function inlineButton(attributes) {
  const button = element("span", { role: "button", tabindex: -1, ...attributes });
  button.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    button.click();
  });
  return button;
}

/** Let the left and right arrow keys go from button to button in a text. */
export function walkButtons(text) {
  text.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const buttons = [...text.querySelectorAll('span[role="button"]')];
    if (!step || !buttons.length) return;
    const { top } = text.getBoundingClientRect();
    const isSeen = (button) => button.getBoundingClientRect().top >= top;
    const now = buttons.indexOf(event.target);
    const next = now < 0 ? buttons.findIndex(isSeen) : now + step;
    buttons[next]?.focus();
    event.preventDefault();
  });
}

export function percent(p) {
  if (p > 0 && p < 0.01) return "<1%";
  return p < 1 && p > 0.99 ? ">99%" : `${Math.round(100 * p)}%`;
}
