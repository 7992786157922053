"""Positions of Bite Night as JSON: out and in again, what may be left out, and what is refused and why."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bite_night_table import (
    COLOURS,
    STOP,
    VARIANTS,
    Board,
    after_last_grab,
    at_resurrection,
    last_grab,
    random_walk,
)
from monsterzoo.envs.core.snapshots import SnapshotError

NEEDED = [
    "options",
    "phase",
    "lap",
    "round",
    "first_player",
    "lap_leader",
    "to_act",
    "hands",
    "pile",
    "resolved",
    "middle",
    "stacks",
    "tiles",
    "graveyard",
    "open_cards",
    "choices",
    "scores",
    "over",
    "winners",
]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_a_position_comes_back_to_the_byte(options):
    board = Board(seed=5, **options)
    for _ in random_walk(board, np.random.default_rng(5)):
        snapshot = json.loads(json.dumps(board.position()))
        assert set(NEEDED) <= set(snapshot)
        again = board.variant.load(snapshot, seed=99)
        assert again.tobytes() == board.states.tobytes()


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_a_loaded_position_continues_identically(options):
    random = np.random.default_rng(8)
    board = Board(seed=8, **options)
    twin = Board(seed=8, **options)
    for number, (seat, action) in enumerate(random_walk(board, random)):
        if number % 23 == 11:  # in the middle of a simultaneous phase as well
            twin = Board(json.loads(json.dumps(twin.position())), **options)
        twin.do(seat, action)
        assert twin.legal(seat)
    assert twin.states.tobytes() == board.states.tobytes()


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_only_the_keys_of_the_schema_are_needed(options):
    board = Board(seed=2, **options)
    for number, _ in enumerate(random_walk(board, np.random.default_rng(2))):
        if number % 5:
            continue
        position = board.position()
        known = {key: position[key] for key in NEEDED if key not in ("options", "winners", "over")}
        loaded = Board(known, **options).position()
        extra = ("generator", "claims", "options")
        assert {k: v for k, v in loaded.items() if k not in extra} == {
            k: v for k, v in position.items() if k not in extra
        }
        if position["phase"] != "resurrect":
            del known["to_act"]
            assert Board(known, **options)["to_act"] == position["to_act"]


def test_without_choices_nobody_has_chosen_yet():
    board = Board(players=3)
    board.do(1, board.legal(1)[0])
    position = board.position()
    del position["choices"], position["to_act"]
    assert Board(position, players=3)["to_act"] == [0, 1, 2]


def test_choices_may_be_names_lists_or_null():
    board = Board(players=3)
    card = board["hands"][1][0]
    for choices in ([None, card, None], [[], [card], []], [None, (card,), []]):
        loaded = Board({**board.position(), "choices": choices, "to_act": [0, 2]}, players=3)
        assert loaded["choices"] == [[], [card], []]


def test_cards_set_aside_may_be_left_out_of_a_rendezvous():
    position = after_last_grab([STOP]).position()
    board = Board({**position, "hands": [[], [], []]}, players=3)
    assert board["hands"] == [[], [], []]
    world = board.imagined(0)
    assert world.view(0) == board.view(0)
    for seat in range(3):
        board.do(seat, board.legal(seat)[0])
        board.do(seat, board.legal(seat)[0])
    assert board["lap"] == 2


# --- What is refused ---


def edited(position: dict[str, Any], key: str, edit: Callable[[Any], Any]) -> dict[str, Any]:
    copy = json.loads(json.dumps(position))
    changed = edit(copy[key])
    copy[key] = copy[key] if changed is None else changed
    copy.pop("to_act", None) if key != "to_act" else None
    return copy


def laying() -> dict[str, Any]:
    board = Board(players=3, seed=1)
    return board.position()


def grabbing(**options: Any) -> dict[str, Any]:
    board = Board(players=3, seed=1, **options)
    for seat in range(3):
        board.do(seat, board.legal(seat)[0])
    return board.position()


def burying() -> dict[str, Any]:
    return after_last_grab(["picture monk", STOP]).position()


def raising() -> dict[str, Any]:
    return at_resurrection({0: ["blue monk heart"], 1: []}, ["blue garlic", "blue maiden"], 0)


def drop(items: list[Any]) -> None:
    """Drop the last one."""
    del items[-1]


REFUSED = [
    # the course of the game
    (laying, "phase", lambda v: "sleep", "phase is one of lay, grab, bury"),
    (laying, "lap", lambda v: 0, "lap is an integer from 1 to 3"),
    (laying, "lap", lambda v: 4, "lap is an integer from 1 to 3"),
    (laying, "lap", lambda v: 2, "lap_leader is 0, but seat 1 leads lap 2"),
    (laying, "round", lambda v: 6, "round is an integer from 1 to 5"),
    (laying, "round", lambda v: True, "round is an integer"),
    (laying, "lap_leader", lambda v: 1, "lap_leader is 1, but seat 0"),
    (laying, "first_player", lambda v: 2, "first_player is 2, but it is seat 0"),
    (laying, "lap_leader", lambda v: 3, "lap_leader is an integer from 0 to 2, not 3"),
    (laying, "scores", lambda v: [0, 0, -1], "each of scores is an integer from 0 to 1000000, not -1"),
    (laying, "first_player", lambda v: 7, "first_player is an integer from 0 to 2"),
    (laying, "scores", lambda v: [1, 2], "scores is a list of 3"),
    (laying, "scores", lambda v: [1, 2, -1], "each of scores is an integer"),
    (burying, "round", lambda v: 4, "phase bury comes after round 5"),
    # cards
    (laying, "hands", lambda v: drop(v[0]), "seat 0 has 8 cards in hand instead of 9"),
    (laying, "hands", lambda v: v[:2], "hands is a list of 3"),
    (laying, "hands", lambda v: v[0].__setitem__(0, "joker"), "there is no card 'joker'"),
    (laying, "hands", lambda v: v[0].__setitem__(0, "dawn"), "'dawn' belongs to the advanced game"),
    (laying, "hands", lambda v: v[0].__setitem__(0, "resurrection"), "'resurrection' belongs to the advanced game"),
    (laying, "hands", lambda v: v[0].__setitem__(0, v[1][0]), "is there 2 times, the deck has it 1 times"),
    (laying, "hands", lambda v: v[0].__setitem__(slice(0, 3), ["skip two"] * 3), "'skip two' is there 3 times"),
    (laying, "hands", lambda v: "cards", "hands is a list"),
    (laying, "hands", lambda v: v.__setitem__(0, "cards"), "each of hands is a list"),
    (grabbing, "pile", lambda v: drop(v), "pile has 2 cards instead of 3 in phase grab of round 1"),
    (grabbing, "pile", lambda v: v.reverse(), "pile: card 1 was laid by seat 0, not 2"),
    (grabbing, "pile", lambda v: v.__setitem__(0, "skip two"), "not a position"),
    (burying, "hands", lambda v: v[0].clear(), "seat 0 has 0 cards in hand instead of 4"),
    # tiles
    (laying, "stacks", lambda v: drop(v[1]), "the stack of seat 1 has 14 tiles instead of 15"),
    (laying, "stacks", lambda v: v[1].__setitem__(0, v[2][0]), "is in two places"),
    (laying, "stacks", lambda v: v[1].__setitem__(0, "pink bat"), "there is no tile 'pink bat'"),
    (laying, "tiles", lambda v: v[0].extend(unused_tile()), "seat 0 has 1 tiles in phase lay of round 1"),
    (laying, "middle", lambda v: unused_tile(), "middle has 1 tiles, but 0 are to be grabbed"),
    (grabbing, "middle", lambda v: drop(v), "middle has 8 tiles, but 9 are to be grabbed"),
    (grabbing, "graveyard", lambda v: unused_tile(), "graveyard is not empty in phase grab"),
    (burying, "middle", lambda v: ["violet garlic heart"], "middle is not empty in phase bury"),
    (burying, "tiles", lambda v: drop(v[0]), "44 tiles lie before the players and in the graveyard instead of 45"),
    # the rendezvous
    (laying, "resolved", lambda v: 1, "resolved is an integer from 0 to 0"),
    (laying, "resolved", lambda v: False, "resolved is an integer from 0 to 0, not False"),
    (grabbing, "resolved", lambda v: 1, "resolved is 1 before the rendezvous"),
    (grabbing, "open_cards", lambda v: ["graveyard closed"], "open_cards is not empty before the rendezvous"),
    (burying, "resolved", lambda v: 0, "card 1 of the pile, 'picture monk', asks nobody to bury"),
    (burying, "resolved", lambda v: 15, "resolved counts the whole pile"),
    (burying, "open_cards", lambda v: ["graveyard closed"], "but the resolved cards leave []"),
    (raising, "graveyard", lambda v: v.clear(), "43 tiles lie before"),
    # choices
    (laying, "choices", lambda v: ["joker", None, None], "seat 0 chose 'joker', which is not in its hand"),
    (laying, "choices", lambda v: [["skip two", "joker"], [], []], "seat 0 has chosen 2 times instead of 1 at most"),
    (grabbing, "choices", lambda v: ["pink bat", None, None], "there is no tile 'pink bat'"),
    (burying, "choices", lambda v: [["blue vampire"] * 2, [], []], "seat 0 has chosen the same twice"),
    (burying, "choices", lambda v: [["blue vampire heart"], [], []], "which it cannot bury"),
    (raising, "choices", lambda v: [["blue garlic"], [], []], "seat 0 has chosen 1 times instead of 0"),
]


def unused_tile() -> list[str]:
    """A tile that is in the box of `laying` (and so of `grabbing`)."""
    position = laying()
    used = {tile for stack in position["stacks"] for tile in stack}
    return [next(f"{c} {p}" for c in COLOURS for p in ("monk", "maiden", "coffin") if f"{c} {p}" not in used)]


@pytest.mark.parametrize(("start", "key", "edit", "problem"), REFUSED, ids=[case[3] for case in REFUSED])
def test_an_impossible_position_is_refused(start, key, edit, problem):
    position = start()
    position.setdefault("choices", None)
    options = {"players": 3, "advanced": start is raising}
    Board(position, **options)
    with pytest.raises(SnapshotError) as error:
        Board(edited(position, key, edit), **options)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    "key", ["phase", "lap", "round", "first_player", "lap_leader", "hands", "pile", "tiles", "scores"]
)
def test_a_missing_key_is_named(key):
    position = laying()
    del position[key]
    with pytest.raises(SnapshotError, match=f"the key '{key}' is missing"):
        Board(position, players=3)


def test_to_act_must_fit():
    with pytest.raises(SnapshotError, match="to_act is"):
        Board({**laying(), "to_act": [1]}, players=3)
    with pytest.raises(SnapshotError, match="seat 1 cannot choose what to raise"):
        Board({**raising(), "to_act": [1]}, players=3, advanced=True)
    for nobody in (-1, 3):
        with pytest.raises(SnapshotError, match=f"to_act is an integer from 0 to 2, not {nobody}"):
            Board({**raising(), "to_act": [nobody]}, players=3, advanced=True)
    with pytest.raises(SnapshotError, match="one seat resurrects at a time"):
        Board({**raising(), "to_act": [0, 1]}, players=3, advanced=True)


def test_resurrection_is_for_the_advanced_game():
    with pytest.raises(SnapshotError, match="phase is one of lay, grab, bury, not 'resurrect'"):
        Board(raising(), players=3)


def test_claims_fit_the_hearts():
    board = Board({**raising(), "claims": {"blue": 1}}, players=3, advanced=True)
    assert board["claims"] == {"blue": 1}
    with pytest.raises(SnapshotError, match="claims on blue is an integer from 0 to 1, not 2"):
        Board({**raising(), "claims": {"blue": 2}}, players=3, advanced=True)
    with pytest.raises(SnapshotError, match="cannot choose what to raise"):
        Board({**raising(), "claims": {}}, players=3, advanced=True)


def test_everybody_has_chosen_is_no_position():
    position = laying()
    with pytest.raises(SnapshotError, match="everybody has chosen, phase lay is over"):
        Board({**position, "choices": [hand[0] for hand in position["hands"]], "to_act": []}, players=3)


def test_a_finished_grab_is_no_position():
    position = last_grab([STOP])
    position["tiles"][2] += position["middle"]
    with pytest.raises(SnapshotError, match="everybody has grabbed three tiles"):
        Board({**position, "middle": [], "to_act": []}, players=3)


def test_a_draft_is_taken_in_turn():
    position = grabbing(grab="draft")
    moved = {**position, "tiles": [[], position["middle"][:1], []], "middle": position["middle"][1:]}
    del moved["to_act"]
    with pytest.raises(SnapshotError, match=r"seats have grabbed \[0, 1, 0\] tiles in turn instead of \[1, 0, 0\]"):
        Board(moved, players=3, grab="draft")
    moved["tiles"] = [position["middle"][:1], [], []]
    assert Board(moved, players=3, grab="draft")["to_act"] == [1]


def test_a_burial_without_a_choice_is_no_position():
    position = after_last_grab(["graveyard monk"]).position()
    monks = [tile for own in position["tiles"] for tile in own if tile.split()[1] == "monk"]
    position["tiles"] = [[tile for tile in own if tile not in monks] for own in position["tiles"]]
    position["graveyard"] = monks
    with pytest.raises(SnapshotError, match="nobody has more than two tiles for 'graveyard monk'"):
        Board({**position, "to_act": []}, players=3)


def test_a_cancelled_card_is_no_position():
    position = after_last_grab(["graveyard closed", "picture monk", "graveyard monk", STOP]).position()
    with pytest.raises(SnapshotError, match="'graveyard monk' is cancelled by the open 'graveyard closed'"):
        Board({**position, "resolved": 2, "open_cards": ["graveyard closed"]}, players=3)


def test_a_skipped_card_is_no_position():
    position = after_last_grab(["skip two", "picture monk", "graveyard monk", STOP]).position()
    assert position["resolved"] == 3
    with pytest.raises(SnapshotError, match="'skip two' removes that card"):
        Board({**position, "resolved": 2}, players=3)


def test_other_options_are_refused():
    with pytest.raises(SnapshotError, match="players=3"):
        Board(laying(), players=4)
    with pytest.raises(SnapshotError, match="advanced"):
        Board(laying(), players=3, advanced=True)
