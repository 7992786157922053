"""`monsterzoo play --text`: a person at the table, driven through stdin and through a terminal."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import monsterzoo.envs as mz
import pytest
from monsterzoo.cli import main
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.seating import seat_around
from monsterzoo.table import terminal
from monsterzoo.table.played import PlayedGame
from monsterzoo.training.runs.interrupts import Interrupted

WORDS = ["pikit_v0", "--players", "2", "--seed", "3", "--option", "max_turns=6"]


def play(monkeypatch: pytest.MonkeyPatch, lines: list[str], *words: str) -> int:
    """Type some lines, and nothing more after them."""
    typed = iter(lines)

    def answer(question: str = "") -> str:
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer)
    return main(["play", "--text", *WORDS, *words])


def test_a_game_is_played_to_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "game.json"
    assert play(monkeypatch, ["1"] * 200, "--opponents", "random", "--output", str(out)) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Pikit: you are player_0, against player_1 (random). Seed 3. ? is help.\n")
    assert "nobody wins" in shown
    assert "\nPikit\nphase: " in shown, "at the end everything lies open"
    assert re.search(r"\nplayer +kaiju +mechas +most 1s +wounds +points\n[- ]+\nyou +\d+", shown), (
        "the score is broken down"
    )
    end = mz.replay(json.loads(out.read_text()))
    assert end.snapshot()["over"]


def test_what_is_shown_is_the_seats_view_and_its_legal_actions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(monkeypatch, []) == 0
    shown = capsys.readouterr().out
    env = mz.make("pikit_v0", players=2, max_turns=6).unwrapped
    env.reset(seed=3)
    for line in env.text_observation("player_0").splitlines():
        assert line in " ".join(shown.split())
    for number, action in enumerate(env.infos["player_0"]["action_mask"].nonzero()[0], 1):
        assert re.search(rf" {number} {re.escape(env.action_name(action))}( |\n)", shown)
    assert shown.endswith("\nThe game is left.\n")
    assert max(map(len, shown.splitlines())) < 100


def test_secrets_of_others_are_not_shown_before_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same game with another hidden deal reads the same up to the person's first decision."""
    texts = []
    for hidden in (False, True):
        monkeypatch.setattr("builtins.input", lambda _: "quit")
        variant = find_game("yokai_septet_v0").variant(players=3)
        game = PlayedGame(variant, 0, seat_around(variant, 0, ["random"], 1), 9)
        if hidden:
            states = game.env.states
            states["rng"] = 77
            variant.game.rules.determinize(states[0], 0)
            other = variant.snapshot(states[0])
            assert other["hands"] != game.env.snapshot()["hands"]
            game.env.reset(options={"snapshot": other})
        assert not terminal._play(game)[0].over
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]


def test_wrong_input_is_asked_again(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert play(monkeypatch, ["fly", "99", "take sum", "", "?", "rules", "view", "end disc", "quit"]) == 0
    shown = capsys.readouterr().out
    assert "'fly': it names none of the actions. Which action? ? is help." in shown
    assert "'99': there is no action 99, the numbers are 1 to 16." in shown
    assert "'take sum': it names none of the actions. 'take sum' (" in shown, "it says why not"
    assert terminal.HELP in shown
    assert "# Pikit" in shown
    assert shown.count("You are player_0. It is your turn, phase discard.") == 2, "view shows it once more"
    assert "\nYou are player_0. It is your turn, phase take." in shown


def test_later_turns_tell_what_happened_and_what_has_changed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(monkeypatch, ["end discards", "take nothing"], "--opponents", "random") == 0
    first, _, later = capsys.readouterr().out.partition("It is your turn, phase take.")
    assert "you: end the discards" in first
    assert "player_1: dice " in later
    hand = next(line for line in first.splitlines() if "your hand" in line.lower() or "You hold" in line)
    assert hand not in later.split("player_1: dice ")[0]


def test_rules_are_of_the_variant_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = iter(["rules", "quit"])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    assert main(["play", "--text", "yokai_septet_v0", "--players", "3", "--opponents", "random", "--seed", "1"]) == 0
    shown = capsys.readouterr().out
    assert "**Three players**" in shown
    assert "**Four players**" not in shown
    assert "Seven Suitors" not in shown


def test_hint_and_undo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("monsterzoo.table.played.HINT", "search:100")
    assert play(monkeypatch, ["undo", "hint", "end discards", "undo", "view", "quit"], "--opponents", "random") == 0
    shown = capsys.readouterr().out
    assert "There is nothing to take back." in shown
    assert shown.count("player_0 decides; search:100 chooses ") == 1
    assert shown.count("It is your turn, phase discard.") == 3, "at the start, after undo, and on demand"


def test_long_lines_are_wrapped_at_the_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert play(monkeypatch, ["?"]) == 0
    shown = capsys.readouterr().out.replace(terminal.HELP, "")
    assert max(map(len, shown.splitlines())) <= 50


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_any_seat_and_any_opponents(
    seat: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "1")
    words = ["bite_night_v0", "--players", "3", "--option", "laps=1", "--seat", str(seat), "--seed", "1"]
    assert main(["play", "--text", *words, "--opponents", "heuristic", "search:2"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    clockwise = f"player_{(seat + 1) % 3} (heuristic), player_{(seat + 2) % 3} (search:2)"
    assert shown.startswith(f"Bite Night: you are player_{seat}, against {clockwise}. Seed 1.")
    assert "You lose: " in shown or "You win" in shown


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--seat", "2"], "there is no seat 2; seats are 0 to 1"),
        (["--seat", "first"], "--seat first is not allowed"),
        (["--seed", "-1"], "--seed -1 is not allowed"),
        (["--opponents", "random", "random"], "opponents: expected one for all seats or one for each of the 1, got 2"),
        (["--opponents", "chess"], "there is no policy 'chess'"),
    ],
)
def test_mistakes_on_the_command_line_are_refused(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["play", "--text", *WORDS[:3], *words]) == 2
    assert problem in capsys.readouterr().err


# --- In a terminal ---


def run_in_terminal(*words: str) -> tuple[subprocess.Popen[bytes], int]:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "monsterzoo.cli", "play", "--text", *WORDS, *words],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs in the background ignore it
    )  # fmt: skip
    os.close(slave)
    return process, master


def read_until(master: int, text: str, seconds: float = 120) -> str:
    shown, end = "", time.monotonic() + seconds
    while text not in shown and select.select([master], [], [], max(end - time.monotonic(), 0))[0]:
        try:
            shown += os.read(master, 4096).decode()
        except OSError:  # the other end is closed
            break
    assert text in shown, shown
    return shown


def test_in_a_terminal_a_person_plays_and_leaves_with_the_end_of_input() -> None:
    process, master = run_in_terminal()
    read_until(master, "> ")
    os.write(master, b"1\n")
    read_until(master, "you: 10 to reroll the low die")
    os.write(master, b"\x04")  # Ctrl-D
    read_until(master, "The game is left.")
    assert process.wait(20) == 0
    os.close(master)


def test_an_interrupt_leaves_politely_and_keeps_the_record(tmp_path: Path) -> None:
    out = tmp_path / "game.json"
    process, master = run_in_terminal("--output", str(out))
    read_until(master, "> ")
    time.sleep(1)  # between the prompt and the wait for a line Python would note the signal, and go on waiting
    process.send_signal(signal.SIGINT)
    shown = read_until(master, "The record is in")
    assert "Traceback" not in shown
    assert process.wait(20) == 130
    assert json.loads(out.read_text())["seed"] == 3
    os.close(master)


def test_everything_that_happened_before_the_first_decision_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "quit")
    variant = find_game("pikit_v0").variant(players=3)
    game = PlayedGame(variant, 2, seat_around(variant, 2, ["random"], 1), 9)
    found, code = terminal._play(game)
    assert (found, code) == (game, 0)
    lines, events = capsys.readouterr().out.splitlines(), [event.text for event in game.events]
    assert len(events) > 1
    assert lines[: len(events)] == events
    assert lines[len(events)] == "", "then what the seat knows"


def test_long_lines_are_wrapped_and_indented_further(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    terminal._print("one two three four\n  five six seven\nunbreakableword")
    assert capsys.readouterr().out.splitlines() == [
        "one two", "  three four", "  five six", "    seven", "unbreakableword"
    ]  # fmt: skip


@pytest.mark.parametrize(("interruption", "code"), [(KeyboardInterrupt(), 130), (Interrupted(15), 143)])
def test_an_interruption_leaves_the_game_with_the_customary_code(
    interruption: KeyboardInterrupt, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: str) -> str:
        raise interruption

    monkeypatch.setattr("builtins.input", interrupted)
    variant = find_game("pikit_v0").variant(players=2)
    game = PlayedGame(variant, 0, seat_around(variant, 0, ["random"], 1), 9)
    assert terminal._play(game) == (game, code)
