"""Players by name: "heuristic", "search:1000", "mymodule:MyPlayer"; and asking a player, whoever it is.

What kinds there are, installed packages say: a kind is an entry point of the group `monsterzoo.policies`, a function
`(variant, argument, seed)` that makes the player of a spec "kind" or "kind:argument". Our own are in
`monsterzoo.policies`; environments know of none of them. Anything else with a colon is a player of the user's own, see
`own_players`.
"""

from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import numpy as np

from .core.game import IllegalActionError, Variant
from .core.rng import check_seed


@cache
def kinds() -> dict[str, EntryPoint]:
    """The entry points of all kinds of players."""
    return {point.name: point for point in entry_points(group="monsterzoo.policies")}


def make_player(variant: Variant, spec: str, seed: int = 0) -> Any:
    """The player of a spec for a game with its options.

    Raises `ValueError` for an unknown kind, a bad argument, and what is no player of one's own (`own_players`).
    """
    if not isinstance(spec, str):
        raise ValueError(f"a policy is named by a text such as 'heuristic' or 'search:1000', not {spec!r}")
    kind, colon, argument = spec.partition(":")
    if kind in kinds():
        return kinds()[kind].load()(variant, argument or None, check_seed(seed))
    if not colon:
        raise ValueError(
            f"there is no policy {spec!r}; kinds are {', '.join(kinds())}; a player of your own is 'module:name'"
        )
    from .own_players import load_player  # which builds on this file

    return load_player(variant, spec, check_seed(seed))


def act_in(policy: Any, env: Any, agent: str | None = None) -> int:
    """The action a policy chooses in an AEC environment of ours, wrapped or not, for an agent that must decide now.

    Without an agent, for `agent_selection`. The policy gets what it would get in a batch, search included. Raises
    `ValueError` if the agent has nothing to decide, and `IllegalActionError` if the policy chooses what it may not.
    """
    raw = env.unwrapped
    return int(ask(policy, raw.variant, *raw.decision(agent))[0])


def name_of(policy: Any) -> str:
    """What to call a policy in messages."""
    return str(getattr(policy, "name", type(policy).__name__))


def check_player(policy: Any, variant: Variant) -> None:
    """Raise `ValueError` if a policy was made for a game that differs in seats, observations or actions."""
    own = getattr(policy, "variant", None)
    if isinstance(own, Variant) and not _fits(own, variant):
        raise ValueError(f"{name_of(policy)} was made for {own} and cannot play {variant}")


@lru_cache(256)
def _fits(one: Variant, other: Variant) -> bool:
    """`Variant.fits`, found out once: it compares whole layouts, and policies are asked at every step."""
    return one.fits(other)


def ask(
    policy: Any, variant: Variant, observations: np.ndarray, masks: np.ndarray, seats: np.ndarray, states: np.ndarray
) -> np.ndarray:
    """A policy's actions for a batch of seats, int64 (B,); arguments are those of `Policy.act`.

    Raises `IllegalActionError` if they are not one legal action per row, naming the policy and what it chose.
    """
    check_player(policy, variant)
    chosen = policy.act(observations, masks.copy(), seats, states)  # a policy must not change what is legal
    actions, wrong = read_actions(name_of(policy), chosen, masks)
    if wrong >= 0:
        error = variant.refuse(states[wrong], int(seats[wrong]), int(actions[wrong]))
        raise IllegalActionError(f"{name_of(policy)}: {error}")
    return actions.astype(np.int64)


def read_actions(name: str, chosen: Any, masks: np.ndarray) -> tuple[np.ndarray, int]:
    """Somebody's actions as an array (B,), and the first row whose action is not in its mask (B, A), or -1.

    Raises `IllegalActionError` if they are not one whole number per row.
    """
    count, limit = masks.shape
    actions = as_actions(chosen, count, f"{name}: ")
    inside = (actions >= 0) & (actions < limit)
    legal = inside & (masks[np.arange(count), np.where(inside, actions, 0).astype(np.int64)] != 0)
    return actions, -1 if legal.all() else int(legal.argmin())


def as_actions(chosen: Any, count: int, who: str = "") -> np.ndarray:
    """Actions as an array of whole numbers (count,); raises `IllegalActionError` if they are none."""
    try:
        actions = np.asarray(chosen)
    except (ValueError, TypeError) as error:
        raise IllegalActionError(f"{who}actions are whole numbers of shape ({count},), not {chosen!r:.80}") from error
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        raise IllegalActionError(
            f"{who}actions are whole numbers of shape ({count},), not {actions.dtype} {actions.shape}: {chosen!r:.80}"
        )
    return actions
