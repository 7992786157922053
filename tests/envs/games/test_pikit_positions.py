"""Positions of Pikit in and out, and options."""

import copy
import json

import numpy as np
import pytest
from monsterzoo.envs import SnapshotError, make
from pikit_table import REACTIVE, Board, position

QUIET = [2, 2, 3, 3, 4, 4, 8, 8]
CASES = [{"players": 2}, {"players": 3}, {"players": 4}, {"players": 4, "deck": REACTIVE}]


@pytest.mark.parametrize("options", CASES, ids=str)
def test_a_loaded_position_is_the_same_to_the_byte_and_goes_on_the_same(options):
    random = np.random.default_rng(2)
    for seed in range(3):
        game, twin = Board(seed=seed, **options), None
        while game.asked is not None:
            snapshot = json.loads(json.dumps(game.position))
            loaded = Board(snapshot, seed=99)
            assert loaded.position == snapshot
            assert loaded.states.tobytes() == game.states.tobytes()
            twin = twin or loaded
            name = str(random.choice(game.legal))
            game.act(name)
            twin.act(name)
            assert twin.states.tobytes() == game.states.tobytes()


def test_missing_extra_keys_mean_nothing_learned():
    start = position([[5, 8], [7], [1]], QUIET)
    del start["known"]
    game = Board(start, seed=5)
    assert game.position["known"] == [[], [], []]
    assert game.position["turns"] == 0
    assert game.see(0)["unknown"].tolist() == [2, 1, 1]
    again = Board(start, seed=5)
    assert again.position["generator"] == game.position["generator"]
    assert Board(start, seed=6).position["generator"] != game.position["generator"]


def test_pending_cards_are_found_anywhere_in_the_discard_pile():
    """Who writes a position may sort the pile."""
    pending = [{"seat": 0, "card": 7, "effect": "turn low to 5"}, {"seat": 2, "card": 6, "effect": "cancel"}]
    start = position(
        [[1], [6], [1]], QUIET, discard_pile=[2, 6, 6, 7, 7], phase="react", pending=pending, to_act=[1]
    )  # fmt: skip
    game = Board(start)
    assert game.position["pending"] == pending
    assert game.position["discard_pile"] == [2, 6, 7, 7, 6]
    game.act("6: cancel")
    assert game.position["dice"] == [5, 6]


def test_a_window_without_to_act_asks_the_first_who_can_cancel():
    pending = [{"seat": 2, "card": 7, "effect": "turn low to 5"}]
    start = position([[1], [6], [], [9]], QUIET, discard_pile=[7], phase="react", pending=pending, turn_player=2)
    assert Board(start).asked == 3
    start["to_act"] = [1]
    assert Board(start).asked == 1


def changed(**changes):
    return lambda start: start.update(changes)


def window(pending, pile, **more):
    return lambda start: start.update(position(
        [[1], [6], [8], [6]], QUIET, discard_pile=pile, phase="react", pending=pending, **more
    ))  # fmt: skip


def discard(seat, card, effect):
    return {"seat": seat, "card": card, "effect": effect}


def move(start, source, target, card):
    start[source].remove(card)
    start[target].append(card)


TURN = discard(0, 7, "turn low to 5")

BROKEN = [
    (lambda start: start.pop("phase"), "the key 'phase' is missing"),
    (lambda start: start.pop("deck"), "the key 'deck' is missing"),
    (changed(phase="play"), "phase is one of discard, react, take, not 'play'"),
    (changed(turn_player=4), "turn_player is an integer from 0 to 3, not 4"),
    (changed(turn_player=None), "turn_player is an integer"),
    (changed(dice=[0, 3]), "each of dice is an integer from 1 to 6, not 0"),
    (changed(dice=[4, 3]), "dice are two faces, the low one first"),
    (changed(dice=[4]), "dice are two faces"),
    (changed(dice="66"), "dice is a list"),
    (lambda start: start["deck"].append(5), "have 7 cards of value 5 together, not 6"),
    (lambda start: start["deck"].remove(11), "have 0 cards of value 11 together, not 1"),
    (lambda start: start["deck"].append(12), "each of deck is an integer from 1 to 11, not 12"),
    (lambda start: move(start, "deck", "centre", 7), "the centre has 9 cards, more than 8"),
    (lambda start: move(start, "centre", "deck", 8), "the centre has 7 cards and the deck could refill it"),
    (lambda start: start["hands"].pop(), "hands is a list of 4"),
    (lambda start: start["hands"].__setitem__(0, [1, 2]), "each of hands is a dict with kaiju and mecha"),
    (lambda start: start["hands"][0].pop("mecha"), "the key 'mecha' is missing"),
    (lambda start: start["mechas_on_table"].remove(3), "mecha 3 is missing"),
    (lambda start: start["mechas_on_table"].remove(1), "mecha 1 is missing"),
    (lambda start: start["mechas_on_table"].remove(6), "mecha 6 is missing"),
    (lambda start: start["hands"][1]["mecha"].append(3), "mecha 3 is in 2 places"),
    (lambda start: start["mechas_on_table"].append(6), "mecha 6 is in 2 places"),
    (lambda start: start["mechas_on_table"].append(7), "each of mechas_on_table is an integer from 1 to 6, not 7"),
    (changed(wounds=[0, 0, 0]), "wounds is a list of 4"),
    (changed(wounds=[0, 0, -1, 0]), "each of wounds is an integer from 0 to 135, not -1"),
    (changed(last_turns_left=2), "last_turns_left is set, but the deck is not empty"),
    (changed(last_turns_left=0), "last_turns_left is an integer from 1 to 4, not 0"),
    (changed(known=[[8], [], [], []]), "known: seat 0 does not hold 1 of 8"),
    (changed(known=[[7, 7], [], [], []]), "known: seat 0 does not hold 2 of 7"),
    (changed(turns=400), r"turns is an integer from 0 to 399, not 400"),
    (changed(to_act=[1]), r"to_act is \[1\], but the position waits for \[0\]"),
    (changed(over=True), "over is True"),
    (changed(options={"players": 3}), "the snapshot has players=3, the environment players=4"),
    (changed(phase="react"), "phase react needs a pending discard"),
    (changed(pending=[TURN]), "pending holds a discard in phase discard"),
    (changed(pending=None), "pending is a list, not None"),
    (window([discard(0, 2, "turn low to 5")], [2]), "a 2 cannot turn low to 5"),
    (window([discard(0, 7, "fly")], [7]), "there is no effect 'fly'"),
    (window([discard(1, 7, "turn low to 5")], [7]), "seat 1 has discarded in another player's turn"),
    (window([discard(4, 7, "turn low to 5")], [7]), "seat in pending is an integer from 0 to 3, not 4"),
    (window([TURN], []), "7 is not in the discard pile"),
    (window([discard(0, 7, "turn low to 1")], [7]), "'turn low to 1' is impossible with the dice 1, 6"),
    (window([discard(0, 2, "reroll high")], [2], dice=(3, 3)), "'reroll high' is impossible with the dice 3, 3"),
    (window([discard(0, 5, "draw")], [5], deck=[]), "draw is declared, but the deck is empty"),
    (window([discard(0, 6, "cancel")], [6]), "the first discard cancels nothing"),
    (window([TURN, discard(0, 6, "cancel")], [7, 6]), "seat 0 cancels its own discard"),
    (window([TURN, discard(1, 7, "turn low to 4")], [7, 7]), "can only be cancelled, not answered by turn"),
    (window([TURN], [7], to_act=[2]), r"seat 2 cannot be asked to cancel, only \[1, 3\]"),
    (window([TURN], [7], to_act=[0]), r"seat 0 cannot be asked to cancel, only \[1, 3\]"),
    (window([TURN], [7], to_act=[1, 3]), "one seat at a time"),
]


@pytest.mark.parametrize(("breaks", "problem"), BROKEN, ids=[problem for _, problem in BROKEN])
def test_an_impossible_position_is_refused_and_says_why(breaks, problem):
    start = copy.deepcopy(position([[7], [6], [8], [6]], QUIET))
    breaks(start)
    env = make("pikit_v0", players=4).unwrapped
    env.reset(seed=1)
    before = env.save()
    with pytest.raises(SnapshotError, match=problem):
        env.reset(options={"snapshot": start})
    assert env.save() == before


def test_a_window_nobody_could_answer_is_refused():
    start = position([[1], [8], [8], [1]], QUIET, discard_pile=[7], phase="react", pending=[TURN])
    with pytest.raises(SnapshotError, match="nobody can cancel the pending discard"):
        Board(start)


def test_a_steal_from_a_player_who_is_not_there_is_refused():
    pending = [discard(0, 4, "steal +3")]
    start = position([[1], [6], [8]], QUIET, discard_pile=[4], phase="react", pending=pending)
    with pytest.raises(SnapshotError, match=r"'steal \+3' with 3 players"):
        Board(start)


# --- Options ---


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"players": 1}, "players=1 is not allowed; allowed: 2, 3, 4"),
        ({"players": 5}, "players=5"),
        ({"max_turns": 0}, "max_turns=0"),
        ({"max_turns": None}, "max_turns=None"),
        ({"deck": [1, 2, 3]}, "deck=.* is not allowed; allowed: None, or a dict"),
        ({"deck": {0: 5}}, "there is no card 0"),
        ({"deck": {12: 5}}, "there is no card 12"),
        ({"deck": {"one": 5}}, "there is no card 'one'"),
        ({"deck": {True: 5}}, "there is no card True"),
        ({"deck": {1: -1}}, "-1 copies of card 1"),
        ({"deck": {1: 2.5}}, "2.5 copies of card 1"),
        ({"deck": {1: 121}}, "121 cards"),
        ({"deck": {}}, "enough cards for the set-up, which can take 12 of these with 4 players .there are 0."),
        ({"deck": {8: 15}}, "which can take 16 of these with 4 players .there are 15."),
        ({"deck": {1: 47}}, "which can take 48 of these with 4 players .there are 47."),
        ({"deck": {10: 9}, "players": 2}, "which can take 10 of these with 2 players .there are 9."),
    ],
)
def test_impossible_options_name_the_option(options, problem):
    with pytest.raises(ValueError, match=problem):
        make("pikit_v0", **options)


@pytest.mark.parametrize(
    ("deck", "players"), [({8: 16}, 4), ({1: 48}, 4), ({10: 10}, 2), ({5: 14}, 3), ({"7": 40, 6: 80}, 4)]
)
def test_a_deck_that_is_just_large_enough_always_deals(deck, players):
    for seed in range(50):
        hands = Board(seed=seed, players=players, deck=deck).position["hands"]
        assert all(sum(hand["kaiju"]) >= 10 for hand in hands)


def test_the_deck_in_a_snapshot_may_have_numbers_or_text_as_keys():
    game = Board(players=2, deck={8: 20, 7: 10})
    snapshot = game.position
    for deck in ({8: 20, 7: 10}, {"7": 10, "8": 20}, {"7": 10, 8: 20, 3: 0}):
        snapshot["options"]["deck"] = deck
        assert game.variant.load(snapshot, 0).tobytes() == game.states.tobytes()
    snapshot["options"]["deck"] = {8: 20, 7: 11}
    with pytest.raises(SnapshotError, match="the snapshot has deck="):
        game.variant.load(snapshot, 0)


def test_zero_copies_are_no_copies():
    assert Board(deck={8: 60, 1: 0}).position["options"]["deck"] == {"8": 60}


# --- Names ---


def test_action_names():
    names = Board().variant.action_names
    assert len(names) == len(set(names)) == 91
    assert names[-1] == "no-op"
    effects = [
        *("reroll low", "reroll high", "reroll both", "steal +1", "steal +2", "steal +3", "draw", "cancel"),
        *(f"turn {die} to {face}" for die in ("low", "high") for face in range(1, 7)),
    ]
    own = {"reroll": 2, "steal": 4, "draw": 5, "cancel": 6, "turn": 7}
    assert list(names[:20]) == [f"{own[effect.split()[0]]}: {effect}" for effect in effects]
    assert list(names[20:80]) == [f"{wild}: {effect}" for wild in (9, 10, 11) for effect in effects]
    assert list(names[80:90]) == [
        *("end discards", "accept", "take sum", "take difference", "take low", "take high", "take both"),
        *("take mecha", "steal mecha", "take nothing"),
    ]


def test_the_text_tells_what_a_seat_knows():
    start = position(
        [[4, 7], [1, 8], [6]], QUIET, mechas={2: 1}, wounds=[0, 0, 2], known=[[4, 7], [1], [6]], turns=10
    )  # fmt: skip
    game = Board(start).act("4: steal +1")
    text = game.view(2)[2]
    for line in (
        "You are player_2. It is the turn of player_0, phase react.",
        "Dice: 1 and 6.",
        "Centre: 2 2 3 3 4 4 8 8.",
        "Mechas on the table: 1-1 3-3 4-4 5-5 6-6.",
        "Discard pile: 4.",
        "Pending: a 4 discarded by player_0: steal +1 (from player_1).",
        "You hold 6 (the others know of 6); mechas none; wounds 2.",
        "player_0 holds 7; mechas none; wounds 0.",
        "player_1 holds 1 and 1 unknown; mechas 2-2; wounds 0.",
        "Turns until truncation: 127 or more.",
    ):
        assert line in text, line


def test_the_table_shows_everything():
    start = position([[4, 7], [1, 8], [6]], QUIET, mechas={2: 1}, known=[[4, 7], [1], [6]])
    drawn = make("pikit_v0", players=3, render_mode="ansi", view="all").unwrapped
    drawn.reset(options={"snapshot": start})
    drawn.step(drawn.parse_action("4: steal +1"))
    picture = drawn.render()
    assert picture.startswith("Pikit\nto_act: 2\nphase: react\nturn_player: 0\n")
    assert "\npending:\n  0  seat 0; card 4; effect steal +1\n" in picture
    assert "\n  1  kaiju 1, 8; mecha 2\n" in picture
    assert "\nknown:\n  0  7\n  1  1\n  2  6\n" in picture
