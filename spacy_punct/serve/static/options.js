// What can be asked beside the text: controls for what the server offers.

import { element } from "./dom.js";

const KNOWN = {
  casing: {
    label: "Capitals",
    choices: { auto: "automatic", sentence: "of sentences", keep: "as they are" },
  },
  existing: {
    label: "Marks that are there",
    choices: { keep: "keep", replace: "replace" },
  },
  quotes: {
    label: "Quotes",
    choices: { straight: "straight \"…\"", typographic: "typographic “…”" },
  },
};

/** The options at an address, by the server's description of itself. */
export function offered({ paths, components }, path) {
  const body = paths[path]?.post.requestBody.content["application/json"].schema;
  const fields = components.schemas[body?.$ref.split("/").pop()]?.properties ?? {};
  return Object.keys(KNOWN).filter((name) => name in fields);
}

/**
 * Controls for some options.
 *
 * names: Which. values: What is chosen, kept up to date. chosen(): Called at a change.
 */
export function drawOptions(names, values, chosen) {
  return names.map((name) => {
    const { label, choices } = KNOWN[name];
    const options = Object.entries(choices).map(([value, text]) =>
      element("option", { value, text, selected: values[name] === value }),
    );
    const change = ({ target }) => {
      values[name] = target.value;
      chosen();
    };
    const select = element("select", { on: { change } }, ...options);
    return element("label", {}, element("span", { text: label }), select);
  });
}
