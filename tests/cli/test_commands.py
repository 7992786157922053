"""The command line: one way to give a game its options, and commands that need no more than they use."""

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monsterzoo import cli
from monsterzoo.benchmarks import throughput
from monsterzoo.benchmarks.bench import BENCHMARKS
from monsterzoo.cli import COMMANDS, main
from monsterzoo.cli import doctor as doctor_cli
from monsterzoo.cli import replay as replay_cli
from monsterzoo.cli.options import BUDGETS, SPECS
from monsterzoo.envs import make, names, replay
from monsterzoo.envs.core.options import Integer, Number, options_of, read_options, write_option
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.players import kinds
from monsterzoo.envs.version import VERSION
from monsterzoo.policies.search import Settings
from monsterzoo.training.arena import arena
from monsterzoo.training.runs import extras
from monsterzoo.training.runs.config import PPOConfig
from needs import ROOT, needs
from shell import exit_code

PUBLISHED = [*(ROOT / "docs").glob("*"), *(ROOT / "benchmarks" / "results").glob("*")]
DECK = {"1": 12, "2": 8, "3": 8, "4": 8, "5": 8, "6": 8, "7": 8}
ARENA = ["arena", "--game", "pikit_v0", "--policies", "random", "heuristic", "--games", "2", "--quiet"]
TRAIN = ["train", "--game", "pikit_v0", "--updates", "1", "--num-envs", "8", "--steps", "16", "--width", "8",
         "--minibatch", "64", "--opponents", "past", "--imitate", "", "--evaluate", "--log", "none"]  # fmt: skip
THROUGHPUT = ["throughput", "--quick", "--game", "pikit_v0", "--num-envs", "4"]


def played(command: list[str], folder: Path, *options: str) -> dict[str, Any]:
    """The options of the game that a command has played."""
    if command is ARENA:
        assert main([*ARENA, *options, "--output", str(folder / "result")]) == 0
        result: dict[str, Any] = json.loads((folder / "result.json").read_text())["options"]
        return result
    needs("torch")
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


@settings(max_examples=30)
@given(value=JSON | st.sampled_from(["True", "none", "7", "[1]", '"x"', "a b"]))
def test_options_are_read_as_they_were_written(value: Any) -> None:
    assert read_options(None, [write_option("key", value)]) == {"key": value}


@pytest.mark.parametrize("command", [ARENA, TRAIN], ids=lambda command: command[0])
def test_both_commands_take_a_deck(command: list[str], tmp_path: Path) -> None:
    options = played(command, tmp_path, "--players", "3", "--option", f"deck={json.dumps(DECK)}")
    assert options["deck"] == DECK
    assert options["players"] == 3


@pytest.mark.parametrize("command", [ARENA, TRAIN], ids=lambda command: command[0])
def test_both_commands_know_the_same_games(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chess" if word == "pikit_v0" else word for word in command]) == 2
    assert "there is no game 'chess'; games are bite_night_v0" in capsys.readouterr().err


@pytest.mark.parametrize("command", [ARENA, TRAIN], ids=lambda command: command[0])
def test_players_are_an_option_like_any_other(command: list[str], tmp_path: Path) -> None:
    options = played(command, tmp_path, "--option", "players=2", "--option", "max_turns=30")
    assert (options["players"], options["max_turns"]) == (2, 30)


@pytest.mark.parametrize("command", [ARENA, TRAIN], ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--option", "foo"], "--option 'foo': expected KEY=VALUE"),
        (["--option", "=3"], "--option '=3': expected KEY=VALUE"),
        (["--players", "3", "--option", "players=2"], "--option 'players=2': players is given twice"),
        (["--option", "colour=red"], "pikit_v0 has no option 'colour'; its options are players, deck"),
        (["--option", "deck=[1, 2]"], "pikit_v0: deck=[1, 2] is not allowed; allowed: None, or a dict"),
        (["--option", "max_turns=ten"], "pikit_v0: max_turns='ten' is not allowed"),
    ],
)
def test_both_commands_say_the_same_about_a_mistake(
    command: list[str], words: list[str], problem: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = ["--out", str(tmp_path)] if command is TRAIN else []
    assert main([*command, *out, *words]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"monsterzoo {command[0]}: {problem}")


NOT_ALLOWED = [
    ("arena", "--games 0", "an integer from 1 to 1000000000"),
    ("arena", "--games -10", "an integer from 1 to 1000000000"),
    ("arena", "--games many", "an integer from 1 to 1000000000"),
    ("arena", "--batch 0", "an integer from 1 to 1048576"),
    ("arena", "--batch -3", "an integer from 1 to 1048576"),
    ("arena", "--threads -1", "an integer from 1 to 1024"),
    ("arena", "--until-interval nan", "a number above 0, at most 1"),
    ("arena", "--until-interval 0", "a number above 0, at most 1"),
    ("arena", "--seed -1", "an integer from 0 to 18446744073709551615"),
    ("train", "--minibatch 0", "an integer from 1"),
    ("train", "--snapshot-every 0", "an integer from 1"),
    ("train", "--snapshots 0", "an integer from 1"),
    ("train", "--width -3", "an integer from 1 to 16384"),
    ("train", "--width 2.5", "an integer from 1 to 16384"),
    ("train", "--threads 0", "an integer from 1 to 1024"),
    ("train", "--updates -1", "an integer from 0"),
    ("train", "--minutes 0", "a number above 0"),
    ("train", "--learning-rate inf", "a number above 0, at most 1"),
    ("train", "--gamma nan", "a number from 0 to 1"),
    ("train", "--gamma 1,0", "a number from 0 to 1"),
    ("train", "--evaluate-games 0", "an integer from 1 to 1048576"),
    ("train", "--seed -1", "an integer from 0 to 18446744073709551615"),
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
        ("learning_rate", float("inf")), ("opponents", "past"), ("evaluate", ["random", 3]), ("log", "paper"),
        ("options", [1]), ("out", Path("runs")), ("game", None), ("width", "8"),
    ],
)  # fmt: skip
def test_options_given_in_python_are_checked_alike(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name}=.* is not allowed; allowed: "):
        PPOConfig(**{"game": "pikit_v0", name: value})


def test_numbers_of_other_types_are_kept_as_plain_ones() -> None:
    config = PPOConfig("pikit_v0", width=np.int64(8), gamma=1, opponents=["past"])
    assert (type(config.width), type(config.gamma), config.opponents) == (int, float, ("past",))


@pytest.mark.parametrize("wrong", [{"games": 0}, {"batch": -3}, {"threads": 0}, {"until_interval": float("nan")}])
def test_a_tournament_in_python_is_checked_alike(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"is not allowed; allowed: (None, or )?an? "):
        arena("pikit_v0", ["random", "random"], **{"games": 2, **wrong})
    with pytest.raises(ValueError, match=r"seed=-1 is not allowed"):
        arena("pikit_v0", ["random", "random"], 2, seed=-1)


def test_an_evaluation_has_a_game_for_every_side(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    needs("torch")
    assert main([*TRAIN, "--evaluate-games", "1", "--out", str(tmp_path / "run")]) == 2
    problem = "--evaluate-games 1 is not allowed; allowed: an integer from 4, one for every side"
    assert capsys.readouterr().err == f"monsterzoo train: {problem}\n"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("--minutes nan", "--minutes nan is not allowed; allowed: a number above 0"),
        ("--envs-per-runner 0", "--envs-per-runner 0 is not allowed"),
        ("--env-runners -1", "--env-runners -1 is not allowed"),
        ("--seed -1", "--seed -1 is not allowed"),
        ("--against nobody", "there is no policy 'nobody'"),
        ("--opponents nobody", "there is no policy 'nobody'"),
        ("--resume --out nowhere", "there is no checkpoint in nowhere to go on from"),
    ],
)
def test_rllib_is_not_started_for_nothing(words: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Said before anything of Ray is imported, so here too."""
    assert main(["rllib", "pikit_v0", *words.split()]) == 2
    assert f"monsterzoo rllib: {problem}" in capsys.readouterr().err


def test_training_asks_which_game(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["train", "--out", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err.startswith("monsterzoo train: which game? GAME is one of bite_night_v0, pikit_v0")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "players"),
    [("pikit_v0", 4), ("pikit_v0 --players 2", 2), ("bite_night_v0 --option players=3", 3)],
)
def test_training_has_as_many_players_as_the_game_unless_told(words: str, players: int, monkeypatch) -> None:
    needs("torch")
    from monsterzoo.training.runs import run as runs

    trained = []
    monkeypatch.setattr(runs, "train", lambda config, resume, kind: trained.append(config.players))
    assert main(["train", *words.split()]) == 0
    assert trained == [players]


@pytest.mark.parametrize("option", ["deck={1: 3", "deck={1: 3}", "deck=[1,"])
def test_options_that_look_like_json_and_are_none_are_refused_as_such(option, capsys) -> None:
    assert main(["arena", "pikit_v0", "--option", option, "--policies", "random", "random"]) == 2
    assert "is not JSON" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["pikit_v0", "--players", "2"],
        ["--players", "2", "pikit_v0"],
        ["--game", "pikit_v0", "--players", "2"],
        ["pikit_v0", "--game", "pikit_v0", "--option", "players=2"],
    ],
    ids=" ".join,
)
def test_a_game_is_named_anywhere_with_or_without_a_flag(words: list[str], tmp_path: Path) -> None:
    rest = ["--policies", "random", "heuristic", "--games", "2", "--quiet", "--output", str(tmp_path / "result")]
    assert main(["arena", *words, *rest]) == 0
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["game"], result["options"]["players"]) == ("pikit_v0", 2)


@pytest.mark.parametrize("words", [["chess"], ["--game", "chess"]], ids=" ".join)
@pytest.mark.parametrize(
    "command",
    ["games", "play", "play --text", "watch", "train", "sb3", "rllib", "arena --policies random random",
     "analyse --snapshot x", "exploit --policy random", "compile"],
)  # fmt: skip
def test_every_command_takes_a_game_with_or_without_a_flag(
    command: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name, *rest = command.split()
    if name == "watch":
        needs("uvicorn")
    assert main([name, *words, *rest]) == 2
    assert capsys.readouterr().err.startswith(f"monsterzoo {name}: there is no game 'chess'; games are bite_night_v0")


def test_a_run_is_trained_by_a_plain_name_and_written_to_output(tmp_path: Path) -> None:
    needs("torch")
    words = ["pikit_v0" if word == "--game" else word for word in TRAIN if word != "pikit_v0"]
    assert main([*words, "--players", "2", "--output", str(tmp_path / "run")]) == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["config"]["game"] == "pikit_v0"


@pytest.mark.parametrize("command", ["arena", "train"])
def test_two_games_are_one_too_many(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--policies", "random", "random"] if command == "arena" else []
    with pytest.raises(SystemExit, match="2"):
        main([command, "pikit_v0", "--game", "bite_night_v0", *more])
    assert "Only one game can be chosen" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("game", "option"),
    [
        ("bite_night_v0", "reflexes=[1, 2, 3.5]"),
        ("pikit_v0", 'deck={"1": 12, "2": 8, "3": 8, "4": 8, "5": 8, "6": 8, "7": 8}'),
    ],
)
def test_structured_options_come_as_json(game: str, option: str, tmp_path: Path) -> None:
    words = ["arena", game, "--players", "3", "--option", option, "--policies", "random", "heuristic", "--games", "2"]
    assert main([*words, "--quiet", "--output", str(tmp_path / "result")]) == 0
    options = json.loads((tmp_path / "result.json").read_text())["options"]
    key, _, value = option.partition("=")
    assert options[key] == json.loads(value)


def test_help_tells_ranges_and_true_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    texts = {}
    for command in ("train", "arena"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        texts[command] = " ".join(capsys.readouterr().out.split())
    assert "default: 1000, or at most 10000000 with --until-interval" in texts["arena"]
    assert "number of players (default: the game's own)" in texts["arena"]
    assert "number of players (default: the game's own)" in texts["train"]
    for text in texts.values():
        for kind in kinds():
            assert f" {SPECS[kind][0]} {SPECS[kind][1]}" in text
        for name, option in options_of(Settings).items():
            if name not in BUDGETS:
                assert f" {name}={option.default} {option.meaning}".rstrip() in text
        assert "BUDGET 1000 (simulations a decision) or 50ms" in text
        assert "MODULE:NAME a policy of your own" in text
    defaults = {one.name: one.default for one in fields(PPOConfig)}
    for name, option in options_of(PPOConfig).items():
        if isinstance(option.values, Integer | Number) and name != "players":
            assert f"{option.meaning} ({option.values}; default: {defaults[name]})" in texts["train"]
    assert "default: past heuristic random; no heuristic where the game has none" in texts["train"]
    assert "default: heuristic; no heuristic where the game has none" in texts["train"]


# --- Commands ---


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_function_and_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert capsys.readouterr().out.startswith(f"usage: monsterzoo {command} ")
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert COMMANDS[command] in capsys.readouterr().out


def test_unknown_commands_are_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["chess"])
    shown = capsys.readouterr().err
    assert "'chess'" in shown
    assert all(command in shown for command in COMMANDS)
    assert COMMANDS.keys() >= {"games", "train", "arena", "bench", "replay", "compile", "doctor"}


def test_without_a_word_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: monsterzoo ")
    for summary in COMMANDS.values():
        assert summary in shown


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"monsterzoo {VERSION}\n"


def test_nobody_reading_the_output_is_no_crash() -> None:
    command = f"{sys.executable} -m monsterzoo.cli games pikit_v0 --rules | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("Pikit: pikit_v0, in Gymnasium monsterzoo/Pikit-v0\n", "")


def without(packages: tuple[str, ...], *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command where some packages are not installed."""
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({packages})); "
        "from monsterzoo.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)


HELP = """
import sys
sys.modules.update(dict.fromkeys(("torch", "stable_baselines3", "matplotlib")))
sys.path.append(sys.argv[1])
from monsterzoo.cli import COMMANDS
from shell import exit_code
for words in ([], *([command] for command in COMMANDS)):
    assert exit_code([*words, "--help"]) == 0, words
"""


def test_help_needs_no_training_library() -> None:
    command = [sys.executable, "-c", HELP, str(Path(__file__).parents[1])]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    shown = [line.split()[2] for line in result.stdout.splitlines() if line.startswith("usage: monsterzoo ")]
    assert shown[1:] == list(COMMANDS)


def test_the_list_of_commands_needs_not_even_numba() -> None:
    for words in (["--help"], ["--version"], []):
        assert without(("numba", "numpy", "gymnasium"), *words).returncode == 0


def test_a_tournament_needs_no_training_library() -> None:
    result = without(("torch", "stable_baselines3", "matplotlib"), *ARENA)
    assert result.returncode == 0, result.stderr
    assert "win rate" in result.stdout


def test_what_is_not_installed_is_named() -> None:
    result = without(("torch",), *TRAIN)
    assert result.returncode == 2
    assert (
        result.stderr.strip()
        == "monsterzoo train: torch is not installed; pip install '.[train]' in the checkout brings it along"
    )


def test_training_asks_for_what_draws_its_curve_before_it_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    needs("torch")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main([*TRAIN, "--out", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err == "monsterzoo train: " + extras.how_to_get("matplotlib") + "\n"
    assert not (tmp_path / "run").exists()


def test_rllib_asks_for_its_own_extra() -> None:
    result = without(("torch", "ray"), "rllib", "pikit_v0")
    assert result.returncode == 2
    assert "ray is not installed; pip install '.[rllib]' in the checkout" in result.stderr


@pytest.mark.parametrize("command", ["play", "watch"])
def test_the_table_in_the_browser_asks_for_its_own_extra(command: str) -> None:
    result = without(("starlette",), command, "pikit_v0")
    assert result.returncode == 2
    told = "starlette is not installed; pip install '.[play]' in the checkout brings it along"
    assert result.stderr.strip() == f"monsterzoo {command}: {told}"


def test_errors_of_our_own_are_not_taken_for_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.COMMANDS, "nowhere", "")
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        main(["nowhere"])


# --- games, replay, bench, doctor ---


def test_games_are_listed_and_told_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in names())
    assert main(["games", "bite_night_v0", "--rules"]) == 0
    page = capsys.readouterr().out
    for key, option in find_game("bite_night_v0").options.items():
        assert f"\n  {key}=" in page
        assert option.meaning in page
    assert "# Bite Night" in page
    assert main(["games", "chess"]) == 2
    assert main(["games", "--rules"]) == 2


def test_the_list_of_games_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "game             title         players  options"
    assert lines[2].startswith("pikit_v0         Pikit         2, 3, 4  players, deck, centre, start, faces, max_turns")
    assert lines[4:] == ["", "`monsterzoo games GAME` tells what they mean, with --rules also how it is played."]
    assert main(["games", "yokai_septet_v0"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("Yokai Septet: yokai_septet_v0, in Gymnasium monsterzoo/YokaiSeptet-v0\n\noptions (--option")
    variants = {(one["players"], one.get("variant")): one for one in find_game("yokai_septet_v0").variants}
    assert (3, None) in variants
    assert re.search(r"^  players=3: everybody alone, \d+ actions, observations of \d+ columns$", page, re.MULTILINE)
    assert re.search(r"^  players=4: 2 sides, \d+ actions", page, re.MULTILINE)
    assert re.search(r"^players: random, search:BUDGET, heuristic, pretrained \(players=\d", page, re.MULTILINE)
    assert "# Yokai Septet" not in page, "rules are asked for"


@pytest.mark.parametrize(
    ("position", "words"),
    [
        ({"over": False, "to_act": [2]}, "After 3 of 9 moves; player_2 to decide."),
        ({"over": False, "to_act": [0, 1]}, "After 3 of 9 moves; player_0 and player_1 to decide."),
        ({"over": True, "winners": [1, 3]}, "After 3 moves: player_1 and player_3 won."),
        ({"over": True, "winners": []}, "After 3 moves: truncated, nobody wins."),
    ],
)
def test_a_replay_says_where_it_has_stopped(position: dict[str, Any], words: str) -> None:
    assert replay_cli._state_of(SimpleNamespace(snapshot=lambda: position), 3, 9) == words


def test_a_position_is_analysed_in_its_own_variant(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    env = make("pikit_v0", players=2, max_turns=6).unwrapped
    env.reset(seed=1)
    path = tmp_path / "position.json"
    path.write_text(json.dumps(env.snapshot()))
    words = ["analyse", "pikit_v0", "--snapshot", str(path), "--policy", "search:30,rollout=random"]
    assert main([*words, "--seat", "0"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(env.text_observation("player_0"))
    assert "player_0 decides; search:30,rollout=random chooses " in shown
    assert main([*words, "--players", "3"]) == 2
    assert "the snapshot has players=2, the environment players=3" in capsys.readouterr().err
    assert main([*words, "--seat", "1"]) == 2


def test_the_table_says_where_it_is_and_opens_a_browser(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, record: Path
) -> None:
    server, opened = needs("monsterzoo.table.server"), []
    served = []
    monkeypatch.setattr("webbrowser.open", opened.append)

    def serve(room: Any, port: int, announce: Any) -> None:
        announce("http://127.0.0.1:1/x/")
        served.append((room, port))

    monkeypatch.setattr(server, "serve", serve)
    words = ["play", "pikit_v0", "--players", "2", "--opponents", "random", "--seat", "1", "--seed", "4"]
    assert main([*words, "--port", "81", "--output", str(tmp_path / "out.json")]) == 0
    assert capsys.readouterr().out.startswith("The table is at http://127.0.0.1:1/x/\nIt is for this machine only")
    assert opened == ["http://127.0.0.1:1/x/"]
    room, port = served.pop()
    assert (room.plan, port) == (server.Plan("pikit_v0", {"players": 2}, ("random",), 1, 4), 81)
    assert room.output == tmp_path / "out.json"
    assert main(["watch", "--record", str(record), "--no-browser"]) == 0
    assert opened == ["http://127.0.0.1:1/x/"], "not again"
    assert served[0][0].watched.game.complete


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """The record of a whole game of first legal actions."""
    env = make("pikit_v0", players=2, max_turns=6).unwrapped
    env.reset(seed=5)
    while not (env.terminations["player_0"] or env.truncations["player_0"]):
        env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
    path = tmp_path / "game.json"
    path.write_text(json.dumps(env.record()))
    return path


def test_a_record_is_shown_move_by_move(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    actions = json.loads(record.read_text())["actions"]
    assert main(["replay", str(record)]) == 0
    shown = capsys.readouterr().out
    for number, action in enumerate(actions, 1):
        assert f"{number:4}  player_" in shown
        assert f"  {action}\n" in shown
    assert f"After {len(actions)} moves: truncated, nobody wins." in shown


def test_a_record_stops_where_it_is_told(record: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    position = tmp_path / "position.json"
    words = ["replay", str(record), "--at", "3", "--view", "player_1", "--output", str(position)]
    assert main(words) == 0
    assert "You are player_1." in capsys.readouterr().out
    snapshot = json.loads(position.read_text())
    env = replay({**json.loads(record.read_text()), "actions": json.loads(record.read_text())["actions"][:3],
                  "seats": json.loads(record.read_text())["seats"][:3]})  # fmt: skip
    assert snapshot == env.snapshot()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--at", "1000"], "--at 1000 is not allowed; allowed: an integer from 0 to"),
        (["--at", "x"], "--at x is not allowed"),
        (["--view", "player_2"], "--view player_2 is not allowed; allowed: all, player_0, player_1"),
    ],
)
def test_what_a_record_has_not_is_refused(
    words: list[str], problem: str, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(record), *words]) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"actions": 3}', '{"game": "chess", "actions": []}',
                                     '{"game": "pikit_v0", "options": {}, "seed": 1, "actions": ["fly"]}'])  # fmt: skip
def test_what_is_no_record_is_refused_in_one_line(
    content: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "game.json"
    path.write_text(content)
    assert main(["replay", str(path)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    assert shown.err.startswith(f"monsterzoo replay: {path}")


def test_benchmarks_are_found_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 0
    listed = capsys.readouterr().out
    for name, summary in BENCHMARKS.items():
        assert f"  {name:12} {summary}" in listed
        assert exit_code(["bench", name, "--help"]) == 0
        assert f"usage: monsterzoo bench {name} " in capsys.readouterr().out
    assert set(BENCHMARKS) == {"throughput", "coldstart", "peers", "learning"}
    assert main(["bench", "speed"]) == 2
    assert "unknown benchmark 'speed'; there are throughput, " in capsys.readouterr().err


def test_benchmarks_that_need_more_say_so() -> None:
    refused = without(("torch",), "bench", "learning")
    assert refused.returncode == 2
    assert "torch is not installed; pip install '.[train]' in the checkout" in refused.stderr


def written(words: list[str], folder: Path) -> set[str]:
    """What a benchmark leaves in the current folder: nothing in the temporary one, nothing over what is published."""
    here, scratch = folder / "here", folder / "scratch"
    here.mkdir()
    scratch.mkdir()
    published = {path: path.stat().st_mtime_ns for path in PUBLISHED}
    command = [sys.executable, "-m", "monsterzoo.cli", "bench", *words]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    subprocess.run(command, cwd=here, env=environment, check=True, capture_output=True)
    assert not list(scratch.iterdir())
    assert {path: path.stat().st_mtime_ns for path in PUBLISHED} == published
    return {path.name for path in here.rglob("*")}


def test_a_benchmark_that_is_told_nothing_writes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(throughput, "benchmark", lambda *_: {"rows": []})
    monkeypatch.chdir(tmp_path)
    assert main(["bench", *THROUGHPUT]) == 0
    assert not list(tmp_path.iterdir())
    assert main(["bench", *THROUGHPUT, "--json", "x.json"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.slow
def test_a_benchmark_writes_where_it_is_told(tmp_path: Path) -> None:
    needs("matplotlib")
    assert written([*THROUGHPUT, "--json", "x.json", "--picture", "x.png"], tmp_path) == {"x.json", "x.png"}


@pytest.mark.parametrize("name", ["peers", "throughput"])
def test_a_picture_that_cannot_be_drawn_is_refused_before_anything_is_measured(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["bench", name, "--picture", "x.png"]) == 2
    assert tuple(capsys.readouterr()) == ("", "monsterzoo bench: " + extras.how_to_get("matplotlib") + "\n")


def test_the_doctor_tells_versions_cache_and_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MONSTERZOO_CACHE_DIR", str(tmp_path))
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "code.nbi").write_bytes(b"x" * 3_000_000)
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert f"monsterzoo {VERSION} " in shown
    assert f"numpy {np.__version__}, numba " in shown
    assert f"compiled code: {tmp_path}, writable, 3 MB" in shown
    assert all(f"\n  {command:10} " in shown for command in COMMANDS)
    assert list(tmp_path.iterdir()) == [tmp_path / "build"], "looking leaves nothing behind"
    monkeypatch.setattr(extras, "installed", lambda package: None if package == "torch" else "1.0")
    monkeypatch.setattr(doctor_cli, "installed", extras.installed)
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^  train +torch missing, stable-baselines3 1.0", shown, re.MULTILINE)
    assert re.search(r"^  arena +ready; train needed for the picture", shown, re.MULTILINE)
    without_torch = set(re.findall(r"^  (\w+) +needs pip install", shown, re.MULTILINE))
    assert without_torch == {"train", "exploit", "rllib", "sb3"}


def test_the_doctor_finds_a_cache_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("MONSTERZOO_CACHE_DIR", str(file / "cache"))
    assert main(["doctor"]) == 1
    assert f"PROBLEM: {file / 'cache'} cannot be written" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("module", "advice"),
    [
        ("torch.utils", "torch is not installed; pip install '.[train]' in the checkout brings it along"),
        ("pygame", "pygame is not installed; pip install '.[render]' in the checkout brings it along"),
        ("pyspiel", "pyspiel is not installed; pip install '.[openspiel]' in the checkout brings it along"),
        ("PIL", "PIL is not installed; pip install '.[render]' in the checkout brings it along"),
        (
            "stable_baselines3",
            "stable_baselines3 is not installed; pip install '.[train]' in the checkout brings it along",
        ),
        ("elsewhere", "elsewhere is not installed"),
    ],
)
def test_the_extra_that_brings_a_module_is_known(module: str, advice: str) -> None:
    assert extras.how_to_get(module) == advice


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--cross-play", "--against", "random", "heuristic"], "--cross-play is against one policy, not 2"),
        (["--protocol", "standard", "--against", "random"], "--protocol says whom to play and how long"),
        (["--protocol", "standard", "--cross-play"], "--protocol says whom to play and how long"),
    ],
)
def test_arenas_whose_opponents_contradict_are_refused(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["arena", "yokai_septet_v0", "--policies", "random", *words]) == 2
    assert problem in capsys.readouterr().err
