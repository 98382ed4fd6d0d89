// A corrected text: what changes, why, and the choice to leave it as it was.

import { chances, explain, hide } from "./card.js";
import { element, inlineButton, percent } from "./dom.js";

/** Nodes for an answer of /correct. Corrections that are refused have `isKept`. */
export function drawCorrected(changed) {
  return (text, answer) => {
    // The server counts characters, strings count units.
    const characters = Array.from(text);
    const edges = new Set([0, characters.length]);
    for (const { start, end, constituent } of answer.corrections) {
      for (const edge of [start, end, constituent.start, constituent.end]) {
        edges.add(edge);
      }
    }
    const places = [...edges].sort((a, b) => a - b);
    const spans = places.slice(0, -1).map((start, k) => ({
      start,
      node: element("span", { text: characters.slice(start, places[k + 1]).join("") }),
    }));
    const nodes = [];
    let done = 0;
    for (const correction of answer.corrections) {
      nodes.push(...between(spans, done, correction.start));
      nodes.push(change(correction, characters, spans, changed));
      done = correction.end;
    }
    return [...nodes, ...between(spans, done, characters.length)];
  };
}

function between(spans, start, end) {
  return spans.filter((span) => span.start >= start && span.start < end)
    .map(({ node }) => node);
}

function change(correction, characters, spans, changed) {
  const { start, end, text, constituent, probability } = correction;
  const old = characters.slice(start, end).join("");
  const button = inlineButton({ class: "change" });
  const draw = () => {
    button.classList.toggle("kept", Boolean(correction.isKept));
    button.replaceChildren(...(correction.isKept ? [old || "·"] : diff(old, text)));
    const after = correction.isKept ? "kept" : `${seen(old)} becomes ${seen(text)}`;
    button.setAttribute("aria-label", `${after}, ${percent(probability)}`);
  };
  draw();
  const phrase = characters.slice(constituent.start, constituent.end).join("");
  const toggle = () => {
    correction.isKept = !correction.isKept;
    draw();
    changed();
    hide();
    button.focus();
    hide();
  };
  const contents = () => [
    element(
      "p",
      {},
      "Because of ",
      element("q", { class: "phrase", dir: "auto", text: shortened(phrase) }),
    ),
    chances([
      {
        label: `${seen(old)} → ${seen(text)}`,
        p: probability,
        shown: percent(probability),
        isNow: true,
      },
    ]),
    element("button", {
      type: "button",
      text: correction.isKept ? "Correct it" : "Keep as it was",
      on: { click: toggle },
    }),
  ];
  explain(button, contents, (isOn) => {
    for (const span of between(spans, constituent.start, constituent.end)) {
      span.classList.toggle("lit", isOn);
    }
  });
  return button;
}

function seen(text) {
  return text.trim() || "nothing";
}

function shortened(text) {
  return text.length > 90 ? `${text.slice(0, 45)} … ${text.slice(-40)}` : text;
}

/** What goes and what comes, with the white space outside. */
function diff(old, text) {
  const gone = old.trim() ? element("del", { text: old.trim() }) : null;
  const come = text.trim() ? element("ins", { text: text.trim() }) : null;
  const before = /^\s*/.exec(text)[0];
  const after = text.trim() ? /\s*$/.exec(text)[0] : "";
  return [before, gone, come, after].filter((node) => node !== null && node !== "");
}

/** The text with the corrections that are not refused. */
export function writtenCorrected(text, answer) {
  const characters = Array.from(text);
  const pieces = [];
  let done = 0;
  for (const { start, end, text: own, isKept } of answer.corrections) {
    const now = isKept ? characters.slice(start, end).join("") : own;
    pieces.push(characters.slice(done, start).join(""), now);
    done = end;
  }
  return pieces.join("") + characters.slice(done).join("");
}
