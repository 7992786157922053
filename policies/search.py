"""Search for every game: Monte Carlo trees over information sets, on worlds that the deciding seat thinks possible.

Every simulation imagines a world (`contract.resample`: what the seat cannot know is resampled, and the luck to come is
drawn from the search's own stream), walks down the tree in it, adds one node, and plays to the horizon. The tree
belongs to the seat that decides (single-observer ISMCTS): a path is a sequence of actions, not of worlds, and an action
is judged against how often it was available. Beyond the textbook:

- A node of the deciding seat is told apart by what the seat may do there, which it will know: so it reacts to dice and
  fresh cards. Nodes of the others carry nothing but the action that led there: what they hold is not known.
- A hidden choice of another seat in a simultaneous phase makes no node: the playout policy makes it, and nothing below
  can depend on it.
- Values are the chances of the sides to win at the horizon (see `horizons`); exploration is scaled by their spread.
- Where the heuristic plays the playouts, its own choice is tried first at every node of the deciding seat and explored
  more eagerly, so that small budgets improve on it instead of drowning in noise. A game without one is played out at
  random.

Decisions are a pure function of seed, observation and budget (budgets in milliseconds aside): the stream starts from a
digest of the observation. The spec is "search:BUDGET" and further settings after commas, such as "search:1000",
"search:50ms", "search:20000,playout=random,c=0.5,trees=2,threads=2", see `Settings`.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from monsterzoo.envs.compiling.jit import compiled, direct, kernel
from monsterzoo.envs.compiling.threads import ThreadPool
from monsterzoo.envs.core.bits import bit, has, lowest, popcount
from monsterzoo.envs.core.contract import PLAYING, legal, resample, step
from monsterzoo.envs.core.rng import generator, streams
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.compiled_policies import Uniform, choose, fresh_token
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.envs.match.kernels import pick
from monsterzoo.envs.match.players import make_player

from . import heuristics, horizons
from .base import legal_masks, named
from .guided import grow_guided, new_guided_tree
from .horizons import focus, outlook
from .networks import NeuralPolicy
from .trees import NONE, add_edge, find_node, harvest, key_of, new_desk, new_tree, plant, remember, spread

SLICE, TIMED_SLICE = 64, 16
"""Simulations after which a search first looks at the clock, and each time with a budget in milliseconds."""
SLICE_SECONDS = 0.02
"""How long simulations may take before Python looks for signals again, within a factor of two or three."""
MAX_NODES = 1 << 18  # of a tree without a budget in simulations; a full one grows no more
PLAIN_C, GUIDED_C = 0.7, 1.0
"""What `Settings.c` is by default, found by duels."""
OPINION = 0.1
"""What `Settings.opinion` is by default, about what regressions on real games say (see training/README.md)."""
NEAR_MIX, FAR_MIX = 1.0, 0.5
"""What `Settings.mix` is by default, by a few duels in two variants.

To a near horizon (see `horizons`) playouts are quick and tell more in the same time than a network's values do; to a
game's far end they are long and mostly luck.
"""
_LOG = np.array([0.0] + [math.log(n) for n in range(1, 4096)])


@compiled
def best_edge(tree, node, words, spare, exploration, trust):
    """The edge with the highest upper bound among the legal ones; `spare` is left with the actions without an edge."""
    for k in range(len(words)):
        spare[k] = words[k]
    best, top = NONE, -1e300
    advice = tree.nodes[node].advice
    edge = tree.nodes[node].edge
    while edge != NONE:
        one = tree.edges[edge]
        action = np.int64(one.action)
        if has(words[action >> 6], action & 63):
            spare[action >> 6] ^= bit(action & 63)
            one.available += 1
            visits, available = np.float64(one.visits), np.int64(one.available)
            log = _LOG[available] if available < 4096 else math.log(available)
            bonus = exploration * math.sqrt(log / visits)
            value = one.total / visits + (trust * bonus if action == advice else bonus)
            if value > top:
                best, top = edge, value
        edge = one.next
    return best


@compiled
def simulate(truth, seat, playout, exploration, trust, stream, tree, desk):
    """One simulation: imagine, descend, add a node, play to the horizon, remember."""
    nodes, words, spare = tree.nodes, desk.words, desk.spare
    exploration *= 2.0 * spread(tree.moments)
    resample(desk.world, truth, seat, stream)
    state = desk.world[0]
    focus(state)
    sides = np.int64(state.sides)
    depth, edge, steps = 0, NONE, 0
    secret = np.uint64(0)  # seats that choose without seeing each other
    growing = True
    while state.outcome == PLAYING and growing:
        acting = np.uint64(state.acting)
        if popcount(acting) > 1:
            secret |= acting
        who = seat if has(acting, seat) else lowest(acting)
        if who != seat and has(secret, who):
            action = choose(playout, state, who, words, desk.views, stream)
        else:
            legal(state, who, words)
            node = 0 if edge == NONE else find_node(tree, edge, key_of(who, seat, words))
            if node == NONE:
                break
            if trust > 1.0 and who == seat and nodes[node].edge == NONE:
                nodes[node].advice = choose(playout, state, who, words, desk.views, stream)
                legal(state, who, words)
            edge = best_edge(tree, node, words, spare, exploration, trust)
            untried = np.uint64(0)
            for word in spare:
                untried |= word
            if untried != np.uint64(0):
                advice = np.int64(nodes[node].advice)
                if advice != NONE and has(spare[advice >> 6], advice & 63):
                    action = advice
                else:
                    action = pick(spare, stream)
                added = add_edge(tree, node, action, who % sides, np.float32(0))
                growing = False
                if added != NONE:
                    edge = added
                elif edge == NONE:
                    break
            action = np.int64(tree.edges[edge].action)
            tree.path[depth] = edge
            depth += 1
            growing = growing and depth < len(tree.path)
        step(state, who, action)
        steps += 1
        if np.uint64(state.acting) & ~acting != np.uint64(0):
            secret = np.uint64(0)  # somebody new decides: the simultaneous phase is over
    while state.outcome == PLAYING:
        who = lowest(np.uint64(state.acting))
        step(state, who, choose(playout, state, who, words, desk.views, stream))
        steps += 1
    tree.sizes[2] += steps
    for side in range(sides):
        desk.values[side] = outlook(state, truth[0], side)
    remember(tree, depth, desk.values, seat % sides)


@kernel
def grow(truth, seat, playout, exploration, trust, simulations, stream, tree, desk):
    """Add simulations to the tree of one decision; `truth` is an array of one state, `stream` of one generator."""
    for _ in range(simulations):
        simulate(truth, seat, playout, exploration, trust, stream[0], tree, desk)


@dataclass(frozen=True)
class Settings:
    """What "search:BUDGET,name=value,…" sets."""

    simulations: int = 0
    """Simulations a decision, all trees together; 0 with a budget in milliseconds."""
    milliseconds: float = 0
    """Time a decision instead."""
    playout: str | None = None
    """Who plays from the tree to the horizon: "heuristic", or the weaker and much faster "random".

    None is the heuristic where the game has one, else random.
    """
    net: str | None = None
    """A network that guides the search: "pretrained" or "net:FOLDER"; see `guided`."""
    mix: float | None = None
    """With a network: what share of a leaf's value is a playout's, from 0 to 1; the rest is the network's."""
    others: str | None = None
    """With a network: who says what the other seats do in the tree, "net" or "playout" (whoever plays those).

    None is the heuristic where it plays the playouts, else the network.
    """
    opinion: float | None = None
    """With a network: how much its opinion of the root's actions weighs beside what simulations find; 0: nothing."""
    c: float | None = None
    """Weight of exploration, in units of a game of win or loss; other values are scaled by their spread.

    With a network: below the root; which of its actions are tried there is another matter, see `guided`.
    """
    trust: float = 2.0
    """How much more eagerly the heuristic's action is explored than others (with playout=heuristic); 1: not at all."""
    trees: int = 1
    """Independent trees whose visits are added up, each with its share of the budget."""
    threads: int = 1
    """Threads that grow trees; the decision does not depend on it (with a budget in simulations)."""

    def __post_init__(self) -> None:
        for name, low, high in _LIMITS:
            value = getattr(self, name)
            if value is not None and not low <= value <= high:  # nor is anything else, such as nan
                raise ValueError(f"{name} is from {low:,} to {high:,}, not {value!r:.40}")
        if not self.simulations and not self.milliseconds:
            raise ValueError("the budget must be positive")
        if self.playout not in (None, "random", "heuristic"):
            raise ValueError("playout is 'random' or 'heuristic'")
        if self.net is None and any(setting is not None for setting in (self.mix, self.others, self.opinion)):
            raise ValueError("mix, others and opinion are for searches with a network, as in net=pretrained")
        if self.others not in (None, "net", "playout"):
            raise ValueError("others is 'net' or 'playout'")


_LIMITS = (
    ("simulations", 0, 1_000_000_000),  # visits are counted in 32 bits
    ("milliseconds", 0, 600_000),
    ("c", 0, 1_000),
    ("mix", 0, 1),
    ("opinion", 0, 1_000),
    ("trust", 1, 1_000),
    ("trees", 1, 1_000),
    ("threads", 1, 256),
)
"""Settings that are numbers, with the lowest and the highest value allowed."""


_PARSERS: dict[str, Callable[[str], Any]] = {
    "playout": str,
    "net": str,
    "mix": float,
    "others": str,
    "opinion": float,
    "c": float,
    "trust": float,
    "trees": int,
    "threads": int,
}


def parse(argument: str | None) -> Settings:
    """The settings in a spec's argument; raises `ValueError` saying what is wrong."""
    budget, *rest = (argument or "").replace(" ", "").split(",")
    given: dict[str, Any] = {}
    try:
        if budget.endswith("ms"):
            given["milliseconds"] = float(budget[:-2])
        else:
            given["simulations"] = int(budget)
        for setting in rest:
            name, _, value = setting.partition("=")
            if name not in _PARSERS:
                raise ValueError(f"there is no setting {name!r}")
            given[name] = _PARSERS[name](value)
        settings = Settings(**given)
    except ValueError as error:
        raise ValueError(
            f"'search:{argument or '':.60}' is not a search ({error}); it reads like 'search:1000', 'search:50ms' or "
            "'search:1000,playout=heuristic,c=0.7,trees=2,threads=2'"
        ) from None
    return settings


class _Workspace:
    """What one thread searches with: a tree, and the kernel that grows it in the way the settings say."""

    def __init__(self, variant: Variant, settings: Settings, playout: Any, guide: Any) -> None:
        share = -(-settings.simulations // settings.trees)
        nodes = min(share + 1, MAX_NODES) if settings.simulations else MAX_NODES
        self.steps = 0
        self.truth, self.desk = variant.new_states(1), new_desk(variant)
        self.tree = new_tree(variant, nodes, nodes) if guide is None else new_guided_tree(variant, nodes)
        self._grow: Callable[..., Any] | None = None
        self._kernel: Callable[..., Any] = grow if guide is None else grow_guided
        self._way: tuple[Any, ...]
        """What the kernel is told about how to search."""
        if guide is None:
            trust = settings.trust if settings.playout == "heuristic" else 1.0
            self._way = (playout, _number(settings.c, PLAIN_C), float(trust))
        else:
            modelled = settings.others == "net" or (settings.others is None and settings.playout == "random")
            usual = NEAR_MIX if horizons.is_near(variant) else FAR_MIX
            c, mix = _number(settings.c, GUIDED_C), _number(settings.mix, usual)
            self._way = (fresh_token(guide), playout, c, mix, modelled, _number(settings.opinion, OPINION))

    def grow(self, settings: Settings, truth: np.ndarray, seat: int, stream: np.ndarray, stop: list[bool]) -> None:
        """Grow one tree within its share of the budget, in slices: between them Python sees Ctrl-C, and we `stop`."""
        plant(self.tree)
        self.truth[0] = truth[0]  # whatever array it comes from, compiled code gets one of a known type
        task = (self.truth, seat, *self._way)
        if self._grow is None:
            self._grow = direct(self._kernel, (*task, 0, stream, self.tree, self.desk))
        tree, budget = self.tree, self.tree.budget
        budget[0] = -(-settings.simulations // settings.trees) or math.inf
        begun = now = time.perf_counter()
        end = now + settings.milliseconds / 1000 if settings.milliseconds else math.inf
        count = TIMED_SLICE if settings.milliseconds else SLICE
        while (left := budget[0] - tree.moments[0]) > 0 and now < end and not stop[0]:
            last = now
            self._grow(*task, int(min(count, left)), stream, tree, self.desk)
            now = time.perf_counter()
            if settings.milliseconds:
                budget[0] = math.ceil(tree.moments[0] * (end - begun) / (now - begun))
            else:
                count = 2 * count if now - last < SLICE_SECONDS else max(count // 2, 1)
        if self._kernel is grow_guided:
            budget[0] = tree.moments[0]
            self._grow(*task, 1, stream, tree, self.desk)  # the action that is left becomes the most visited one
        self.steps += int(self.tree.sizes[2])


class SearchPolicy:
    """Information-set Monte Carlo tree search; needs the games' records."""

    def __init__(self, variant: Variant, settings: Settings, name: str = "search", seed: int = 0) -> None:
        horizons.load(variant)
        if settings.playout is None:
            settings = replace(settings, playout="heuristic" if heuristics.has_heuristic(variant) else "random")
        self.variant, self.settings, self.name, self.seed = variant, settings, name, seed
        self._playout: Any = Uniform()
        if settings.playout == "heuristic":
            heuristics.load(variant)
            self._playout = heuristics.Heuristic()
        self.guide: NeuralPolicy | None = None if settings.net is None else _guide(variant, settings.net, seed)
        """The network that guides it."""
        if self.guide is not None and not self.guide.knows_chances:
            if settings.mix not in (None, 1):
                raise ValueError(
                    f"{name}: the values of {settings.net} are points and no chances; only mix=1 is possible"
                )
            self.settings = replace(settings, mix=1.0)
        self._gather()

    def __repr__(self) -> str:
        return named(self)

    def _gather(self) -> None:
        """Make the threads and what they work with."""
        self._pool = ThreadPool(self.settings.threads)
        net = None if self.guide is None else self.guide.compiled
        self._workspaces = [
            _Workspace(self.variant, self.settings, self._playout, net) for _ in range(self.settings.threads)
        ]

    @property
    def steps(self) -> int:
        """Steps of imagined games so far, for benchmarks."""
        return sum(space.steps for space in self._workspaces)

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action a row, integers (B,): the most visited one."""
        masks = legal_masks(self, decisions)
        visits, totals = self.analyse(decisions.observations, decisions.seats, decisions._states)
        legal_visits = np.where(masks != 0, visits, -1)
        means = np.divide(totals, visits, out=np.zeros_like(totals), where=visits > 0)
        top = legal_visits == legal_visits.max(axis=1, keepdims=True)
        return np.where(top, means, -np.inf).argmax(axis=1)

    def analyse(
        self, observations: np.ndarray, seats: np.ndarray, states: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Visits (B, A) of every action at the root and the sums (B, A) of what they were worth.

        Raises `ValueError` for states of another game, or that do not wait for a decision of their seat.
        """
        if states is None:
            raise ValueError(f"{self.name} samples what the seat cannot know: observations alone are not enough")
        self.variant.check_deciding(states, seats)
        if np.shape(observations) != (len(states), self.variant.layout.size):
            raise ValueError(
                f"{self.name} was made for {self.variant}: its observations have the shape "
                f"({len(states)}, {self.variant.layout.size}), not {np.shape(observations)}"
            )
        count, trees = len(states), self.settings.trees
        visits = np.zeros((count * trees, self.variant.num_actions), np.int64)
        totals = np.zeros((count * trees, self.variant.num_actions))
        luck = streams(0, 1, "search").repeat(count * trees)
        for row in range(count):
            digest = blake2b(np.ascontiguousarray(observations[row]).tobytes(), digest_size=8).digest()
            value = int.from_bytes(digest, "little") ^ (self.seed * 0x9E3779B97F4A7C15 & (1 << 64) - 1)
            for tree in range(trees):
                luck["rng"][row * trees + tree] = generator(value, f"search {tree}")
        spaces, stop = iter(self._workspaces), [False]

        def work(space: _Workspace, first: int, last: int) -> None:
            try:
                for task in range(first, last):
                    truth, seat = states[task // trees : task // trees + 1], int(seats[task // trees])
                    space.grow(self.settings, truth, seat, luck[task : task + 1], stop)
                    harvest(space.tree, visits[task], totals[task])
            except BaseException:
                stop[0] = True  # for the other threads, which are waited for
                raise

        try:
            self._pool.run(work, count * trees, lambda first, last: (next(spaces), first, last))
        except BaseException:
            # Interrupted while it waited, its threads keep what they work on.
            stop[0] = True
            self._gather()
            raise
        shape = (count, trees, self.variant.num_actions)
        return visits.reshape(shape).sum(axis=1), totals.reshape(shape).sum(axis=1)


def _number(chosen: float | None, usual: float) -> float:
    return float(usual if chosen is None else chosen)


def _guide(variant: Variant, spec: str, seed: int) -> NeuralPolicy:
    """The network of a spec; raises `ValueError` if there is none, or it does not fit the game."""
    policy = make_player(variant, spec, seed)
    if not isinstance(policy, NeuralPolicy):
        raise ValueError(f"net={spec} is no network; 'pretrained' and 'net:FOLDER' are")
    return policy


def make(variant: Variant, argument: str | None, seed: int) -> SearchPolicy:
    """The maker behind the spec "search:BUDGET"."""
    return SearchPolicy(variant, parse(argument), f"search:{argument}", seed)
