"""Learning from search: what it expects, what it keeps, and what it makes of visits."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from monsterzoo.cli import main
from monsterzoo.policies.networks import WEIGHTS, NeuralPolicy, read
from monsterzoo.policies.networks.files import WEIGHTS
from monsterzoo.policies.networks.policy import NeuralPolicy
from monsterzoo.training.config import RUN, RunConfig, SearchConfig
from monsterzoo.training.expert import FOLDER, Trainer, advantages
from monsterzoo.training.runs import CHECKPOINT, train
from nim import NIM, positions

TINY = SearchConfig(
    game="nim_v0", num_envs=64, simulations=24, searched=1.0, lessons=16, width=32, minibatch=256, learning_rate=3e-3,
    eagerness=5.0, buffer=5, updates=12, threads=1, evaluate=("random",), evaluate_games=64, tensorboard=False,
)  # fmt: skip


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    out = tmp_path_factory.mktemp("runs") / "nim"
    train(replace(TINY, out=str(out)), game=NIM)
    return out


def test_it_knows_who_will_win_nim(learned: Path) -> None:
    known = positions()
    won = known.best >= 0
    _, chances = NeuralPolicy(known.variant, *read(learned / WEIGHTS)).opinion(known.observations, known.masks)
    assert chances is not None
    assert chances[won].min() > 0.5 > chances[~won].max()


def test_the_run_folder_has_what_every_run_has(learned: Path) -> None:
    names = {path.name for path in learned.iterdir()}
    assert {RUN, CHECKPOINT, WEIGHTS, "metrics.jsonl", "curve.png", FOLDER} <= names
    config = RunConfig.read(learned / RUN)
    assert isinstance(config, SearchConfig)
    assert config.simulations == 24
    assert len(list((learned / FOLDER).glob("*.npz"))) == TINY.buffer  # older lessons are forgotten


def test_lessons_of_a_run_that_was_given_up_are_not_taken_for_those_of_the_next(tmp_path: Path) -> None:
    """Killed before its first checkpoint, say, and begun again with another seed."""
    trainers = [Trainer(replace(TINY, out=str(tmp_path), seed=seed), NIM) for seed in (1, 2, 2)]
    for trainer in trainers[:2]:
        trainer.update()
        trainer.save(tmp_path)
    trainers[2].restore(tmp_path)
    for name, values in trainers[1].chunks[0].items():
        np.testing.assert_array_equal(trainers[2].chunks[0][name], values)


def test_damaged_lessons_are_refused_by_name(tmp_path: Path) -> None:
    trainer = Trainer(replace(TINY, out=str(tmp_path)), NIM)
    trainer.update()
    trainer.save(tmp_path)
    path = next((tmp_path / FOLDER).glob("*.npz"))
    whole = path.read_bytes()
    for content in (whole[:100], b"nonsense"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"is not a file of lessons, or it is damaged"):
            Trainer(replace(TINY, out=str(tmp_path)), NIM).restore(tmp_path)
    path.write_bytes(whole)
    with np.load(path) as file:
        arrays = dict(file)
    for factor, problem in ((np.nan, "numbers that are not finite"), (1e30, "numbers beyond 1,000,000")):
        np.savez(path, **{**arrays, "targets": arrays["targets"] * np.float32(factor)})
        with pytest.raises(ValueError, match=rf"{path.name} is not .* targets has {problem}"):
            Trainer(replace(TINY, out=str(tmp_path)), NIM).restore(tmp_path)
    path.unlink()
    with pytest.raises(ValueError, match=path.name):
        Trainer(replace(TINY, out=str(tmp_path)), NIM).restore(tmp_path)


def test_advantages_are_worth_beyond_the_average_and_doubt_what_was_hardly_tried() -> None:
    visits = np.array([[92, 8, 0]])
    totals = np.array([[46.0, 8.0, 0.0]])  # means 0.5 and 1, 0.54 on average
    gains = advantages(visits, totals)[0]
    assert gains[0] == pytest.approx((0.5 - 0.54) * 0.92)
    assert gains[1] == pytest.approx((1.0 - 0.54) * 0.5)
    assert gains[2] == 0


def test_a_run_may_start_from_another_ones_network(learned: Path, tmp_path: Path) -> None:
    policy = read(learned / WEIGHTS)[0]
    trainer = Trainer(replace(TINY, out=str(tmp_path)), NIM)
    trainer.network.start_from(policy, "test")
    for name, values in trainer.network.arrays().items():
        np.testing.assert_allclose(values, policy[name], rtol=1e-6)
    with pytest.raises(ValueError, match="test has another shape: stem"):
        Trainer(replace(TINY, width=16), NIM).network.start_from(policy, "test")


def test_the_command_line_tells_the_methods_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "--method", "search", "--game", "pikit_v0", "--updates", "1", "--num-envs", "4", "--simulations"]
    words += ["4", "--width", "8", "--evaluate", "--no-tensorboard", "--out", str(tmp_path / "run")]
    assert main(words) == 0
    assert f"the policy is 'net:{tmp_path / 'run'}'" in capsys.readouterr().out
    assert main(["train", "--resume", "--method", "ppo", "--out", str(tmp_path / "run")]) == 2
    assert "--method ppo contradicts the run" in capsys.readouterr().err
    assert main(["train", "--method", "search", "--game", "pikit_v0", "--simulations", "0"]) == 2
    assert "--simulations 0 is not allowed; allowed: an integer from 2" in capsys.readouterr().err
    assert main(["train", "--resume", "--updates", "2", "--out", str(tmp_path / "run")]) == 0
