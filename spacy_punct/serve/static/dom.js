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

/** A button that is part of a line of text: lines break and run as if it was none. */
export function inlineButton(attributes) {
  const button = element("span", { role: "button", tabindex: 0, ...attributes });
  button.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    button.click();
  });
  return button;
}

export function percent(p) {
  if (p > 0 && p < 0.01) return "<1%";
  return p < 1 && p > 0.99 ? ">99%" : `${Math.round(100 * p)}%`;
}
