// The page: a text, what to do with it, and the result.

import { ask, look } from "./api.js";
import { Arrangement } from "./arranged.js";
import { hide } from "./card.js";
import { drawCorrected, writtenCorrected } from "./corrected.js";
import { element, walkButtons } from "./dom.js";
import { acceptFiles, isTranscript, save } from "./files.js";
import { keep, recall } from "./kept.js";
import { drawOptions, offered } from "./options.js";
import { Parts, cut, cutSentences } from "./parts.js";
import { drawRestored, openEnd } from "./restored.js";
import { scrollTogether } from "./scrolling.js";
import { FORMATS, Transcript } from "./transcript.js";

const DELAY = 250; // milliseconds without a key
const LONG = 400; // words that take long enough for a bar
const HINTS = {
  restore: "Point at a mark to see what put it there, and what else it might have been.",
  correct: "Point at a change to see why it was made, and to refuse it.",
  rearrange: "Drag a part of a sentence, or delete it, and the punctuation follows.",
};
const FILE_HINT = "A file keeps its times, its speakers and everything else but the marks.";
const TITLES = { restore: "Restored", correct: "Corrected", rearrange: "Rearranged" };
const FORCE = {
  restore: "Restore it anyway",
  correct: "Correct it anyway",
  rearrange: "Restore it anyway",
};
const EXAMPLES = {
  restore: "however the train was late so we stayed at home do you know when the next "
    + "one leaves if you have any questions please call me",
  correct: "I think, that the train was late. However we did not wait for it. Where did "
    + "you go.",
  rearrange: "If the weather is fine, we will walk to the harbour, where the boats are.",
};
const HAS_MARKS = /[.,;:?!…،؛؟।۔。，、！？()"“”«»]/u;

const ids = [...document.querySelectorAll("[id]")].map((own) => [own.id, own]);
const page = Object.fromEntries(ids);
const { source, output, status } = page;
const tabs = [...document.querySelectorAll('[role="tab"]')];

const kept = { options: {}, ...recall() };
let name = kept.name ?? "";
let server = null;
let result = null; // Parts or a Transcript
let mode = null;
let timer = null;
let undone = [];
let isForced = false; // whether the text may be in another language
let since = null; // when the work began, and at which word

start();

async function start() {
  try {
    server = await look("about");
    server.description = await look("openapi.json");
  } catch {
    status.textContent = "The server does not answer. Is it still running?";
    return;
  }
  page.about.textContent = server.pipeline;
  page.options.prepend(
    ...drawOptions(offered(server.description, "/restore"), kept.options, () => {
      keep({ options: kept.options });
      begin();
    }),
  );
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
  const wanted = [location.hash.slice(1), kept.mode].find((own) => can[own]);
  const first = wanted ?? shownTabs()[0].dataset.mode;
  page.example.hidden = server.language !== "en";
  source.value = kept.text ?? (page.example.hidden ? "" : EXAMPLES[first]);
  choose(first);
}

// What to do

const shownTabs = () => tabs.filter((tab) => !tab.hidden && !tab.disabled);

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
  if (source.value && source.value === EXAMPLES[mode]) source.value = EXAMPLES[wanted];
  mode = wanted;
  for (const tab of tabs) {
    const isChosen = tab.dataset.mode === mode;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
  }
  document.body.className = `is-${mode}`;
  page.result.setAttribute("aria-labelledby", `tab-${mode}`);
  page.title.textContent = TITLES[mode];
  for (const own of document.querySelectorAll(".legend")) {
    own.hidden = own.dataset.mode !== mode;
  }
  page.options.hidden = mode !== "restore";
  page.undo.hidden = mode !== "rearrange";
  history.replaceState(null, "", `#${mode}`);
  keep({ mode });
  begin();
}

// The result

const MODES = {
  restore: () => ({
    cut,
    ask: (text, signal) =>
      ask("restore", { ...chosen("/restore"), ...force(), text }, signal),
    draw: drawRestored(server.glyphs),
    written: (text, answer) => answer.text,
    openEnd,
  }),
  correct: () => ({
    cut,
    ask: (text, signal) => ask("correct", { ...force(), text }, signal),
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

const force = () => (isForced ? { force: true } : {});

function chosen(path) {
  const names = offered(server.description, path).filter((own) => own in kept.options);
  return Object.fromEntries(names.map((own) => [own, kept.options[own]]));
}

async function arrange(given, signal) {
  const text = HAS_MARKS.test(given)
    ? given
    : (await ask("restore", { ...force(), text: given }, signal)).text;
  const answer = await ask("underlying", { text, edits: [] }, signal);
  const { glyphs, max_edits: maxEdits } = server;
  return new Arrangement(text, answer, { glyphs, maxEdits, report: edited });
}

const forFiles = () => ({ ...chosen("/transcripts"), ...force() });
const isFile = () => isTranscript(source.value, name) && server.restores;

/** Start anew with the text, in parts or, if it is a transcript, as a whole. */
function begin() {
  if (isFile() && mode !== "restore") {
    choose("restore");
    return;
  }
  hide();
  result?.close();
  undone = [];
  page.undo.disabled = true;
  page.format.hidden = true;
  since = null;
  result = isFile()
    ? new Transcript(output, { name, options: forFiles, progress, filed })
    : new Parts(output, { progress, ...MODES[mode]() });
  for (const tab of tabs) tab.disabled = isFile() && tab.dataset.mode !== "restore";
  page.hint.textContent = isFile() ? FILE_HINT : HINTS[mode];
  document.body.classList.toggle("is-file", isFile());
  page["doubts-label"].hidden = isFile();
  result.show(source.value);
}

function progress({ done, total, failed = 0, refusal = "", isStopped = false }) {
  const isBusy = done < total && !failed && !isStopped;
  if (!isBusy) since = null;
  else if (since === null) since = { time: Date.now(), done };
  output.setAttribute("aria-busy", String(isBusy));
  page.copy.disabled = page.download.disabled = isBusy || !result?.text.trim();
  page.work.hidden = !(failed || isStopped || (isBusy && (total > LONG || total === 1)));
  page.progress.max = total;
  page.progress.value = done;
  page.stop.textContent = isBusy ? "Stop" : isStopped ? "Go on" : "Try again";
  const left = isBusy ? timeLeft(done, total) : "";
  const count = `${done.toLocaleString()} of ${words(total)}${left}`;
  page.count.textContent = total > 1 ? count : "Reading…";
  page.note.textContent = [name, total > 1 && words(total)].filter(Boolean).join(" · ");
  if (isBusy) status.textContent = "";
  else if (failed) status.textContent = `${failed} failed.`;
  else if (isStopped) status.textContent = "Stopped.";
  else if (total > LONG && !refusal) status.textContent = "Done.";
  // What is said stays until it is known that it no longer holds.
  if (refusal || !isBusy) refuse(refusal);
}

/** Say why a text was not read, and let the user insist; say it only once. */
function refuse(message) {
  const text = message && FORCE[mode];
  if (page.refusal.textContent === message + text) return;
  const click = () => {
    isForced = true;
    output.focus();
    refuse("");
    result.resume();
  };
  const button = element("button", { type: "button", text, on: { click } });
  const shown = message ? [element("span", { text: message }), button] : [];
  page.refusal.replaceChildren(...shown);
}

const words = (n) => `${n.toLocaleString()} ${n === 1 ? "word" : "words"}`;

function timeLeft(done, total) {
  const perWord = (Date.now() - since.time) / (done - since.done);
  const seconds = Math.ceil((perWord * (total - done)) / 1000);
  if (!Number.isFinite(seconds) || seconds < 3) return "";
  return seconds < 100 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`;
}

function filed(formats, shown) {
  const options = formats.filter((own) => own in FORMATS).map((value) =>
    element("option", { value, text: FORMATS[value], selected: value === shown }),
  );
  page.format.replaceChildren(...options);
  page.format.hidden = false;
}

function edited(message, back) {
  status.textContent = message;
  if (back) undone.push(back);
  page.undo.disabled = !undone.length;
}

// The text

source.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(changed, DELAY);
});

function changed() {
  keep({ text: source.value, name });
  isForced = isForced && Boolean(source.value.trim());
  if (isFile() !== result instanceof Transcript) {
    begin();
    return;
  }
  hide();
  result?.show(source.value);
}

function replace(text, file = "") {
  clearTimeout(timer);
  name = file;
  isForced = false;
  source.value = text;
  keep({ text, name });
  source.scrollTop = output.scrollTop = 0;
  begin();
}

page.clear.addEventListener("click", () => {
  replace("");
  source.focus();
});
page.example.addEventListener("click", () => replace(EXAMPLES[mode]));
acceptFiles(page.open, page.file, page.input, ({ text, name: file }) => {
  replace(text, file);
});
scrollTogether(source, output);
walkButtons(output);

// What to do with the result

page.stop.addEventListener("click", () => {
  if (page.stop.textContent === "Stop") result.stop();
  else result.resume();
});

page.undo.addEventListener("click", () => {
  undone.pop()?.();
  page.undo.disabled = !undone.length;
});

page.doubts.addEventListener("change", () => {
  output.classList.toggle("is-plain", !page.doubts.checked);
});

page.format.addEventListener("change", () => result.draw(page.format.value));

page.copy.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(result.text);
    status.textContent = "Copied.";
  } catch {
    status.textContent = "The browser does not let this page copy; select the text.";
  }
});

page.download.addEventListener("click", () => {
  const ending = result.format ?? "txt";
  const stem = name.replace(/\.[^.]*$/, "");
  save([stem, TITLES[mode].toLowerCase(), ending].filter(Boolean).join("."), result.text);
});
