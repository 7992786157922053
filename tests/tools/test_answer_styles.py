"""Answers in a dozen styles: none is misread, guessed at, or asked again without a reason."""

import json

import pytest
from monsterzoo.envs.api import answers as reading
from needs import ROOT

from tools.answers import STYLES, WRONG, play
from tools.variants import all_variants

PUBLISHED = json.loads((ROOT / "benchmarks" / "results" / "answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("style", STYLES)
def test_every_style_is_read_as_a_person_would(style: str) -> None:
    for seed, variant in enumerate(("pikit_v0-2p", "yokai_septet_v0-3p", "bite_night_v0-3p-advanced")):
        counts = play(all_variants()[variant], style, seed)
        assert counts["answers"] > 5
        assert {name: counts[name] for name in WRONG} == dict.fromkeys(WRONG, 0)
        assert counts["asked_again"] == counts["unclear"]


def test_a_parser_that_guesses_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_named", lambda text, names, count: {0})
    variant = all_variants()["pikit_v0-2p"]
    assert play(variant, "several actions named", 0)["guessed"]
    assert play(variant, "bold, in a sentence", 0)["misread"]


def test_a_thousand_games_over_all_styles_and_variants_were_fair() -> None:
    styles = PUBLISHED["styles"]
    assert list(styles) == list(STYLES)
    assert sum(one["games"] for one in styles.values()) >= 1000
    assert list(PUBLISHED["lengths"]) == list(all_variants())
    for one in styles.values():
        assert not any(one[name] for name in WRONG)
