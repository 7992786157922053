"""The compiled loop against a slow and obvious reading of what it promises, on games of Nim."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from monsterzoo.envs.core.bits import lowest
from monsterzoo.envs.core.contract import PLAYING, TERMINATED, setup, step
from monsterzoo.envs.core.rng import generator, streams
from monsterzoo.envs.match import sampling
from monsterzoo.envs.match.loop import (
    ACT,
    BEGIN,
    CONTINUE,
    ILLEGAL_REWARD,
    LEAVE,
    NOBODY,
    OUTSIDE,
    Endless,
    Mode,
)
from monsterzoo.envs.match.match import Match, play_listed
from monsterzoo.policies import from_function
from monsterzoo.policies.uniform import UniformPolicy
from nim import NIM

VARIANT = NIM.variant()
RANDOM, FIRST, LAST = 0, 1, 2  # players: one is compiled, two are asked
LOG = 5


def players() -> list[Any]:
    first = from_function(lambda rows, masks: masks.argmax(axis=1), "first")
    last = from_function(lambda rows, masks: masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1), "last")
    return [UniformPolicy(VARIANT), first, last]


@dataclass
class Told:
    """What is kept of a game."""

    start: int
    total: np.ndarray = field(default_factory=lambda: np.zeros(2, np.float32))
    moves: list[int] = field(default_factory=list)


class Slow:
    """One game of a match."""

    def __init__(self, luck: int, seating: list[int], mode: Mode, turn: int, stream: np.ndarray) -> None:
        self.states = VARIANT.new_states(1)
        self.states["rng"] = luck
        self.seating, self.mode, self.turn, self.stream = list(seating), mode, turn, stream
        self.running, self.last, self.final = Told(0), Told(0), VARIANT.new_states(1)

    def order(self, order: int, action: int = 0) -> None:
        """Carry out an order and play on until somebody outside decides."""
        self.rewards, self.illegal, self.counts = np.zeros(2, np.float32), False, order == ACT
        self.terminated = False
        if order == ACT and self.mode.forfeit and not self.legal(self.seat)[action]:
            self.rewards[self.seat] = ILLEGAL_REWARD
            self.running.total[self.seat] += ILLEGAL_REWARD
            self.illegal = True
            self.states["outcome"], self.states["acting"], self.states["winners"] = TERMINATED, 0, 0
        elif order == ACT:
            self.move(self.seat, action)
        elif order == BEGIN:
            self.begin()
        else:
            self.running = Told(int(self.states["rng"][0]))
        while self.play():
            pass

    def play(self) -> bool:
        """One more step; False if somebody outside must decide, or nobody any more."""
        if self.states["outcome"][0] != PLAYING:
            self.final, self.last = self.states.copy(), self.running
            self.terminated |= self.counts
            if self.counts and not self.mode.replace:
                self.waiting, self.seat = NOBODY, self.seating.index(OUTSIDE)
                return False
            self.begin()
            return True
        self.seat = lowest(np.uint64(self.states["acting"][0]))
        who = self.seating[self.seat]
        self.waiting = OUTSIDE
        if who == OUTSIDE:
            return False
        allowed = np.flatnonzero(self.legal(self.seat))
        if who == RANDOM:
            words = np.array([sum(1 << action for action in allowed)], np.uint64)
            self.move(self.seat, sampling.pick(words, self.stream[0]))
        else:
            self.move(self.seat, int(allowed[0 if who == FIRST else -1]))
        return True

    def begin(self) -> None:
        if self.turn and self.counts:
            self.seating = [self.seating[-1], *self.seating[:-1]]
        self.counts = False
        self.running = Told(int(self.states["rng"][0]))
        setup(self.states[0])

    def move(self, seat: int, action: int) -> None:
        self.running.moves.append(seat * VARIANT.num_actions + action)
        step(self.states[0], seat, action)
        if self.states["outcome"][0] != PLAYING:
            won = int(self.states["winners"][0]) >> np.arange(2) & 1
            self.running.total += 2 * won - 1
            if self.counts:
                self.rewards += 2 * won - 1

    def legal(self, seat: int) -> np.ndarray:
        if not int(self.states["acting"][0]) >> seat & 1:
            return np.array([0, 0, 1])
        return np.array([1, self.states["stones"][0] > 1, 0])


def check(match: Match, i: int, slow: Slow) -> None:
    """Compare all arrays of a game with the slow reading."""
    one = match.arrays
    assert one["states"][i].tobytes() == slow.states.tobytes()
    assert one["finals"][i].tobytes() == slow.final.tobytes()
    assert (one["waiting"][i], one["seats"][i]) == (slow.waiting, slow.seat)
    assert [[OUTSIDE, *range(3)][number + 1] for number in one["seating"][i]] == slow.seating
    assert one["outside"][i] == sum(1 << seat for seat, who in enumerate(slow.seating) if who == OUTSIDE)
    np.testing.assert_array_equal(one["rewards"][i], slow.rewards)
    assert (one["terminated"][i], one["truncated"][i], one["illegal"][i]) == (slow.terminated, False, slow.illegal)
    for place, told in enumerate((slow.running, slow.last)):
        np.testing.assert_array_equal(one["totals"][place, i], told.total)
        assert one["lengths"][place, i] == len(told.moves)
        kept = told.moves[:LOG]
        assert one["moves"][place, i, : len(kept)].tolist() == kept
        if told.moves:
            assert int(one["starts"][place, i]) == told.start
    np.testing.assert_array_equal(match.action_masks[i], slow.legal(slow.seat))
    np.testing.assert_array_equal(match.observations[i], VARIANT.observation(slow.states, 0, slow.seat))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize(("replace", "forfeit"), [(True, True), (False, True), (True, False), (False, False)])
def test_games_go_on_as_a_slow_reading_has_them(replace: bool, forfeit: bool, turn: int, threads: int) -> None:
    seatings = [[OUTSIDE, OUTSIDE], [OUTSIDE, RANDOM], [RANDOM, OUTSIDE], [FIRST, OUTSIDE], [OUTSIDE, LAST]] * 3
    count, mode = len(seatings), Mode(VARIANT.num_actions, replace, forfeit)
    match = Match(
        VARIANT, count, players(), seatings, source=Endless(turn), replace=replace, forfeit=forfeit, threads=threads,
        log=LOG,
    )  # fmt: skip
    luck = [int(generator(seed)) for seed in range(count)]
    match.arrays["states"]["rng"] = luck
    own = streams(0, count, "opponents")
    games = [Slow(luck[i], seatings[i], mode, turn, own[i : i + 1].copy()) for i in range(count)]
    match.begin(np.ones(count, np.bool_))
    for game in games:
        game.order(BEGIN)
    draws, ended = np.random.default_rng(1), 0
    for number in range(40):
        for i, game in enumerate(games):
            check(match, i, game)
        masks = match.action_masks[:, :2]
        choices = np.where(draws.random(count) < 0.5, masks.argmax(axis=1), 1 - masks[:, ::-1].argmax(axis=1))
        if forfeit:
            choices[draws.random(count) < 0.1] = 2
        orders = np.where(match.arrays["waiting"] == NOBODY, BEGIN, ACT)
        orders[draws.random(count) < 0.1] = LEAVE
        orders[(draws.random(count) < 0.1) & (orders == ACT)] = CONTINUE
        before = match.arrays["states"].tobytes()
        if number == 20 and not forfeit:
            match.arrays["choices"][:], match.arrays["orders"][:] = choices, orders
            match.arrays["choices"][4], match.arrays["orders"][4] = 2, ACT
            assert match.run() == 4
            assert match.arrays["states"].tobytes() == before
        match.arrays["choices"][:], match.arrays["orders"][:] = choices, orders
        assert match.run() == -1
        for game, order, choice in zip(games, orders.tolist(), choices.tolist()):
            if order != LEAVE:
                game.order(order, choice)
                ended += game.terminated
    assert ended > 50


def test_a_listed_game_has_its_luck_seating_and_result_whatever_the_slots() -> None:
    """With its own streams, so that no game depends on those that were played before."""
    count = 17
    luck = np.array([generator(seed) for seed in range(count)])
    policy_luck = np.array([generator(seed + 100) for seed in range(count)])
    seating = np.array([[RANDOM, FIRST], [FIRST, RANDOM], [RANDOM, RANDOM], [LAST, FIRST]])[np.arange(count) % 4]
    wanted = []
    for game in range(count):
        stream = streams(0, 1, "test")
        stream["rng"] = policy_luck[game]
        slow = Slow(
            int(luck[game]), [OUTSIDE if who < 0 else who for who in seating[game]], Mode(3, True, False), 0, stream
        )
        slow.rewards, slow.counts, slow.terminated = np.zeros(2, np.float32), False, False
        slow.begin()
        while slow.states["outcome"][0] == PLAYING:
            slow.play()
        wanted.append(int(slow.states["winners"][0]) >> np.arange(2) & 1)
    assert 0 < np.mean(wanted, axis=0)[0] < 1
    for batch in (1, 4, 40):
        rounds = []
        queue = play_listed(VARIANT, players(), seating, luck, policy_luck, batch=batch, on_round=rounds.append)
        assert queue.done.all()
        np.testing.assert_array_equal(queue.shares, wanted)
        np.testing.assert_array_equal(queue.scores, wanted)
        assert rounds
        assert all(one is queue for one in rounds)


def test_plain_batches_go_on_as_a_slow_reading_has_them() -> None:
    count = 12
    match = Match(VARIANT, count, log=LOG, threads=2)
    luck = [int(generator(seed)) for seed in range(count)]
    match.arrays["states"]["rng"] = luck
    stream = streams(0, 1, "test")
    games = [Slow(luck[i], [OUTSIDE, OUTSIDE], Mode(3, True, False), 0, stream) for i in range(count)]
    match.begin(np.ones(count, np.bool_))
    for game in games:
        game.order(BEGIN)
    draws = np.random.default_rng(2)
    for number in range(40):
        for i, game in enumerate(games):
            one = match.arrays
            game.waiting = one["waiting"][i]  # plain batches always wait for the caller
            check(match, i, game)
        masks = match.action_masks[:, :2]
        choices = np.where(draws.random(count) < 0.5, masks.argmax(axis=1), 1 - masks[:, ::-1].argmax(axis=1))
        if number == 20:
            for wrong in (2, -1, 3):
                match.arrays["choices"][:], match.arrays["orders"][:] = choices, ACT
                match.arrays["choices"][7] = wrong
                before = match.arrays["states"].tobytes()
                assert match.run() == 7
                assert match.arrays["states"].tobytes() == before
        match.arrays["choices"][:], match.arrays["orders"][:] = choices, ACT
        assert match.run() == -1
        for game, choice in zip(games, choices.tolist()):
            game.order(ACT, choice)


def test_random_actions_are_uniform_over_sets_and_masks() -> None:
    actions, count = np.array([1, 63, 64, 90]), 8000
    words, mask = np.zeros(2, np.uint64), np.zeros(91, np.int8)
    for action in actions.tolist():
        words[action >> 6] |= np.uint64(1 << (action & 63))
    mask[actions] = 1
    choices = np.zeros(count, np.int64)
    for sample in (
        lambda: sampling.sample_batch(np.tile(words, (count, 1)), streams(1, count, "test"), choices),
        lambda: sampling.sample_rows(np.tile(mask, (count, 1)), streams(2, 1, "test"), choices),
    ):
        sample()
        found = np.bincount(choices, minlength=91)
        assert found[actions].sum() == count
        assert ((found[actions] - count / 4) ** 2 / (count / 4)).sum() < 3 + 4 * np.sqrt(6)
