"""What a seat of Pikit sees, field by field, and what it must not be able to tell."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from frequencies import assert_as_expected
from monsterzoo.envs.core.contract import determinize
from monsterzoo.envs.core.rng import streams
from monsterzoo.training.evaluation.chance import outcomes
from pikit_table import CANCELLING, REACTIVE, Board, board, position

QUIET = [2, 2, 3, 3, 4, 4, 8, 8]
CASES = [{"players": 2}, {"players": 3}, {"players": 4}, {"players": 4, "deck": REACTIVE}]


def counts(cards):
    return [Counter(cards)[value] for value in range(1, 12)]


def expected(snapshot, seat):
    """The observation's fields, from the snapshot alone."""
    players = snapshot["options"]["players"]
    seats = [(seat + k) % players for k in range(players)]
    hands, known, pending = snapshot["hands"], snapshot["known"], snapshot["pending"]
    low, high = snapshot["dice"]
    own = hands[seat]["kaiju"]
    secret = [card for s in seats[1:] for card in (Counter(hands[s]["kaiju"]) - Counter(known[s])).elements()]
    seen = {s: own if s == seat else known[s] for s in seats}
    most = max(cards.count(1) for cards in seen.values())
    scores = [
        sum(seen[s])
        + 15 * len(hands[s]["mecha"])
        + 15 * (most > 0 and seen[s].count(1) == most)
        - 3 * snapshot["wounds"][s]
        for s in seats
    ]
    effects = [
        *("reroll low", "reroll high", "reroll both", "steal +1", "steal +2", "steal +3", "draw", "cancel"),
        *(f"turn {die} to {face}" for die in ("low", "high") for face in range(1, 7)),
    ]
    first = pending[0] if pending else {"card": None, "effect": None, "seat": None}
    victim = None
    if pending and "steal" in first["effect"]:
        victim = (first["seat"] + int(first["effect"][-1])) % players
    return {
        "phase": [snapshot["phase"] == phase for phase in ("discard", "react", "take")],
        "turn_player": [s == snapshot["turn_player"] for s in seats],
        "low": [face == low for face in range(1, 7)],
        "high": [face == high for face in range(1, 7)],
        "mechas": [[number in hands[s]["mecha"] for number in range(1, 7)] for s in seats],
        "mechas_on_table": [number in snapshot["mechas_on_table"] for number in range(1, 7)],
        "pending_card": [first["card"] == value for value in range(1, 12)],
        "pending_effect": [first["effect"] == effect for effect in effects],
        "pending_victim": [s == victim for s in seats],
        "last_cancel": [len(pending) > 1 and pending[-1]["seat"] == s for s in seats],
        "hand": counts(own),
        "centre": counts(snapshot["centre"]),
        "discard_pile": counts(snapshot["discard_pile"]),
        "unseen": counts(snapshot["deck"] + secret),
        "known": [counts(known[s]) for s in seats],
        "unknown": [len(hands[s]["kaiju"]) - len(known[s]) for s in seats],
        "hand_size": [len(hands[s]["kaiju"]) + len(hands[s]["mecha"]) for s in seats],
        "wounds": [snapshot["wounds"][s] for s in seats],
        "scores": [max(-128, min(127, score)) for score in scores],
        "cancels": [sum(entry["seat"] == s for entry in pending[1:]) for s in seats],
        "deck": len(snapshot["deck"]),
        "last_turns": snapshot["last_turns_left"] or 0,
        "turns_left": min(127, snapshot["options"]["max_turns"] - snapshot["turns"]),
    }


@pytest.mark.parametrize("options", CASES, ids=str)
def test_every_field_says_what_the_position_says(options):
    random = np.random.default_rng(1)
    for seed in range(4):
        game = Board(seed=seed, **options)
        while game.asked is not None:
            snapshot = game.position
            for seat in range(options["players"]):
                fields = game.see(seat)
                right = expected(snapshot, seat)
                assert fields.keys() == right.keys()
                for name, value in right.items():
                    assert np.array_equal(fields[name], np.array(value, np.int8)), (name, seat, snapshot)
            busy = [name for name in game.legal if ":" in name]
            game.act(str(random.choice(busy if busy and random.random() < 0.5 else game.legal)))


def test_large_numbers_stay_in_their_columns():
    deck = {3: 40, 8: 60, 6: 20}
    hands = [[8] * 50, [6] * 15, [3]]
    game = board(hands, [3] * 4 + [6] * 4, options={"deck": deck}, wounds=[0, 60, 135])
    low, high = game.variant.layout.bounds
    row = game.variant.observation(game.states, 0, 1)
    assert (low <= row).all()
    assert (row <= high).all()
    assert game.see(1)["scores"].tolist() == [90 - 180, -128, 127]
    assert game.see(1)["wounds"].tolist() == [60, 127, 0]


def test_the_pending_stack_is_seen_with_its_effect_victim_and_cancels():
    game = board([[4, 6], [6, 6], [6], [8]], QUIET, turn_player=0)
    game.act("4: steal +3", "6: cancel", "accept", "6: cancel")
    fields = game.see(1)
    assert game.position["phase"] == "react"
    assert fields["pending_card"].tolist() == [0, 0, 0, 1] + [0] * 7
    assert game.variant.action_names[int(fields["pending_effect"].argmax())] == "4: steal +3"
    assert fields["pending_victim"].tolist() == [0, 0, 1, 0]  # seat 3, two places from seat 1
    assert fields["last_cancel"].tolist() == [0, 0, 0, 1]  # seat 0
    assert fields["cancels"].tolist() == [1, 0, 0, 1]


# --- The bound of known cards ---


def test_discarding_a_value_that_was_known_and_also_drawn_keeps_the_rest_unknown():
    """Seat 0 holds a known 4 and a secret card; after it discards a 4, others know nothing of the card left."""
    for secret in (4, 8):
        game = board([[4, 5], [8]], [2, 2, 3, 3, 7, 7, 8, 8], top=[secret]).act("5: draw", "4: steal +1")
        assert game.see(1)["known"][1].tolist() == counts([8])
        assert game.see(1)["unknown"].tolist() == [0, 1]
        assert sorted(game.position["hands"][0]["kaiju"]) == sorted([8, secret])


def test_discarding_a_value_that_was_not_known_shows_a_secret_card():
    game = board([[5, 8], [8]], [2, 2, 3, 3, 7, 7, 8, 8], top=[4]).act("5: draw")
    assert game.see(1)["unknown"][1] == 1
    game.act("4: steal +1")
    assert game.see(1)["unknown"][1] == 0
    assert game.see(1)["known"][1].tolist() == counts([8, 8])


def test_a_stolen_secret_card_is_known_with_the_thief():
    start = position([[4], [8]], [2, 2, 3, 3, 7, 7, 8, 8], known=[[4], []])
    game = Board(start)
    assert game.see(0)["unknown"].tolist() == [0, 1]
    game.act("4: steal +1")
    assert game.see(1)["known"].tolist() == [counts([]), counts([8])]
    assert game.see(1)["unknown"].tolist() == [0, 0]


def test_a_stolen_copy_of_a_known_card_leaves_the_unknown_one():
    """Of a known 8 and a secret 8, one is stolen: the other one may be anything to those who look on."""
    start = position([[4], [8, 8], [1]], [2, 2, 3, 3, 7, 7, 8, 8], known=[[4], [8], [1]])
    game = Board(start).act("4: steal +1")
    assert game.see(2)["known"][2].tolist() == counts([])
    assert game.see(2)["unknown"].tolist() == [0, 0, 1]


def test_a_seat_knows_what_the_others_know_of_it():
    game = board([[5, 1], [8]], top=[7]).act("5: draw")
    assert game.see(0)["hand"].tolist() == counts([1, 7])
    assert game.see(0)["known"][0].tolist() == counts([1])


# --- Who is asked is nobody's business ---


def secret_card(card, k, players=4):
    """Seat 0 holds a 7; seat k holds one secret card; everybody else can do nothing."""
    hands = [[1] for _ in range(players)]
    hands[0] = [7, 7]
    known = [list(hand) for hand in hands]
    hands[k] = [1, card]
    deck = {1: 30, 7: 10, 6: 6, 8: 10, 9: 2, 10: 2, 11: 2}
    start = position(hands, [8] * 8, options={"deck": deck}, known=known, top=[8, 8])
    start["deck"].sort()  # the deck is not known, but must not differ more than by that card
    return Board(start)


@pytest.mark.parametrize("card", sorted(CANCELLING))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_declined_window_looks_like_none(card, k):
    """The turn player and all others see the same whether a seat could not cancel or did not want to."""
    silent, declining = secret_card(1, k), secret_card(card, k)
    for game in (silent, declining):
        game.act("7: turn low to 5")
    assert silent.position["phase"] == "discard"
    assert declining.asked == k
    declining.act("accept")
    for seat in range(4):
        if seat != k:
            assert silent.view(seat) == declining.view(seat)


@pytest.mark.parametrize("card", sorted(CANCELLING))
def test_who_is_asked_later_cannot_tell_who_was_asked_before(card):
    views = []
    for first in (1, card):
        hands = [[7], [1, first], [6], [1]]
        deck = {1: 30, 7: 10, 6: 6, 8: 10, 9: 2, 10: 2, 11: 2}
        start = position(hands, [8] * 8, options={"deck": deck}, known=[[7], [1], [6], [1]])
        game = Board(start).act("7: turn low to 5")
        if first == card:
            assert game.asked == 1
            game.act("accept")
        assert game.asked == 2
        views.append(game.view(2))
    assert views[0] == views[1]


def test_what_others_decline_with_is_not_seen_in_the_next_window():
    """Accepting, the effect happening, and another discard leave no trace of the first window."""
    silent, declining = secret_card(1, 2), secret_card(6, 2)
    silent.act("7: turn low to 5", "7: turn low to 2")
    declining.act("7: turn low to 5", "accept", "7: turn low to 2", "accept", "end discards")
    silent.act("end discards")
    for seat in (0, 1, 3):
        assert silent.view(seat) == declining.view(seat)


# --- Imagined worlds ---


@pytest.mark.parametrize("options", [*CASES, {"players": 2, "deck": REACTIVE}], ids=str)
def test_imagined_worlds_are_positions_that_look_the_same(options):
    random, stream = np.random.default_rng(3), streams(9, 1, "search")
    hidden = reacting = 0
    for seed in range(6):
        game = Board(seed=seed, **options)
        while game.asked is not None:
            truth = game.position
            for seat in range(options["players"]) if random.random() < 0.15 else ():
                world = game.imagine(seat, stream)
                assert world.view(seat) == game.view(seat)
                assert world.states["acting"][0] == game.states["acting"][0]
                imagined = world.position
                again = Board(imagined)
                assert again.states.tobytes() == world.states.tobytes(), "not in the form the rules leave it in"
                assert imagined["known"] == truth["known"]
                assert imagined["hands"][seat] == truth["hands"][seat]
                hidden += imagined["hands"] != truth["hands"]
            if truth["phase"] == "react":
                reacting += 1
            draws = [name for name in game.legal if "draw" in name]
            busy = [name for name in game.legal if ":" in name]
            pool = draws if draws and random.random() < 0.8 else busy if busy and random.random() < 0.3 else game.legal
            game.act(str(random.choice(pool)))
    assert hidden > 10
    assert reacting > 5


def test_secret_cards_are_imagined_with_the_chance_of_the_unseen_cards():
    deck = {1: 8, 2: 4, 3: 2, 4: 1, 8: 16, 11: 2}
    start = position(
        [[8], [1, 8], [4, 8]], [8] * 5 + [11, 11, 1], options={"deck": deck}, known=[[8], [8], [8]],
    )  # fmt: skip
    game, stream = Board(start), streams(4, 1, "search")
    # Unseen by seat 0: 1 x7, 2 x4, 3 x2, 4 x1, 8 x8; two of these 22 are in the other hands.
    pool = Counter({1: 7, 2: 4, 3: 2, 4: 1, 8: 8})
    first, second, top = Counter(), Counter(), Counter()
    for _ in range(4400):
        world = game.imagine(0, stream).position
        first[(Counter(world["hands"][1]["kaiju"]) - Counter([8])).most_common(1)[0][0]] += 1
        second[(Counter(world["hands"][2]["kaiju"]) - Counter([8])).most_common(1)[0][0]] += 1
        top[world["deck"][0]] += 1
        assert sorted(world["deck"] + world["hands"][1]["kaiju"] + world["hands"][2]["kaiju"]) == sorted(
            [*pool.elements(), 8, 8]
        )
    for found in (first, second, top):
        for value, copies in pool.items():
            assert abs(found[value] - 200 * copies) < 5 * (200 * copies) ** 0.5, (value, found)


def test_whoever_is_asked_can_cancel_in_every_imagined_world():
    """One 6 and one 9 among many unseen cards: seen from another seat, seat 2 has one of them for sure."""
    deck = {1: 60, 6: 1, 7: 8, 9: 1, 8: 20}
    start = position([[7], [1], [1, 6]], [8] * 8, options={"deck": deck}, known=[[7], [1], []])
    game, stream = Board(start).act("7: turn low to 5"), streams(4, 1, "search")
    assert game.asked == 2
    found = Counter()
    for _ in range(300):
        world = game.imagine(1, stream)
        cards = world.position["hands"][2]["kaiju"]
        assert set(cards) & CANCELLING
        found[tuple(card for card in cards if card in CANCELLING)] += 1
        world.act("accept")
    assert found[(6,)] > 90
    assert found[(9,)] > 90


def test_the_asked_seat_itself_knows_its_cards():
    deck = {1: 60, 6: 1, 7: 8, 9: 1, 8: 20}
    start = position([[7], [1], [1, 6]], [8] * 8, options={"deck": deck}, known=[[7], [1], []])
    game = Board(start).act("7: turn low to 5")
    for _ in range(50):
        assert game.imagine(2).position["hands"] == game.position["hands"]


def _dealt(world, seat):
    """The cards of a hand that nobody else has seen."""
    return tuple((Counter(world["hands"][seat]["kaiju"]) - Counter(world["known"][seat])).elements())


SMALL = {"deck": {1: 2, 2: 1, 4: 1, 8: 2, 11: 1}, "centre": 1, "start": 1}


def test_all_deals_of_the_unseen_cards_are_equally_likely():
    """Seat 1 holds one secret card and seat 2 two, two are in the deck: every order of the five, copies told apart."""
    start = position([[8], [1], [4, 8]], [1], top=[2, 11], options=SMALL, known=[[8], [], []])
    truth, found = Board(start), Counter()
    for chance, states, _ in outcomes(truth.states, lambda state: determinize(state, 0)):
        world = truth.variant.snapshot(states[0])
        found[_dealt(world, 1), _dealt(world, 2), tuple(world["deck"])] += chance
    expected = Counter()
    for one, two, three, *deck in permutations([1, 2, 4, 8, 11]):
        expected[(one,), tuple(sorted((two, three))), tuple(deck)] += 1 / 120
    assert found == pytest.approx(expected)


def test_whoever_is_asked_holds_any_cards_that_can_cancel_and_the_others_any_of_the_rest():
    """Of six unseen cards seat 2, which is asked, has two and the discarder one; all fitting deals are as likely."""
    deck = {1: 2, 5: 1, 6: 1, 7: 1, 8: 2, 9: 1, 10: 1}
    start = position(
        [[7, 5], [1], [6, 8]], [1], top=[8, 9, 10], options={"deck": deck, "centre": 1, "start": 1}, dice=(1, 2),
        known=[[7], [1], []],
    )  # fmt: skip
    game, stream, found = Board(start).act("7: turn low to 5"), streams(3, 1, "search"), Counter()
    assert game.asked == 2
    for _ in range(3000):
        world = game.imagine(1, stream).position
        found[_dealt(world, 2), _dealt(world, 0), tuple(world["deck"])] += 1
    expected = Counter()
    for one, two, three, *rest in permutations([5, 6, 8, 8, 9, 10]):
        if {one, two} & CANCELLING:
            expected[tuple(sorted((one, two))), (three,), tuple(rest)] += 1
    assert_as_expected(found, expected)


def test_an_imagined_card_that_others_saw_stays_where_it_is():
    """Seat 2 imagines: seat 0's 9 and seat 1's two 4s are known, and so is what seat 2 drew."""
    start = position([[9, 3], [4, 4], [5, 7]], [8] * 8, known=[[9], [4, 4], [5]])
    game, stream = Board(start), streams(3, 1, "search")
    for _ in range(100):
        world = game.imagine(2, stream).position
        assert world["known"] == [[9], [4, 4], [5]]
        assert [len(_dealt(world, seat)) for seat in range(3)] == [1, 0, 1]
        assert _dealt(world, 2) == (7,)
        assert 9 not in world["deck"]
