"""Learning from playouts: what is compared, whom it imitates first, and its command."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.players import make_player
from monsterzoo.policies import heuristics
from monsterzoo.training import studying
from monsterzoo.training.cli import main
from monsterzoo.training.config import PlayoutConfig, RunConfig
from monsterzoo.training.lessons import COMPARED, IMITATED
from monsterzoo.training.playouts import Trainer, centred

SMALL = PlayoutConfig(game="yokai_septet_v0", players=4, num_envs=8, width=16, updates=4, threads=1, evaluate=())


def test_lessons_compare_distinct_legal_actions_and_teach_only_the_networks_sides() -> None:
    trainer = Trainer(replace(SMALL, self_play=0.0, imitate_share=0.0, num_envs=64))
    trainer.update()
    lessons = trainer.lessons
    for game in range(64):
        seats = lessons.seats[game, : lessons.counts[game]]
        assert len(set(seats % 2)) == 1  # the other team is the heuristic's
    fresh = trainer._read_lessons()
    tried = fresh["visits"] > 0
    assert (tried <= (fresh["action_masks"] > 0)).all()
    assert (fresh["visits"] <= 1).all()
    np.testing.assert_array_equal(tried.sum(1), np.minimum(fresh["action_masks"].sum(1), SMALL.candidates))
    assert ((fresh["totals"] >= 0) & (fresh["totals"] <= 1)).all()
    assert (fresh["totals"][~tried] == 0).all()
    np.testing.assert_allclose(fresh["outcomes"].sum(1), 1, rtol=1e-6)


def test_the_heuristic_is_imitated_first(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(replace(SMALL, imitate_share=0.5))
    kinds = []

    def note(*words: object) -> None:
        kinds.append(words[5].kind)  # type: ignore[attr-defined]

    monkeypatch.setattr(studying.ThreadPool, "run", lambda self, kernel, size, arguments: note(*arguments(0, size)))
    for trainer.updates in range(4):
        trainer._play()
    assert kinds == [IMITATED, IMITATED, COMPARED, COMPARED]


def test_playouts_and_the_other_sides_can_be_a_networks() -> None:
    trainer = Trainer(replace(SMALL, players=2, playout="pretrained", self_play=0.0, imitate_share=0.0, num_envs=64))
    network = make_player(trainer.variant, "pretrained")
    np.testing.assert_array_equal(trainer.playout.weights.stem, network.compiled.weights.stem)
    worth = []
    for policy in (trainer.playout, heuristics.Heuristic()):
        trainer.playout, states = policy, trainer.states.copy()
        trainer.play(trainer.plan(), streams(0, 64, "lessons"))
        trainer.states[:] = states  # the same games again
        worth.append(trainer._read_lessons()["outcomes"][:, 0].mean())
    assert worth[0] < worth[1]  # an untrained network comes to less against the stronger player


def test_centred_numbers_have_no_average_and_nothing_where_nothing_was_tried() -> None:
    numbers = torch.tensor([[0.2, 0.8, 5.0], [1.0, 7.0, 7.0]])
    tried = torch.tensor([[True, True, False], [True, False, False]])
    torch.testing.assert_close(centred(numbers, tried), torch.tensor([[-0.3, 0.3, 0.0], [0.0, 0.0, 0.0]]))


def test_the_command_line_has_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "--method", "playouts", "--game", "pikit_v0", "--updates", "2", "--num-envs", "4", "--width", "8"]
    assert main([*words, "--evaluate", "--no-tensorboard", "--out", str(tmp_path / "run")]) == 0
    assert f"the policy is 'ppo:{tmp_path / 'run'}'" in capsys.readouterr().out
    assert isinstance(RunConfig.read(tmp_path / "run" / "run.json"), PlayoutConfig)
    assert main([*words, "--playout", "nobody"]) == 2
    assert "there is no policy 'nobody'" in capsys.readouterr().err
    assert main([*words, "--playout", "search:10"]) == 2
    assert (
        "--playout search:10 does not play inside compiled loops; heuristics and networks do" in capsys.readouterr().err
    )
    assert main([*words, "--candidates", "1"]) == 2
    assert "--candidates 1 is not allowed; allowed: a whole number from 2" in capsys.readouterr().err
