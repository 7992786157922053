"""Driver for games that somebody follows move by move: in the browser, in a terminal, in words.

It asks whoever must decide, carries that out, and hands on the move; `render.perspective.narrate` says what an observer
saw of it.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np


class Move(NamedTuple):
    """One decision, with the positions before and after it, each an array (1,) of its own."""

    before: np.ndarray
    after: np.ndarray
    seat: int
    action: int


def carry_out(env: Any, agent: str, action: int) -> Move:
    """An agent's decision in an AEC environment of ours; raises `IllegalActionError` and changes nothing if illegal."""
    before = env.states
    env.step_for(agent, action)
    return Move(before, env.states, env.possible_agents.index(agent), int(action))


def moves(env: Any, choose: Callable[[str], int | None]) -> Iterator[Move]:
    """Play on until the game is over, or until `choose(agent)`, asked for an action, answers None."""
    while not is_over(env):
        action = choose(env.agent_selection)
        if action is None:
            return
        yield carry_out(env, env.agent_selection, action)


def is_over(env: Any) -> bool:
    """Whether nobody has anything left to decide in an AEC environment."""
    return bool(env.terminations[env.agent_selection] or env.truncations[env.agent_selection])
