"""OpenSpiel: games as `pyspiel` games, our policies as its bots, and its bots as our policies.

```python
from monsterzoo import policies
from monsterzoo.training.openspiel import PolicyBot, load_game

game = load_game("pikit_v0", players=2)  # or pyspiel.load_game("monsterzoo(game=pikit_v0)") after the import
state = game.new_initial_state()
bot = PolicyBot(policies.make("heuristic", "pikit_v0", players=2))
```

Games are sequential: seats that choose at once are asked one after another and learn nothing of each other's choices.
Chance nodes are of one of two kinds:

- `chance="exact"`: every draw of the rules (a die, a step of a shuffle) is a node with its equally likely outcomes. The
  tree is the game's own, so expected values are exact; a deal of 49 cards is 48 nodes and takes a tenth of a second.
- `chance="sampled"`: everything drawn between two decisions is one node with `outcomes` equally likely seeds. This is
  quick, but only that many deals are possible.

Information state strings have perfect recall: they hold the player's observation at each of its decisions and what it
chose, the events it saw in between (`contract.events`), and its observation now. They grow with the game, so there is
no information state tensor; the observation tensor is what the player knows now, without the order of play.
"""

import copy
import json
from collections.abc import Callable
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import pyspiel
from monsterzoo.envs.core import stepping
from monsterzoo.envs.core.contract import PLAYING, imagine, setup
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.options import Choice, Integer, checked
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import generator, mix, streams
from monsterzoo.envs.core.stepping import share_of_win
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.envs.match.players import ask, name_of
from pyspiel import GameType, PlayerId

from .evaluation.chance import ChanceNode, scripted

NAME = "monsterzoo"
DEFAULTS: dict[str, Any] = {"game": "pikit_v0", "options": quote("{}"), "chance": "exact", "outcomes": 4096}
MAX_LENGTH = 1_000_000
MAX_SCORE = 1_000.0  # bound of utilities with reward="score", which the rules do not give
MAX_DRAW = 128  # most outcomes of a draw: no deck is larger
DEAL = (-1, -1)  # the deal, in the place of a seat and its action


def load_game(name: str, *, chance: str = "exact", outcomes: int = 4096, **options: Any) -> "SpielGame":
    """A game with its options as a `pyspiel.Game`; raises `ValueError` for an unknown or impossible one."""
    variant = find_game(name).variant(**options)
    given = {"game": name, "options": quote(json.dumps(variant.options)), "chance": chance, "outcomes": outcomes}
    return SpielGame(given)


def _type(variant: Variant | None) -> GameType:
    """OpenSpiel's description of a game, or of all of them."""
    wins = variant is None or variant.options["reward"] == "win"
    return GameType(
        short_name=NAME,
        long_name="MonsterZoo" if variant is None else variant.game.title,
        dynamics=GameType.Dynamics.SEQUENTIAL,
        chance_mode=GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=GameType.Information.IMPERFECT_INFORMATION,
        utility=GameType.Utility.ZERO_SUM,
        reward_model=GameType.RewardModel.TERMINAL if wins else GameType.RewardModel.REWARDS,
        max_num_players=4 if variant is None else variant.players,
        min_num_players=2 if variant is None else variant.players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=DEFAULTS,
    )


class SpielGame(pyspiel.Game):
    """A game with its options as a `pyspiel.Game`; made by `load_game`."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {**DEFAULTS, **(params or {})}
        self.chance = checked("chance", given["chance"], Choice("exact", "sampled"))
        self.outcomes = checked("outcomes", given["outcomes"], Integer(2, (1 << 24) - 1))
        self.variant = find_game(given["game"]).variant(**json.loads(unquote(given["options"])))
        bound = 1.0 if self.variant.options["reward"] == "win" else MAX_SCORE
        info = pyspiel.GameInfo(
            num_distinct_actions=self.variant.num_actions - 1,  # without the no-op
            max_chance_outcomes=MAX_DRAW if self.chance == "exact" else self.outcomes,
            num_players=self.variant.players,
            min_utility=-bound,
            max_utility=bound,
            utility_sum=0.0,
            max_game_length=MAX_LENGTH,
        )
        super().__init__(_type(self.variant), info, given)
        self._start = Position(self.variant, self.chance == "exact")

    def new_initial_state(self) -> "SpielState":
        """The chance node of the deal."""
        return SpielState(self, copy.copy(self._start))

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "SpielObserver":
        """An observer of information states, which have perfect recall, or of observations."""
        if params:
            raise ValueError(f"observations have no parameters, got {params}")
        return SpielObserver(self.variant, bool(iig_obs_type is not None and iig_obs_type.perfect_recall))

    @cached_property
    def seeds(self) -> list[tuple[int, float]]:
        """The outcomes of a sampled chance node, with their probabilities."""
        return [(outcome, 1 / self.outcomes) for outcome in range(self.outcomes)]


def _observed(variant: Variant, states: np.ndarray, player: int) -> str:
    """A player's observation in hexadecimal, bits packed."""
    values = variant.observation(states, 0, player).astype(np.uint8)
    numbers = variant.layout.number_start
    return f"{np.packbits(values[:numbers]).tobytes().hex()}.{values[numbers:].tobytes().hex()}"


class Memory:
    """What a player has seen and done up to a position: a chain of decisions, put into words when it is asked for."""

    def __init__(self, earlier: "Memory | None", position: "Position", player: int, move: Any, after: Any) -> None:
        self._earlier, self._variant, self._player = earlier, position.variant, player
        self._decision = position.states, after, *move
        self._text: str | None = None

    def __str__(self) -> str:
        chain: list[Memory] = []
        one: Memory | None = self
        while one is not None and one._text is None:
            chain.append(one)
            one = one._earlier
        text = "" if one is None else str(one._text)
        for one in reversed(chain):
            text = one._text = text + one._words()
        return text

    def _words(self) -> str:
        """A decision of the player's own, then the events it saw of whatever was decided."""
        before, after, mover, action = self._decision
        own = f"{_observed(self._variant, before, mover)}>{action} " if mover == self._player else ""
        rows = self._variant.events(before, after, self._player, mover, action).tolist()
        return own + "".join(f"{seat}:{number} " for seat, number in rows)


class Position:
    """A game in progress, perhaps at a chance node. Arrays are replaced, never written to, so shallow copies do."""

    def __init__(self, variant: Variant, exact: bool) -> None:
        self.variant, self.exact = variant, exact
        self.states = variant.new_states(1)
        self.states["rng"] = generator(0)
        self.rewards, self.returns = (np.zeros(variant.players) for _ in range(2))
        self.begun = False
        self.pending: tuple[int, int] | None = DEAL  # seat and action whose consequences wait for chance
        self.drawn: tuple[int, ...] = ()  # outcomes so far, where chance is exact
        self.count = 0  # number of outcomes of the next draw, where chance is exact
        self.memories: tuple[Memory | None, ...] = (None,) * variant.players
        """What each player has seen and done; None is nothing."""
        if exact:
            self._replay()

    def __deepcopy__(self, memo: Any) -> "Position":
        return copy.copy(self)

    def player(self) -> int:
        """The seat that decides next, chance, or `PlayerId.TERMINAL`."""
        if self.pending is not None:
            return int(PlayerId.CHANCE)
        if int(self.states["outcome"][0]) != PLAYING:
            return int(PlayerId.TERMINAL)
        acting = int(self.states["acting"][0])
        return (acting & -acting).bit_length() - 1

    def apply(self, action: int) -> None:
        """Carry out the decision of a seat, or an outcome of chance."""
        self.rewards = np.zeros_like(self.rewards)
        if self.pending is None:
            move = self.player(), action
            states, rewards = self._advanced(move, self.states)
            if states["rng"][0] == self.states["rng"][0]:  # nothing was drawn
                self._settle(move, states, rewards)
                return
            self.pending, self.drawn = move, ()
            if self.exact:
                self._replay()
        elif self.exact:
            self.drawn = (*self.drawn, action)
            self._replay()
        else:
            states = self.states.copy()
            states["rng"] = mix(int(states["rng"][0]) ^ mix(action))
            self._settle(self.pending, *self._advanced(self.pending, states))

    def put(self, states: np.ndarray) -> None:
        """Go on from other states (1,)."""
        self.states, self.begun, self.pending, self.drawn = states, True, None, ()

    def _advanced(self, move: tuple[int, int], states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States and rewards after a move or the deal."""
        variant, states, rewards = self.variant, states.copy(), np.zeros(self.variant.players, np.float32)
        if move == DEAL:
            stepping.begin(states, 0)
        else:
            masks, words = np.empty((variant.players, 8 * variant.words), np.uint64), np.empty(variant.words, np.uint64)
            stepping.advance_one(states, 0, *move, rewards, masks, words, variant.num_actions)
        return states, rewards

    def _replay(self) -> None:
        """Carry out the pending move in plain Python with the outcomes drawn so far; stops at the next draw."""
        assert self.pending is not None
        states, rewards = self.states.copy(), np.zeros(self.variant.players, np.float32)
        try:
            with np.errstate(over="ignore"), scripted(self.drawn):
                if self.pending == DEAL:
                    setup(states[0])
                else:
                    stepping.advance(states[0], *self.pending, rewards)
        except ChanceNode as node:
            self.count = node.count
        else:
            self._settle(self.pending, states, rewards)

    def _settle(self, move: tuple[int, int], states: np.ndarray, rewards: np.ndarray) -> None:
        if move != DEAL:
            seen = enumerate(self.memories)
            self.memories = tuple(Memory(earlier, self, player, move, states) for player, earlier in seen)
        self.put(states)
        if rewards.any():
            self.rewards = self._precise(rewards)
            self.returns = self.returns + self.rewards

    def _precise(self, rewards: np.ndarray) -> np.ndarray:
        """The same rewards as float64: OpenSpiel checks that they add up to 0."""
        if self.variant.options["reward"] == "score":
            return rewards - rewards.mean(dtype=np.float64)
        sides = self.variant.sides
        shares = [share_of_win(self.states[0], seat % sides) for seat in range(self.variant.players)]
        return sides / (sides - 1) * (np.array(shares) - 1 / sides)


class SpielState(pyspiel.State):
    """A state of a `SpielGame`."""

    def __init__(self, game: SpielGame, position: Position) -> None:
        super().__init__(game)
        self.position = position

    def current_player(self) -> int:
        """A seat, or one of `pyspiel.PlayerId`."""
        return self.position.player()

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.position.pending is None and int(self.position.states["outcome"][0]) != PLAYING

    def _legal_actions(self, player: int) -> list[int]:
        return np.flatnonzero(self.position.variant.legal_actions(self.position.states, 0, player)[:-1]).tolist()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Equally likely outcomes."""
        if not self.position.exact:
            return self.get_game().seeds
        return [(outcome, 1 / self.position.count) for outcome in range(self.position.count)]

    def _apply_action(self, action: int) -> None:
        self.position.apply(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"chance {action}" if player == PlayerId.CHANCE else self.position.variant.action_names[action]

    def returns(self) -> list[float]:
        """Sum of every player's rewards so far."""
        return [float(total) for total in self.position.returns]

    def rewards(self) -> list[float]:
        """Every player's rewards of the last action."""
        return [float(reward) for reward in self.position.rewards]

    def resample_from_infostate(self, player_id: int, probability_sampler: Callable[[], float]) -> "SpielState":
        """A state that the player cannot tell from this one, with everything hidden from it drawn again.

        The information states of the others begin there: what they saw before is not resampled. Its `history` is still
        that of this state, so it cannot be serialized.
        """
        world: SpielState = self.clone()
        states = self.position.states.copy()
        stream = streams(int(probability_sampler() * (1 << 53)), 1, "search")
        imagine(states, self.position.states, player_id, stream[0])
        world.position.put(states)
        seen = enumerate(self.position.memories)
        world.position.memories = tuple(memory if seat == player_id else None for seat, memory in seen)
        return world

    def __str__(self) -> str:
        position, variant = self.position, self.position.variant
        shown = variant.draw_table(position.states, 0) if position.begun else f"{variant}: before the deal"
        if position.pending is None:
            return shown
        move = "the deal" if position.pending == DEAL else variant.action_names[position.pending[1]]
        return f"{shown}\nchance node of {move}, outcomes so far {list(position.drawn)}"


class SpielObserver:
    """Observations as tensors and strings; with `recall` the strings are information states."""

    def __init__(self, variant: Variant, recall: bool) -> None:
        self._variant, self._recall = variant, recall
        self.tensor = np.zeros(variant.layout.size, np.float32)
        self.dict = {"observation": self.tensor}  # OpenSpiel makes its tensors from this

    def set_from(self, state: SpielState, player: int) -> None:
        """Write the player's observation; zeros before the deal."""
        begun, states = state.position.begun, state.position.states
        self.tensor[:] = self._variant.observation(states, 0, player) if begun else 0

    def string_from(self, state: SpielState, player: int) -> str:
        """The observation in hexadecimal, bits packed; in an information state behind all that came before it."""
        if not state.position.begun:
            return f"player_{player}"
        memory = str(state.position.memories[player] or "") if self._recall else ""
        return f"player_{player} {memory}{_observed(self._variant, state.position.states, player)}"


class PolicyBot(pyspiel.Bot):
    """One of our policies as a bot for any seat."""

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.policy = policy

    def restart_at(self, state: Any) -> None:
        """Nothing to do: policies have no memory."""

    def step(self, state: SpielState) -> int:
        """The policy's action for the current player."""
        position, seats = state.position, np.array([state.current_player()])
        return int(ask(self.policy, Decisions.from_states(position.variant, position.states.copy(), seats))[0])


class BotPolicy:
    """A bot of OpenSpiel as a policy; in the states it is given, everything hidden from its player is sampled."""

    def __init__(self, bot: pyspiel.Bot, game: SpielGame, name: str | None = None, seed: int = 0) -> None:
        self.bot, self.game, self.variant = bot, game, game.variant
        self.name = name or name_of(bot)
        self._random = np.random.default_rng(seed)

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row, int64 (B,); raises `ValueError` for decisions without games."""
        actions = np.empty(len(decisions), np.int64)
        for i, seat in enumerate(decisions.seats.tolist()):
            world = decisions.sample_worlds(i, 1, self._random)
            world["acting"] = 1 << seat  # of those that choose at the same time, only this seat
            state = self.game.new_initial_state()
            state.position.put(world)
            actions[i] = self.bot.step(state)
        return actions


pyspiel.register_game(_type(None), SpielGame)
