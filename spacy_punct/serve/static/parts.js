// A long text in parts that are worked on one by one: those that are seen first.

import { refusalOf } from "./api.js";
import { element } from "./dom.js";

const ASKED = 1200; // characters a part
const LIMIT = 1600;
const SENTENCES = 600; // where a sentence has no end
const CHARACTER = 8.5; // pixels
const LINE = 32;
const SENTENCE_END = /\p{L}{3}[.!?…।۔؟]+["'”’»)\]]*\s+|[。！？]+[”’」』）]*\s*/gu;

/** Cut a text into paragraphs, and long ones at sentence ends or spaces. */
export function cut(text, limit = LIMIT) {
  const parts = [];
  for (const paragraph of text.match(/[^\n]*\n+|[^\n]+$/g) ?? []) {
    let rest = paragraph;
    while (rest.length > limit) {
      const at = cutAt(rest, limit);
      parts.push(rest.slice(0, at));
      rest = rest.slice(at);
    }
    if (rest) parts.push(rest);
  }
  return joined(parts);
}

function cutAt(text, limit) {
  const window = text.slice(0, limit);
  const ends = [...window.matchAll(SENTENCE_END)].map((m) => m.index + m[0].length);
  const good = ends.filter((end) => end > limit / 2).pop();
  if (good) return good;
  const space = Math.max(window.lastIndexOf(" "), window.lastIndexOf("\n"));
  if (space > 0) return space + 1;
  // Not within a character that takes two units.
  return /[\ud800-\udbff]$/.test(window) ? limit - 1 : limit;
}

/** Cut a text into sentences, by their looks. */
export function cutSentences(text) {
  return cut(text, SENTENCES).flatMap((part) => {
    const ends = [...part.matchAll(SENTENCE_END)].map((m) => m.index + m[0].length);
    const edges = [0, ...ends.filter((end) => end < part.length), part.length];
    return edges.slice(1).map((end, k) => part.slice(edges[k], end));
  });
}

const endsParagraph = (text) => /\n\s*$/.test(text);
const endsSentence = (text) => /[.!?…।۔؟。！？]["'”’»)\]」』）]*\s*$/u.test(text);

/** Short lines go together, so that poems and lists are not a request a line. */
function joined(parts) {
  const result = [];
  for (const part of parts) {
    const last = result[result.length - 1];
    const isEnd = last !== undefined && /\n\s*\n$/.test(last);
    if (last !== undefined && !isEnd && last.length + part.length <= ASKED) {
      result[result.length - 1] = last + part;
    } else {
      result.push(part);
    }
  }
  return result;
}

const isDone = (part) => Boolean(part.answer || part.error || !part.core);

/**
 * The parts of a text in an element, each shown when its answer is there.
 *
 * cut(text): Gives its parts. ask(text, signal): Gives an answer, sooner or later.
 * draw(text, answer): Gives the nodes that show it. written(text, answer): What is
 * copied. openEnd(text, answer): What of a part, cut within a sentence, belongs to the
 * next; see `restored.js`. progress(state): Called after each part.
 */
export class Parts {
  constructor(output, { cut, ask, draw, written, openEnd, progress }) {
    Object.assign(this, { output, cut, ask, draw, written, openEnd, progress });
    this.parts = [];
    this.owners = new WeakMap();
    this.isAsking = false;
    this.isStopped = false;
    this.controller = new AbortController();
    this.observer = new IntersectionObserver((entries) => this.seen(entries), {
      root: output,
      rootMargin: "300px",
    });
  }

  /** Show another text; parts that are the same stay as they are. */
  show(text) {
    const old = new Set(this.parts);
    let before = null;
    this.parts = this.cut(text).map((own) => {
      const fits = (part) => part.text === own && part.before === before;
      const part = [...old].find(fits) ?? this.part(own, before);
      old.delete(part);
      const goesOn = this.openEnd && !endsParagraph(own) && !endsSentence(own);
      before = goesOn ? part : null;
      return part;
    });
    for (const part of old) {
      this.observer.unobserve(part.element);
      part.element.remove();
    }
    let place = this.output.firstChild;
    for (const [k, part] of this.parts.entries()) {
      const isRun = part.before !== null || this.parts[k + 1]?.before === part;
      part.element.classList.toggle("run", isRun);
      if (part.element === place) {
        place = place.nextSibling;
      } else {
        this.output.insertBefore(part.element, place);
      }
      part.element.classList.toggle("far", this.parts.length > 20);
    }
    this.resume();
  }

  /** before: The part that this one goes on from, if it was cut within a sentence. */
  part(text, before) {
    const made = element("div", { class: "part", dir: "auto", text });
    made.style.containIntrinsicBlockSize = `auto ${this.height(text)}px`;
    const words = text.match(/\S+/g)?.length ?? 0;
    const part = { text, before, words, element: made, answer: null, error: null };
    this.holds(part, text);
    made.classList.toggle("waiting", Boolean(part.core));
    this.owners.set(made, part);
    this.observer.observe(made);
    return part;
  }

  /** Give a part what it is to ask: a text without the white space around it. */
  holds(part, text) {
    const core = text.trim();
    const start = text.indexOf(core);
    part.core = core;
    part.white = [text.slice(0, start), text.slice(start + core.length)];
    if (!part.answer) part.element.textContent = text;
  }

  /** About how high a text is, so that what is not drawn yet has its place. */
  height(text) {
    const perLine = Math.max(this.output.clientWidth / CHARACTER, 1);
    const lines = text.trimEnd().split("\n").map((line) => line.length / perLine);
    return LINE * lines.reduce((sum, n) => sum + Math.max(Math.ceil(n), 1), 0);
  }

  seen(entries) {
    for (const { target, isIntersecting } of entries) {
      const part = this.owners.get(target);
      part.isSeen = isIntersecting;
      if (isIntersecting) this.drawn(part);
    }
    this.work();
  }

  async work() {
    if (this.isAsking || this.isStopped) return;
    this.isAsking = true;
    const { signal } = this.controller;
    for (let part = this.next(); part; part = this.next()) {
      try {
        part.answer = await this.ask(part.core, signal);
        this.handOn(part);
      } catch (error) {
        if (signal.aborted) break;
        part.error = error;
        part.element.dataset.error = error.message;
      }
      const isRefused = Boolean(refusalOf(part.error));
      part.element.classList.toggle("failed", Boolean(part.error) && !isRefused);
      part.element.classList.toggle("refused", isRefused);
      part.element.classList.remove("waiting");
      this.drawn(part);
      this.report();
    }
    this.isAsking = false;
    // It may have been told to go on before the request was given up.
    if (signal.aborted && this.next()) this.work();
  }

  next() {
    const open = this.parts.filter((part) => !isDone(part));
    const ready = open.filter(({ before }) => !before || isDone(before));
    return ready.find((part) => part.isSeen) ?? ready[0];
  }

  /** Give the sentence that a part was cut in to the next part. */
  handOn(part) {
    const next = this.parts.find(({ before }) => before === part);
    const found = next && this.openEnd(part.core, part.answer);
    if (!found) return;
    this.holds(next, part.core.slice(found.start) + part.white[1] + next.text);
    part.core = part.core.slice(0, found.start);
    part.white[1] = "";
    part.answer = found.answer;
  }

  /** Marks that nobody sees need no elements: far parts are plain text at first. */
  drawn(part) {
    if (!part.answer || part.isDrawn) return;
    if (part.isSeen) {
      part.isDrawn = true;
      const [before, after] = part.white;
      const drawn = this.draw(part.core, part.answer);
      part.element.replaceChildren(before, ...drawn, after);
    } else {
      part.element.textContent = this.textOf(part);
    }
  }

  report() {
    const words = (parts) => parts.reduce((sum, part) => sum + part.words, 0);
    const errors = this.parts.flatMap(({ error }) => error ?? []);
    const refusals = errors.map(refusalOf).filter(Boolean);
    this.progress({
      done: words(this.parts.filter(isDone)),
      total: words(this.parts),
      failed: errors.length - refusals.length,
      refusal: refusals[0],
      isStopped: this.isStopped,
    });
  }

  /** Go on, and try again what failed. */
  resume() {
    this.isStopped = false;
    for (const part of this.parts) part.error = null;
    this.report();
    this.work();
  }

  stop() {
    this.isStopped = true;
    this.controller.abort();
    this.controller = new AbortController();
    this.report();
  }

  get text() {
    return this.parts.map((part) => this.textOf(part)).join("");
  }

  textOf({ core, white, answer }) {
    return white[0] + (answer ? this.written(core, answer) : core) + white[1];
  }

  close() {
    this.controller.abort();
    this.observer.disconnect();
    this.parts = [];
    this.output.textContent = "";
  }
}
