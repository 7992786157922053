"""Self-play PPO: it finds the best play where that is known, gets better where it is not, and can be interrupted."""

import json
import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
import torch
from monsterzoo.cli import main
from monsterzoo.envs import VectorGame
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.loop import OUTSIDE
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies import from_function, make
from monsterzoo.policies.networks import WEIGHTS, NeuralPolicy, read
from monsterzoo.training.algorithms import network as networks
from monsterzoo.training.algorithms.network import Network, NetworkPolicy
from monsterzoo.training.algorithms.ppo import PPOTrainer
from monsterzoo.training.evaluation.win_rate import win_rate
from monsterzoo.training.runs import run as runs
from monsterzoo.training.runs.config import PPOConfig
from monsterzoo.training.runs.run import CHECKPOINT, train
from nim import NIM, OTHER_LAYOUT, positions

SMALL = PPOConfig(
    game="yokai_septet_v0",
    players=4,
    options={"episode": "round", "reward": "score"},
    num_envs=64,
    steps=16,
    minibatch=512,
    width=32,
    updates=6,
    snapshot_every=2,
    snapshots=2,
    evaluate_games=16,
    evaluate=["random"],
    opponents=["past", "random"],
    imitate="",
    log="none",
)
TINY = PPOConfig(
    game="nim_v0", players=2, num_envs=128, steps=16, minibatch=128, width=32, blocks=1, learning_rate=3e-3, epochs=3,
    entropy_coef=0.003, imitate="", opponents=["past", "random"], updates=25,
)  # fmt: skip


def same(one: object, other: object) -> bool:
    """Whether two nested structures of tensors are equal, bit by bit."""
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return isinstance(other, list | tuple) and len(one) == len(other) and all(map(same, one, other))
    return one == other


def test_learns_the_best_play_of_nim() -> None:
    trainer = PPOTrainer(TINY, NIM)
    while trainer.progress < 1:
        trainer.update()
    known = positions()
    actions = NetworkPolicy(trainer.network).act(known.decisions)
    winning = known.best >= 0
    assert actions[winning].tolist() == known.best[winning].tolist()
    _, values = trainer.network(torch.from_numpy(known.observations), torch.from_numpy(known.masks))
    values = values.detach().numpy()
    assert (values[winning] > 0.6).all(), values
    assert (values[~winning] < -0.4).all(), values


def test_improves_at_pikit_from_nothing() -> None:
    config = PPOConfig(
        game="pikit_v0", players=2, num_envs=128, steps=64, minibatch=512, width=64, learning_rate=2e-3, updates=12,
        opponents=["past"], snapshot_every=2, imitate="",
    )  # fmt: skip
    trainer = PPOTrainer(config)
    # Actions are drawn: the most likely action of an untrained network, the first legal one, is a good one at Pikit.
    generator, random = torch.Generator().manual_seed(1), make_player(trainer.variant, "random", 2)
    policy = from_function(lambda rows, masks: trainer.network.play(rows, masks, generator)[0])
    before = win_rate(trainer.variant, policy, random, 1000, seed=5).win_rate
    assert before == pytest.approx(0.5, abs=0.07), "an untrained network plays at random"
    while trainer.progress < 1:
        trainer.update()
    after = win_rate(trainer.variant, policy, random, 1000, seed=5).win_rate
    assert after > 0.75  # 0.87 to 0.90 over many seeds; 0.49 without learning, 0.00 with the advantages' sign wrong


def test_gets_better_than_random_at_a_team_game() -> None:
    config = replace(SMALL, num_envs=128, steps=48, width=64, minibatch=512, learning_rate=2e-3, updates=36)
    trainer = PPOTrainer(config)
    while trainer.progress < 1:
        trainer.update()
    policy, random = NetworkPolicy(trainer.network), make_player(trainer.variant, "random")
    assert win_rate(trainer.variant, policy, random, 2000, seed=5).win_rate > 0.55  # 0.59 to 0.61 over seeds


def test_too_few_steps_to_learn_from_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    call = "train --game yokai_septet_v0 --players 4 --opponents past random --steps 1 --num-envs 2 --updates 1"
    assert main([*call.split(), "--imitate", "", "--out", str(tmp_path)]) == 2
    assert "more steps are needed" in capsys.readouterr().err
    assert main(f"train --resume --out {tmp_path / 'nowhere'}".split()) == 2
    assert "there is no run" in capsys.readouterr().err


def test_evaluation_is_fair_to_equals() -> None:
    variant = find_game("yokai_septet_v0").variant(episode="round")
    found = win_rate(variant, make_player(variant, "random", 1), make_player(variant, "random", 2), 4000, seed=3)
    assert abs(found.win_rate - 0.5) < 4 * found.error


def test_every_sampled_action_is_legal_and_every_legal_one_is_sampled() -> None:
    games = VectorGame(find_game("yokai_septet_v0"), 256, seed=1)
    torch.manual_seed(0)
    network = Network.for_variant(games.variant, 32, 1)
    generator = torch.Generator().manual_seed(0)
    torch.nn.init.normal_(network.policy.weight, std=3.0)  # sharp, with illegal actions among the likeliest
    for _ in range(60):
        actions, log_probs, _ = network.play(games.observations, games.action_masks, generator)
        assert games.action_masks[np.arange(256), actions].all()
        assert (log_probs > -1e6).all()
        games.step(actions)
    torch.nn.init.zeros_(network.policy.weight)  # uniform
    masks = np.tile(games.action_masks[:1], (4000, 1))
    actions, log_probs, _ = network.play(np.tile(games.observations[:1], (4000, 1)), masks, generator)
    assert set(actions) == set(np.flatnonzero(masks[0]))
    np.testing.assert_allclose(log_probs, -np.log(masks[0].sum()), rtol=1e-4)


def test_games_start_at_all_moments_and_go_on_correctly() -> None:
    trainer = PPOTrainer(replace(SMALL, num_envs=256, opponents=(), steps=100))
    assert len(set(trainer.games.arrays["lengths"][0].tolist())) > 40
    lengths = []
    trainer.buffer.pay = lambda rewards, over: lengths.extend(trainer.games.arrays["lengths"][1, over])  # type: ignore[method-assign]
    trainer.play()
    assert len(lengths) > 256
    for length in lengths:
        assert 12 + 4 <= length <= 12 + 4 * 13, "three passed cards per seat, then whole tricks"
        assert length % 4 == 0


def test_opponents_moves_count_as_steps() -> None:
    alone = PPOTrainer(replace(SMALL, self_play=1.0))
    alone.update()
    assert alone.steps == SMALL.num_envs * SMALL.steps
    trainer = PPOTrainer(replace(SMALL, self_play=0.0))
    trainer.update()
    assert trainer.steps == pytest.approx(2 * SMALL.num_envs * SMALL.steps, rel=0.1), "the network has every other move"
    outside = (trainer.games.arrays["outside"][:, None] >> np.arange(4)) & 1
    assert (outside == (trainer.seating == OUTSIDE)).all()


def test_only_the_networks_own_free_decisions_are_learned_from() -> None:
    trainer = PPOTrainer(replace(SMALL, self_play=0.0, opponents=["random"]))
    own = trainer.seating == OUTSIDE
    assert {tuple(seats) for seats in own.tolist()} == {(True, False, True, False), (False, True, False, True)}
    trainer.update()
    buffer = trainer.buffer
    assert (np.count_nonzero(buffer.action_masks[: buffer.count], axis=1) > 1).all()
    seats = np.argwhere(buffer.open >= 0)
    assert (trainer.seating[tuple(seats.T)] == OUTSIDE).all()


def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    whole, first = replace(SMALL, out=str(tmp_path / "whole")), replace(SMALL, out=str(tmp_path / "parts"))
    train(whole)
    trainer = PPOTrainer(first)
    for _ in range(3):
        trainer.update()
    Path(first.out).mkdir()
    trainer.save(Path(first.out))
    train(first, resume=True)
    ends = [torch.load(Path(config.out) / CHECKPOINT, weights_only=True) for config in (whole, first)]
    for end in ends:
        end["progress"].pop("seconds")
    assert ends[0]["progress"]["updates"] == 6
    for part in ends[0]:
        assert same(ends[0][part], ends[1][part]), part


def test_a_run_leaves_its_options_numbers_picture_and_policy(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = "train --game yokai_septet_v0 --players 4 --option episode=round --updates 2 --num-envs 32 --steps 8"
    command += f" --width 16 --minibatch 64 --evaluate random --evaluate-games 8 --opponents past random --out {out}"
    assert main(command.split()) == 0
    run = json.loads((out / "run.json").read_text())
    assert run["config"]["options"] == {"episode": "round"}
    assert run["versions"]["torch"] == torch.__version__
    assert {"win_random", "error_random"} <= run["result"].keys()
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [line["updates"] for line in lines] == [1, 2]
    assert {"policy_loss", "value_loss", "entropy", "steps_per_second", "share_learning"} <= lines[0].keys()
    assert (out / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert list(out.glob("events*"))
    assert not list(out.glob("*.part"))
    policy = make(f"net:{out}", "yokai_septet_v0", players=4)
    assert policy.name == f"net:{out}"
    assert main(command.split()) == 2, "a run is not overwritten"
    assert main(["train", "--resume", "--updates", "3", "--out", str(out)]) == 0
    run = json.loads((out / "run.json").read_text())
    assert run["result"]["updates"] == 3
    assert run["commands"][1] == f"monsterzoo train --resume --updates 3 --out {out}  # from update 2"


def test_an_interrupted_write_leaves_the_old_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = PPOTrainer(SMALL)
    trainer.save(tmp_path)
    before = (tmp_path / CHECKPOINT).read_bytes()

    def fail(content: object, file: BinaryIO) -> None:
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(runs.torch, "save", fail)
    trainer.update()
    with pytest.raises(OSError, match="disk full"):
        trainer.save(tmp_path)
    assert (tmp_path / CHECKPOINT).read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == [CHECKPOINT, WEIGHTS]


def test_compiled_networks_play_like_torch(tmp_path: Path) -> None:
    games = VectorGame(find_game("yokai_septet_v0"), 512, seed=1)
    for _ in range(20):
        games.step(games.sample_actions())
    torch.manual_seed(0)
    network = Network.for_variant(games.variant, 48, 2)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    networks.write(tmp_path / WEIGHTS, network, games.variant)
    policy = NeuralPolicy(games.variant, *read(tmp_path / WEIGHTS), name="test")
    logits, values = policy.evaluate(games.observations)
    masks = torch.from_numpy(games.action_masks)
    log_probs, expected = network(torch.from_numpy(games.observations), masks)
    np.testing.assert_allclose(values[:, 0], expected.detach().numpy(), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(
        torch.from_numpy(logits).masked_fill(masks == 0, -1e9).log_softmax(1).numpy(),
        log_probs.detach().numpy(),
        rtol=1e-3,
        atol=1e-2,
    )
    greedy = NetworkPolicy(network).act(games.decisions())
    assert (policy.act(games.decisions()) == greedy).mean() > 0.99


def test_a_network_refuses_another_game_layout_or_action_set(tmp_path: Path) -> None:
    known = positions()
    networks.write(tmp_path / WEIGHTS, Network.for_variant(known.variant, 8, 1), known.variant)
    with pytest.raises(ValueError, match="was trained on nim_v0, it cannot play yokai_septet_v0"):
        make(f"net:{tmp_path}", "yokai_septet_v0")
    other = replace(NIM, view=replace(NIM.view, layout=lambda options: OTHER_LAYOUT)).variant()
    with pytest.raises(ValueError, match=r"other observations"):
        make_player(other, f"net:{tmp_path}")
    more = replace(NIM, rules=replace(NIM.rules, actions=lambda options: ("take 1", "take 2", "take 3"))).variant()
    with pytest.raises(ValueError, match=r"chooses among 3 actions.*here are 4"):
        make_player(more, f"net:{tmp_path}")


def test_weights_that_are_no_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs the folder"):
        make("net", "yokai_septet_v0")
    with pytest.raises(ValueError, match="there is no"):
        make(f"net:{tmp_path}/nowhere", "yokai_septet_v0")
    (tmp_path / WEIGHTS).write_bytes(b"garbage")
    with pytest.raises(ValueError, match="not a file of network weights"):
        make(f"net:{tmp_path}", "yokai_septet_v0")
    with (tmp_path / WEIGHTS).open("wb") as file:
        np.savez(file, about=np.array([{"code": print}], dtype=object))
    with pytest.raises(ValueError, match="not a file of network weights"):
        make(f"net:{tmp_path}", "yokai_septet_v0")


def test_the_command_of_a_run_gives_its_options_again(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[PPOConfig] = []
    monkeypatch.setattr("monsterzoo.training.runs.run.train", lambda config, resume, kind: given.append(config))
    odd = {"target": None, "scoring": "basic", "max_rounds": 7}
    deck = {"deck": {"1": 12, "2": 8, "3": 8, "4": 8, "5": 8, "6": 8, "7": 8}}
    for config in (
        PPOConfig("pikit_v0", players=2, options=deck),
        replace(SMALL, imitate="", clip_range=0.25, seed=7, players=3, options=odd, out="a folder/run"),
        replace(SMALL, opponents=(), evaluate=(), log="tensorboard"),
    ):
        words = shlex.split(config.command())
        assert words[:2] == ["monsterzoo", "train"]
        assert main(words[1:]) == 0
        assert given.pop() == config
