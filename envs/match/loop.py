"""The compiled loop of a match: takes each of N games on until a seat must decide that compiled code cannot ask.

`seating` says who plays each seat: a number is a player, `OUTSIDE` is whoever calls. The first players are compiled
policies and asked here; the others are asked by Python, see `match.Match`. Batches (every seat is outside), one-seat
environments (one seat is) and tournaments (none is) are settings of this loop.

Arrays: W = ceil(actions / 64) words hold a bit set of actions. `rows` (N, observation / 8) and `masks` (N, 8 W) are
seen as uint64. `words` (W,), `views` (1,) and `gained` (players,) are scratch.
"""

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from ..compiling.dispatch import dispatched, implement
from ..compiling.encoding import expand
from ..compiling.jit import compiled, inlined, kernel
from ..compiling.work_queue import LEADER, begin_round, edge, finish_part, take_part
from ..core.bits import ZERO, bit, has, lowest
from ..core.contract import PLAYING, TERMINATED, TRUNCATED, observe, score, setup
from ..core.rng import streams
from ..core.stepping import legal_or_wait, share_of_win, step_and_reward
from ..core.variant import Variant
from .compiled_policies import choose_one
from .history import after_move, before_move, begin_history, end_history, show_history

OUTSIDE = -1
"""A seat whose decisions come from whoever calls."""
NOBODY = -2
"""Who is waited for in a game that is over."""
ILLEGAL_REWARD = np.float32(-1)

ACT, ANSWER, BEGIN, CONTINUE, LEAVE = 0, 1, 2, 3, 4
"""What a call does with a game.

`ACT` carries out the action of an outside seat, `ANSWER` that of a player whom Python has asked. `BEGIN` sets up a new
game, `CONTINUE` plays on from a position, `LEAVE` does nothing.
"""


Games = namedtuple(
    "Games",
    "states finals seating outside orders choices waiting seats rows sets masks rewards counts terminated truncated "
    "illegal totals lengths starts moves streams",
)
"""The arrays of N games, see `new_arrays`."""


def new_arrays(variant: Variant, n: int, log: int) -> dict[str, np.ndarray]:
    """The arrays of n games, with room for the first `log` moves; "last" is the last finished game of each."""
    seats = variant.players
    return {
        "states": variant.new_states(n),  # the games
        "finals": variant.new_states(n),  # the last games as they ended
        "seating": np.zeros((n, seats), np.int8),  # who plays each seat
        "outside": np.zeros(n, np.uint8),  # bit set of the seats that are `OUTSIDE`
        "orders": np.zeros(n, np.uint8),  # what the next call does with each game
        "choices": np.zeros(n, np.int64),  # the action of the seat that is waited for
        "waiting": np.full(n, NOBODY, np.int8),  # who is waited for: a player, `OUTSIDE` or `NOBODY`
        "seats": np.zeros(n, np.int64),  # which seat decides; in a game that is over, the lowest outside seat
        "rows": np.zeros((n, variant.layout.size), np.int8),  # what that seat knows
        "sets": np.zeros((n, variant.words), np.uint64),  # its legal actions
        "masks": np.zeros((n, 64 * variant.words), np.int8),  # the same as 0/1 columns
        "rewards": np.zeros((n, seats), np.float32),  # since the last outside decision
        "counts": np.zeros(n, np.bool_),  # whether rewards count: none do before a first outside decision
        "terminated": np.zeros(n, np.bool_),  # whether a game ended since the last outside decision
        "truncated": np.zeros(n, np.bool_),
        "illegal": np.zeros(n, np.bool_),  # whether the last outside action was not legal
        "totals": np.zeros((2, n, seats), np.float32),  # rewards of the running game so far, and of the last one
        "lengths": np.zeros((2, n), np.int64),  # the same for the number of steps
        "starts": np.zeros((2, n), np.uint64),  # the generators with which the running and the last game began
        "moves": np.zeros((2, n, log), np.int32),  # moves of both as seat * actions + action
        "streams": streams(0, n, "opponents"),  # the compiled policies' generators
    }


class Mode(NamedTuple):
    """What happens at the end of a game and after an illegal outside action."""

    actions: int
    replace: bool
    """Whether a finished game is replaced in the same call."""
    forfeit: bool
    """Whether an illegal action ends the game with `ILLEGAL_REWARD`; otherwise the whole call is refused."""


class Endless(NamedTuple):
    """A source of games: each game's own generator. The seating rotates by `turn` seats from game to game."""

    turn: int


class Queue(NamedTuple):
    """A source of games: a list of G games without outside seats; slot i plays games i, i + N, …."""

    template: Any  # (1,) a state that holds the options
    luck: Any  # (G,) uint64: generators of the games
    policy_luck: Any  # (G,) uint64: generators of the compiled policies
    seating: Any  # (G, players) int8
    running: Any  # (N,) int64: which game each slot plays
    shares: Any  # (G, sides) float64: shares of the win
    scores: Any  # (G, sides) float64
    done: Any  # (G,) bool


@dispatched()
def begin_game(source: Any, games: Any, i: Any) -> Any:
    """Begin the next game in slot i; False if there is none."""


@dispatched()
def note_result(source: Any, games: Any, i: Any) -> None:
    """Note how the game in slot i ended."""


@compiled
def begin_endless(source, games, i):
    """Go on with the game's own generator; the seating rotates after a game with an outside decision."""
    if source.turn != 0 and games.counts[i]:
        rotate(games, i)
    start_game(games, i)
    return True


@compiled
def no_result(source, games, i):
    """Finished games are kept in `finals` alone."""


@compiled
def begin_listed(source, games, i):
    """Take the next game of the slot."""
    game = source.running[i] + len(games.states)
    if game >= len(source.luck):
        return False
    source.running[i] = game
    games.states[i] = source.template[0]
    games.states[i].rng = source.luck[game]
    games.streams[i].rng = source.policy_luck[game]
    for seat in range(np.int64(source.template[0].players)):
        games.seating[i, seat] = source.seating[game, seat]
    start_game(games, i)
    return True


@compiled
def note_listed(source, games, i):
    """Write shares of the win and scores."""
    state, game = games.states[i], source.running[i]
    for side in range(np.int64(state.sides)):
        source.shares[game, side] = share_of_win(state, side)
        source.scores[game, side] = score(state, side)
    source.done[game] = True


for _source, _begin, _note in ((Endless, begin_endless, no_result), (Queue, begin_listed, note_listed)):
    implement(begin_game, _source, _begin)
    implement(note_result, _source, _note)


@inlined
def start_game(games, i):
    """Set up the game in slot i."""
    start_log(games, i)
    setup(games.states[i])


@inlined
def start_log(games, i):
    """Begin the sums and the log of a game."""
    state = games.states[i]
    games.starts[0, i] = state.rng
    games.lengths[0, i] = 0
    for seat in range(np.int64(state.players)):
        games.totals[0, i, seat] = 0


@compiled
def rotate(games, i):
    """Seat everybody one seat further, clockwise."""
    players, row = np.int64(games.states[i].players), games.seating[i]
    last = row[players - 1]
    for seat in range(players - 1, 0, -1):
        row[seat] = row[seat - 1]
    row[0] = last
    turned = np.uint64(games.outside[i]) << np.uint64(1)
    games.outside[i] = (turned | turned >> np.uint64(players)) & (bit(players) - np.uint64(1))


@inlined
def move(games, i, actions, seat, action, length, gained, history):
    """Step game i, write the move down if there is room after `length` others, and book the rewards."""
    before_move(history, games.states, i)
    state = games.states[i]
    if length < games.moves.shape[2]:
        games.moves[0, i, length] = seat * actions + action
    gains = step_and_reward(state, seat, action, gained)
    after_move(history, games.states, i, seat, action)
    if gains:
        book(games, i, gained)


@inlined
def book(games, i, gained):
    """Add what every seat gained.

    Counting down keeps LLVM from vectorizing the few seats, which slows the whole loop of moves by 4 %.
    """
    seat = np.int64(games.states[i].players)
    while seat > 0:
        seat -= 1
        games.totals[0, i, seat] += gained[seat]
        if games.counts[i]:
            games.rewards[i, seat] += gained[seat]


@compiled
def forfeit(games, i):
    """End game i because of an illegal action."""
    state, seat = games.states[i], games.seats[i]
    games.rewards[i, seat] = ILLEGAL_REWARD
    games.totals[0, i, seat] += ILLEGAL_REWARD
    games.illegal[i] = True
    state.outcome, state.winners, state.acting = TERMINATED, 0, 0


@inlined
def clear_outcome(games, i):
    """Forget what the last outside decision led to."""
    for seat in range(np.int64(games.states[i].players)):
        games.rewards[i, seat] = np.float32(0)
    games.terminated[i] = games.truncated[i] = games.illegal[i] = False


@inlined
def keep_final(games, i, length):
    """Keep a game that is over, with its sums and its log."""
    state = games.states[i]
    games.finals[i] = games.states[i]
    games.starts[1, i], games.lengths[1, i] = games.starts[0, i], length
    for seat in range(np.int64(state.players)):
        games.totals[1, i, seat] = games.totals[0, i, seat]
    for k in range(min(length, games.moves.shape[2])):
        games.moves[1, i, k] = games.moves[0, i, k]
    if games.counts[i]:
        games.terminated[i] = state.outcome == TERMINATED
        games.truncated[i] = state.outcome == TRUNCATED


@inlined
def play_game(games, i, mode, source, tokens, gained, words, views, history):
    """Do what is ordered in game i and play on until somebody must be asked, or it is over and stays so.

    Each rule (set up, step) is called in one place, so that it is inlined here.
    """
    state, order, seat, action = games.states[i], games.orders[i], games.seats[i], games.choices[i]
    if order != ANSWER:
        clear_outcome(games, i)
        games.counts[i] = order == ACT
    if order == ACT and mode.forfeit and not has(games.sets[i, action >> 6], action & 63):
        forfeit(games, i)
    elif order == CONTINUE:
        start_log(games, i)
        begin_history(history, i)
    moving, beginning = order <= ANSWER and state.outcome == PLAYING, order == BEGIN
    length = games.lengths[0, i]  # counted here, stored when the game is left
    while True:
        if beginning:
            if not begin_game(source, games, i):
                games.waiting[i] = NOBODY
                return
            games.counts[i] = False
            begin_history(history, i)
            length = 0
        if moving:
            move(games, i, mode.actions, seat, action, length, gained, history)
            length += 1
        if state.outcome != PLAYING:
            games.lengths[0, i] = length
            keep_final(games, i, length)
            end_history(history, i)
            note_result(source, games, i)
            # A game without an outside decision has nothing to report: the next one begins in any mode.
            if not mode.replace and games.counts[i]:
                games.waiting[i] = NOBODY
                return
            moving, beginning = False, True
            continue
        acting = np.uint64(state.acting)
        outside = acting & np.uint64(games.outside[i])
        if outside != ZERO:
            games.seats[i], games.waiting[i], games.lengths[0, i] = lowest(outside), OUTSIDE, length
            return
        seat = lowest(acting)
        who = np.int64(games.seating[i, seat])
        if who >= len(tokens):
            games.seats[i], games.waiting[i], games.lengths[0, i] = seat, who, length
            return
        action = choose_one(tokens, who, state, seat, words, views, games.streams[i])
        moving, beginning = True, False


@inlined
def show(games, i, actions, view, history):
    """Write what the seat that is waited for in game i knows and may do; of a game that is over, an outside seat."""
    state = games.states[i]
    if state.outcome != PLAYING:
        if games.outside[i] == 0:
            return
        games.seats[i] = lowest(np.uint64(games.outside[i]))
    observe(state, games.seats[i], view, games.rows[i])
    legal_or_wait(state, games.seats[i], games.sets[i], actions)
    expand(games.sets[i], games.masks[i])
    show_history(history, i, games.seats[i])


@compiled
def first_illegal(games, actions):
    """The first game whose action is out of range or not legal, or -1."""
    for i in range(len(games.choices)):
        action = games.choices[i]
        if games.orders[i] <= ANSWER and (
            action < 0 or action >= actions or not has(games.sets[i, action // 64], action % 64)
        ):
            return i
    return -1


@kernel
def play_on(queue, member, games, mode, source, tokens, gained, words, views, history):
    """Do what is ordered in all games, shared among threads, and show what must be decided next.

    Returns -1, or without `mode.forfeit` the first game whose choice is not legal: then nothing has happened.
    """
    if member == LEADER and not mode.forfeit:
        wrong = first_illegal(games, mode.actions)
        if wrong >= 0:
            return wrong
    begin_round(queue, member)
    part = take_part(queue, member)
    while part >= 0:
        start, stop = edge(part, queue, len(games.states)), edge(part + 1, queue, len(games.states))
        for i in range(start, stop):
            if games.orders[i] != LEAVE:
                play_game(games, i, mode, source, tokens, gained, words, views, history)
                show(games, i, mode.actions, views[0], history)
        finish_part(queue)
        part = take_part(queue, member)
    return -1


@kernel
def observe_finals(finals, listed, seats, views, rows):
    """Write what some seats (B,) know at the end of listed games (B,); `rows` is (B, observation / 8)."""
    for k in range(len(listed)):
        observe(finals[listed[k]], seats[k], views[0], rows[k])
