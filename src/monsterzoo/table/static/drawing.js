// Scenes as SVG: the same shapes that pictures are painted from, and what can be clicked as buttons.

const SPACE = "http://www.w3.org/2000/svg";

function make(name, attributes, parent) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

function ink(shape) {
  const edge = shape.line ? { stroke: shape.line, "stroke-width": shape.width } : {};
  return { fill: shape.fill ?? "none", ...edge };
}

const points = (shape) => shape.points.map((point) => point.join(",")).join(" ");

const KINDS = {
  rect: (s, parent) => {
    // Edges lie inside of the box, as in pictures.
    const inset = s.line ? s.width / 2 : 0;
    make("rect", { x: s.x + inset, y: s.y + inset, width: Math.max(s.w - 2 * inset, 0),
      height: Math.max(s.h - 2 * inset, 0), rx: Math.max(s.corner - inset, 0), ...ink(s) }, parent);
  },
  circle: (s, parent) => make("circle", { cx: s.x, cy: s.y, r: s.r, ...ink(s) }, parent),
  polygon: (s, parent) => make("polygon", { points: points(s), ...ink(s) }, parent),
  stroke: (s, parent) => make("polyline", { points: points(s), fill: "none", stroke: s.line, "stroke-width": s.width,
    "stroke-linecap": "round", "stroke-linejoin": "round" }, parent),
  text: (s, parent) => {
    const anchor = { "text-anchor": s.anchor, "dominant-baseline": "central" };
    const element = make("text", { x: s.x, y: s.y, "font-size": s.size, fill: s.fill, ...anchor }, parent);
    element.textContent = s.text;
    if (s.room) {
      const width = element.getComputedTextLength();
      if (width > s.room) element.setAttribute("font-size", s.size * s.room / width);
    }
  },
};

function makeTarget(part, group, choose) {
  const words = part.actions.map((action) => action[1]);
  const said = words.length === 1 ? words[0] : `${part.label}: ${words.length} choices`;
  group.classList.add("target");
  group.setAttribute("role", "button");
  group.setAttribute("tabindex", "0");
  group.setAttribute("aria-label", said);
  if (words.length > 1) group.setAttribute("aria-haspopup", "dialog");
  group.dataset.actions = part.actions.map((action) => action[0]).join(" ");
  group.dataset.says = said;
  const [x, y, w, h] = part.box;
  make("rect", { class: "ring", x: x - 1, y: y - 1, width: w + 2, height: h + 2, rx: 10 }, group);
  group.addEventListener("click", () => choose(part));
  group.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(part);
  });
}

/** Draw a scene's board and, beside it, its scores: one drawing that is seen through two windows.
 * `choose(part)` is called for a part that was clicked, `say(words)` for one that is pointed at. */
export function draw(scene, board, scores, choose, say) {
  aim(scores, scene.scores);
  const drawing = aim(board, scene.board).firstElementChild;
  drawing.replaceChildren();
  for (const part of scene.parts) drawPart(part, make("g", {}, drawing), choose, say);
}

function aim(svg, box) { // the inner one cuts off what lies outside of the window
  const [x, y, width, height] = box;
  svg.setAttribute("viewBox", box.join(" "));
  for (const [key, value] of Object.entries({ x, y, width, height, viewBox: box.join(" ") })) {
    svg.firstElementChild.setAttribute(key, value);
  }
  return svg.firstElementChild;
}

function drawPart(part, group, choose, say) {
  if (part.label) make("title", {}, group).textContent = part.actions?.length === 1 ? part.actions[0][1] : part.label;
  for (const shape of part.shapes) KINDS[shape.kind](shape, group);
  if (part.actions) {
    makeTarget(part, group, choose);
    for (const event of ["mouseenter", "focus"]) group.addEventListener(event, () => say(group.dataset.says));
    for (const event of ["mouseleave", "blur"]) group.addEventListener(event, () => say(""));
  } else if (part.label) {
    group.setAttribute("role", "img");
    group.setAttribute("aria-label", part.label);
  }
}

/** Mark the target that an action belongs to. */
export function mark(targets, action) {
  const target = [...targets].find(({ dataset }) => dataset.actions.split(" ").includes(String(action)));
  if (!target) return;
  target.classList.add("advised");
  const { x, y, width } = target.querySelector(".ring").getBBox();
  make("text", { class: "advice", x: x + width - 4, y: y + 6, "font-size": 40, "text-anchor": "middle",
    "dominant-baseline": "central" }, target).textContent = "★";
}

/** Move the focus to the next or previous of some elements. */
export function moveFocus(elements, step) {
  const all = [...elements];
  const at = all.indexOf(document.activeElement);
  all[at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length]?.focus();
}
