"""Players from specs such as "heuristic", "search:1000" or "mymodule:MyPlayer", and asking them for actions.

A kind of player is an entry point of the group `monsterzoo.policies`: a function `(variant, argument, seed)` behind the
spec "kind" or "kind:argument". Any other spec with a colon is the import path of a class, an object or a function.
"""

import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, Signature, isabstract, signature
from typing import Any, NoReturn

import numpy as np

from ..core.rng import check_seed
from ..core.variant import IllegalActionError, Variant, read_actions
from .decisions import Decisions

_PLAYER = "a class or object with a method `act(decisions)`, or a function (observations, action_masks) -> actions"


# --- Specs ---

HARMLESS = re.compile(r"random|heuristic|pretrained|search:(\d{1,5}|\d{1,4}ms)(,(?!net=)\w+=[\w.]+|,net=pretrained)*")
"""Specs that strangers may choose (pages, MCP clients): no code, file or connection, and seconds a decision at most."""


@cache
def kinds() -> dict[str, EntryPoint]:
    """The entry points of all kinds of players."""
    return {point.name: point for point in entry_points(group="monsterzoo.policies")}


def make_player(variant: Variant, spec: str, seed: int = 0) -> Any:
    """The player of a spec for a game with its options.

    Raises `ValueError` for an unknown kind, a bad argument, and for what is not a player, see `load_player`.
    """
    if not isinstance(spec, str):
        raise ValueError(f"a policy is named by a text such as 'heuristic' or 'search:1000', not {spec!r}")
    kind, _, argument = spec.partition(":")
    if kind in kinds():
        return kinds()[kind].load()(variant, argument or None, check_seed(seed))
    return load_player(variant, spec, check_seed(seed))


def load_player(variant: Variant, spec: str, seed: int) -> Any:
    """The player of a spec "package.module:attribute": a class, an object with `act`, or a function.

    A class is constructed with `variant=` and `seed=` where it takes them. Raises `ValueError` if there is no such
    module or attribute, or if it is not a player; errors inside the module are raised unchanged.
    """
    module_name, _, path = spec.partition(":")
    unknown = f"there is no policy {spec!r}"
    known = f"kinds of policies are {', '.join(kinds())}; a player of your own is 'module:name'"
    if not all(name.isidentifier() for name in (*module_name.split("."), *path.split("."))):
        raise ValueError(f"{unknown}; {known}")
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there, but not what it imports
        raise ValueError(f"{unknown}: there is no module {error.name!r}; {known}") from None
    for name in path.split("."):
        if not hasattr(found, name):
            raise ValueError(f"{unknown}: {module_name} has no {name!r}")
        found = getattr(found, name)
    if callable(getattr(found, "act", None)):
        player = _construct(found, variant, spec, seed) if isinstance(found, type) else found
        check_act(player, spec)
        return player
    if isinstance(found, type) or not callable(found):
        _refuse(spec, f"{found!r:.80}")
    return FunctionPolicy(found, spec)


def _construct(made: type, variant: Variant, spec: str, seed: int) -> Any:
    if isabstract(made) or getattr(made, "_is_protocol", False):
        _refuse(spec, f"{made!r:.80}, which is abstract")
    parameters = _signature(made).parameters
    takes_any = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    offered = {"variant": variant, "seed": seed}
    arguments = {name: value for name, value in offered.items() if takes_any or name in parameters}
    if problem := _misfit(made, **arguments):
        _refuse(spec, f"a class whose constructor needs other arguments than `variant` and `seed`: {problem}")
    return made(**arguments)


def check_act(player: Any, name: str) -> None:
    """Raise `ValueError` if a player's `act` cannot be called with one argument, the decisions."""
    if problem := _misfit(player.act, "decisions"):
        _refuse(name, f"an object whose `act` cannot be called with (decisions): {problem}")


def _signature(called: Callable[..., Any]) -> Signature:
    try:
        return signature(called)
    except (TypeError, ValueError):  # some built-in functions have none: anything fits
        return signature(lambda *arguments, **named: None)


def _misfit(called: Callable[..., Any], *given: Any, **named: Any) -> str:
    """Why something cannot be called with these arguments; empty if it can."""
    try:
        _signature(called).bind(*given, **named)
    except TypeError as error:
        return str(error)
    return ""


def _refuse(spec: str, found: str) -> NoReturn:
    raise ValueError(f"{spec!r} is not a player but {found}; expected {_PLAYER}")


class FunctionPolicy:
    """A policy from a function `(observations, action_masks) -> actions`, or `(decisions) -> actions`.

    The latter is recognised by the name of its parameter. Raises `ValueError` for functions that cannot be called so.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.name, self._function = name, function
        self._takes_decisions = "decisions" in _signature(function).parameters
        given = ("decisions",) if self._takes_decisions else ("observations", "action_masks")
        if problem := _misfit(function, *given):
            hint = "" if self._takes_decisions else "; for seats or sampled worlds take `decisions` alone"
            _refuse(name, f"a function that cannot be called with ({', '.join(given)}): {problem}{hint}")

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row, int64 (B,); raises `IllegalActionError` if the function returns anything else."""
        masks = decisions.action_masks.copy()  # the function must not change what is legal
        if self._takes_decisions:
            chosen = self._function(decisions)
        else:
            chosen = self._function(decisions.observations, decisions.action_masks)
        return check_choices(self.name, chosen, decisions, masks)

    def __repr__(self) -> str:
        return f"<FunctionPolicy {self.name}>"


# --- Asking ---


def name_of(policy: Any) -> str:
    """What to call a policy in messages."""
    return str(getattr(policy, "name", type(policy).__name__))


def compiled_form(policy: Any) -> Any:
    """The NamedTuple that plays the policy inside compiled loops (`compiled_policies.choose`), or None."""
    return getattr(policy, "compiled", None)


def check_player(policy: Any, variant: Variant) -> None:
    """Raise `ValueError` if a policy was made for a game that differs in seats, observations or actions."""
    own = getattr(policy, "variant", None)
    if isinstance(own, Variant) and not _fits(own, variant):
        raise ValueError(f"{name_of(policy)} was made for {own} and cannot play {variant}")


@lru_cache(256)
def _fits(one: Variant, other: Variant) -> bool:
    """`Variant.fits`, cached: it compares whole layouts, and policies are asked at every step."""
    return one.fits(other)


def ask(policy: Any, decisions: Decisions) -> np.ndarray:
    """A policy's actions for a batch of decisions, int64 (B,).

    Raises `IllegalActionError`, naming the policy and what it chose, unless they are one legal action per row.
    """
    check_player(policy, decisions.variant)
    masks = decisions.action_masks.copy()  # the policy must not change what is legal
    return check_choices(name_of(policy), policy.act(decisions), decisions, masks)


def act_in(policy: Any, env: Any, agent: str | None = None) -> int:
    """The action a policy chooses in an AEC environment of ours, wrapped or not, for an agent that must decide now.

    Without an agent, for `agent_selection`. Raises `ValueError` if the agent has nothing to decide, and
    `IllegalActionError` if the policy's action is not legal.
    """
    return int(ask(policy, env.unwrapped.decisions(agent))[0])


def check_choices(name: str, chosen: Any, decisions: Decisions, masks: np.ndarray) -> np.ndarray:
    """A player's actions as int64 (B,); raises `IllegalActionError`, naming it, unless all are in the masks (B, A)."""
    actions = read_actions(chosen, len(masks), f"{name}: ")
    inside = (actions >= 0) & (actions < masks.shape[1])
    legal = inside & (masks[np.arange(len(masks)), np.where(inside, actions, 0).astype(np.int64)] != 0)
    if not legal.all():
        row = int(legal.argmin())
        raise IllegalActionError(f"{name}: {decisions._refusal(row, int(actions[row]))}")
    return actions.astype(np.int64, copy=False)
