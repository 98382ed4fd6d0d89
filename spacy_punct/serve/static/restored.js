// A restored text: its marks can be asked.

import { chances, explain } from "./card.js";
import { element, inlineButton, percent } from "./dom.js";

const UNSURE = 0.6;
const SHOWN = 12; // words of a constituent

/** Nodes for an answer of /restore. */
export function drawRestored(glyphs) {
  return (text, answer) => {
    if (!answer.sentences.length) return [answer.text];
    return answer.sentences.flatMap((sentence) => drawSentence(sentence, glyphs));
  };
}

/**
 * The last sentence of a text may go on in the next: where it starts, and the answer
 * without it. Null if there is no other, or if it is most of the text.
 */
export function openEnd(text, { sentences }) {
  const done = sentences.slice(0, -1);
  let start = text.length;
  for (const word of (sentences.at(-1)?.words ?? []).slice().reverse()) {
    start = text.lastIndexOf(word.text, start - word.text.length);
  }
  if (!done.length || start < text.length / 2) return null;
  const answer = { text: done.map((own) => own.text).join(""), sentences: done };
  return { start, answer };
}

function drawSentence(sentence, glyphs) {
  const slots = new Map(sentence.slots.map((slot) => [slot.slot, slot]));
  const words = [];
  const nodes = [];
  const { pieces } = sentence;
  pieces.forEach((piece, k) => {
    if (piece.word !== undefined) {
      const word = element("span", { class: "word", text: piece.text });
      words.push(word);
      nodes.push(word);
    } else if (piece.slot !== undefined) {
      const slot = slots.get(piece.slot);
      const context = { slot, words, sentence, glyphs };
      nodes.push(mark(piece.text, piece.constituent, context));
    }
    const next = pieces[k + 1];
    const doubt = slots.get(piece.word + 1);
    if (doubt && !doubt.marks.length && next?.slot === undefined) {
      nodes.push(maybe({ slot: doubt, words, sentence, glyphs }));
    }
    if (piece.space) nodes.push(piece.space);
  });
  return nodes;
}

function mark(text, constituent, context) {
  const { slot, words, sentence } = context;
  const p = slot?.probability ?? 1;
  const button = inlineButton({
    class: p < UNSURE ? "mark unsure" : "mark",
    text,
    "aria-label": `${text} ${percent(p)}`,
  });
  const span = constituent === null ? null : sentence.words[constituent];
  const contents = () => [reason(span, sentence), alternatives(context)];
  explain(button, contents, (isOn) => {
    if (span) light(words.slice(span.start, span.end), isOn);
  });
  return button;
}

function maybe(context) {
  const { slot } = context;
  const label = `no mark ${percent(slot.probability)}`;
  const button = inlineButton({
    class: "maybe",
    "aria-label": label,
  });
  const note = element("p", { text: "Nothing here, but nearly:" });
  explain(button, () => [note, alternatives(context)], () => {});
  return button;
}

function light(words, isOn) {
  for (const word of words) word.classList.toggle("lit", isOn);
}

function reason(span, sentence) {
  if (!span) return element("p", { text: "No constituent explains this mark." });
  if (span.head === null) return element("p", { text: "Put here by the sentence." });
  const forms = sentence.words.slice(span.start, span.end).map(({ text }) => text);
  return element(
    "p",
    {},
    "Put here by ",
    element("q", { class: "phrase", dir: "auto", text: shortened(forms) }),
    ` (${span.relation})`,
  );
}

export function shortened(words) {
  if (words.length <= SHOWN) return words.join(" ");
  const half = SHOWN / 2;
  return [...words.slice(0, half), "…", ...words.slice(-half)].join(" ");
}

function alternatives({ slot, glyphs }) {
  if (!slot) return element("p", { text: "It was there before." });
  const rows = [{ ...slot, isNow: true }, ...slot.alternatives];
  return chances(
    rows.map(({ marks, probability, isNow }) => ({
      label: glyphsOf(marks, glyphs) || "nothing",
      p: probability,
      shown: percent(probability),
      isNow,
    })),
  );
}

export function glyphsOf(marks, glyphs) {
  return marks.map((name) => glyphs[name] ?? name).join("");
}
