"""Lessons made on Ray are those made without it, whatever becomes of the actors."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="ray[rllib] is not installed: make test-rllib")

from monsterzoo.policies.neural import WEIGHTS, read
from monsterzoo.training.cli import main
from monsterzoo.training.config import RolloutConfig, RunConfig, SearchConfig
from monsterzoo.training.ray_lessons import kind_on_ray
from monsterzoo.training.ray_pool import joined
from monsterzoo.training.runs import train

SMALL = {"game": "pikit_v0", "num_envs": 12, "width": 16, "updates": 3, "threads": 1, "tensorboard": False}
CONFIGS = (
    RolloutConfig(**SMALL, evaluate=(), imitate_share=0.3),
    SearchConfig(**SMALL, evaluate=(), imitate_share=0.3, simulations=8),
)


def weights(folder: Path) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in read(folder / WEIGHTS)[0].items()}


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.method)
def test_the_network_is_the_same_with_actors_and_after_one_was_killed(config: RunConfig, tmp_path: Path) -> None:
    train(replace(config, out=str(tmp_path / "here")))
    with joined("local", 2):
        kind = kind_on_ray(config.method)
        train(replace(config, out=str(tmp_path / "there")), kind=partial(kind, workers=2))
        assert weights(tmp_path / "there") == weights(tmp_path / "here")
        lost = []

        class Harmed(kind):
            """Loses an actor before its second update."""

            def update(self):
                if self.updates == 1:
                    ray.kill(self.workers.actors[0])
                report = super().update()
                lost.append(self.workers.lost)
                return report

        train(replace(config, out=str(tmp_path / "harmed")), kind=partial(Harmed, workers=2))
    assert lost[-1] > 0
    assert weights(tmp_path / "harmed") == weights(tmp_path / "here")


def test_the_command_line_takes_any_method(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", "pikit_v0", "--method", "playouts", "--updates", "1", "--num-envs", "4", "--width", "8"]
    words += ["--evaluate", "--no-tensorboard", "--ray", "local", "--workers", "2", "--out", str(tmp_path / "run")]
    assert main(words) == 0
    assert f"the policy is 'ppo:{tmp_path / 'run'}'" in capsys.readouterr().out
