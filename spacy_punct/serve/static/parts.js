// A long text in parts that are worked on one by one: those that are seen first.

import { element } from "./dom.js";

const ASKED = 1200; // characters a part
const LIMIT = 4000;
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

/**
 * The parts of a text in an element, each shown when its answer is there.
 *
 * cut(text): Gives its parts. ask(text): Gives an answer, sooner or later.
 * draw(text, answer): Gives the nodes that show it. written(text, answer): What is
 * copied. progress(done, total, failed): Called after each.
 */
export class Parts {
  constructor(output, { cut, ask, draw, written, progress }) {
    Object.assign(this, { output, cut, ask, draw, written, progress });
    this.parts = [];
    this.owners = new WeakMap();
    this.isAsking = false;
    this.observer = new IntersectionObserver((entries) => this.seen(entries), {
      rootMargin: "300px",
    });
  }

  /** Show another text; parts that are the same stay as they are. */
  show(text) {
    const texts = this.cut(text);
    const waiting = new Map();
    for (const part of this.parts) {
      if (!waiting.has(part.text)) waiting.set(part.text, []);
      waiting.get(part.text).push(part);
    }
    this.parts = texts.map((own) => waiting.get(own)?.shift() ?? this.part(own));
    for (const part of [...waiting.values()].flat()) {
      this.observer.unobserve(part.element);
      part.element.remove();
    }
    let place = this.output.firstChild;
    for (const part of this.parts) {
      if (part.element === place) {
        place = place.nextSibling;
      } else {
        this.output.insertBefore(part.element, place);
      }
      part.element.classList.toggle("far", this.parts.length > 20);
    }
    this.report();
    this.work();
  }

  part(text) {
    const made = element("div", { class: "part waiting", dir: "auto", text });
    made.style.containIntrinsicBlockSize = `auto ${this.height(text)}px`;
    const core = text.trim();
    const start = text.indexOf(core);
    const white = [text.slice(0, start), text.slice(start + core.length)];
    const part = { text, core, white, element: made, answer: null, error: null };
    if (!core) part.error = new Error("nothing to ask");
    made.classList.toggle("waiting", Boolean(core));
    this.owners.set(made, part);
    this.observer.observe(made);
    return part;
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
    if (this.isAsking) return;
    this.isAsking = true;
    for (let part = this.next(); part; part = this.next()) {
      try {
        part.answer = await this.ask(part.core);
      } catch (error) {
        part.error = error;
        part.element.classList.add("failed");
        part.element.dataset.error = error.message;
      }
      part.element.classList.remove("waiting");
      this.drawn(part);
      this.report();
    }
    this.isAsking = false;
  }

  next() {
    const open = this.parts.filter((part) => !part.answer && !part.error);
    return open.find((part) => part.isSeen) ?? open[0];
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
    const done = this.parts.filter((part) => part.answer || part.error).length;
    const failed = this.parts.filter((part) => part.error && part.core).length;
    this.progress(done, this.parts.length, failed);
  }

  get text() {
    return this.parts.map((part) => this.textOf(part)).join("");
  }

  textOf({ text, core, white, answer }) {
    return answer ? white[0] + this.written(core, answer) + white[1] : text;
  }

  close() {
    this.observer.disconnect();
    this.parts = [];
    this.output.textContent = "";
  }
}
