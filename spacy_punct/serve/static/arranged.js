// Sentences to be taken apart: what is moved or deleted, the punctuation follows.

import { ask } from "./api.js";
import { enableDragging } from "./dragging.js";
import { element } from "./dom.js";
import { shortened } from "./restored.js";
import { drawTree, itemsOf } from "./tree.js";

/**
 * Some sentences and the edits made to them.
 *
 * text: With its punctuation. answer: Of /underlying. glyphs: How marks look.
 * report(message, undo): Called after an edit, or with a message if one failed.
 */
export class Arrangement {
  constructor(text, answer, { glyphs, report, maxEdits }) {
    Object.assign(this, { text, answer, glyphs, report, maxEdits });
    this.edits = [];
    this.selected = null;
    this.isBusy = false;
    this.element = element("div", { class: "arrangement" });
    this.element.addEventListener("click", (event) => this.clicked(event));
    this.element.addEventListener("keydown", (event) => this.pressed(event));
    this.draw();
  }

  get written() {
    return this.answer.text;
  }

  draw() {
    const hadFocus = this.element.contains(document.activeElement);
    const action = document.activeElement?.dataset?.action;
    const drawn = this.answer.sentences.map((sentence) => this.sentence(sentence));
    const text = drawn.length ? [] : [this.answer.text];
    this.element.replaceChildren(...drawn, ...text);
    if (!hadFocus) return;
    const button = this.element.querySelector(`[data-action="${action}"]:enabled`);
    (button ?? this.element.querySelector('[tabindex="0"]'))?.focus();
  }

  sentence(sentence) {
    const tree = drawTree(sentence, this.selected, this.glyphs);
    enableDragging(tree, (node, position) => {
      this.selected = Number(node.dataset.token);
      this.edit({ edit: "move", word: this.selected, position });
    });
    const block = element("section", { class: "sentence", dir: "auto" });
    const surface = element(
      "p",
      { class: "surface", "aria-live": "polite" },
      ...sentence.pieces.flatMap(({ text, space, slot }) => [
        slot === undefined ? text : element("span", { class: "mark", text }),
        space,
      ]),
    );
    block.append(surface, tree);
    const word = sentence.words.find(({ token }) => token === this.selected);
    if (word) block.append(this.moves(sentence, word, tree));
    return block;
  }

  moves(sentence, word, tree) {
    const isRoot = word.head === null;
    const node = tree.querySelector(`[data-token="${word.token}"]`);
    const items = isRoot ? [] : itemsOf(node.parentElement.parentElement);
    const place = items.indexOf(node);
    const phrase = sentence.words.slice(word.start, word.end).map(({ text }) => text);
    const button = (action, text, isPossible, edit) =>
      element("button", {
        type: "button",
        text,
        disabled: !isPossible,
        data: { action },
        on: { click: () => this.edit({ ...edit, word: word.token }) },
      });
    const move = (position) => ({ edit: "move", position });
    const last = items.length - 1;
    return element(
      "div",
      { class: "moves", role: "toolbar", "aria-label": "Change the selected part" },
      element("q", { dir: "auto", text: shortened(phrase) }),
      button("earlier", "Earlier", place > 0, move(place - 1)),
      button("later", "Later", place >= 0 && place < last, move(place + 1)),
      button("delete", "Delete", !isRoot, { edit: "delete" }),
      button("extract", "Keep only this", !isRoot, { edit: "extract" }),
    );
  }

  clicked({ target }) {
    const node = target.closest(".node");
    if (node) this.select(node);
  }

  select(node) {
    this.selected = Number(node.dataset.token);
    this.draw();
    this.element.querySelector(".node.selected")?.focus();
  }

  pressed(event) {
    const node = event.target.closest(".node");
    if (!node || event.target !== node) return;
    const isRightToLeft = getComputedStyle(node).direction === "rtl";
    const forward = isRightToLeft ? "ArrowLeft" : "ArrowRight";
    const back = isRightToLeft ? "ArrowRight" : "ArrowLeft";
    const buttons = { [forward]: "later", [back]: "earlier" };
    if (event.altKey && event.key in buttons) {
      this.press(node, buttons[event.key]);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      this.press(node, "delete");
    } else if (event.key === "Enter" || event.key === " ") {
      this.select(node);
    } else {
      const next = neighbour(node, event.key, forward, back);
      if (next === undefined) return;
      if (next) this.select(next);
    }
    event.preventDefault();
  }

  press(node, action) {
    if (Number(node.dataset.token) !== this.selected) this.select(node);
    this.element.querySelector(`[data-action="${action}"]:enabled`)?.click();
  }

  async edit(edit) {
    if (this.isBusy) return;
    if (this.edits.length >= this.maxEdits) {
      this.report(`No more than ${this.maxEdits} changes are possible.`);
      return;
    }
    const before = { edits: this.edits, answer: this.answer, selected: this.selected };
    const parent = this.parentOf(edit.word);
    this.isBusy = true;
    try {
      const edits = [...this.edits, edit];
      this.answer = await ask("underlying", { text: this.text, edits });
      this.edits = edits;
    } catch (error) {
      this.report(error.message);
      return;
    } finally {
      this.isBusy = false;
    }
    if (edit.edit === "delete") this.selected = parent;
    this.draw();
    this.report("", () => {
      Object.assign(this, before);
      this.draw();
    });
  }

  parentOf(token) {
    for (const { words } of this.answer.sentences) {
      const word = words.find((own) => own.token === token);
      if (word) return word.head === null ? null : words[word.head].token;
    }
    return null;
  }
}

/** The node that an arrow key leads to; null for none, undefined for other keys. */
function neighbour(node, key, forward, back) {
  const isNode = (other) => other?.classList.contains("node");
  const beside = (name) => {
    let other = node[name];
    while (other && !isNode(other)) other = other[name];
    return other;
  };
  switch (key) {
    case forward: return beside("nextElementSibling");
    case back: return beside("previousElementSibling");
    case "ArrowUp": return node.parentElement.closest(".node");
    case "ArrowDown": return node.querySelector(".node");
    default: return undefined;
  }
}
