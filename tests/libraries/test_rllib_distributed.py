"""Tournaments and rollout learning on Ray: the same results as without it, whatever becomes of the workers."""

import os
import signal
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="ray[rllib] is not installed: make test-rllib")

from monsterzoo.cli import main
from monsterzoo.envs import variant
from monsterzoo.policies.networks.files import WEIGHTS, read
from monsterzoo.training.arena import Tournament, enter
from monsterzoo.training.distributed import rollouts
from monsterzoo.training.distributed.arena import play_on_ray
from monsterzoo.training.distributed.cluster import MAX_RETRIES, joined, map_tasks
from monsterzoo.training.distributed.rollouts import RayRolloutTrainer
from monsterzoo.training.runs.config import RolloutConfig
from monsterzoo.training.runs.run import train

ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # Ray's processes cannot import this file


@pytest.fixture(scope="module")
def local_ray():
    """A Ray of two processors on this machine."""
    with joined("local", 2):
        yield


def die_once(marker: Path) -> None:
    """Kill the process, unless that was done before."""
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def test_results_come_as_they_are_ready_also_of_a_killed_worker(local_ray, tmp_path):
    def square(number):
        if number == 3:
            die_once(tmp_path / "died")
        return number * number

    ticks = []
    results = dict(map_tasks(square, [(number,) for number in range(12)], workers=2, tick=lambda: ticks.append(1)))
    assert results == {number: number * number for number in range(12)}
    assert (tmp_path / "died").exists()
    assert ticks


def test_errors_are_raised_and_deadly_tasks_end(local_ray, tmp_path):
    def fail(task):
        if task == "die":
            with (tmp_path / "deaths").open("a") as file:
                file.write("+")
            os.kill(os.getpid(), signal.SIGKILL)
        raise ValueError("this task is nothing for me")

    with pytest.raises(ValueError, match=r"^this task is nothing for me$"):
        dict(map_tasks(fail, [("fail",)]))
    with pytest.raises(ray.exceptions.WorkerCrashedError):
        dict(map_tasks(fail, [("die",)]))
    assert (tmp_path / "deaths").read_text() == "+" * (1 + MAX_RETRIES)


def test_what_is_given_up_ends(local_ray, tmp_path):
    def wait(number):
        time.sleep(0 if number == 0 else 600)
        return number

    tasks = map_tasks(wait, [(number,) for number in range(4)], workers=2)
    assert next(tasks) == (0, 0)
    tasks.close()
    assert dict(map_tasks(wait, [(0,), (0,)], workers=2)) == {0: 0, 1: 0}  # there is room again


class Mortal:
    """Plays the first legal action; its process dies of the first decision, once."""

    name = "mortal"

    def __init__(self, marker):
        self.marker = marker

    def act(self, decisions):
        die_once(self.marker)
        return decisions.action_masks.argmax(1)


def test_tournaments_are_the_same_also_when_a_worker_is_lost(local_ray, tmp_path):
    one, specs = variant("pikit_v0", players=2), ["random", "heuristic", "search:8", Mortal(tmp_path / "died")]
    names, players = enter(one, specs, 4)
    here, there = Tournament(one, names, 4), Tournament(one, names, 4)
    there.play(players, 60, spread=play_on_ray(specs, batch=4, workers=2))
    assert (tmp_path / "died").exists()
    here.play(players, 60)
    np.testing.assert_array_equal(here.shares, there.shares)
    np.testing.assert_array_equal(here.scores, there.scores)
    assert here.result() == there.result()


SMALL = RolloutConfig(
    game="pikit_v0", num_envs=12, width=16, updates=3, threads=1, log="none", evaluate=(), imitate_share=0.3
)


def weights(folder: Path) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in read(folder / WEIGHTS)[0].items()}


def test_rollout_learning_is_the_same_also_when_a_worker_is_lost(local_ray, tmp_path, monkeypatch):
    kind, play_part = partial(RayRolloutTrainer, workers=2), rollouts.play_part
    train(replace(SMALL, out=str(tmp_path / "here")))
    train(replace(SMALL, out=str(tmp_path / "there")), kind=kind)
    assert weights(tmp_path / "there") == weights(tmp_path / "here")

    def mortal(*task):
        die_once(tmp_path / "died")
        return play_part(*task)

    monkeypatch.setattr(rollouts, "play_part", mortal)
    train(replace(SMALL, out=str(tmp_path / "harmed")), kind=kind)
    assert (tmp_path / "died").exists()
    assert weights(tmp_path / "harmed") == weights(tmp_path / "here")


def test_the_command_line_has_both(local_ray, tmp_path, capsys):
    words = ["train", "pikit_v0", "--method", "rollouts", "--updates", "1", "--num-envs", "4", "--width", "8"]
    words += ["--evaluate", "--log", "none", "--ray", "local", "--workers", "2", "--out", str(tmp_path / "run")]
    assert main(words) == 0
    assert f"the policy is 'net:{tmp_path / 'run'}'" in capsys.readouterr().out
    assert main(["train", "--resume", "--updates", "2", "--out", str(tmp_path / "run")]) == 0  # without Ray
    words = ["arena", "--game", "pikit_v0", "--players", "2", "--policies", "random", "heuristic", "--quiet"]
    for more, problem in (
        (["--workers", "2"], "--workers has no effect without --ray"),
        (["--ray", "local", "--workers", "none"], "--workers none is not allowed; allowed: an integer from 1"),
    ):
        assert main([*words, *more]) == 2
        assert problem in capsys.readouterr().err
