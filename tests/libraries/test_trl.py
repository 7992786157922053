"""GRPO on positions: a random transformer learns to answer legally."""

import sys
from pathlib import Path

import pytest
from needs import ROOT

pytest.importorskip("trl")
sys.path.insert(0, str(ROOT / "examples" / "trl"))

from train import legality, positions, train


def test_rewards_are_for_legal_answers() -> None:
    assert legality(["1", "9", "take low", "xyz"], [["take low", "take sum"]] * 4) == [1, 0, 1, 0]


def test_positions_are_reproducible_and_other_deals_differ() -> None:
    rows = positions(20)
    assert rows["prompt"] == positions(20)["prompt"]
    assert not set(rows["prompt"]) & set(positions(20, "curve")["prompt"])
    assert all(prompt.count("\n") > 8 for prompt in rows["prompt"])


def test_it_learns_to_answer_legally(tmp_path: Path) -> None:
    before, after = train(20, str(tmp_path))
    assert before < 0.15
    assert after > 2 * before + 0.1
