"""Policies that compiled loops can ask: NamedTuples ("tokens") whose code `choose` finds by their type.

A token that needs memory to work in has a method `fresh()`, which gives every thread its own.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..compiling.dispatch import dispatched, implement
from ..compiling.jit import compiled, overload
from ..core.contract import legal
from .sampling import pick


class Uniform(NamedTuple):
    """Uniformly random legal actions."""

    weight: int = 1


@dispatched()
def choose(policy: Any, state: Any, seat: Any, words: Any, views: Any, stream: Any) -> Any:
    """The action a compiled policy picks for an acting seat; `words` and `views` are overwritten."""


def compiled_policy(kind: type, function: Callable[..., Any]) -> None:
    """Let kernels play a policy: `function` has the arguments of `choose` and is compiled code."""
    implement(choose, kind, function)


def distinct_tokens(tokens: list[Any], known: tuple[Any, ...] = ()) -> tuple[list[int], tuple[Any, ...]]:
    """The index of each token among the distinct ones, and those: `known`, if it has all of them.

    Otherwise they are sorted by type, so that fewer mixes are compiled.
    """
    kinds = list(known)
    if any(find_token(kinds, token) < 0 for token in tokens):
        kinds = []
        for token in sorted(tokens, key=lambda one: type(one).__qualname__):
            if find_token(kinds, token) < 0:
                kinds.append(token)
    return [find_token(kinds, token) for token in tokens], tuple(kinds)


def find_token(kinds: list[Any], token: Any) -> int:
    """The place of a token among others, or -1."""
    for place, one in enumerate(kinds):
        # Tuples are equal whatever they are called, so their types are compared too; arrays are not compared at all.
        if one is token or (type(one) is type(token) and not hasattr(one, "fresh") and one == token):
            return place
    return -1


def fresh_token(token: Any) -> Any:
    """The same compiled policy for another thread, with memory of its own."""
    return token.fresh() if hasattr(token, "fresh") else token


def choose_one(tokens: Any, which: Any, state: Any, seat: Any, words: Any, views: Any, stream: Any) -> Any:
    """`choose` by one of several policies, a tuple."""
    return choose(tokens[which], state, seat, words, views, stream)


@overload(choose_one)
def _choose_one(tokens, which, state, seat, words, views, stream):
    def nobody(tokens, which, state, seat, words, views, stream):
        return -1

    def only(tokens, which, state, seat, words, views, stream):
        return choose(tokens[0], state, seat, words, views, stream)

    def first_or_rest(tokens, which, state, seat, words, views, stream):
        if which == 0:
            return choose(tokens[0], state, seat, words, views, stream)
        return choose_one(tokens[1:], which - 1, state, seat, words, views, stream)

    if not len(tokens):
        return nobody
    return only if len(tokens) == 1 else first_or_rest


@compiled
def choose_uniformly(policy, state, seat, words, views, stream):
    """A random legal action."""
    legal(state, seat, words)
    return pick(words, stream)


compiled_policy(Uniform, choose_uniformly)
