"""What `make demo` runs, with seconds in place of minutes."""

import json
import re
from pathlib import Path

import pytest
from monsterzoo.cli import demo
from monsterzoo.policies import make

TINY = ["--minutes", "0.01", "--num-envs", "16", "--games", "24"]


def test_the_demo_trains_plays_and_says_where_everything_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a folder" / "demo"
    assert demo.main([*TINY, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    for name in ("random", "heuristic", f"net:{out}"):
        rating, rate = r"(?:at (?:least|most) )?[+-]\d+(?: \[.+?\])?", r"[01]\.\d{3}"
        row = rf"^{re.escape(name)} +{rating} +{rate} \[{rate}, {rate}\]"
        assert re.search(row, shown, re.MULTILINE), f"{name} has no rating and win rate with intervals"
    assert re.search(r"^It wins \d+\.\d% against random \(95 %: \d+\.\d% to \d+\.\d%\)\.$", shown, re.MULTILINE)

    result = json.loads((out / "arena.json").read_text())
    assert [player["name"] for player in result["players"]] == ["random", "heuristic", f"net:{out}"]
    assert result["options"]["players"] == 2
    assert result["games"] == 24
    for picture in ("curve.png", "arena.png"):
        assert str(out / picture) in shown
        assert (out / picture).read_bytes().startswith(b"\x89PNG")
    trained = json.loads((out / "run.json").read_text())["result"]
    assert trained["updates"] >= 1
    assert {"win_random", "win_heuristic"} <= trained.keys()
    assert make(f"net:{out}", "pikit_v0", players=2).name == f"net:{out}"


def test_a_second_demo_leaves_the_first_alone(tmp_path: Path) -> None:
    first = tmp_path / "demo"
    assert demo.unused(first) == first
    first.mkdir()
    assert demo.unused(first) == tmp_path / "demo-2"
    (tmp_path / "demo-2").mkdir()
    assert demo.unused(first) == tmp_path / "demo-3"


def test_a_demo_that_cannot_train_says_so_and_plays_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "warm_up", lambda config: None)
    monkeypatch.setattr(demo.cli, "main", lambda words: 2)
    assert demo.main([*TINY, "--out", str(tmp_path / "demo")]) == 2
    assert "$ monsterzoo arena" not in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--games", "0"], ["--minutes", "nan"], ["--num-envs", "0"], ["--seed", "-1"]])
def test_a_demo_that_would_fail_later_does_not_begin(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=rf"{words[0][2:].replace('-', '_')}={words[1]} is not allowed"):
        demo.main(words)
    assert capsys.readouterr().out == ""
