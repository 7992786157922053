// Scenes on the page: the server's SVG, what can be clicked as buttons, tooltips, and things that move.

const SPACE = "http://www.w3.org/2000/svg";
const MOTION = 320; // milliseconds
const LONG_PRESS = 450;
const still = matchMedia("(prefers-reduced-motion: reduce)");

export function make(name, attributes, parent) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
}

/** Draw a scene's board. `choose(part)` is called for a part that was clicked, `say(words)` and `tip(part, element)`
 * for one that is pointed at (with nothing, for none); `moving` says whether things move to their new places. */
export function draw(scene, board, choose, say, tip, moving) {
  const drawing = board.querySelector("#drawing");
  const places = moving && !still.matches ? findPlaces(drawing) : new Map();
  board.setAttribute("viewBox", scene.board.join(" "));
  drawing.replaceChildren();
  for (const part of scene.parts) drawPart(part, make("g", {}, drawing), choose, say, tip);
  for (const group of drawing.querySelectorAll("[data-key]")) if (places.size) move(group, places);
}

function findPlaces(drawing) {
  return new Map([...drawing.querySelectorAll("[data-key]")].map((group) => [group.dataset.key, group.getBBox()]));
}

function move(group, places) {
  const { key, origin } = group.dataset;
  if (key.startsWith("die")) {
    if (!places.has(key)) animate(group, "rotate(-300deg) scale(.6)");
    return;
  }
  const before = places.get(key) ?? places.get(origin);
  if (!before || key.startsWith("seat")) return;
  const now = group.getBBox();
  const x = before.x + before.width / 2 - now.x - now.width / 2;
  const y = before.y + before.height / 2 - now.y - now.height / 2;
  if (Math.abs(x) + Math.abs(y) > 2) animate(group, `translate(${x}px, ${y}px)`);
}

function animate(group, transform) {
  group.classList.add("moving");
  group.animate([{ transform }, { transform: "none" }], { duration: MOTION, easing: "ease-out" });
}

function drawPart(part, group, choose, say, tip) {
  group.innerHTML = part.svg; // made by the server, its texts escaped
  for (const name of ["key", "origin"]) if (part[name]) group.dataset[name] = part[name];
  if (part.actions) makeTarget(part, group, choose);
  else if (part.label) {
    group.setAttribute("role", "img");
    group.setAttribute("aria-label", part.help ? `${part.label}. ${part.help}` : part.label);
    if (part.help) group.setAttribute("tabindex", "0");
  }
  if (part.actions || part.help) explain(part, group, say, tip);
}

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
  group.addEventListener("click", () => { if (!group.dataset.held) choose(part); });
  group.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(part);
  });
}

function explain(part, group, say, tip) { // on hover, focus and long press
  let press = 0;
  const tell = () => { say(group.dataset.says ?? ""); tip(part, group); };
  const hush = () => { clearTimeout(press); say(""); tip(null); };
  group.addEventListener("mouseenter", tell);
  group.addEventListener("focus", () => group.matches(":focus-visible") ? tell() : say(group.dataset.says ?? ""));
  for (const event of ["mouseleave", "blur"]) group.addEventListener(event, hush);
  group.addEventListener("touchstart", () => {
    delete group.dataset.held;
    press = setTimeout(() => { group.dataset.held = "yes"; tell(); }, LONG_PRESS);
  }, { passive: true });
  group.addEventListener("touchend", () => { clearTimeout(press); setTimeout(() => delete group.dataset.held, 400); });
  group.addEventListener("contextmenu", (event) => event.preventDefault());
}

/** Mark the target that an action belongs to. */
export function mark(targets, action) {
  const target = [...targets].find(({ dataset }) => dataset.actions.split(" ").includes(String(action)));
  if (!target || target.querySelector(".advice")) return;
  target.classList.add("advised");
  const { x, y, width } = target.querySelector(".ring").getBBox();
  make("text", { class: "advice", x: x + width - 6, y: y + 8, "font-size": 40, "text-anchor": "middle",
    "dominant-baseline": "central" }, target).textContent = "★";
}

/** Chances over time: a line for each seat through its own decisions, and dots on moves that lost much. */
export function drawCurve(svg, opinions, moves, choose) {
  svg.replaceChildren();
  make("line", { x1: 0, x2: 300, y1: 35, y2: 35, class: "half" }, svg);
  const at = ({ move, chance }) => [300 * move / Math.max(moves, 1), 68 - 66 * chance];
  const seats = new Set(opinions.map(({ seat }) => seat));
  for (const seat of seats) {
    const own = opinions.filter((one) => one.seat === seat && one.chance !== null);
    make("polyline", { class: `line-${seat}`, points: own.map((one) => at(one).join(",")).join(" ") }, svg);
    for (const one of own.filter(({ loss }) => loss >= 0.1)) {
      const [cx, cy] = at(one);
      make("circle", { cx, cy, r: 3, class: `dot-${seat}` }, svg);
    }
  }
  svg.onclick = (event) => {
    const { left, width } = svg.getBoundingClientRect();
    choose(Math.round(moves * (event.clientX - left) / width));
  };
}

/** Move the focus to the next or previous of some elements. */
export function moveFocus(elements, step) {
  const all = [...elements];
  const at = all.indexOf(document.activeElement);
  all[at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length]?.focus();
}
