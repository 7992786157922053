"""Learning from rollouts: what is compared, whom it imitates first, what it learns, and its command."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from monsterzoo.cli import main
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies import heuristics
from monsterzoo.policies.networks.files import WEIGHTS, read
from monsterzoo.policies.networks.policy import NeuralPolicy
from monsterzoo.training.algorithms.ppo import PPOTrainer
from monsterzoo.training.algorithms.rollout_learning import RolloutTrainer, centred
from monsterzoo.training.runs.config import PPOConfig, RolloutConfig, RunConfig
from monsterzoo.training.runs.run import CHECKPOINT, train
from nim import NIM, positions
from test_ppo import same

SMALL = RolloutConfig(game="pikit_v0", players=4, num_envs=8, width=16, updates=4, threads=1, evaluate=())


def test_samples_compare_distinct_legal_actions_of_the_networks_sides() -> None:
    trainer = RolloutTrainer(replace(SMALL, self_play=0.0, imitate_share=0.0, num_envs=64))
    trainer.update()
    samples = trainer.samples
    for game in range(64):
        seats = samples.seats[game, : samples.counts[game]]
        assert len(set(seats % 2)) == 1  # the other team is the heuristic's
    batch = samples.to_batch(trainer.variant.num_actions)
    tried, values = batch["tried"], batch["values"]
    assert (tried <= (batch["action_masks"] > 0)).all()
    np.testing.assert_array_equal(tried.sum(1), np.minimum(batch["action_masks"].sum(1), SMALL.candidates))
    assert ((values >= 0) & (values <= 1)).all()
    assert (values[~tried] == 0).all()
    np.testing.assert_allclose(batch["outcomes"].sum(1), 1, rtol=1e-6)


def test_the_heuristic_is_imitated_first() -> None:
    trainer, imitated, tried = RolloutTrainer(replace(SMALL, imitate_share=0.5)), [], []
    for _ in range(4):
        imitated.append(trainer.sampling.imitate)
        trainer.update()
        tried.append(int(trainer.samples.to_batch(trainer.variant.num_actions)["tried"].sum(1).max()))
    assert imitated == [True, True, False, False]
    assert tried == [1, 1, SMALL.candidates, SMALL.candidates]


def test_rollouts_and_the_other_sides_can_be_a_networks() -> None:
    trainer = RolloutTrainer(
        replace(SMALL, players=2, rollout_policy="pretrained", self_play=0.0, imitate_share=0.0, num_envs=64)
    )
    network = make_player(trainer.variant, "pretrained")
    np.testing.assert_array_equal(trainer.rollout_policy.weights.stem, network.compiled.weights.stem)
    worth = []
    for policy in (trainer.rollout_policy, heuristics.Heuristic()):
        trainer.rollout_policy, states = policy, trainer.states.copy()
        trainer.play_on(trainer.sampling, streams(0, 64, "lessons"))
        trainer.states[:] = states  # the same games again
        worth.append(trainer.samples.to_batch(trainer.variant.num_actions)["outcomes"][:, 0].mean())
    assert worth[0] < worth[1]  # an untrained network comes to less against the stronger player


def test_centred_numbers_have_no_average_and_nothing_where_nothing_was_tried() -> None:
    numbers = torch.tensor([[0.2, 0.8, 5.0], [1.0, 7.0, 7.0]])
    tried = torch.tensor([[True, True, False], [True, False, False]])
    torch.testing.assert_close(centred(numbers, tried), torch.tensor([[-0.3, 0.3, 0.0], [0.0, 0.0, 0.0]]))


def test_the_command_line_has_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "--method", "rollouts", "--game", "pikit_v0", "--updates", "2", "--num-envs", "4", "--width", "8"]
    assert main([*words, "--evaluate", "--log", "none", "--out", str(tmp_path / "run")]) == 0
    assert f"the policy is 'net:{tmp_path / 'run'}'" in capsys.readouterr().out
    assert isinstance(RunConfig.read(tmp_path / "run" / "run.json"), RolloutConfig)
    assert main([*words, "--rollout-policy", "nobody"]) == 2
    assert "there is no policy 'nobody'" in capsys.readouterr().err
    assert main([*words, "--rollout-policy", "search:10"]) == 2
    assert "--rollout-policy search:10 does not play inside compiled loops" in capsys.readouterr().err
    assert main([*words, "--candidates", "1"]) == 2
    assert "--candidates 1 is not allowed; allowed: an integer from 2" in capsys.readouterr().err
    assert main(["train", "--resume", "--method", "ppo", "--out", str(tmp_path / "run")]) == 2
    assert "--method ppo contradicts the run" in capsys.readouterr().err
    assert main(["train", "--method", "dreams", "--game", "pikit_v0"]) == 2
    assert "--method dreams is not allowed; allowed: 'ppo', 'rollouts'" in capsys.readouterr().err
    assert main([*words[:1], "--game", "pikit_v0", "--ray", "local", "--out", str(tmp_path / "other")]) == 2
    assert "--ray is for --method rollouts; --method ppo runs on one machine" in capsys.readouterr().err


# --- What it learns ---

TINY = RolloutConfig(
    game="nim_v0", num_envs=128, samples=16, self_play=1.0, width=32, minibatch=256, target_temperature=0.1, updates=30,
    threads=1, evaluate=("random",), evaluate_games=64, log="none",
)  # fmt: skip


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    out = tmp_path_factory.mktemp("runs") / "nim"
    train(replace(TINY, out=str(out)), game=NIM)
    return out


def test_it_finds_the_best_play_of_nim(learned: Path) -> None:
    known = positions()
    policy = NeuralPolicy(known.variant, *read(learned / WEIGHTS))
    won = known.best >= 0  # the others are lost whatever one does
    chosen = policy.act(known.decisions)
    np.testing.assert_array_equal(chosen[won], known.best[won])


def test_interrupted_and_resumed_equals_uninterrupted_on_any_number_of_threads(learned: Path, tmp_path: Path) -> None:
    half = replace(TINY, out=str(tmp_path / "half"), threads=2)
    trainer = RolloutTrainer(half, NIM)
    for _ in range(5):
        trainer.update()
    trainer.save(tmp_path / "half")
    trainer.update()  # work after the checkpoint is lost, and made again
    again = RolloutTrainer(half, NIM)
    again.restore(tmp_path / "half")
    while again.progress < 1:
        again.update()
    again.save(tmp_path / "half")
    one, other = read(learned / WEIGHTS)[0], read(tmp_path / "half" / WEIGHTS)[0]
    assert {key: values.tobytes() for key, values in one.items()} == {key: v.tobytes() for key, v in other.items()}
    kept = [torch.load(folder / CHECKPOINT, weights_only=True) for folder in (learned, tmp_path / "half")]
    assert kept[0].keys() == kept[1].keys()
    for part in kept[0].keys() - {"progress"}:
        assert same(kept[0][part], kept[1][part])


def test_a_run_may_start_from_another_ones_network(learned: Path, tmp_path: Path) -> None:
    policy = read(learned / WEIGHTS)[0]
    trainer = RolloutTrainer(replace(TINY, out=str(tmp_path)), NIM)
    trainer.network.start_from(policy, "test")
    for name, values in trainer.network.arrays().items():
        np.testing.assert_allclose(values, policy[name], rtol=1e-6)
    with pytest.raises(ValueError, match="test has another shape: stem"):
        RolloutTrainer(replace(TINY, width=16), NIM).network.start_from(policy, "test")


def test_values_of_another_kind_are_not_taken_over(learned: Path) -> None:
    """A network for rollouts has a value for each side; one that expects a return keeps its own."""
    policy, trainer = read(learned / WEIGHTS)[0], PPOTrainer(PPOConfig("nim_v0", num_envs=2, width=32, imitate=""), NIM)
    trainer.network.start_from(policy, "test")
    arrays = trainer.network.arrays()
    np.testing.assert_allclose(arrays["policy.weight"], policy["policy.weight"], rtol=1e-6)
    assert arrays["value.weight"].shape == (1, 32)
    assert not arrays["value.weight"].any()
