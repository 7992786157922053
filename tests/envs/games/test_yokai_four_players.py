"""Rules of Yokai Septet for four players, each with a position; also the rules of tricks that all variants share."""

import pytest
from monsterzoo.envs import IllegalActionError
from yokai_positions import before_play, environment, in_play, legal, play, rewards, seat_to_act
from yokai_reference import BOSSES, DECK, in_order, suit_of

# --- Preparation of a round ---


def test_cards_are_seven_suits_that_slide_one_rank_up():
    env = environment()
    names = [env.action_name(card) for card in range(49)]
    assert names == list(DECK)
    assert [names[7 * suit] for suit in range(7)] == ["W1", "E2", "C3", "L4", "D5", "F6", "S7"]
    assert (names[0], names[48]) == ("W1", "S13")
    assert env.action_name(49) == "no-op"
    assert in_order(BOSSES & set(names)) == ["W7", "E7", "C7", "L7", "D7", "F7", "S7"]


def test_partners_sit_opposite():
    assert environment().teams == {"team_0": ["player_0", "player_2"], "team_1": ["player_1", "player_3"]}


@pytest.mark.parametrize("seed", range(20))
def test_everybody_is_dealt_twelve_and_the_last_card_sets_trump(seed):
    position = environment(seed=seed).snapshot()
    assert [len(hand) for hand in position["hands"]] == [12] * 4
    cards = [card for hand in position["hands"] for card in hand] + [position["trump_card"]]
    assert in_order(cards) == list(DECK)
    assert position["trump"] == suit_of(position["trump_card"])
    assert (position["phase"], position["round"], position["lead"]) == ("pass", 1, None)
    assert position["to_act"] == [0, 1, 2, 3]


def test_any_card_can_be_the_trump_card_and_any_card_reaches_any_seat():
    env = environment()
    trumps, first_cards = set(), [set(), set(), set(), set()]
    for seed in range(600):
        env.reset(seed=seed)
        trumps.add(env.snapshot()["trump_card"])
        for seat, hand in enumerate(env.snapshot()["hands"]):
            first_cards[seat] |= set(hand)
    assert trumps == set(DECK)
    assert first_cards == [set(DECK)] * 4


def test_a_boss_that_is_the_trump_card_belongs_to_nobody():
    # All six other bosses: three a team; the last trick has none, so nobody reaches four.
    bosses = [["W7", "C7", "L7"], ["D7", "F7", "S7"]]
    position = in_play(
        hands=[["S13"], ["S12"], ["S11"], ["S10"]], trump_card="E7", captured=bosses, tricks=[6, 5], lead=0
    )
    end = play(environment(position, episode="round"), "S13", "S12", "S11", "S10")
    assert end["captured"] == bosses


# --- Passing ---


def _passes(position):
    """The first three cards of each dealt hand."""
    return [hand[:3] for hand in position["hands"]]


def test_three_cards_pass_to_the_partner():
    env = environment(seed=5)
    dealt = env.snapshot()
    chosen = _passes(dealt)
    after = play(env, *(card for cards in chosen for card in cards))
    for seat in range(4):
        kept = [card for card in dealt["hands"][seat] if card not in chosen[seat]]
        assert after["hands"][seat] == in_order(kept + chosen[(seat + 2) % 4])
    assert after["phase"] == "play"
    assert after["passes"] == [[], [], [], []]


def test_passing_is_simultaneous_and_from_the_dealt_hand():
    env = environment(seed=5)
    dealt = env.snapshot()
    chosen = _passes(dealt)
    blank = {agent: env.observe(agent) for agent in env.possible_agents}
    for seat in range(4):
        agent = f"player_{seat}"
        assert seat_to_act(env) == seat
        # Nothing that others have chosen so far shows in what this seat sees or may pass.
        assert legal(env) == set(dealt["hands"][seat])
        assert (env.observe(agent)["observation"] == blank[agent]["observation"]).all()
        for k, card in enumerate(chosen[seat]):
            now = play(env, card)
            if (seat, k) == (3, 2):
                break
            assert now["phase"] == "pass"
            assert now["lead"] is None
            assert now["passes"][seat] == chosen[seat][: k + 1]
            assert now["hands"][seat] == [c for c in dealt["hands"][seat] if c not in chosen[seat][: k + 1]]
            assert now["hands"][seat + 1 :] == dealt["hands"][seat + 1 :]


def test_a_card_cannot_be_passed_twice_and_exactly_three_are_passed():
    env = environment(seed=5)
    hand = env.snapshot()["hands"][0]
    play(env, hand[0])
    with pytest.raises(IllegalActionError, match="does not hold"):
        play(env, hand[0])
    assert seat_to_act(env) == 0
    play(env, hand[1])
    assert seat_to_act(env) == 0
    assert play(env, hand[2])["to_act"] == [1, 2, 3]


def test_bosses_and_the_a_may_be_passed():
    position = before_play(hands=[["W1", "W7", "S7"], [], [], []])
    after = play(environment(position), "W1", "W7", "S7", *(card for hand in _passes(position)[1:] for card in hand))
    assert {"W1", "W7", "S7"} <= set(after["hands"][2])


# --- Who leads ---


def _pass_all(position, first, **options):
    """Everybody passes: seat s the cards `first[s]`, filled up from the end of the hand."""
    env = environment(position, **options)
    for seat, cards in enumerate(first):
        rest = [card for card in reversed(position["hands"][seat]) if card not in cards and card not in ("W1", "S13")]
        play(env, *(cards + rest)[:3])
    return env


@pytest.mark.parametrize("owner", range(4))
def test_first_leader_is_who_was_dealt_the_a_even_when_it_was_passed(owner):
    hands = [[], [], [], []]
    hands[owner] = ["W1"]
    passes = [[], [], [], []]
    passes[owner] = ["W1"]
    env = _pass_all(before_play(hands=hands), passes)
    now = env.snapshot()
    assert "W1" in now["hands"][(owner + 2) % 4]
    assert (now["lead"], now["to_act"]) == (owner, [owner])


@pytest.mark.parametrize("owner", range(4))
def test_first_leader_is_who_holds_the_a_after_passing_with_first_lead_held(owner):
    hands = [[], [], [], []]
    hands[owner] = ["W1"]
    passes = [[], [], [], []]
    passes[owner] = ["W1"]
    now = _pass_all(before_play(hands=hands), passes, first_lead="held").snapshot()
    assert (now["lead"], now["to_act"]) == ((owner + 2) % 4, [(owner + 2) % 4])


@pytest.mark.parametrize("first_lead", ["dealt", "held"])
def test_whoever_keeps_the_a_leads_either_way(first_lead):
    env = _pass_all(before_play(hands=[[], [], [], ["W1"]]), [[], [], [], []], first_lead=first_lead)
    assert env.snapshot()["lead"] == 3


@pytest.mark.parametrize(("first_lead", "leader"), [("dealt", 1), ("held", 3)])
def test_where_the_a_is_the_trump_card_snow_13_leads(first_lead, leader):
    position = before_play(hands=[[], ["S13"], [], []], trump_card="W1")
    env = _pass_all(position, [[], ["S13"], [], []], first_lead=first_lead)
    assert env.snapshot()["lead"] == leader
    assert env.snapshot()["trump"] == "Wind"


def test_until_passing_is_over_nobody_knows_who_leads_round_one():
    env = environment(seed=3)
    while env.snapshot()["phase"] == "pass":
        assert env.snapshot()["lead"] is None
        for agent in env.possible_agents:
            observation = env.observe(agent)["observation"]
            assert not env.observation_layout.read(observation, "lead").any()
            assert not env.observation_layout.read(observation, "shown_by").any()
        play(env, sorted(legal(env))[0])
    assert env.snapshot()["lead"] is not None


@pytest.mark.parametrize("first_lead", ["dealt", "held"])
def test_later_rounds_are_led_by_the_winner_of_the_last_trick(first_lead):
    env = environment(_last_trick(scores=[0, 0]), first_lead=first_lead)
    now = play(env, "S12", "S13", "S11", "S10")
    assert (now["round"], now["phase"], now["lead"], now["to_act"]) == (2, "pass", 1, [0, 1, 2, 3])
    while env.snapshot()["phase"] == "pass":
        play(env, sorted(legal(env))[0])
    assert (env.snapshot()["lead"], env.snapshot()["to_act"]) == (1, [1])
    assert env.snapshot()["shown_by"] is None


# --- Tricks ---


def _tricks_position(hands, trump_card="E3", lead=0, **keys):
    """Few cards are left; bosses that are not in hands are spread over both sides."""
    held = {card for hand in hands for card in hand} | {trump_card}
    left = [card for card in ("W7", "E7", "C7", "L7", "D7", "F7", "S7") if card not in held]
    done = 12 - len(hands[0])
    return in_play(
        hands=hands, trump_card=trump_card, captured=[left[::2], left[1::2]], tricks=[done // 2, done - done // 2],
        lead=lead, **keys
    )  # fmt: skip


HANDS = [["C3", "L8", "W1"], ["C9", "F12", "E2"], ["L4", "L10", "S8"], ["C8", "D5", "E7"]]


def test_the_leader_may_play_any_card():
    assert legal(environment(_tricks_position(HANDS))) == {"C3", "L8", "W1"}


def test_followers_must_follow_the_led_suit():
    env = environment(_tricks_position(HANDS))
    play(env, "C3")
    assert legal(env) == {"C9"}
    with pytest.raises(IllegalActionError, match=r"follow suit \(Charm\)"):
        play(env, "E2")


def test_who_cannot_follow_may_play_anything():
    env = environment(_tricks_position(HANDS))
    play(env, "C3", "C9")
    assert legal(env) == {"L4", "L10", "S8"}


def test_play_goes_clockwise():
    env = environment(_tricks_position(HANDS, lead=3))
    assert play(env, "C8")["to_act"] == [0]
    assert play(env, "C3")["to_act"] == [1]
    assert play(env, "C9")["to_act"] == [2]


def test_the_a_is_a_wind_card_for_following():
    hands = [["W4", "S13"], ["W1", "S12"], ["W2", "S11"], ["S7", "S10"]]
    env = environment(_tricks_position(hands))
    play(env, "W4")
    assert legal(env) == {"W1"}
    env = environment(_tricks_position(hands, lead=1))
    play(env, "W1")
    assert legal(env) == {"W2"}


def _trick(hands, lead, *cards, trump_card="E3"):
    """The winner of one trick, with one card left in every hand afterwards."""
    spare = [["D8"], ["D9"], ["D10"], ["D7"]]
    env = environment(_tricks_position([[*hand, *more] for hand, more in zip(hands, spare)], trump_card, lead))
    now = play(env, *cards)
    assert now["trick"] == []
    assert now["to_act"] == [now["lead"]]
    return now["lead"]


def test_the_highest_card_of_the_led_suit_wins_without_trumps():
    assert _trick([["C3"], ["C9"], ["C8"], ["C4"]], 0, "C3", "C9", "C8", "C4") == 1


def test_higher_cards_of_other_suits_do_not_win():
    assert _trick([["C3"], ["F12"], ["S13"], ["C4"]], 0, "C3", "F12", "S13", "C4") == 3


def test_the_leader_wins_when_nobody_follows_or_trumps():
    assert _trick([["C3"], ["F12"], ["S13"], ["L10"]], 0, "C3", "F12", "S13", "L10") == 0


def test_a_trump_beats_the_led_suit():
    assert _trick([["S13"], ["S12"], ["E2"], ["S11"]], 0, "S13", "S12", "E2", "S11") == 2


def test_the_highest_trump_wins():
    assert _trick([["S13"], ["E4"], ["E2"], ["E8"]], 0, "S13", "E4", "E2", "E8") == 3


def test_the_a_beats_every_trump():
    assert _trick([["S13"], ["E8"], ["W1"], ["E5"]], 0, "S13", "E8", "W1", "E5") == 2


def test_the_a_wins_when_led():
    assert _trick([["W1"], ["W6"], ["E8"], ["W5"]], 0, "W1", "W6", "E8", "W5") == 0


def test_the_a_wins_with_wind_as_trump():
    assert _trick([["W6"], ["W1"], ["W5"], ["W4"]], 0, "W6", "W1", "W5", "W4", trump_card="W2") == 1


def test_the_led_suit_is_that_of_the_leader_not_of_seat_0():
    assert _trick([["C9"], ["C8"], ["L4"], ["C6"]], 2, "L4", "C6", "C9", "C8") == 2


def test_the_winners_team_takes_the_trick_and_its_bosses():
    hands = [["C3", "D8"], ["C9", "D9"], ["C7", "D7"], ["F7", "S7"]]
    now = play(environment(_tricks_position(hands)), "C3", "C9", "C7", "F7")
    before = _tricks_position(hands)
    assert now["captured"][1] == in_order([*before["captured"][1], "C7", "F7"])
    assert now["captured"][0] == before["captured"][0]
    assert now["tricks"] == [before["tricks"][0], before["tricks"][1] + 1]
    assert now["played"][2] == in_order([*before["played"][2], "C7"])
    assert now["scores"] == [0, 0]


# --- End of a round ---


def _last_trick(**keys):
    """Every hand has one Snow card; team 1 has three bosses and needs the fourth, Snow 7 is not among the cards."""
    return in_play(
        hands=[["S12"], ["S13"], ["S11"], ["S10"]], trump_card="S7", captured=[["W7", "E7", "C7"], ["L7", "D7", "F7"]],
        tricks=[6, 5], **keys
    )  # fmt: skip


def test_the_fourth_boss_wins_the_round():
    position = in_play(
        hands=[["S13"], ["S8", "S7"], ["S9"], ["S10"]], captured=[["W7", "L7", "F7"], ["C7", "D7", "E7"]], tricks=[2, 3]
    )
    env = environment(position, episode="round")
    end = play(env, "S13", "S7", "S9", "S10")
    assert end["over"]
    assert end["winners"] == [0, 2]
    assert end["captured"][0] == ["W7", "L7", "F7", "S7"]
    assert end["scores"] == [0 + 1 + 2 + 2, 0]
    assert any(end["hands"])


def test_the_fourth_boss_wins_even_on_the_seventh_trick():
    position = in_play(
        hands=[["S13"], ["S7"], ["S9"], ["S10"]], captured=[["W7", "L7", "F7"], ["C7", "D7", "E7"]], tricks=[6, 5]
    )
    end = play(environment(position, episode="round"), "S13", "S7", "S9", "S10")
    assert end["tricks"] == [7, 5]
    assert end["winners"] == [0, 2]
    assert end["scores"] == [5, 0]


def test_more_than_four_bosses_at_once_win_and_all_count():
    position = in_play(hands=[["S13"], ["S7"], ["F7"], ["D7"]], captured=[["C7", "L7", "W7"], ["E7"]], tricks=[6, 5])
    end = play(environment(position, episode="round"), "S13", "S7", "F7", "D7")
    assert end["scores"] == [1 + 1 + 0 + 2 + 2 + 1, 0]


def test_partners_bosses_and_tricks_count_together():
    position = in_play(
        hands=[["S8"], ["S7"], ["S13"], ["S10"]], captured=[["W7", "L7", "F7"], ["C7", "D7", "E7"]], tricks=[6, 5]
    )
    end = play(environment(position, episode="round"), "S8", "S7", "S13", "S10")  # seat 2 takes it for seat 0 too
    assert end["winners"] == [0, 2]


SEVENTH = {
    "hands": [["S13", "D8", "D9", "D7"], ["S8", "W2", "W3", "F7"], ["S9", "W4", "W5", "W6"], ["S10", "C3", "C4", "C5"]],
    "trump_card": "C9",
    "captured": [["E7", "S7"], ["W7", "L7", "C7"]],
}


def test_seven_tricks_with_three_bosses_lose_the_round():
    env = environment(in_play(**SEVENTH, tricks=[6, 2]), episode="round")
    end = play(env, "S13", "S8", "S9", "S10")
    assert end["tricks"] == [7, 2]
    assert end["winners"] == [1, 3]
    assert end["scores"][0] == 0


def test_six_tricks_do_not_lose_the_round():
    env = environment(in_play(**SEVENTH, tricks=[5, 3]), episode="round")
    now = play(env, "S13", "S8", "S9", "S10")
    assert not now["over"]
    assert now["tricks"] == [6, 3]


def test_after_a_seven_trick_loss_the_other_team_takes_the_bosses_in_all_hands():
    env = environment(in_play(**SEVENTH, tricks=[6, 2]), episode="round")
    end = play(env, "S13", "S8", "S9", "S10")
    # D7 is in a loser's hand, F7 in a winner's: both count.
    assert end["captured"] == [["E7", "S7"], ["W7", "C7", "L7", "D7", "F7"]]


def test_worked_example_seven_trick_loss_scores_4():
    # Captured: Wind 0, Lightning 1, Charm is trump 0; in hands Darkness 1 and Fire 2.
    end = play(environment(in_play(**SEVENTH, tricks=[6, 2])), "S13", "S8", "S9", "S10")
    assert end["scores"] == [0, 4]
    assert end["round"] == 2


def test_worked_example_trump_charm_scores_3():
    position = in_play(
        hands=[["F12"], ["F7"], ["F9"], ["F10"]], trump_card="C3", captured=[["W7", "L7", "C7"], ["E7", "D7", "S7"]],
        tricks=[6, 5],
    )  # fmt: skip
    end = play(environment(position), "F12", "F7", "F9", "F10")
    assert end["scores"] == [0 + 1 + 0 + 2, 0]


def test_what_the_losing_team_captured_scores_for_nobody():
    position = in_play(
        hands=[["W6"], ["W7"], ["S9"], ["W5"]], captured=[["C7", "S7", "F7"], ["L7", "D7", "E7"]], tricks=[5, 6],
        trump_card="E3",
    )  # fmt: skip
    env = environment(position)
    now = play(env, "W6", "W7", "S9", "W5")  # the fourth boss of team 1: Lightning, Darkness, trump Earth, Wind
    assert now["scores"] == [0, 2]


def test_no_cards_left_is_won_by_the_team_of_the_last_trick():
    env = environment(_last_trick(), episode="round")
    end = play(env, "S12", "S13", "S11", "S10")
    assert end["hands"] == [[], [], [], []]
    assert end["tricks"] == [6, 6]
    assert end["winners"] == [1, 3]
    assert end["scores"] == [0, 1 + 1 + 2]


def test_seven_tricks_come_before_no_cards_left():
    position = in_play(
        hands=[["S13"], ["S12"], ["S11"], ["S10"]], trump_card="S7", captured=[["W7", "E7", "C7"], ["L7", "D7", "F7"]],
        tricks=[6, 5],
    )  # fmt: skip
    end = play(environment(position, episode="round"), "S13", "S12", "S11", "S10")
    assert end["winners"] == [1, 3]
    assert end["scores"] == [0, 4]


def test_the_trump_boss_counts_towards_four_but_scores_nothing():
    position = in_play(
        hands=[["F12"], ["F8"], ["F9"], ["F7"]], trump_card="F10", captured=[["W7", "C7", "L7"], ["E7", "D7", "S7"]],
        tricks=[5, 6],
    )  # fmt: skip
    end = play(environment(position, episode="round"), "F12", "F8", "F9", "F7")
    assert end["winners"] == [0, 2]
    assert end["scores"] == [0 + 1 + 1 + 0, 0]


# --- The match ---


def _team_1_scores_4(**keys):
    return _last_trick(**keys), ("S12", "S13", "S11", "S10")


def test_the_match_goes_on_below_seven_tokens():
    position, cards = _team_1_scores_4(scores=[6, 2])
    env = environment(position)
    now = play(env, *cards)
    assert (now["over"], now["round"], now["scores"]) == (False, 2, [6, 6])
    assert now["captured"] == [[], []]
    assert now["tricks"] == [0, 0]
    assert now["played"] == [[], [], [], []]
    assert now["voids"] == [[], [], [], []]
    assert [len(hand) for hand in now["hands"]] == [12] * 4
    assert rewards(env) == [0, 0, 0, 0]


def test_seven_tokens_win_the_match():
    position, cards = _team_1_scores_4(scores=[6, 3])
    env = environment(position)
    now = play(env, *cards)
    assert (now["over"], now["winners"], now["scores"], now["to_act"]) == (True, [1, 3], [6, 7], [])
    assert now["round"] == 1
    assert rewards(env) == [-1, 1, -1, 1]
    assert all(env.terminations.values())
    assert not any(env.truncations.values())


def test_more_than_seven_tokens_win_too():
    position, cards = _team_1_scores_4(scores=[6, 6])
    assert play(environment(position), *cards)["scores"] == [6, 10]


@pytest.mark.parametrize(("target", "over"), [(4, True), (5, False)])
def test_target_is_an_option(target, over):
    position, cards = _team_1_scores_4()
    assert play(environment(position, target=target), *cards)["over"] == over


def test_basic_scoring_gives_one_point_a_round_and_two_win():
    position, cards = _team_1_scores_4()
    now = play(environment(position, scoring="basic"), *cards)
    assert (now["scores"], now["over"]) == ([0, 1], False)
    position, cards = _team_1_scores_4(scores=[1, 1])
    now = play(environment(position, scoring="basic"), *cards)
    assert (now["scores"], now["over"], now["winners"]) == ([1, 2], True, [1, 3])


def test_basic_scoring_after_a_seven_trick_loss():
    now = play(environment(in_play(**SEVENTH, tricks=[6, 2]), scoring="basic"), "S13", "S8", "S9", "S10")
    assert now["scores"] == [0, 1]


def test_basic_scoring_with_a_target():
    position, cards = _team_1_scores_4(scores=[1, 1])
    assert not play(environment(position, scoring="basic", target=3), *cards)["over"]


def test_episode_round_ends_after_one_round_with_the_rounds_winners():
    position, cards = _team_1_scores_4()
    env = environment(position, episode="round")
    end = play(env, *cards)
    assert (end["over"], end["winners"]) == (True, [1, 3])
    assert rewards(env) == [-1, 1, -1, 1]
    assert all(env.terminations.values())


def test_max_rounds_truncates_without_a_winner_and_without_a_new_deal():
    position, cards = _team_1_scores_4(round=3)
    env = environment(position, max_rounds=3)
    end = play(env, *cards)
    assert (end["over"], end["winners"], end["to_act"], end["round"]) == (True, [], [], 3)
    assert end["scores"] == [0, 4]
    assert end["hands"] == [[], [], [], []]
    assert rewards(env) == [0, 0, 0, 0]
    assert all(env.truncations.values())
    assert not any(env.terminations.values())


def test_a_round_before_max_rounds_goes_on():
    position, cards = _team_1_scores_4(round=2)
    assert play(environment(position, max_rounds=3), *cards)["round"] == 3


def test_a_win_in_the_last_round_is_a_normal_end():
    position, cards = _team_1_scores_4(round=3, scores=[0, 3])
    env = environment(position, max_rounds=3)
    end = play(env, *cards)
    assert (end["over"], end["winners"]) == (True, [1, 3])
    assert all(env.terminations.values())
    assert not any(env.truncations.values())


def test_score_rewards_are_the_difference_of_tokens_over_the_target():
    position, cards = _team_1_scores_4()
    env = environment(position, reward="score")
    for card in cards[:3]:
        play(env, card)
        assert rewards(env) == [0, 0, 0, 0]
    play(env, cards[3])
    assert rewards(env) == pytest.approx([-4 / 7, 4 / 7, -4 / 7, 4 / 7])
