"""The published matrix of partners."""

import json

from monsterzoo.training.evaluation.report import markdown, percent
from needs import ROOT


def test_the_page_shows_the_published_numbers() -> None:
    result = json.loads((ROOT / "benchmarks" / "results" / "partners.json").read_text())
    names = result["players"]
    rows = [
        [name, *(percent(*cell) for cell in zip(*row))]
        for name, row in zip(names, zip(result["matrix"], result["intervals"]))
    ]
    assert markdown(["", *names], rows) in (ROOT / "docs" / "evaluation.md").read_text()
