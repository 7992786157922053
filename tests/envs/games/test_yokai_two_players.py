"""Rules of Yokai Septet for two players with the straw pile, each with a position.

Face-up place j of a pile covers the face-down places j and j + 1.
"""

import pytest
from monsterzoo.envs import IllegalActionError
from yokai_positions import ALL_BOSSES, before_play, environment, in_play, legal, play, rewards, seat_to_act
from yokai_reference import BOSSES, DECK, in_order, suit_of

EMPTY = {"down": [None] * 7, "up": [None] * 6}


def _read(env, seat, name):
    return env.observation_layout.read(env.observe(f"player_{seat}")["observation"], name)


def _seen_below(env, observer, owner, place):
    """The card that the observer sees in a lower place of the owner's pile, or None."""
    suit, rank = _read(env, observer, "straw_down")[(owner - observer) % 2, place].reshape(2, 7)
    if not suit.any():
        return None
    return DECK[7 * int(suit.argmax()) + int(rank.argmax())]


# --- Preparation ---


@pytest.mark.parametrize("seed", range(20))
def test_seven_face_down_six_face_up_eleven_in_hand(seed):
    position = environment(seed=seed, players=2).snapshot()
    assert [len(hand) for hand in position["hands"]] == [11, 11]
    for pile in position["straw"]:
        assert (len(pile["down"]), len(pile["up"])) == (7, 6)
    cards = [card for hand in position["hands"] for card in hand] + [position["trump_card"]]
    cards += [card for pile in position["straw"] for card in pile["down"] + pile["up"]]
    assert in_order(cards) == list(DECK)
    assert position["trump"] == suit_of(position["trump_card"])
    assert (position["phase"], position["to_act"]) == ("discard", [0, 1])


@pytest.mark.parametrize("seed", range(5))
def test_nobody_sees_face_down_cards_and_both_see_face_up_cards(seed):
    env = environment(seed=seed, players=2)
    position = env.snapshot()
    for seat in range(2):
        assert not _read(env, seat, "straw_down").any()
        assert _read(env, seat, "straw_left").all()
        for k in range(2):
            shown = _read(env, seat, "bare")[k]
            assert [DECK[i] for i in shown.nonzero()[0]] == in_order(position["straw"][(seat + k) % 2]["up"])


# --- A smaller game ---

NINE = ["C6", "C7", "C8", "L6", "L7", "L8", "D6", "D7", "D8"]


def test_a_smaller_deck_without_straw_piles_is_dealt_to_both_hands():
    position = environment(players=2, deck=NINE[::-1], straw=0).snapshot()
    assert position["options"]["deck"] == NINE
    assert sorted([*position["hands"][0], *position["hands"][1], position["trump_card"]]) == sorted(NINE)
    assert [len(hand) for hand in position["hands"]] == [4, 4]
    assert position["straw"] == [EMPTY, EMPTY]


def test_smaller_straw_piles_leave_more_cards_for_the_hands():
    position = environment(players=2, straw=2).snapshot()
    assert [len(hand) for hand in position["hands"]] == [19, 19]
    for pile in position["straw"]:
        assert [card is not None for card in pile["down"]] == [True] * 3 + [False] * 4
        assert [card is not None for card in pile["up"]] == [True] * 2 + [False] * 4


def test_most_of_the_bosses_win_a_smaller_game():
    """Two of three; one trick more than most of the three, all of them, would lose."""
    position = {
        "phase": "play", "round": 1, "trump_card": "C6", "lead": 0, "trick": [], "scores": [0, 0], "tricks": [1, 0],
        "hands": [["C7", "C8"], ["L7", "D6"]], "played": [["D8"], ["D7"]], "captured": [["D7"], []],
        "straw": [EMPTY, EMPTY], "discards": ["L6", "L8"],
    }  # fmt: skip
    env = environment(position, players=2, deck=NINE, straw=0, episode="round")
    play(env, "C8", "L7")
    assert rewards(env) == [1, -1]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"deck": ["X1"]}, "there is no card 'X1'"),
        ({"deck": ["W1", "W1"]}, "W1 is there twice"),
        ({"deck": NINE[:8], "straw": 0}, "an odd number of cards"),
        ({"deck": NINE}, "make hands of -9"),
        ({"deck": [*NINE[1::3], "W7", "E7"], "straw": 0}, "5 cards, 5 of them bosses, make hands of 2"),
        ({"players": 3, "straw": 0}, "straw is for players=2; allowed here: 6"),
    ],
)
def test_decks_that_cannot_be_dealt_are_refused(options, problem):
    with pytest.raises(ValueError, match=problem):
        environment(**{"players": 2, **options})


# --- Discard ---


def test_a_boss_cannot_be_discarded():
    env = environment(before_play(2, hands=[["W7", "S7", "C7"], []]), players=2)
    assert legal(env) == set(env.snapshot()["hands"][0]) - BOSSES
    with pytest.raises(IllegalActionError, match="a boss cannot be discarded"):
        play(env, "S7")


def test_straw_cards_cannot_be_discarded():
    position = before_play(2)
    env = environment(position, players=2)
    assert not legal(env) & set(position["straw"][0]["up"] + position["straw"][0]["down"])


def test_both_discard_one_card_which_is_out_of_the_round():
    position = before_play(2)
    first, second = (next(card for card in hand if card not in BOSSES) for hand in position["hands"])
    env = environment(position, players=2)
    now = play(env, first)
    assert (now["discards"], now["to_act"], now["phase"]) == ([first, None], [1], "discard")
    assert first not in now["hands"][0]
    now = play(env, second)
    assert now["discards"] == [first, second]
    assert [len(hand) for hand in now["hands"]] == [10, 10]
    assert second not in now["hands"][1]


def test_discards_are_simultaneous_and_stay_secret():
    position = before_play(2)
    env = environment(position, players=2)
    before = env.observe("player_1")["observation"]
    first = next(card for card in position["hands"][0] if card not in BOSSES)
    play(env, first)
    assert (env.observe("player_1")["observation"] == before).all()
    assert legal(env) == set(position["hands"][1]) - BOSSES
    play(env, next(card for card in position["hands"][1] if card not in BOSSES))
    assert _read(env, 0, "discard")[DECK.index(first)] == 1
    assert _read(env, 1, "discard")[DECK.index(first)] == 0


# --- Exchange ---


def _exchanging(ups, downs=((), ()), **keys):
    """The exchange phase; `ups` and `downs` map places of each pile to cards."""
    straw = [{"down": [None] * 7, "up": [None] * 6} for _ in range(2)]
    for seat in range(2):
        for place, card in dict(ups[seat]).items():
            straw[seat]["up"][place] = card
        for place, card in dict(downs[seat]).items():
            straw[seat]["down"][place] = card
    used = {card for pile in straw for row in pile.values() for card in row}
    # All other bosses are in hands, so that no pile gets one by accident.
    hands = [[card for card in ALL_BOSSES if card not in used], []]
    position = before_play(2, hands=hands, straw=straw)
    return {
        **position,
        "phase": "exchange",
        "hands": [hand[:-1] for hand in position["hands"]],
        "discards": [hand[-1] for hand in position["hands"]],
        **keys,
    }


def test_only_face_up_bosses_may_be_exchanged_each_to_two_sides():
    env = environment(_exchanging(({1: "W7", 5: "S7"}, {})), players=2)
    assert env.snapshot()["to_act"] == [0]
    assert legal(env) == {"no exchange", "exchange 1 left", "exchange 1 right", "exchange 5 left", "exchange 5 right"}
    with pytest.raises(IllegalActionError, match="no face-up boss"):
        play(env, "exchange 0 left")


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize(("side", "offset"), [("left", 0), ("right", 1)])
def test_left_takes_the_face_down_card_j_and_right_j_plus_1(place, side, offset):
    position = _exchanging(({place: "D7"}, {}))
    env = environment(position, players=2)
    now = play(env, f"exchange {place} {side}")
    before, after = position["straw"][0], now["straw"][0]
    assert after["up"][place] == before["down"][place + offset]
    assert after["down"][place + offset] == "D7"
    changed = [k for k in range(7) if after["down"][k] != before["down"][k]]
    assert changed == [place + offset]
    assert [k for k in range(6) if after["up"][k] != before["up"][k]] == [place]
    assert now["straw"][1] == position["straw"][1]
    assert now["exchanges"] == [f"exchange {place} {side}", None]


def test_no_exchange_leaves_the_pile_alone():
    position = _exchanging(({1: "W7"}, {}))
    now = play(environment(position, players=2), "no exchange")
    assert now["straw"] == position["straw"]
    assert (now["phase"], now["exchanges"]) == ("play", ["no exchange", None])


def test_a_player_without_a_face_up_boss_is_not_asked():
    env = environment(_exchanging(({}, {2: "F7"})), players=2)
    assert env.snapshot()["to_act"] == [1]
    now = play(env, "no exchange")
    assert (now["phase"], now["exchanges"]) == ("play", [None, "no exchange"])


def test_where_nobody_has_a_face_up_boss_play_begins_after_the_discards():
    position = before_play(2, hands=[ALL_BOSSES, []])
    env = environment(position, players=2)
    now = play(env, position["hands"][0][-1], position["hands"][1][-1])
    assert (now["phase"], now["to_act"], now["exchanges"]) == ("play", [0], [None, None])


def test_who_has_a_face_up_boss_is_asked_after_the_discards():
    straw = [{"down": [None] * 7, "up": ["W7", *[None] * 5]}, {"down": [None] * 7, "up": [None] * 6}]
    position = before_play(2, hands=[ALL_BOSSES[1:], []], straw=straw)
    env = environment(position, players=2)
    now = play(env, position["hands"][0][-1], position["hands"][1][-1])
    assert (now["phase"], now["to_act"]) == ("exchange", [0])


def test_a_hidden_boss_below_does_not_give_an_exchange():
    env = environment(_exchanging(({0: "W7"}, {}), ({}, {3: "S7"})), players=2)
    assert env.snapshot()["to_act"] == [0]


def test_exchanges_are_simultaneous_and_secret_until_both_have_chosen():
    position = _exchanging(({1: "W7"}, {2: "F7"}), ({}, {3: "S7"}))
    env = environment(position, players=2)
    before = env.observe("player_1")["observation"]
    now = play(env, "exchange 1 left")
    assert now["exchanges"] == ["exchange 1 left", None]
    assert now["straw"] == position["straw"]
    assert now["to_act"] == [1]
    assert (env.observe("player_1")["observation"] == before).all()
    now = play(env, "exchange 2 left")
    assert now["straw"][0]["up"][1] == position["straw"][0]["down"][1]
    assert now["straw"][1]["up"][2] == position["straw"][1]["down"][2]


def test_the_exchanged_boss_lies_below_known_to_both():
    env = environment(_exchanging(({1: "W7"}, {})), players=2)
    play(env, "exchange 1 right")
    for observer in range(2):
        assert _seen_below(env, observer, 0, 2) == "W7"
        assert _seen_below(env, observer, 0, 1) is None


def test_an_exchanged_boss_below_may_not_be_played():
    env = environment(_exchanging(({1: "W7"}, {})), players=2)
    play(env, "exchange 1 right")
    assert "W7" not in legal(env)


# --- Two bosses: which one stays up ---

TWO_BOSSES = ({1: "W7"}, {}), ({2: "S7"}, {})


def test_a_boss_that_comes_up_gives_the_choice_which_stays():
    env = environment(_exchanging(*TWO_BOSSES), players=2)
    now = play(env, "exchange 1 right")
    assert (now["phase"], now["to_act"]) == ("keep", [0])
    assert legal(env) == {"keep old up", "keep new up"}
    for observer in range(2):  # both bosses have been seen
        assert _seen_below(env, observer, 0, 2) == "W7"
        assert _read(env, observer, "bare")[observer ^ 0][DECK.index("S7")] == 1


def test_no_choice_where_no_boss_comes_up():
    assert play(environment(_exchanging(({1: "W7"}, {})), players=2), "exchange 1 right")["phase"] == "play"


def test_keep_new_up_leaves_the_cards_exchanged():
    env = environment(_exchanging(*TWO_BOSSES), players=2)
    now = play(env, "exchange 1 right", "keep new up")
    assert (now["straw"][0]["up"][1], now["straw"][0]["down"][2]) == ("S7", "W7")
    assert now["phase"] == "play"
    assert _seen_below(env, 1, 0, 2) == "W7"


def test_keep_old_up_puts_both_cards_back():
    position = _exchanging(*TWO_BOSSES)
    env = environment(position, players=2)
    now = play(env, "exchange 1 right", "keep old up")
    assert now["straw"] == position["straw"]
    assert now["phase"] == "play"
    for observer in range(2):  # the card below has been seen all the same
        assert _seen_below(env, observer, 0, 2) == "S7"
    assert {"W7"} <= legal(env)
    assert "S7" not in legal(env)


def test_choices_of_the_boss_to_keep_are_simultaneous():
    position = _exchanging(({1: "W7"}, {3: "F7"}), ({1: "S7"}, {3: "D7"}))
    env = environment(position, players=2)
    now = play(env, "exchange 1 left", "exchange 3 left")
    assert (now["phase"], now["to_act"]) == ("keep", [0, 1])
    before = env.observe("player_1")["observation"]
    now = play(env, "keep old up")
    assert (now["phase"], now["to_act"]) == ("keep", [1])
    assert now["straw"][0]["up"][1] == "S7"  # still as exchanged
    assert (env.observe("player_1")["observation"] == before).all()
    now = play(env, "keep new up")
    assert now["straw"][0]["up"][1] == "W7"
    assert now["straw"][1]["up"][3] == "D7"


def test_only_who_turned_up_a_boss_is_asked_which_to_keep():
    env = environment(_exchanging(({1: "W7"}, {3: "F7"}), ({}, {4: "D7"})), players=2)
    now = play(env, "exchange 1 left", "exchange 3 right")
    assert (now["phase"], now["to_act"]) == ("keep", [1])
    now = play(env, "keep new up")
    assert now["straw"][0]["down"][1] == "W7"  # the other exchange stands


# --- The dealer leads ---


@pytest.mark.parametrize(("round_number", "dealer"), [(1, 0), (2, 1), (3, 0), (4, 1)])
def test_the_dealer_leads_the_first_trick_and_changes_every_round(round_number, dealer):
    position = _exchanging(({1: "W7"}, {}), round=round_number, lead=dealer)
    assert play(environment(position, players=2), "no exchange")["to_act"] == [dealer]


def test_the_next_dealer_leads_even_if_the_other_took_the_last_trick():
    position = _last_trick_position(tricks=[12, 10])
    env = environment(position, players=2)
    now = play(env, "S12", "S13")
    assert (now["round"], now["lead"], now["phase"]) == (2, 1, "discard")
    position = _last_trick_position(tricks=[12, 10], round=2)
    now = play(environment(position, players=2), "S12", "S13")
    assert (now["round"], now["lead"]) == (3, 0)


def test_first_lead_of_the_a_has_no_meaning_with_two_players():
    position = before_play(2, hands=[ALL_BOSSES, ["W1"]])
    env = environment(position, players=2)
    assert play(env, position["hands"][0][-1], position["hands"][1][-1])["lead"] == 0


# --- Straw cards in play ---

# Seat 0: up 0 covers down 0 and 1, up 1 covers down 1 and 2; places 3 … 6 are gone.
STRAW = [
    {"down": ["W2", "D7", "S7", None, None, None, None], "up": ["C3", "C4", None, None, None, None]},
    {"down": ["L4", "F7", "L6", None, None, None, None], "up": ["E4", "C8", None, None, None, None]},
]
HANDS = [["F9", "S9"], ["F10", "L7"]]
CAPTURED = [["W7", "E7"], ["C7"]]


def _straw_position(lead=0, hands=HANDS, straw=STRAW, **keys):
    return in_play(2, hands=hands, straw=straw, captured=CAPTURED, tricks=[8, 8], trump_card="D11", lead=lead, **keys)


def test_face_up_straw_cards_may_be_led():
    # S7 lies under up 1; W2 is under up 0: neither is open.
    assert legal(environment(_straw_position(), players=2)) == {"F9", "S9", "C3", "C4"}


def test_straw_cards_must_be_used_to_follow():
    env = environment(_straw_position(), players=2)
    play(env, "C3")
    assert legal(env) == {"C8"}
    with pytest.raises(IllegalActionError, match="follow suit"):
        play(env, "F10")


def test_hand_and_straw_together_follow():
    env = environment(_straw_position(hands=[["F9", "S9"], ["C9", "L7"]]), players=2)
    play(env, "C3")
    assert legal(env) == {"C8", "C9"}


def test_face_down_cards_do_not_follow():
    straw = [STRAW[0], {**STRAW[1], "down": ["L4", "F7", "L7", None, None, None, None]}]
    env = environment(_straw_position(hands=[["F9", "L8"], ["F10", "S8"]], straw=straw), players=2)
    play(env, "L8")
    assert legal(env) == {"F10", "S8", "E4", "C8"}


def test_not_following_shows_the_hand_void_not_the_straw():
    env = environment(_straw_position(hands=[["F9", "S9"], ["F10", "L7"]]), players=2)
    now = play(env, "S9", "L7")
    assert now["voids"] == [[], ["Snow"]]


def test_a_card_under_two_is_bared_by_the_second():
    env = environment(_straw_position(), players=2)
    now = play(env, "C3", "C8")  # bares W2 (under place 0 only); D7 is still under C4
    assert now["straw"][0] == {"down": ["W2", "D7", "S7", None, None, None, None], "up": [None, "C4", *[None] * 4]}
    assert now["bare"][0] == ["W2", "C4"]
    now = play(env, "F10", "F9", "E4")  # seat 1 leads on
    assert seat_to_act(env) == 0
    now = play(env, "C4")
    assert set(now["bare"][0]) == {"W2", "D7", "S7"}


@pytest.mark.parametrize("place", range(7))
@pytest.mark.parametrize("reveal", ["immediate", "trick_end"])
def test_a_face_down_card_is_bared_when_its_last_cover_is_played(place, reveal):
    up, down = [None] * 6, [None] * 7
    covers = [p for p in (place - 1, place) if 0 <= p < 6]
    for cover, card in zip(covers, ("S13", "S12")):  # the best trumps, so seat 0 stays in the lead
        up[cover] = card
        down[cover], down[cover + 1] = "W2", "W3"
    for k, card in zip([k for k in range(7) if down[k]], ("W2", "W3", "W4")):
        down[k] = card
    down[place] = "D7"
    size = sum(card is not None for card in up + down)
    position = in_play(
        2, hands=[["F9", "F10", "S9"], []], straw=[{"down": down, "up": up}, EMPTY], trump_card="S8",
        captured=[["W7", "E7", "C7"], ["S7", "F7", "L7"]], tricks=[8, 12 - size],
    )  # fmt: skip
    env = environment(position, players=2, straw_reveal=reveal)
    for cover in covers:
        assert "D7" not in legal(env)
        assert _seen_below(env, 0, 0, place) is None
        play(env, up[cover])
        assert ("D7" in env.snapshot()["bare"][0]) == (reveal == "immediate" and cover == covers[-1])
        play(env, min(legal(env)))
        assert seat_to_act(env) == 0
    assert "D7" in legal(env)
    assert _seen_below(env, 1, 0, place) == "D7"


def test_a_card_uncovered_by_the_leader_is_seen_by_the_follower_at_once():
    env = environment(_straw_position(), players=2)
    play(env, "C3")
    assert seat_to_act(env) == 1
    assert _seen_below(env, 1, 0, 0) == "W2"
    assert _read(env, 1, "bare")[1][DECK.index("W2")] == 1
    assert env.snapshot()["straw"][0]["down"][0] == "W2"  # bared cards stay in their place


def test_with_trick_end_the_follower_does_not_see_it_until_the_trick_is_over():
    env = environment(_straw_position(), players=2, straw_reveal="trick_end")
    play(env, "C3")
    for observer in range(2):
        assert _seen_below(env, observer, 0, 0) is None
        assert not _read(env, observer, "bare")[:, DECK.index("W2")].any()
    play(env, "C8")
    for observer in range(2):
        assert _seen_below(env, observer, 0, 0) == "W2"
    # seat 1 played C8 from place 1: L6 was under it alone
    assert _seen_below(env, 0, 1, 2) == "L6"


def test_a_bared_card_counts_as_hand_from_then_on():
    for reveal in ("immediate", "trick_end"):
        env = environment(_straw_position(), players=2, straw_reveal=reveal)
        play(env, "C3", "C8")
        assert seat_to_act(env) == 1
        assert legal(env) == {"F10", "L7", "E4", "L6"}
        play(env, "L6")
        assert legal(env) == {"F9", "S9", "C4", "W2"}
        now = play(env, "W2")
        assert now["straw"][0]["down"][0] is None
        assert "W2" in now["played"][0]


def test_a_bared_card_must_be_used_to_follow():
    straw = [{**STRAW[0], "down": ["L8", "D7", "S7", *[None] * 4]}, STRAW[1]]
    env = environment(_straw_position(straw=straw), players=2)
    play(env, "C3", "C8", "L6")
    assert legal(env) == {"L8"}


# --- End of a round ---


def _last_trick_position(tricks, **keys):
    """One card each; six bosses are taken, the seventh is the trump card."""
    return in_play(
        2, hands=[["S12"], ["S13"]], captured=[["W7", "E7", "C7"], ["L7", "D7", "F7"]], tricks=tricks, trump_card="S7",
        lead=0, **keys
    )  # fmt: skip


def test_three_bosses_do_not_win_and_the_fourth_does():
    env = environment(_straw_position(hands=[["F9", "S9"], ["F10", "L7"]]), players=2, episode="round")
    now = play(env, "S9", "L7", "C4")
    assert (now["captured"], now["over"]) == ([["W7", "E7", "L7"], ["C7"]], False)
    play(env, "C8", "E4", "C3", "F10", "F9")  # seat 1 leads on; D7 lies open since C3 was played
    end = play(env, "L6", "D7")  # a trump that takes the trick and is the fourth boss itself
    assert (end["winners"], end["scores"]) == ([0], [0 + 0 + 1 + 0, 0])
    assert end["captured"][0] == ["W7", "E7", "L7", "D7"]


def test_four_bosses_win_even_on_the_thirteenth_trick():
    position = in_play(
        2, hands=[["S13"], ["S7"]], captured=[["W7", "C7", "F7"], ["L7", "D7", "E7"]], tricks=[12, 10], trump_card="E3"
    )
    env = environment(position, players=2, episode="round")
    end = play(env, "S13", "S7")
    assert (end["winners"], end["tricks"], end["scores"]) == ([0], [13, 10], [0 + 1 + 2 + 2, 0])
    assert rewards(env) == [1, -1]


def test_seven_tricks_do_not_lose_with_two_players():
    position = in_play(
        2, hands=[["S13"], []], captured=[["W7", "C7"], ["L7", "D7"]], tricks=[6, 8], trump_card="E3",
        straw=[{"down": ["E7", *[None] * 6], "up": [None] * 6}, {"down": ["F7", "S7", *[None] * 5], "up": [None] * 6}],
    )  # fmt: skip
    env = environment(position, players=2, episode="round")
    play(env, "S13")
    now = play(env, "S7")
    assert (now["tricks"], now["over"]) == ([7, 8], False)


def test_thirteen_tricks_lose_and_the_winner_takes_every_unplayed_boss():
    straw = [
        {"down": ["W2", "D7", "W4", *[None] * 4], "up": ["C3", "S7", *[None] * 4]},  # D7 face down, S7 face up
        {"down": ["L4", "F7", "L6", *[None] * 4], "up": ["E4", "C8", *[None] * 4]},  # F7 face down
    ]
    position = in_play(
        2, hands=[["S13", "L7"], ["S9", "E7"]], straw=straw, captured=[["W7"], ["C7"]], tricks=[12, 4], trump_card="F12"
    )
    env = environment(position, players=2, episode="round")
    end = play(env, "S13", "S9")
    assert (end["winners"], end["tricks"]) == ([1], [13, 4])
    # hands of both, straw of both, face up and face down
    assert end["captured"] == [["W7"], ["E7", "C7", "L7", "D7", "F7", "S7"]]
    assert end["scores"] == [0, 0 + 1 + 1 + 1 + 0 + 2]
    assert rewards(env) == [-1, 1]


def test_twelve_tricks_do_not_lose():
    position = in_play(
        2, hands=[["S13", "W7"], ["S9", "E7"]], captured=[["C7", "L7"], ["D7", "F7", "S7"]], tricks=[11, 10],
        trump_card="F12",
    )  # fmt: skip
    now = play(environment(position, players=2, episode="round"), "S13", "S9")
    assert (now["tricks"], now["over"]) == ([12, 10], False)


def test_all_23_tricks_played_is_won_by_the_last_tricks_winner():
    env = environment(_last_trick_position(tricks=[12, 10]), players=2, episode="round")
    end = play(env, "S12", "S13")
    assert (end["winners"], end["tricks"], end["scores"]) == ([1], [12, 11], [0, 1 + 1 + 2])
    assert sum(len(cards) for cards in end["played"]) == 46


def test_thirteen_tricks_come_before_all_tricks_played():
    position = in_play(
        2, hands=[["S13"], ["S12"]], captured=[["W7", "E7", "C7"], ["L7", "D7", "F7"]], tricks=[12, 10], trump_card="S7"
    )
    end = play(environment(position, players=2, episode="round"), "S13", "S12")
    assert end["winners"] == [1]


# --- The match ---


def test_white_stars_to_seven():
    now = play(environment(_last_trick_position(tricks=[12, 10], scores=[6, 2]), players=2), "S12", "S13")
    assert (now["over"], now["scores"]) == (False, [6, 6])
    now = play(environment(_last_trick_position(tricks=[12, 10], scores=[6, 3]), players=2), "S12", "S13")
    assert (now["over"], now["winners"], now["scores"]) == (True, [1], [6, 7])


def test_basic_scoring_and_score_rewards():
    env = environment(_last_trick_position(tricks=[12, 10], scores=[0, 1]), players=2, scoring="basic", reward="score")
    now = play(env, "S12", "S13")
    assert (now["over"], now["winners"], now["scores"]) == (True, [1], [0, 2])
    assert rewards(env) == [-0.5, 0.5]


def test_a_new_round_deals_new_straw_piles():
    env = environment(_last_trick_position(tricks=[12, 10]), players=2)
    now = play(env, "S12", "S13")
    assert [len(hand) for hand in now["hands"]] == [11, 11]
    assert all(card for pile in now["straw"] for row in pile.values() for card in row)
    assert (now["discards"], now["exchanges"], now["keeps"]) == ([None, None], [None, None], [None, None])
    assert now["bare"] == [in_order(pile["up"]) for pile in now["straw"]]


def test_straw_reveal_is_for_two_players():
    with pytest.raises(ValueError, match="straw_reveal"):
        environment(players=4, straw_reveal="trick_end")
