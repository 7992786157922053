"""Games in which one seat, the learner, is asked and policies play the others: the loops behind the one-seat envs.

A compiled policy is a NamedTuple; `choose` finds its code by that type, as the contract does for games.
Arrays beside those of `kernels`: `learners` (N,) int64 the learner's seat, `rewards` (N,) float32 its reward since its
last decision, `streams` (N,) the policies' generators. `sets` are the learner's.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types

from .bits import has, lowest, wrap
from .contract import PLAYING, REWARD_SCORE, TERMINATED, TRUNCATED, legal, observe, score, setup, step
from .encoding import expand
from .jit import belongs_to, compiled, inlined, kernel, overload
from .kernels import legal_or_wait, pick, score_reward, win_reward
from .shares import begin_round, edge, finish_part, take_part

ILLEGAL_REWARD = np.float32(-1)


class Uniform(NamedTuple):
    """Every seat plays a random legal action."""

    weight: int = 1


choosers: dict[type, Callable[..., Any]] = {}
"""The plain Python code of each compiled policy."""


def choose(policy: Any, state: Any, seat: Any, words: Any, views: Any, stream: Any) -> Any:
    """The action a compiled policy picks for an acting seat; `words` and `views` are overwritten."""
    return choosers[type(policy)](policy, state, seat, words, views, stream)


def compiled_policy(kind: type, function: Callable[..., Any]) -> None:
    """Let kernels play a policy: `function` has the arguments of `choose` and is compiled code."""
    choosers[kind] = function
    belongs_to(function, kind)

    def by_type(policy, state, seat, words, views, stream):
        if isinstance(policy, types.NamedTuple | types.NamedUniTuple) and policy.instance_class is kind:
            return getattr(function, "py_func", function)
        return None

    overload(choose)(by_type)


class Mixed(NamedTuple):
    """Different compiled policies at one table."""

    tokens: tuple[Any, ...]
    """At most four."""
    places: int
    """Two bits a place: which of the tokens plays it; places count clockwise from the learner."""


def mix_tokens(tokens: list[Any]) -> Any:
    """What plays `tokens[k]` at place k + 1; just the token if all are the same."""
    # Tuples are equal whatever they are called, so their types are compared too; sorted, fewer mixes are compiled.
    named = [(type(token).__qualname__, token) for token in tokens]
    kinds = sorted(set(named))
    if len(kinds) == 1:
        return tokens[0]
    places = sum(kinds.index(token) << 2 * (k + 1) for k, token in enumerate(named))
    return Mixed(tuple(token for _, token in kinds), places)


def choose_one(tokens: Any, which: Any, state: Any, seat: Any, words: Any, views: Any, stream: Any) -> Any:
    """`choose` by one of several policies, a tuple."""
    return choose(tokens[which], state, seat, words, views, stream)


@overload(choose_one)
def _choose_one(tokens, which, state, seat, words, views, stream):
    if len(tokens) == 1:
        return lambda tokens, which, state, seat, words, views, stream: choose(
            tokens[0], state, seat, words, views, stream
        )

    def first_or_rest(tokens, which, state, seat, words, views, stream):
        if which == 0:
            return choose(tokens[0], state, seat, words, views, stream)
        return choose_one(tokens[1:], which - 1, state, seat, words, views, stream)

    return first_or_rest


def choose_at(policy: Any, place: Any, state: Any, seat: Any, words: Any, views: Any, stream: Any) -> Any:
    """`choose` at a table that may be mixed."""
    if isinstance(policy, Mixed):
        which = (policy.places >> (2 * place)) & 3
        return choose_one(policy.tokens, which, state, seat, words, views, stream)
    return choose(policy, state, seat, words, views, stream)


@overload(choose_at)
def _choose_at(policy, place, state, seat, words, views, stream):
    if policy.instance_class is Mixed:
        return lambda policy, place, state, seat, words, views, stream: choose_one(
            policy.tokens, (policy.places >> (2 * place)) & 3, state, seat, words, views, stream
        )
    return lambda policy, place, state, seat, words, views, stream: choose(
        policy, state, seat, words, views, stream
    )


@compiled
def choose_uniformly(policy, state, seat, words, views, stream):
    """A random legal action."""
    legal(state, seat, words)
    return pick(words, stream)


compiled_policy(Uniform, choose_uniformly)


@inlined
def advance_for(state, seat, action, learner):
    """Step one game like `advance`; returns the learner's reward, the only one that is worked out."""
    if state.reward == REWARD_SCORE:
        own, total = scores_for(state, learner)
        step(state, seat, action)
        own_now, total_now = scores_for(state, learner)
        return score_reward(state, own_now - own, total_now - total)
    step(state, seat, action)
    return win_reward(state, learner)


@compiled
def scores_for(state, learner):
    """The score of the learner's side, and that of all sides together."""
    sides, total = np.int64(state.sides), np.float32(0)
    for side in range(sides):
        total += np.float32(score(state, side))
    return np.float32(score(state, learner % sides)), total


@compiled
def step_learner(state, learner, action, choice):
    """Carry out the learner's action, or end the game with `ILLEGAL_REWARD` if it is not one of its choice.

    Returns its reward, and whether it was legal.
    """
    if has(choice[action >> 6], action & 63):
        return advance_for(state, learner, action, learner), True
    state.outcome = TERMINATED
    state.winners = 0
    state.acting = 0
    return ILLEGAL_REWARD, False


@compiled
def play_others(policy, state, learner, total, words, views, stream):
    """Play the other seats until the learner must decide or the game is over; returns total plus its rewards."""
    players = np.int64(state.players)
    while state.outcome == PLAYING and not has(np.uint64(state.acting), learner):
        seat = lowest(np.uint64(state.acting))
        place = wrap(seat - learner + players, players)
        action = choose_at(policy, place, state, seat, words, views, stream)
        total += advance_for(state, seat, action, learner)
    return total


@compiled
def show_learner(state, learner, row, choice, mask, actions, views):
    """Write the learner's observation and legal actions, as a set and as a mask."""
    observe(state, learner, views[0], row)
    legal_or_wait(state, learner, choice, actions)
    expand(choice, mask)


@kernel
def reset_seats(policy, states, learners, rows, sets, masks, streams, words, views, actions):
    """Set up all games and play to the learner's first decision."""
    for i in range(len(states)):
        state = states[i]
        state.outcome = TERMINATED
        while state.outcome != PLAYING:
            setup(state)
            play_others(policy, state, learners[i], np.float32(0), words, views, streams[i])
        show_learner(state, learners[i], rows[i], sets[i], masks[i], actions, views)


@kernel
def step_seats(
    shares, member, policy, states, finals, choices, learners, turn, rows, sets, masks, last_rows, rewards, terminated,
    truncated, illegal, streams, actions, words, views
):  # fmt: skip
    """Carry out the learners' actions and play on to their next decisions, shared among threads.

    A finished game is kept in `finals` with the learner's last observation in `last_rows`, and replaced at once; the
    learner then moves on by `turn` seats. An action that is not legal ends the game with `ILLEGAL_REWARD`.
    """
    begin_round(shares, member)
    part = take_part(shares, member)
    while part >= 0:
        for i in range(edge(part, shares, len(states)), edge(part + 1, shares, len(states))):
            state, learner = states[i], learners[i]
            reward, allowed = step_learner(state, learner, choices[i], sets[i])
            rewards[i] = play_others(policy, state, learner, reward, words, views, streams[i])
            illegal[i] = not allowed
            terminated[i] = state.outcome == TERMINATED
            truncated[i] = state.outcome == TRUNCATED
            if state.outcome != PLAYING:
                observe(state, learner, views[0], last_rows[i])
                finals[i] = states[i]
                learner = (learner + turn) % np.int64(state.players)
                learners[i] = learner
                while state.outcome != PLAYING:
                    setup(state)
                    play_others(policy, state, learner, np.float32(0), words, views, streams[i])
            show_learner(state, learner, rows[i], sets[i], masks[i], actions, views)
        finish_part(shares)
        part = take_part(shares, member)


# The same in pieces, for policies that are not compiled: Python code asks them between the kernels.


@kernel
def step_learners(states, choices, learners, sets, rewards, illegal):
    """Carry out the learners' actions only."""
    for i in range(len(states)):
        state, learner = states[i], learners[i]
        rewards[i], allowed = step_learner(state, learner, choices[i], sets[i])
        illegal[i] = not allowed


@kernel
def find_others(states, learners, games, seats, rows, masks, words, views, actions):
    """List the games that wait for a seat which is not the learner's, with that seat's observation and mask."""
    count = 0
    for i in range(len(states)):
        state = states[i]
        if state.outcome == PLAYING and not has(np.uint64(state.acting), learners[i]):
            games[count] = i
            seats[count] = lowest(np.uint64(state.acting))
            show_learner(state, seats[count], rows[count], words, masks[count], actions, views)
            count += 1
    return count


@kernel
def step_others(states, learners, games, seats, choices, rewards):
    """Carry out the listed seats' actions; the learners' rewards go on adding up."""
    for k in range(len(games)):
        i = games[k]
        rewards[i] += advance_for(states[i], seats[k], choices[k], learners[i])


@kernel
def replace_finished(states, finals, learners, turn, last_rows, views, terminated, truncated):
    """Set up a new game for every finished one, see `step_seats`; returns how many."""
    count = 0
    for i in range(len(states)):
        state = states[i]
        terminated[i] = state.outcome == TERMINATED
        truncated[i] = state.outcome == TRUNCATED
        if state.outcome != PLAYING:
            count += 1
            observe(state, learners[i], views[0], last_rows[i])
            finals[i] = states[i]
            learners[i] = (learners[i] + turn) % np.int64(state.players)
            setup(state)
    return count


@kernel
def show_learners(states, learners, rows, sets, masks, views, actions):
    """Write all learners' observations and legal actions."""
    for i in range(len(states)):
        show_learner(states[i], learners[i], rows[i], sets[i], masks[i], actions, views)
