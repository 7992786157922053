"""Rules of Seven Suitors, long and short form, each with a position. Foil sevens are written with a star."""

import pytest
from yokai_positions import ALL_BOSSES, before_play, environment, in_play, legal, play, rewards
from yokai_reference import DECK, FOILS, SUITS, in_order

LONG, SHORT = "seven_suitors", "seven_suitors_short"
both_forms = pytest.mark.parametrize("variant", [LONG, SHORT])


def _env(position, variant=LONG, **options):
    return environment(position, variant=variant, **options)


def _in_play(**keys):
    return in_play(variant=LONG, **keys)


# --- Preparation ---


@both_forms
@pytest.mark.parametrize("seed", range(10))
def test_all_56_cards_are_dealt_fourteen_each_without_a_trump_card(variant, seed):
    position = environment(seed=seed, variant=variant).snapshot()
    assert [len(hand) for hand in position["hands"]] == [14] * 4
    assert in_order(card for hand in position["hands"] for card in hand) == list(DECK + FOILS)
    assert (position["trump"], position["trump_card"], position["lead"]) == (None, None, None)
    assert position["sealed"] == [[], []]


def test_foil_sevens_are_the_cards_49_to_55():
    env = environment(variant=LONG)
    assert [env.action_name(card) for card in range(49, 57)] == [
        "W7*",
        "E7*",
        "C7*",
        "L7*",
        "D7*",
        "F7*",
        "S7*",
        "no-op",
    ]


def test_one_card_passes_to_each_other_player_left_opposite_right():
    env = environment(seed=4, variant=LONG)
    dealt = env.snapshot()["hands"]
    chosen = [hand[:3] for hand in dealt]
    for seat in range(4):
        assert legal(env) == set(dealt[seat])  # from the dealt hand: nothing has come in yet
        play(env, *chosen[seat])
    after = env.snapshot()
    for seat in range(4):
        received = [chosen[(seat - 1) % 4][0], chosen[(seat - 2) % 4][1], chosen[(seat - 3) % 4][2]]
        assert after["hands"][seat] == in_order(dealt[seat][3:] + received)


def _passed(position, **options):
    """Everybody passes; seat 1 gives the A to its left, opposite or right as `position["give"]` says."""
    give = position.pop("give", None)
    env = _env(position, **options)
    for seat in range(4):
        cards = [card for card in position["hands"][seat] if card != "W1"][:3]
        if seat == 1 and give is not None:
            cards[give] = "W1"
        play(env, *cards)
    return env.snapshot()


@pytest.mark.parametrize("round_number", [1, 2, 5])
@pytest.mark.parametrize("give", [None, 0, 1, 2])
def test_in_every_round_who_was_dealt_the_a_leads(round_number, give):
    position = before_play(hands=[[], ["W1"], [], []], variant=LONG, round=round_number)
    now = _passed({**position, "give": give})
    assert (now["lead"], now["shown_by"]) == (1, 1)
    position = before_play(hands=[[], ["W1"], [], []], variant=LONG, round=round_number)
    now = _passed({**position, "give": give}, first_lead="held")
    assert now["lead"] == (1 if give is None else (2 + give) % 4)


def test_the_winner_of_the_last_trick_does_not_lead_the_next_round():
    env = _env(_last_trick())
    now = play(env, "S13", "S12", "S11", "S10")
    assert (now["round"], now["phase"], now["lead"], now["trump"]) == (2, "pass", None, None)
    dealt = next(seat for seat, hand in enumerate(now["hands"]) if "W1" in hand)
    while env.snapshot()["phase"] == "pass":
        play(env, min(legal(env)))
    assert env.snapshot()["lead"] == dealt


# --- Trump and tricks ---


@pytest.mark.parametrize(("card", "trump"), [("C3", "Charm"), ("S7*", "Snow"), ("W1", "Wind"), ("E7", "Earth")])
def test_the_first_card_led_sets_trump(card, trump):
    position = _in_play(hands=[["C3", "S7*", "W1", "E7"], *_sevens_but("S7*", "E7")], tricks=[0, 0], trump=None)
    env = _env(position)
    assert env.snapshot()["trump"] is None
    assert play(env, card)["trump"] == trump


def _sevens_but(*held):
    """Three hands with the bosses that are not held by seat 0."""
    left = [card for card in [*ALL_BOSSES, *FOILS] if card not in held]
    return left[::3], left[1::3], left[2::3]


def test_trump_lasts_for_the_round():
    position = _in_play(hands=[["C3", "W1", "E7"], *_sevens_but("E7")], tricks=[0, 0], trump=None)
    env = _env(position)
    while sum(env.snapshot()["tricks"]) < 4:
        play(env, min(legal(env)))
        assert env.snapshot()["trump"] == "Charm"


FOUR_LEFT = {"trump": "Earth", "lead": 0}


def _spread(hands):
    """Captured sevens without a pair, for the sevens that are not in hands."""
    held = {card for hand in hands for card in hand}
    sides = [[], []]
    for k, suit in enumerate(SUITS):
        plain, foil = f"{suit[0]}7", f"{suit[0]}7*"
        if plain not in held:
            sides[k % 2].append(plain)
        if foil not in held:
            sides[1 - k % 2].append(foil)
    return sides


def _one_trick(hands, *cards, trump="Earth", variant=LONG, captured=None, sealed=None, lead=0, **options):
    captured = captured or _spread(hands)
    position = in_play(
        variant=LONG, hands=hands, captured=captured, tricks=[6, 14 - len(hands[0]) - 6], trump=trump, lead=lead,
        sealed=sealed or [[], []],
    )  # fmt: skip
    env = _env(position, variant, **options)
    return env, play(env, *cards)


SPARE = ["D8", "D9", "D10", "D11"]


def _with_spare(*cards):
    return [[card, spare] for card, spare in zip(cards, SPARE)]


@pytest.mark.parametrize("cards", [("W7", "W7*", "W3", "W4"), ("W7*", "W7", "W3", "W4")])
def test_the_first_of_two_equal_sevens_wins_in_the_led_suit(cards):
    _, now = _one_trick(_with_spare(*cards), *cards)
    assert now["lead"] == 0


@pytest.mark.parametrize("cards", [("W2", "W7", "W3", "W7*"), ("W2", "W7*", "W3", "W7")])
def test_the_first_of_two_equal_sevens_wins_for_followers_too(cards):
    _, now = _one_trick(_with_spare(*cards), *cards)
    assert now["lead"] == 1


@pytest.mark.parametrize("cards", [("S13", "E6", "E7*", "E7"), ("S13", "E6", "E7", "E7*")])
def test_the_first_of_two_equal_sevens_wins_among_trumps(cards):
    _, now = _one_trick(_with_spare(*cards), *cards)
    assert now["lead"] == 2


def test_two_sevens_do_not_win_against_a_higher_card():
    cards = ("E7", "E7*", "E3", "E8")
    _, now = _one_trick(_with_spare(*cards), *cards)
    assert now["lead"] == 3


def test_a_foil_seven_belongs_to_its_suit_for_following():
    env = _env(_in_play(hands=[["C3", "D8"], ["C7*", "D9"], ["C4", "D10"], ["C5", "D11"]], tricks=[6, 6], trump="Earth",
                        captured=_spread([["C7*"]]), lead=0))  # fmt: skip
    play(env, "C3")
    assert legal(env) == {"C7*"}


def test_the_a_wins_over_sevens():
    cards = ("W7", "W7*", "W1", "W4")
    _, now = _one_trick(_with_spare(*cards), *cards)
    assert now["lead"] == 2


# --- No other end of a round ---


def test_all_fourteen_tricks_are_played_without_a_loss_by_tricks_or_a_win_by_bosses():
    hands = _with_spare("S13", "S12", "S11", "S10")
    captured = [["W7", "E7", "C7", "L7", "D7", "F7", "S7"], list(FOILS)]  # seven bosses each
    position = _in_play(hands=hands, captured=captured, tricks=[9, 3], trump="Earth", lead=0)
    env = _env(position)
    now = play(env, "S13", "S12", "S11", "S10")
    assert (now["tricks"], now["over"], now["round"]) == ([10, 3], False, 1)
    now = play(env, *SPARE)
    assert (now["round"], now["phase"], now["over"]) == (2, "pass", False)


def _last_trick(**keys):
    hands = [["S13"], ["S12"], ["S11"], ["S10"]]
    return _in_play(hands=hands, captured=keys.pop("captured", _spread(hands)), tricks=[7, 6], trump="Earth", **keys)


def test_there_are_no_scores():
    assert play(_env(_last_trick()), "S13", "S12", "S11", "S10")["scores"] is None


# --- Sealing ---


@both_forms
def test_both_sevens_in_one_trick_seal_the_suit_at_once(variant):
    cards = ("W7", "W7*", "W3", "W4")
    _, now = _one_trick(_with_spare(*cards), *cards, variant=variant)
    assert now["sealed"] == [["Wind"], []]
    assert not now["over"]


@both_forms
def test_both_sevens_from_different_tricks_of_a_round_seal(variant):
    hands = _with_spare("F12", "F7*", "F9", "F10")
    captured = _spread(hands)
    plain = next(side for side in range(2) if "F7" in captured[side])
    captured = captured if plain == 0 else captured[::-1]
    _, now = _one_trick(hands, "F12", "F7*", "F9", "F10", variant=variant, captured=captured)
    assert now["sealed"] == [["Fire"], []]


@both_forms
def test_one_seven_a_team_seals_nothing(variant):
    hands = _with_spare("F12", "F7*", "F9", "F10")
    captured = _spread(hands)
    plain = next(side for side in range(2) if "F7" in captured[side])
    captured = captured if plain == 1 else captured[::-1]
    _, now = _one_trick(hands, "F12", "F7*", "F9", "F10", variant=variant, captured=captured)
    assert now["sealed"] == [[], []]


def test_partners_seal_together():
    hands = _with_spare("F9", "F7*", "F12", "F10")
    captured = _spread(hands)
    captured = captured if "F7" in captured[0] else captured[::-1]
    _, now = _one_trick(hands, "F9", "F7*", "F12", "F10", captured=captured)  # taken by seat 2
    assert now["sealed"] == [["Fire"], []]


@both_forms
def test_seals_last_across_rounds_and_single_sevens_do_not(variant):
    position = _last_trick(sealed=[["Wind", "Snow"], ["Earth"]])
    env = _env(position, variant)
    now = play(env, "S13", "S12", "S11", "S10")
    assert now["round"] == 2
    assert now["sealed"] == [["Wind", "Snow"], ["Earth"]]
    assert now["captured"] == [[], []]


def test_a_seven_of_the_last_round_does_not_help_to_seal():
    # Round 2: team 0 takes Fire 7*, in round 1 it had taken Fire 7; the plain one is still in a hand now.
    hands = [["F12", "D8"], ["F7*", "D9"], ["F9", "D10"], ["F10", "F7"]]
    env = _env(_in_play(hands=hands, captured=_spread(hands), tricks=[6, 6], trump="Earth", round=2))
    assert play(env, "F12", "F7*", "F9", "F10")["sealed"] == [[], []]


def _seal_wind(variant, sealed, **options):
    cards = ("W7", "W7*", "W3", "W4")
    return _one_trick(_with_spare(*cards), *cards, variant=variant, sealed=sealed, **options)


def test_in_the_long_form_both_teams_may_seal_the_same_suit():
    _, now = _seal_wind(LONG, [[], ["Wind"]])
    assert now["sealed"] == [["Wind"], ["Wind"]]


def test_in_the_short_form_only_the_first_team_seals_a_suit():
    _, now = _seal_wind(SHORT, [[], ["Wind"]])
    assert now["sealed"] == [[], ["Wind"]]


def test_sealing_a_suit_again_changes_nothing():
    for variant in (LONG, SHORT):
        env, now = _seal_wind(variant, [["Wind"], []], reward="score")
        assert now["sealed"] == [["Wind"], []]
        assert rewards(env) == [0, 0, 0, 0]


# --- The match ---


def test_all_seven_seals_win_the_long_form_in_mid_round():
    env, end = _seal_wind(LONG, [list(SUITS[1:]), list(SUITS[:6])])
    assert (end["over"], end["winners"], end["to_act"]) == (True, [0, 2], [])
    assert any(end["hands"])
    assert rewards(env) == [1, -1, 1, -1]
    assert all(env.terminations.values())


def test_six_seals_do_not_win_the_long_form():
    _, now = _seal_wind(LONG, [list(SUITS[1:6]), []])
    assert (len(now["sealed"][0]), now["over"]) == (6, False)


def test_four_seals_win_the_short_form_in_mid_round():
    env, end = _seal_wind(SHORT, [["Fire", "Snow", "Charm"], ["Earth", "Darkness", "Lightning"]])
    assert (end["over"], end["winners"]) == (True, [0, 2])
    assert any(end["hands"])
    assert rewards(env) == [1, -1, 1, -1]


def test_three_seals_do_not_win_the_short_form():
    _, now = _seal_wind(SHORT, [["Fire", "Snow"], ["Earth", "Darkness", "Lightning"]])
    assert (len(now["sealed"][0]), now["over"]) == (3, False)


def test_a_blocked_suit_does_not_win_the_short_form():
    _, now = _seal_wind(SHORT, [["Fire", "Snow", "Charm"], ["Wind"]])
    assert not now["over"]


@both_forms
@pytest.mark.parametrize(
    ("sealed", "winners", "gain"),
    [
        ([["Wind"], []], [0, 2], 1),
        ([["Wind"], ["Snow", "Fire"]], [1, 3], -1),
        ([[], []], [], 0),
        ([["Wind"], ["Fire"]], [], 0),
    ],
)
def test_episode_round_is_won_by_more_seals_and_by_nobody_when_equal(variant, sealed, winners, gain):
    env = _env(_last_trick(sealed=sealed), variant, episode="round")
    end = play(env, "S13", "S12", "S11", "S10")
    assert (end["over"], end["winners"], end["round"]) == (True, winners, 1)
    assert rewards(env) == [gain, -gain, gain, -gain]
    assert all(env.terminations.values())
    assert not any(env.truncations.values())


def test_episode_round_counts_the_seal_of_the_last_trick():
    hands = [["W2"], ["W7"], ["W3"], ["W7*"]]
    position = _in_play(hands=hands, captured=_spread(hands), tricks=[7, 6], trump="Earth", sealed=[[], []])
    end = play(_env(position, episode="round"), "W2", "W7", "W3", "W7*")
    assert (end["sealed"], end["winners"]) == ([[], ["Wind"]], [1, 3])


def test_max_rounds_truncates_and_nobody_wins():
    env = _env(_last_trick(round=2, sealed=[["Wind"], []]), max_rounds=2)
    end = play(env, "S13", "S12", "S11", "S10")
    assert (end["over"], end["winners"], end["round"]) == (True, [], 2)
    assert all(env.truncations.values())
    assert rewards(env) == [0, 0, 0, 0]


def test_a_win_in_the_last_trick_of_the_last_round_is_a_normal_end():
    hands = [["W2"], ["W7"], ["W3"], ["W7*"]]
    position = _in_play(
        hands=hands, captured=_spread(hands), tricks=[7, 6], trump="Earth", sealed=[[], list(SUITS[1:])]
    )
    env = _env(position, max_rounds=1)
    end = play(env, "W2", "W7", "W3", "W7*")
    assert (end["over"], end["winners"]) == (True, [1, 3])
    assert all(env.terminations.values())


@both_forms
def test_score_rewards_count_a_seal_as_one_point(variant):
    env, _ = _seal_wind(variant, [[], []], reward="score")
    target = 7 if variant == LONG else 4
    assert rewards(env) == pytest.approx([1 / target, -1 / target, 1 / target, -1 / target])


@both_forms
@pytest.mark.parametrize("option", [{"scoring": "basic"}, {"target": 7}, {"target": 4}])
def test_scoring_and_target_have_no_meaning(variant, option):
    with pytest.raises(ValueError, match=next(iter(option))):
        environment(variant=variant, **option)


@both_forms
@pytest.mark.parametrize("players", [2, 3])
def test_it_is_for_four_players(variant, players):
    with pytest.raises(ValueError, match="players"):
        environment(variant=variant, players=players)
