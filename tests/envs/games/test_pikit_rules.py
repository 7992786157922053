"""Every rule of Pikit, in a position."""

from collections import Counter

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from monsterzoo.envs.compiling.jit import kernel
from monsterzoo.envs.pikit import _cards_for_setup
from monsterzoo.envs.pikit.bags import points, total
from monsterzoo.envs.pikit.rules import MAX_DECK, deal
from monsterzoo.envs.pikit.text import bag_of
from pikit_table import DECK, SMALL_DECK, Board, board, position

# Eight cards for the centre with nothing that dice 1 and 6 fit, and hands without any effect.
QUIET = [2, 2, 3, 3, 4, 4, 8, 8]
MUTE = [1, 3]


def all_cards(snapshot):
    hands = [card for hand in snapshot["hands"] for card in hand["kaiju"]]
    return Counter(snapshot["deck"] + snapshot["centre"] + snapshot["discard_pile"] + hands)


# --- Bags ---


@kernel
def _weigh(few, many, results):
    results[0] = points((few, many))
    results[1] = total((few, many))


@given(copies=st.lists(st.integers(0, 10), min_size=11, max_size=11))
def test_bags_know_how_many_cards_they_have_and_what_they_are_worth(copies):
    few = sum(copies[value - 1] << 8 * value for value in range(1, 8))
    many = sum(copies[value - 1] << 8 * (value - 8) for value in range(8, 12))
    results = np.zeros(2, np.int64)
    _weigh(np.uint64(few), np.uint64(many), results)
    assert results.tolist() == [sum(value * number for value, number in enumerate(copies, 1)), sum(copies)]


@pytest.mark.parametrize("value", [1, 7, 8, 11])
def test_a_deck_of_one_value_fits_into_a_bag(value):
    few, many = bag_of([value] * MAX_DECK)
    results = np.zeros(2, np.int64)
    _weigh(np.uint64(few), np.uint64(many), results)
    assert results.tolist() == [MAX_DECK * value, MAX_DECK]


# --- Set-up ---


def test_the_deck_has_53_cards():
    assert DECK.total() == 53
    for players in (3, 4):
        assert all_cards(Board(players=players).position) == DECK


def test_two_players_remove_two_of_each_value_to_8():
    assert SMALL_DECK.total() == 37
    assert all_cards(Board(players=2).position) == SMALL_DECK


def test_a_smaller_game_has_fewer_cards_and_faces():
    table = Board(players=2, deck={1: 2, 3: 1, 5: 2}, centre=1, start=1, faces=2)
    start = table.position
    assert len(start["centre"]) == 1
    assert [len(hand["kaiju"]) for hand in start["hands"]] == [1, 1]
    assert len(start["deck"]) == 2
    assert max(start["dice"]) <= 2


def test_dice_are_turned_to_faces_that_they_have():
    legal = board([[7], MUTE], QUIET, dice=[1, 2], options={"faces": 3}).legal
    assert {name for name in legal if name.startswith("7: turn")} == {
        "7: turn low to 2", "7: turn low to 3", "7: turn high to 1", "7: turn high to 3",
    }  # fmt: skip


def test_a_given_deck_is_used_as_it_is():
    deck = {4: 20, 7: 10, 11: 3}
    for players in (2, 3, 4):
        assert all_cards(Board(players=players, deck=deck).position) == Counter(deck)


def test_eight_cards_in_the_centre_six_mechas_on_the_table_seat_0_starts():
    for seed in range(20):
        start = Board(seed=seed).position
        assert len(start["centre"]) == 8
        assert start["mechas_on_table"] == [1, 2, 3, 4, 5, 6]
        assert (start["turn_player"], start["to_act"], start["phase"]) == (0, [0], "discard")
        assert (start["wounds"], start["turns"], start["last_turns_left"]) == ([0] * 4, 0, None)


@pytest.mark.parametrize(
    ("value", "cards"), [(1, 10), (2, 5), (3, 4), (4, 3), (5, 2), (6, 2), (8, 2), (9, 2), (10, 1), (11, 1)]
)
def test_everybody_draws_until_the_hand_is_worth_10(value, cards):
    start = Board(players=3, deck={value: 60}).position
    assert [hand["kaiju"] for hand in start["hands"]] == [[value] * cards] * 3


@numba.njit
def deal_one(states):
    deal(states[0])


def test_drawing_5_2_8_stops_at_three_cards():
    """The rulebook's example."""
    states = Board(players=2).variant.new_states(1)
    order = [1, 1, 1, 1, 2, 2, 2, 8, 5, 2, 8, 11, 3, 3, 3, 3]
    states["cards"][0, :16] = order
    states["deck_cards"] = 16
    deal_one(states)
    state = states[0]
    first, second = (state.known[seat].view(np.uint8) for seat in (0, 1))
    assert {value: int(first[value]) for value in range(12) if first[value]} == {2: 1, 5: 1, 8: 1}
    assert {value: int(second[value]) for value in range(12) if second[value]} == {11: 1}
    assert int(state.top) == 12


def test_starting_hands_are_known_to_all():
    start = Board(seed=3).position
    assert start["known"] == [hand["kaiju"] for hand in start["hands"]]


def test_a_set_up_never_needs_more_cards_than_validation_asks_for():
    """Against all orders of small decks, tried one by one."""

    def longest(deck, players):
        """The most cards that all hands together can take, trying everything."""
        best = 0
        stack = [(tuple(sorted(deck.elements())), 0, 0, 0)]
        seen = set()
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            cards, hand, worth, drawn = node
            if hand == players:
                best = max(best, drawn)
                continue
            if not cards:
                return None
            for value in set(cards):
                rest = list(cards)
                rest.remove(value)
                done = worth + value >= 10
                stack.append((tuple(rest), hand + done, 0 if done else worth + value, drawn + 1))
        return best

    for deck in ({5: 9}, {9: 3, 2: 9}, {4: 8, 6: 3}, {1: 12, 10: 4}, {3: 5, 7: 5, 11: 2}):
        assert _cards_for_setup(deck, 2) == 8 + longest(Counter(deck) + Counter({11: 3}), 2)


# --- Dice ---


def test_a_turn_begins_with_a_roll_of_two_fair_dice():
    rolls = Counter()
    for seed in range(3600):
        rolls[tuple(Board(seed=seed, players=2).position["dice"])] += 1
    assert len(rolls) == 21
    for (low, high), count in rolls.items():
        expected = 100 if low == high else 200
        assert abs(count - expected) < 5 * expected**0.5, (low, high, count)


def rerolled(effect, dice, count=600):
    results = Counter()
    for seed in range(count):
        game = board([[2], MUTE, MUTE], QUIET, dice=dice, seed=seed).act(f"2: {effect}")
        results[tuple(game.position["dice"])] += 1
    return results


def test_reroll_low_keeps_the_high_die():
    results = rerolled("reroll low", (2, 5))
    assert results.keys() == {tuple(sorted((5, face))) for face in range(1, 7)}
    assert min(results.values()) > 60


def test_reroll_high_keeps_the_low_die():
    results = rerolled("reroll high", (2, 5))
    assert results.keys() == {tuple(sorted((2, face))) for face in range(1, 7)}


def test_reroll_both_rolls_both_dice():
    assert len(rerolled("reroll both", (2, 5))) == 21


@pytest.mark.parametrize(("effect", "dice"), [("turn low to 6", [5, 6]), ("turn high to 1", [1, 2])])
def test_a_7_turns_one_die_to_any_face(effect, dice):
    game = board([[7], MUTE], dice=(2, 5)).act(f"7: {effect}")
    assert game.position["dice"] == dice
    assert game.position["discard_pile"] == [7]
    assert game.asked == 0


def test_a_die_is_not_turned_to_the_face_it_shows():
    game = board([[7], MUTE], dice=(2, 5))
    low = {f"7: turn low to {face}" for face in (1, 3, 4, 5, 6)}
    high = {f"7: turn high to {face}" for face in (1, 2, 3, 4, 6)}
    assert set(game.legal) == low | high | {"end discards"}


def test_equal_dice_are_both_low():
    game = board([[2, 7, 9], MUTE], dice=(3, 3))
    dice_actions = {name for name in game.legal if "reroll" in name or "turn" in name}
    turns = {f"turn low to {face}" for face in (1, 2, 4, 5, 6)}
    expected = {"2: reroll low", "2: reroll both"} | {f"7: {turn}" for turn in turns}
    expected |= {f"9: {effect}" for effect in turns | {"reroll low", "reroll both"}}
    assert dice_actions == expected
    game.act("7: turn low to 5")
    assert game.position["dice"] == [3, 5]


# --- Discards ---


def test_1_3_6_and_8_cannot_be_discarded_by_choice():
    assert board([[1, 3, 6, 8], MUTE]).legal == ["end discards"]


def test_any_number_of_discards_one_at_a_time():
    game = board([[7, 7, 7, 2], MUTE], QUIET, dice=(1, 6))
    game.act("7: turn low to 2", "7: turn high to 5", "7: turn low to 4", "2: reroll both", "end discards")
    assert game.position["discard_pile"] == [7, 7, 7, 2]
    assert game.position["hands"][0]["kaiju"] == []
    assert game.position["phase"] == "take"


def test_a_seat_with_nothing_to_discard_is_asked_all_the_same():
    game = board([MUTE, MUTE], QUIET)
    assert (game.asked, game.legal) == (0, ["end discards"])


def test_a_wild_card_has_any_of_the_effects():
    game = board([[10], [5], MUTE], QUIET, dice=(1, 6))
    effects = {name.split(": ")[1] for name in game.legal if name.startswith("10: ")}
    assert effects == {
        *(f"reroll {dice}" for dice in ("low", "high", "both")),
        *(f"turn low to {face}" for face in (2, 3, 4, 5, 6)),
        *(f"turn high to {face}" for face in (1, 2, 3, 4, 5)),
        "steal +1",
        "steal +2",
        "draw",
    }
    assert board([[10], [5], MUTE], dice=(1, 6)).act("10: steal +1").position["hands"][0]["kaiju"] == [5]
    assert board([[10], [5], MUTE], dice=(1, 6)).act("10: turn low to 4").position["dice"] == [4, 6]
    assert board([[10], [5], MUTE], top=[8]).act("10: draw").position["hands"][0]["kaiju"] == [8]


def test_a_5_draws_the_top_card_secretly():
    game = board([[5], MUTE, MUTE], QUIET, top=[7, 8])
    game.act("5: draw")
    after = game.position
    assert after["hands"][0]["kaiju"] == [7]
    assert after["known"][0] == []
    assert after["deck"][0] == 8
    assert [int(game.see(seat)["unknown"][-seat]) for seat in range(3)] == [1, 1, 1]
    assert game.see(1)["known"][2].sum() == 0


def test_a_drawn_card_can_be_discarded_in_the_same_turn():
    game = board([[5], MUTE], top=[7], dice=(1, 6)).act("5: draw", "7: turn low to 5")
    assert game.position["dice"] == [5, 6]


def test_draw_cannot_be_chosen_with_an_empty_deck():
    assert board([[5, 9], MUTE], QUIET, deck=[]).legal == board([[9], MUTE], QUIET, deck=[]).legal
    assert not any("draw" in name for name in board([[5, 9], MUTE], QUIET, deck=[]).legal)


# --- Stealing ---


def test_a_4_steals_a_card_that_all_see():
    game = board([[4], [7], MUTE], QUIET, known=[[4], [], [1, 3]]).act("4: steal +1")
    after = game.position
    assert [hand["kaiju"] for hand in after["hands"]] == [[7], [], [1, 3]]
    assert after["known"] == [[7], [], [1, 3]]
    assert after["discard_pile"] == [4]


def test_the_victim_is_counted_clockwise_from_the_thief():
    for k in (1, 2, 3):
        hands = [[5], [7], [2], [4]]
        game = board(hands, turn_player=3).act(f"4: steal +{k}")
        assert game.position["hands"][3]["kaiju"] == hands[(3 + k) % 4]


def test_stealing_needs_a_victim_with_a_card():
    game = board([[4], [], MUTE, []], mechas={2: 3})
    assert game.legal == ["4: steal +2", "4: steal +3", "end discards"]  # the last one holds a mecha


def test_a_steal_is_random_over_kaiju_and_mechas():
    stolen = Counter()
    for seed in range(1000):
        game = board([[4], [1, 1, 5]], mechas={2: 1, 6: 1}, seed=seed).act("4: steal +1")
        hand = game.position["hands"][0]
        stolen[(*hand["kaiju"], *(f"mecha {n}" for n in hand["mecha"]))] += 1
    assert stolen.keys() == {(1,), (5,), ("mecha 2",), ("mecha 6",)}
    assert abs(stolen[(1,)] - 400) < 80
    assert all(abs(stolen[card] - 200) < 65 for card in stolen if card != (1,))


def test_stealing_a_3_by_card_discards_it_and_wounds_the_thief():
    game = board([[4], [3], MUTE], QUIET).act("4: steal +1")
    after = game.position
    assert after["discard_pile"] == [4, 3]
    assert after["wounds"] == [1, 0, 0]
    assert [hand["kaiju"] for hand in after["hands"]] == [[], [], [1, 3]]
    assert after["scores"][0] == -3


def test_stealing_a_3_by_double_discards_it_and_wounds_the_thief():
    seen = set()
    for seed in range(30):
        game = board([MUTE, [3]], dice=(2, 2), mechas={2: 1}, seed=seed).act("end discards", "steal mecha")
        after = game.position
        if after["wounds"][0]:
            assert after["discard_pile"] == [3]
            assert after["hands"][1] == {"kaiju": [], "mecha": [2]}
            assert after["hands"][0]["kaiju"] == MUTE
        seen.add(after["wounds"][0])
    assert seen == {0, 1}


def test_there_is_no_limit_of_wounds():
    deck = {3: 40, 4: 40}
    game = board([[4] * 20, [3] * 20], options={"deck": deck}, centre=[3] * 4 + [4] * 4)
    game.act(*["4: steal +1"] * 20)
    assert game.position["wounds"] == [20, 0]
    assert game.position["scores"][0] == -60


def test_taking_a_3_from_the_centre_does_not_wound():
    game = board([[], MUTE], [3, 3, 4, 4, 5, 5, 8, 8], dice=(3, 6)).act("end discards", "take low")
    assert game.position["wounds"] == [0, 0]
    assert game.position["hands"][0]["kaiju"] == [3]


def test_the_token_moves_with_a_mecha_stolen_by_card():
    game = board([[4], [], MUTE], mechas={5: 1}, dice=(5, 5)).act("4: steal +1")
    assert [hand["mecha"] for hand in game.position["hands"]] == [[5], [], []]
    assert game.see(2)["mechas"].tolist()[1] == [0, 0, 0, 0, 1, 0]
    game.act("end discards")
    assert "steal mecha" not in game.legal  # it is the thief's own now
    assert "take mecha" not in game.legal


# --- Cancelling ---


def test_nobody_is_asked_who_cannot_cancel():
    game = board([[7], [1, 2, 3, 4, 5, 7, 8], MUTE], [2, 2, 3, 3, 4, 4, 8, 8]).act("7: turn low to 2")
    assert (game.asked, game.position["phase"], game.position["dice"]) == (0, "discard", [2, 6])


@pytest.mark.parametrize("card", [6, 9, 10, 11])
def test_a_6_or_a_wild_card_cancels_out_of_turn(card):
    game = board([[7], MUTE, [card], MUTE], QUIET).act("7: turn low to 5")
    assert (game.asked, game.position["phase"]) == (2, "react")
    assert game.legal == [f"{card}: cancel", "accept"]
    assert game.position["dice"] == [1, 6], "nothing happens before everybody has been asked"
    assert game.position["pending"] == [{"seat": 0, "card": 7, "effect": "turn low to 5"}]
    game.act(f"{card}: cancel")
    assert game.position["dice"] == [1, 6]
    assert game.position["discard_pile"] == [7, card]
    assert game.position["hands"][0]["kaiju"] == game.position["hands"][2]["kaiju"] == []
    assert (game.asked, game.position["phase"]) == (0, "discard")


def test_accepting_lets_the_effect_happen():
    game = board([[7], MUTE, [6], MUTE], QUIET).act("7: turn low to 5", "accept")
    assert game.position["dice"] == [5, 6]
    assert game.position["hands"][2]["kaiju"] == [6]
    assert (game.asked, game.position["phase"], game.position["pending"]) == (0, "discard", [])


def test_all_others_are_asked_clockwise_from_the_discarder():
    game = board([[6], [6], [7], [6]], QUIET, turn_player=2).act("7: turn low to 5")
    asked = []
    for _ in range(3):
        asked.append(game.asked)
        game.act("accept")
    assert asked == [3, 0, 1]
    assert game.position["dice"] == [5, 6]


def test_a_cancel_ends_the_round_of_questions():
    game = board([[7], [6], [6], [6]], QUIET).act("7: turn low to 5", "6: cancel")
    assert game.position["pending"][-1] == {"seat": 1, "card": 6, "effect": "cancel"}
    asked = []
    while game.position["phase"] == "react":
        asked.append(game.asked)
        game.act("accept")
    assert asked == [2, 3], "the canceller is not asked about its own cancel, the discarder holds nothing"
    assert game.position["dice"] == [1, 6]


def test_a_cancelled_cancel_lets_the_effect_happen():
    game = board([[7, 6], [6], MUTE], QUIET).act("7: turn low to 5", "6: cancel")
    assert game.asked == 0, "the first discarder may answer"
    game.act("6: cancel")
    assert game.position["dice"] == [5, 6]
    assert game.position["discard_pile"] == [7, 6, 6]
    assert [hand["kaiju"] for hand in game.position["hands"]] == [[], [], [1, 3]]


def test_three_cancels_leave_it_cancelled():
    game = board([[7, 9], [6, 6], MUTE], QUIET).act("7: turn low to 5", "6: cancel", "9: cancel", "6: cancel")
    assert game.position["dice"] == [1, 6]
    assert game.position["discard_pile"] == [7, 6, 9, 6]


def test_who_accepted_a_discard_may_still_cancel_the_cancel():
    game = board([[7], [6], [6], MUTE], QUIET).act("7: turn low to 5")
    assert game.asked == 1
    game.act("accept", "6: cancel")
    assert game.asked == 1, "clockwise from seat 2: seat 3 and seat 0 hold nothing"
    game.act("6: cancel")
    assert game.position["dice"] == [5, 6]


def test_the_window_against_a_cancel_starts_after_the_canceller():
    game = board([[7, 6], [6], [6], [6]], QUIET).act("7: turn low to 5", "accept", "6: cancel")
    asked = []
    while game.position["phase"] == "react":
        asked.append(game.asked)
        game.act("accept")
    assert asked == [3, 0, 1]


def test_every_discard_effect_can_be_cancelled():
    for card, effect in ((2, "reroll both"), (4, "steal +1"), (5, "draw"), (7, "turn low to 2"), (11, "draw")):
        before = board([[card], [6, 1]], [2, 2, 3, 3, 4, 4, 8, 8])
        after = Board(before.position).act(f"{card}: {effect}", "6: cancel").position
        assert after["dice"] == before.position["dice"]
        assert after["deck"] == before.position["deck"]
        assert [hand["kaiju"] for hand in after["hands"]] == [[], [1]]
        assert after["generator"] == before.position["generator"], "not even a die was rolled"


def test_a_steal_from_a_hand_that_became_empty_does_nothing():
    game = board([[4, 6], [6]], [2, 2, 3, 3, 4, 4, 8, 8])
    game.act("4: steal +1", "6: cancel", "6: cancel")
    assert [hand["kaiju"] for hand in game.position["hands"]] == [[], []]
    assert game.position["wounds"] == [0, 0]
    assert (game.asked, game.position["phase"]) == (0, "discard")


def test_a_6_cannot_be_discarded_without_something_to_cancel():
    game = board([[6, 9], MUTE])
    assert not any("cancel" in name for name in game.legal)


def test_takes_and_double_steals_cannot_be_cancelled():
    game = board([MUTE, [6]], dice=(2, 2), mechas={2: 1}).act("end discards", "steal mecha")
    assert (game.asked, game.position["phase"]) == (1, "discard")
    game = board([MUTE, [6]], [1, 6, 3, 3, 4, 4, 8, 8], dice=(1, 6)).act("end discards", "take both")
    assert (game.asked, game.position["phase"]) == (1, "discard")


def test_a_discarder_who_draws_a_6_has_it_after_the_window_only():
    game = board([[5], [6], MUTE], QUIET, top=[6]).act("5: draw")
    assert game.position["hands"][0]["kaiju"] == []
    game.act("accept")
    assert game.position["hands"][0]["kaiju"] == [6]


# --- Taking ---


def takes(centre, dice, hand=(), **more):
    game = board([list(hand), MUTE], centre, dice=dice, **more).act("end discards")
    return game, [name for name in game.legal if name != "take nothing"]


def test_dice_1_and_6_offer_a_7_a_5_or_a_1_and_a_6():
    """The rulebook's example."""
    centre = [1, 5, 6, 7, 3, 3, 8, 8]
    _, options = takes(centre, (1, 6))
    assert options == ["take sum", "take difference", "take low", "take high", "take both"]
    for name, cards in (
        ("take sum", [7]),
        ("take difference", [5]),
        ("take low", [1]),
        ("take high", [6]),
        ("take both", [1, 6]),
    ):
        game, _ = takes(centre, (1, 6))
        game.act(name)
        assert game.position["hands"][0]["kaiju"] == cards
        assert game.position["known"][0] == cards


@pytest.mark.parametrize(
    ("centre", "dice", "options"),
    [
        ([2, 2, 3, 3, 4, 4, 8, 8], (1, 6), []),
        ([1, 2, 3, 3, 4, 4, 8, 8], (1, 6), ["take low"]),
        ([6, 2, 3, 3, 4, 4, 8, 8], (1, 6), ["take high"]),
        ([11, 2, 3, 3, 4, 4, 8, 8], (5, 6), ["take sum"]),
        ([1, 2, 3, 3, 4, 4, 8, 8], (1, 2), ["take sum", "take difference", "take low", "take high", "take both"]),
    ],
)
def test_only_what_lies_in_the_centre_can_be_taken(centre, dice, options):
    assert takes(centre, dice)[1] == options


def test_a_difference_of_0_and_a_sum_of_12_match_nothing():
    _, options = takes([1, 2, 3, 4, 5, 7, 8, 8], (6, 6))
    assert options == ["take mecha"]


def test_taking_nothing_is_always_allowed():
    game, _ = takes([1, 5, 6, 7, 3, 3, 8, 8], (1, 6))
    game.act("take nothing")
    assert game.position["centre"] == [1, 3, 3, 5, 6, 7, 8, 8]
    assert game.asked == 1


def test_an_8_takes_all_8s():
    game, _ = takes([8, 8, 8, 1, 2, 3, 4, 5], (2, 6), top=[7, 7, 7])
    game.act("take sum")
    assert game.position["hands"][0]["kaiju"] == [8, 8, 8]
    assert game.position["known"][0] == [8, 8, 8]
    assert game.position["centre"] == [1, 2, 3, 4, 5, 7, 7, 7]


def test_other_values_are_taken_one_at_a_time():
    game, _ = takes([7, 7, 7, 1, 2, 3, 4, 5], (1, 6))
    game.act("take sum")
    assert game.position["hands"][0]["kaiju"] == [7]


def test_a_double_takes_one_or_two_equal_cards():
    game, options = takes([3, 3, 3, 1, 2, 4, 5, 7], (3, 3))
    assert options == ["take low", "take both", "take mecha"]
    game.act("take both")
    assert game.position["hands"][0]["kaiju"] == [3, 3]
    game, options = takes([3, 1, 1, 1, 2, 4, 5, 7], (3, 3))
    assert options == ["take low", "take mecha"]
    game.act("take low")
    assert game.position["hands"][0]["kaiju"] == [3]


def test_a_double_takes_its_mecha_from_the_table():
    game, options = takes(QUIET, (5, 5))
    assert options == ["take mecha"]
    game.act("take mecha")
    assert game.position["hands"][0]["mecha"] == [5]
    assert game.position["mechas_on_table"] == [1, 2, 3, 4, 6]
    assert game.position["scores"][0] == 15


def test_a_double_whose_mecha_is_held_steals_a_random_card_from_its_holder():
    results = Counter()
    for seed in range(300):
        game, options = takes(QUIET, (5, 5), mechas={5: 1, 2: 1}, seed=seed)
        assert options == ["steal mecha"]
        game.act("steal mecha")
        hand = game.position["hands"][0]
        results[(*hand["kaiju"], *(f"mecha {n}" for n in hand["mecha"]))] += 1
    assert results.keys() == {(1,), (), ("mecha 5",), ("mecha 2",)}  # of 1, 3 (a wound), and the mechas
    assert min(results.values()) > 40


def test_the_own_mecha_is_neither_taken_nor_stolen():
    assert takes(QUIET, (5, 5), mechas={5: 0})[1] == []


def test_no_mecha_without_a_double():
    assert takes(QUIET, (5, 6), mechas={5: 1})[1] == []


# --- End of a turn and of the game ---


def test_the_centre_is_refilled_from_the_top_of_the_deck():
    game, _ = takes([1, 6, 3, 3, 4, 4, 8, 8], (1, 6), top=[9, 2, 5])
    game.act("take both")
    assert game.position["centre"] == [2, 3, 3, 4, 4, 8, 8, 9]
    assert game.position["deck"][0] == 5
    assert game.position["turns"] == 1


def last_cards(count, hands=([5], [1, 3], [1, 3]), **more):
    """A position with `count` cards in the deck."""
    start = position([list(hand) for hand in hands], [1, 6, 3, 3, 4, 4, 8, 8], dice=(1, 6), **more)
    start["discard_pile"], start["deck"] = start["deck"][count:], start["deck"][:count]
    return start


def test_the_discards_are_never_reshuffled():
    game = Board(last_cards(1)).act("end discards", "take both")
    assert len(game.position["centre"]) == 7
    assert game.position["deck"] == []
    assert len(game.position["discard_pile"]) == 53 - 5 - 7 - 2


def test_a_refill_that_empties_the_deck_starts_the_last_turns():
    game = Board(last_cards(2)).act("end discards", "take both")
    assert (game.position["last_turns_left"], game.position["turn_player"]) == (3, 1)
    turns = []
    while not game.position["over"]:
        turns.append((game.position["turn_player"], game.position["last_turns_left"]))
        game.act("end discards", "take nothing")
    assert turns == [(1, 3), (2, 2), (0, 1)]


def test_a_draw_that_empties_the_deck_starts_the_last_turns_after_this_one():
    game = Board(last_cards(1)).act("5: draw")
    assert (game.position["deck"], game.position["last_turns_left"]) == ([], None)
    assert game.asked == 0, "the turn goes on"
    game.act("end discards", "take nothing")
    assert (game.position["last_turns_left"], game.position["turn_player"]) == (3, 1)


def test_a_deck_with_cards_left_starts_nothing():
    game = Board(last_cards(3)).act("end discards", "take both")
    assert (game.position["last_turns_left"], len(game.position["deck"])) == (None, 1)


def ending(hands, mechas=None, wounds=None):
    """The end of a game with these hands, the last player taking nothing."""
    start = position(
        hands, QUIET, deck=[], mechas=mechas, last_turns_left=1, turn_player=len(hands) - 1, turns=50,
        **({"wounds": wounds} if wounds else {}),
    )  # fmt: skip
    return Board(start).act("end discards", "take nothing")


def test_39_points_of_kaiju_a_mecha_the_bonus_and_a_wound_score_66():
    """The rulebook's example."""
    hand = [1, 1, 8, 8, 10, 11]
    assert sum(hand) == 39
    game = ending([hand, [5], [5]], mechas={4: 0}, wounds=[1, 0, 0])
    assert game.position["scores"] == [66, 5, 5]
    assert game.position["winners"] == [0]


def test_all_with_the_most_1s_get_the_bonus():
    assert ending([[1, 1], [1, 1], [1, 8]]).position["scores"] == [17, 17, 9]


def test_nobody_gets_the_bonus_without_a_1():
    assert ending([[2], [7], [8]]).position["scores"] == [2, 7, 8]


def test_most_points_win():
    game = ending([[8, 2], [11], [8]])
    assert (game.position["over"], game.position["winners"]) == (True, [1])
    assert game.rewards.tolist() == [-0.5, 1, -0.5]
    assert (game.asked, game.position["to_act"]) == (None, [])


def test_a_tie_is_won_with_fewer_cards():
    assert ending([[8, 2], [10], [5, 5]]).position["winners"] == [1]


def test_mechas_count_as_cards_in_a_tie():
    game = ending([[8, 7], [], [4, 5, 6]], mechas={1: 1})
    assert game.position["scores"] == [15, 15, 15]
    assert game.position["winners"] == [1]
    game = ending([[7, 8], [7], [5]], mechas={1: 1, 2: 2}, wounds=[0, 0, 0])
    assert game.position["scores"] == [15, 22, 20]
    assert ending([[7, 8, 5], [5], [4]], mechas={1: 1}).position["winners"] == [1]  # 20 with two cards beat three


def test_what_is_still_tied_is_shared():
    game = ending([[8, 2], [4, 6], [5]])
    assert game.position["winners"] == [0, 1]
    assert np.allclose(game.rewards, [0.25, 0.25, -0.5])


def test_max_turns_counts_finished_turns_and_truncates():
    game = Board(players=2, max_turns=3)
    for turn in range(3):
        assert not game.position["over"]
        assert game.position["turns"] == turn
        game.act("end discards", "take nothing")
    after = game.position
    assert (after["over"], after["truncated"], after["winners"], after["turns"]) == (True, True, [], 3)
    assert game.rewards.tolist() == [0, 0]


def test_a_regular_end_wins_over_truncation():
    start = position([MUTE, [5]], QUIET, deck=[], last_turns_left=1, turn_player=1, turns=9, options={"max_turns": 10})
    after = Board(start).act("end discards", "take nothing").position
    assert (after["over"], after["truncated"], after["winners"]) == (True, False, [0])


def test_the_last_turns_can_be_truncated_too():
    start = position([MUTE, [5]], QUIET, deck=[], last_turns_left=2, turns=9, options={"max_turns": 10})
    after = Board(start).act("end discards", "take nothing").position
    assert (after["over"], after["truncated"], after["winners"]) == (True, True, [])


def test_a_set_up_that_empties_the_deck_leaves_the_first_turn_and_the_last_ones():
    game = Board(players=2, deck={8: 12})
    assert game.position["deck"] == []
    turns = []
    while not game.position["over"]:
        turns.append((game.position["turn_player"], game.position["last_turns_left"]))
        game.act("end discards", "take nothing")
    assert turns == [(0, None), (1, 2), (0, 1)]


# --- Rewards by score ---


def test_score_rewards_pay_changes_of_the_score_over_50():
    start = position([[], [5], [5]], [7, 2, 2, 3, 3, 4, 8, 8], dice=(1, 6))
    game = Board(start, reward="score").act("end discards")
    assert game.rewards.tolist() == [0, 0, 0]
    game.act("take sum")
    assert np.allclose(game.rewards, [7 / 50, -3.5 / 50, -3.5 / 50])


def test_the_bonus_for_1s_is_a_change_of_the_score():
    start = position([[], [1], [5]], [1, 2, 2, 3, 3, 4, 8, 8], dice=(1, 6))
    game = Board(start, reward="score").act("end discards", "take low")
    assert game.position["scores"] == [16, 16, 5]
    assert np.allclose(game.rewards, [16 / 50, -8 / 50, -8 / 50])


# --- Refusals ---


@pytest.mark.parametrize(
    ("game", "action", "reason"),
    [
        (lambda: board([[7], MUTE], dice=(1, 6)), "7: turn low to 1", "the die shows this face already"),
        (lambda: board([[7], MUTE], dice=(2, 2)), "7: turn high to 1", "the dice are equal"),
        (lambda: board([[2], MUTE], dice=(2, 2)), "2: reroll high", "the dice are equal"),
        (lambda: board([[7], MUTE]), "2: reroll low", "the seat holds no 2"),
        (lambda: board([[6], MUTE]), "6: cancel", "no discard is pending"),
        (lambda: board([[6], MUTE]), "accept", "no discard is pending"),
        (lambda: board([[4], MUTE]), "4: steal +2", "there are only 2 players"),
        (lambda: board([[4], [], MUTE]), "4: steal +1", "player_1 has no cards"),
        (lambda: board([[5], MUTE], QUIET, deck=[]), "5: draw", "the deck is empty"),
        (lambda: board([[5], MUTE]), "take sum", "end the discards first"),
        (lambda: board([[5], MUTE]).act("end discards"), "5: draw", "the discards have ended"),
        (lambda: board([[5], MUTE]).act("end discards"), "end discards", "the discards have ended"),
        (lambda: board([[7], [6]]).act("7: turn low to 2"), "end discards", "cancel it or accept"),
        (lambda: board([[7], [6]]).act("7: turn low to 2"), "9: cancel", "the seat holds no 9"),
        (lambda: takes(QUIET, (1, 6))[0], "take sum", "the centre has no 7"),
        (lambda: takes(QUIET, (1, 6))[0], "take difference", "the centre has no 5"),
        (lambda: takes(QUIET, (1, 6))[0], "take low", "the centre has no 1"),
        (lambda: takes(QUIET, (1, 6))[0], "take high", "the centre has no 6"),
        (lambda: takes([1, 2, 3, 3, 4, 4, 8, 8], (1, 6))[0], "take both", "the centre has no 6"),
        (lambda: takes([1, 2, 3, 3, 4, 4, 8, 8], (1, 1))[0], "take both", "the centre has no second 1"),
        (lambda: takes([1, 2, 3, 3, 4, 4, 8, 8], (1, 1))[0], "take high", "the dice are equal"),
        (lambda: takes(QUIET, (1, 6))[0], "take mecha", "the dice show no double"),
        (lambda: takes(QUIET, (6, 6), mechas={6: 1})[0], "take mecha", "mecha 6-6 is with player_1"),
        (lambda: takes(QUIET, (6, 6))[0], "steal mecha", "mecha 6-6 is on the table"),
        (lambda: takes(QUIET, (6, 6), mechas={6: 0})[0], "steal mecha", "mecha 6-6 is with player_0"),
    ],
)
def test_a_refusal_says_why(game, action, reason):
    game = game()
    assert action not in game.legal
    assert reason in game.refusal(action)
