"""Runs and tournaments that are interrupted, killed and resumed: nothing is lost, and the end is the same."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import killed
import pytest
import torch
from monsterzoo.cli import main
from monsterzoo.envs.core import registry
from monsterzoo.policies.networks import WEIGHTS
from monsterzoo.policies.networks import files as weights_files
from monsterzoo.training.algorithms import ppo
from monsterzoo.training.algorithms.ppo import PPOTrainer
from monsterzoo.training.arena import Tournament
from monsterzoo.training.runs import run as runs
from monsterzoo.training.runs.config import MAY_CHANGE, RUN, PPOConfig
from monsterzoo.training.runs.interrupts import SIGNALS, DeferredInterrupt, Interrupted
from monsterzoo.training.runs.journal import METRICS, Journal
from monsterzoo.training.runs.run import CHECKPOINT
from nim import NIM
from test_ppo import same

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
TINY = ["--updates", "4", "--num-envs", "8", "--steps", "16", "--width", "8", "--minibatch", "64",
        "--evaluate-games", "8", "--log", "none"]  # fmt: skip
CONFIG = PPOConfig(NIM.name, updates=4, num_envs=8, steps=16, width=8, minibatch=64, evaluate_games=8, log="none")


@pytest.fixture(autouse=True)
def nim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nim is known while a test runs."""
    monkeypatch.setitem(registry._loaders, NIM.name, lambda: NIM)
    monkeypatch.setitem(registry._games, NIM.name, NIM)


@pytest.fixture(autouse=True)
def usual_signals() -> Iterator[None]:
    """As in a terminal; a job in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def train(out: Path, *words: str) -> int:
    return main(["train", "--game", NIM.name, *TINY, "--out", str(out), *words])


def resume(out: Path, *words: str) -> int:
    return main(["train", "--resume", "--out", str(out), *words])


def updates(out: Path) -> list[int]:
    """The updates the journal tells of."""
    return [json.loads(line)["updates"] for line in (out / METRICS).read_text().splitlines()]


def checkpoint(out: Path) -> Any:
    """All of a run that does not depend on the clock."""
    content = torch.load(out / CHECKPOINT, weights_only=True)
    content["progress"].pop("seconds")
    return content


# --- Signals ---


@pytest.mark.parametrize("number", SIGNALS)
def test_a_run_that_is_interrupted_saves_and_says_where(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, update = tmp_path / "run", PPOTrainer.update

    def interrupted(self: PPOTrainer) -> dict[str, float]:
        if self.updates == 1:
            signal.raise_signal(number)
        return update(self)

    with monkeypatch.context() as patch:
        patch.setattr(PPOTrainer, "update", interrupted)
        assert train(out) == CODES[number]
    error = capsys.readouterr().err
    assert f"saved in {out / CHECKPOINT}, go on with: monsterzoo train --resume --out {out}" in error
    assert "Traceback" not in error
    assert updates(out) == [1, 2]
    assert checkpoint(out)["progress"]["updates"] == 2, "the update under way is not lost"
    assert resume(out) == 0
    assert train(tmp_path / "whole") == 0
    assert same(checkpoint(out), checkpoint(tmp_path / "whole"))


def test_a_second_signal_ends_a_run_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def impatient(self: PPOTrainer) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError

    monkeypatch.setattr(PPOTrainer, "update", impatient)
    assert train(tmp_path / "run") == 130
    assert "interrupted before anything was saved" in capsys.readouterr().err


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("output", [True, False])
def test_a_tournament_that_is_interrupted_saves_and_says_where(
    number: signal.Signals,
    output: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    play = Tournament.play_listed

    def interrupted(self: Tournament, *arguments: Any) -> None:
        if not self.games:
            signal.raise_signal(number)
        play(self, *arguments)

    words = ["arena", "--game", NIM.name, "--policies", "random", "random", "--games", "5000", "--quiet"]
    words += ["--output", str(tmp_path / "result")] if output else []
    with monkeypatch.context() as patch:
        patch.setattr(Tournament, "play_listed", interrupted)
        assert main(words) == CODES[number]
    error = capsys.readouterr().err
    kept = f"saved in {tmp_path / 'result.npz'}, the same command goes on"
    assert f"interrupted after 4096 games; {kept if output else 'nothing is kept without --output'}" in error
    assert "Traceback" not in error
    if output:
        assert json.loads((tmp_path / "result.json").read_text())["games"] == 4096
        assert main(words) == 0
        assert "4096 finished games taken over" in capsys.readouterr().err
        assert json.loads((tmp_path / "result.json").read_text())["games"] == 5000


def test_an_update_that_takes_long_is_given_up_and_those_before_it_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a large rollout does; nobody waits for its end, and what the given-up update has changed is not saved."""
    out, play, learn = tmp_path / "run", PPOTrainer.play, PPOTrainer.learn

    def endless(self: PPOTrainer) -> dict[str, float]:
        report = learn(self)
        if self.updates == 2:
            signal.raise_signal(signal.SIGINT)
            while True:
                pass
        return report

    with monkeypatch.context() as patch:
        patch.setattr("monsterzoo.training.runs.interrupts.PATIENCE", 0.05)
        patch.setattr(PPOTrainer, "learn", endless)
        assert train(out, "--checkpoint-every", "1000") == 130
    assert PPOTrainer.play is play
    assert f"saved in {out / CHECKPOINT}" in capsys.readouterr().err
    assert updates(out) == [1, 2]
    assert checkpoint(out)["progress"]["updates"] == 2
    assert resume(out) == 0
    assert train(tmp_path / "whole", "--checkpoint-every", "1000") == 0
    assert same(checkpoint(out), checkpoint(tmp_path / "whole"))


def test_an_evaluation_that_takes_long_is_given_up_and_its_update_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"

    def endless(self: PPOTrainer) -> dict[str, float]:
        signal.raise_signal(signal.SIGINT)
        while True:
            pass

    monkeypatch.setattr("monsterzoo.training.runs.interrupts.PATIENCE", 0.05)
    monkeypatch.setattr(PPOTrainer, "evaluate", endless)
    assert train(out) == 130
    assert updates(out) == [1]
    assert checkpoint(out)["progress"]["updates"] == 1


def test_a_signal_before_there_is_anything_to_save_ends_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ppo, "PPOTrainer", lambda *_: signal.raise_signal(signal.SIGTERM))
    assert train(tmp_path / "run") == 143
    assert capsys.readouterr().err == "monsterzoo train: interrupted\n"


def test_a_deferred_signal_interrupts_soon_unless_a_safe_point_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monsterzoo.training.runs.interrupts.PATIENCE", 0.05)

    def work_for_a_minute() -> None:
        with DeferredInterrupt():
            signal.raise_signal(signal.SIGINT)
            time.sleep(60)

    with pytest.raises(Interrupted):
        work_for_a_minute()
    with DeferredInterrupt() as signals:
        signal.raise_signal(signal.SIGINT)
        assert signals.came()
        time.sleep(0.2)  # for saving


def test_signals_are_handled_as_before_afterwards() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with DeferredInterrupt() as signals:
        signals.check()
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Interrupted, match="interrupted"):
            signals.check()
    assert [signal.getsignal(number) for number in SIGNALS] == before
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with DeferredInterrupt() as signals:
        signal.raise_signal(signal.SIGINT)
        assert not signals.number, "what is ignored stays so"


# --- The journal ---


def test_a_checkpoint_is_never_ahead_of_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, save, synced = tmp_path / "run", PPOTrainer.save, []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(os.fstat(file).st_ino), fsync(file)))

    def killed_while_saving(self: PPOTrainer, folder: Path) -> None:
        assert updates(out) == list(range(1, self.updates + 1))
        assert synced[-1] == (out / METRICS).stat().st_ino
        save(self, folder)

    monkeypatch.setattr(PPOTrainer, "save", killed_while_saving)
    assert train(out, "--checkpoint-every", "0") == 0
    assert updates(out) == [1, 2, 3, 4]


def test_a_resumed_journal_leaves_out_what_is_damaged_or_after_the_checkpoint(tmp_path: Path) -> None:
    line = {"steps": 1, "entropy": 1.0, "explained": 0.0}
    lines = [json.dumps({"updates": update, **line}) for update in [1, 2, 3, 4, 5]]
    (tmp_path / METRICS).write_text("\n".join([*lines[:2], "[]", "{}", *lines[2:], '{"updates": 6, "st']))
    with Journal(tmp_path, 4, CONFIG, 2):
        assert updates(tmp_path) == [1, 2, 3, 4]


def test_a_journal_is_never_half_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = json.dumps({"updates": 1, "steps": 1, "entropy": 1.0, "explained": 0.0}) + "\n"
    (tmp_path / METRICS).write_text(line)

    def fail(*_: Any) -> None:
        raise OSError("killed")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="killed"):
        Journal(tmp_path, 1, CONFIG, 2)
    assert (tmp_path / METRICS).read_text() == line


# --- A full disk ---


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are set the Unix way")
@pytest.mark.parametrize("most", [100, 4000], ids=["no line", "no checkpoint"])
def test_a_full_disk_costs_one_line_and_no_work(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import resource

    out, update = tmp_path / "run", PPOTrainer.update
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)

    def full(self: PPOTrainer) -> dict[str, float]:
        if self.updates == 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, usual[1]))
        return update(self)

    with monkeypatch.context() as patch:
        patch.setattr(PPOTrainer, "update", full)
        try:
            assert train(out, "--checkpoint-every", "0") == 2
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    error = capsys.readouterr().err
    assert re.search(rf"^monsterzoo train: {re.escape(str(out))}/[\w.]+: File too large$", error, re.MULTILINE), error
    assert "Traceback" not in error
    assert not list(out.glob("*.part"))
    assert checkpoint(out)["progress"]["updates"] == 2
    assert resume(out) == 0
    assert updates(out) == [1, 2, 3, 4]
    assert train(tmp_path / "whole") == 0
    assert same(checkpoint(out), checkpoint(tmp_path / "whole"))


# --- Going on ---


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    runs.train(replace(CONFIG, out=str(folder)), game=NIM)
    return folder


@pytest.mark.parametrize(
    ("words", "wanted", "has"),
    [
        ("--game pikit_v0", "--game pikit_v0", "--game nim_v0"),
        ("--players 3", "--players 3", "--players 2"),
        ("--learning-rate 0.5", "--learning-rate 0.5", "--learning-rate 0.001"),
        ("--width 9", "--width 9", "--width 8"),
        ("--opponents random", "--opponents random", "--opponents past random"),
        ("--option stones=3", "--option stones=3", "none"),
        ("--option reward=score", "--option reward=score", "--option reward=win"),
    ],
    ids=["game", "players", "learning rate", "width", "opponents", "unknown option", "reward"],
)
def test_a_run_does_not_go_on_with_other_options(
    words: str, wanted: str, has: str, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (finished / RUN).read_bytes()
    assert resume(finished, *words.split(), "--updates", "9") == 2
    assert f"monsterzoo train: {wanted} contradicts the run, which has {has}; only" in capsys.readouterr().err
    assert (finished / RUN).read_bytes() == before


def test_a_run_may_be_told_again_what_it_knows(finished: Path) -> None:
    config = PPOConfig.read(finished / RUN)
    known = {**config.to_dict(), "opponents": config.opponents, "evaluate": config.evaluate}
    assert config.going_on({name: value for name, value in known.items() if name != "options"}) == config
    assert config.going_on({"options": {"reward": "win"}}) == config


def test_how_long_a_run_takes_and_how_it_is_watched_may_change(finished: Path) -> None:
    config = PPOConfig.read(finished / RUN)
    changes = {"out": "elsewhere", "minutes": 1.0, "updates": 9, "threads": 2, "evaluate": (), "evaluate_every": 1.0,
               "evaluate_games": 4, "checkpoint_every": 1.0, "log": "tensorboard"}  # fmt: skip
    assert changes.keys() == set(MAY_CHANGE)
    assert config.going_on(changes) == replace(config, **changes)


def test_a_run_whose_budget_is_used_up_says_what_to_raise(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert resume(finished) == 0
    assert "the budget is used up; raise --updates 4 to go on learning" in capsys.readouterr().out
    assert updates(finished) == [1, 2, 3, 4]
    assert "result" in json.loads((finished / RUN).read_text())


def test_a_run_without_a_checkpoint_is_started_again(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / RUN).write_bytes((finished / RUN).read_bytes())
    assert resume(tmp_path) == 2
    assert "there is no checkpoint" in capsys.readouterr().err
    assert train(tmp_path) == 0


# --- kill -9 ---


def test_killed_between_the_last_two_files_a_run_still_ends_with_its_last_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, replacing, files = tmp_path / "run", runs.replacing, []

    def killed_before_the_last(path: Path) -> Any:
        files.append(path)  # checkpoints, each after its network
        if len(files) == CONFIG.updates:
            raise OSError("killed")
        return replacing(path)

    with monkeypatch.context() as patch:
        patch.setattr(runs, "replacing", killed_before_the_last)
        assert train(out, "--checkpoint-every", "0") == 2
    assert resume(out) == 0
    assert train(tmp_path / "whole") == 0
    one, other = (weights_files.read(folder / WEIGHTS)[0] for folder in (out, tmp_path / "whole"))
    assert all((one[name] == other[name]).all() for name in other)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_moment_every_command_comes_to_the_same_end() -> None:
    words = [sys.executable, killed.__file__, "--kills", "2"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for name in killed.COMMANDS:
        assert f"{name}: killed 2 times, came to the same end" in done.stdout
