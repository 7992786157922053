"""Rules of Yokai Septet for three players, each with a position."""

import pytest
from yokai_positions import before_play, environment, in_play, legal, play, rewards
from yokai_reference import DECK, in_order

# --- Preparation ---


@pytest.mark.parametrize("seed", range(10))
def test_everybody_is_dealt_sixteen_and_one_card_sets_trump(seed):
    position = environment(seed=seed, players=3).snapshot()
    assert [len(hand) for hand in position["hands"]] == [16] * 3
    cards = [card for hand in position["hands"] for card in hand] + [position["trump_card"]]
    assert in_order(cards) == list(DECK)


def test_everybody_plays_alone():
    env = environment(players=3)
    assert env.teams == {"team_0": ["player_0"], "team_1": ["player_1"], "team_2": ["player_2"]}
    now = env.snapshot()
    assert (now["scores"], now["tricks"], now["captured"]) == ([0, 0, 0], [0, 0, 0], [[], [], []])


def test_three_cards_pass_to_the_left_neighbour():
    env = environment(seed=2, players=3)
    dealt = env.snapshot()["hands"]
    chosen = [hand[:3] for hand in dealt]
    for seat in range(3):
        assert legal(env) == set(dealt[seat])
        play(env, *chosen[seat])
    after = env.snapshot()
    for seat in range(3):
        assert after["hands"][seat] == in_order([*dealt[seat][3:], *chosen[(seat - 1) % 3]])


@pytest.mark.parametrize(("first_lead", "leader"), [("dealt", 2), ("held", 0)])
def test_the_a_passed_to_the_left_leads_by_the_option(first_lead, leader):
    position = before_play(3, hands=[[], [], ["W1"]])
    env = environment(position, players=3, first_lead=first_lead)
    for seat in range(3):
        play(env, *(["W1"] if seat == 2 else []), *position["hands"][seat][-3:][: 2 if seat == 2 else 3])
    assert "W1" in env.snapshot()["hands"][0]
    assert env.snapshot()["lead"] == leader


def test_where_the_a_is_the_trump_card_snow_13_leads():
    position = before_play(3, hands=[[], ["S13"], []], trump_card="W1")
    env = environment(position, players=3)
    for hand in position["hands"]:
        play(env, *hand[-3:])
    assert env.snapshot()["lead"] == 1


# --- End of a round ---


def _finish(position, *cards, **options):
    env = environment(position, players=3, **options)
    return env, play(env, *cards)


def test_the_third_boss_wins_the_round():
    position = in_play(
        3, hands=[["S13"], ["S7"], ["S10"]], captured=[["L7", "F7"], ["C7", "D7"], ["E7", "W7"]], tricks=[5, 5, 5]
    )
    env, end = _finish(position, "S13", "S7", "S10", episode="round")
    assert end["winners"] == [0]
    assert end["captured"][0] == ["L7", "F7", "S7"]
    assert rewards(env) == pytest.approx([1, -0.5, -0.5])


def test_a_sole_winner_scores_white_and_black_stars():
    # Lightning 1 + 1, Fire 2 + 1, Snow 2 + 1; trump is Earth
    position = in_play(
        3, hands=[["S13"], ["S7"], ["S10"]], captured=[["L7", "F7"], ["C7", "D7"], ["E7", "W7"]], tricks=[5, 5, 5]
    )
    _, now = _finish(position, "S13", "S7", "S10", target=50)
    assert now["scores"] == [8, 0, 0]


@pytest.mark.parametrize(
    ("boss", "stars"), [("W7", 0), ("E7", 1), ("C7", 1), ("L7", 2), ("D7", 2), ("F7", 3), ("S7", 3)]
)
def test_each_boss_is_worth_its_white_and_black_stars(boss, stars):
    """The third boss of seat 0 beside two of known worth; the trump card is another suit's 2 … 13."""
    known = {"W7": 0, "E7": 1} if boss not in ("W7", "E7") else {"L7": 2, "D7": 2}
    rest = [b for b in ("W7", "E7", "C7", "L7", "D7", "F7", "S7") if b != boss and b not in known]
    trump_card = {"C": "S8", "S": "C8"}.get(boss[0], "C8")
    top = {"W": "W1", "E": "E8", "C": "C9", "L": "L10", "D": "D11", "F": "F12", "S": "S13"}[boss[0]]
    low = {"W": "W2", "E": "E2", "C": "C3", "L": "L4", "D": "D5", "F": "F6", "S": "S9"}[boss[0]]
    position = in_play(
        3, hands=[[top, rest[0]], [boss, "W4"], [low, "W3"]], captured=[list(known), rest[1:3], rest[3:]],
        tricks=[5, 5, 4], trump_card=trump_card,
    )  # fmt: skip
    _, now = _finish(position, top, boss, low, target=50)
    assert now["scores"] == [stars + sum(known.values()), 0, 0]


def test_the_trump_boss_scores_nothing():
    position = in_play(
        3, hands=[["S13"], ["S7"], ["S10"]], captured=[["L7", "F7"], ["C7", "D7"], ["E7", "W7"]], tricks=[5, 5, 5],
        trump_card="F8",
    )  # fmt: skip
    _, now = _finish(position, "S13", "S7", "S10", target=50)
    assert now["scores"] == [2 + 0 + 3, 0, 0]


def test_bosses_left_in_hands_are_not_taken_by_a_sole_winner():
    position = in_play(
        3, hands=[["S13", "W7"], ["S7", "E7"], ["S10", "D7"]], captured=[["L7", "F7"], ["C7"], []], tricks=[5, 5, 4]
    )
    _, end = _finish(position, "S13", "S7", "S10", episode="round")
    assert end["captured"] == [["L7", "F7", "S7"], ["C7"], []]
    assert end["scores"] == [8, 0, 0]


def _seven_tricks(loser, scores):
    """Seat `loser` is about to take its seventh trick with one boss."""
    tricks = [3, 3, 3]
    tricks[loser] = 6
    captured = [["W7"], ["E7"], ["C7"]]
    suits = [["S13", "D7", "D9", "D10"], ["S8", "F7", "F9", "F10"], ["S9", "L7", "S7", "L10"]]
    hands = [suits[(seat - loser) % 3] for seat in range(3)]
    position = in_play(3, hands=hands, captured=captured, tricks=tricks, lead=loser, scores=scores)
    return position, ("S13", "S8", "S9")


@pytest.mark.parametrize("loser", range(3))
def test_seven_tricks_with_two_bosses_lose_and_both_others_win(loser):
    position, cards = _seven_tricks(loser, [0, 0, 0])
    env, end = _finish(position, *cards, episode="round")
    others = [seat for seat in range(3) if seat != loser]
    assert end["winners"] == others
    assert end["scores"] == [0 if seat == loser else 3 for seat in range(3)]
    assert end["captured"] == position["captured"]  # bosses left in hands stay there
    assert rewards(env) == pytest.approx([-0.5 if seat == loser else 0.25 for seat in range(3)])


def test_both_others_take_three_tokens_whatever_their_bosses():
    position, cards = _seven_tricks(0, [1, 2, 3])
    _, now = _finish(position, *cards)
    assert now["scores"] == [1, 5, 6]
    assert (now["round"], now["over"]) == (2, False)


def test_after_a_seven_trick_loss_the_loser_leads_the_next_round():
    position, cards = _seven_tricks(1, [0, 0, 0])
    _, now = _finish(position, *cards)
    assert (now["phase"], now["lead"]) == ("pass", 1)


def test_the_third_boss_wins_even_on_the_seventh_trick():
    position = in_play(
        3, hands=[["S13"], ["S7"], ["S10"]], captured=[["L7", "F7"], ["C7", "D7"], ["E7", "W7"]], tricks=[6, 5, 4]
    )
    _, end = _finish(position, "S13", "S7", "S10", episode="round")
    assert (end["winners"], end["tricks"]) == ([0], [7, 5, 4])


def test_two_bosses_do_not_win():
    position = in_play(
        3,
        hands=[["S13", "L10"], ["S7", "L7"], ["S10", "E7"]],
        captured=[["F7"], ["C7", "D7"], ["W7"]],
        tricks=[5, 5, 4],
    )
    _, now = _finish(position, "S13", "S7", "S10", episode="round")
    assert not now["over"]


def test_no_cards_left_is_won_by_the_last_tricks_winner():
    position = in_play(
        3, hands=[["S12"], ["S13"], ["S10"]], trump_card="S7", captured=[["W7", "E7"], ["C7", "D7"], ["L7", "F7"]],
        tricks=[5, 5, 5],
    )  # fmt: skip
    _, end = _finish(position, "S12", "S13", "S10", episode="round")
    assert end["winners"] == [1]
    assert end["scores"] == [0, 1 + 0 + 1 + 1, 0]


# --- The match ---


@pytest.mark.parametrize(
    ("loser", "scores", "winner"),
    [
        (0, [0, 4, 4], 1),  # tied: the first clockwise after the loser
        (1, [4, 0, 4], 2),
        (2, [4, 4, 0], 0),
        (0, [6, 4, 4], 1),
        (2, [5, 5, 6], 0),
        (0, [0, 4, 5], 2),  # not tied: most tokens
        (1, [5, 0, 4], 0),
        (2, [4, 5, 0], 1),
        (0, [6, 6, 0], 1),  # one alone reaches seven
        (0, [0, 3, 4], 2),
    ],
)
def test_most_tokens_win_and_a_tie_goes_clockwise_after_the_seven_trick_loser(loser, scores, winner):
    position, cards = _seven_tricks(loser, scores)
    env, end = _finish(position, *cards)
    assert end["over"]
    assert end["winners"] == [winner]
    assert rewards(env) == pytest.approx([1 if seat == winner else -0.5 for seat in range(3)])


def test_the_loser_with_six_tokens_does_not_win():
    position, cards = _seven_tricks(0, [6, 3, 3])
    _, now = _finish(position, *cards)
    assert (now["over"], now["scores"]) == (False, [6, 6, 6])


def test_basic_scoring_gives_each_winner_a_point():
    position, cards = _seven_tricks(0, [0, 0, 0])
    _, now = _finish(position, *cards, scoring="basic")
    assert (now["scores"], now["over"]) == ([0, 1, 1], False)


@pytest.mark.parametrize(("loser", "winner"), [(0, 1), (1, 2), (2, 0)])
def test_basic_scoring_has_the_same_tie_break(loser, winner):
    position, cards = _seven_tricks(loser, [1, 1, 1])
    _, now = _finish(position, *cards, scoring="basic")
    assert (now["over"], now["winners"]) == (True, [winner])


def test_basic_scoring_of_a_sole_winner():
    position = in_play(
        3, hands=[["S13"], ["S7"], ["S10"]], captured=[["L7", "F7"], ["C7", "D7"], ["E7", "W7"]], tricks=[5, 5, 5],
        scores=[0, 1, 1],
    )  # fmt: skip
    _, now = _finish(position, "S13", "S7", "S10", scoring="basic")
    assert (now["scores"], now["over"]) == ([1, 1, 1], False)


def test_score_rewards_compare_with_the_mean_of_the_others():
    position, cards = _seven_tricks(0, [0, 0, 0])
    env, _ = _finish(position, *cards, reward="score")
    assert rewards(env) == pytest.approx([-3 / 7, 1.5 / 7, 1.5 / 7])


def test_max_rounds_truncates_and_a_win_in_the_last_round_is_a_normal_end():
    position, cards = _seven_tricks(0, [0, 0, 0])
    env, end = _finish({**position, "round": 2}, *cards, max_rounds=2)
    assert (end["over"], end["winners"]) == (True, [])
    assert all(env.truncations.values())
    position, cards = _seven_tricks(0, [0, 4, 0])
    env, end = _finish({**position, "round": 2}, *cards, max_rounds=2)
    assert (end["over"], end["winners"]) == (True, [1])
    assert all(env.terminations.values())
