"""Publishing networks: what is measured, what is written down, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from monsterzoo.envs.core import registry
from monsterzoo.policies.networks import WEIGHTS
from monsterzoo.policies.networks import files as weights_files
from monsterzoo.training.runs.config import RUN, PPOConfig
from monsterzoo.training.runs.exits import exit_code
from monsterzoo.training.runs.run import train
from nim import NIM

from tools import zoo
from tools.variants import variant_name
from tools.zoo import INDEX

NAME = "nim_v0-2p"


@pytest.fixture(autouse=True)
def only_nim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nim is the only game there is."""
    monkeypatch.setattr(registry, "_loaders", {NIM.name: lambda: NIM})
    monkeypatch.setattr(registry, "_games", {NIM.name: NIM})


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Path]:
    """Two finished runs, the second of which started from the first."""
    folder = tmp_path_factory.mktemp("runs")
    tiny = {"width": 8, "num_envs": 8, "steps": 16, "minibatch": 64, "evaluate_games": 8, "log": "none", "seed": 3}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_loaders", {NIM.name: lambda: NIM})
        patch.setattr(registry, "_games", {NIM.name: NIM})
        train(PPOConfig(NIM.name, updates=2, out=str(folder / "first"), **tiny))
        train(PPOConfig(NIM.name, updates=1, out=str(folder / "second"), start=f"net:{folder}/first", **tiny))
    return [folder / "first", folder / "second"]


def publish(out: Path, *words: str | Path) -> int:
    return exit_code("zoo", zoo.main, [*map(str, words), "--out", str(out), "--games", "8"])


def models(out: Path) -> list[dict]:
    return json.loads((out / INDEX).read_text())["models"]


def test_the_last_network_is_measured_and_written_down_with_all_commands(tmp_path, runs) -> None:
    assert publish(tmp_path, NAME, *runs) == 0
    (model,) = models(tmp_path)
    assert (model["file"], set(model["arena"]), model["seed"]) == (f"{NAME}.npz", {"random"}, 3)
    summaries = [json.loads((run / RUN).read_text()) for run in runs]
    assert model["commands"] == [summary["commands"][0] for summary in summaries]
    assert f"--start net:{runs[0]}" in model["commands"][1]
    assert model["steps"] == sum(summary["result"]["steps"] for summary in summaries)
    assert f"`{NAME}.npz`" in zoo.networks_table([model])
    shipped, _ = weights_files.read(tmp_path / f"{NAME}.npz")
    learned, _ = weights_files.read(runs[1] / WEIGHTS)
    assert all(np.allclose(shipped[key], learned[key], atol=1e-3) for key in learned)


def test_shipped_networks_can_be_measured_again(tmp_path, runs) -> None:
    assert publish(tmp_path, NAME, *runs) == 0
    (before,) = models(tmp_path)
    for words in ([], [NAME]):
        assert exit_code("zoo", zoo.main, [*words, "--out", str(tmp_path), "--games", "20"]) == 0
        (after,) = models(tmp_path)
        assert (before["arena"]["random"]["games"], after["arena"]["random"]["games"]) == (8, 20)
        assert {**after, "arena": before["arena"]} == before


def test_a_network_that_is_too_large_is_not_shipped(tmp_path, runs, monkeypatch, capsys) -> None:
    monkeypatch.setattr(zoo, "MAX_BYTES", 1000)
    assert publish(tmp_path, NAME, *runs) == 2
    assert "bytes; at most 1000 are shipped" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_not_finished_is_refused(tmp_path, runs, capsys) -> None:
    summary = json.loads((runs[0] / RUN).read_text())
    del summary["result"]
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / RUN).write_text(json.dumps(summary))
    assert publish(tmp_path / "out", NAME, tmp_path / "begun") == 2
    assert "begun is not finished" in capsys.readouterr().err


def test_wrong_words_are_refused(tmp_path, capsys) -> None:
    for words, problem in (
        (["chess-2p"], "unknown variant 'chess-2p'; there are nim_v0-2p"),
        ([NAME, f"--out={tmp_path}"], f"there is no network of {NAME} in {tmp_path}"),
    ):
        assert exit_code("zoo", zoo.main, words) == 2
        assert problem in capsys.readouterr().err


def test_variants_are_named_by_what_tells_them_apart() -> None:
    assert variant_name("a_v0", {"players": 3, "advanced": True}) == "a_v0-3p-advanced"
    assert variant_name("a_v0", {"players": 3, "grab": "two hands", "laps": False}) == "a_v0-3p-two_hands-no_laps"
