"""Every variant plays as its golden playthrough tells."""

from needs import beside

beside("tools")

from tools.playthrough import PLAYTHROUGHS as FOLDER
from tools.playthrough import file_name, playthrough, playthroughs


def test_the_game_goes_as_its_playthrough_tells(name: str, options: dict[str, object]) -> None:
    path = FOLDER / file_name(name, options)
    assert path.exists(), "run make generated"
    told, played = path.read_text(encoding="utf-8").splitlines(), playthrough(name, options).splitlines()
    for number, (old, new) in enumerate(zip(told, played), start=1):
        assert old == new, f"line {number} of {path.name}"
    assert len(told) == len(played)


def test_no_variant_lacks_a_playthrough_and_none_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {file for file, _, _ in playthroughs()}
