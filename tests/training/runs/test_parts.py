"""The parts of a training run, each against answers that are known: options, the loop, files, errors in words."""

import errno
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from monsterzoo.envs.core.options import options_of
from monsterzoo.envs.core.registry import find_game
from monsterzoo.training.algorithms import network as networks
from monsterzoo.training.runs import config as config_module
from monsterzoo.training.runs import curves, exits, extras, journal, run
from monsterzoo.training.runs.config import METHODS, PPOConfig, RolloutConfig, RunConfig
from monsterzoo.training.runs.files import check_archive, damaged, name_file, read_json, replacing, write_json
from monsterzoo.training.runs.interrupts import DeferredInterrupt, Interrupted
from monsterzoo.training.runs.run import Learner
from nim import NIM

# --- Options ---

SHARED = {
    "players": None, "options": {}, "out": "runs/latest", "minutes": 10.0, "updates": 0, "seed": 0, "width": 128,
    "blocks": 1, "symmetric": True, "start": None, "evaluate": None, "evaluate_every": 30.0, "evaluate_games": 512,
    "checkpoint_every": 60.0, "log": "tensorboard", "minibatch": 2048, "value_coef": 0.5,
}  # fmt: skip
OWN = {
    "ppo": {
        "threads": 1, "learning_rate": 1e-3, "final_learning_rate": 0.05, "max_grad_norm": 0.5, "num_envs": 1024,
        "steps": 64, "self_play": 0.7, "opponents": None, "snapshot_every": 10, "snapshots": 16, "imitate": None,
        "imitate_share": 0.2, "epochs": 2, "gamma": 1.0, "gae_lambda": 0.95, "clip_range": 0.2, "entropy_coef": 0.01,
        "final_entropy_coef": 1.0, "magnet_coef": 0.0, "magnet_every": 20,
    },
    "rollouts": {
        "threads": 3, "learning_rate": 2e-3, "final_learning_rate": 0.03, "max_grad_norm": 2.0, "num_envs": 256,
        "samples": 128, "sample_share": 1.0, "candidates": 3, "rollout_policy": None, "self_play": 0.5,
        "imitate_share": 0.1, "target_temperature": 0.02,
    },
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_published_runs_leave_out_what_is_usual(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their commands give the same network only as long as these stay."""
    monkeypatch.setattr(config_module.os, "sched_getaffinity", lambda _: {1, 5, 6}, raising=False)
    assert METHODS[method]("pikit_v0").to_dict() == {"method": method, "game": "pikit_v0", **SHARED, **OWN[method]}


LIMITS = {
    "players": (1, 0), "minutes": (1e-9, 0), "updates": (0, -1), "seed": (0, -1), "threads": (1, 0), "width": (1, 0),
    "blocks": (0, -1), "learning_rate": (1, 1.01), "final_learning_rate": (1, 1.01), "minibatch": (1, 0),
    "max_grad_norm": (1e-9, 0), "evaluate_every": (0, -1), "evaluate_games": (1, 0), "checkpoint_every": (0, -1),
    "num_envs": (1, 0), "self_play": (1, 1.01), "imitate_share": (1, 1.01), "value_coef": (0, -1),
}  # fmt: skip
UPPER = {"width": 16384, "blocks": 256, "evaluate_games": 1 << 20, "num_envs": 1 << 20, "seed": (1 << 64) - 1}
OF_PPO = {
    "steps": (1, 0), "snapshot_every": (1, 0), "snapshots": (1, 0), "epochs": (1, 0), "gamma": (1, 1.01),
    "gae_lambda": (0, -0.1), "clip_range": (1e-9, 0), "entropy_coef": (0, -1), "final_entropy_coef": (1, 1.1),
    "magnet_coef": (0, -1), "magnet_every": (1, 0),
}  # fmt: skip
OF_ROLLOUTS = {
    "samples": (1024, 1025), "sample_share": (1, 0), "candidates": (2, 1), "target_temperature": (1, 0),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "own"), [(PPOConfig, OF_PPO), (RolloutConfig, OF_ROLLOUTS)])
def test_options_have_limits(kind: type[RunConfig], own: dict[str, Any]) -> None:
    limits = LIMITS | own
    unlimited = {"game", "options", "out", "symmetric", "start", "evaluate", "log"}
    assert limits.keys() == {one.name for one in fields(kind)} - unlimited - {"opponents", "imitate", "rollout_policy"}
    for name, (allowed, wrong) in limits.items():
        assert getattr(kind("pikit_v0", **{name: allowed}), name) == allowed
        with pytest.raises(ValueError, match=f"{name}={wrong} is not allowed"):
            kind("pikit_v0", **{name: wrong})
    for name, most in UPPER.items():
        kind("pikit_v0", **{name: most})
        with pytest.raises(ValueError, match=f"{name}={most + 1} is not allowed"):
            kind("pikit_v0", **{name: most + 1})
    for name in ("learning_rate", "final_learning_rate", "imitate_share"):
        assert name in options_of(kind)
        with pytest.raises(ValueError, match="is not allowed"):
            kind("pikit_v0", **{name: -0.01})


def test_a_command_says_what_is_not_usual() -> None:
    assert PPOConfig("pikit_v0").command() == (
        "monsterzoo train --game pikit_v0 --out runs/latest --minutes 10.0 --seed 0"
    )
    chosen = RolloutConfig(
        "yokai_septet_v0", 4, {"variant": "seven_suitors"}, "runs/a b", updates=7, symmetric=False, threads=7,
        evaluate=("random", "search:10"), log="none", sample_share=0.5,
    )  # fmt: skip
    assert chosen.command() == (
        "monsterzoo train --method rollouts --game yokai_septet_v0 --players 4 --option variant=seven_suitors "
        "--out 'runs/a b' --updates 7 --seed 0 --threads 7 --no-symmetric --evaluate random search:10 --log none "
        "--sample-share 0.5"
    )


def test_a_resumed_run_may_change_how_long_it_takes_and_nothing_that_is_learned() -> None:
    own = PPOConfig("pikit_v0", 2, {"max_turns": 50}, updates=5)
    changed = own.going_on({"minutes": 3.0, "evaluate": ("random",), "seed": 0, "options": {"max_turns": 50}})
    assert changed == replace(own, minutes=3.0, evaluate=("random",))
    for chosen, words in (
        ({"seed": 1}, "--seed 1 contradicts the run, which has --seed 0; only --out, --minutes, --updates, "),
        ({"options": {"max_turns": 51}}, "--option max_turns=51 contradicts the run, which has --option max_turns=50;"),
        ({"options": {"laps": 2}}, "--option laps=2 contradicts the run, which has none;"),
        ({"opponents": ("past", "random")}, "--opponents past random contradicts the run, which has --opponents None"),
        ({"samples": 2}, "--samples 2 contradicts the run, which has --samples None"),
    ):
        with pytest.raises(ValueError, match=words):
            own.going_on(chosen)


def test_the_players_are_an_option_of_the_game() -> None:
    assert PPOConfig("pikit_v0", 3, {"max_turns": 9}).game_options() == {"players": 3, "max_turns": 9}
    assert PPOConfig("pikit_v0", None, {"max_turns": 9}).game_options() == {"max_turns": 9}


def test_a_game_without_a_heuristic_does_without_it_and_says_so() -> None:
    settled, notes = PPOConfig(NIM.name).settled(NIM.variant())
    assert (settled.players, settled.opponents, settled.imitate, settled.evaluate) == (
        2, ("past", "random"), "", ("random",)
    )  # fmt: skip
    assert notes == [
        "nim_v0 has no heuristic; --opponents is without it: past random",
        "nim_v0 has no heuristic; --imitate is without it: none",
        "nim_v0 has no heuristic; --evaluate is without it: random",
    ]
    rollouts, (note,) = RolloutConfig(NIM.name).settled(NIM.variant())
    assert (rollouts.evaluate, note) == (("random",), notes[2])
    with pytest.raises(ValueError, match="--imitate heuristic: nim_v0 has no heuristic"):
        PPOConfig(NIM.name, imitate="heuristic").settled(NIM.variant())
    with pytest.raises(ValueError, match="--evaluate past: "):  # only an opponent
        PPOConfig(NIM.name, opponents=("past",), evaluate=("past",)).settled(NIM.variant())
    with pytest.raises(ValueError, match=r"--evaluate-games 3 .*4, one for every side"):
        PPOConfig("pikit_v0", evaluate_games=3).settled(find_game("pikit_v0").variant(players=4))
    PPOConfig("pikit_v0", evaluate_games=4).settled(find_game("pikit_v0").variant(players=4))


def test_the_options_of_a_run_are_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    for one in (PPOConfig("pikit_v0", 2, updates=3), RolloutConfig("pikit_v0", threads=2)):
        write_json(path, {"config": one.to_dict()})
        assert RunConfig.read(path) == one
    write_json(path, {"config": {"game": "pikit_v0"}})
    assert RunConfig.read(path) == PPOConfig("pikit_v0"), "runs of old have no method"
    for content, words in (
        ({}, "'config' or its 'game' is missing"),
        ({"config": {"width": 8}}, "'config' or its 'game' is missing"),
        ({"config": ["game"]}, "'config' or its 'game' is missing"),
        ({"config": {"game": "x", "method": "dqn"}}, "of another method than ppo and rollouts: 'dqn'"),
        ({"config": {"game": "x", "b": 1, "a": 2}}, "options that this version does not know: a, b"),
        ({"config": {"game": "x", "width": 0}}, "run.json: width=0 is not allowed"),
    ):
        write_json(path, content)
        with pytest.raises(ValueError, match=words):
            RunConfig.read(path)


def test_processors_are_those_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_module.os, "sched_getaffinity", lambda _: {2, 7, 9}, raising=False)
    assert config_module.processors() == 3
    monkeypatch.delattr(config_module.os, "sched_getaffinity")
    for count, found in ((6, 6), (None, 1)):
        monkeypatch.setattr(config_module.os, "cpu_count", lambda count=count: count)
        assert config_module.processors() == found


# --- The loop, with a learner that plays nothing and a clock of its own ---


class Clock:
    now = 0.0

    def perf_counter(self) -> float:
        return self.now


class Little(Learner):
    """Every update takes two seconds to play and one to learn, every evaluation and every file half a second."""

    def __init__(self, clock: Clock, **chosen: Any) -> None:
        self.clock, self.told = clock, list[str]()
        super().__init__(PPOConfig(NIM.name, width=8, log="none", evaluate=(), **chosen), NIM.variant())

    def play(self) -> dict[str, float]:
        self.clock.now += 2
        return {"steps": 10, "games": 4}

    def learn(self) -> dict[str, float]:
        self.clock.now += 1
        return {"decisions": 7, "entropy": 1.0, "explained": 0.0}

    def evaluate(self) -> dict[str, float]:
        self.told.append(f"evaluate {self.updates}")
        self.clock.now += 0.5
        return {"win_random": 0.5, "error_random": 0.1}

    def content(self) -> dict[str, Any]:
        return {}

    def take(self, content: dict[str, Any]) -> None:
        pass

    def save(self, folder: Path, checkpoint: dict[str, Any] | None = None) -> None:
        self.told.append(f"save {self.updates if checkpoint is None else checkpoint['progress']['updates']}")
        self.clock.now += 0.5


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(run, "time", found)
    return found


class Lines:
    """A journal that keeps what it is told."""

    def __init__(self, learner: Little) -> None:
        self.learner, self.lines, self.progress = learner, list[dict[str, float]](), list[float]()

    def write(self, report: dict[str, float], progress: float) -> None:
        self.learner.told.append(f"write {report['updates']}")
        self.lines.append(report)
        self.progress.append(progress)


def test_an_update_counts_steps_decisions_and_seconds(clock: Clock) -> None:
    learner = Little(clock, updates=4)
    assert learner.update() == {
        "games": 4, "decisions": 7, "entropy": 1.0, "explained": 0.0, "share_learning": pytest.approx(1 / 3),
        "steps_per_second": pytest.approx(10 / 3),
    }  # fmt: skip
    learner.update()
    assert (learner.updates, learner.steps, learner.decided, learner.seconds) == (2, 20, 14, 6.0)


def test_progress_is_of_updates_or_of_minutes_and_numbers_fall_with_it(clock: Clock) -> None:
    by_updates, by_clock = Little(clock, updates=8), Little(clock, minutes=0.5)
    by_updates.updates, by_clock.seconds = 2, 7.5
    for learner in (by_updates, by_clock):
        assert learner.progress == 0.25
        assert learner.annealed(8.0, 0.5) == 7.0
        assert learner.annealed(8.0, 0.0) == 6.0
    by_updates.updates = 9
    assert by_updates.progress == 1


def test_rows_are_learned_from_in_minibatches_at_the_present_learning_rate(clock: Clock) -> None:
    learner = Little(clock, updates=8)
    learner.updates = 2
    settings, sizes = learner.optimizer.param_groups[0], list[int]()

    def loss(rows: np.ndarray) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        sizes.append(len(rows))
        return settings["params"][0].sum(), {"loss": torch.tensor(float(len(sizes)))}

    size, rate = learner.config.minibatch, pytest.approx(1e-3 * (1 - 0.25 * 0.95))
    report = learner.improve(loss, 2 * size, np.random.default_rng(0), epochs=2)
    assert sizes == [size] * 4
    assert report == {"loss": 2.5, "decisions": 2 * size, "learning_rate": rate}
    assert settings["lr"] == rate


def test_evaluations_and_files_come_every_so_many_seconds_and_at_the_end(clock: Clock, tmp_path: Path) -> None:
    learner = Little(clock, updates=6, evaluate_every=7.5, checkpoint_every=5.0)
    lines = Lines(learner)
    run._learn_on(learner, tmp_path, lines, DeferredInterrupt())  # type: ignore[arg-type]
    assert learner.told == [
        "evaluate 1", "write 1", "save 1", "write 2", "write 3", "save 3", "evaluate 4", "write 4", "write 5", "save 5",
        "evaluate 6", "write 6", "save 6",
    ]  # fmt: skip
    assert [line["seconds"] for line in lines.lines] == [3.5, 7.0, 10.0, 14.0, 17.0, 21.0]
    assert [line["steps"] for line in lines.lines] == [10, 20, 30, 40, 50, 60]
    assert lines.progress == [pytest.approx(k / 6) for k in range(1, 7)]
    assert ["win_random" in line for line in lines.lines] == [True, False, False, True, False, True]


class Signals:
    """A signal that comes at a safe point, the k-th one."""

    def __init__(self, at: int) -> None:
        self.left = at

    def came(self) -> bool:
        self.left -= 1
        return self.left <= 0

    def check(self) -> None:
        if self.left <= 0:
            raise Interrupted(15)


def test_a_signal_ends_the_run_after_the_update_which_is_saved_and_not_evaluated(clock: Clock, tmp_path: Path) -> None:
    learner = Little(clock, updates=6, evaluate_every=0.0, checkpoint_every=100.0)
    with pytest.raises(Interrupted):
        run._learn_on(learner, tmp_path, Lines(learner), Signals(3))  # type: ignore[arg-type]
    assert learner.told == ["evaluate 1", "write 1", "save 1", "write 2", "save 2"]


def test_a_signal_during_an_update_saves_what_was_before_it_unless_it_is_there(clock: Clock, tmp_path: Path) -> None:
    for checkpoint_every, saved in ((100.0, ["save 2"]), (0.0, [])):
        learner = Little(clock, updates=6, evaluate_every=100.0, checkpoint_every=checkpoint_every)
        play = learner.play

        def interrupted(learner: Little = learner, play: Any = play) -> dict[str, float]:
            if learner.updates == 2:
                raise Interrupted(2)
            return play()

        learner.play = interrupted  # type: ignore[method-assign]
        with pytest.raises(Interrupted):
            run._learn_on(learner, tmp_path, Lines(learner), DeferredInterrupt())  # type: ignore[arg-type]
        assert learner.told[-1:] == saved or not saved
        assert learner.told.count("save 2") == 1


def test_a_folder_has_one_run_and_resuming_needs_one(tmp_path: Path) -> None:
    config = PPOConfig(NIM.name, out=str(tmp_path))
    with pytest.raises(ValueError, match=r"there is no checkpoint in .* to go on from; start the run again without"):
        run.train(config, resume=True, game=NIM)
    (tmp_path / run.CHECKPOINT).write_text("x")
    with pytest.raises(ValueError, match="already holds a run; go on with --resume, or choose another --out"):
        run.train(config, game=NIM)


def test_all_commands_of_a_run_are_listed(tmp_path: Path) -> None:
    config = PPOConfig("pikit_v0", out="runs/x", minutes=3)
    assert run._commands(tmp_path, config, 5) == [
        config.command(), "monsterzoo train --resume --minutes 3.0 --out runs/x  # from update 5"
    ]  # fmt: skip
    write_json(tmp_path / "run.json", {"commands": ["one", "two"]})
    assert run._commands(tmp_path, replace(config, updates=9), 6) == [
        "one", "two", "monsterzoo train --resume --updates 9 --out runs/x  # from update 6"
    ]  # fmt: skip
    write_json(tmp_path / "run.json", {"commands": "one"})
    with pytest.raises(ValueError, match="'commands' is missing"):
        run._commands(tmp_path, config, 5)


# --- What is checked in a checkpoint ---


def test_an_interrupted_run_says_whether_and_where_it_was_saved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    saves: list[bool] = []

    def interrupted(learner: Learner, folder: Path, *_: Any) -> None:
        if saves[-1]:
            learner.save(folder)
        raise Interrupted(15)

    monkeypatch.setattr(run, "_learn_on", interrupted)
    out = tmp_path / "a run"
    config = PPOConfig(NIM.name, out=str(out), width=8, num_envs=2, updates=2, log="none", evaluate=(), opponents=())
    for saving, words in (
        (False, f"interrupted before anything was saved in {out}"),
        (True, f"interrupted; saved in {out}/checkpoint.pt, go on with: monsterzoo train --resume --out '{out}'"),
    ):
        saves.append(saving)
        with pytest.raises(Interrupted) as told:
            run.train(replace(config, imitate=""), game=NIM)
        assert (str(told.value), told.value.number) == (words, 15)
    about = json.loads((out / "run.json").read_text())
    assert about["config"]["width"] == 8
    assert about["commands"] == [replace(config, imitate="").command()], "as typed"
    assert about["versions"].keys() == {"monsterzoo", "torch", "numpy", "python"}


def test_tensors_of_a_checkpoint_have_names_shapes_types_and_finite_numbers() -> None:
    like = {"a": torch.zeros(2), "b": torch.zeros(())}
    run.check_tensors("net", {"a": torch.ones(2), "b": torch.tensor(-3.0)}, like)
    for wrong, words in (
        ({"a": torch.ones(2)}, "the net has other parts: b"),
        ({**like, "c": torch.ones(1)}, "the net has other parts: c"),
        ({**like, "a": torch.ones(3)}, r"a of the net is torch.float32 \(3,\), not torch.float32 \(2,\)"),
        ({**like, "a": torch.ones(2, dtype=torch.int64)}, r"a of the net is torch.int64 \(2,\), not torch.float32"),
        ({**like, "a": torch.tensor([1, torch.nan])}, "a of the net has numbers beyond"),
        ({**like, "a": torch.full((2,), 1e7)}, "a of the net has numbers beyond"),
    ):
        with pytest.raises(ValueError, match=words):
            run.check_tensors("net", wrong, like)


def test_numbers_of_a_checkpoint_have_limits() -> None:
    like = {"x": torch.zeros(3, dtype=torch.int64)}
    run.check_tensors("games", {"x": torch.tensor([-1, 0, 4])}, like, {"x": (-1, 4)})
    for wrong in ([-2, 0, 0], [0, 0, 5]):
        with pytest.raises(ValueError, match="x of the games has numbers beyond -1 to 4"):
            run.check_tensors("games", {"x": torch.tensor(wrong)}, like, {"x": (-1, 4)})


def test_positions_come_back_from_the_bytes_of_a_checkpoint() -> None:
    variant = NIM.variant()
    states = variant.new_states(3)
    states["stones"], states["acting"] = [3, 4, 5], [1, 2, 1]
    rows = run.states_to_tensor(states)
    assert rows.shape == (3, variant.game.rules.record.itemsize)
    assert run.to_states(rows, variant, 3)["stones"].tolist() == [3, 4, 5]
    for wrong, count in ((rows, 2), (rows.to(torch.int8), 3), (rows[:, :-1], 3)):
        with pytest.raises(ValueError, match="games are "):
            run.to_states(wrong, variant, count)


# --- Files ---


def test_a_file_is_replaced_at_once_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "newer" / "file.json"
    write_json(path, {"a": [1]})
    assert path.read_text() == '{\n  "a": [\n    1\n  ]\n}\n'

    def half() -> None:
        with replacing(path) as part:
            part.write_text("half")
            assert path.read_text().startswith("{"), "the old one is there until the end"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert json.loads(path.read_text()) == {"a": [1]}
    assert [one.name for one in path.parent.iterdir()] == ["file.json"]


def test_errors_of_the_disk_name_the_file() -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    name_file(full, Path("a/b"))
    assert full.filename == "a/b"
    name_file(full, Path("c"))
    assert full.filename == "a/b", "the first one stays"
    for error in (OSError("odd"), ValueError("x")):
        name_file(error, Path("c"))
        assert getattr(error, "filename", None) is None


def test_damaged_files_are_named_with_one_line_of_the_problem(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    assert str(damaged(path, "a run", "first\nsecond")) == f"{path} is not a run, or it is damaged: first"
    assert str(damaged(path, "a run", ValueError("  "))).endswith("damaged: ValueError")
    for content in ("[1]", "{", "3"):
        path.write_text(content)
        with pytest.raises(ValueError, match="is not a thing, or it is damaged: "):
            read_json(path, "a thing")
    with pytest.raises(ValueError, match=r"is not a thing, or it is damaged: .*No such file"):
        read_json(tmp_path / "none", "a thing")
    path.write_text('{"a": 1}')
    assert read_json(path, "a thing") == {"a": 1}


def test_archives_with_a_wrong_checksum_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, one=np.arange(100))
    check_archive(path)
    content = bytearray(path.read_bytes())
    content[content.index(np.arange(100).tobytes()) + 5] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"one.npy is damaged"):
        check_archive(path)


# --- Errors in words ---


def test_what_the_user_can_mend_is_said_in_words() -> None:
    memory = "there is not enough memory for so much at once"
    missing = ModuleNotFoundError("No module named 'ray'", name="ray")
    for error, words in (
        (ValueError("players=9"), "players=9"),
        (OSError(errno.ENOENT, "No such file", "a/b"), "a/b: No such file"),
        (OSError(errno.ENOENT, "No such file"), "No such file"),
        (OSError("odd"), "odd"),
        (MemoryError("Unable to get 9 GiB for an array with shape (1,)"), f"{memory} (Unable to get 9 GiB)"),
        (RuntimeError("torch: can't allocate memory: x"), f"{memory} (torch: can't allocate memory: x)"),
        (missing, extras.how_to_get("ray")),
        (ModuleNotFoundError("No module named 'monsterzoo.x'", name="monsterzoo.x"), None),
        (ModuleNotFoundError("odd"), None),
        (RuntimeError("ours"), None),
        (KeyError("ours"), None),
    ):  # fmt: skip
        assert exits.in_words(error) == words, error


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    def failing(error: BaseException) -> Any:
        def work(words: Any) -> int:
            raise error

        return work

    assert exits.exit_code("me", lambda words: len(words), ["a", "b", "c"]) == 3
    assert capsys.readouterr().err == ""
    for error, code, words in (
        (ValueError("wrong"), 2, "me: wrong\n"),
        (KeyboardInterrupt(), 130, "me: interrupted\n"),
        (Interrupted(15), 143, "me: interrupted\n"),
        (Interrupted(2, "saved"), 130, "me: saved\n"),
    ):
        assert exits.exit_code("me", failing(error), []) == code
        assert capsys.readouterr().err == words
    with pytest.raises(KeyError):
        exits.exit_code("me", failing(KeyError("ours")), [])


def test_extras_are_read_from_what_the_library_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = [
        "numpy<3,>=2.0", "Foo_Bar.Baz>=1; extra == 'train'", "pillow>=11 ; python_version > '3' and extra == 'render'",
        "foo-bar-baz; extra == 'test'", "only.tests; extra == 'test'", "pygame-ce; extra == 'render'", "-odd-",
    ]  # fmt: skip
    monkeypatch.setattr(extras, "requires", lambda name: declared)
    extras.requirements.cache_clear()
    try:
        assert extras.requirements() == {
            "": ("numpy",), "train": ("foo-bar-baz",), "render": ("pillow", "pygame-ce"),
            "test": ("foo-bar-baz", "only-tests"),
        }  # fmt: skip
        monkeypatch.setattr(extras, "installed", lambda package: "1" if package == "pillow" else None)
        assert extras.missing("render") == ["pygame-ce"]
        assert extras.missing("none") == []
        hint = "is not installed; pip install '.[{}]' in the checkout brings it along"
        assert extras.how_to_get("foo_bar.baz") == "foo_bar is not installed"
        assert extras.how_to_get("PIL.Image") == f"PIL {hint.format('render')}"
        assert extras.how_to_get("foo_bar_baz.x") == f"foo_bar_baz {hint.format('train')}", "not that of tests"
        assert extras.how_to_get("only_tests") == f"only_tests {hint.format('test')}"
        assert extras.how_to_get("numpy") == "numpy is not installed"
    finally:
        extras.requirements.cache_clear()
    assert extras.installed("no-such-package") is None


# --- The journal ---


def line(updates: int, **more: Any) -> dict[str, Any]:
    return {"updates": updates, "steps": 10 * updates, "entropy": 1.0, "explained": 0.5, **more}


def test_a_resumed_journal_goes_on_from_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / journal.METRICS
    texts = [json.dumps(one) for one in (line(1, win_random=0.5), line(2, kl=0.25), line(3))]
    path.write_text("\n".join([texts[0], "{", "[1]", '{"updates": 2}', *texts[1:], texts[2][:-5]]))
    assert journal.read(path) == [line(1, win_random=0.5), line(2, kl=0.25), line(3)]
    assert journal.read(tmp_path / "none") == []
    drawn: list[Any] = []
    monkeypatch.setattr(curves, "draw", lambda *given: drawn.append(given))
    with journal.Journal(tmp_path, 2, PPOConfig("pikit_v0", log="none"), 4) as going_on:
        assert going_on.last == line(2, win_random=0.5, kl=0.25)
        assert [one["updates"] for one in journal.read(path)] == [1, 2]
        going_on.write(line(3, kl=0.5), 0.5)
        assert journal.read(path)[-1] == line(3, kl=0.5), "on the disk at once"
    assert going_on._file.closed
    ((lines, picture, title, chance),) = drawn
    assert [one["updates"] for one in lines] == [1, 2, 3]
    assert (picture, title, chance) == (tmp_path / journal.PICTURE, "pikit_v0", 0.25)
    with pytest.raises(OSError), journal.Journal(tmp_path, 3, PPOConfig("pikit_v0", log="none"), 4):
        raise OSError(errno.ENOSPC, "full")
    assert len(drawn) == 1, "there is no room for a picture"
    with pytest.raises(KeyError), journal.Journal(tmp_path, 3, PPOConfig("pikit_v0", log="none"), 4):
        raise KeyError
    assert len(drawn) == 2


def test_the_summary_of_a_slow_run() -> None:
    numbers = {"steps": 1_234_000, "steps_per_second": 9999.4, "seconds": 61.7}
    assert (
        journal.summary(numbers, 0.057, 1 / 3)
        == "  6%     62 s  1.23 M steps, 9999 steps/s  wins (chance level 33%): –"
    )
    numbers |= {"steps_per_second": 10_000, "win_a": 0.25, "error_a": 0.1}
    assert journal.summary(numbers, 1.0, 0.5) == (
        "100%     62 s  1.23 M steps, 10k steps/s  wins (chance level 50%): a 25.0%"
    )


def test_a_signal_is_deferred_and_a_second_one_ends_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    signals = DeferredInterrupt()
    assert not signals.came()
    signals.check()
    signals._note(15, None)
    assert "stopping as soon as everything is saved" in capfd.readouterr().err
    assert signals._timer.daemon
    assert signals._timer.is_alive(), "after a while it interrupts"
    assert signals._timer.interval == 1.0
    with pytest.raises(Interrupted) as second:
        signals._note(2, None)
    assert (second.value.number, second.value.code) == (2, 130)
    assert signals.came()
    signals._timer.join(5)
    assert not signals._timer.is_alive()
    with pytest.raises(Interrupted) as first:
        signals.check()
    assert first.value.code == 143


def test_a_run_starts_from_the_network_that_it_is_told_to(clock: Clock, tmp_path: Path) -> None:
    first = Little(clock, updates=4)
    for weights in first.network.parameters():
        weights.data.uniform_(-1, 1)
    networks.write(tmp_path / "policy.npz", first.network, NIM.variant())
    again = Little(clock, updates=4, start=f"net:{tmp_path}")
    for one, other in zip(first.network.parameters(), again.network.parameters(), strict=True):
        torch.testing.assert_close(one, other)
    with pytest.raises(ValueError, match="--start random is no network; 'pretrained' and 'net:FOLDER' are"):
        Little(clock, updates=4, start="random")
    with pytest.raises(ValueError, match=r"--start net:.* has another shape: stem.weight is \(8, 24\), not \(9, 24\)"):
        Learner.__init__(again, PPOConfig(NIM.name, width=9, start=f"net:{tmp_path}"), NIM.variant())


def test_moments_of_a_checkpoint_may_be_zero_and_not_negative(clock: Clock) -> None:
    learner = Little(clock, updates=4)
    parameters = list(learner.network.parameters())
    moments = {
        k: {"step": torch.zeros(()), "exp_avg": -torch.ones_like(one), "exp_avg_sq": torch.zeros_like(one)}
        for k, one in enumerate(parameters)
    }
    content = {
        "progress": dict.fromkeys(run.PROGRESS, 0),
        "network": learner.network.state_dict(),
        "optimizer": moments,
    }
    learner._check(content)
    for name in ("step", "exp_avg_sq"):
        wrong = {**moments, 0: {**moments[0], name: moments[0][name] - 1e-6}}
        with pytest.raises(ValueError, match=f"{name} of the optimizer has numbers beyond 0 to"):
            learner._check({**content, "optimizer": wrong})
    for name, number in (
        ("updates", -1),
        ("steps", 1.5),
        ("decided", True),
        ("seconds", float("inf")),
        ("seconds", "1"),
    ):
        with pytest.raises(ValueError, match=f"{name} is {number!r}"):
            learner._check({**content, "progress": {**content["progress"], name: number}})
    with pytest.raises(KeyError):
        learner._check({**content, "progress": {}})
