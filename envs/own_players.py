"""Players of one's own: a function as a player, and "mymodule:MyPlayer" wherever the name of a policy is asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import Parameter, isabstract, signature
from typing import Any, NoReturn

import numpy as np

from .core.game import IllegalActionError, Variant
from .players import kinds, read_actions

_PLAYER = "a class or object with a method `act`, or a function (observations, action_masks) -> actions"
_SHOWN = ("observations", "action_masks", "seats", "states")
"""What `act` is given, in this order."""


class FunctionPolicy:
    """A policy made of a function `(observations, action_masks) -> actions`; see `Policy.act` for what they are.

    If it has parameters called `seats` and `states` (or takes three or four in this order), it gets these too. Raises
    `ValueError` if it cannot be called like this.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.name = name
        self._function = function
        self._named, self._taken = _more_parameters(function)
        given = _SHOWN[: 2 + self._taken]
        if problem := _refusal(function, *given, **{one: one for one in self._named}):
            _refuse(name, f"a function that cannot be called with ({', '.join((*given, *self._named))}): {problem}")

    def act(
        self, observations: np.ndarray, action_masks: np.ndarray, seats: np.ndarray, states: np.ndarray | None = None
    ) -> np.ndarray:
        """One legal action per row, integers (B,); raises `IllegalActionError` if the function gives anything else."""
        masks = np.array(action_masks)  # a copy: the function must not change what is legal
        more = {"seats": seats, "states": states}
        named = {name: more[name] for name in self._named}
        chosen = self._function(observations, action_masks, *(seats, states)[: self._taken], **named)
        actions, wrong = read_actions(self.name, chosen, masks)
        if wrong >= 0:
            raise IllegalActionError(f"{self.name}: action {actions[wrong]} is not legal in row {wrong}")
        return actions

    def __repr__(self) -> str:
        return f"<FunctionPolicy {self.name}>"


def _more_parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], int]:
    """What a function takes beside observations and masks: names of `seats` and `states`, or how many in order."""
    parameters = _parameters(function)
    named = tuple(name for name in ("seats", "states") if name in parameters)
    if named:
        return named, 0
    if any(one.kind is Parameter.VAR_POSITIONAL for one in parameters.values()):
        return (), 2
    plain = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    needed = sum(one.kind in plain and one.default is Parameter.empty for one in parameters.values())
    return (), min(max(needed - 2, 0), 2)


def _parameters(called: Callable[..., Any]) -> Mapping[str, Parameter]:
    try:
        return signature(called).parameters
    except (TypeError, ValueError):  # some built-in functions do not tell
        return {}


def _refusal(called: Callable[..., Any], *given: Any, **named: Any) -> str | None:
    """Why something cannot be called with these arguments, in words; None if it can, or does not tell."""
    try:
        bound = signature(called)
    except (TypeError, ValueError):
        return None
    try:
        bound.bind(*given, **named)
    except TypeError as error:
        return str(error)
    return None


def _refuse(spec: str, found: str) -> NoReturn:
    raise ValueError(f"{spec!r} is no player but {found}; {_PLAYER} is wanted")


def load_player(variant: Variant, spec: str, seed: int) -> Any:
    """The player of a spec "package.module:attribute": a class, an object with `act`, or a function.

    A class is constructed with `variant=` and `seed=` where it takes them. Raises `ValueError` if there is no such
    module or attribute, or if it is no player; what goes wrong inside of the module is raised as it is.
    """
    module_name, _, path = spec.partition(":")
    names = (*module_name.split("."), *path.split("."))
    known = f"kinds of policies are {', '.join(kinds())}; a player of your own is 'module:name'"
    if not all(name.isidentifier() for name in names):
        raise ValueError(f"there is no policy {spec!r}; {known}")
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there, but not what it imports
        raise ValueError(f"there is no policy {spec!r}: there is no module {error.name!r}; {known}") from None
    for name in path.split("."):
        if not hasattr(found, name):
            raise ValueError(f"there is no policy {spec!r}: {module_name} has no {name!r}{_offer(found)}")
        found = getattr(found, name)
    return _as_player(found, variant, spec, seed)


def _as_player(found: Any, variant: Variant, spec: str, seed: int) -> Any:
    if callable(getattr(found, "act", None)):
        player = _made(found, variant, spec, seed) if isinstance(found, type) else found
        if problem := _refusal(player.act, *_SHOWN):
            _refuse(spec, f"one whose `act` cannot be called with ({', '.join(_SHOWN)}): {problem}")
        return player
    if isinstance(found, type) or not callable(found):
        _refuse(spec, f"{found!r:.80}")
    return FunctionPolicy(found, spec)


def _made(made: type, variant: Variant, spec: str, seed: int) -> Any:
    """An object of a class; raises `ValueError` if there can be none, or if its constructor wants more than we have."""
    if isabstract(made) or getattr(made, "_is_protocol", False):
        _refuse(spec, f"{made!r:.80}, of which there are no objects")
    arguments = _wanted(made, {"variant": variant, "seed": seed})
    if problem := _refusal(made, **arguments):
        _refuse(spec, f"a class whose constructor wants other arguments than `variant` and `seed`: {problem}")
    return made(**arguments)


def _wanted(made: type, offered: dict[str, Any]) -> dict[str, Any]:
    """Those of the offered arguments that a class takes by name."""
    parameters = _parameters(made)
    if any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values()):
        return offered
    return {name: value for name, value in offered.items() if name in parameters}


def _offer(module: Any) -> str:
    own = [name for name, value in vars(module).items() if not name.startswith("_") and callable(value)]
    return f"; it has {', '.join(own[:8])}" if own else ""
