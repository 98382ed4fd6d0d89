// What the browser keeps from one visit to the next, on this machine only.

const KEY = "spacy-punct";

export function recall() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

export function keep(fields) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...recall(), ...fields }));
  } catch {
    // It is not allowed, or the text is too long.
  }
}
