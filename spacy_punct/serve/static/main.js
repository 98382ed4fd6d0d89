// The page: a text, what to do with it, and the result.

import { about, ask } from "./api.js";
import { Arrangement } from "./arranged.js";
import { hide } from "./card.js";
import { drawCorrected, writtenCorrected } from "./corrected.js";
import { Parts, cut, cutSentences } from "./parts.js";
import { drawRestored } from "./restored.js";

const DELAY = 250; // milliseconds without a key
const HINTS = {
  restore: "Words without punctuation become text. Point at a mark, or tap it, to see "
    + "which part of the sentence put it there, and what else it might have been.",
  correct: "Text with its punctuation, right or wrong, is corrected. Point at a change, "
    + "or tap it, to see why, and to refuse it.",
  rearrange: "Select a part of a sentence, then drag it among its neighbours, or delete "
    + "it: the punctuation follows. Marks beside a part are its own, underneath; those "
    + "that are struck out do not show.",
};
const TITLES = { restore: "Restored", correct: "Corrected", rearrange: "Rearranged" };
const EXAMPLES = {
  restore: "however the train was late so we stayed at home do you know when the next "
    + "one leaves if you have any questions please call me",
  correct: "I think, that the train was late. However we did not wait for it. Where did "
    + "you go.",
  rearrange: "If the weather is fine, we will walk to the harbour, where the boats are.",
};
const HAS_MARKS = /[.,;:?!…،؛؟।۔。，、！？()"“”«»]/u;

const find = (id) => document.getElementById(id);
const source = find("source");
const output = find("output");
const status = find("status");
const copy = find("copy");
const undo = find("undo");
const tabs = [...document.querySelectorAll('[role="tab"]')];

let server = null;
let parts = null;
let mode = null;
let timer = null;
let undone = [];

start();

async function start() {
  try {
    server = await about();
  } catch {
    status.textContent = "The server does not answer. Is it still running?";
    return;
  }
  find("about").textContent = `from the structure of sentences · ${server.pipeline}`;
  const can = {
    restore: server.restores,
    correct: server.corrects,
    rearrange: server.restores,
  };
  for (const tab of tabs) {
    tab.hidden = !can[tab.dataset.mode];
    tab.addEventListener("click", () => choose(tab.dataset.mode));
    tab.addEventListener("keydown", (event) => walk(event, tab));
  }
  const wanted = location.hash.slice(1);
  choose(can[wanted] ? wanted : shownTabs()[0].dataset.mode);
}

const shownTabs = () => tabs.filter((tab) => !tab.hidden);

function walk(event, tab) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const shown = shownTabs();
  const next = shown.at((shown.indexOf(tab) + step) % shown.length);
  choose(next.dataset.mode);
  next.focus();
}

function choose(wanted) {
  if (wanted === mode) return;
  mode = wanted;
  for (const tab of tabs) {
    const isChosen = tab.dataset.mode === mode;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
  }
  document.body.className = `is-${mode}`;
  find("result").setAttribute("aria-labelledby", `tab-${mode}`);
  find("result-title").textContent = TITLES[mode];
  find("hint").textContent = HINTS[mode];
  find("example").hidden = server.language !== "en";
  history.replaceState(null, "", `#${mode}`);
  hide();
  parts?.close();
  undone = [];
  undo.hidden = mode !== "rearrange";
  undo.disabled = true;
  parts = new Parts(output, { progress, ...MODES[mode]() });
  parts.show(source.value);
}

const MODES = {
  restore: () => ({
    cut,
    ask: (text) => ask("restore", { text }),
    draw: drawRestored(server.glyphs),
    written: (text, answer) => answer.text,
  }),
  correct: () => ({
    cut,
    ask: (text) => ask("correct", { text }),
    draw: drawCorrected(() => {}),
    written: writtenCorrected,
  }),
  rearrange: () => ({
    cut: cutSentences,
    ask: arrange,
    draw: (text, arrangement) => [arrangement.element],
    written: (text, arrangement) => arrangement.written,
  }),
};

async function arrange(given) {
  const text = HAS_MARKS.test(given)
    ? given
    : (await ask("restore", { text: given })).text;
  const answer = await ask("underlying", { text, edits: [] });
  const { glyphs, max_edits: maxEdits } = server;
  return new Arrangement(text, answer, { glyphs, maxEdits, report: edited });
}

function edited(message, back) {
  status.textContent = message;
  if (back) undone.push(back);
  undo.disabled = !undone.length;
}

function progress(done, total, failed) {
  const isAll = done === total;
  const trouble = failed ? `, ${failed} failed` : "";
  output.setAttribute("aria-busy", String(!isAll));
  copy.disabled = !isAll || !total;
  status.textContent = isAll && !failed ? "" : `${done} of ${total} parts${trouble}`;
}

source.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(changed, DELAY);
});

function changed() {
  hide();
  parts?.show(source.value);
}

function replace(text) {
  source.value = text;
  changed();
  source.focus();
}

find("clear").addEventListener("click", () => replace(""));
find("example").addEventListener("click", () => replace(EXAMPLES[mode]));

undo.addEventListener("click", () => {
  undone.pop()?.();
  undo.disabled = !undone.length;
});

copy.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(parts.text);
    status.textContent = "Copied.";
  } catch {
    status.textContent = "The browser does not let this page copy; select the text.";
  }
});
