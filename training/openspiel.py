"""OpenSpiel: every game as a `pyspiel` game, our policies as its bots, and its bots as our policies.

```python
from monsterzoo import policies
from monsterzoo.training.openspiel import PolicyBot, load_game

game = load_game("pikit_v0", players=2)  # or pyspiel.load_game("monsterzoo(game=pikit_v0)") after the import
state = game.new_initial_state()
bot = PolicyBot(policies.make("heuristic", "pikit_v0", players=2))
```

Seats that choose at once are asked one after another and learn nothing of each other's choices, so the games are
sequential. Luck is in chance nodes, of one of two kinds:

- `chance="exact"`: every draw of the rules is a node with as many equally likely outcomes as it has, whether it is a
  die or one step of a shuffle. The tree is the game's own, so exploitability and the like are exact; a deal of 49
  cards is 48 nodes, and takes a tenth of a second.
- `chance="sampled"`: all luck between two decisions is one node with `outcomes` equally likely seeds for it. This is
  quick, but a game with that many deals instead of all: learners of one-deal games should get many.

An information state is our observation as text: what a seat knows of all that matters for the rules from here on. It
is not one of perfect recall: the order of play, and what was on offer when a tile was grabbed, are not in it.
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
from monsterzoo.envs.core.options import is_whole
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import generator, mix, streams
from monsterzoo.envs.core.stepping import share_of_win
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.envs.match.players import ask, name_of
from pyspiel import GameType, PlayerId

from .evaluation.chance import ChanceNode, scripted

NAME = "monsterzoo"
MAX_LENGTH = 1_000_000
MAX_SCORE = 1_000.0
"""Utilities of reward="score" are somewhere below; the rules give no bound."""
MAX_DRAW = 128
"""No draw of any game has more outcomes: decks are at most that large."""


def load_game(name: str, *, chance: str = "exact", outcomes: int = 4096, **options: Any) -> "SpielGame":
    """A game with its options as a `pyspiel.Game`; raises `ValueError` for an unknown or impossible one."""
    variant = find_game(name).variant(**options)
    given = {"game": name, "options": quote(json.dumps(variant.options)), "chance": chance, "outcomes": outcomes}
    return SpielGame(given)


def _type(variant: Variant | None, parameters: dict[str, Any]) -> GameType:
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
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=parameters,
    )


class SpielGame(pyspiel.Game):
    """A game with its options, as OpenSpiel wants it; made by `load_game`."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {**DEFAULTS, **(params or {})}
        self.chance, self.outcomes = given["chance"], given["outcomes"]
        if self.chance not in ("exact", "sampled"):
            raise ValueError(f"chance={self.chance!r} is not allowed; allowed: 'exact', 'sampled'")
        if not is_whole(self.outcomes) or not 2 <= self.outcomes < 1 << 24:
            raise ValueError(f"outcomes={self.outcomes!r} is not allowed; allowed: a whole number from 2 to 2**24 - 1")
        self.variant = find_game(given["game"]).variant(**json.loads(unquote(given["options"])))
        wins = self.variant.options["reward"] == "win"
        info = pyspiel.GameInfo(
            num_distinct_actions=self.variant.num_actions - 1,  # nobody waits with a no-op here
            max_chance_outcomes=MAX_DRAW if self.chance == "exact" else self.outcomes,
            num_players=self.variant.players,
            min_utility=-1.0 if wins else -MAX_SCORE,
            max_utility=1.0 if wins else MAX_SCORE,
            utility_sum=0.0,
            max_game_length=MAX_LENGTH,
        )
        super().__init__(_type(self.variant, DEFAULTS), info, given)
        self.before = _Table(self.variant)
        self.before.deal(self.chance == "exact")

    def new_initial_state(self) -> "SpielState":
        """The game before the deal, which is left to chance."""
        return SpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "SpielObserver":
        """What makes tensors and strings of states."""
        if params:
            raise ValueError(f"observations have no parameters, not {params}")
        return SpielObserver(self.variant)

    @cached_property
    def seeds(self) -> list[tuple[int, float]]:
        """The outcomes of a sampled chance node."""
        return [(outcome, 1 / self.outcomes) for outcome in range(self.outcomes)]


DEFAULTS: dict[str, Any] = {"game": "pikit_v0", "options": quote("{}"), "chance": "exact", "outcomes": 4096}


class _Table:
    """A game in progress: its record, what was paid, and luck that is still to be had."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.states = variant.new_states(1)
        self.states["rng"] = generator(0)
        self.masks: np.ndarray = np.zeros((variant.players, 64 * variant.words), np.int8)
        self.rewards, self.returns = (np.zeros(variant.players) for _ in range(2))
        self.begun = False
        self.move: tuple[int, int] | None = None
        """Seat and action whose consequences wait for luck; (-1, -1) is the deal."""
        self.script: tuple[int, ...] = ()
        self.count = 0
        """Outcomes of the next draw, where luck is exact."""

    def __deepcopy__(self, memo: Any) -> "_Table":
        return copy.copy(self)  # arrays are never changed in place, only replaced

    def playing(self) -> bool:
        """Whether some seat has to decide."""
        return self.begun and self.move is None and int(self.states["outcome"][0]) == PLAYING

    def seat(self) -> int:
        """The seat that decides next."""
        acting = int(self.states["acting"][0])
        return (acting & -acting).bit_length() - 1

    def deal(self, exact: bool) -> None:
        """Begin, with luck."""
        self.move = (-1, -1)
        if exact:
            self._replay()

    def try_move(self, seat: int, action: int, exact: bool) -> None:
        """Carry out a move, or note that its consequences depend on luck."""
        states, rewards, masks = self._advanced(seat, action, self.states)
        if states["rng"][0] == self.states["rng"][0]:
            self._settle(states, rewards, masks)
            return
        self.move, self.script = (seat, action), ()
        if exact:
            self._replay()

    def tell(self, outcome: int) -> None:
        """The outcome of the draw that was asked for."""
        self.script = (*self.script, outcome)
        self._replay()

    def sow(self, outcome: int) -> None:
        """The seed of all luck that the waiting move needs."""
        states = self.states.copy()
        states["rng"] = mix(int(states["rng"][0]) ^ mix(outcome))
        assert self.move is not None
        self._settle(*self._advanced(*self.move, states))

    def _advanced(self, seat: int, action: int, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States, rewards and masks after a move, or after the deal."""
        variant, states = self.variant, states.copy()
        rewards, masks = np.zeros(variant.players, np.float32), np.empty_like(self.masks)
        shown = (masks.view(np.uint64), np.empty(variant.words, np.uint64), variant.num_actions)
        if seat < 0:
            stepping.begin(states, 0)
            stepping.mask_all(states, 0, *shown)
        else:
            stepping.advance_one(states, 0, seat, action, rewards, *shown)
        return states, rewards, masks

    def _replay(self) -> None:
        """Carry out the waiting move in plain Python with the luck that is known; ask for more where it needs more."""
        assert self.move is not None
        states, rewards, masks = (
            self.states.copy(),
            np.zeros(self.variant.players, np.float32),
            np.empty_like(self.masks),
        )
        try:
            with np.errstate(over="ignore"), scripted(self.script):
                if self.move[0] < 0:
                    setup(states[0])
                else:
                    stepping.advance(states[0], *self.move, rewards)
        except ChanceNode as node:
            self.count = node.count
            return
        words = np.empty(self.variant.words, np.uint64)
        stepping.mask_all(states, 0, masks.view(np.uint64), words, self.variant.num_actions)
        self._settle(states, rewards, masks)

    def _settle(self, states: np.ndarray, rewards: np.ndarray, masks: np.ndarray) -> None:
        self.states, self.masks = states, masks
        self.rewards = self._precise(rewards)
        self.returns = self.returns + self.rewards
        self.begun, self.move, self.script = True, None, ()

    def _precise(self, rewards: np.ndarray) -> np.ndarray:
        """The same rewards in more digits: OpenSpiel wants them to add up to 0."""
        if not rewards.any():
            return np.zeros(len(rewards))
        if self.variant.options["reward"] == "score":
            return rewards - rewards.mean(dtype=np.float64)
        sides = self.variant.sides
        shares = [share_of_win(self.states[0], seat % sides) for seat in range(self.variant.players)]
        return sides / (sides - 1) * (np.array(shares) - 1 / sides)


class SpielState(pyspiel.State):
    """A state, as OpenSpiel wants it."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.table = copy.copy(game.before)

    # --- OpenSpiel's interface ---

    def current_player(self) -> int:
        """Who is next: a seat, chance, or nobody."""
        if self.table.move is not None:
            return int(PlayerId.CHANCE)
        return self.table.seat() if self.table.playing() else int(PlayerId.TERMINAL)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.table.move is None and not self.table.playing()

    def _legal_actions(self, player: int) -> list[int]:
        actions: list[int] = np.flatnonzero(self.table.masks[player, : self.table.variant.num_actions - 1]).tolist()
        return actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Equally likely ones."""
        game = self.get_game()
        if game.chance == "sampled":
            seeds: list[tuple[int, float]] = game.seeds
            return seeds
        return [(outcome, 1 / self.table.count) for outcome in range(self.table.count)]

    def _apply_action(self, action: int) -> None:
        exact = self.get_game().chance == "exact"
        if self.table.move is None:
            self.table.try_move(self.table.seat(), action, exact)
            return
        self.table.rewards = np.zeros_like(self.table.rewards)
        if exact:
            self.table.tell(action)
        else:
            self.table.sow(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == PlayerId.CHANCE:
            return f"luck {action}"
        return self.table.variant.action_names[action]

    def returns(self) -> list[float]:
        """The sum of every player's rewards so far."""
        total: list[float] = self.table.returns.tolist()
        return total

    def rewards(self) -> list[float]:
        """Every player's rewards of the last action."""
        last: list[float] = self.table.rewards.tolist()
        return last

    def resample_from_infostate(self, player_id: int, probability_sampler: Callable[[], float]) -> "SpielState":
        """A state that the player cannot tell from this one: all that it cannot know is drawn again.

        What other seats know, and so their information states, is that of the new state. Only `history` is still
        the old one, so such a state cannot be serialized.
        """
        world: SpielState = self.clone()
        stream = streams(int(probability_sampler() * (1 << 53)), 1, "search")
        states = self.table.states.copy()
        imagine(states, self.table.states, player_id, stream[0])
        world._put(states)
        return world

    def __str__(self) -> str:
        table = self.table
        waiting = "" if table.move is None else f"\nluck has the word, so far {list(table.script)}"
        if not table.begun:
            return f"{table.variant}: before the deal{waiting}"
        if table.move is not None:
            waiting = f"\n{table.variant.action_names[table.move[1]]}:{waiting[1:]}"
        return table.variant.draw_table(table.states, 0) + waiting

    # --- Ours ---

    def _put(self, states: np.ndarray) -> None:
        """Go on in another position, in which some seat decides."""
        table = self.table
        masks, words = np.empty_like(table.masks), np.empty(table.variant.words, np.uint64)
        stepping.mask_all(states, 0, masks.view(np.uint64), words, table.variant.num_actions)
        table.states, table.masks, table.begun, table.move, table.script = states, masks, True, None, ()


class SpielObserver:
    """Tensors and strings of what a player knows; information states and observations are the same."""

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self.tensor = np.zeros(variant.layout.size, np.float32)
        self.dict: dict[str, np.ndarray] = {}
        end = 0
        for field in variant.layout:  # and what is between them, since OpenSpiel makes its tensors from these pieces
            if field.start > end:
                self.dict[f"padding from {end}"] = self.tensor[end : field.start]
            self.dict[field.name] = self.tensor[field.slice].reshape(field.shape)
            end = field.slice.stop
        if len(self.tensor) > end:
            self.dict[f"padding from {end}"] = self.tensor[end:]

    def set_from(self, state: SpielState, player: int) -> None:
        """Write what a player knows; nothing before the deal."""
        self.tensor[:] = self._row(state, player)

    def string_from(self, state: SpielState, player: int) -> str:
        """The same as text that is short and different wherever the tensor is."""
        row = self._row(state, player)
        values = row.astype(np.uint8)
        numbers = self._variant.layout.number_start
        bits = np.packbits(values[:numbers]).tobytes()
        return f"player_{player} {bits.hex()} {values[numbers:].tobytes().hex()}"

    def _row(self, state: SpielState, player: int) -> np.ndarray:
        if not state.table.begun:
            return np.zeros(self._variant.layout.size, np.int8)
        return self._variant.observation(state.table.states, 0, player)


class PolicyBot(pyspiel.Bot):
    """A policy of ours as a bot for any seat."""

    def __init__(self, policy: Any) -> None:
        super().__init__()
        self.policy = policy

    def restart_at(self, state: Any) -> None:
        """Nothing to forget: policies decide by what they are shown."""

    def restart(self) -> None:
        """The same."""

    def step(self, state: SpielState) -> int:
        """The policy's action for the player whose turn it is."""
        table, seat = state.table, state.current_player()
        return int(ask(self.policy, Decisions.from_states(table.variant, table.states.copy(), np.array([seat])))[0])


class BotPolicy:
    """A bot of OpenSpiel as a policy of ours, for tournaments and as an opponent.

    What its player cannot know is sampled anew in the state that the bot is given.
    """

    def __init__(self, bot: pyspiel.Bot, game: SpielGame, name: str | None = None, seed: int = 0) -> None:
        self.bot, self.game, self.variant = bot, game, game.variant
        self.name = name or name_of(bot)
        self._random = np.random.default_rng(seed)

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row, int64 (B,); raises `ValueError` for decisions without games."""
        actions = np.empty(len(decisions), np.int64)
        for i, seat in enumerate(decisions.seats.tolist()):
            alone = decisions.sample_worlds(i, 1, self._random)
            alone["acting"] = 1 << seat  # others that choose at the same time are not its business
            state = self.game.new_initial_state()
            state._put(alone)
            actions[i] = self.bot.step(state)
        return actions


pyspiel.register_game(_type(None, DEFAULTS), SpielGame)
