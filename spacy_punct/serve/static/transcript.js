// A file that is restored as a whole, and written in any format.

import { askSteps, refusalOf } from "./api.js";
import { element } from "./dom.js";

export const FORMATS = {
  srt: "SRT",
  vtt: "WebVTT",
  md: "Markdown",
  txt: "Plain text",
  json: "JSON",
};

/**
 * A transcript in an element; it can be used like `Parts`.
 *
 * name: Of the file. options(): For the server. progress(state): Called after each step.
 * filed(formats): Called when the file is there, with the formats it is there in.
 */
export class Transcript {
  constructor(output, { name, options, progress, filed }) {
    Object.assign(this, { output, name, options, progress, filed });
    this.controller = new AbortController();
  }

  show(source) {
    this.source = source;
    this.resume();
  }

  async resume() {
    this.controller.abort();
    this.controller = new AbortController();
    const { signal } = this.controller;
    const words = element("div", { class: "part waiting", dir: "auto" });
    this.files = null;
    this.output.replaceChildren(words);
    this.state = { done: 0, total: 1 };
    this.progress(this.state);
    try {
      const fields = { ...this.options(), text: this.source, name: this.name };
      const to = Object.keys(FORMATS);
      for await (const step of askSteps("transcripts", { ...fields, to }, signal)) {
        if (signal.aborted) return;
        const { done, total, text, format, files } = step;
        if (files) this.finish(format, files);
        else words.append(`${text} `);
        // Without the files it is not done.
        this.state = { done: files ? total : Math.min(done, total - 1), total };
        this.progress(this.state);
      }
    } catch (error) {
      if (signal.aborted) return;
      const refusal = refusalOf(error);
      if (refusal) {
        words.remove();
        this.progress({ done: 1, total: 1, refusal });
        return;
      }
      words.classList.add("failed");
      words.dataset.error = error.message;
      this.progress({ ...this.state, failed: 1 });
    }
  }

  finish(own, files) {
    this.files = files;
    // JSON is not for people.
    this.draw(own === "json" ? "md" : own);
    this.filed(Object.keys(files), this.format);
  }

  draw(format) {
    this.format = format;
    const name = format === "md" || format === "txt" ? "file prose" : "file";
    const text = this.files[format];
    this.output.replaceChildren(element("div", { class: name, dir: "auto", text }));
  }

  get text() {
    return this.files?.[this.format] ?? "";
  }

  stop() {
    this.controller.abort();
    this.progress({ ...this.state, isStopped: true });
  }

  close() {
    this.controller.abort();
    this.output.textContent = "";
  }
}
