"""Search as a player: budgets, threads, and what comes out.

Decisions are a pure function of seed, observation and budget (budgets in milliseconds aside): the stream starts from a
digest of the observation.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from monsterzoo.envs.compiling.jit import direct
from monsterzoo.envs.compiling.threads import ThreadPool
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.rng import generator, streams
from monsterzoo.envs.match.compiled_policies import fresh_token
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.envs.match.match import Caller, exclusive
from monsterzoo.envs.match.players import make_player

from .. import heuristics, horizons
from ..base import Named, legal_masks
from ..networks import NeuralPolicy
from .evaluation import Mixture, Rollout
from .selection import PUCT, UCB, SequentialHalving
from .settings import Settings, parse
from .simulation import Search, run
from .tree import new_scratch, new_tree

SLICE, TIMED_SLICE = 64, 16
"""Simulations before a search first looks at the clock, and each time with a budget in milliseconds."""
SLICE_SECONDS = 0.02
"""How long simulations may take before Python looks for signals again, within a factor of two or three."""
MAX_SIMULATIONS, MAX_GUIDED = 1 << 18, 1 << 16
"""Simulations that a tree has room for without and with a network; a full one grows no more."""
EXPAND_AFTER = 10
"""Visits of a node before the network is asked, where only its probabilities count."""
PLAIN_C, GUIDED_C, HEURISTIC_BONUS = 0.7, 1.0, 2.0  # found by duels
PRIOR_WEIGHT = 0.1  # about what regressions on real games say, see training/README.md
NEAR_ROLLOUT_WEIGHT, FAR_ROLLOUT_WEIGHT = 1.0, 0.5
"""By duels: rollouts to a near horizon (see `horizons`) are quick and tell more in the same time than a network's
values; to a game's far end they are long and mostly luck."""


@dataclass(frozen=True)
class RootStatistics:
    """What a search found out about B decisions; values are chances of the deciding seat's side, from 0 to 1."""

    visits: np.ndarray  # int64 (B, A): simulations of each action, in all trees
    totals: np.ndarray  # float64 (B, A): sum of their values
    votes: np.ndarray  # int64 (B, A): trees that recommend each action
    priors: np.ndarray  # float64 (B, A): the network's probabilities; 0 without a network
    nodes: np.ndarray  # int64 (B,): nodes of all trees
    steps: np.ndarray  # int64 (B,): steps of simulated games

    @property
    def values(self) -> np.ndarray:
        """Mean value of each action, (B, A); nan where it was not tried."""
        return np.divide(self.totals, self.visits, out=np.full(self.totals.shape, np.nan), where=self.visits > 0)

    @property
    def root_values(self) -> np.ndarray:
        """Mean value of all simulations, (B,)."""
        return self.totals.sum(axis=1) / self.visits.sum(axis=1)

    def best(self, action_masks: np.ndarray | None = None) -> np.ndarray:
        """The choices, integers (B,): most visits and votes, then the best mean; masks restrict them."""
        legal = self.visits > 0 if action_masks is None else action_masks != 0
        counts = np.where(legal, self.visits + self.votes, -1)
        top = counts == counts.max(axis=1, keepdims=True)
        return np.where(top, np.nan_to_num(self.values), -np.inf).argmax(axis=1)


class SearchPolicy(Named):
    """Information-set Monte Carlo tree search, which samples worlds from the decisions' games.

    Args:
        variant: the game.
        settings: see `Settings`.
        name: for tables and plots.
        seed: of its random choices.
        root_selection: another rule for the root than the settings', see `selection.select_root`.
        evaluation: another evaluation of leaves, see `evaluation.evaluate`.
    """

    def __init__(
        self, variant: Variant, settings: Settings, name: str = "search", seed: int = 0,
        root_selection: Any = None, evaluation: Any = None,
    ) -> None:  # fmt: skip
        if settings.rollout is None:
            settings = replace(settings, rollout="heuristic" if heuristics.has_heuristic(variant) else "random")
        self.guide: NeuralPolicy | None = None if settings.net is None else _network(variant, settings.net)
        """The network that guides it."""
        if self.guide is not None and not self.guide.knows_chances:
            if settings.rollout_weight not in (None, 1):
                raise ValueError(
                    f"{name}: the values of {settings.net} are points and no chances; only rollout_weight=1 is possible"
                )
            settings = replace(settings, rollout_weight=1.0)
        self.variant, self.settings, self.name, self.seed = variant, settings, name, seed
        self.caller = Caller()
        self.steps = 0
        """Steps of simulated games so far, for benchmarks."""
        parts = _plain(variant, settings) if self.guide is None else _guided(variant, settings, self.guide)
        chosen = {"root_selection": root_selection, "evaluation": evaluation}
        self._parts = parts._replace(**{name: part for name, part in chosen.items() if part is not None})
        self._gather()

    def _gather(self) -> None:
        """Make the threads and what they work with."""
        self._pool = ThreadPool(self.settings.threads)
        self._workers = [_Worker(self.variant, self.settings, self._parts) for _ in range(self.settings.threads)]

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action a row, integers (B,): the recommended one."""
        masks = legal_masks(self, decisions)
        return self.search(decisions.observations, decisions.seats, decisions._states).best(masks)

    @exclusive
    def search(self, observations: np.ndarray, seats: np.ndarray, states: np.ndarray | None) -> RootStatistics:
        """Search B decisions: observations (B, n), seats (B,), states (B,).

        Raises `ValueError` for states of another game, or that do not wait for a decision of their seat, and
        `RuntimeError` while another thread searches with this object: its trees are the same.
        """
        if states is None:
            raise ValueError(f"{self.name} samples what the seat cannot know: observations alone are not enough")
        self.variant.check_deciding(states, seats)
        if np.shape(observations) != (len(states), self.variant.layout.size):
            raise ValueError(
                f"{self.name} was made for {self.variant}: its observations have the shape "
                f"({len(states)}, {self.variant.layout.size}), not {np.shape(observations)}"
            )
        trees = self.settings.trees
        luck = self._streams(observations, trees)
        found: list[Any] = [None] * len(luck)
        workers, stop = iter(self._workers), [False]

        def work(worker: _Worker, first: int, last: int) -> None:
            try:
                for task in range(first, last):
                    state, seat = states[task // trees : task // trees + 1], int(seats[task // trees])
                    found[task] = worker.search(self.settings, state, seat, luck[task : task + 1], stop)
            except BaseException:
                stop[0] = True  # for the other threads, which are waited for
                raise

        try:
            self._pool.run(work, len(luck), lambda first, last: (next(workers), first, last))
        except BaseException:
            stop[0] = True
            self._gather()  # interrupted while it waited, its threads keep what they work on
            raise
        return self._statistics(found, trees)

    def _streams(self, observations: np.ndarray, trees: int) -> np.ndarray:
        """A generator for every tree of every decision, (B · trees,)."""
        luck: np.ndarray = streams(0, 1, "search").repeat(len(observations) * trees)
        for row, observation in enumerate(observations):
            digest = blake2b(np.ascontiguousarray(observation).tobytes(), digest_size=8).digest()
            value = int.from_bytes(digest, "little") ^ (self.seed * 0x9E3779B97F4A7C15 & (1 << 64) - 1)
            for tree in range(trees):
                luck["rng"][row * trees + tree] = generator(value, f"search {tree}")
        return luck

    def _statistics(self, found: list[tuple[np.ndarray, np.record]], trees: int) -> RootStatistics:
        """Add up the root's edges, and what is known of the trees as wholes."""
        rows, actions = len(found) // trees, self.variant.num_actions
        visits, votes, totals, priors = (np.zeros((rows, actions), kind) for kind in (int, int, float, float))
        nodes, steps = np.zeros(rows, int), np.zeros(rows, int)
        for task, (edges, statistics) in enumerate(found):
            row, action = task // trees, edges["action"]
            visits[row, action] += edges["visits"]
            totals[row, action] += edges["total"]
            priors[row, action] = edges["prior"]
            votes[row, action[statistics["best"]]] += 1
            nodes[row] += statistics["nodes"]
            steps[row] += statistics["steps"]
        self.steps += int(steps.sum())
        return RootStatistics(visits, totals, votes, priors, nodes, steps)


class _Worker:
    """What one thread searches with: a tree, memory, and the compiled search."""

    def __init__(self, variant: Variant, settings: Settings, parts: Search) -> None:
        guided = parts.network is not None
        most = MAX_GUIDED if guided else MAX_SIMULATIONS
        room = min(-(-settings.simulations // settings.trees) or most, most) + 1
        # A guided simulation adds an own node, with all its actions, and some of the others'.
        self.tree = new_tree(4 * room if guided else room, (12 * room if guided else room) + variant.num_actions)
        if guided:
            network = fresh_token(parts.network)
            opponents = network if parts.opponents is parts.network else parts.opponents
            parts = parts._replace(network=network, opponents=opponents)
        self._parts, self._root, self._scratch = parts, variant.new_states(1), new_scratch(variant)
        self._run: Callable[..., Any] | None = None

    def search(
        self, settings: Settings, state: np.ndarray, seat: int, stream: np.ndarray, stop: list[bool]
    ) -> tuple[np.ndarray, np.record]:
        """The root's edges and the tree's statistics after one share of the budget.

        Simulations are run in slices: between them Python sees Ctrl-C, and we `stop`.
        """
        self._root[0] = state[0]  # whatever array it comes from, compiled code gets one of a known type
        task, memory = (self._parts, self._root, seat), (stream, self.tree, self._scratch)
        if self._run is None:
            self._run = direct(run, (*task, 0, *memory))
        statistics = self.tree.statistics
        statistics[:] = np.zeros_like(statistics)
        statistics["budget"] = budget = -(-settings.simulations // settings.trees) or math.inf
        begun = now = time.perf_counter()
        end = now + settings.milliseconds / 1000 if settings.milliseconds else math.inf
        count, done = TIMED_SLICE if settings.milliseconds else SLICE, 0
        while done < budget and now < end and not stop[0]:
            last = now
            self._run(*task, int(min(count, budget - done)), *memory)
            now, done = time.perf_counter(), int(statistics["simulations"][0])
            if settings.milliseconds:
                statistics["budget"] = budget = math.ceil(done * (end - begun) / (now - begun))
            else:
                count = 2 * count if now - last < SLICE_SECONDS else max(count // 2, 1)
        return self.tree.edges[: statistics["root_actions"][0]].copy(), statistics[0].copy()


def _plain(variant: Variant, settings: Settings) -> Search:
    """UCB and rollouts."""
    rollout = make_player(variant, str(settings.rollout)).compiled
    bonus = HEURISTIC_BONUS if settings.rollout == "heuristic" else 1.0
    ucb = UCB(_or(settings.c, PLAIN_C), _or(settings.heuristic_bonus, bonus))
    return Search(ucb, ucb, Rollout(), rollout, rollout, None, 1, 1)


def _guided(variant: Variant, settings: Settings, guide: NeuralPolicy) -> Search:
    """Sequential halving, PUCT, and what the settings say about leaves and the other seats."""
    rollout = make_player(variant, str(settings.rollout)).compiled
    network = guide.compiled._replace(temperature=1.0)  # hidden choices are drawn from its probabilities
    modelled = settings.opponents == "net" or (settings.opponents is None and settings.rollout == "random")
    weight = _or(settings.rollout_weight, NEAR_ROLLOUT_WEIGHT if horizons.is_near(variant) else FAR_ROLLOUT_WEIGHT)
    expand = EXPAND_AFTER if weight == 1 else 1
    return Search(
        SequentialHalving(_or(settings.prior_weight, PRIOR_WEIGHT)), PUCT(_or(settings.c, GUIDED_C)),
        Rollout() if weight == 1 else Mixture(weight), network if modelled else rollout, rollout, network,
        expand, expand if modelled else 0,
    )  # fmt: skip


def _or(chosen: float | None, usual: float) -> float:
    return float(usual if chosen is None else chosen)


def _network(variant: Variant, spec: str) -> NeuralPolicy:
    """The network of a spec; raises `ValueError` if there is none, or it does not fit the game."""
    policy = make_player(variant, spec)
    if not isinstance(policy, NeuralPolicy):
        raise ValueError(f"net={spec} is no network; 'pretrained' and 'net:FOLDER' are")
    return policy


def make(variant: Variant, argument: str | None, seed: int) -> SearchPolicy:
    """The maker behind the spec "search:BUDGET"."""
    return SearchPolicy(variant, parse(argument), f"search:{argument}", seed)
