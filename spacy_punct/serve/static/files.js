// Files in, by a button or dropped on the page, and files out.

const NAMES = /\.(srt|vtt|sbv|tsv|ctm|jsonl?)$/i;
const STARTS = /^\uFEFF?\s*(WEBVTT|\{\s*"|\[\s*[{[]|start\tend\ttext)/;
const CUE = /^[\d:.,]+( --> |,)\d+:\d\d[\d:.,]*\s*$/m;

/** Whether a text is more than words: subtitles, a table or a recogniser's JSON. */
export function isTranscript(text, name = "") {
  return NAMES.test(name) || STARTS.test(text) || CUE.test(text.slice(0, 2000));
}

/** Let files be opened. opened({ name, text }): Called with each. */
export function acceptFiles(button, input, zone, opened) {
  const open = async ([file]) => {
    if (file) opened({ name: file.name, text: decoded(await file.arrayBuffer()) });
  };
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", async () => {
    await open(input.files);
    input.value = ""; // so that the same file can be opened again
  });
  const mark = (isOver) => zone.classList.toggle("dropping", isOver);
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    mark(true);
  });
  document.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!relatedTarget) mark(false);
  });
  document.addEventListener("drop", (event) => {
    mark(false);
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    open(event.dataTransfer.files);
  });
}

/** Old subtitles are often not in UTF-8. */
function decoded(bytes) {
  const [a, b] = new Uint8Array(bytes.slice(0, 2));
  if (a === 0xff && b === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

export function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
