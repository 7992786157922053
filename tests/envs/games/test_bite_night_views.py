"""What a seat of Bite Night sees and can imagine: every observation field, no leaks, words."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from bite_night_table import (
    ADVANCED,
    BASIC,
    COLOURS,
    GAME,
    STOP,
    TILES,
    VARIANTS,
    Board,
    Rendezvous,
    after_last_grab,
    at_resurrection,
    picture,
    random_walk,
)
from frequencies import assert_as_expected
from monsterzoo.envs.bite_night.rules import CARD_NAMES


def positions(options, seed=0, every=7, games=2):
    """Boards of random games, one in `every` decisions."""
    random = np.random.default_rng(seed)
    for game in range(games):
        board = Board(seed=100 * seed + game, **options)
        for number, _ in enumerate(random_walk(board, random)):
            if number % every == 0:
                yield board
        yield board


def tile_columns(tiles) -> list[int]:
    return [int(tile in tiles) for tile in TILES]


# --- The tensor ---


def expected_fields(board: Board, seat: int) -> dict[str, object]:
    """Every field of a seat's observation, from the snapshot and from what is public."""
    position, players = board.position(), board.variant.players
    advanced = board.variant.options["advanced"]
    cards = list(BASIC) + (list(ADVANCED) if advanced else [])
    around = [(seat + k) % players for k in range(players)]
    phase, places = position["phase"], 15 if players == 3 else 16
    own = position["choices"][seat]
    seen = position["resolved"] + (phase in ("bury", "resurrect"))
    pile = [[0] * len(cards) for _ in range(places)]
    owners = [[0] * players for _ in range(places)]
    for place, (owner, card) in enumerate(position["pile"]):
        owners[place][around.index(owner)] = 1
        if place < seen or owner == seat:
            pile[place][cards.index(card)] = 1
    hand = position["hands"][seat]
    lying = position["open_cards"]
    open_cards = [lying.count("graveyard closed") >= n for n in (1, 2)]
    grabbing = phase == "grab" and not position["over"]
    needs = [3 * position["round"] - len(tiles) if grabbing else 0 for tiles in position["tiles"]]
    asked = {
        "lay": around,
        "grab": position["to_act"] if board.variant.options["grab"] == "draft" else [s for s in around if needs[s]],
        "bury": [],
        "resurrect": position["to_act"],
    }[phase]
    if phase == "bury" and not position["over"]:
        what = position["pile"][position["resolved"]][1].split()[1]
        fitting = [[t for t in tiles if what in ("any", picture(t))] for tiles in position["tiles"]]
        asked = [s for s in around if len(fitting[s]) > 2]
    if position["over"]:
        asked = []
    fields = {
        "hand": [card in hand for card in cards],
        "hand_twice": [hand.count(card) == 2 for card in ("skip two", "graveyard closed")],
        "chosen_card": [phase == "lay" and card in own for card in cards],
        "pile": pile,
        "pile_seats": owners,
        "middle": tile_columns(position["middle"]),
        "tiles": [tile_columns(position["tiles"][other]) for other in around],
        "graveyard": tile_columns(position["graveyard"]),
        "chosen_tiles": tile_columns(own if phase != "lay" else []),
        "open_cards": open_cards + ([name in lying for name in ("servant", "vow of celibacy")] if advanced else []),
        "first_player": [other == position["first_player"] for other in around],
        "lap_leader": [other == position["lap_leader"] for other in around],
        "asked": [other in asked for other in around],
        "phase": [phase == name for name in ("lay", "grab", "bury", "resurrect")[: 3 + advanced]],
        "to_grab": [needs[other] for other in around],
        "score_tens": [position["scores"][other] // 10 for other in around],
        "score_units": [position["scores"][other] % 10 for other in around],
        "lap": position["lap"],
        "laps_left": int(board.states["laps"][0]) - position["lap"],
        "round": position["round"],
        "resolved": position["resolved"],
    }
    if advanced:
        claims = position["claims"] or {}
        fields["claims"] = [claims.get(colour, 0) for colour in COLOURS]
    return fields


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_every_field_of_the_observation_is_what_the_seat_knows(options):
    layout = GAME.variant(**options).layout
    for board in positions(options, every=5):
        for seat in range(board.variant.players):
            row = board.observation(seat)
            expected = expected_fields(board, seat)
            assert list(expected) == [field.name for field in layout]
            for name, values in expected.items():
                assert layout.read(row, name).tolist() == np.array(values, int).tolist(), (name, board.position())
            covered = np.zeros(layout.size, bool)
            for field in layout:
                covered[field.slice] = True
            assert not row[~covered].any()
            low, high = layout.bounds
            assert np.all(row >= low)
            assert np.all(row <= high)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_the_observation_shows_all_of_the_view(options):
    for board in positions(options, seed=6, every=11):
        for seat in range(board.variant.players):
            view = board.variant.look(board.states, 0, seat)
            read = board.variant.decode(board.observation(seat)[None])
            assert read.tobytes() == view.tobytes(), board.position()
            assert board.variant.describe(read[0], seat) == board.text(seat)


def test_random_positions_reach_every_phase_and_field():
    seen: Counter = Counter()
    for board in positions({"players": 3, "advanced": True}, seed=3, every=1, games=12):
        for field in board.variant.layout:
            seen[field.name] += int(board.variant.layout.read(board.observation(1), field.name).any())
        seen[board["phase"]] += 1
    assert min(seen.values()) > 0, seen


def test_scores_are_shown_up_to_1279():
    position = Board(players=3).position()
    for points, shown in [(0, 0), (999, 999), (1279, 1279), (1280, 1279), (70_000, 1279)]:
        board = Board({**position, "scores": [points, 5, 1]}, players=3)
        assert 10 * int(board.field(1, "score_tens")[2]) + int(board.field(1, "score_units")[2]) == shown


def test_seats_are_relative():
    """A position with all seats moved on by one looks the same to the next seat."""
    for board in positions({"players": 3, "advanced": True, "laps": 9}, every=29, games=1):
        position = board.position()
        if position["over"] or position["lap"] == 9:
            continue
        moved = {**position, "lap": position["lap"] + 1}
        for key in ("hands", "stacks", "tiles", "choices", "scores"):
            moved[key] = position[key][-1:] + position[key][:-1]
        for key in ("first_player", "lap_leader"):
            moved[key] = (position[key] + 1) % 3
        moved["to_act"] = sorted((seat + 1) % 3 for seat in position["to_act"])
        moved["pile"] = [[(seat + 1) % 3, card] for seat, card in position["pile"]]
        other = Board(moved, players=3, advanced=True, laps=9)
        for seat in range(3):
            one, two = board.observation(seat), other.observation((seat + 1) % 3)
            for field in board.variant.layout:
                if field.name not in ("lap", "laps_left"):
                    assert one[field.slice].tolist() == two[field.slice].tolist(), field.name
            assert board.legal(seat) == other.legal((seat + 1) % 3)


# --- What others hide ---


def test_choices_of_others_are_hidden():
    boards = [Board(players=3, seed=2) for _ in range(3)]
    for board, action in zip(boards[1:], boards[0].legal(1)[:2]):
        board.do(1, action)
    for seat in (0, 2):
        assert len({board.view(seat) for board in boards}) == 1
    assert len({board.view(1) for board in boards}) == 3


def test_hidden_burials_are_hidden():
    board = after_last_grab([STOP])
    before = board.view(0), board.view(2)
    board.do(1, *board.legal(1)[:1])
    board.do(1, *board.legal(1)[-1:])
    assert (board.view(0), board.view(2)) == before


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_an_imagined_position_looks_the_same_and_is_a_position(options):
    for number, board in enumerate(positions(options, seed=1, every=9)):
        for seat in range(board.variant.players):
            world = board.imagined(seat, seed=number)
            assert world.view(seat) == board.view(seat)
            truth, position = board.position(), world.position()
            for key in ("phase", "to_act", "scores", "tiles", "middle", "graveyard", "open_cards", "resolved", "over"):
                assert position[key] == truth[key]
            assert position["hands"][seat] == truth["hands"][seat]
            assert position["choices"][seat] == truth["choices"][seat]
            assert [len(own) for own in position["choices"]] == [len(own) for own in truth["choices"]]
            if not position["over"]:
                board.variant.load(position, 0)  # raises for one that cannot be


def test_all_that_is_hidden_is_resampled():
    """Over many samples every unseen card and tile turns up in every hidden place."""
    board = Board(players=3, seed=4)
    for seat in range(3):
        board.do(seat, board.legal(seat)[0])
    position = board.position()
    worlds = [board.imagined(1, seed).position() for seed in range(1500)]
    unknown = BASIC - Counter(position["hands"][1]) - Counter([position["pile"][1][1]])
    for place in (0, 2):
        cards = Counter(world["pile"][place][1] for world in worlds)
        assert set(cards) == set(unknown)
        for card, copies in unknown.items():
            chance = copies / unknown.total()
            assert abs(cards[card] - 1500 * chance) < 5 * np.sqrt(1500 * chance)
    assert {world["pile"][1][1] for world in worlds} == {position["pile"][1][1]}
    held = Counter(card for world in worlds for card in world["hands"][0])
    assert set(held) == set(unknown)
    hidden = set(TILES) - set(position["middle"])
    for seat in range(3):
        for place in (0, 11):
            assert {world["stacks"][seat][place] for world in worlds} == hidden


@pytest.mark.parametrize("players", [3, 4])
def test_every_unseen_card_and_tile_is_as_likely_in_every_hidden_place(players):
    """In the second round seat 2 knows its hand, its own card of the pile, and what lies open."""
    board, seat, count = Board(players=players, seed=6), 2, 600
    while (board["round"], board["phase"]) != (2, "lay"):
        mover = board["to_act"][0]
        board.do(mover, board.legal(mover)[0])
    position = board.position()
    own = [card for owner, card in position["pile"] if owner == seat]
    unknown = BASIC - Counter(position["hands"][seat]) - Counter(own)
    worlds = [board.imagined(seat, seed).position() for seed in range(count)]
    for other in range(players):
        if other != seat:
            held = Counter(card for world in worlds for card in world["hands"][other])
            assert held.total() == 8 * count
            assert_as_expected(held, unknown)
            laid = Counter(card for world in worlds for owner, card in world["pile"] if owner == other)
            assert_as_expected(laid, unknown)
    assert all([card for owner, card in world["pile"] if owner == seat] == own for world in worlds)
    taken = {tile for tiles in position["tiles"] for tile in tiles}
    hidden = dict.fromkeys(set(TILES) - taken - set(position["middle"]), 1)
    for other in range(players):
        assert_as_expected(Counter(tile for world in worlds for tile in world["stacks"][other]), hidden)
        assert_as_expected(Counter(world["stacks"][other][0] for world in worlds), hidden)


def test_each_hidden_choice_is_as_likely_as_the_others():
    """A card that lies in the imagined hand, a tile of the middle, and two different tiles to bury."""
    board = Board(players=3, seed=1)
    board.do(0, board.legal(0)[0])
    places = Counter()
    for seed in range(1200):
        world = board.imagined(2, seed)
        [card], hand = world["choices"][0], world["hands"][0]
        if len(set(hand)) == 9:
            places[hand.index(card)] += 1
    assert_as_expected(places, dict.fromkeys(range(9), 1))
    for other in (1, 2):
        board.do(other, board.legal(other)[0])
    board.do(0, board.legal(0)[0])
    wanted = Counter(board.imagined(2, seed)["choices"][0][0] for seed in range(900))
    assert_as_expected(wanted, dict.fromkeys(board["middle"], 1))
    board = after_last_grab([STOP])
    board.do(0, *board.legal(0)[:1])
    board.do(1, *board.legal(1)[:1])
    board.do(1, *board.legal(1)[:1])
    worlds = [board.imagined(2, seed)["choices"] for seed in range(900)]
    assert_as_expected(Counter(choices[0][0] for choices in worlds), dict.fromkeys(board["tiles"][0], 1))
    pairs = Counter(frozenset(choices[1]) for choices in worlds)
    assert_as_expected(pairs, dict.fromkeys(map(frozenset, combinations(board["tiles"][1], 2)), 1))


def test_both_copies_of_a_card_can_be_anywhere():
    board = Board(players=3, seed=4)
    assert board["hands"][1].count("skip two") < 2
    counts = Counter()
    for seed in range(600):
        hands = board.imagined(1, seed)["hands"]
        counts[hands[0].count("skip two")] += 1
        assert Counter(hands[0]) + Counter(hands[1]) + Counter(hands[2]) <= BASIC
    left = 2 - board["hands"][1].count("skip two")
    assert set(counts) == set(range(left + 1))


def test_hidden_choices_of_others_are_chosen_anew():
    board = Board(players=3, seed=1)
    board.do(0, board.legal(0)[0])
    chosen = {board.imagined(2, seed)["choices"][0][0] for seed in range(400)}
    assert len(chosen) > 20
    board = after_last_grab([STOP])
    board.do(0, *board.legal(0)[:1])
    board.do(1, *board.legal(1)[:1])
    board.do(1, *board.legal(1)[:1])
    worlds = [board.imagined(2, seed)["choices"] for seed in range(400)]
    assert {len(choices[0]) for choices in worlds} == {1}
    assert {choices[0][0] for choices in worlds} == set(board["tiles"][0])
    assert {len(set(choices[1])) for choices in worlds} == {2}
    assert {tile for choices in worlds for tile in choices[1]} == set(board["tiles"][1])


def test_revealed_cards_are_known_and_the_rest_of_the_pile_is_not():
    board = after_last_grab(["picture monk", STOP])
    pile = board["pile"]
    worlds = [board.imagined(2, seed)["pile"] for seed in range(300)]
    for place, (owner, card) in enumerate(pile):
        cards = {world[place][1] for world in worlds}
        assert {world[place][0] for world in worlds} == {owner}
        assert (cards == {card}) == (place <= 1 or owner == 2)


def test_imagining_does_not_touch_the_game():
    board = Board(players=4, seed=9)
    before = board.states.tobytes()
    board.imagined(0)
    assert board.states.tobytes() == before


# --- Words ---


def test_the_text_says_what_the_seat_knows():
    board = after_last_grab(["picture monk", "skip two", "graveyard closed", "colour red", STOP])
    board.do(1, board.legal(1)[0])
    text = board.text(1)
    assert "You are player_1. Lap 1 of 3, round 5 of 5, phase bury." in text
    assert "1 player_0: picture monk, 2 you: skip two, 3 player_2: graveyard closed" in text
    assert "5 player_2: graveyard any, 6 player_0: ?" in text
    assert "Being applied: graveyard any." in text
    assert f"You chose to bury: {board['choices'][1][0]}." in text
    assert "Deciding now: you, player_2, player_0." in text
    assert "blue vampire heart" in text
    assert "You chose" not in board.text(0)


def test_cards_that_lie_open_are_named_with_those_of_the_basic_game_first():
    lying = ["vow of celibacy", "graveyard closed", "servant"]
    board = Rendezvous([*lying, "resurrection"], {0: ["blue monk heart"]})
    assert board["open_cards"] == lying
    assert "Open cards: graveyard closed, servant, vow of celibacy." in board.text(2)


def test_the_text_tells_scores_as_far_as_they_are_known():
    board = Board({**Board(players=3).position(), "scores": [1278, 1279, 70_000]}, players=3)
    assert "Points: you 1279 or more, player_2 1279 or more, player_0 1278." in board.text(1)


def test_the_text_of_a_resurrection_names_the_claims():
    position = at_resurrection({0: ["blue monk heart"], 1: []}, ["blue garlic", "blue garlic heart"], 0)
    board = Board(position, players=3, advanced=True)
    assert "Tiles that player_0 may still raise: 1 blue." in board.text(2)
    assert "Tiles that you may still raise: 1 blue." in board.text(0)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_the_table_can_be_drawn_at_any_time(options):
    for board in positions(options, every=3, games=1):
        text = board.variant.draw_table(board.states, 0)
        assert text.startswith("Bite Night\n")
        assert f"\nphase: {board['phase']}\nlap: {board['lap']}\n" in text
        for seat, hand in enumerate(board["hands"]):
            assert not hand or f"\n  {seat}  {', '.join(hand)}\n" in text
        assert all(len(line) < 500 for line in text.splitlines())


def reason(board: Board, seat: int, action: str) -> str:
    return str(board.variant.refuse(board.states[0], seat, board.variant.parse_action(action)))


def test_refusals_say_why():
    board = Board(players=3, seed=0)
    missing = next(card for card in CARD_NAMES[:34] if card not in board["hands"][0])
    assert "does not hold this card" in reason(board, 0, f"lay {missing}")
    assert "belongs to phase grab" in reason(board, 0, "grab blue monk")
    assert "player_0 has a decision" in reason(board, 0, "no-op")
    for seat in range(3):
        board.do(seat, board.legal(seat)[0])
    away = next(tile for tile in TILES if tile not in board["middle"])
    assert "not in the middle" in reason(board, 0, f"grab {away}")
    board = after_last_grab(["graveyard monk"])
    monks = [tile for tile in board["tiles"][0] if picture(tile) == "monk"]
    other = next(tile for tile in board["tiles"][0] if picture(tile) != "monk")
    assert "'graveyard monk' does not take this tile" in reason(board, 0, f"bury {other}")
    assert "does not have this tile" in reason(board, 0, f"bury {board['tiles'][1][0]}")
    board.do(0, f"bury {monks[0]}")
    assert "has chosen this tile already" in reason(board, 0, f"bury {monks[0]}")
    position = at_resurrection({0: ["blue monk heart"], 1: []}, ["blue garlic", "blue maiden", "red garlic"], 0)
    board = Board(position, players=3, advanced=True)
    assert "no claim left on a red tile" in reason(board, 0, "raise red garlic")
    assert "not in the graveyard" in reason(board, 0, "raise red coffin")


def test_every_illegal_action_has_a_reason():
    for board in positions({"players": 4, "advanced": True}, every=13, games=1):
        for seat in board["to_act"]:
            legal = board.legal(seat)
            for action in board.variant.action_names[:-1:3]:
                if action not in legal:
                    assert "is illegal for" in reason(board, seat, action)
