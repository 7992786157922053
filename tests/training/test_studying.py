"""What all runs that learn from lessons have in common: they find the best play, and can be interrupted anywhere."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import test_expert
import torch
from monsterzoo.policies.networks import WEIGHTS, NeuralPolicy, read
from monsterzoo.training import expert, playouts
from monsterzoo.training.config import LessonConfig, PlayoutConfig
from monsterzoo.training.runs import CHECKPOINT, train
from nim import NIM, positions
from test_ppo import same

COMPARING = PlayoutConfig(
    game="nim_v0", num_envs=128, lessons=16, self_play=1.0, width=32, minibatch=256, scale=0.1, updates=30, threads=1,
    evaluate=("random",), evaluate_games=64, tensorboard=False,
)  # fmt: skip
CONFIGS: dict[str, LessonConfig] = {"search": test_expert.TINY, "playouts": COMPARING}
TRAINERS = {"search": expert.Trainer, "playouts": playouts.Trainer}


@pytest.fixture(scope="module", params=CONFIGS)
def method(request: pytest.FixtureRequest) -> str:
    """What a run learns by."""
    return str(request.param)


@pytest.fixture(scope="module")
def learned(method: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    out = tmp_path_factory.mktemp("runs") / method
    train(replace(CONFIGS[method], out=str(out)), game=NIM)
    return out


def test_it_finds_the_best_play_of_nim(learned: Path) -> None:
    known = positions()
    policy = NeuralPolicy(known.variant, *read(learned / WEIGHTS))
    won = known.best >= 0  # the others are lost whatever one does
    chosen = policy.act(known.decisions)
    np.testing.assert_array_equal(chosen[won], known.best[won])


def test_interrupted_and_resumed_equals_uninterrupted_on_any_number_of_threads(
    learned: Path, method: str, tmp_path: Path
) -> None:
    half, kind = replace(CONFIGS[method], out=str(tmp_path / "half"), threads=2), TRAINERS[method]
    trainer = kind(half, NIM)  # type: ignore[arg-type]
    for _ in range(5):
        trainer.update()
    trainer.save(tmp_path / "half")
    trainer.update()  # work after the checkpoint is lost, and made again
    if isinstance(trainer, expert.Trainer):
        trainer.chunks[5]["targets"][:] = 0
    again = kind(half, NIM)  # type: ignore[arg-type]
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
