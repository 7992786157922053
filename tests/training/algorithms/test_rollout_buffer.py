"""Advantages over a seat's own decisions, against a slow and obvious reading of the same definition."""

from types import SimpleNamespace

import numpy as np
import pytest
from monsterzoo.training.algorithms.rollout_buffer import NONE, RolloutBuffer

GAMMA, GAE_LAMBDA = 0.9, 0.8


def variant(players: int) -> SimpleNamespace:
    return SimpleNamespace(players=players, num_actions=1, layout=SimpleNamespace(size=8))


def add(decisions: RolloutBuffer, games: np.ndarray, seats: np.ndarray, values: np.ndarray) -> None:
    count = len(games)
    decisions.add(
        games,
        seats,
        observations=np.tile(values[:, None], 8).astype(np.int8),
        action_masks=np.ones((count, 1), np.int8),
        actions=np.zeros(count, np.int64),
        log_probs=np.zeros(count, np.float32),
        values=values.astype(np.float32),
    )


class Chronicle:
    """Every decision of every game and seat as a list, with what was paid after it."""

    def __init__(self) -> None:
        self.chains: dict[tuple[int, int, int], list[list[float]]] = {}  # (game, episode, seat): [value, paid]
        self.over: set[tuple[int, int]] = set()

    def advantage(self, chain: tuple[int, int, int], index: int) -> float:
        """The sum of discounted errors from a decision on, as GAE is defined."""
        decisions = self.chains[chain]
        total, weight = 0.0, 1.0
        for k in range(index, len(decisions)):
            value, paid = decisions[k]
            last = k + 1 == len(decisions)
            if last and chain[:2] not in self.over:
                break  # its follow-up is not known: estimates end at its value
            total += weight * (paid + (0.0 if last else GAMMA * decisions[k + 1][0]) - value)
            weight *= GAMMA * GAE_LAMBDA
        return total


@pytest.mark.parametrize("players", [2, 3, 4])
def test_advantages_follow_each_seats_own_decisions(players: int) -> None:
    """Random games: random movers, some decisions not the learner's, rewards to everybody at any time."""
    random = np.random.default_rng(players)
    games, steps, rollouts = 5, 12, 6
    decisions, chronicle = RolloutBuffer(variant(players), games, steps), Chronicle()
    episode = np.zeros(games, int)
    rows: dict[float, tuple[tuple[int, int, int], int]] = {}  # a decision's value is unique: find it by that
    learned: set[float] = set()
    for _ in range(rollouts):
        for _ in range(steps):
            movers, mine = random.integers(players, size=games), random.random(games) < 0.7
            asked = np.flatnonzero(mine)
            values = random.random(len(asked)).astype(np.float32)
            add(decisions, asked, movers[asked], values)
            for game, value in zip(asked, values):
                chain = chronicle.chains.setdefault((game, episode[game], int(movers[game])), [])
                rows[float(value)] = ((game, episode[game], int(movers[game])), len(chain))
                chain.append([float(value), 0.0])
            paid, over = random.normal(size=(games, players)).astype(np.float32), random.random(games) < 0.15
            decisions.pay(paid, over)
            for (game, number, seat), chain in chronicle.chains.items():
                if number == episode[game]:
                    chain[-1][1] += float(paid[game, seat])
            chronicle.over |= {(game, episode[game]) for game in np.flatnonzero(over)}
            episode += over
        chosen, advantages, returns = decisions.advantages(GAMMA, GAE_LAMBDA)
        for row, advantage, target in zip(chosen, advantages, returns):
            value = float(decisions.values[row])
            assert value not in learned, "no decision is learned from twice"
            learned.add(value)
            assert advantage == pytest.approx(chronicle.advantage(*rows[value]), abs=1e-4)
            assert target == pytest.approx(advantage + value, abs=1e-5)
        decisions.carry_over()
        assert decisions.count == (decisions.open != NONE).sum()
    known = {
        value
        for value, (chain, index) in rows.items()
        if chain[:2] in chronicle.over or index + 1 < len(chronicle.chains[chain])
    }
    assert learned == known, "every decision is learned from once its follow-up is known"


def test_the_end_of_the_game_pays_seats_that_did_not_move_last() -> None:
    decisions = RolloutBuffer(variant(3), 1, 4)
    for seat in range(3):
        add(decisions, np.array([0]), np.array([seat]), np.zeros(1))
        decisions.pay(np.zeros((1, 3), np.float32), np.array([False]))
    add(decisions, np.array([0]), np.array([0]), np.zeros(1))
    decisions.pay(np.array([[1.0, -0.5, -0.5]], np.float32), np.array([True]))
    rows, advantages, _ = decisions.advantages(1.0, 1.0)
    assert rows.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(advantages, [1, -0.5, -0.5, 1])


def test_open_decisions_move_to_the_front_with_what_they_were_paid() -> None:
    decisions = RolloutBuffer(variant(2), 2, 2)
    add(decisions, np.array([0, 1]), np.array([0, 1]), np.array([1.0, 2.0]))
    decisions.pay(np.array([[5, 6], [7, 8]], np.float32), np.array([True, False]))
    rows, _, _ = decisions.advantages(1.0, 1.0)
    assert rows.tolist() == [0]
    decisions.carry_over()
    assert decisions.count == 1
    assert decisions.open.tolist() == [[NONE, NONE], [NONE, 0]]
    assert decisions.rewards[0] == 8
    assert decisions.observations[0, 0] == 2
