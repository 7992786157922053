// The page: a socket to the local server, the table it shows, and what a person can do there.

import { draw, drawCurve, mark, moveFocus } from "./drawing.js";
import { fillTable, make, rulesOf } from "./text.js";

const $ = (id) => document.getElementById(id);
const targets = () => $("scene").querySelectorAll(".target"); // what can be chosen
const KEY = `monsterzoo ${location.pathname}`; // the last game of this server, to come back to
let socket = null;
let shown = null; // the message on the table
let waiting = []; // messages still to be shown
let timer = 0;
let events = [];
let variants = []; // games that can be started here, with their options
let policies = ""; // who plays against the person
let running = 0;

let opinions = []; // of the moves of a watched game
let learning = localStorage.getItem("monsterzoo learn") === "yes";
let held = false; // whether a summary waits to be read

// --- The connection ---

function connect() {
  socket = new WebSocket(new URL("socket", location.href).href.replace(/^http/, "ws"));
  socket.addEventListener("open", () => {
    complain("");
    send({ do: "join", game: location.hash.slice(1) || localStorage.getItem(KEY) || null });
  });
  socket.addEventListener("message", (event) => HANDLERS[JSON.parse(event.data).say](JSON.parse(event.data)));
  socket.addEventListener("close", ({ reason }) => {
    complain(`${reason || "The server does not answer"}; trying again …`);
    setTimeout(connect, 1500);
  });
}

const send = (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));

function complain(problem) {
  $("problem").hidden = !problem;
  $("problem").textContent = problem;
}

const HANDLERS = {
  welcome: fillSetup,
  error(message) {
    if (!shown && (location.hash || localStorage.getItem(KEY))) { // the game to come back to is gone
      history.replaceState(null, "", location.pathname);
      localStorage.removeItem(KEY);
      send({ do: "join", game: null });
      return;
    }
    document.body.classList.remove("waiting");
    complain(message.problem);
  },
  table(message) {
    remember(message.game);
    waiting.push(message);
    if (!timer) showNext();
  },
  watch(message) {
    remember(message.game);
    show(message);
    watchControls(message);
  },
  hint: showHint,
  opinion: showOpinion,
  rules: showRules,
  record: saveRecord,
};

function remember(game) { // the browser's Back leads to the game before
  if (shown && shown.game !== game) { waiting = []; held = false; opinions = []; clearTimeout(timer); timer = 0; }
  if (location.hash.slice(1) !== game) history[shown ? "pushState" : "replaceState"](null, "", `#${game}`);
  localStorage.setItem(KEY, game);
}

addEventListener("popstate", () => send({ do: "join", game: location.hash.slice(1) || null }));

// --- The table ---

function showNext() { // what is shown stays for a while, whether or not more is to come; a summary until it was read
  timer = 0;
  const message = waiting.shift();
  if (!message) return;
  const news = message.summary.length > 0 && JSON.stringify(message.summary) !== JSON.stringify(shown?.summary);
  show(message);
  const pace = Number($("pace").value);
  held = news && pace > 0 && !message.over;
  if (held) { $("on").hidden = false; $("on").focus(); } else timer = setTimeout(showNext, pace);
}

function goOn() {
  held = false;
  $("on").hidden = true;
  showNext();
  if (document.activeElement === document.body) targets()[0]?.focus({ preventScroll: true });
}

function show(message) {
  const free = [document.body, null].includes(document.activeElement) || $("scene").contains(document.activeElement);
  const fresh = !shown || shown.game !== message.game;
  shown = message;
  complain("");
  showHeader(message);
  showTip(null);
  draw(message.scene, $("scene"), choose, say, showTip, !fresh && Number($("pace").value) > 0);
  say("");
  events = message.events;
  showState(message);
  showHistory();
  const mine = message.say === "table" && message.decision !== null && !document.querySelector("dialog[open]");
  if (free && mine) targets()[0]?.focus({ preventScroll: true }); // keys go on where the last turn ended
  if (mine && learning) send({ do: "hint" });
}

function showHeader({ title, players, scene, variant }) {
  document.title = `${title} – MonsterZoo`;
  $("title").textContent = title;
  const named = players.map((name, seat) => name === "you" ? `you are player_${seat}` : `player_${seat}: ${name}`);
  $("players").textContent = [variant, ...named].filter(Boolean).join(" · ");
  $("status").textContent = scene.status;
  $("prompt").textContent = scene.prompt;
  fillTable($("scores"), scene.scores);
}

function showState(message) {
  const playing = message.say === "table";
  const mine = playing && message.decision !== null;
  document.body.classList.remove("waiting");
  document.body.dataset.state = message.over ? "over" : mine ? "mine" : "others";
  document.body.dataset.decision = mine ? message.decision : "";
  for (const id of ["undo", "hint", "learn"]) $(id).hidden = !playing;
  $("undo").disabled = !message.undo || !(mine || message.over);
  $("hint").disabled = !mine;
  $("hints").hidden = true;
  $("watching").hidden = playing;
  $("ending").hidden = !playing || !message.over;
  $("result").textContent = message.result ?? "";
  fillTable($("breakdown"), message.breakdown ?? []);
  $("summary").hidden = !message.summary?.length;
  $("on").hidden = true;
  $("lines").replaceChildren(...(message.summary ?? []).map((line) => make("li", {}, line)));
  $("lesson").hidden = !learning || !mine;
  $("learn").setAttribute("aria-pressed", learning);
  $("taught").textContent = message.scene.lesson;
  $("why").textContent = learning && mine ? "Search is thinking …" : "";
}

const say = (words) => { $("says").textContent = words; }; // what a click would do

function showTip(part, element) { // what a thing is and does, beside it
  const tip = $("tip");
  tip.hidden = !part?.help;
  if (tip.hidden) return;
  tip.firstChild.textContent = part.label;
  tip.lastChild.textContent = part.help;
  const { left, top, bottom, width } = element.getBoundingClientRect();
  const x = Math.min(Math.max(left + width / 2 - tip.offsetWidth / 2, 4), innerWidth - tip.offsetWidth - 4);
  tip.style.left = `${x}px`;
  tip.style.top = `${top - tip.offsetHeight - 8 > 0 ? top - tip.offsetHeight - 8 : bottom + 8}px`;
}

function showHistory() {
  const list = $("history");
  list.replaceChildren(...events.map(([text, seat, move], i) => {
    const item = make("li", { className: seat < 0 ? "" : `seat-${seat}` }, text);
    if (!move) return item;
    item.classList.add("move");
    item.addEventListener("click", () => { run(false); look(move); });
    const opinion = opinions.find((one) => one.move === move);
    if (opinion && events[i - 1]?.[2] !== move) item.append(make("span", { className: "mark" }, judged(opinion)));
    return item;
  }));
  list.scrollTop = list.scrollHeight;
}

function choose(part) {
  if (!shown || shown.decision === null || waiting.length || held) { skip(); return; }
  if (part.actions.length === 1) act(part.actions[0][0]);
  else openMenu(part);
}

function skip() { // show at once what is still to be seen
  clearTimeout(timer);
  held = false;
  timer = 0;
  if (waiting.length) { waiting = waiting.slice(-1); showNext(); }
}

function act(action) {
  document.body.classList.add("waiting");
  send({ do: "act", decision: shown.decision, action });
}

function openMenu(part) {
  $("menu-title").textContent = part.label;
  $("choices").replaceChildren(...part.actions.map(([action, words]) =>
    make("button", { type: "button", onclick: () => { $("menu").close(); act(action); } }, words)));
  $("menu").showModal();
  $("choices").firstElementChild.focus();
}

function showHint(message) {
  document.body.classList.remove("waiting");
  if (!shown || message.decision !== shown.decision) return;
  $("bars").replaceChildren(...message.actions.map(({ words, chosen, chance }) => {
    const filled = make("span", {});
    filled.style.width = `${100 * (chance ?? 0)}%`;
    const said = chance === null ? "hardly tried" : `${Math.round(100 * chance)} %`;
    const className = chosen ? "chosen" : chance === null ? "pale" : "";
    return make("li", { className }, `${chosen ? "★ " : ""}${words}: ${said}`, make("span", { className: "bar" }, filled));
  }));
  $("hints").hidden = learning;
  $("why").textContent = `★ ${message.actions[0].words}. ${message.why}`;
  mark(targets(), message.actions.find(({ chosen }) => chosen).action);
}

// --- The end ---

function saveRecord({ record, game }) {
  const file = new Blob([JSON.stringify(record, null, 1)], { type: "application/json" });
  const link = make("a", { href: URL.createObjectURL(file), download: `${record.game}-${game}.json` });
  link.click();
  URL.revokeObjectURL(link.href);
}

for (const id of ["save", "keep"]) $(id).addEventListener("click", () => send({ do: "record" }));
$("review").addEventListener("click", () => send({ do: "review" }));
$("again").addEventListener("click", () => startGame(shown.setup));

// --- Watching ---

function watchControls(message) {
  $("place").max = message.moves + (message.complete ? 0 : 1);
  $("place").value = message.place;
  const more = message.complete ? "" : " so far";
  $("move").textContent = `Move ${message.place} of ${message.moves}${more}`;
  if (shown.view !== opinions[0]?.view) opinions = [];
  nextOpinion();
  showOpinions();
  $("view").replaceChildren(...message.views.map((view) =>
    new Option(view === "all" ? "everybody" : view, view, false, view === message.view)));
  const ended = message.complete && message.place === message.moves;
  $("forward").disabled = $("end").disabled = ended;
  $("back").disabled = $("start").disabled = message.place === 0;
  if (ended) run(false);
  else if (running) running = setTimeout(() => look(shown.place + 1), Math.max(Number($("pace").value), 300));
}

const analysing = () => $("analyse").getAttribute("aria-pressed") === "true";

function nextOpinion() { // of the first move without one, as far as the view may know
  if (!analysing() || shown?.say !== "watch") return;
  const known = new Set(opinions.map(({ move }) => move));
  const own = (seat) => shown.view === "all" || shown.view === `player_${seat}`;
  const missing = shown.movers.findIndex((seat, i) => own(seat) && !known.has(i + 1));
  if (missing >= 0) send({ do: "opinion", move: missing + 1, view: shown.view });
}

function showOpinion(message) {
  if (shown?.say !== "watch" || message.view !== shown.view) return;
  opinions = [...opinions.filter(({ move }) => move !== message.move), message].sort((a, b) => a.move - b.move);
  showHistory();
  showOpinions();
  nextOpinion();
}

const percent = (share) => `${Math.round(100 * share)} %`;
const judged = ({ chance, loss }) => `${chance === null ? "" : ` ${percent(chance)}`}${loss >= 0.25 ? " ??" : loss >= 0.1 ? " ?" : ""}`;

function showOpinions() {
  $("curve").toggleAttribute("hidden", !opinions.length);
  drawCurve($("curve"), opinions, shown.moves, (move) => { run(false); look(move); });
  const here = opinions.find(({ move }) => move === shown.place);
  $("opinion").textContent = here ? [`player_${here.seat} played ${here.played}${here.chance === null ? "" : ` (${percent(here.chance)})`}`,
    `search: ${here.search}`, here.network && `network: ${here.network}`,
    here.loss >= 0.1 && `lost ${percent(here.loss)}`].filter(Boolean).join(" · ") : "";
}

$("analyse").addEventListener("click", () => {
  $("analyse").setAttribute("aria-pressed", !analysing());
  nextOpinion();
});

const look = (place, view = $("view").value || "all") => send({ do: "show", place, view });

function run(on) {
  clearTimeout(running);
  running = Number(on);
  $("run").setAttribute("aria-pressed", on);
  $("run").textContent = on ? "Stop" : "Run";
  if (on) look(shown.place + 1);
}

const WALKS = { start: () => 0, back: () => shown.place - 1, forward: () => shown.place + 1, end: () => -1 };
for (const [id, place] of Object.entries(WALKS)) {
  $(id).addEventListener("click", () => { run(false); look(place()); });
}
$("run").addEventListener("click", () => run(!running));
$("place").addEventListener("change", () => { run(false); look(Number($("place").value)); });
$("view").addEventListener("change", () => look(shown.place));

// --- New games ---

function fillSetup(message) {
  variants = message.variants;
  $("setup-game").replaceChildren(...variants.map(({ name }, i) => new Option(name, i)));
  $("policies").replaceChildren(...message.policies.map((spec) => new Option(spec)));
  policies = message.opponents.join(" ");
}

function listed({ game, options }) { // the place in the list of a running game: all of the variant's options, most of them
  const fits = (one) => one.game === game && Object.entries(one.options).every(([key, value]) => options[key] === value);
  const sizes = variants.map((one) => fits(one) ? Object.keys(one.options).length : 0);
  return sizes.indexOf(Math.max(...sizes));
}

function openSetup() {
  if (shown) $("setup-game").value = listed(shown.setup);
  fillSeats();
  $("setup-seat").value = shown?.setup.seat ?? 0;
  $("setup-opponents").value = policies;
  $("setup").showModal();
}

function fillSeats() {
  const { players } = variants[Number($("setup-game").value)].options;
  $("setup-seat").replaceChildren(...Array.from({ length: players }, (_, seat) => new Option(`player_${seat}`, seat)));
}

function startGame({ game, options, seat }) {
  send({ do: "new", game, options, opponents: policies.trim().split(/\s+/), seat });
}

$("setup-game").addEventListener("change", fillSeats);
$("new").addEventListener("click", openSetup);
$("setup").addEventListener("close", () => {
  if ($("setup").returnValue !== "start") return;
  const chosen = Number($("setup-game").value);
  const same = shown && chosen === listed(shown.setup); // options of the command line stay
  policies = $("setup-opponents").value;
  startGame({ ...(same ? shown.setup : variants[chosen]), seat: Number($("setup-seat").value) });
});

// --- Rules and lessons ---

function showRules(message) {
  $("book-title").textContent = `${shown.title}, ${message.variant}`;
  $("pages").replaceChildren(...rulesOf(message));
  if (!$("book").open) $("book").showModal();
  $("pages").focus();
  $("pages").scrollTop = 0;
}

$("rules").addEventListener("click", () => send({ do: "rules" }));
$("book-close").addEventListener("click", () => $("book").close());
$("learn").addEventListener("click", () => {
  learning = !learning;
  localStorage.setItem("monsterzoo learn", learning ? "yes" : "no");
  show(shown);
});

// --- Buttons and keys ---

$("undo").addEventListener("click", () => { run(false); send({ do: "undo" }); });
$("hint").addEventListener("click", () => { document.body.classList.add("waiting"); send({ do: "hint" }); });
$("board").addEventListener("click", skip);
$("on").addEventListener("click", goOn);
$("menu-close").addEventListener("click", () => $("menu").close());
$("menu").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  moveFocus($("choices").children, step);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  if (["INPUT", "SELECT"].includes(event.target.tagName) || event.target.id === "history") return;
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step && shown?.say === "watch") { event.preventDefault(); look(Math.max(shown.place + step, 0)); }
  else if (step) { event.preventDefault(); moveFocus(targets(), step); }
  const walk = event.target === document.body && { Home: "start", End: "end", " ": "run" }[event.key];
  if (walk && shown?.say === "watch") { event.preventDefault(); $(walk).click(); }
  const button = { u: "undo", h: "hint", l: "learn", n: "new", "?": "rules" }[event.key];
  if (button && !$(button).hidden && !$(button).disabled) { event.preventDefault(); $(button).click(); }
});

connect();
