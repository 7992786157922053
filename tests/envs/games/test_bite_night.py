"""The rules of Bite Night: every card, every special case, and whole games against the rules in plain Python."""

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from bite_night_table import (
    ADVANCED,
    BASIC,
    BURYING,
    COLOURS,
    GAME,
    PICTURES,
    SCORING,
    STOP,
    TILES,
    VARIANTS,
    Board,
    Model,
    Rendezvous,
    after_last_grab,
    at_resurrection,
    has_heart,
    last_grab,
    picture,
    random_walk,
    value,
)
from monsterzoo.envs import make_vec
from monsterzoo.envs.core.rng import generator

# --- Components and preparation ---


@pytest.mark.parametrize(("advanced", "deck"), [(False, BASIC), (True, BASIC + ADVANCED)])
@pytest.mark.parametrize("players", [3, 4])
def test_every_hand_and_stack_is_dealt_from_one_deck(players, advanced, deck):
    seen = Counter()
    for seed in range(60):
        board = Board(seed=seed, players=players, advanced=advanced)
        hands = [Counter(hand) for hand in board["hands"]]
        assert [hand.total() for hand in hands] == [9] * players
        dealt = sum(hands, Counter())
        assert dealt <= deck
        seen |= dealt
        stacks = board["stacks"]
        assert [len(stack) for stack in stacks] == [15 if players == 3 else 12] * players
        tiles = list(chain(*stacks))
        assert len(set(tiles)) == len(tiles)
        assert set(tiles) <= set(TILES)
    assert seen == deck
    assert deck.total() == (45 if advanced else 36)


def test_half_of_the_tiles_carry_a_heart():
    assert len(TILES) == 50
    assert sum(map(has_heart, TILES)) == 25


def test_the_basic_game_has_no_advanced_actions():
    names = GAME.variant(players=4).action_names
    assert len(names) == 34 + 50 + 50 + 1
    assert not any(name.startswith("raise") or name.removeprefix("lay ") in ADVANCED for name in names)
    names = GAME.variant(players=4, advanced=True).action_names
    assert len(names) == 43 + 150 + 1
    assert names[-1] == "no-op"
    assert len(set(names)) == len(names)


def test_dealt_cards_and_tiles_are_uniform():
    boards = [Board(seed=seed, players=3) for seed in range(2000)]
    tops = Counter(board["stacks"][1][0] for board in boards)
    assert len(tops) == 50
    assert 15 <= min(tops.values()) <= max(tops.values()) <= 75
    held = Counter(card for board in boards for card in board["hands"][2])
    for card, copies in BASIC.items():
        assert abs(held[card] - 2000 * copies * 9 / 36) < 5 * np.sqrt(2000 * copies * 3 / 16) + copies


# --- Laying cards ---


def test_everybody_lays_at_the_same_time_and_cards_stay_hidden_in_hand():
    board = Board(players=4)
    hands = board["hands"]
    assert board["phase"] == "lay"
    assert board["to_act"] == [0, 1, 2, 3]
    for seat in (2, 0, 3):
        board.do(seat, f"lay {hands[seat][0]}")
    assert board["to_act"] == [1]
    assert board["hands"] == hands
    assert board["pile"] == []
    assert board["choices"] == [[hands[0][0]], [], [hands[2][0]], [hands[3][0]]]
    board.do(1, f"lay {hands[1][4]}")
    assert board["pile"] == [[0, hands[0][0]], [1, hands[1][4]], [2, hands[2][0]], [3, hands[3][0]]]
    assert [len(hand) for hand in board["hands"]] == [8] * 4
    assert board["choices"] == [[], [], [], []]
    assert board["phase"] == "grab"


def play_round(board: Board) -> None:
    """Everybody lays the first card in hand and grabs what is there."""
    while board["phase"] == "lay":
        seat = board["to_act"][-1]
        board.do(seat, f"lay {board['hands'][seat][0]}")
    number = board["round"]
    while board["phase"] == "grab" and board["round"] == number:
        seats = board["to_act"]
        for seat, tile in zip(seats, board["middle"]):
            board.do(seat, f"grab {tile}")


@pytest.mark.parametrize("players", [3, 4])
def test_the_pile_keeps_the_order_and_the_first_player_moves_on_each_round(players):
    board = Board(players=players)
    hands = board["hands"]
    expected = []
    for number in range(3):
        assert board["round"] == number + 1
        assert board["first_player"] == number % players
        play_round(board)
        seats = [(number + k) % players for k in range(players)]
        expected += [[seat, hands[seat][number]] for seat in seats]
        assert board["pile"] == expected


def test_a_design_held_twice_is_laid_one_card_at_a_time():
    snapshot = Board(players=4, seed=3).position()
    hands = [[card for card in hand if card != "skip two"] for hand in snapshot["hands"]]
    loose = [card for hand in hands[1:] for card in hand]
    own = [*hands[0][:7], "skip two", "skip two"]
    rest = [*hands[0][7:], *loose]
    board = Board({**snapshot, "hands": [own, rest[:9], rest[9:18], rest[18:27]]}, players=4)
    assert board.legal(0).count("lay skip two") == 1
    board.do(0, "lay skip two")
    for seat in (1, 2, 3):
        board.do(seat, board.legal(seat)[0])
    assert board["hands"][0].count("skip two") == 1
    assert board["pile"][0] == [0, "skip two"]
    assert Counter(chain(*board["hands"], (card for _, card in board["pile"]))) == BASIC


# --- Grabbing tiles ---


def test_three_tiles_of_every_stack_are_turned_up_from_the_top():
    board = Board(players=3, seed=5)
    stacks = board["stacks"]
    for seat in range(3):
        board.do(seat, board.legal(seat)[0])
    assert sorted(board["middle"]) == sorted(tile for stack in stacks for tile in stack[:3])
    assert board["stacks"] == [stack[3:] for stack in stacks]
    assert board.legal(1) == [f"grab {tile}" for tile in sorted(board["middle"], key=TILES.index)]


def grabbing(seed: int = 0, **options) -> Board:
    board = Board(seed=seed, **options)
    for seat in range(board.variant.players):
        board.do(seat, board.legal(seat)[0])
    return board


def test_grabs_are_hidden_until_everybody_has_named_a_tile():
    board = grabbing(players=3)
    middle = board["middle"]
    board.do(0, f"grab {middle[0]}")
    board.do(2, f"grab {middle[0]}")
    assert board["middle"] == middle
    assert board["tiles"] == [[], [], []]
    assert board["choices"] == [[middle[0]], [], [middle[0]]]
    assert board["to_act"] == [1]
    board.do(1, f"grab {middle[1]}")
    assert board["tiles"][1] == [middle[1]]
    assert sorted(board["tiles"][0] + board["tiles"][2]) == [middle[0]]
    assert middle[0] not in board["middle"]
    assert board["choices"] == [[], [], []]
    assert board["to_act"] == [0, 1, 2]


def test_a_seat_with_three_tiles_is_not_asked_again_and_the_last_one_is_asked_to_the_end():
    board = grabbing(players=3, reflexes=[1e9, 1, 1e-9])
    ticks = 0
    while board["phase"] == "grab":
        assert board["to_act"] == [seat for seat in range(3) if len(board["tiles"][seat]) < 3]
        tile = board["middle"][0]
        for seat in board["to_act"]:
            board.do(seat, f"grab {tile}")
        ticks += 1
    # Everybody always wants the same tile: seat 0 gets three, then seat 1, then seat 2, alone and asked for each.
    assert ticks == 9
    assert [len(tiles) for tiles in board["tiles"]] == [3, 3, 3]


def test_without_conflicts_a_round_takes_three_ticks():
    board = grabbing(players=4)
    for _ in range(3):
        assert board["to_act"] == [0, 1, 2, 3]
        for seat, tile in enumerate(board["middle"][:4]):
            board.do(seat, f"grab {tile}")
    assert board["phase"] == "lay"
    assert board["round"] == 2


def contested(wins: int, seats: list[int], **options) -> np.ndarray:
    """How often each seat gets the tile that all of `seats` name."""
    board = grabbing(**options)
    tile, *others = board["middle"]
    for seat in range(board.variant.players):
        if seat != seats[-1]:
            board.do(seat, f"grab {tile if seat in seats else others.pop()}")
    before = board.states
    count = np.zeros(board.variant.players)
    for seed in range(wins):
        board.states = before.copy()
        board.states["rng"] = generator(seed)
        board.do(seats[-1], f"grab {tile}")
        count[[tile in tiles for tiles in board["tiles"]]] += 1
    assert count.sum() == wins
    return count


def assert_chances(count: np.ndarray, weights: list[float]) -> None:
    chances = np.array(weights) / sum(weights)
    deviation = np.sqrt(count.sum() * chances * (1 - chances)) + 1e-9
    assert np.all(np.abs(count - count.sum() * chances) < 4.5 * deviation), (count, chances)


def test_a_race_of_three_for_one_tile_is_uniform():
    assert_chances(contested(3000, [0, 1, 2], players=3), [1, 1, 1])


def test_a_race_of_three_for_one_tile_follows_reflexes():
    assert_chances(contested(3000, [0, 1, 2], players=3, reflexes=[5, 3, 2]), [5, 3, 2])


def test_a_race_of_two_counts_only_their_own_reflexes():
    assert_chances(contested(3000, [1, 3], players=4, reflexes=[50, 3, 7, 1]), [0, 3, 0, 1])


def test_reflexes_of_any_size_work():
    assert_chances(contested(500, [0, 1, 2], players=3, reflexes=[1e308, 1e308, 1e-308]), [1, 1, 0])


def test_a_draft_goes_clockwise_from_the_first_player_one_tile_at_a_time():
    board = grabbing(players=3, grab="draft")
    order = []
    for number in range(3):
        first = board["first_player"]
        assert first == number
        for turn in range(9):
            assert board["to_act"] == [(first + turn) % 3]
            seat, tile = board["to_act"][0], board["middle"][-1]
            board.do(seat, f"grab {tile}")
            order.append(seat)
            assert tile in board["tiles"][seat]
        assert [len(tiles) for tiles in board["tiles"]] == [3 * number + 3] * 3
        while board["phase"] == "lay":
            seat = board["to_act"][0]
            board.do(seat, board.legal(seat)[0])
    assert order == [0, 1, 2] * 3 + [1, 2, 0] * 3 + [2, 0, 1] * 3


# --- Cards that bring points ---


def test_example_of_the_book_six_vampires_of_four_colours_bring_eight():
    own = ["blue vampire", "blue vampire heart", "red vampire", "red vampire heart", "green vampire", "violet vampire"]
    assert Rendezvous(["picture vampire", STOP], {0: own}).points == [8, 0, 0]


def test_example_of_the_book_two_couples_of_maiden_and_garlic_bring_eight():
    own = ["blue maiden", "blue garlic", "red maiden heart", "red garlic", "green maiden", "violet garlic"]
    board = Rendezvous(["combination maiden+garlic", STOP], {0: own}, dug="coffin")
    assert board.points == [8, 0, 0]


@pytest.mark.parametrize(("colours", "points"), [(3, 3), (4, 4 + 2), (5, 5 + 4)])
def test_picture_bonus_for_exactly_four_and_five_colours(colours, points):
    own = [f"{colour} coffin" for colour in COLOURS[:colours]]
    assert Rendezvous(["picture coffin", STOP], {0: own})["scores"][0] == points


@pytest.mark.parametrize(("pictures", "points"), [(3, 6), (4, 8 + 2), (5, 10 + 4)])
def test_colour_bonus_for_exactly_four_and_five_pictures(pictures, points):
    own = [f"green {name}{heart}" for name in reversed(PICTURES[-pictures:]) for heart in ("", " heart")]
    tiles = [own, *rest_of(own, [15 - len(own), 15, 15], lambda tile: not tile.startswith("green"))]
    tiles = [own + tiles[1], tiles[2], tiles[3]]
    assert after_last_grab(["colour green", STOP], tiles)["scores"][0] == points


def rest_of(own: list[str], sizes: list[int], first_fits) -> list[list[str]]:
    """Further tiles in groups of these sizes; those of the first group fit a condition."""
    left = sorted((tile for tile in TILES if tile not in own), key=first_fits, reverse=True)
    ends = np.cumsum(sizes)
    groups = [left[end - size : end] for size, end in zip(sizes, ends)]
    assert all(map(first_fits, groups[0]))
    return groups


def test_a_pair_needs_equal_colour():
    own = ["blue monk", "blue monk heart", "red monk", "green monk heart", "violet monk", "violet monk heart"]
    assert Rendezvous(["pair monk", STOP], {0: own}).points == [6, 0, 0]


def test_combinations_count_the_smaller_number_in_each_colour():
    own = ["blue vampire", "blue vampire heart", "blue monk", "blue monk heart", "red vampire", "red vampire heart"]
    own += ["red monk", "yellow vampire", "green monk"]
    assert Rendezvous(["combination vampire+monk", STOP], {0: own}).points == [4 * (2 + 1), 0, 0]


def test_colour_sets_count_the_rarest_colour():
    own = [f"{colour} {name}" for colour in COLOURS for name in ("vampire", "monk")]
    more = ["blue maiden", "red maiden", "green maiden", "violet maiden"]
    board = Rendezvous(["colour set", STOP], {0: own + more, 1: ["yellow maiden"]})
    assert board.points == [10, 0, 0]


def test_every_player_scores_and_a_tile_counts_again_for_the_next_card():
    tiles = {0: ["blue vampire", "blue vampire heart"], 1: ["red vampire", "blue monk"], 2: ["green monk"]}
    board = Rendezvous(["picture vampire", "pair vampire", "colour blue", STOP], tiles)
    assert board.points == [2 + 3 + 2, 1 + 1, 0]


@pytest.mark.parametrize("card", SCORING)
def test_every_scoring_card_on_random_tiles(card):
    random = np.random.default_rng(SCORING.index(card))
    for _ in range(25):
        drawn = [str(tile) for tile in random.permutation(TILES)]
        tiles = [drawn[12 * seat : 12 * seat + 12] for seat in range(4)]
        board = after_last_grab([card, STOP], tiles, players=4)
        assert board["resolved"] == 1
        assert board["scores"] == [value(card, own) for own in tiles]


# --- Graveyard cards ---


@pytest.mark.parametrize("name", PICTURES)
def test_who_has_more_than_two_chooses_and_others_bury_what_they_have(name):
    tiles = {
        0: [f"blue {name}", f"red {name}", f"green {name} heart"],
        1: [f"red {name} heart", f"yellow {name}"],
        2: [f"violet {name}"],
    }
    dug = "monk" if name == "garlic" else "garlic"
    board = Rendezvous([f"graveyard {name}", STOP], tiles, dug=dug)
    assert (board["phase"], board.done, board["to_act"]) == ("bury", 0, [0])
    assert sorted(board.legal(0)) == sorted(f"bury {tile}" for tile in tiles[0])
    board.do(0, f"bury blue {name}")
    assert sorted(board.legal(0)) == sorted(f"bury {tile}" for tile in tiles[0][1:])
    assert board.buried == set()
    assert board["choices"] == [[f"blue {name}"], [], [], []]
    board.do(0, f"bury green {name} heart")
    assert board.buried == {f"blue {name}", f"green {name} heart", *tiles[1], *tiles[2]}
    assert board["tiles"][:3] == [[f"red {name}"], [], []]


def test_the_graveyard_for_any_tile_takes_any_two():
    tiles = {0: ["blue monk", "red coffin", "green maiden heart"], 1: ["violet monk", "violet coffin"], 2: ["red monk"]}
    board = Rendezvous(["graveyard any", "resurrection"], tiles)
    assert board["to_act"] == [0, 3]
    assert sorted(board.legal(0)) == sorted(f"bury {tile}" for tile in tiles[0])
    board.do(0, "bury blue monk", "bury red coffin")
    board.do(3, *board.legal(3)[:2])
    assert board.buried >= {"blue monk", "red coffin", *tiles[1], *tiles[2]}
    assert board["tiles"][:3] == [["green maiden heart"], [], []]


def test_nobody_is_asked_when_nobody_has_a_choice():
    tiles = {0: ["blue monk", "red monk", "red coffin"], 1: ["red monk heart"], 2: ["violet monk", "violet monk heart"]}
    board = Rendezvous(["graveyard monk", STOP], tiles)
    assert board.done == 1
    assert board.buried == {tile for own in tiles.values() for tile in own if picture(tile) == "monk"}


def test_burials_are_simultaneous_and_tiles_stay_until_all_have_chosen():
    board = after_last_grab([STOP, "graveyard monk"])
    assert board["to_act"] == [0, 1, 2]
    tiles = board["tiles"]
    board.do(0, f"bury {tiles[0][0]}")
    board.do(2, f"bury {tiles[2][3]}", f"bury {tiles[2][1]}")
    assert board["to_act"] == [0, 1]
    board.do(1, f"bury {tiles[1][0]}", f"bury {tiles[1][1]}")
    assert board["to_act"] == [0]
    assert board["tiles"] == tiles
    assert board["graveyard"] == []
    assert board["choices"] == [tiles[0][:1], tiles[1][:2], [tiles[2][3], tiles[2][1]]]
    assert f"bury {tiles[0][0]}" not in board.legal(0)
    board.do(0, f"bury {tiles[0][1]}")
    assert board["phase"] == "bury"
    buried = {*tiles[0][:2], *tiles[1][:2], tiles[2][3], tiles[2][1]}
    assert set(board["graveyard"]) == buried
    assert board["tiles"] == [[tile for tile in own if tile not in buried] for own in tiles]


def test_buried_tiles_no_longer_count():
    tiles = {0: ["blue vampire", "red vampire"], 1: ["red vampire heart"], 2: []}
    assert Rendezvous(["graveyard vampire", "picture vampire", STOP], tiles).points == [0, 0, 0]


def test_cards_left_in_hand_play_no_part_in_the_rendezvous():
    board = after_last_grab([STOP])
    hands = board["hands"]
    assert [len(hand) for hand in hands] == [4, 4, 4]
    assert all(action.startswith("bury") for action in board.legal(0))


# --- Skip two ---

VAMPIRES = {0: ["blue vampire", "blue vampire heart"], 1: ["blue monk", "red monk", "green monk"]}


def test_skip_two_removes_the_next_two_cards():
    board = Rendezvous(["skip two", "picture vampire", "picture monk", "pair vampire", STOP], VAMPIRES)
    assert board.points == [3, 0, 0]
    assert board.done == 4


def test_a_skipped_skip_two_does_nothing():
    board = Rendezvous(["skip two", "skip two", "picture monk", "picture vampire", STOP], VAMPIRES)
    assert board.points == [2, 0, 0]


def test_skip_two_over_a_graveyard_card_leaves_graveyard_closed_open():
    pile = ["graveyard closed", "skip two", "graveyard monk", "picture monk", "resurrection"]
    tiles = {0: ["blue monk heart", "blue maiden"]}
    board = Rendezvous(pile, tiles)
    assert board["phase"] == "resurrect"
    assert board["open_cards"] == ["graveyard closed"]
    pile = ["graveyard closed", "skip two", "graveyard coffin", "picture monk", "graveyard monk", STOP]
    board = Rendezvous(pile, VAMPIRES)
    assert board.done == 5  # the monks' graveyard was closed
    assert board["open_cards"] == []
    assert board.points == [0, 0, 0]


def test_skip_two_over_graveyard_closed_keeps_it_from_lying_open():
    board = Rendezvous(["skip two", "graveyard closed", "picture monk", "graveyard monk"], VAMPIRES)
    assert board["open_cards"] == []
    assert (board["phase"], board.done) == ("bury", 3)


@pytest.mark.parametrize("left", [0, 1])
def test_a_skip_at_the_end_of_the_pile_takes_what_is_left(left):
    counted = SCORING[: 14 - left]
    snapshot = last_grab([*counted, "skip two", *SCORING[20 : 20 + left]])
    board = Board(snapshot, players=3)
    board.do(2, f"grab {snapshot['middle'][0]}")
    assert board["lap"] == 2
    tiles = [*snapshot["tiles"][:2], snapshot["tiles"][2] + snapshot["middle"]]
    assert board["scores"] == [sum(value(card, own) for card in counted) for own in tiles]


# --- Graveyard closed ---


def test_graveyard_closed_waits_for_the_next_graveyard_card_and_leaves_with_it():
    board = Rendezvous(["graveyard closed", "picture vampire", "graveyard vampire", "graveyard monk"], VAMPIRES)
    assert (board["phase"], board.done) == ("bury", 3)
    assert board["open_cards"] == []
    assert board["scores"][0] == 2
    assert board.buried == set()


def test_two_closed_cards_cancel_one_graveyard_card_each():
    pile = [
        "graveyard closed",
        "graveyard closed",
        "graveyard vampire",
        "colour set",
        "graveyard any",
        "graveyard monk",
    ]
    board = Rendezvous(pile, VAMPIRES)
    assert (board["phase"], board.done) == ("bury", 5)
    assert board["open_cards"] == []
    assert board.buried == set()


def test_one_of_two_closed_cards_stays_open():
    pile = ["graveyard closed", "graveyard closed", "servant", "vow of celibacy", "graveyard vampire", "resurrection"]
    board = Rendezvous(pile, {0: ["blue monk heart"]})
    assert board["phase"] == "resurrect"
    assert board["open_cards"] == ["graveyard closed", "servant", "vow of celibacy"]


@pytest.mark.parametrize("card", BURYING)
def test_graveyard_closed_cancels_each_of_the_six(card):
    other = "graveyard monk" if card != "graveyard monk" else "graveyard any"
    board = after_last_grab(["graveyard closed", card, other])
    assert (board["phase"], board["resolved"]) == ("bury", 2)
    assert board["open_cards"] == board["graveyard"] == []


def test_graveyard_closed_is_used_up_by_a_card_that_would_have_buried_nothing():
    board = Rendezvous(["graveyard closed", "graveyard coffin", "graveyard monk"], VAMPIRES)
    assert (board["phase"], board.done) == ("bury", 2)


def test_graveyard_closed_does_not_stop_soup_banishment_or_resurrection():
    tiles = {
        0: ["blue vampire", "red garlic"],
        1: ["red vampire", "red monk"],
        2: ["violet garlic heart", "blue monk heart"],
    }
    board = Rendezvous(["graveyard closed", "banishment", "garlic soup", "resurrection"], tiles, dug="coffin")
    assert board.buried == {"blue vampire", "red garlic", "violet garlic heart"}
    assert board.points == [3, 0, 3]
    assert board["phase"] == "resurrect"
    assert board["open_cards"] == ["graveyard closed"]


# --- The advanced cards ---


@pytest.mark.parametrize(
    ("card", "thief", "victim", "dug"),
    [
        ("blood wedding", "maiden", "monk", "garlic"),
        ("vampire's bite", "vampire", "maiden", "garlic"),
        ("provisions", "monk", "garlic", "coffin"),
        ("dawn", "vampire", "coffin", "garlic"),
    ],
)
def test_thieves_with_hearts_steal_victims_with_hearts_of_their_colour(card, thief, victim, dug):
    tiles = {
        0: [f"blue {thief} heart", f"red {thief}", f"green {victim} heart", f"violet {thief} heart"],
        1: [f"blue {victim} heart", f"blue {victim}", f"red {victim} heart", f"red {victim}", f"green {victim}"],
        2: [f"green {thief} heart", f"red {thief} heart", f"yellow {victim} heart"],
    }
    tiles[0].append(f"violet {victim} heart")
    board = Rendezvous([card, STOP], tiles, dug=dug)
    assert board.done == 1
    assert board.buried == set()
    after = [set(own) for own in board["tiles"]]
    # blue: seat 0 from seat 1; red: 2 from 1; green: 2 from 0; violet: it is seat 0's own; yellow: nobody has the thief
    assert after[0] == {*tiles[0], f"blue {victim} heart"} - {f"green {victim} heart"}
    assert after[1] == {f"blue {victim}", f"red {victim}", f"green {victim}"}
    assert after[2] == {*tiles[2], f"red {victim} heart", f"green {victim} heart"}


def test_a_stolen_tile_counts_for_its_new_owner():
    tiles = {0: ["blue vampire heart"], 1: ["blue maiden heart"]}
    assert Rendezvous(["vampire's bite", "picture maiden", STOP], tiles).points == [1, 0, 0]


def test_a_stolen_thief_steals_for_its_new_owner():
    tiles = {0: ["blue vampire heart"], 1: ["blue maiden heart"], 2: ["blue monk heart"]}
    board = Rendezvous(["vampire's bite", "blood wedding", STOP], tiles)
    assert board["tiles"][:3] == [["blue vampire heart", "blue monk heart", "blue maiden heart"], [], []]


DAWN = {0: ["blue vampire heart"], 1: ["blue coffin heart"]}
WEDDING = {0: ["blue maiden heart"], 1: ["blue monk heart"]}


def test_dawn_against_servant():
    board = Rendezvous(["servant", "picture monk", "dawn", "resurrection"], DAWN)
    assert board["tiles"][1] == ["blue coffin heart"]
    assert board["open_cards"] == []
    board = Rendezvous(["dawn", "servant", "resurrection"], DAWN)
    assert board["tiles"][0] == ["blue vampire heart", "blue coffin heart"]
    assert board["open_cards"] == ["servant"]


def test_celibacy_against_wedding():
    board = Rendezvous(["vow of celibacy", "blood wedding", "resurrection"], WEDDING)
    assert board["tiles"][1] == ["blue monk heart"]
    assert board["open_cards"] == []
    board = Rendezvous(["blood wedding", "vow of celibacy", "resurrection"], WEDDING)
    assert board["tiles"][0] == ["blue monk heart", "blue maiden heart"]
    assert board["open_cards"] == ["vow of celibacy"]


def test_servant_does_not_stop_a_wedding_nor_celibacy_a_dawn():
    board = Rendezvous(["servant", "blood wedding", "resurrection"], WEDDING)
    assert board["tiles"][1] == []
    assert board["open_cards"] == ["servant"]
    board = Rendezvous(["vow of celibacy", "dawn", "resurrection"], DAWN)
    assert board["tiles"][1] == []
    assert board["open_cards"] == ["vow of celibacy"]


def test_garlic_soup_brings_three_a_garlic_and_buries_it_all():
    tiles = {0: ["blue garlic", "blue garlic heart", "red garlic", "red monk"], 1: ["green garlic"]}
    board = Rendezvous(["garlic soup", STOP], tiles, dug="coffin")
    assert board.points == [9, 3, 0]
    assert board.buried == {"blue garlic", "blue garlic heart", "red garlic", "green garlic"}


def test_banishment_buries_the_vampires_of_who_has_garlic():
    tiles = {
        0: ["blue vampire", "red vampire heart", "violet garlic"],
        1: ["green vampire", "green vampire heart", "green monk"],
        2: ["red garlic", "red garlic heart", "red monk"],
    }
    board = Rendezvous(["banishment", STOP], tiles, dug="coffin")
    assert board.buried == {"blue vampire", "red vampire heart"}
    assert board["tiles"][0] == ["violet garlic"]


def test_garlic_soup_before_banishment_saves_the_vampires():
    tiles = {0: ["blue vampire", "red vampire heart", "violet garlic", "red monk"]}
    board = Rendezvous(["garlic soup", "banishment", STOP], tiles, dug="coffin")
    assert board.buried == {"violet garlic"}
    board = Rendezvous(["banishment", "garlic soup", STOP], tiles, dug="coffin")
    assert board.buried == {"violet garlic", "blue vampire", "red vampire heart"}


# --- Resurrection ---


def resurrecting(tiles: dict[int, list[str]], buried: list[str], seat: int | None, lap: int = 1) -> Board:
    return Board(at_resurrection(tiles, buried, seat, lap=lap), players=3, advanced=True)


def test_resurrection_lets_a_player_choose_where_a_colour_has_more_tiles_than_claims():
    tiles = {0: ["blue monk heart", "red coffin"], 1: ["red monk"]}
    board = resurrecting(tiles, ["blue garlic", "blue maiden heart", "red garlic"], 0)
    assert board["claims"] == {"blue": 1}
    assert board.legal(0) == ["raise blue maiden heart", "raise blue garlic"]
    board.do(0, "raise blue garlic")
    assert set(board["tiles"][0]) == {*tiles[0], "blue garlic"}
    assert board["tiles"][1] == ["red monk"]


def test_resurrection_offers_all_claimed_colours_and_ends_by_itself_when_nothing_is_left_to_choose():
    tiles = {0: ["blue monk heart", "red coffin heart", "red maiden heart"], 1: []}
    buried = ["blue garlic", "blue garlic heart", "red garlic", "green garlic"]
    board = resurrecting(tiles, buried, 0)
    assert board.legal(0) == ["raise blue garlic", "raise blue garlic heart", "raise red garlic"]
    board.do(0, "raise blue garlic heart")
    # The red one comes without asking, and the raised heart claims nothing more.
    assert set(board["tiles"][0]) == {*tiles[0], "blue garlic heart", "red garlic"}
    board = resurrecting(tiles, buried, 0)
    board.do(0, "raise red garlic")
    assert board["to_act"] == [0]
    assert board["claims"] == {"blue": 1, "red": 1}
    assert board.legal(0) == ["raise blue garlic", "raise blue garlic heart"]
    board.do(0, "raise blue garlic")
    assert set(board["tiles"][0]) == {*tiles[0], "blue garlic", "red garlic"}


def test_resurrection_raises_a_tile_for_every_heart_of_the_colour():
    tiles = {0: ["blue monk heart", "blue coffin heart"], 1: []}
    board = resurrecting(tiles, ["blue garlic", "blue garlic heart", "blue maiden"], 0)
    board.do(0, "raise blue maiden", "raise blue garlic")
    assert set(board["tiles"][0]) == {*tiles[0], "blue maiden", "blue garlic"}


def test_a_plain_tile_and_one_with_a_heart_are_a_choice():
    board = resurrecting({0: ["blue monk heart"], 1: []}, ["blue garlic", "blue garlic heart"], 0)
    board.do(0, "raise blue garlic heart")
    assert board["tiles"][0] == ["blue monk heart", "blue garlic heart"]


def test_resurrection_is_automatic_when_everything_that_fits_is_raised():
    tiles = {0: ["blue monk heart"], 1: ["blue coffin heart", "red coffin heart", "red maiden heart"]}
    board = resurrecting(tiles, ["blue garlic", "blue maiden", "red garlic", "red monk"], 0)
    board.do(0, "raise blue garlic")
    assert set(board["tiles"][1]) == {*tiles[1], "blue maiden", "red garlic", "red monk"}
    assert board["phase"] == "bury"
    assert board["graveyard"] == []
    assert board["resolved"] == 1


@pytest.mark.parametrize("lap", [1, 2, 3])
def test_resurrection_begins_with_the_leader_of_the_lap(lap):
    board = after_last_grab(["garlic soup", "resurrection", STOP], advanced=True, lap=lap)
    assert board["phase"] == "resurrect"
    assert board["to_act"] == [lap - 1]  # all three would have a choice


@pytest.mark.parametrize("lap", [1, 2, 3])
def test_resurrection_goes_in_order_from_the_leader_of_the_lap(lap):
    leader = lap - 1
    following = (leader + 1) % 3
    tiles = {leader: ["blue monk heart"], following: ["blue coffin heart"]}
    board = resurrecting(tiles, ["blue garlic", "blue garlic heart", "blue maiden"], leader, lap)
    board.do(leader, "raise blue garlic heart")
    assert board["to_act"] == [following]
    assert board["claims"] == {"blue": 1}
    assert board.legal(following) == ["raise blue maiden", "raise blue garlic"]
    board.do(following, "raise blue maiden")
    assert "blue maiden" in board["tiles"][following]


def test_hearts_count_at_the_start_of_the_own_turn():
    # Seat 0 raises the blue heart: it does not count for seat 0 any more, and seat 1 never had it.
    tiles = {0: ["blue monk heart"], 1: ["blue coffin"]}
    board = resurrecting(tiles, ["blue garlic", "blue garlic heart"], 0)
    board.do(0, "raise blue garlic heart")
    assert set(board["tiles"][0]) == {"blue monk heart", "blue garlic heart"}
    assert board["tiles"][1] == ["blue coffin"]


def test_resurrection_does_not_ask_who_has_no_hearts():
    board = resurrecting({0: ["blue monk"], 1: ["blue coffin heart"]}, ["blue garlic", "blue maiden"], None)
    assert board["to_act"] == [1]


# --- Laps and the end ---


@pytest.mark.parametrize("players", [3, 4])
def test_the_next_player_leads_the_next_lap_and_everything_is_dealt_anew(players):
    board = after_last_grab([STOP], players=players, scores=[7] * players)
    while board["lap"] == 1:
        seat = board["to_act"][0]
        board.do(seat, board.legal(seat)[0])
    assert board["lap_leader"] == board["first_player"] == 1
    assert board["phase"] == "lay"
    assert board["round"] == 1
    assert board["pile"] == board["graveyard"] == board["open_cards"] == board["middle"] == []
    assert board["tiles"] == [[] for _ in range(players)]
    assert [len(hand) for hand in board["hands"]] == [9] * players
    assert min(board["scores"]) >= 7


def finish(leads: list[int]) -> tuple[Board, np.ndarray]:
    """The last lap ends without a decision, and seats are apart by `leads` then; also the last step's rewards."""
    pile = SCORING[:15]
    snapshot = last_grab(pile, lap=3)
    tiles = [*snapshot["tiles"][:2], snapshot["tiles"][2] + snapshot["middle"]]
    gained = [sum(value(card, own) for card in pile) for own in tiles]
    before = [max(gained) - points + lead for points, lead in zip(gained, leads)]
    board = Board({**snapshot, "scores": before}, players=3)
    rewards = board.do(2, f"grab {snapshot['middle'][0]}")
    assert board["scores"] == [max(gained) + lead for lead in leads]
    return board, rewards


def test_most_points_win():
    board, rewards = finish([3, 9, 8])
    assert board["over"]
    assert board["winners"] == [1]
    assert board["to_act"] == []
    assert rewards.tolist() == pytest.approx([-0.5, 1.0, -0.5])


def test_a_tie_is_shared():
    board, rewards = finish([9, 3, 9])
    assert board["winners"] == [0, 2]
    assert rewards.tolist() == pytest.approx([0.25, -0.5, 0.25])
    board, rewards = finish([1, 1, 1])
    assert board["winners"] == [0, 1, 2]
    assert rewards.tolist() == pytest.approx([0, 0, 0])


@pytest.mark.parametrize("laps", [1, 2, 5])
def test_the_number_of_laps_is_an_option(laps):
    board = Board(players=3, laps=laps)
    for _ in random_walk(board, np.random.default_rng(laps)):
        pass
    assert board["lap"] == laps
    assert board["lap_leader"] == (laps - 1) % 3


def test_a_game_has_as_many_laps_as_players():
    assert [int(GAME.variant(players=n).template["laps"][0]) for n in (3, 4)] == [3, 4]


def test_score_rewards_pay_the_lead_over_the_mean_of_the_others():
    snapshot = last_grab(["picture vampire", "colour red", STOP])
    board = Board(snapshot, players=3, reward="score")
    rewards = board.do(2, f"grab {snapshot['middle'][0]}")
    points = board["scores"]
    assert len(set(points)) > 1
    assert rewards.tolist() == pytest.approx([(3 * own - sum(points)) / 2 / 20 for own in points])


# --- Options ---


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"players": 5}, "players=5"),
        ({"players": 2}, "players=2"),
        ({"advanced": 1}, "advanced=1"),
        ({"grab": "fast"}, "grab='fast'"),
        ({"laps": 0}, "laps=0"),
        ({"laps": True}, "laps=True"),
        ({"reflexes": [1, 2, 3]}, "players=4"),
        ({"reflexes": [1, 2, 3, 0]}, "reflexes"),
        ({"reflexes": [1, 2, 3, float("inf")]}, "reflexes"),
        ({"reflexes": [1, 2, 3, float("nan")]}, "reflexes"),
        ({"reflexes": "1234"}, "reflexes"),
        ({"reflexes": 4}, "reflexes"),
        ({"reflexes": [1, 2, 3, True]}, "reflexes"),
        ({"grab": "draft", "reflexes": [1, 1, 1, 1]}, "reflexes"),
        ({"cards": 3}, "cards"),
    ],
)
def test_impossible_options_are_named(options, problem):
    with pytest.raises(ValueError, match="bite_night_v0") as error:
        GAME.variant(**options)
    assert problem in str(error.value)
    assert "allowed" in str(error.value) or "leave it out" in str(error.value) or "options are" in str(error.value)


def test_reflexes_may_come_as_any_sequence():
    for given in ([3, 2, 1], (3, 2, 1), np.array([3, 2, 1])):
        assert GAME.variant(players=3, reflexes=given).options["reflexes"] == [3.0, 2.0, 1.0]


# --- Whole games ---


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_random_games_follow_the_rules_in_plain_python(options):
    random = np.random.default_rng(7)
    for seed in range(5):
        board = Board(seed=seed, **options)
        variant = board.variant
        model = Model(
            variant.players,
            variant.options["advanced"],
            variant.options["grab"] == "draft",
            int(board.states["laps"][0]),
        )
        model.deal(board["hands"], board["stacks"])
        for seat, action in random_walk(board, random):
            position = board.position()
            if position["lap"] > model.lap:
                assert position["scores"] == model.scores
                model.deal(position["hands"], position["stacks"])
            model.agrees_with(position)
            assert set(board.legal(seat)) == model.legal(seat)
            other = (seat + 1) % variant.players
            assert other in position["to_act"] or board.legal(other) == ["no-op"]
            after = None
            if position["phase"] == "grab" and len(position["to_act"]) == 1:
                after = peek(board, seat, action)
            model.step(seat, action, after)
        assert model.over
        assert board["scores"] == model.scores
        assert board["winners"] == [s for s in range(variant.players) if model.scores[s] == max(model.scores)]


def peek(board: Board, seat: int, action: str) -> list[list[str]]:
    """Everybody's tiles right after the last choice of a tick: who won the races for tiles."""
    copy = Board.__new__(Board)
    copy.__dict__.update(board.__dict__)
    copy.states = board.states.copy()
    copy.do(seat, action)
    # The rendezvous may have moved tiles on; then the tile that ended the round had no rival anyway.
    return copy["tiles"]


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_tiles_and_cards_are_conserved(options):
    random = np.random.default_rng(1)
    board = Board(seed=11, **options)
    deck = BASIC + ADVANCED if board.variant.options["advanced"] else BASIC
    for _ in random_walk(board, random):
        position = board.position()
        tiles = list(chain(*position["tiles"], *position["stacks"], position["middle"], position["graveyard"]))
        assert len(tiles) == len(set(tiles)) == (45 if board.variant.players == 3 else 48)
        cards = Counter(chain(*position["hands"], (card for _, card in position["pile"])))
        assert cards.total() == 9 * board.variant.players
        assert cards <= deck


def test_a_longest_possible_lap_ends():
    """Everybody always names the same tile: every tick gives away just one."""
    board = Board(players=4, laps=1)
    decisions = 0
    while not board["over"]:
        for seat in board["to_act"]:
            board.do(seat, board.legal(seat)[0])
            decisions += 1
    assert decisions < 4 * (4 + 4 * 12) + 16 * 8


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_hundreds_of_random_games_conserve_everything_and_end_regularly(options):
    """The same on the records of many games at once."""
    batch = make_vec("bite_night_v0", 256, seed=6, **options)
    players, seats = batch.players, np.arange(batch.players)
    dealt = 45 if players == 3 else 48
    finished = 0
    while finished < 300:
        batch.step(batch.sample_actions())
        ended = batch.terminated
        finished += ended.sum()
        assert not batch.truncated.any()
        scores = batch.final_states["scores"][ended, :players]
        winners = (scores == scores.max(1, keepdims=True)) @ (1 << seats)
        assert np.array_equal(winners, batch.final_states["winners"][ended])
        states = batch.states
        places = np.column_stack([states["tiles"][:, :players], states["middle"], states["graveyard"]])
        hidden = np.where(states["stacks"] >= 0, 1 << states["stacks"].astype(np.uint64), 0)
        tiles = np.column_stack([places, hidden])
        assert np.all(np.bitwise_count(tiles).sum(1) == dealt)
        assert np.all(np.bitwise_count(np.bitwise_or.reduce(tiles, 1)) == dealt)
        cards = np.bitwise_count(states["hand"][:, :players]).sum(1) + states["pile_size"]
        assert np.all(cards == 9 * players)
        assert np.all(states["acting"] & ~states["asked"] == 0)
        assert np.all(states["acting"] > 0)
