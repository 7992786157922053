"""Every variant plays as its golden playthrough tells."""

from pathlib import Path

import pytest
from monsterzoo.envs.core.registry import names
from needs import beside

beside("tools")

from tools.playthrough import FOLDER, differences, file_name, main, playthrough, playthroughs

GAMES = names()[-1:]


def test_the_game_goes_as_its_playthrough_tells(name: str, options: dict[str, object]) -> None:
    path = FOLDER / file_name(name, options)
    assert path.exists(), "run python -m tools.playthrough --write"
    told, played = path.read_text(encoding="utf-8").splitlines(), playthrough(name, options).splitlines()
    for number, (old, new) in enumerate(zip(told, played), start=1):
        assert old == new, f"line {number} of {path.name}"
    assert len(told) == len(played)


def test_no_variant_lacks_a_playthrough_and_none_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {file for file, _, _ in playthroughs()}


def test_the_command_writes_compares_and_notices_a_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--folder", str(tmp_path), "--games", *GAMES]
    assert main(arguments) == 1
    assert main([*arguments, "--write"]) == 0
    assert main(arguments) == 0
    file, _, _ = next(playthroughs(GAMES))
    changed = (tmp_path / file).read_text(encoding="utf-8").replace("action  ", "action   ", 1)
    (tmp_path / file).write_text(changed, encoding="utf-8")
    assert differences(tmp_path, GAMES) == [file]
    capsys.readouterr()
    assert main(arguments) == 1
    assert capsys.readouterr().out == f"differs: {file}\n"
