// Rules on the page: a little Markdown (paragraphs, tables, bold, code) as elements, and cards.

import { make as drawn } from "./drawing.js";

export function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** A table from rows of texts, the first of them its head. */
export function fillTable(table, rows) {
  table.replaceChildren(...rows.map((row, i) =>
    make("tr", {}, ...row.map((cell) => make(i ? "td" : "th", {}, ...inline(cell))))));
  table.hidden = !rows.length;
}

/** The rules of a variant as elements. */
export function rulesOf({ text, cards }) {
  const blocks = text.split(/\n\s*\n/).filter((block) => !block.startsWith("# "));
  const figures = cards.map(({ svg, box, label, help }) => {
    const picture = drawn("svg", { viewBox: box.join(" "), width: box[2], height: box[3] });
    picture.innerHTML = svg; // made by the server, its texts escaped
    return make("figure", {}, picture, make("figcaption", {}, make("strong", {}, label), make("br", {}), help));
  });
  return [...blocks.map(block), make("h3", {}, "Cards"), make("div", { className: "cards" }, ...figures)];
}

function block(text) {
  if (!text.startsWith("|")) return make("p", {}, ...inline(text.replaceAll("\n", " ")));
  const rows = text.split("\n").filter((line) => !/^\|[-| ]+\|$/.test(line));
  const table = make("table", {});
  fillTable(table, rows.map((line) => line.slice(1, -1).split("|").map((cell) => cell.trim())));
  return table;
}

const TAGS = [[/^\*\*(.+)\*\*$/, "strong"], [/^`(.+)`$/, "code"], [/^\*(.+)\*$/, "em"]];

function inline(text) {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`|\*[^*\s][^*]*\*)/).filter(Boolean).map((piece) => {
    const found = TAGS.find(([pattern]) => pattern.test(piece));
    return found ? make(found[1], {}, piece.match(found[0])[1]) : piece;
  });
}
