"""What a run shows: a line for every evaluation, and chance level beside every win rate."""

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from monsterzoo.training.arena import arena
from monsterzoo.training.evaluation.report import as_text, plot
from monsterzoo.training.runs import curves, journal
from monsterzoo.training.runs.config import PPOConfig
from monsterzoo.training.runs.journal import Journal, tag
from needs import needs

needs("torch")

REPORT = {"updates": 3, "steps": 12_345_678, "seconds": 1234.5, "steps_per_second": 412_345.6, "policy_loss": -0.01234,
          "value_loss": 0.1234, "entropy": 1.234, "explained": 0.5, "kl": 0.01, "clipped": 0.1,
          "learning_rate": 1e-3}  # fmt: skip
WINS = {"win_random": 0.981, "error_random": 0.01, "win_heuristic": 0.6123, "error_heuristic": 0.02}


def printed(folder: Path, capsys: pytest.CaptureFixture[str], *reports: dict[str, float]) -> list[str]:
    with Journal(folder, 0, PPOConfig("pikit_v0", players=2, log="none"), 2) as lines:
        for report in reports:
            lines.write(report, 0.4)
    return capsys.readouterr().out.splitlines()


def test_every_evaluation_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(
        tmp_path, capsys, REPORT, {**REPORT, **WINS}, REPORT, {**REPORT, "win_random": 0.5, "error_random": 0.1}
    )
    wins = "wins (chance level 50%): random 98.1%, heuristic 61.2%"
    assert lines[0] == f" 40%   1234 s  12.35 M steps, 412k steps/s  {wins}"
    assert lines[1].endswith("random 50.0%, heuristic 61.2%"), "what was not measured again stays"
    assert len(lines) == 2


def test_a_log_is_not_silent_where_nothing_is_evaluated(monkeypatch, tmp_path, capsys) -> None:
    assert printed(tmp_path, capsys, REPORT) == []
    monkeypatch.setattr(journal, "SILENCE", -1.0)
    (line,) = printed(tmp_path, capsys, REPORT)
    assert line.endswith("wins (chance level 50%): –")


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("win_heuristic", "win_rate/heuristic"),
        ("win_search:100", "win_rate/search:100"),
        ("error_random", "win_rate_error/random"),
        ("policy_loss", "run/policy_loss"),
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
    assert {"win_rate/random", "win_rate/heuristic", "win_rate/chance_level", "run/policy_loss"} <= set(tags)
    assert events.Scalars("win_rate/chance_level")[0].value == 0.25


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_other_trackers_get_the_same_by_one_option(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = MagicMock(__spec__=ModuleSpec(name, None))
    monkeypatch.setitem(sys.modules, name, tracker)
    config = PPOConfig("pikit_v0", players=4, log=name)
    (tmp_path / "mine").mkdir()
    with Journal(tmp_path / "mine", 0, config, 4) as journal:
        journal.write({**REPORT, **WINS, "updates": 3}, 0.5)
        assert not tracker.finish.called
    tracker.init.assert_called_once_with(project="monsterzoo", name="mine", config=config.to_dict())
    ((numbers,), about) = tracker.log.call_args
    assert about == {"step": 3}
    assert numbers["win_rate/chance_level"] == 0.25
    assert numbers["win_rate/heuristic"] == WINS["win_heuristic"]
    tracker.finish.assert_called_once_with()
    assert not list((tmp_path / "mine").glob("events*"))


def test_a_tracker_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ModuleNotFoundError, match="wandb is not installed"):
        Journal(tmp_path, 0, PPOConfig("pikit_v0", log="wandb"), 4)
    with pytest.raises(ValueError, match="'tensorboard', 'wandb', 'trackio', 'none'"):
        PPOConfig("pikit_v0", log="paper")


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


def test_the_curve_has_win_rates_with_intervals_entropy_and_explained_variance(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    figures = drawn(monkeypatch)
    lines = [{**REPORT, "steps": 1e6}, {**REPORT, **WINS, "steps": 2e6, "entropy": 0.5, "explained": 0.75}]
    lines.append({**REPORT, "steps": 4e6, "win_random": 0.5, "error_random": 0.1})
    curves.draw(lines, tmp_path / "curve.png", "nim", 0.5)
    wins, inside = figures[0].axes
    found = {line.get_label(): line.get_xydata().tolist() for line in (*wins.lines[:2], *inside.lines)}
    assert found == {
        "against heuristic": [[2, 0.6123]],
        "against random": [[2, 0.981], [4, 0.5]],
        "entropy of decisions (nats)": [[1, 1.234], [2, 0.5], [4, 1.234]],
        "explained variance of returns": [[1, 0.5], [2, 0.75], [4, 0.5]],
    }
    (band,) = wins.collections[1].get_paths()
    assert sorted({tuple(point) for point in band.vertices.round(4).tolist()}) == [
        (2, 0.9614), (2, 1.0006), (4, 0.304), (4, 0.696)
    ]  # fmt: skip
    assert wins.get_ylim() == (0, 1)
    assert (wins.get_title(), inside.get_title()) == ("nim: win rate (95 %)", "inside")
    assert wins.get_xlabel() == inside.get_xlabel() == "million steps"
    assert figures[0].get_size_inches().tolist() == [11, 4]
    assert wins.get_gridspec().get_geometry() == (1, 2), "side by side"
