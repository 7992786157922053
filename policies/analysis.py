"""What a policy thinks of a position: its actions with how often search tried them, what they are worth, and words.

```python
thoughts = analyse(policies.make("search:1000", "pikit_v0", players=2), variant, states, 0)
print(thoughts)
```

Values are the chances of the deciding seat's side to win, from 0 to 1 (with reward="score": 0.5 is level).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from monsterzoo.envs.core.bits import lowest
from monsterzoo.envs.core.contract import PLAYING
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.envs.match.players import ask, name_of

from .networks import NeuralPolicy
from .search import SearchPolicy


@dataclass(frozen=True)
class Thought:
    """What a policy thinks of one legal action; None where it has no opinion."""

    action: int
    name: str
    visits: int | None = None
    """How often search tried it."""
    value: float | None = None
    """The chance of the own side to win with it, as search sees it."""
    prior: float | None = None
    """How likely the network would choose it."""


@dataclass(frozen=True)
class Analysis:
    """What a policy thinks of a position; printed as a table."""

    policy: str
    seat: int
    """Who decides."""
    choice: int
    """The action it would take."""
    value: float | None
    """The chance of the own side to win, as search or the network sees it."""
    thoughts: tuple[Thought, ...]
    """Of every legal action, the best first."""

    def __str__(self) -> str:
        chosen = next(thought.name for thought in self.thoughts if thought.action == self.choice)
        expects = "" if self.value is None else f" and expects to win {self.value:.1%}"
        columns = [key for key in COLUMNS if getattr(self.thoughts[0], key) is not None]
        rows = [[one.name, *(_cell(getattr(one, key)) for key in columns)] for one in self.thoughts]
        shown = [["action", *(COLUMNS[key] for key in columns)], *rows] if columns else rows
        width = max(len(name) for name, *_ in shown)
        lines = ["  ".join([name.ljust(width), *(f"{cell:>8}" for cell in cells)]) for name, *cells in shown]
        first = f"player_{self.seat} decides; {self.policy} chooses {chosen!r}{expects}"
        return "\n".join([first, *(line.rstrip() for line in lines)])


COLUMNS = {"visits": "visits", "value": "wins", "prior": "network"}


def _known(value: Any) -> Any:
    """A number, or None for what search has not tried and for what a network's numbers are too large to tell."""
    return None if math.isnan(value) else value


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1%}"


def analyse(policy: Any, variant: Variant, states: np.ndarray, index: int = 0, seat: int | None = None) -> Analysis:
    """What a policy thinks of the decision that a state (of the array `states`) waits for.

    Where several seats decide at once, `seat` says whose decision is meant (the lowest by default). Raises `ValueError`
    if there is none, and `IllegalActionError` if the policy chooses what is not legal.
    """
    one = states[index : index + 1]
    variant.check_states(one, exactly=True)
    if len(one) != 1 or one["outcome"][0] != PLAYING:
        raise ValueError("the game is over; there is nothing to decide")
    seat = lowest(np.uint64(one["acting"][0])) if seat is None else seat
    seats = np.array([seat])
    decisions = Decisions.from_states(variant, one, seats)
    rows, mask = decisions.observations, decisions.action_masks[0]
    opinions: dict[str, np.ndarray] = {}
    value = None
    if isinstance(policy, SearchPolicy):
        found = policy.search(rows, seats, one)
        opinions = {"visits": found.visits[0], "value": found.values[0]}
        opinions |= {"prior": found.priors[0]} if policy.guide is not None else {}
        value, choice = float(found.root_values[0]), int(found.best()[0])
    else:
        choice = int(ask(policy, decisions)[0])
    if isinstance(policy, NeuralPolicy):
        priors, chance = policy.opinion(rows, mask[None])
        opinions["prior"] = priors[0]
        value = _known(float(chance[0])) if chance is not None else None
    thoughts = []
    for action in np.flatnonzero(mask).tolist():
        known = {key: _known(found[action].item()) for key, found in opinions.items()}
        thoughts.append(Thought(action, variant.action_names[action], **known))
    thoughts.sort(key=lambda thought: (thought.action != choice, -(thought.visits or 0), -(thought.prior or 0)))
    return Analysis(name_of(policy), int(seat), choice, value, tuple(thoughts))
