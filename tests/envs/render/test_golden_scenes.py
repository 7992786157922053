"""What pictures say and show, in every variant, is as its golden scenes tell."""

from needs import beside

beside("tools")

from tools.playthrough import SCENES as FOLDER
from tools.playthrough import file_name, playthroughs, scenes


def test_scenes_say_and_show_what_the_golden_ones_do(name: str, options: dict[str, object]) -> None:
    path = FOLDER / file_name(name, options)
    assert path.exists(), "run make generated"
    told, now = path.read_text(encoding="utf-8").splitlines(), scenes(name, options).splitlines()
    for number, (old, new) in enumerate(zip(told[2:], now[2:]), start=3):
        assert old == new, f"line {number} of {path.name}"
    assert len(told) == len(now)
    assert told[:2] == now[:2], (
        "shapes, tooltips or words have changed elsewhere: look at them, then run make generated"
    )


def test_no_variant_lacks_golden_scenes_and_none_are_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {file for file, _, _ in playthroughs()}
