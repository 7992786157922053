"""The command line: one way to give a game its options, and commands that need no more than they use."""

import json
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from monsterzoo.training import cli
from monsterzoo.training.arena import arena
from monsterzoo.training.cli import COMMANDS, main
from monsterzoo.training.config import Config
from monsterzoo.training.game_options import read_options, write_option
from monsterzoo.training.settings import Number, Whole, described

DECK = {"1": 12, "2": 8, "3": 8, "4": 8, "5": 8, "6": 8, "7": 8}
ARENA = ["arena", "--game", "pikit_v0", "--policies", "random", "random", "--games", "2", "--quiet"]
TRAIN = ["train", "--game", "pikit_v0", "--updates", "1", "--num-envs", "8", "--steps", "16", "--width", "8",
         "--minibatch", "64", "--opponents", "random", "--imitate", "", "--evaluate", "--no-tensorboard"]  # fmt: skip


def played(command: list[str], folder: Path, *options: str) -> dict[str, Any]:
    """The options of the game that a command has played."""
    if command is ARENA:
        assert main([*ARENA, *options, "--output", str(folder / "result")]) == 0
        result: dict[str, Any] = json.loads((folder / "result.json").read_text())["options"]
        return result
    pytest.importorskip("torch")
    assert main([*TRAIN, *options, "--out", str(folder / "run")]) == 0
    config = json.loads((folder / "run" / "run.json").read_text())["config"]
    return {"players": config["players"], **config["options"]}


# --- Options ---


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("max_turns=30", 30),
        ("share=0.5", 0.5),
        ("deck={\"1\": 9, \"2\": 3}", {"1": 9, "2": 3}),
        ("reflexes=[1,2, 3.5]", [1, 2, 3.5]),
        ("episode=round", "round"),
        ("episode=\"round\"", "round"),
        ("text=\"7\"", "7"),
        ("text=a=b", "a=b"),
        ("text=", ""),
        ("flag=True", True), ("flag=true", True),
        ("flag=False", False), ("flag=false", False),
        ("laps=None", None), ("laps=none", None), ("laps=null", None),
    ],
)  # fmt: skip
def test_values_are_json_or_names_of_python_or_text(text: str, value: Any) -> None:
    key = text.partition("=")[0]
    assert read_options(None, [text]) == {key: value}
    assert type(read_options(None, [text])[key]) is type(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(value=JSON | st.sampled_from(["True", "none", "7", "[1]", '"x"', "a b"]))
def test_options_are_read_as_they_were_written(value: Any) -> None:
    assert read_options(None, [write_option("key", value)]) == {"key": value}


@pytest.mark.parametrize("command", [ARENA, TRAIN], ids=lambda command: command[0])
def test_both_commands_take_a_deck(command: list[str], tmp_path: Path) -> None:
    options = played(command, tmp_path, "--players", "3", "--option", f"deck={json.dumps(DECK)}")
    assert options["deck"] == DECK
    assert options["players"] == 3


@pytest.mark.parametrize("command", [ARENA, TRAIN], ids=lambda command: command[0])
def test_players_are_an_option_like_any_other(command: list[str], tmp_path: Path) -> None:
    options = played(command, tmp_path, "--option", "players=2", "--option", "max_turns=30")
    assert (options["players"], options["max_turns"]) == (2, 30)


@pytest.mark.parametrize("command", [ARENA, TRAIN], ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--option", "foo"], "--option 'foo': KEY=VALUE is wanted"),
        (["--option", "=3"], "--option '=3': KEY=VALUE is wanted"),
        (["--players", "3", "--option", "players=2"], "--option 'players=2': players is given twice"),
        (["--option", "colour=red"], "pikit_v0 has no option 'colour'; its options are players, deck"),
        (["--option", "deck=[1, 2]"], "pikit_v0: deck=[1, 2] is not allowed; allowed: None, or a dict"),
        (["--option", "max_turns=ten"], "pikit_v0: max_turns='ten' is not allowed"),
        (["--game", "chess"], "there is no game 'chess'"),
    ],
)
def test_both_commands_say_the_same_about_a_mistake(
    command: list[str], words: list[str], problem: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = ["--out", str(tmp_path)] if command is TRAIN else []
    assert main([*command, *out, *words]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"monsterzoo {command[0]}: {problem}")


NOT_ALLOWED = [
    ("arena", "--games 0", "a whole number from 1 to 1000000000"),
    ("arena", "--games -10", "a whole number from 1 to 1000000000"),
    ("arena", "--games many", "a whole number from 1 to 1000000000"),
    ("arena", "--batch 0", "a whole number from 1 to 1048576"),
    ("arena", "--batch -3", "a whole number from 1 to 1048576"),
    ("arena", "--threads -1", "a whole number from 1 to 1024"),
    ("arena", "--until-interval nan", "a number above 0, at most 1"),
    ("arena", "--until-interval 0", "a number above 0, at most 1"),
    ("arena", "--seed -1", "a whole number from 0 to 18446744073709551615"),
    ("train", "--minibatch 0", "a whole number from 1"),
    ("train", "--snapshot-every 0", "a whole number from 1"),
    ("train", "--snapshots 0", "a whole number from 1"),
    ("train", "--width -3", "a whole number from 1 to 16384"),
    ("train", "--width 2.5", "a whole number from 1 to 16384"),
    ("train", "--threads 0", "a whole number from 1 to 1024"),
    ("train", "--updates -1", "a whole number from 0"),
    ("train", "--minutes 0", "a number above 0"),
    ("train", "--learning-rate inf", "a number above 0, at most 1"),
    ("train", "--gamma nan", "a number from 0 to 1"),
    ("train", "--gamma 1,0", "a number from 0 to 1"),
    ("train", "--evaluate-games 0", "a whole number from 1"),
    ("train", "--seed -1", "a whole number from 0 to 18446744073709551615"),
]


@pytest.mark.parametrize(("command", "words", "allowed"), NOT_ALLOWED, ids=lambda value: str(value).replace(" ", "="))
def test_numbers_that_make_no_sense_are_refused_in_one_sentence(
    command: str, words: str, allowed: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = ["--out", str(tmp_path / "run")] if command == "train" else ["--output", str(tmp_path / "result")]
    assert main([*(TRAIN if command == "train" else ARENA), *out, *words.split()]) == 2
    shown = capsys.readouterr()
    assert shown.err == f"monsterzoo {command}: {words} is not allowed; allowed: {allowed}\n"
    assert shown.out == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gamma", float("nan")), ("gamma", True), ("gamma", None), ("width", 2.0), ("width", -3), ("updates", -1),
        ("learning_rate", float("inf")), ("opponents", "past"), ("evaluate", ["random", 3]), ("tensorboard", 1),
        ("options", [1]), ("out", Path("runs")), ("game", None),
    ],
)  # fmt: skip
def test_options_given_in_python_are_checked_alike(name: str, value: Any) -> None:
    flag = "--" + name.replace("_", "-")
    with pytest.raises(ValueError, match=rf"^{flag} .* is not allowed; allowed: "):
        Config(**{"game": "pikit_v0", name: value})


def test_numbers_of_other_types_are_kept_as_plain_ones() -> None:
    config = Config("pikit_v0", width=np.int64(8), gamma=1, opponents=["past"])
    assert (type(config.width), type(config.gamma), config.opponents) == (int, float, ("past",))


@pytest.mark.parametrize("wrong", [{"games": 0}, {"batch": -3}, {"threads": 0}, {"until_interval": float("nan")}])
def test_a_tournament_in_python_is_checked_alike(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"is not allowed; allowed: a "):
        arena("pikit_v0", ["random", "random"], **{"games": 2, **wrong})
    with pytest.raises(ValueError, match=r"--seed -1 is not allowed"):
        arena("pikit_v0", ["random", "random"], 2, seed=-1)


def test_an_evaluation_has_a_game_for_every_side(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert main([*TRAIN, "--evaluate-games", "1", "--out", str(tmp_path / "run")]) == 2
    problem = "--evaluate-games 1 is not allowed; allowed: a whole number from 2, one for every side"
    assert capsys.readouterr().err == f"monsterzoo train: {problem}\n"


def test_training_asks_which_game(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["train", "--out", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err.startswith("monsterzoo train: which game? --game is one of bite_night_v0, pikit_v0")
    assert not list(tmp_path.iterdir())


def test_help_tells_ranges_and_true_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    texts = {}
    for command in ("train", "arena"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        texts[command] = " ".join(capsys.readouterr().out.split())
    assert "default: 1000, or at most 10000000 with --until-interval" in texts["arena"]
    assert "number of players (default: the game's own)" in texts["arena"]
    assert "--game TEXT name of the game --players" in texts["train"], "there is no default"
    defaults = {one.name: one.default for one in fields(Config)}
    for name, (meaning, allowed) in described(Config).items():
        if isinstance(allowed, Whole | Number):
            assert f"{meaning} ({allowed}; default: {defaults[name]})" in texts["train"]
    assert "default: past heuristic random; no heuristic where the game has none" in texts["train"]
    assert "default: heuristic; no heuristic where the game has none" in texts["train"]


# --- Commands ---


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_function_and_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    summary, target = COMMANDS[command]
    module, function = target.split(":")
    assert callable(getattr(import_module(module), function))
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert capsys.readouterr().out.startswith(f"usage: monsterzoo {command} ")
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert summary in capsys.readouterr().out


def test_unknown_commands_are_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["chess"]):
        with pytest.raises(SystemExit, match="2"):
            main(words)
        assert "command" in capsys.readouterr().err
    assert COMMANDS.keys() >= {"arena", "train"}


def without(packages: tuple[str, ...], *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command where some packages are not installed."""
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({packages})); "
        "from monsterzoo.training.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [["--help"], *([command, "--help"] for command in COMMANDS)], ids=" ".join)
def test_help_needs_no_training_library(words: list[str]) -> None:
    result = without(("torch", "stable_baselines3", "rich", "matplotlib"), *words)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("usage: monsterzoo ")


def test_the_list_of_commands_needs_not_even_numba() -> None:
    assert without(("numba", "numpy", "gymnasium"), "--help").returncode == 0


def test_a_tournament_needs_no_training_library() -> None:
    result = without(("torch", "stable_baselines3", "rich", "matplotlib"), *ARENA)
    assert result.returncode == 0, result.stderr
    assert "win rate" in result.stdout


def test_what_is_not_installed_is_named() -> None:
    result = without(("torch",), *TRAIN)
    assert result.returncode == 2
    assert (
        result.stderr.strip()
        == "monsterzoo train: torch is not installed; pip install 'monsterzoo[train]' brings it along"
    )


def test_errors_of_our_own_are_not_taken_for_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.COMMANDS, "arena", ("", "monsterzoo.training.nowhere:main"))
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        main(["arena"])
