"""Losses and what surrounds them, against numbers worked out by hand on a few decisions of Nim."""

from dataclasses import replace
from math import exp, log
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from monsterzoo.envs import VectorGame
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.match.compiled_policies import Uniform
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.envs.match.loop import OUTSIDE
from monsterzoo.policies.heuristics import Heuristic
from monsterzoo.policies.networks.inference import make_net
from monsterzoo.training.algorithms.layers import legal_log_softmax
from monsterzoo.training.algorithms.network import Network
from monsterzoo.training.algorithms.ppo import PPOTrainer, stagger
from monsterzoo.training.algorithms.rollout_learning import RolloutTrainer
from monsterzoo.training.algorithms.rollouts import Samples, Sampling, Scratch, draw_candidates
from monsterzoo.training.runs.config import PPOConfig, RolloutConfig
from nim import NIM

PPO = PPOConfig("nim_v0", num_envs=4, steps=4, width=8, opponents=(), imitate="", evaluate=(), log="none", updates=10)
NEW = [[0.8, 0.2, 0], [0.7, 0.3, 0], [0.55, 0.45, 0], [0.3, 0.7, 0], [1.0, 0, 0]]  # the last one was forced
OLD = [0.5, 0.5, 0.5, 0.5, 0.01]  # of the actions that were chosen
ACTIONS = [0, 1, 0, 0, 0]
GAINS = [2.0, -1.0, 0.5, 3.0, -0.1]
VALUES, RETURNS = [0.1, 0.2, 0.3, 0.4, 0.5], [1.0, -1.0, 1.0, 0.0, 0.5]


def told(probabilities: list[list[float]], values: torch.Tensor) -> Any:
    """A network that answers so, whatever it is shown."""
    logits = torch.tensor([[log(one) if one else 9.0 for one in row] for row in probabilities])
    return SimpleNamespace(evaluate=lambda observations, masks: (*legal_log_softmax(logits, masks), values))


EXPECTED = torch.tensor(VALUES)[:, None]


def prepared(**chosen: Any) -> PPOTrainer:
    trainer = PPOTrainer(replace(PPO, **chosen), NIM)
    trainer.network = told(NEW, EXPECTED)  # type: ignore[assignment]
    buffer = trainer.buffer
    buffer.action_masks[:5] = np.array(NEW) > 0
    buffer.actions[:5], buffer.log_probs[:5] = ACTIONS, np.log(OLD)
    return trainer


def ppo_loss(trainer: PPOTrainer, entropy_coef: float = 0.0) -> tuple[float, dict[str, float]]:
    columns = (np.array(values, np.float32) for values in (GAINS, RETURNS))
    loss, numbers = trainer.loss(np.arange(5), *columns, entropy_coef)
    return float(loss), {name: float(number) for name, number in numbers.items()}


RATIOS = [1.6, 0.6, 1.1, 0.6, 100.0]


def test_ppos_loss_and_its_parts_are_those_of_the_paper() -> None:
    clipped = [min(r * g, min(max(r, 0.7), 1.3) * g) for r, g in zip(RATIOS, GAINS)]
    assert clipped == pytest.approx([2.6, -0.7, 0.55, 1.8, -10.0])
    entropy = -np.mean([sum(p * log(p) for p in row if p) for row in NEW])
    value = np.mean([(v - r) ** 2 for v, r in zip(VALUES, RETURNS)])
    loss, numbers = ppo_loss(prepared(clip_range=0.3, value_coef=0.25), 0.5)
    wanted = {"policy_loss": -np.mean(clipped), "value_loss": value, "entropy": entropy, "clipped": 4 / 5}
    assert numbers == pytest.approx({**wanted, "kl": np.mean([r - 1 - log(r) for r in RATIOS])}, rel=1e-5)
    assert loss == pytest.approx(-np.mean(clipped) + 0.25 * value - 0.5 * entropy, rel=1e-5)


def test_impossible_choices_of_a_teacher_have_bounded_ratios() -> None:
    trainer = prepared()
    trainer.buffer.log_probs[0] = -100
    assert ppo_loss(trainer)[1]["kl"] == pytest.approx((exp(20) - 1 - 20) / 5, rel=1e-2)


def test_a_teachers_choices_are_made_likelier() -> None:
    trainer = prepared(imitate="random", imitate_share=0.5, value_coef=0.0)
    chosen = np.mean([log(row[action]) for row, action in zip(NEW, ACTIONS)])
    assert ppo_loss(trainer)[0] == pytest.approx(-chosen)
    trainer.updates = 5  # the share is over
    assert ppo_loss(trainer)[0] != pytest.approx(-chosen)


def test_the_magnet_draws_by_its_divergence() -> None:
    trainer = prepared(magnet_coef=0.1)
    earlier = [[0.5, 0.5, 0], [0.7, 0.3, 0], [0.5, 0.5, 0], [0.5, 0.5, 0], [1.0, 0, 0]]
    trainer.magnet = told(earlier, EXPECTED)  # type: ignore[assignment]
    divergence = np.mean([sum(p * log(p / q) for p, q in zip(*rows) if p) for rows in zip(NEW, earlier)])
    plain, (loss, numbers) = ppo_loss(prepared())[0], ppo_loss(trainer)
    assert numbers["magnet_kl"] == pytest.approx(divergence, rel=1e-5)
    assert loss == pytest.approx(plain + 0.1 * divergence, rel=1e-5)


def test_every_decision_is_learned_from_once_an_epoch_with_normalised_advantages() -> None:
    trainer = PPOTrainer(replace(PPO, num_envs=16, steps=16, minibatch=50, epochs=3, final_entropy_coef=0.2), NIM)
    trainer.play()
    trainer.updates, calls = 5, []
    rows, advantages, returns = trainer.buffer.advantages(trainer.config.gamma, trainer.config.gae_lambda)
    explained = 1 - np.var(returns - trainer.buffer.values[rows]) / np.var(returns)

    def loss(*arguments: Any) -> Any:
        calls.append(arguments)
        return trainer.network.value.bias.sum(), {"number": torch.tensor(float(len(calls)))}

    trainer.loss = loss  # type: ignore[method-assign]
    report = trainer.learn()
    parts = round(len(rows) / 50)
    assert 1 < parts < len(rows) / 40
    assert len(calls) == 3 * parts
    for epoch in range(3):
        part = calls[epoch * parts : (epoch + 1) * parts]
        order = np.concatenate([one[0] for one in part])
        assert sorted(order) == rows.tolist()
        for place, wanted in ((1, (advantages - advantages.mean()) / advantages.std()), (2, returns)):
            np.testing.assert_allclose(
                np.concatenate([one[place] for one in part]), wanted[np.searchsorted(rows, order)], atol=1e-5
            )
    assert (np.concatenate([one[0] for one in calls[:parts]]) != rows).any()  # in random order
    assert {round(one[3], 9) for one in calls} == {0.006}  # half of the way to a fifth
    assert report["entropy_coef"] == pytest.approx(0.006)
    assert report["learning_rate"] == pytest.approx(1e-3 * (1 - 0.5 * 0.95))
    assert [group["lr"] for group in trainer.optimizer.param_groups] == [report["learning_rate"]]
    assert report["number"] == pytest.approx((1 + len(calls)) / 2)
    assert (report["decisions"], report["explained"]) == (len(rows), pytest.approx(explained, abs=1e-5))
    assert trainer.buffer.count == (trainer.buffer.open >= 0).sum()


def test_gradients_are_no_longer_than_their_limit_and_start_anew() -> None:
    trainer = PPOTrainer(replace(PPO, max_grad_norm=0.25), NIM)
    bias = trainer.network.value.bias
    for factor, wanted in ((100.0, 0.25), (0.1, 0.1)):
        before = bias.item()
        trainer.descend(factor * bias.sum())
        assert bias.grad.item() == pytest.approx(wanted, rel=1e-4)
        assert bias.item() < before


def test_earlier_networks_are_kept_now_and_then_up_to_a_number() -> None:
    trainer, sizes = PPOTrainer(replace(PPO, snapshot_every=2, snapshots=2, opponents=("past",)), NIM), []
    newest = []
    for _ in range(7):
        weights = trainer.network.value.bias.item()
        trainer.update()
        sizes.append(len(trainer.pool))
        newest.append(trainer.pool[-1]["value.bias"].item() == weights)
    assert sizes == [1, 1, 2, 2, 2, 2, 2]
    assert newest == [True, False, True, False, True, False, True]


def test_the_magnet_is_replaced_now_and_then() -> None:
    trainer, replaced = PPOTrainer(replace(PPO, magnet_coef=0.1, magnet_every=3), NIM), []
    for _ in range(5):
        weights = trainer.network.value.bias.item()
        trainer.update()
        assert trainer.magnet is not None
        replaced.append(trainer.magnet.value.bias.item() == weights)
    assert replaced == [True, False, False, True, False]


def test_the_magnet_follows_a_network_that_imitates() -> None:
    chosen = {"magnet_coef": 0.1, "magnet_every": 100, "imitate": "random", "imitate_share": 0.3}
    trainer, replaced = PPOTrainer(replace(PPO, **chosen), NIM), []  # type: ignore[arg-type]
    for _ in range(5):
        weights = trainer.network.value.bias.item()
        trainer.update()
        assert trainer.magnet is not None
        replaced.append(trainer.magnet.value.bias.item() == weights)
    assert replaced == [True, True, True, False, False]


def test_who_plays_is_drawn_for_every_game() -> None:
    trainer = PPOTrainer(replace(PPO, num_envs=1000, self_play=0.25, opponents=("random", "random", "past")), NIM)
    own = trainer.seating == OUTSIDE
    assert own.all(axis=1).mean() == pytest.approx(0.25, abs=0.05)
    one = own[own.sum(axis=1) == 1]
    assert one.shape[0] + own.all(axis=1).sum() == 1000
    assert one[:, 0].mean() == pytest.approx(0.5, abs=0.06)
    rivals = np.bincount(trainer.seating[~own], minlength=3) / (~own).sum()
    np.testing.assert_allclose(rivals, 1 / 3, atol=0.06)


# --- Learning from rollouts ---

ROLLOUTS = RolloutConfig("nim_v0", num_envs=4, width=8, threads=1, evaluate=(), log="none", updates=10)
TRIED = [[True, True, False], [True, False, False], [True, True, False]]
WORTH = [[0.9, 0.1, 0.0], [0.4, 0.0, 0.0], [0.3, 0.5, 0.0]]
OUTCOMES = [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
CHANCES = [[0.75, 0.25], [0.6, 0.4], [0.5, 0.5]]


def rollout_loss(imitating: bool, **chosen: Any) -> tuple[float, list[float]]:
    trainer = RolloutTrainer(replace(ROLLOUTS, **chosen), NIM)
    values = torch.tensor(CHANCES).log() + 3  # logits: a constant changes nothing
    trainer.network = told(NEW[:3], values)  # type: ignore[assignment]
    trainer.imitating = imitating
    batch = {"observations": torch.zeros(3, 8), "action_masks": (torch.tensor(NEW[:3]) > 0).to(torch.int8)}
    columns = {"tried": torch.tensor(TRIED), "values": torch.tensor(WORTH), "outcomes": torch.tensor(OUTCOMES)}
    loss, numbers = trainer._loss({**batch, **columns})
    return float(loss), [float(number) for number in numbers.values()]


@pytest.mark.parametrize("imitating", [False, True])
def test_the_loss_of_rollout_learning_and_its_parts(imitating: bool) -> None:
    loss, (policy, value, entropy, explained) = rollout_loss(imitating, target_temperature=0.2, value_coef=0.25)
    if imitating:
        assert policy == pytest.approx(-np.mean([log(0.8), log(0.2), log(0.7), log(0.55), log(0.45)]))
    else:
        # Half of the difference of two log-probabilities, less half of the difference of their values, for both.
        halves = [(0.2 * log(0.8 / 0.2) - 0.8) / 2, 0, (0.2 * log(0.55 / 0.45) + 0.2) / 2]
        assert policy == pytest.approx(np.mean([2 * half**2 for half in halves]) / 0.2)
    crosses = [sum(o * log(c) for o, c in zip(*rows)) for rows in zip(OUTCOMES, CHANCES)]
    assert value == pytest.approx(-np.mean(crosses))
    assert entropy == pytest.approx(-np.mean([sum(p * log(p) for p in row if p) for row in NEW[:3]]))
    assert explained == pytest.approx(1 - np.var([0.25, -0.1, -0.5]) / np.var([1, 0.5, 0]))
    assert loss == pytest.approx(policy + 0.25 * value)


def test_samples_are_a_share_of_the_decisions_and_at_most_so_many_a_game() -> None:
    trainer = RolloutTrainer(replace(ROLLOUTS, num_envs=400, sample_share=0.3, self_play=1.0), NIM)
    trainer.play()
    decisions = trainer.samples.lengths.sum() - 200  # the last move is forced in half of all games, about
    assert trainer.samples.counts.sum() / decisions == pytest.approx(0.3, abs=0.05)
    assert trainer.samples.finished.all()
    few = RolloutTrainer(replace(ROLLOUTS, num_envs=100, samples=2), NIM)
    report = few.play()
    assert few.samples.counts.max() == 2
    assert report == {
        "games": 100, "length": few.samples.lengths.mean(), "steps": few.samples.lengths.sum()
    }  # fmt: skip


def test_the_network_plays_all_sides_in_a_share_of_the_games_else_one() -> None:
    trainer = RolloutTrainer(replace(ROLLOUTS, num_envs=600, self_play=0.4), NIM)
    trainer.play()
    counts, seats = trainer.samples.counts, trainer.samples.seats
    several = np.flatnonzero(counts >= 3)  # a seat of a game has every other decision
    both = np.array([len(set(seats[game, : counts[game]].tolist())) == 2 for game in several])
    assert 0.2 < both.mean() < 0.6
    alone = [seats[game, 0] for game in several[~both]]
    assert np.mean(alone) == pytest.approx(0.5, abs=0.15)


def test_rollouts_of_a_last_move_know_the_winner() -> None:
    """With two stones left, taking both wins; taking one loses, since the other seat takes the last."""
    trainer = RolloutTrainer(replace(ROLLOUTS, num_envs=200, self_play=1.0), NIM)
    trainer.play()
    batch = trainer.samples.to_batch(3)
    stones = NIM.variant().layout.read(batch["observations"], "count").reshape(-1)
    last = stones == 2
    assert last.sum() > 50
    np.testing.assert_array_equal(batch["values"][last], np.tile([0.0, 1.0, 0.0], (last.sum(), 1)))
    assert (batch["action_masks"] == [1, 1, 0]).all()
    assert (batch["outcomes"].sum(1) == 1).all()
    assert {tuple(row) for row in batch["outcomes"][last].tolist()} == {(0.0, 1.0), (1.0, 0.0)}


def test_a_network_that_is_its_own_rollout_policy_plays_on_for_its_sides() -> None:
    """Where everybody takes one stone a move, who leaves an even number of stones takes the last."""
    trainer = RolloutTrainer(replace(ROLLOUTS, num_envs=64, self_play=1.0, rollout_policy="net"), NIM)
    trainer.network.policy.bias.data[:] = torch.tensor([60.0, 0.0, 0.0])
    trainer.play()
    batch = trainer.samples.to_batch(3)
    stones = NIM.variant().layout.read(batch["observations"], "count").reshape(-1, 1).astype(int)
    left = stones - np.array([[1, 2]])
    np.testing.assert_array_equal(batch["values"][:, :2], left % 2 == 0)
    assert (batch["values"][:, 0] == batch["outcomes"][:, 0]).all(), "and so it went"
    assert set(stones.ravel().tolist()) == set(range(2, 13))


def test_the_rollout_policy_plays_the_other_side_and_all_rollouts_else() -> None:
    """The network always takes one stone, the random player one or two."""
    trainer = RolloutTrainer(replace(ROLLOUTS, num_envs=200, self_play=0.0, rollout_policy="random"), NIM)
    trainer.network.policy.bias.data[:] = torch.tensor([60.0, 0.0, 0.0])
    trainer.play()
    batch, counts = trainer.samples.to_batch(3), trainer.samples.counts
    stones = NIM.variant().layout.read(batch["observations"], "count").reshape(-1).astype(int)
    games = np.repeat(np.arange(200), counts)
    fallen = -np.diff(stones)[games[1:] == games[:-1]]
    assert set(fallen.tolist()) == {2, 3}
    assert fallen.mean() == pytest.approx(2.5, abs=0.2)
    # Of three stones we leave two: half of the rollouts take one of them, and we the last.
    assert batch["values"][stones == 3, 0].mean() == pytest.approx(0.5, abs=0.2)
    assert (batch["values"][stones == 3, 1] == 0).all(), "the last one is the other's"


@pytest.mark.parametrize(
    ("game", "chosen", "by_network", "policy"),
    [
        (None, {}, True, Uniform()),
        (None, {"rollout_policy": "random"}, False, Uniform()),
        (None, {"rollout_policy": "net"}, True, Uniform()),
        ("pikit_v0", {}, False, Heuristic()),
        ("pikit_v0", {"rollout_policy": "net"}, True, Heuristic()),
        ("pikit_v0", {"rollout_policy": "random"}, False, Uniform()),
    ],
)
def test_who_plays_rollouts(game: str | None, chosen: dict[str, Any], by_network: bool, policy: object) -> None:
    settings = {"sample_share": 0.25, "self_play": 0.75, "candidates": 2, "imitate_share": 0.5, **chosen}
    trainer = RolloutTrainer(replace(ROLLOUTS, game=game or NIM.name, **settings), None if game else NIM)
    assert (type(trainer.rollout_policy), trainer.rollout_policy) == (type(policy), policy)
    assert trainer.sampling.imitate == (game is not None), "where there is a heuristic"
    trainer.updates = 5  # the share is over
    assert trainer.sampling == Sampling(False, 0.25, 0.75, 2, by_network)


def test_candidates_are_distinct_legal_actions_and_the_first_one_is_played() -> None:
    guide = make_net(Network.for_variant(NIM.variant(), 8, 1).arrays(), temperature=1.0)
    scratch = Scratch(np.array([0b11], np.uint64), np.zeros(1, np.uint64), None, None, None)
    row, stream, played = np.zeros(3, np.uint64), streams(1, 1, "test")[0], set()
    for _ in range(20):
        for most, count in ((1, 1), (2, 2), (3, 2)):
            tried = np.zeros(3, np.bool_)
            first = draw_candidates(guide, row, most, stream, scratch, tried)
            assert tried[first]
            assert (tried.sum(), tried[2]) == (count, False)
            played.add((most, first))
    assert played == {(most, first) for most in (1, 2, 3) for first in (0, 1)}
    assert scratch.words.tolist() == [0b11]


def test_samples_of_all_games_are_rows_of_one_batch() -> None:
    variant = find_game("pikit_v0").variant(players=3)
    samples = Samples.empty(variant, 3, 2)
    samples.counts[:] = 2, 0, 1
    for number, (game, k) in enumerate([(0, 0), (0, 1), (2, 0)]):
        samples.rows.view(np.int8)[game, k, :3] = number, 7, number
        samples.legal[game, k] = 1 << number, 1 << 10
        samples.tried[game, k, 74] = samples.values[game, k, 74] = 1
        samples.outcomes[game, k] = number, 0, 1
    samples.values[0, 0, 74] = 0.25
    batch = samples.to_batch(variant.num_actions)
    assert batch["observations"].shape == (3, variant.layout.size)
    assert batch["observations"][:, :3].tolist() == [[0, 7, 0], [1, 7, 1], [2, 7, 2]]
    assert [np.flatnonzero(mask).tolist() for mask in batch["action_masks"]] == [[0, 74], [1, 74], [2, 74]]
    assert batch["action_masks"].shape == batch["tried"].shape == batch["values"].shape == (3, variant.num_actions)
    assert batch["tried"].sum(1).tolist() == [1, 1, 1]
    assert batch["values"][:, 74].tolist() == [0.25, 1, 1]
    assert batch["outcomes"].tolist() == [[0, 0, 1], [1, 0, 1], [2, 0, 1]]


def test_without_any_choice_there_is_nothing_to_learn() -> None:
    trainer = RolloutTrainer(ROLLOUTS, NIM)
    trainer.samples.counts[:], trainer.imitating = 0, False
    with pytest.raises(ValueError, match=r"nobody had a choice; more games \(--num-envs 4\) are needed"):
        trainer.learn()


# --- What PPO learns from ---


def test_runs_begin_at_random_moments_of_random_games() -> None:
    variant, count = NIM.variant(), 200
    states, lengths = stagger(variant, count, 3, np.random.default_rng(1))
    games, moves, seen = VectorGame(NIM, count, seed=3), np.zeros(count, int), [set() for _ in range(count)]
    for _ in range(40):
        for i, known in enumerate(seen):
            known.add((games.states[i].tobytes(), int(moves[i])))
        games.step(games.sample_actions())
        moves = np.where(games.terminated, 0, moves + 1)
    assert all((states[i].tobytes(), int(lengths[i])) in known for i, known in enumerate(seen))
    assert set(lengths.tolist()) >= set(range(7))
    again, other = (stagger(variant, count, 3, np.random.default_rng(luck)) for luck in (1, 2))
    assert again[0].tobytes() == states.tobytes()
    assert (other[1] != lengths).any()
    _, short = stagger(variant, count, 3, np.random.default_rng(1), longest=3)
    assert set(short.tolist()) == {0, 1, 2}, "of games that take very long only the beginning is played"


def test_an_update_tells_how_many_games_ended_and_how_long_they_were() -> None:
    trainer = PPOTrainer(replace(PPO, num_envs=32, steps=9), NIM)
    ended, pay = list[int](), trainer.buffer.pay

    def watched(rewards: np.ndarray, over: np.ndarray) -> None:
        ended.extend(trainer.games.arrays["lengths"][1, over].tolist())
        pay(rewards, over)

    trainer.buffer.pay = watched  # type: ignore[method-assign]
    report = trainer.play()
    assert report == {"games": len(ended), "length": pytest.approx(np.mean(ended)), "steps": 32 * 9}
    assert 2 <= min(ended) <= max(ended) <= 12


def test_opponents_are_made_anew_for_every_update() -> None:
    trainer = PPOTrainer(replace(PPO, opponents=("past", "random"), self_play=0.0), NIM)
    trainer.play()
    (first,) = trainer.pool
    trainer.pool.append({name: values + 1 for name, values in first.items()})
    random, played, drawn = np.random.default_rng(0), set(), set()
    observations, masks = np.ones((64, 24), np.int8), np.tile(np.array([1, 1, 0], np.int8), (64, 1))
    for _ in range(12):
        trainer._renew_opponents(random)
        past, uniform = trainer.games.players
        weights = past.compiled.weights.policy_bias
        np.testing.assert_array_equal(weights, trainer.past.policy.bias.detach())
        played.add(int(weights[0] - first["policy.bias"][0]))
        drawn.add(uniform.act(Decisions(NIM.variant(), observations, masks, np.zeros(64, int))).tobytes())
    assert played == {0, 1}, "any of the earlier networks"
    assert len(drawn) == 12


def test_decisions_go_into_the_buffer_as_they_were_shown_and_made() -> None:
    trainer = PPOTrainer(replace(PPO, game="pikit_v0", players=2, options={"max_turns": 40}, num_envs=16, steps=6))
    games, buffer, shown = trainer.games, trainer.buffer, []
    act = games.act

    def watched(choices: np.ndarray) -> None:
        parts = (games.observations, games.action_masks, games.arrays["seats"], choices)
        shown.append([part.copy() for part in parts])
        act(choices)
        ended[:] = games.arrays["terminated"] | games.arrays["truncated"]

    ended = np.zeros(16, np.bool_)
    games.act = watched  # type: ignore[method-assign]
    report = trainer.play()
    assert report["steps"] == 16 * 6
    assert len(shown) == 6
    row = 0
    for observations, masks, _, choices in shown:
        assert masks[np.arange(16), choices].all(), "forced moves too"
        asked = np.flatnonzero(masks.sum(1) > 1)
        part = slice(row, row + len(asked))
        np.testing.assert_array_equal(buffer.observations[part], observations[asked])
        np.testing.assert_array_equal(buffer.action_masks[part], masks[asked])
        np.testing.assert_array_equal(buffer.actions[part], choices[asked])
        with torch.no_grad():
            log_probs, _, values = trainer.network.evaluate(*map(torch.from_numpy, (observations[asked], masks[asked])))
        np.testing.assert_allclose(
            buffer.log_probs[part], log_probs.numpy()[np.arange(len(asked)), choices[asked]], atol=1e-5
        )
        np.testing.assert_allclose(buffer.values[part], values[:, 0].numpy(), atol=1e-5)
        row += len(asked)
    assert buffer.count == row
    last = shown[-1]
    asked = np.flatnonzero(last[1].sum(1) > 1)
    going_on = asked[~ended[asked]]
    assert (buffer.open[going_on, last[2][going_on]] >= row - len(asked)).all(), "each waits for what comes of it"


def test_a_teacher_decides_in_the_networks_place_and_its_choices_are_learned() -> None:
    """A network that is sure of the last action, and a teacher that takes the first."""
    trainer = PPOTrainer(replace(PPO, imitate="toys:FirstLegal", imitate_share=0.5), NIM)
    trainer.network.policy.bias.data[:] = torch.tensor([0.0, 20.0, 0.0])
    trainer.play()
    assert set(trainer.buffer.actions[: trainer.buffer.count].tolist()) == {0}
    trainer.updates, trainer.buffer.count = 5, 0
    trainer.play()
    assert set(trainer.buffer.actions[: trainer.buffer.count].tolist()) == {1}
