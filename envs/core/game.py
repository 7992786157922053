"""`Game`: what a game's package provides, in groups: rules, view, positions, looks."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..compiling.cache import key_of
from ..compiling.dispatch import implement
from ..compiling.encoding import register_layouts
from ..compiling.jit import belongs_to, compiled
from ..render.scene import Part, Perspective, Scene
from . import contract
from .contract import REWARD_SCORE, REWARD_WIN
from .layout import Layout
from .options import REWARD, Option, resolve
from .symmetry import Symmetry
from .variant import Variant


@compiled
def nothing_hidden(state, seat):
    """`determinize` of a game in which every seat knows everything."""


def _not_legal(state: Any, seat: int, action: int) -> str:
    return "it is not one of the seat's legal actions"


@dataclass(frozen=True)
class Rules:
    """The state and what can happen to it; see `contract` for what each compiled function does."""

    record: np.dtype
    """The type of a state, see `contract.record_type`."""
    configure: Callable[[dict[str, Any], Any], None]
    """`(options, state)`: check what options mean together and write them (and `players`, `sides`, `scale`)."""
    actions: Callable[[dict[str, Any]], tuple[str, ...]]
    """`(options)`: names of all actions but the no-op, in the order of their numbers."""
    setup: Callable[[Any], None]
    legal: Callable[[Any, Any, Any], None]
    step: Callable[[Any, Any, Any], None]
    score: Callable[[Any, Any], Any]
    determinize: Callable[[Any, Any], None] = nothing_hidden
    truncating: Mapping[str, Any] = field(default_factory=dict)
    """Options with which most games are truncated, for tests; empty if no game ever is."""

    @classmethod
    def of(cls, module: Any, configure: Any, actions: Any, determinize: Any, **more: Any) -> "Rules":
        """The rules in a module that has the record as `STATE`, and `setup`, `legal`, `step` and `score`."""
        functions = (module.setup, module.legal, module.step, module.score)
        return cls(module.STATE, configure, actions, *functions, determinize, **more)


@dataclass(frozen=True)
class View:
    """What a seat knows, as a record and as the columns of a tensor."""

    record: np.dtype
    """The type of a view, see `contract.view_type`."""
    look: Callable[[Any, Any, Any], None]
    """Compiled, see `contract.look`."""
    layout: Callable[[dict[str, Any]], Layout]
    """`(options)`: what the tensor shows of a view; each layout belongs to one of the game's `variants`."""
    events: Callable[[Any, Any, Any, Any, Any], Any] = contract.own_actions
    """Compiled, see `contract.events`."""
    event_names: Callable[[dict[str, Any]], tuple[str, ...]] | None = None
    """`(options)`: what each event means, by number; 0, which is no event, is "". Left out with `events`.

    {0} stands for the seat that an event is about, {1} for the next one clockwise, and so on.
    """
    options: tuple[str, ...] = ()
    """Fields of the state that never change in a game and are in every view too, beside `players` and `sides`."""


@dataclass(frozen=True)
class Positions:
    """Positions as JSON, in names."""

    snapshot: Callable[[Any], dict[str, Any]]
    """`(state)`: the position without the keys every game has (options, to_act, over, winners, generator)."""
    load: Callable[[dict[str, Any], Any], None]
    """`(snapshot, state)`: write a position into a configured record and set `acting`, or raise `SnapshotError`."""


@dataclass(frozen=True)
class Looks:
    """How a game is shown to people; everything has a default."""

    describe: Callable[[Any, int], str] | None = None
    """`(view, seat)`: what a seat knows, in words; the seat is only there to call everybody by name."""
    scene: Callable[[Perspective], Scene] | None = None
    """The table as shapes, from what somebody knows: for pictures and the browser."""
    refusal: Callable[[Any, int, int], str] = _not_legal
    """`(state, seat, action)`: why an action is not legal."""
    story: Callable[[np.ndarray, int, int], list[tuple[int, str]]] | None = None
    """`(before, seat, action)`: what everybody saw of a decision in more words than its events, as (seat, text)."""
    retold: range = range(0)
    """Numbers of the events that a story replaces."""
    cards: Callable[[dict[str, Any]], list[Part]] | None = None
    """`(options)`: the cards of a variant, for its rules: each drawn in its box, with what it does."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What people call options, such as "variant=seven_suitors" or "laps"."""
    chapters: tuple[int, ...] = ()
    """Numbers of the events with which another part of the game begins, for summaries."""


_owners: dict[Any, str] = {}
"""The game of each type of states or views."""


@dataclass(frozen=True, eq=False)
class Game:
    """A game: its name and options, its rules, what a seat knows, positions as JSON, and how it looks.

    The rules are compiled functions on one record. In all other functions `state` and `view` have a record's fields as
    attributes, and must not be changed unless it says so.
    """

    name: str
    """As in "pikit_v0"."""
    title: str
    options: Mapping[str, Option]
    """Without `reward`, which every game has."""
    variants: tuple[dict[str, Any], ...]
    """Option sets that differ in rules or layout: tests, playthroughs and benchmarks cover each."""
    rules: Rules
    view: View
    positions: Positions
    looks: Looks = Looks()
    symmetry: Callable[[dict[str, Any]], Symmetry | None] = lambda options: None
    """`(options)`: renamings that leave the game as it is, None if there are none."""

    def __repr__(self) -> str:
        return f"<Game {self.name}>"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*_v\d+", self.name):
            raise ValueError(f"a game is called like 'pikit_v0', with its version at the end, not {self.name!r}")
        rules, view = self.rules, self.view
        for record in (rules.record, view.record):
            owner = _owners.setdefault(key_of(record), self.name)
            if owner != self.name:
                problem = f"{self.name} has a record or view with exactly the fields of one of {owner}"
                raise ValueError(f"{problem}: compiled code tells games apart by their fields; rename one")
        for name in ("setup", "legal", "step", "score", "determinize"):
            implement(getattr(contract, name), rules.record, getattr(rules, name))
        implement(contract.look, rules.record, view.look)
        belongs_to(rules.step, rules.record)
        register_layouts(view.record, lambda: self.layouts)
        belongs_to(view.look, view.record)
        implement(contract.events, view.record, view.events)

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """The different layouts of all variants."""
        resolved = (resolve(self.name, self.all_options, options) for options in self.variants)
        return tuple(dict.fromkeys(map(self.view.layout, resolved)))

    @property
    def all_options(self) -> dict[str, Option]:
        """The game's options with `reward`."""
        return {**self.options, "reward": REWARD}

    def variant(self, **options: Any) -> Variant:
        """The game with its options chosen; raises `ValueError` for an unknown or impossible one."""
        values = resolve(self.name, self.all_options, options)
        template = np.zeros(1, self.rules.record)
        self.rules.configure(values, template[0])
        template["reward"] = REWARD_SCORE if values["reward"] == "score" else REWARD_WIN
        return Variant(self, values, template)
