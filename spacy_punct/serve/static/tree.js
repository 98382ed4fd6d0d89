// A sentence as nested constituents, each between its underlying punctemes.

import { element } from "./dom.js";
import { glyphsOf } from "./restored.js";

/**
 * Draw the tree of a sentence of /underlying.
 *
 * selected: The token of the selected constituent, or null.
 */
export function drawTree(sentence, selected, glyphs) {
  const { words, slots } = sentence;
  const children = words.map(() => []);
  words.forEach(({ head }, i) => {
    if (head !== null) children[head].push(i);
  });
  const root = words.findIndex(({ head }) => head === null);
  const isHere = words.some(({ token }) => token === selected);

  const node = (i) => {
    const word = words[i];
    const isRoot = word.head === null;
    const isSelected = word.token === selected;
    const items = [...children[i], i].sort((a, b) => a - b);
    const row = items.map((k) => (k === i ? headWord(word) : node(k)));
    return element(
      "li",
      {
        class: names("node", {
          whole: isRoot,
          single: items.length === 1,
          selected: isSelected,
        }),
        role: "treeitem",
        tabindex: isSelected || (isRoot && !isHere) ? 0 : -1,
        "aria-selected": String(isSelected),
        "aria-description": word.relation,
        data: { token: word.token, item: "" },
      },
      element("span", {
        class: "relation",
        "aria-hidden": "true",
        dir: "ltr",
        text: word.relation,
      }),
      element(
        "ul",
        { class: "row", role: "group" },
        puncteme(word.left, slots[word.start], i, glyphs),
        ...row,
        puncteme(word.right, slots[word.end], i, glyphs),
      ),
    );
  };

  return element("ul", { class: "tree", role: "tree", "aria-label": "Constituents" },
    node(root));
}

function names(always, others) {
  const more = Object.keys(others).filter((name) => others[name]);
  return [always, ...more].join(" ");
}

function headWord(word) {
  return element("li", {
    class: "head",
    role: "none",
    text: word.text,
    data: { item: "" },
  });
}

/** The marks at one side of a constituent; those that others absorbed are struck. */
function puncteme(marks, slot, word, glyphs) {
  if (!marks.length) return null;
  const places = slot.bear.flatMap((bearer, k) => (bearer === word ? [k] : []));
  const drawn = marks.map((mark, k) =>
    element("span", {
      class: slot.absorbed.includes(places[k]) ? "absorbed" : null,
      text: glyphsOf([mark], glyphs),
    }),
  );
  return element("li", { class: "puncteme", role: "none" }, ...drawn);
}

/** The words and marks of a row, without its punctemes. */
export function itemsOf(node) {
  const row = node.querySelector(":scope > .row");
  return [...row.children].filter((child) => "item" in child.dataset);
}
