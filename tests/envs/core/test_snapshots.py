"""What all games share when they read positions and show them."""

from types import SimpleNamespace

import pytest
from monsterzoo.envs.core.snapshots import (
    Reader,
    SnapshotError,
    read_list,
    read_names,
    read_number,
    require_once,
    told,
)

NUMBERS = {"one": 1, "two": 2, "three": 3}


def test_everything_that_has_a_name_is_in_one_place():
    names = {1: "the first card", 2: "the second card"}
    require_once([2, 1, 7, 7], names)
    with pytest.raises(SnapshotError, match="the second card is missing"):
        require_once([1], names)
    with pytest.raises(SnapshotError, match="the first card is in 3 places"):
        require_once([1, 2, 1, 1], names)


def test_numbers_lists_and_names_are_read_or_refused():
    assert [read_number(value, "it", 1, 3) for value in (1, 3)] == [1, 3]
    for wrong in (0, 4, True, 2.0, "2", None):
        with pytest.raises(SnapshotError, match="it is an integer from 1 to 3, not"):
            read_number(wrong, "it", 1, 3)
    assert read_list((1, 2), "it") == read_list([1, 2], "it", 2) == [1, 2]
    with pytest.raises(SnapshotError, match=r"it is a list of 3, not \[1, 2\]"):
        read_list([1, 2], "it", 3)
    with pytest.raises(SnapshotError, match="it is a list, not 'ab'"):
        read_list("ab", "it")
    assert read_names(["two", "one"], "it", NUMBERS, "card") == [2, 1]
    for wrong, problem in ((["four"], "there is no card 'four'"), ([1], "there is no card 1"), ("one", "a list")):
        with pytest.raises(SnapshotError, match=problem):
            read_names(wrong, "it", NUMBERS, "card")
    with pytest.raises(SnapshotError, match="it: 'one' is there twice"):
        read_names(["one", "two", "one"], "it", NUMBERS, "card")


def test_a_reader_takes_what_is_missing_only_where_there_is_a_default():
    data = {"size": 2, "none": None, "hands": [[1], [2], [3]], "teams": [1, 2], "phase": "play"}
    reader = Reader(data, SimpleNamespace(players=3))
    assert list(reader.seats) == [0, 1, 2]
    assert reader.phase(("deal", "play"), ("play",)) == 1
    with pytest.raises(SnapshotError, match="phase is one of deal, end, not 'play'"):
        reader.phase(("deal", "play", "end"), ("deal", "end"))
    assert reader.number("size", 0, 2) == reader.number("size", 0, 2, default=0) == 2
    assert [reader.number(key, 0, 2, default=-1) for key in ("none", "missing")] == [-1, -1]
    with pytest.raises(SnapshotError, match="none is an integer"):
        reader.number("none", 0, 2)
    with pytest.raises(KeyError):
        reader.number("missing", 0, 2)
    assert reader.rows("hands") == reader.optional_rows("hands", []) == [[1], [2], [3]]
    assert reader.rows("teams", 2) == reader.optional_rows("teams", 0, 2) == [1, 2]
    with pytest.raises(SnapshotError, match="teams is a list of 3"):
        reader.rows("teams")
    assert reader.optional_rows("none", 0) == [0, 0, 0]
    assert reader.optional_rows("missing", 0, 2) == [0, 0]


@pytest.mark.parametrize(
    ("key", "value", "lines"),
    [
        ("phase", "play", ["phase: play"]),
        ("round", 0, ["round: 0"]),
        ("over", True, ["over: True"]),
        *(("winners", nothing, []) for nothing in (None, False, [])),
        *((key, 5, []) for key in ("options", "generator")),
        ("cards", ["A", None, ""], ["cards: A, -, -"]),
        ("hands", [["A", "B"], [], ["C"]], ["hands:", "  0  A, B", "  2  C"]),
        ("hands", [[], []], []),
        ("straw", [{"down": ["A", None], "up": []}], ["straw:", "  0  down A, -"]),
        ("pile", {"a": 1, "b": [], "c": [2, 3]}, ["pile: a 1; c 2, 3"]),
    ],
)
def test_a_position_is_told_line_by_line(key, value, lines):
    assert told(key, value) == lines
