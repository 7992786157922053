"""`Variant`: a game with its options chosen; sizes, names, checks, and positions in and out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import stepping
from .bits import members
from .contract import MAX_EVENTS, PLAYING, TERMINATED, TRUNCATED
from .layout import Layout
from .options import is_whole, whole
from .rng import check_seed, generator
from .snapshots import SnapshotError, require, told
from .symmetry import Symmetry

if TYPE_CHECKING:
    from .game import Game


class IllegalActionError(ValueError):
    """An action the rules do not allow now; the state has not changed."""


class ActionTypeError(IllegalActionError, TypeError):
    """What is not an action at all, such as 3.0 or None; nothing has changed."""


def read_action(action: Any) -> int:
    """An action as Python's `int`, from an integer of any type or an integer array of size 1.

    Raises `ActionTypeError` for anything else.
    """
    if type(action) is int:
        return action
    if isinstance(action, np.ndarray) and action.size == 1:
        action = action.reshape(())
    try:
        return whole(action)
    except TypeError:
        raise ActionTypeError(f"an action is an integer, not {action!r:.80}") from None


def read_actions(chosen: Any, count: int, who: str = "") -> np.ndarray:
    """Actions as an array of integers (count,); raises `ActionTypeError` for anything else."""
    wanted = f"{who}expected integer actions of shape ({count},)"
    try:
        actions = np.asarray(chosen)
    except (ValueError, TypeError) as error:
        raise ActionTypeError(f"{wanted}, got {chosen!r:.80}") from error
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        raise ActionTypeError(f"{wanted}, got {actions.dtype} {actions.shape}: {chosen!r:.80}")
    return actions


@dataclass(frozen=True, eq=False)
class Variant:
    """A game with its options chosen; see the module."""

    game: "Game"
    options: dict[str, Any]
    template: np.ndarray = field(repr=False)
    """One state, shape (1,), that holds nothing but the options."""

    def __reduce__(self) -> tuple[Any, ...]:
        from .registry import find_variant  # which imports this module

        return find_variant, (self.game.name, self.options)

    def __deepcopy__(self, memo: Any) -> "Variant":
        return self

    def __repr__(self) -> str:
        return f"<Variant {self}>"

    def __str__(self) -> str:
        defaults = self.game.all_options
        chosen = {key: value for key, value in self.options.items() if value != defaults[key].default}
        named = {"players": self.players, **chosen}
        return f"{self.game.name} with {', '.join(f'{key}={value!r}' for key, value in named.items())}"

    @property
    def players(self) -> int:
        """Number of seats."""
        return int(self.template["players"][0])

    @property
    def sides(self) -> int:
        """Number of sides; seat s plays for side s % sides."""
        return int(self.template["sides"][0])

    @cached_property
    def symmetry(self) -> Symmetry | None:
        """Renamings that leave the game as it is, if there are any; raises `ValueError` if they are of other sizes."""
        symmetry = self.game.symmetry(self.options)
        if symmetry is not None:
            found, own = (symmetry.columns.shape[1], symmetry.actions.shape[1]), (self.layout.size, self.num_actions)
            if found != own:
                raise ValueError(f"{self}: its symmetry has {found} columns and actions, the game {own}")
        return symmetry

    @cached_property
    def agents(self) -> tuple[str, ...]:
        """Names of the seats: `player_0` and so on."""
        return tuple(f"player_{seat}" for seat in range(self.players))

    @cached_property
    def teams(self) -> dict[str, list[str]]:
        """The agents of each side; singletons where everybody plays alone."""
        return {f"team_{side}": list(self.agents[side :: self.sides]) for side in range(self.sides)}

    @cached_property
    def action_names(self) -> tuple[str, ...]:
        """Every action by number; the last one is the no-op."""
        return (*self.game.rules.actions(self.options), "no-op")

    @cached_property
    def event_names(self) -> tuple[str, ...]:
        """What each event means, by number, see `contract.events`; 0 is no event."""
        names = self.game.view.event_names
        return names(self.options) if names else ("", *(f"{{0}}: {name}" for name in self.action_names[:-1]))

    @property
    def num_actions(self) -> int:
        """Size of the action space, the no-op included."""
        return len(self.action_names)

    @property
    def words(self) -> int:
        """uint64 words of a bit set of actions; mask buffers have 64 columns a word."""
        return (self.num_actions + 63) // 64

    @cached_property
    def layout(self) -> Layout:
        """The fields of an observation."""
        return self.game.view.layout(self.options)

    def parse_action(self, text: str) -> int:
        """The number of an action's name; raises `ValueError` with the closest names."""
        name = text.strip() if isinstance(text, str) else None
        if name not in self.action_names:
            from difflib import get_close_matches  # a slow import, for an error only

            close = " or ".join(map(repr, get_close_matches(str(text), self.action_names, 3, 0.4)))
            raise ValueError(f"{self.game.name} has no action {text!r}{close and f'; did you mean {close}?'}")
        return self.action_names.index(name)

    @cached_property
    def _blank_view(self) -> np.ndarray:
        """One view, shape (1,), that holds nothing but what never changes."""
        view = np.zeros(1, self.game.view.record)
        view["layout"] = self.game.layouts.index(self.layout)
        for name in self._public_fields:
            view[name] = self.template[name]
        return view

    @cached_property
    def _constants(self) -> tuple[str, ...]:
        """The fields of a state that hold options: those that `configure` writes whatever was there before."""
        other = np.frombuffer(b"\xff" * self.game.rules.record.itemsize, self.game.rules.record).copy()
        self.game.rules.configure(dict(self.options), other[0])
        names = self.game.rules.record.names or ()
        return tuple(n for n in names if n == "reward" or other[n].tobytes() == self.template[n].tobytes())

    @property
    def _public_fields(self) -> tuple[str, ...]:
        """The fields of a state that never change and are in every view."""
        return ("players", "sides", *self.game.view.options)

    def fits(self, other: "Variant") -> bool:
        """Whether who can play this variant can play another: the same seats, observations and actions."""
        return (
            self.game.name == other.game.name
            and all((self.template[name] == other.template[name]).all() for name in self._public_fields)
            and self.layout == other.layout
            and self.num_actions == other.num_actions
        )

    def check_states(self, states: Any, *, exactly: bool = False) -> None:
        """Raise `ValueError` unless these are states (B,) with the seats, observations and actions of this variant.

        With `exactly` all options must be the same, and whose turn it is must be possible.
        """
        if not isinstance(states, np.ndarray) or states.ndim != 1 or states.dtype != self.game.rules.record:
            given = f"{states.dtype.type.__name__} {states.shape}" if isinstance(states, np.ndarray) else repr(states)
            raise ValueError(f"{given:.80} are no states of {self}: an array (B,) of its records")
        for name in self._constants if exactly else self._public_fields:
            if (states[name] != self.template[name][0]).any():
                raise ValueError(f"these are not states of {self}: {name!r} has another value in them")
        if not exactly:
            return
        playing = states["outcome"] == PLAYING
        if (states["outcome"] > TRUNCATED).any() or (states["winners"] >> self.players).any():
            raise ValueError(f"these are not states of {self}: no game ends like that")
        if (states["acting"] >> self.players).any() or (playing != (states["acting"] != 0)).any():
            raise ValueError(f"these are not states of {self}: nobody, or nobody at the table, has to decide")

    def check_positions(self, states: Any) -> None:
        """Raise `ValueError` unless these are states (B,) of this variant in which games under way can be.

        Each must come back from its snapshot. That takes a millisecond: for states that were in a file.
        """
        self.check_states(states, exactly=True)
        names = [name for name in states.dtype.names if not name.startswith("gap_")]
        for row, state in enumerate(states):
            try:
                again = self.load(self.snapshot(state), 0)[0]
            except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
                raise ValueError(f"state {row} is no position of {self}: {error}") from error
            for name in names:
                if again[name].tobytes() != state[name].tobytes():
                    raise ValueError(f"state {row} is no position of {self}: {name!r} cannot be {state[name]}")

    def check_deciding(self, states: np.ndarray, seats: Any) -> None:
        """Raise `ValueError` unless each state (B,) is of this variant and waits for the seat (B,) beside it."""
        self.check_states(states)
        seats = np.asarray(seats)
        if seats.shape != states.shape or seats.dtype.kind not in "iu":
            raise ValueError(f"{len(states)} seats are needed, integers, not {seats.dtype} {seats.shape}")
        inside = (seats >= 0) & (seats < self.players)
        waiting = inside & (states["outcome"] == PLAYING)
        waiting &= (states["acting"] >> np.where(inside, seats, 0).astype(np.uint8)) & 1 != 0
        if not waiting.all():
            problem = f"state {waiting.argmin()} does not wait for a decision of seat {seats[waiting.argmin()]}"
            raise ValueError(f"{problem}: the game is over, was never set up, or it is somebody else's turn")

    def _place(self, states: Any, index: Any, seat: Any = 0) -> tuple[int, int]:
        """The number of a state and of a seat; raises `ValueError` for those that are none."""
        self.check_states(states)
        if not is_whole(index) or not -len(states) <= whole(index) < len(states):
            raise ValueError(f"there is no state {index!r}; there are {len(states)}")
        if not is_whole(seat) or not 0 <= whole(seat) < self.players:
            raise ValueError(f"there is no seat {seat!r}; seats are 0 to {self.players - 1}")
        return whole(index) % len(states), whole(seat)

    def new_states(self, count: int) -> np.ndarray:
        """`count` states that hold the options, not yet set up; shape (count,)."""
        return np.repeat(self.template, count)

    def new_views(self, count: int = 1) -> np.ndarray:
        """`count` views for `look` to write, shape (count,)."""
        return np.repeat(self._blank_view, count)

    def legal_actions(self, states: np.ndarray, index: int, seat: int) -> np.ndarray:
        """The seat's mask, int8 (actions,); the no-op alone where it has nothing to decide."""
        index, seat = self._place(states, index, seat)
        masks = np.empty((self.players, 64 * self.words), np.int8)
        stepping.mask_all(states, index, masks.view(np.uint64), np.empty(self.words, np.uint64), self.num_actions)
        return masks[seat, : self.num_actions]

    def observation(self, states: np.ndarray, index: int, seat: int) -> np.ndarray:
        """What a seat knows, int8 (layout.size,)."""
        index, seat = self._place(states, index, seat)
        row = np.empty(self.layout.size, np.int8)
        stepping.observe_one(states, index, seat, self.new_views(), row.view(np.uint64))
        return row

    def look(self, states: np.ndarray, index: int, seat: int) -> np.ndarray:
        """What a seat knows as a view, shape (1,)."""
        index, seat = self._place(states, index, seat)
        views = self.new_views()
        stepping.look_at(states, index, seat, views)
        return views

    def events(self, before: np.ndarray, after: np.ndarray, seat: int, mover: int, action: int) -> np.ndarray:
        """What a seat saw of a decision that led from one state (1,) to another: rows of `contract.events`, int16."""
        out = np.empty((MAX_EVENTS, 2), np.int16)
        return out[: stepping.events_of(before, after, seat, mover, action, self.new_views(2), out)]

    def decode(self, observations: np.ndarray) -> np.ndarray:
        """The views (B,) that observations, int8 (B, layout.size), were made from; raises `ValueError` for others."""
        rows = np.asarray(observations)
        if rows.ndim != 2 or rows.shape[1] != self.layout.size or rows.dtype.kind not in "biuf":
            wanted = f"observations of {self} have the shape (B, {self.layout.size})"
            raise ValueError(f"{wanted}, not {rows.dtype} {rows.shape}")
        low, high = self.layout.bounds
        if not ((rows >= low) & (rows <= high)).all():  # also where a value is none, NaN
            raise ValueError(f"these are not observations of {self}: some values are out of their range")
        views = self.new_views(len(rows))
        self.layout.decode(rows.astype(np.int8, copy=False), views)
        return views

    def describe(self, view: Any, seat: int) -> str:
        """What a seat knows, in words; `view` is one record."""
        if self.game.looks.describe is not None:
            return self.game.looks.describe(fields_of(view), seat)
        columns = np.zeros(self.layout.size, np.int8)
        self.layout.encode(view, columns)
        return "\n".join(f"{one.name}: {self.layout.read(columns, one.name).tolist()}" for one in self.layout)

    def draw_table(self, states: np.ndarray, index: int) -> str:
        """The whole table as text, everything face up: what a snapshot holds."""
        position = self.snapshot(states[self._place(states, index)[0]])
        return "\n".join([self.game.title, *(line for key, value in position.items() for line in told(key, value))])

    def snapshot(self, state: Any) -> dict[str, Any]:
        """The whole truth as a JSON-able dict."""
        state = fields_of(state)
        return {
            "options": dict(self.options),
            "to_act": members(state.acting),
            **self.game.positions.snapshot(state),
            "over": int(state.outcome) != PLAYING,
            "truncated": int(state.outcome) not in (PLAYING, TERMINATED),
            "winners": members(state.winners),
            "generator": int(state.rng),
        }

    def record(self, start: dict[str, Any], moves: list[tuple[int, int]]) -> dict[str, Any]:
        """A game as JSON, from its start (a seed, generator or snapshot) and its moves, (seat, action) each."""
        return {
            "game": self.game.name,
            "options": dict(self.options),
            **start,
            "actions": [self.action_names[action] for _, action in moves],
            "seats": [seat for seat, _ in moves],
        }

    def load(self, snapshot: Any, seed: int) -> np.ndarray:
        """States, shape (1,), in the snapshot's position; raises `SnapshotError` for one that cannot be."""
        require(isinstance(snapshot, Mapping), f"a snapshot is a dict, not {type(snapshot).__name__}")
        snapshot = dict(snapshot)
        if snapshot.get("options") is not None:
            self._compare_options(snapshot["options"])
        for key in ("over", "truncated", "winners"):
            require(not snapshot.get(key), f"{key} is {snapshot.get(key)!r}: there is nothing left to play")
        states, luck = self.new_states(1), snapshot.get("generator")
        try:
            states["rng"] = generator(seed) if luck is None else check_seed(luck, "generator")
            state = fields_of(states[0])
            self.game.positions.load(snapshot, state)
            for name, value in vars(state).items():
                states[name] = value
        except SnapshotError:
            raise
        except KeyError as error:
            raise SnapshotError(f"the key {error} is missing") from None
        except (TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise SnapshotError(f"not a position of {self.game.name}: {error}") from error
        acting = members(states["acting"][0])
        waits = snapshot.get("to_act", acting)
        listed = isinstance(waits, list | tuple) and all(type(seat) is int for seat in waits)
        require(listed and sorted(waits) == acting, f"to_act is {waits!r}, but the position waits for {acting}")
        return states

    def _compare_options(self, given: Any) -> None:
        """Raise `SnapshotError` for other options, however written; `reward` and unknown keys do not matter."""
        require(isinstance(given, Mapping), f"options is a dict, not {type(given).__name__}")
        for key, option in self.game.options.items():
            try:
                same = key not in given or option.check(given[key]) == self.options[key]
            except (ValueError, TypeError):
                same = False
            own = self.options[key]
            require(same, f"the snapshot has {key}={given.get(key)!r}, the environment {key}={own!r}")

    def refuse(self, state: Any, seat: int, action: int) -> IllegalActionError:
        """The error for an action that is not legal."""
        if not 0 <= action < self.num_actions:
            return IllegalActionError(f"action {action} is out of range, actions are 0 to {self.num_actions - 1}")
        name = self.action_names[action]
        if not int(state["acting"]) >> seat & 1:
            return IllegalActionError(f"{name!r} ({action}) is illegal: player_{seat} has nothing to decide now")
        if action == self.num_actions - 1:
            return IllegalActionError(f"{name!r} ({action}) is illegal: player_{seat} has a decision to make")
        reason = self.game.looks.refusal(state, seat, action)
        return IllegalActionError(f"{name!r} ({action}) is illegal for player_{seat}: {reason}")


def fields_of(state: Any) -> SimpleNamespace:
    """A record's fields as plain attributes, which are read ten times as fast as those of a record.

    Arrays are still the record's own; a number that is set here must be written back.
    """
    return SimpleNamespace(**{name: state[name] for name in state.dtype.names})
