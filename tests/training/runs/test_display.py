"""What a run shows: lines that fit the terminal, whole lines in a log, and chance level beside every win rate."""

import io
from pathlib import Path
from typing import Any

import pytest
from needs import needs

rich = needs("rich")

from monsterzoo.training.arena import arena
from monsterzoo.training.evaluation.report import as_text, plot
from monsterzoo.training.runs import curves
from monsterzoo.training.runs.config import PPOConfig
from monsterzoo.training.runs.display import Display, win_rates
from monsterzoo.training.runs.journal import Journal, tag
from rich.console import Console

REPORT = {"updates": 3, "steps": 12_345_678, "seconds": 1234.5, "steps_per_second": 412_345.6, "policy_loss": -0.01234,
          "value_loss": 0.1234, "entropy": 1.234, "explained": 0.5, "kl": 0.01, "clipped": 0.1,
          "learning_rate": 1e-3}  # fmt: skip
WINS = {"win_random": 0.981, "error_random": 0.01, "win_heuristic": 0.6123, "error_heuristic": 0.02}
MANY = {f"win_search:{budget},rollout=random": 0.5 for budget in range(100, 700, 100)}


def shown(width: int, terminal: bool, *reports: dict[str, float]) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, legacy_windows=False)
    display = Display("yokai_septet_v0 4p", 0.5, console)
    display.start()
    last: dict[str, float] = {}
    for report in reports:
        last |= report
        display.show(report, last, 0.4)
    display.stop()
    return file.getvalue()


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("wins", [WINS, MANY], ids=["two", "many"])
def test_on_a_terminal_nothing_is_wider_than_it(width: int, wins: dict[str, float]) -> None:
    text = Console(file=io.StringIO(), width=1000).render_str(shown(width, True, REPORT, {**REPORT, **wins}))
    plain = rich.text.Text.from_ansi(str(text)).plain
    last = [line.rstrip() for line in plain.splitlines() if line.strip()][-3:]
    assert all(len(line) <= width for line in last)
    assert last[-1].startswith("wins (chance level 50 %): ")
    if width >= 80 and wins is WINS:
        assert last == [last[0], "412k steps/s, entropy 1.23, policy loss -0.012, value loss 0.123",
                        "wins (chance level 50 %): random 98.1 %, heuristic 61.2 %"]  # fmt: skip
        assert "yokai_septet_v0 4p" in last[0]
        assert "40 %" in last[0]


@pytest.mark.parametrize("width", [20, 80, 120])
@pytest.mark.parametrize("wins", [WINS, MANY], ids=["two", "many"])
def test_in_a_log_every_report_is_one_line(width: int, wins: dict[str, float]) -> None:
    evaluated = {**REPORT, **wins}
    lines = shown(width, False, REPORT, evaluated, REPORT, evaluated).splitlines()
    assert len(lines) == 2, "one for each evaluation"
    assert lines[0] == f"  1234 s    12.35 M steps  412k steps/s  {win_rates(wins, 0.5)}"
    if wins is WINS:
        assert lines[0].endswith("wins (chance level 50 %): random 98.1 %, heuristic 61.2 %")
        assert len(lines[0]) < 100


def test_a_log_is_not_silent_where_nothing_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(80, False, REPORT) == ""
    monkeypatch.setattr("monsterzoo.training.runs.display.SILENCE", -1.0)
    assert shown(80, False, REPORT) == "  1234 s    12.35 M steps  412k steps/s  wins (chance level 50 %): –\n"


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("win_heuristic", "win_rate/heuristic"),
        ("win_search:100", "win_rate/search:100"),
        ("error_random", "win_rate_error/random"),
        ("policy_loss", "loss/policy_loss"),
        ("entropy", "policy/entropy"),
        ("explained", "value/explained"),
        ("steps_per_second", "speed/steps_per_second"),
        ("steps", "run/steps"),
        ("something_new", "run/something_new"),
    ],
)
def test_tags_are_in_groups(name: str, group: str) -> None:
    assert tag(name) == group


def test_tensorboard_gets_them_with_chance_level(tmp_path: Path) -> None:
    needs("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with Journal(tmp_path, 0, PPOConfig("pikit_v0", players=4), 4) as journal:
        journal.write({**REPORT, **WINS, "updates": 1}, 0.5)
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    tags = events.Tags()["scalars"]
    assert all("/" in one for one in tags)
    assert {"win_rate/random", "win_rate/heuristic", "win_rate/chance_level", "loss/policy_loss"} <= set(tags)
    assert events.Scalars("win_rate/chance_level")[0].value == 0.25


def texts_of(figure: Any) -> str:
    from matplotlib.text import Text

    return " | ".join(one.get_text() for one in figure.findobj(Text))


def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Figures that are saved from now on."""
    from matplotlib.figure import Figure

    figures: list[Any] = []
    save = Figure.savefig

    def keep(self: Any, *words: Any, **more: Any) -> None:
        figures.append(self)
        save(self, *words, **more)

    monkeypatch.setattr(Figure, "savefig", keep)
    return figures


def test_the_curve_shows_chance_level(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    figures = drawn(monkeypatch)
    curves.draw([{**REPORT, **WINS}, {**REPORT, **WINS, "steps": 2e7}], tmp_path / "curve.png", "pikit_v0", 0.25)
    assert "chance level (25 %)" in texts_of(figures[0])
    dashed = [line for line in figures[0].axes[0].lines if line.get_linestyle() == "--"]
    assert [line.get_ydata()[0] for line in dashed] == [0.25]


def test_the_arenas_table_and_picture_show_chance_level(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    figures = drawn(monkeypatch)
    result = arena("pikit_v0", ["random", "heuristic"], 12, players=3)
    plot(result, tmp_path / "ratings.png")
    assert "chance level: 33.3%" in texts_of(figures[0])
    text = as_text(result)
    assert "(chance level: 0.333)" in text
    head, *rows = text.splitlines()[3:7]
    assert len({len(line) for line in (head, *rows)}) == 1, "columns are aligned"
    assert len(head) <= 80
