"""Every rule of thumb of the heuristics in a position in which it decides, and the numbers behind it.

Views are made by hand; called from Python, compiled functions run their Python source.
"""

import zlib
from random import Random

import numpy as np
import pytest
from monsterzoo.envs.bite_night import rules as bite_rules
from monsterzoo.envs.bite_night.view import VIEW as BITE_VIEW
from monsterzoo.envs.pikit import rules as pikit_rules
from monsterzoo.envs.pikit.view import VIEW as PIKIT_VIEW
from monsterzoo.envs.yokai_septet import rules
from monsterzoo.envs.yokai_septet.view import VIEW
from monsterzoo.policies.heuristics import advise_views, bite_night, pikit, sole, yokai_septet


def made(record, **fields):
    view = np.zeros(1, record)
    for name, value in fields.items():
        view[name][0] = value
    return view[0]


def bits(*members):
    return np.uint64(sum(1 << int(member) for member in members))


# --- Yokai Septet: cards are 7 * suit + place, ranks suit + 1 … suit + 7 ---


def card(suit, place):
    return 7 * suit + place


def boss(suit):
    return card(suit, 6 - suit)


def yokai(players=4, **fields):
    sides = 2 if players == 4 else players
    usual = {"phase": rules.PLAY, "trump": 6, "trick": rules.NONE, "straw_up": rules.NONE, "straw_down": rules.NONE}
    usual |= {"deck": bits(*range(rules.CARDS_WITH_FOILS if fields.get("variant") else rules.CARDS))}
    usual |= {"bosses_to_win": 3 if players == 3 else 4, "tricks_to_lose": 13 if players == 2 else 7}
    usual |= {"round_tricks": {2: 23, 3: 16, 4: 12}[players]}
    return made(VIEW, players=players, sides=sides, **{**usual, **fields})


A_THIRD = 7 / 20  # of the unknown cards lies in each other hand of four players


def test_the_chance_that_a_seat_beats_a_card():
    led, trumps = [card(2, k) for k in range(7)], [card(6, k) for k in range(7)]
    view, stronger = yokai(), bits(*led[4:], *trumps)
    unknown = bits(*led[:2], *led[4:], *trumps[:2])

    def chance(view=view, unknown=unknown, seat=1):
        return yokai_septet.chance_to_beat(view, seat, stronger, 2, unknown, 7)

    missing = 1 - A_THIRD
    by_suit, by_trump = 1 - missing**3, missing**5 * (1 - missing**2)
    assert chance() == pytest.approx(by_suit + by_trump)
    assert chance(yokai(void=[0, 1 << 2, 0, 0])) == pytest.approx(1 - missing**2)  # trumps only
    assert chance(yokai(void=[0, 0, 1 << 2, 0])) == pytest.approx(by_suit + by_trump)  # another seat is void
    partner = yokai(sent=bits(led[5]))
    assert chance(partner, seat=2) == 1  # we gave it the card
    assert chance(partner, seat=1) == pytest.approx(by_suit + by_trump)
    follows = yokai(sent=bits(led[0]))  # it must follow with a card that does not beat: no trump
    assert chance(follows, seat=2) == pytest.approx(by_suit)


def test_two_players_know_the_open_straw_cards_of_the_other():
    view = yokai(2, bare=[bits(3), bits(9)])
    assert yokai_septet.known_in_hand(view, 1) == bits(9)
    seen = yokai(
        2,
        bare=[bits(3), bits(9)],
        hand=bits(5),
        trump_card=bits(6),
        discard=bits(7),
        played=[bits(8), bits(10), 0, 0],
    )
    assert yokai_septet.unknown_cards(seen) == bits(*range(rules.CARDS)) & ~bits(3, 9, 5, 6, 7, 8, 10)


def test_the_share_of_unknown_cards_in_another_hand():
    assert [yokai_septet.share_of_hand(yokai(players), 30) for players in (3, 4)] == [10, 7]
    up = np.full((2, rules.UP), rules.NONE)
    up[1, :2] = 20, 21
    view = yokai(2, straw_left=[0, 0b111], straw_up=up, played=[0, bits(1, 2, 3), 0, 0])
    # 10 + 13 cards, of which 3 were played and 5 lie in the straw: 15 of 31 unknown ones and the trump card.
    assert yokai_septet.share_of_hand(view, 31) == 20 * 15 // 32
    assert yokai_septet.share_of_hand(view, 5) == 20  # all of them


def test_the_receivers_of_passed_cards_in_seven_suitors_take_turns():
    for passed, receiver in ((0, 1), (1, 2), (2, 3)):
        sent_to = [bits(k) if k < passed else 0 for k in range(3)]
        view = yokai(variant=rules.SUITORS, phase=rules.PASS, sent_to=sent_to)
        assert yokai_septet.next_receiver(view) == receiver


def test_low_cards_go_to_the_other_side_and_high_ones_to_the_partner():
    hand = bits(card(3, 0), card(3, 5))
    to_foe = yokai(variant=rules.SUITORS, phase=rules.PASS, hand=hand, trump=rules.NONE)
    to_partner = yokai(variant=rules.SUITORS, phase=rules.PASS, hand=hand, trump=rules.NONE, sent_to=[bits(40), 0, 0])
    assert yokai_septet.best_action(to_foe, np.array([hand, 0], np.uint64)) == card(3, 0)
    assert yokai_septet.best_action(to_partner, np.array([hand, 0], np.uint64)) == card(3, 5)


@pytest.mark.parametrize(
    ("hand", "given"),
    [
        ((card(1, 1), card(1, 2), card(2, 1)), card(2, 1)),  # from the short suit
        ((card(6, 1), card(1, 2)), card(1, 2)),  # no trump
        ((boss(1), card(2, 5)), card(2, 5)),  # no boss
        ((rules.THE_A, card(1, 1)), card(1, 1)),  # not the A
        ((card(1, 1), card(2, 4)), card(1, 1)),  # a low one
    ],
)
def test_what_four_players_pass(hand, given):
    view = yokai(phase=rules.PASS, hand=bits(*hand))
    assert yokai_septet.best_action(view, np.array([bits(*hand), 0], np.uint64)) == given


def test_two_players_do_not_exchange_and_keep_the_old_card_up():
    view = yokai(2, phase=rules.EXCHANGING)
    assert yokai_septet.best_action(view, np.array([bits(rules.NO_EXCHANGE, rules.NO_EXCHANGE - 1), 0], np.uint64)) == (
        rules.NO_EXCHANGE
    )
    assert (
        yokai_septet.best_action(yokai(2, phase=rules.KEEP), np.array([bits(rules.KEEP_OLD), 0], np.uint64))
        == rules.KEEP_OLD
    )


def test_the_best_card_of_a_trick_so_far():
    trick = [rules.NONE, card(2, 3), card(2, 5), card(2, 4)]
    seat, stronger, on_table = yokai_septet.trick_so_far(yokai(lead=1, trick=trick))
    assert (seat, on_table) == (2, bits(*trick[1:]))
    assert stronger == bits(card(2, 6), rules.THE_A, *(card(6, k) for k in range(7)), rules.CARDS + 6) | (
        bits(rules.CARDS + 2) if rules.RANK_OF[card(2, 5)] < 7 else bits()
    )
    trumped = [rules.NONE, card(2, 6), card(6, 0), card(2, 5)]
    assert yokai_septet.trick_so_far(yokai(lead=1, trick=trumped))[0] == 2
    assert yokai_septet.trick_so_far(yokai(lead=0))[0] == 0


def test_who_plays_after_us():
    for lead, later in ((0, 3), (1, 0), (2, 1), (3, 2)):
        assert yokai_septet.players_to_come(yokai(lead=lead)) == later


def test_the_chance_to_win_a_trick():
    led, unknown = 2, bits(*(card(2, k) for k in range(4, 7)))
    stronger = unknown
    beats = 1 - (1 - A_THIRD) ** 3  # nobody has trumps

    def chance(lead, ours, eagerness=1.0, players=4, share=7):
        view = yokai(players, lead=lead)
        return yokai_septet.chance_to_win(view, stronger, led, ours, unknown, share, eagerness)

    assert chance(1, True) == 1  # the last one
    assert chance(2, True) == pytest.approx(1 - beats)
    assert chance(3, True) == pytest.approx(1 - beats)  # the partner, who comes second, does not beat us
    assert chance(0, True) == pytest.approx((1 - beats) ** 2)
    assert chance(0, True, 0.5) == pytest.approx((1 - beats / 2) ** 2)
    assert (chance(0, True, 0.0), chance(0, False, 0.0)) == (1, 0)
    assert (chance(1, False), chance(2, False)) == (0, 0)
    assert chance(3, False) == pytest.approx(beats)  # the partner may
    assert chance(3, False, 0.5) == pytest.approx(beats / 2)
    assert chance(0, False, players=3) == 0


def test_the_rival_of_three_is_whose_card_is_best_else_who_has_most_bosses():
    assert [yokai_septet.rival(yokai(players), 3) for players in (2, 4)] == [1, 1]
    assert [yokai_septet.rival(yokai(3, captured=[7, 1, 2]), best) for best in (1, 2, 0)] == [1, 2, 1]
    assert yokai_septet.rival(yokai(3, captured=[0, 1, 6]), 0) == 2


def test_what_a_boss_is_worth():
    base = yokai(trump=5)
    assert yokai_septet.worth_of_boss(base, 0, boss(6)) == pytest.approx(1 + 2 * 0.21)
    assert yokai_septet.worth_of_boss(base, 0, boss(5)) == 1  # trumps have no stars

    def suitors(ours=0, theirs=0, we=0, they=0, variant=rules.SUITORS):
        view = yokai(variant=variant, captured=[ours, theirs, 0], sealed=[we, they, 0])
        return yokai_septet.worth_of_boss(view, 3, boss(2))

    twin, sealed = 1 << 9, 1 << 2
    assert suitors() == suitors(ours=1 << 10, theirs=1 << 8) == 1
    assert suitors(ours=twin) == suitors(theirs=twin) == 1  # seals for us, and denies no seal; the reverse
    assert suitors(ours=twin, they=sealed) == 1
    assert suitors(we=sealed) == suitors(they=sealed) == 0.5
    assert suitors(we=sealed, theirs=twin) == 1
    assert suitors(they=sealed, theirs=twin) == 0
    assert suitors(we=sealed, variant=rules.SUITORS_SHORT) == suitors(they=sealed, variant=rules.SUITORS_SHORT) == 0


def test_a_trick_that_ends_the_round_outweighs_everything():
    def worth(bosses=0, captured=0, tricks=0, side=0, **more):
        view = yokai(captured=[captured, 0, 0], tricks=[tricks, 0, 0], **more)
        return yokai_septet.worth_of_trick(view, 0, side, 2.0, bosses)

    assert worth(tricks=2) == pytest.approx(2 - 0.22 - 2 * 0.09)
    assert worth(tricks=2, side=1) == pytest.approx(2 - 0.22)
    assert worth(bosses=2, captured=0b11) == yokai_septet.WINNING
    assert worth(bosses=1, captured=0b11) == pytest.approx(2 - 0.22)
    assert worth(tricks=6) == yokai_septet.LOSING
    assert worth(tricks=5) == pytest.approx(2 - 0.22 - 5 * 0.09)
    assert worth(bosses=2, captured=0b11, tricks=6) == yokai_septet.WINNING
    assert worth(tricks=6, variant=rules.SUITORS) > 0


def test_what_it_costs_to_play_a_card():
    view = yokai(trump=4)
    assert yokai_septet.worth_in_hand(view, 0, rules.THE_A) == 0.5
    assert yokai_septet.worth_in_hand(view, 0, card(4, 3)) == pytest.approx(3 * 0.04)
    assert yokai_septet.worth_in_hand(view, 0, boss(4)) == pytest.approx(0.53 + 2 * 0.04)
    assert yokai_septet.worth_in_hand(view, 0, card(1, 3)) == pytest.approx(-3 * 0.03)


def best_card(view, *cards):
    return yokai_septet.best_card(view, bits(*cards))


def test_the_last_player_takes_a_boss_and_leaves_an_empty_trick():
    low, high = card(5, 0), card(5, 6)
    hand = bits(low, high)
    with_boss = yokai(lead=1, trick=[rules.NONE, boss(5), card(5, 2), card(5, 3)], hand=hand)
    empty = yokai(lead=1, trick=[rules.NONE, card(5, 4), card(5, 2), card(5, 3)], hand=hand)
    assert best_card(with_boss, low, high) == high
    assert best_card(empty, low, high) == low
    about_to_win = yokai(lead=1, trick=with_boss.trick, hand=hand, captured=[0, 0b1110000000, 0])
    assert best_card(about_to_win, low, high) == high


def test_a_boss_goes_to_the_partner_and_not_to_the_others():
    other = card(3, 0)
    for winner, chosen in ((2, boss(3)), (1, other), (3, other)):
        trick = np.array([rules.NONE, card(4, 1), card(4, 1), card(4, 1)])
        trick[1:] = card(4, 0), card(4, 1), card(4, 2)
        trick[winner] = card(4, 6)
        view = yokai(lead=1, trick=trick, hand=bits(other, boss(3)))
        assert best_card(view, other, boss(3)) == chosen, winner


def test_four_players_lead_from_a_short_suit():
    hand = bits(card(3, 0), card(3, 1), card(3, 2), card(4, 0))
    view = yokai(lead=0, hand=hand, trump=6)
    assert rules.SUIT_OF[best_card(view, card(3, 0), card(3, 1), card(3, 2), card(4, 0))] == 4


def test_leads_hunt_for_bosses_that_may_fall_where_we_win():
    gone = [card(6, k) for k in range(7)]  # no trumps are left, nor the A
    view = yokai(lead=0, hand=bits(card(3, 6), card(4, 6)), played=[0, bits(rules.THE_A, *gone, boss(3)), 0, 0])
    assert best_card(view, card(3, 6), card(4, 6)) == card(4, 6)
    view.hand |= bits(card(4, 5))  # though the suit is longer
    assert best_card(view, card(3, 6), card(4, 6)) == card(4, 6)
    view.played[1] = bits(rules.THE_A, *gone, boss(4))
    assert best_card(view, card(3, 6), card(4, 6)) == card(3, 6)


def test_others_are_after_bosses_so_none_is_played_before_a_rival_who_may_beat_it():
    view = yokai(lead=2, trick=[rules.NONE, rules.NONE, card(3, 0), card(3, 1)], hand=bits(boss(3), card(1, 0)))
    assert best_card(view, boss(3), card(1, 0)) == card(1, 0)


# --- Pikit: a bag has a byte for every value ---


def bag(*values):
    words = [0, 0]
    for value in values:
        words[value >> 3] += 1 << 8 * (value & 7)
    return words


def table(players=2, **fields):
    usual = {"faces": 6, "low": 1, "high": 2, "mechas_on_table": 0b1111110, "pending_victim": rules.NONE}
    bags = {key: bag(*fields.pop(key)) for key in ("hand", "centre", "unseen") if key in fields}
    known = [bag(*values) for values in fields.pop("known", [()] * 4)]
    return made(PIKIT_VIEW, players=players, sides=players, known=known, **{**usual, **bags, **fields})


def prices(view, one=4):
    return pikit.price_list(view, one)


def test_what_a_1_is_worth():
    for own, theirs, bonus in ((0, 0, 6), (1, 1, 6), (0, 1, 6), (0, 2, 3), (1, 0, 3)):
        view = table(hand=(1,) * own, known=[(), (1,) * theirs, (), ()])
        assert pikit.worth_of_one(view) == 1 + bonus
    assert pikit.worth_of_one(table(hand=(1, 1), known=[(1, 1), (), (), ()])) == 1 + 3  # we are ahead already


def test_what_a_roll_brings():
    view = table(centre=(1, 2, 3, 5, 8, 8, 11))
    worth = pikit.worth_of_roll
    assert worth(view, prices(view), 2, 3) == 5  # both, or the sum
    assert worth(view, prices(view), 1, 2) == 4 + 2
    assert worth(view, prices(view), 5, 6) == 11  # the sum
    assert worth(view, prices(view), 2, 6) == 16  # all 8s
    assert worth(view, prices(view), 1, 6) == 5  # the difference
    assert worth(view, prices(view), 4, 6) == 2
    taken = table(centre=(3, 3, 2), mechas_on_table=0, mechas=[0b1111110, 0, 0, 0])
    assert worth(taken, prices(taken), 3, 3) == 6
    assert worth(taken, prices(taken), 2, 2) == 2
    assert worth(taken, prices(taken), 1, 1) == 2
    assert worth(view, prices(view), 3, 3) == pikit_rules.MECHA_POINTS
    theirs = table(centre=(3,), mechas_on_table=0, mechas=[0, 0b1111110, 0, 0])
    assert worth(theirs, prices(theirs), 3, 3) == pikit.worth_of_theft(theirs, 1) == pytest.approx(15 + 15)
    on_turn = table(centre=(3,), mechas_on_table=0, mechas=[0, 0b1111110, 0, 0], turn_player=1)
    assert worth(on_turn, prices(on_turn), 3, 3) == 3


def test_what_a_theft_brings_and_costs_the_victim():
    view = table(3, unseen=(4, 6), known=[(), (3, 7), (), ()], unknown=[0, 1, 0, 0], mechas=[0, 2, 0, 0])
    loss = 15 + 5 + 10  # a mecha, an unknown card, a 3 and a 7
    assert pikit.worth_of_theft(view, 1) == pytest.approx((loss - 6 + loss / 2) / 4)
    view.scores[2] = 1  # the victim does not lead any more
    assert pikit.worth_of_theft(view, 1) == pytest.approx((loss - 6 + loss / 4) / 4)


def test_what_effects_bring():
    view = table(low=2, high=6, centre=(8, 11, 5), unseen=(4, 5), known=[(), (9,), (), ()])
    listed = prices(view)

    def worth(effect):
        return pikit.worth_of_effect(view, effect, listed)

    def roll(one, other):
        return pikit.worth_of_roll(view, listed, one, other)

    with_high, with_low = (np.mean([roll(face, die) for face in range(1, 7)]) for die in (6, 2))
    assert with_high != with_low
    assert worth(pikit_rules.REROLL) == pytest.approx(with_high)
    assert worth(pikit_rules.REROLL + 1) == pytest.approx(with_low)
    both = np.mean([roll(one, other) for one in range(1, 7) for other in range(1, 7)])
    assert worth(pikit_rules.REROLL + 2) == pytest.approx(both)
    assert worth(pikit_rules.DRAW) == 4.5
    assert worth(pikit_rules.STEAL) == pytest.approx(18)
    assert worth(pikit_rules.TURN + 4) == roll(5, 6) == 11
    assert worth(pikit_rules.TURN + 1) == roll(2, 6) == 8
    assert pikit.average_unseen(table(unseen=(6,))) == 6
    assert pikit.average_unseen(table()) == 0
    assert worth(pikit_rules.TURN + 6 + 2) == roll(2, 3) == 5


def test_dice_are_changed_by_rolling_and_turning_alone():
    effects = [*range(3), *range(pikit_rules.TURN, pikit_rules.EFFECTS)]
    assert [e for e in range(pikit_rules.EFFECTS) if pikit.changes_dice(e)] == effects


def legal(*actions):
    words = [0, 0]
    for action in actions:
        words[action >> 6] |= 1 << (action & 63)
    return np.array(words, np.uint64)


def test_the_best_thing_is_taken():
    view = table(phase=pikit_rules.TAKE, low=2, high=3, centre=(1, 2, 3, 5))
    options = [pikit_rules.TAKE_LOW, pikit_rules.TAKE_HIGH, pikit_rules.TAKE_NOTHING]
    best = pikit.best_action
    assert best(view, legal(*options)) == pikit_rules.TAKE_HIGH
    assert best(view, legal(*options, pikit_rules.TAKE_BOTH)) == pikit_rules.TAKE_BOTH
    assert best(view, legal(*options, pikit_rules.TAKE_SUM)) == pikit_rules.TAKE_SUM
    assert best(view, legal(*options, pikit_rules.TAKE_DIFFERENCE)) == pikit_rules.TAKE_DIFFERENCE  # a 1, for the bonus
    assert best(view, legal(*options, pikit_rules.TAKE_SUM, pikit_rules.TAKE_MECHA)) == pikit_rules.TAKE_MECHA
    assert best(table(phase=pikit_rules.TAKE), legal(pikit_rules.TAKE_NOTHING)) == pikit_rules.TAKE_NOTHING
    theft = table(phase=pikit_rules.TAKE, low=2, high=2, centre=(2,), mechas_on_table=0, mechas=[0, 4, 0, 0])
    options = [pikit_rules.TAKE_LOW, pikit_rules.STEAL_MECHA]
    assert best(theft, legal(*options)) == pikit_rules.STEAL_MECHA


def test_a_discard_must_bring_more_than_its_card():
    end, turn, reroll = pikit_rules.END_DISCARDS, pikit_rules.TURN + 4, pikit_rules.REROLL
    worth_it = table(low=1, high=6, centre=(11,), hand=(7,))
    assert pikit.best_action(worth_it, legal(end, turn)) == turn  # 5 and 6: 11 for a 7
    not_worth_it = table(low=1, high=6, centre=(7, 11), hand=(7,))
    assert pikit.best_action(not_worth_it, legal(end, turn)) == end  # 7 is there already
    nothing_there = table(low=1, high=6, centre=(8, 9, 10, 11), hand=(2,))
    assert pikit.best_action(nothing_there, legal(end, reroll)) == reroll
    assert pikit.best_action(table(low=4, high=6, centre=(8, 9, 10, 11), hand=(2,)), legal(end, reroll)) == end


def test_a_card_is_drawn_if_the_average_one_is_worth_more_than_the_effort():
    end, draw = pikit_rules.END_DISCARDS, pikit_rules.DRAW
    assert pikit.best_action(table(hand=(5,), unseen=(5, 6, 6, 6, 6)), legal(end, draw)) == draw
    assert pikit.best_action(table(hand=(5,), unseen=(5, 5, 6, 6, 6)), legal(end, draw)) == end


def test_the_cheapest_wild_card_is_played_where_it_pays():
    end, turn = pikit_rules.END_DISCARDS, pikit_rules.TURN + 4
    for wild in (9, 10, 11):
        view = table(low=1, high=6, centre=(11, 8, 8), hand=(wild,))
        to_eights = pikit_rules.TURN + 1  # 2 and 6
        by_wild = [effect + 20 * (wild - 8) for effect in (turn, to_eights)]
        assert pikit.cheapest_wild(view) == wild
        assert pikit.best_action(view, legal(end, *by_wild)) == by_wild[1]
    assert pikit.cheapest_wild(table(hand=(10, 9))) == 9
    assert pikit.cheapest_wild(table(hand=(8,))) == rules.NONE


def reaction(effect, turn_player=1, cancels=(0, 0, 0, 0), players=2, cancel=7, **fields):
    view = table(
        players, phase=pikit_rules.REACT, pending_effect=effect, turn_player=turn_player, cancels=cancels, **fields
    )
    return pikit.best_action(view, legal(cancel, pikit_rules.ACCEPT))  # by a 6


def test_effects_that_do_more_harm_than_a_card_is_worth_are_cancelled():
    turn, accept = pikit_rules.TURN + 4, pikit_rules.ACCEPT
    harm = {"low": 1, "high": 6, "centre": (11,)}
    assert reaction(turn, **harm) == 7
    assert reaction(turn, low=1, high=6, centre=(5, 11)) == accept  # 5 is there already
    assert reaction(turn, cancels=(0, 1, 0, 0), **harm) == accept  # somebody has cancelled it
    assert reaction(turn, cancels=(1, 1, 0, 0), **harm) == 7
    assert reaction(turn, turn_player=0, **harm) == accept  # our own
    assert reaction(turn, turn_player=0, cancels=(0, 1, 0, 0), **harm) == 7  # is defended
    assert reaction(turn, players=3, **harm) == accept  # two share the harm
    theft = {"known": [(11,), (), (), ()], "mechas": [2, 0, 0, 0]}
    assert reaction(pikit_rules.STEAL, pending_victim=0, **theft) == 7
    assert reaction(pikit_rules.STEAL + 1, players=3, pending_victim=0, **theft) == 7
    assert reaction(pikit_rules.STEAL, pending_victim=0, cancel=67, **theft) == 67  # by an 11
    rich = {"known": [(), (), (11,), ()], "mechas": [0, 0, 14, 0]}
    assert reaction(pikit_rules.STEAL, players=3, pending_victim=2, **rich) == accept  # it hurts another player


# --- Bite Night: tile 10 * colour + 2 * picture (+ 1) ---


def tile(colour, picture, copy=0):
    return 10 * colour + 2 * picture + copy


def night(**fields):
    usual = {"players": 3, "sides": 3, "phase": bite_rules.GRAB, "pile": rules.NONE, "pile_seats": rules.NONE}
    return made(BITE_VIEW, **{**usual, "round_number": 1, **fields})


def laid(*cards, seat=0):
    pile, seats = np.full(bite_rules.MAX_PILE, rules.NONE), np.full(bite_rules.MAX_PILE, rules.NONE)
    pile[: len(cards)], seats[: len(cards)] = cards, seat
    return {"pile": pile, "pile_seats": seats}


def test_cards_pay_surely_when_laid_likely_when_held():
    sure = bite_night.sureness
    assert [
        sure(3, bits(3), bits()),
        sure(3, bits(3), bits(3)),
        sure(3, bits(), bits(3)),
        sure(3, bits(4), bits()),
    ] == [
        100,
        100,
        35,
        25,
    ]
    view = night(**laid(4, 5, 6), resolved=1)
    assert bite_night.cards_to_come(view) == bits(5, 6)
    assert bite_night.cards_to_come(night(**laid(4, 5, seat=1))) == 0


def grab(own, *choice, phase=bite_rules.GRAB, **fields):
    view = night(tiles=[bits(*own), 0, 0, 0], phase=phase, **fields)
    return bite_night.best_tile(view, bits(*choice))


def test_tiles_are_grabbed_for_the_cards_that_we_have_laid():
    first, second = tile(0, 1), tile(4, 3)
    assert grab((), first, second, **laid(bite_rules.PICTURE_CARD + 3)) == second
    assert grab((), first, second, **laid(bite_rules.COLOUR_CARD + 4)) == second
    assert grab((), first, second, hand=bits(bite_rules.COLOUR_CARD + 4)) == second
    assert grab((), first, second) == first
    pair = (tile(4, 3, 1), tile(0, 2))
    assert grab(pair, first, second, **laid(bite_rules.PAIR + 3)) == second
    couple = bite_rules.COMBINATION + bite_rules.COUPLES.index((2, 3))
    assert grab((tile(4, 2),), tile(0, 3), tile(4, 3), **laid(couple)) == tile(4, 3)


def test_a_new_kind_is_better_than_a_known_one_and_best_near_the_bonus():
    picture = laid(bite_rules.PICTURE_CARD)
    own = [tile(colour, 0) for colour in (0, 1)]
    assert grab(own, tile(0, 0, 1), tile(2, 0), **picture) == tile(2, 0)
    assert bite_night.KIND_ADDS[0, :4].tolist() == [18, 18, 18, 30]
    assert set(bite_night.KIND_ADDS[1]) == {10}


def test_the_scarce_colour_makes_a_set_and_is_not_buried():
    own = [tile(colour, 2) for colour in (0, 1, 2, 3)]
    card = laid(bite_rules.COLOUR_SET)
    assert bite_night.decisive_tiles(bits(*own), False) == bite_rules.COLOUR_TILES[4]
    assert bite_night.decisive_tiles(bits(*own[:3]), False) == 0  # two colours are missing
    assert grab(own, tile(0, 1), tile(4, 1), **card) == tile(4, 1)
    full = [*own, tile(4, 2), tile(0, 4)]
    assert grab(full, tile(0, 4), tile(4, 2), phase=bite_rules.BURY, **card) == tile(0, 4)


def test_what_is_worth_the_least_is_buried():
    own = (tile(0, 1), tile(4, 3))
    assert grab(own, *own, phase=bite_rules.BURY, **laid(bite_rules.PICTURE_CARD + 1)) == tile(4, 3)
    assert grab(own, *own, phase=bite_rules.BURY, **laid(bite_rules.PICTURE_CARD + 3)) == tile(0, 1)


def test_tiles_are_read_from_the_legal_actions_of_every_phase():
    for advanced, designs in ((0, bite_rules.BASIC_DESIGNS), (1, bite_rules.DESIGNS)):
        for phase in (bite_rules.GRAB, bite_rules.BURY, bite_rules.RAISE):
            start = designs + bite_rules.TILES * (phase - bite_rules.GRAB)
            words = np.zeros(4, np.uint64)
            for one in (start, start + 49):
                words[one >> 6] |= np.uint64(1 << (one & 63))
            assert bite_night.tiles_from(words, start) == bits(0, 49)
            view = night(advanced=advanced, phase=phase, **laid(bite_rules.COLOUR_CARD + 4))
            buried = phase == bite_rules.BURY
            assert bite_night.best_action(view, words) == (start if buried else start + 49)


def test_what_a_tile_adds():
    """In thousandths: 18, a new kind, or 10 by a quarter each for its picture and colour, 30 a pair, 40 a couple."""
    mine, mate, second = tile(1, 2), tile(1, 1), tile(1, 3)
    couple, other = (bits(bite_rules.COMBINATION + bite_rules.COUPLES.index(pair)) for pair in ((1, 2), (2, 3)))

    def worth(*others, laid=0, hand=0):
        return bite_night.worth_of_tile(mine, bits(*others), np.uint64(laid), np.uint64(hand))

    new = 18 * 25 * 2
    assert worth() == new
    assert worth(laid=bits(bite_rules.PICTURE_CARD + 2)) == 18 * 100 + 18 * 25
    assert worth(laid=bits(bite_rules.COLOUR_CARD + 1)) == 18 * 100 + 18 * 25
    assert worth(hand=bits(bite_rules.COLOUR_CARD + 1)) == 18 * 35 + 18 * 25
    assert worth(tile(1, 2, 1)) == 10 * 25 * 2 + 30 * 25
    assert worth(tile(1, 2, 1), laid=bits(bite_rules.PAIR + 2)) == 10 * 25 * 2 + 30 * 100
    assert worth(tile(2, 1)) == new  # of another colour
    assert worth(mate) == new + 40 * 25
    assert worth(mate, hand=couple) == new + 40 * 35
    assert worth(mate, laid=couple) == new + 40 * 100
    assert worth(mate, second, hand=couple) == new + 40 * (35 + 25)
    assert worth(mate, second, hand=couple | other) == new + 40 * (35 + 35)
    assert worth(mate, second, laid=couple, hand=other) == new + 40 * (100 + 35)
    assert worth(mate, tile(1, 2, 1)) == 10 * 25 * 2 + 30 * 25  # they are a couple already
    assert worth(mate, tile(1, 1, 1), tile(1, 2, 1)) == 10 * 25 * 2 + 30 * 25 + 40 * 25


def test_what_others_gain_counts_against_a_card():
    equal = [tile(c, p) for c in (0, 1) for p in (0, 1)]
    cards = bits(bite_rules.PICTURE_CARD, bite_rules.PICTURE_CARD + 1)
    for picture, chosen in ((0, 1), (1, 0)):
        theirs = bits(*(tile(c, picture) for c in (2, 3)))
        view = night(phase=bite_rules.LAY, tiles=[bits(*equal), 0, theirs, 0], round_number=5)
        assert bite_night.best_action(view, np.array([cards])) == bite_rules.PICTURE_CARD + chosen


def test_the_others_count_by_their_average():
    garlic = [tile(c, bite_rules.GARLIC, k) for c in range(4) for k in (0, 1)]
    tiles = [bits(*garlic[:2]), bits(*garlic[2:5]), bits(*garlic[5:7]), 0]
    view = night(phase=bite_rules.LAY, tiles=tiles, round_number=5, advanced=1)
    cards = bits(bite_rules.SKIP_TWO, bite_rules.SOUP)  # 6 points for us, 9 and 6 for the others
    assert bite_night.best_action(view, np.array([cards, 0], np.uint64)) == bite_rules.SKIP_TWO


def test_promises_are_whole_in_the_first_round():
    theirs = [bits(tile(0, 0), tile(1, 0)), bits(tile(2, 0), tile(3, 0))]
    cards = bits(bite_rules.COMBINATION + 9, bite_rules.GRAVEYARD_ANY)  # 3.5 to come; 4 buried points, less 1
    for number, chosen in ((1, bite_rules.COMBINATION + 9), (3, bite_rules.GRAVEYARD_ANY)):
        view = night(phase=bite_rules.LAY, tiles=[0, *theirs, 0], round_number=number)
        assert bite_night.best_action(view, np.array([cards, 0], np.uint64)) == chosen


def test_a_card_that_steals_is_laid_against_a_heart_in_reach():
    vampire, maid = tile(0, bite_rules.VAMPIRE), tile(0, bite_rules.MAIDEN)
    cards = bits(bite_rules.SKIP_TWO, bite_rules.BITE)
    fields = {"phase": bite_rules.LAY, "round_number": 5, "hearts": bits(vampire, maid), "advanced": 1}
    view = night(tiles=[bits(vampire), bits(maid), 0, 0], **fields)
    assert bite_night.best_action(view, np.array([cards])) == bite_rules.BITE
    assert bite_night.best_action(night(**fields), np.array([cards])) == bite_rules.SKIP_TWO


def test_the_card_with_the_largest_lead_is_laid():
    pictures = [bits(*(tile(c, p) for c in range(5))) for p in (0, 1)]
    view = night(phase=bite_rules.LAY, tiles=[pictures[1], pictures[0], 0, 0], round_number=5)
    cards = (bite_rules.PICTURE_CARD, bite_rules.PICTURE_CARD + 1)
    assert bite_night.best_action(view, np.array([bits(*cards)])) == cards[1]
    view.tiles[0], view.tiles[1] = view.tiles[1], view.tiles[0]
    assert bite_night.best_action(view, np.array([bits(*cards)])) == cards[0]


def test_promises_count_as_long_as_there_are_few_tiles():
    cards = (bite_rules.PAIR, bite_rules.COMBINATION)
    assert bite_night.best_action(night(phase=bite_rules.LAY), np.array([bits(*cards)])) == cards[1]
    have = bits(tile(0, 0), tile(0, 0, 1))
    late = night(phase=bite_rules.LAY, tiles=[have, 0, 0, 0], round_number=5)
    assert bite_night.best_action(late, np.array([bits(*cards)])) == cards[0]


def test_what_cards_do_to_the_owner_of_tiles():
    def effect(card, tiles, others=(), hearts=()):
        return bite_night.effect(card, bits(*tiles), bits(*tiles, *others), bits(*hearts))

    vampires = [tile(c, bite_rules.VAMPIRE) for c in range(3)]
    garlic = tile(0, bite_rules.GARLIC)
    assert effect(bite_rules.GRAVEYARD_ANY, vampires) == -4  # two at most
    assert effect(bite_rules.GRAVEYARD_ANY, vampires[:1]) == -2
    assert effect(bite_rules.GRAVEYARD + bite_rules.VAMPIRE, vampires[:1]) == -2
    assert effect(bite_rules.SOUP, [garlic, *vampires]) == 3
    assert effect(bite_rules.BANISHMENT, vampires) == 0
    assert effect(bite_rules.BANISHMENT, [garlic, *vampires]) == -6
    assert effect(bite_rules.SKIP_TWO, vampires, [garlic]) == 0
    maid = tile(0, bite_rules.MAIDEN)
    assert effect(bite_rules.BITE, vampires, [maid], hearts=(vampires[0], maid)) == 3
    assert effect(bite_rules.BITE, [maid], vampires, hearts=(vampires[0], maid)) == -3
    assert effect(bite_rules.BITE, [maid], vampires) == 0


# --- Numbers and rules of thumb that few positions turn on ---


def test_what_it_costs_to_play_a_card_with_other_numbers_of_players():
    two, suitors = yokai(2, trump=4), yokai(variant=rules.SUITORS, trump=rules.NONE)
    assert yokai_septet.worth_in_hand(two, 2, card(4, 0)) == 0.9  # its lowest card is a trump too
    assert yokai_septet.worth_in_hand(two, 2, card(4, 6)) == pytest.approx(0.9 - 6 * 0.1)
    assert yokai_septet.worth_in_hand(two, 2, card(3, 6)) == pytest.approx(-6 * 0.02)
    assert yokai_septet.worth_in_hand(suitors, 3, boss(4)) == pytest.approx(-0.13 + 2 * 0.01)
    assert yokai_septet.worth_in_hand(yokai(3, trump=4), 1, boss(4)) == pytest.approx(0.08 + 0.06 + 2 * 0.12)


def test_stronger_cards_are_higher_ones_of_the_suit_and_the_a():
    assert yokai_septet.STRONGER[rules.THE_A] == 0
    assert yokai_septet.STRONGER[card(0, 5)] == bits(rules.THE_A, card(0, 6), rules.CARDS)  # 6: the 7 and its twin
    assert yokai_septet.STRONGER[card(2, 4)] == bits(rules.THE_A, card(2, 5), card(2, 6))
    assert yokai_septet.STRONGER[card(2, 6)] == bits(rules.THE_A)
    assert yokai_septet.LOSING < -5 < 5 < yokai_septet.WINNING


def test_the_share_of_unknown_cards_is_rounded_down_and_the_trump_card_counts_as_one():
    up = np.full((2, rules.UP), rules.NONE)
    up[1, :2] = 20, 21
    view = yokai(2, straw_left=[0, 0b111], straw_up=up, played=[0, bits(1, 2, 3), 0, 0])  # 15 cards in the hand
    assert [yokai_septet.share_of_hand(view, unknown) for unknown in (26, 27, 28, 29, 30)] == [11, 10, 10, 10, 9]
    everything_played = yokai(2, straw_left=[0, 0b111], straw_up=up, played=[0, (1 << 23) - 1, 0, 0])
    assert yokai_septet.share_of_hand(everything_played, 30) == 0


def test_of_two_rivals_the_one_with_more_bosses_takes_a_trick_whatever_we_have():
    for ours in (0, 0b1110000):
        assert [yokai_septet.rival(yokai(3, captured=[ours, one, other]), 0) for one, other in ((3, 4), (1, 6))] == [
            1,
            2,
        ]


def test_bite_nights_promises():
    """What may be collected for is promised, most where two kinds of tiles count; graveyards cost."""
    design = bite_rules
    promised = {design.COLOUR_SET: 2.0, **dict.fromkeys(range(1, 11), 3.0), **dict.fromkeys(range(11, 16), 1.5)}
    promised |= {**dict.fromkeys(range(16, 26), 3.5), **dict.fromkeys(range(26, 32), -1.0)}
    assert {card: value for card, value in enumerate(bite_night.PROMISE.tolist()) if value} == promised


def test_couples_of_every_set_of_combination_cards():
    for picture, mate in bite_rules.COUPLES:
        cards = bits(bite_rules.COMBINATION + bite_rules.COUPLES.index((picture, mate)))
        wanted = bits(10 * picture + 2 * mate, 10 * mate + 2 * picture)
        assert bite_night.coupled(cards) == wanted
        assert bite_night.coupled(cards | bits(bite_rules.COMBINATION - 1, bite_rules.GRAVEYARD)) == wanted
    assert bite_night.COUPLED[-1] == sum(int(bite_night.COUPLED[1 << k]) for k in range(len(bite_rules.COUPLES)))


def test_colours_that_are_scarce():
    two_each = [tile(colour, picture) for colour in range(5) for picture in (0, 1)]
    for colour in range(5):
        own = bits(*(one for one in two_each if one != tile(colour, 0)))
        assert (
            bite_night.decisive_tiles(own, False)
            == bite_night.decisive_tiles(own, True)
            == (bite_rules.COLOUR_TILES[colour])
        )
    level = bits(*two_each)
    assert bite_night.decisive_tiles(level, False) == 0
    assert bite_night.decisive_tiles(level, True) == bite_rules.ALL_TILES  # any one that is buried costs a set


def test_of_two_options_of_a_roll_the_dearer_one_is_taken_whichever_die_it_is():
    low, high, nothing = pikit_rules.TAKE_LOW, pikit_rules.TAKE_HIGH, pikit_rules.TAKE_NOTHING
    ones = table(phase=pikit_rules.TAKE, low=1, high=2, centre=(1, 2))  # a 1 may bring the bonus
    assert pikit.best_action(ones, legal(low, high, nothing)) == low
    level = table(phase=pikit_rules.TAKE, low=1, high=4, centre=(1, 4), known=[(), (1, 1), (), ()])  # 4 points each
    assert pikit.worth_of_one(level) == 4
    assert pikit.best_action(level, legal(low, high, nothing)) == low  # of equal ones the first
    assert pikit.best_action(level, legal(high, nothing)) == high
    gone = table(phase=pikit_rules.TAKE, low=1, high=4, centre=(), known=[(), (), (), ()])
    assert pikit.best_action(gone, legal(low, high, nothing)) == nothing


def test_a_mecha_is_stolen_as_long_as_the_theft_brings_anything():
    """Of a mecha and n 3s: 15 + 3 n points, half as many again for the loss of who does not lead, less 6 n."""
    for threes, chosen in ((14, pikit_rules.STEAL_MECHA), (15, pikit_rules.TAKE_NOTHING)):
        known = [(), (3,) * threes, (), ()]
        fields = {"mechas_on_table": 0, "mechas": [0, 4, 0, 0], "known": known, "scores": [1, 0, 0, 0]}
        view = table(phase=pikit_rules.TAKE, low=2, high=2, **fields)
        assert pikit.worth_of_theft(view, 1) == pytest.approx((22.5 - 1.5 * threes) / (threes + 1))
        assert pikit.best_action(view, legal(pikit_rules.STEAL_MECHA, pikit_rules.TAKE_NOTHING)) == chosen


def test_the_only_member_of_a_set_of_several_words():
    for one in (0, 1, 63, 64, 127, 130, 191):
        words = np.zeros(3, np.uint64)
        words[one >> 6] = 1 << (one & 63)
        assert sole(words) == one
        for other in {0, 62, 65, 128, 191} - {one}:
            both = words.copy()
            both[other >> 6] |= np.uint64(1 << (other & 63))
            assert sole(both) == -1, (one, other)


def test_advice_for_rows_and_the_first_row_whose_mask_forbids_it():
    views = np.zeros(4, PIKIT_VIEW)
    views[:] = table(phase=pikit_rules.TAKE, low=2, high=3, centre=(2, 3))
    masks, choices = np.zeros((4, pikit_rules.ACTIONS), np.int8), np.full(4, -9)
    low, high, both, nothing = (
        pikit_rules.TAKE_LOW, pikit_rules.TAKE_HIGH, pikit_rules.TAKE_BOTH, pikit_rules.TAKE_NOTHING
    )  # fmt: skip
    for row, allowed in enumerate(([high, both, nothing], [low, high, nothing], [low, nothing], [nothing])):
        masks[row, allowed] = 1

    def wrong():
        plain = getattr(advise_views, "py_func", advise_views)
        return plain(views.view(np.recarray), masks, np.zeros(2, np.uint64), choices)

    assert wrong() == -1
    assert choices.tolist() == [both, high, low, nothing]
    views["phase"][1:3] = pikit_rules.DISCARD  # no discard is possible: the discards end, which the masks forbid
    assert wrong() == 1
    masks[1, pikit_rules.END_DISCARDS] = 1
    assert wrong() == 2


# --- Choices in many positions, so that no weight changes unnoticed ---


def drawn_yokai(random, players, variant=rules.BASE, phase=rules.PLAY):
    """A view with cards dealt at random, as may come up during a trick, and the hand."""
    count = rules.CARDS if variant == rules.BASE else rules.CARDS_WITH_FOILS
    likely = random.sample([rules.THE_A, *(boss(suit) for suit in range(7))], 2)  # much depends on these
    cards = sorted(random.sample(range(count), count), key=lambda one: random.random() < 0.5 if one in likely else 1)
    hand, played, trick = cards[:6], cards[6 : 6 + 2 * players], [rules.NONE] * 4
    lead = random.randrange(players) if phase == rules.PLAY else rules.NONE
    for seat in range(max(lead, 1), players) if lead > 0 else ():
        trick[seat] = played[seat]
    bosses = random.getrandbits(14 if variant else 7)
    ours = bosses & random.getrandbits(14)
    fields = {
        "hand": bits(*hand), "trick": trick, "lead": lead, "trump": random.randrange(-1 if variant else 0, 7),
        "played": [bits(*(played[seat::players] if lead >= 0 and seat < players else ())) for seat in range(4)],
        "void": [0, *(random.getrandbits(7) & random.getrandbits(7) for _ in range(3))],
        "captured": [ours, bosses & ~ours, 0], "tricks": [random.randrange(6), random.randrange(6), 0],
    }  # fmt: skip
    if players > 2 and variant == rules.BASE:
        fields["sent"] = bits(*cards[-3:])
    elif variant:
        fields["sent_to"] = [bits(cards[-k]) if random.random() < 0.6 else 0 for k in (1, 2, 3)]
        fields["sealed"] = [
            random.getrandbits(7) & random.getrandbits(7),
            random.getrandbits(7) & random.getrandbits(7),
            0,
        ]
    else:
        fields |= {"bare": [bits(cards[-1]), bits(*cards[-5:-1])], "trump_card": bits(cards[-6])}
        fields["straw_left"] = [0, random.getrandbits(7)]
    legal_cards = bits(*random.sample(hand, random.randint(2, 6)))
    return yokai(players, variant=variant, phase=phase, **fields), np.array([legal_cards, 0], np.uint64)


def drawn_pikit(random, phase):
    """A view of three players, and the legal actions."""
    low, high = sorted((random.randint(1, 6), random.randint(1, 6)))
    holders = [random.randrange(5) for _ in range(7)]  # of mechas: seats, or nobody
    known = [random.choices(range(1, 12), k=random.randrange(5)) for _ in range(3)] + [[]]
    fields = {
        "low": low, "high": high, "known": known, "hand": known[0] + random.choices(range(1, 12), k=3),
        "centre": random.choices(range(1, 12), k=6), "unseen": random.choices(range(1, 12), k=9),
        "unknown": [0, random.randrange(3), random.randrange(3), 0], "scores": random.choices(range(9), k=4),
        "mechas": [sum(1 << face for face in range(1, 7) if holders[face] == seat) for seat in range(3)] + [0],
        "mechas_on_table": sum(1 << face for face in range(1, 7) if holders[face] > 2),
    }  # fmt: skip
    if phase == pikit_rules.TAKE:
        double = holders[low] if low == high else rules.NONE
        options = [pikit_rules.TAKE_SUM, pikit_rules.TAKE_DIFFERENCE, pikit_rules.TAKE_LOW, pikit_rules.TAKE_HIGH]
        options = [*random.sample([*options, pikit_rules.TAKE_BOTH], 3), pikit_rules.TAKE_NOTHING]
        options += [pikit_rules.TAKE_MECHA] if double > 2 else [pikit_rules.STEAL_MECHA] if double in (1, 2) else []
    elif phase == pikit_rules.REACT:
        effect = random.choice([e for e in range(pikit_rules.EFFECTS) if e != pikit_rules.CANCEL])
        steals = pikit_rules.STEAL <= effect < pikit_rules.STEAL + 2
        fields |= {"turn_player": random.randrange(3), "cancels": [*random.choices(range(2), k=3), 0]}
        fields |= {"pending_effect": effect, "pending_victim": random.randrange(3) if steals else rules.NONE}
        options = [random.choice([7, 27, 47, 67]), pikit_rules.ACCEPT]
    else:
        usable = [a for a in range(pikit_rules.END_DISCARDS) if pikit_rules.CARD_OF[a] in fields["hand"]]
        dear = {pikit_rules.CANCEL, pikit_rules.STEAL + 2}
        options = [a for a in usable if a % pikit_rules.EFFECTS not in dear] + [pikit_rules.END_DISCARDS]
    return table(3, phase=phase, **fields), legal(*options)


def drawn_night(random, phase):
    """A view of three players, and the legal actions."""
    tiles = random.sample(range(bite_rules.TILES), 27)
    cards = random.sample(range(bite_rules.DESIGNS), 12)
    own = tiles[:9]
    view = night(
        phase=phase, advanced=1, round_number=random.randint(1, 5), hand=bits(*cards[:6]), resolved=random.randrange(3),
        tiles=[bits(*own), bits(*tiles[9:16]), bits(*tiles[16:22]), 0], hearts=np.uint64(random.getrandbits(50)),
        **laid(*cards[6:], seat=np.array([random.randrange(3) for _ in cards[6:]])),
    )  # fmt: skip
    if phase == bite_rules.LAY:
        return view, np.array([bits(*cards[:6]), 0], np.uint64)
    start = bite_rules.DESIGNS + bite_rules.TILES * (phase - bite_rules.GRAB)
    words = np.zeros(4, np.uint64)
    for one in own if phase == bite_rules.BURY else tiles[22:]:
        words[(start + one) >> 6] |= np.uint64(1 << (start + one & 63))
    return view, words


def digest_of(heuristic, draw, *settings, phases, count=300):
    """Of the choices; if they change on purpose, so does the number that a test expects."""
    random = Random(5)
    found = [int(heuristic.best_action(*draw(random, *settings, phase=phases[k % len(phases)]))) for k in range(count)]
    return zlib.crc32(np.array(found, "<i2").tobytes())


@pytest.mark.parametrize(
    ("players", "variant", "wanted"),
    [
        (4, rules.BASE, 2054768382),
        (3, rules.BASE, 490887068),
        (2, rules.BASE, 1141220422),
        (4, rules.SUITORS, 3716393583),
    ],
    ids=["four", "three", "two", "suitors"],
)
def test_yokais_choices_in_many_positions(players, variant, wanted):
    phases = (rules.PLAY, rules.PLAY, rules.DISCARD if players == 2 else rules.PASS)
    assert digest_of(yokai_septet, drawn_yokai, players, variant, phases=phases) == wanted


def test_pikits_choices_in_many_positions():
    phases = (pikit_rules.DISCARD, pikit_rules.DISCARD, pikit_rules.REACT, pikit_rules.TAKE)
    assert digest_of(pikit, drawn_pikit, phases=phases) == 3739741780


def test_bite_nights_choices_in_many_positions():
    phases = (bite_rules.LAY, bite_rules.LAY, bite_rules.GRAB, bite_rules.BURY)
    assert digest_of(bite_night, drawn_night, phases=phases) == 4264508078


def test_yokais_weights_are_those_of_the_published_results():
    weights = [value for value in vars(yokai_septet).values() if np.shape(value) == (4,) and value.dtype == float]
    assert len(weights) == 18
    assert zlib.crc32(np.round(np.stack(weights) * 100).astype("<i8").tobytes()) == 2781098339
