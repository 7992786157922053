"""Imagined worlds of Yokai Septet: possible, equal in all a seat knows, uniform over what it cannot tell apart.

A world is the cards of every place and every hidden choice, the cards that others passed to each other included.
"""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from frequencies import assert_as_expected
from monsterzoo.envs import make_vec, variant
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.yokai_septet.text import PHASES
from yokai_positions import ALL_BOSSES, LEADS, SCHEMA, before_play, environment, in_play, label
from yokai_reference import BOSSES, NUMBER, suit_of

GAME = "yokai_septet_v0"
EXTRAS = ("shown_by", "voids", "sent", "keeps", "bare", "shown_by")

# --- Every world is possible and looks the same ---


def _same_for(seat, truth, world):
    """Everything the seat knows of a world is as in the truth; what it cannot know is consistent with that."""
    players = len(truth["hands"])
    public = (
        "phase",
        "round",
        "to_act",
        "trump",
        "trump_card",
        "lead",
        "trick",
        "played",
        "captured",
        "tricks",
        "scores",
    )
    for key in (*public, "sealed", "voids", "shown_by", "bare", "over", "options"):
        assert world[key] == truth[key], key
    for key in ("hands", "passes", "discards", "exchanges", "keeps"):
        if truth[key] is not None:
            assert world[key][seat] == truth[key][seat], key
    suitors = truth["sealed"] is not None
    for other in range(players):
        assert len(world["hands"][other]) == len(truth["hands"][other])
        assert len(world["passes"][other]) == len(truth["passes"][other])
        assert not {suit_of(card) for card in world["hands"][other]} & set(truth["voids"][other])
    if players == 2:
        _same_straw(seat, truth, world)
        return
    if truth["phase"] == "pass":
        return
    # Cards the seat passed are where they went; cards it received came from where they came.
    for giver in range(players):
        for k, card in enumerate(world["sent"][giver]):
            taker = (giver + 1 + k) % 4 if suitors else (giver + 2) % 4 if players == 4 else (giver + 1) % 3
            assert card in world["hands"][taker] + world["played"][taker]
            if seat in (giver, taker):
                assert card == truth["sent"][giver][k]
    if truth["shown_by"] is None:
        return
    shown = "S13" if truth["trump_card"] == "W1" else "W1"
    owner = next(s for s in range(players) if shown in world["hands"][s] + world["played"][s])
    if truth["options"]["first_lead"] == "held":
        assert owner == truth["shown_by"]
    elif owner == truth["shown_by"]:
        assert not any(shown in cards for cards in world["sent"])
    else:
        assert shown in world["sent"][truth["shown_by"]]


def _same_straw(seat, truth, world):
    for owner in range(2):
        before, after = truth["straw"][owner], world["straw"][owner]
        assert after["up"] == before["up"]
        assert [card is None for card in after["down"]] == [card is None for card in before["down"]]
        choice, known = truth["exchanges"][owner], []
        if choice not in (None, "no exchange") and truth["phase"] in ("keep", "play"):
            known = [int(choice.split()[1]) + (choice.split()[2] == "right")]
        for place in range(7):
            if place in known or before["down"][place] in truth["bare"][owner]:
                assert after["down"][place] == before["down"][place]
        for key in ("discards", "exchanges", "keeps"):
            assert (world[key][owner] is None) == (truth[key][owner] is None)
        assert world["discards"][owner] not in BOSSES
    if truth["phase"] != "exchange":
        assert world["exchanges"] == truth["exchanges"]
    if truth["phase"] != "keep":
        assert world["keeps"] == truth["keeps"]


def _check(game, states, index, world, stream):
    """One imagined world for each seat of a state."""
    truth = game.snapshot(states[index])
    for seat in range(game.players):
        imagine(world, states[index : index + 1], seat, stream)
        assert game.observation(world, 0, seat).tobytes() == game.observation(states, index, seat).tobytes()
        assert game.legal_actions(world, 0, seat).tobytes() == game.legal_actions(states, index, seat).tobytes()
        imagined = game.snapshot(world[0])
        _same_for(seat, truth, imagined)
        back = game.load(imagined, 0)  # the loader's own checks of a position
        assert game.snapshot(back[0]) == imagined


@pytest.mark.parametrize("options", LEADS, ids=label)
def test_worlds_are_possible_and_look_the_same_in_all_phases(options):
    vec = make_vec(GAME, num_envs=16, seed=11, **options)
    world = vec.variant.new_states(1)
    stream = streams(5, 1, "search")[0]
    phases = set()
    pick = np.random.default_rng(1)
    for _ in range(90):
        index = int(pick.integers(16))
        keeping = np.flatnonzero(vec.states["phase"] == PHASES.index("keep"))
        if len(keeping):
            index = int(keeping[0])  # the rarest one
        phases.add(vec.variant.snapshot(vec.states[index])["phase"])
        _check(vec.variant, vec.states, index, world, stream)
        vec.step(vec.sample_actions())
    assert phases == ({"discard", "exchange", "keep", "play"} if options["players"] == 2 else {"pass", "play"})


@pytest.mark.parametrize("options", LEADS, ids=label)
def test_worlds_keep_the_observation_over_many_states(options):
    """Fewer checks, far more states: mid-passing, mid-exchange, with many voids and few cards."""
    vec = make_vec(GAME, num_envs=64, seed=12, **options)
    world = vec.variant.new_states(1)
    stream = streams(6, 1, "search")[0]
    for _ in range(70):
        vec.step(vec.sample_actions())
        for index in range(0, 64, 8):
            seat = int(vec.seats[index])
            imagine(world, vec.states[index : index + 1], seat, stream)
            assert vec.variant.observation(world, 0, seat).tobytes() == vec.observations[index].tobytes()
            assert vec.variant.legal_actions(world, 0, seat).tobytes() == vec.action_masks[index].tobytes()


@pytest.mark.parametrize("options", LEADS, ids=label)
def test_worlds_of_positions_in_which_nothing_was_learned(options):
    """A position loaded without sent cards, voids and so on, or with only some of that: unknown stays unknown."""
    vec = make_vec(GAME, num_envs=12, seed=13, **options)
    game = vec.variant
    world = game.new_states(1)
    stream = streams(7, 1, "search")[0]
    for step in range(60):
        vec.step(vec.sample_actions())
        position = game.snapshot(vec.states[step % 12])
        known = EXTRAS[step % 6 : step % 6 + step % 3]
        states = game.load({key: position[key] for key in (*SCHEMA, *known)}, 1)
        for seat in range(game.players):
            imagine(world, states, seat, stream)
            assert game.observation(world, 0, seat).tobytes() == game.observation(states, 0, seat).tobytes()
            game.load(game.snapshot(world[0]), 0)


def test_the_games_generator_plays_no_part():
    game = variant(GAME)
    states = environment(seed=1)._states.copy()
    stream = streams(5, 1, "search")
    first, second = game.new_states(1), game.new_states(1)
    imagine(first, states, 0, stream[0])
    states["rng"] += np.uint64(12345)
    stream = streams(5, 1, "search")
    imagine(second, states, 0, stream[0])
    assert first.tobytes() == second.tobytes()
    assert stream["rng"][0] != streams(5, 1, "search")["rng"][0]


# --- Uniform: frequencies against exact enumeration ---


def _imagined(position, seat, count, read, **options):
    """How often `read(world record)` gives what, over many worlds of a position."""
    game = variant(GAME, **options)
    truth = game.load(position, 0)
    world, stream = game.new_states(1), streams(1, 1, "search")[0]
    counts = Counter()
    for _ in range(count):
        imagine(world, truth, seat, stream)
        counts[read(world[0])] += 1
    return counts


def _bits(cards):
    return sum(1 << NUMBER[card] for card in cards)


def _deals(pool, rooms, forbidden):
    """Every way to deal the pool into hands of given sizes that avoid the suits they are void in."""
    if not rooms:
        yield ()
        return
    allowed = [card for card in pool if suit_of(card) not in forbidden[0]]
    for hand in combinations(allowed, rooms[0]):
        rest = [card for card in pool if card not in hand]
        for others in _deals(rest, rooms[1:], forbidden[1:]):
            yield (_bits(hand), *others)


def _uniform_over_deals(position, seat, rooms, count=12_000, **options):
    players = len(rooms) + 1
    others = [(seat + k) % players for k in range(1, players)]
    pool = [card for other in others for card in position["hands"][other]]
    worlds = list(_deals(pool, rooms, [position["voids"][other] for other in others]))
    counts = _imagined(position, seat, count, lambda w: tuple(int(w.hand[other]) for other in others), **options)
    assert_as_expected(counts, dict.fromkeys(worlds, 1))
    return len(worlds)


BASE = {
    "hands": [["C3", "C4"], ["L8", "D8"], ["C8", "S9"], ["C9", "D7"]],
    "captured": [["W7", "E7", "C7"], ["L7", "F7", "S7"]],
    "tricks": [5, 5],
}


def _endgame(voids, **keys):
    return in_play(**{**BASE, **keys}, voids=voids)


@pytest.mark.parametrize(
    ("voids", "worlds"),
    [
        ([[], [], [], []], 90),
        ([[], ["Charm"], [], []], None),
        ([[], ["Charm"], ["Darkness"], []], None),
        ([[], ["Charm"], ["Darkness"], ["Snow"]], None),
        ([[], ["Charm", "Snow"], ["Darkness"], ["Lightning", "Snow"]], None),
        ([[], ["Charm", "Snow"], ["Lightning", "Darkness"], ["Lightning", "Snow"]], None),
    ],
)
def test_four_players_worlds_are_uniform(voids, worlds):
    found = _uniform_over_deals(_endgame(voids), 0, [2, 2, 2])
    assert worlds in (None, found)


def test_four_players_uneven_hands_in_mid_trick():
    position = _endgame(
        [[], ["Charm"], ["Darkness"], []], hands=[["C4"], ["L8"], ["C8", "S9", "D8"][:2], ["C9", "D7"]],
        trick=[[0, "C3"], [1, "D8"]],
    )  # fmt: skip
    assert _uniform_over_deals(position, 0, [1, 2, 2]) > 5


@pytest.mark.parametrize("voids", [[[], [], []], [[], ["Snow"], []], [[], ["Snow"], ["Lightning"]]])
def test_three_players_worlds_are_uniform(voids):
    position = in_play(
        3, hands=[["C3", "C4", "C5"], ["L8", "D8", "F9"], ["S8", "S9", "D7"]], voids=voids,
        captured=[["W7", "E7"], ["C7", "L7"], ["F7", "S7"]], tricks=[5, 4, 4],
    )  # fmt: skip
    _uniform_over_deals(position, 0, [3, 3], players=3)


@pytest.mark.parametrize("voids", [[[], []], [[], ["Lightning"]], [[], ["Lightning", "Wind"]]])
def test_two_players_worlds_are_uniform(voids):
    """Hand 2, discard 1 (no boss), and four unseen straw places of both players."""
    straw = [
        {"down": ["W2", "D7", "W4", *[None] * 4], "up": ["C3", "C4", *[None] * 4]},
        {"down": ["L4", *[None] * 6], "up": [None] * 6},
    ]
    position = in_play(
        2, hands=[["S13"], ["S12", "F7", "D9", "E4", "E5"]], straw=straw, discards=["E2", "L6"], voids=voids,
        captured=[["W7", "E7", "C7"], ["L7", "S7"]], tricks=[9, 8], trump_card="E3",
    )  # fmt: skip
    unseen = ["W2", "D7", "W4"]
    pool = [*unseen, *position["hands"][1], "L6"]
    worlds = {}
    for discard in pool:
        if discard in BOSSES:
            continue
        rest = [card for card in pool if card != discard]
        for hand in combinations([card for card in rest if suit_of(card) not in voids[1]], 5):
            worlds[_bits(hand), NUMBER[discard]] = 1
    counts = _imagined(position, 0, 12_000, lambda w: (int(w.hand[1]), int(w.discards[1])), players=2)
    assert_as_expected(counts, worlds)
    # And the straw cards that are left lie in any order.
    places = _imagined(
        position, 0, 6000, lambda w: w.straw_down[0, :3].tolist().index(min(w.straw_down[0, :3])), players=2
    )
    assert_as_expected(places, {0: 1, 1: 1, 2: 1})


def test_passed_cards_stay_with_their_receiver():
    position = _endgame([[], [], [], []], sent=[["C8", "W2", "W3"], [], [], []])
    position = {**position, "played": [list(cards) for cards in position["played"]]}
    for card in ("W2", "W3"):  # among the partner's played cards
        for seat in (0, 1, 3):
            if card in position["played"][seat]:
                swap = next(c for c in position["played"][2] if c not in BOSSES and c not in ("W2", "W3"))
                position["played"][seat][position["played"][seat].index(card)] = swap
                position["played"][2][position["played"][2].index(swap)] = card
    counts = _imagined(position, 0, 4000, lambda w: tuple(int(w.hand[other]) for other in (1, 2, 3)))
    pool = ["L8", "D8", "S9", "C9", "D7"]
    worlds = [(one, two | _bits(["C8"]), three) for one, two, three in _deals(pool, [2, 1, 2], [[], [], []])]
    assert_as_expected(counts, dict.fromkeys(worlds, 1))


# --- The shown card ---


def _after_passing(players, owner, give, **options):
    """The position after passing: seat `owner` was dealt the A and gives it away (as its card number `give`) or not."""
    rules = options.get("variant", "base")
    hands = [[] for _ in range(players)]
    hands[owner] = ["W1"]
    position = before_play(players, hands=hands, variant=rules)
    env = environment(position, players=players, **options)
    for seat in range(players):
        cards = [card for card in position["hands"][seat] if card != "W1"][:3]
        if seat == owner and give is not None:
            cards[give] = "W1"
        for card in cards:
            env.step(env.parse_action(card))
    return env.snapshot()


def _where_is_the_a(world):
    return next(seat for seat in range(4) if int(world.hand[seat]) & 1)


@pytest.mark.parametrize("give", [None, 0])
def test_the_shown_a_was_passed_to_the_partner_in_a_quarter_of_the_worlds(give):
    """Of twelve dealt cards three were passed: 3/12, whatever the truth is."""
    position = _after_passing(4, 1, give)
    counts = _imagined(position, 0, 8000, _where_is_the_a)
    assert_as_expected(counts, {1: 9, 3: 3})


@pytest.mark.parametrize("give", [None, 0])
def test_the_shown_a_was_passed_to_the_left_in_three_sixteenths_of_the_worlds(give):
    position = _after_passing(3, 1, give)
    counts = _imagined(position, 0, 8000, _where_is_the_a, players=3)
    assert_as_expected(counts, {1: 13, 2: 3})


@pytest.mark.parametrize("give", [None, 0, 1])
def test_in_seven_suitors_the_shown_a_went_to_each_of_two_others_in_a_thirteenth_of_the_worlds(give):
    """Seat 0 did not get it as one of seat 1's three passed cards: eleven of fourteen were kept, two went elsewhere."""
    position = _after_passing(4, 1, give, variant="seven_suitors")
    counts = _imagined(position, 0, 8000, _where_is_the_a, variant="seven_suitors")
    assert_as_expected(counts, {1: 11, 2: 1, 3: 1})


def test_the_owner_and_the_receiver_know_where_the_a_is():
    for give, place in ((None, 1), (0, 3)):
        position = _after_passing(4, 1, give)
        for seat in (1, 3):
            assert set(_imagined(position, seat, 200, _where_is_the_a)) == {place}


def test_with_first_lead_held_the_a_is_with_who_showed_it():
    for give, place in ((None, 1), (0, 3)):
        position = _after_passing(4, 1, give, first_lead="held")
        for seat in range(4):
            assert set(_imagined(position, seat, 200, _where_is_the_a, first_lead="held")) == {place}


def test_others_passed_cards_are_uniform_too():
    """Seat 1's three cards for seat 3, as seat 0 imagines them: without the A any three of what seat 3 holds."""
    position = _after_passing(4, 0, None)
    counts = _imagined(position, 0, 6000, lambda w: sum(1 for card in w.passes[1] if int(w.hand[3]) >> int(card) & 1))
    assert counts == {3: 6000}
    # The chance that the lowest card of seat 3's hand was passed by seat 1 is 3/12.
    lowest = _imagined(
        position, 0, 6000, lambda w: (int(w.hand[3]) & -int(w.hand[3])).bit_length() - 1 in w.passes[1].tolist()
    )
    assert_as_expected(lowest, {True: comb(11, 2), False: comb(11, 3)})


def _deals_with_the_a(position, seat, rooms, weights):
    """All deals with the weight of the hand that the A is in; without one it cannot be there."""
    players = len(rooms) + 1
    others = [(seat + k) % players for k in range(1, players)]
    pool = [card for other in others for card in position["hands"][other]]
    deals = _deals(pool, rooms, [position["voids"][other] for other in others])
    holders = {deal: next(other for other, hand in zip(others, deal) if hand & 1) for deal in deals}
    return {deal: weights[holder] for deal, holder in holders.items() if holder in weights}


@pytest.mark.parametrize(
    ("voids", "others"),
    [
        ([[], [], [], []], [["W1", "D8"], ["C8", "S9"], ["C9", "D7"]]),
        ([[], ["Charm"], [], []], [["W1", "D8"], ["C8", "S9"], ["C9", "D7"]]),
        ([[], ["Snow"], ["Charm"], ["Darkness"]], [["D7", "D8"], ["D6", "S9"], ["W1", "C9"]]),
        ([[], [], ["Darkness"], ["Charm", "Snow"]], [["W1", "C9"], ["C8", "S9"], ["D8", "D7"]]),
        ([[], ["Wind"], ["Darkness"], []], [["D7", "D8"], ["C8", "S9"], ["W1", "C9"]]),
    ],
    ids=str,
)
def test_the_shown_a_is_where_passing_and_the_deals_that_are_left_put_it(voids, others):
    """Seat 1 showed it: deals in which it kept the A count nine, those in which seat 3 has it three."""
    position = in_play(**{**BASE, "hands": [["C3", "C4"], *others]}, voids=voids, shown_by=1)
    counts = _imagined(position, 0, 6000, lambda w: tuple(int(w.hand[other]) for other in (1, 2, 3)))
    assert_as_expected(counts, _deals_with_the_a(position, 0, [2, 2, 2], {1: 9, 3: 3}))


def _foils(hands, **more):
    """Seven Suitors with both sevens of all suits but Darkness taken by different sides."""
    sevens = ["W7", "E7", "C7", "L7", "F7", "S7"]
    captured = [[*sevens, "D7*"], [f"{seven}*" for seven in sevens]]
    return in_play(hands=hands, variant="seven_suitors", tricks=[6, 6], trump="Fire", captured=captured, **more)


@pytest.mark.parametrize("voids", [[[], [], []], [[], ["Snow"], []], [[], ["Snow"], ["Lightning"]]], ids=str)
def test_of_three_players_the_shown_a_was_kept_in_sixteen_deals_to_three(voids):
    position = in_play(
        3, hands=[["C3", "C4", "C5"], ["W1", "D8", "F9"], ["S8", "S9", "D7"]], voids=voids,
        captured=[["W7", "E7"], ["C7", "L7"], ["F7", "S7"]], tricks=[5, 4, 4], shown_by=1,
    )  # fmt: skip
    counts = _imagined(position, 0, 6000, lambda w: (int(w.hand[1]), int(w.hand[2])), players=3)
    assert_as_expected(counts, _deals_with_the_a(position, 0, [3, 3], {1: 16, 2: 3}))


@pytest.mark.parametrize("voids", [[[], [], [], []], [[], ["Snow"], ["Charm"], ["Darkness"]]], ids=str)
def test_in_seven_suitors_the_shown_a_was_kept_in_eleven_deals_to_one_and_one(voids):
    position = _foils([["C3", "C4"], ["D7", "D8"], ["D6", "S9"], ["W1", "C9"]], voids=voids, shown_by=1)
    hands = _imagined(
        position, 0, 6000, lambda w: tuple(int(w.hand[other]) for other in (1, 2, 3)), variant="seven_suitors"
    )
    assert_as_expected(hands, _deals_with_the_a(position, 0, [2, 2, 2], {1: 11, 2: 1, 3: 1}))


def test_who_showed_the_a_and_has_it_no_more_knows_who_can_have_it():
    """Even in a position that does not say what was passed: the partner, or in Seven Suitors anybody."""
    hands = [["C3", "C4"], ["S9", "D8"], ["C8", "W1"], ["C9", "D7"]]
    position = in_play(**{**BASE, "hands": hands}, shown_by=0)
    assert set(_imagined(position, 0, 300, _where_is_the_a)) == {2}
    places = _imagined(_foils(hands, shown_by=0), 0, 3000, _where_is_the_a, variant="seven_suitors")
    assert_as_expected(places, {1: 1, 2: 1, 3: 1})


# --- What others passed to each other ---


@pytest.mark.parametrize("give", [None, 0])
def test_who_was_dealt_the_a_kept_it_or_passed_it_in_every_world(give):
    """Seat 1 showed it: seat 3 cannot have passed it, and seat 1 did just where seat 3 has it."""
    position = _after_passing(4, 1, give)
    ways = _imagined(position, 0, 3000, lambda w: (_where_is_the_a(w), 0 in w.passes[1], 0 in w.passes[3]))
    assert set(ways) == {(1, False, False), (3, True, False)}


def test_an_a_that_was_shown_after_passing_may_have_come_by_it():
    """Three of the twelve cards of seat 1 came from seat 3; nobody else can have passed the A."""
    position = _after_passing(4, 1, None, first_lead="held")
    ways = _imagined(position, 0, 4000, lambda w: (0 in w.passes[1], 0 in w.passes[3]), first_lead="held")
    assert_as_expected(ways, {(False, False): 9, (False, True): 3})


def _rank(hand, card):
    """How many lower cards a hand has beside one of its own."""
    assert hand >> int(card) & 1
    return (hand & (1 << int(card)) - 1).bit_count()


def test_in_seven_suitors_any_two_cards_of_a_hand_came_from_the_two_others():
    """Of the fourteen cards of seat 2 it got one from the observer, seat 0."""
    position = _after_passing(4, 0, None, variant="seven_suitors")
    own = NUMBER[position["sent"][0][1]]

    def read(world):
        others = int(world.hand[2]) & ~(1 << own)
        return _rank(others, world.passes[1, 0]), _rank(others, world.passes[3, 2])

    pairs = {(one, other): 1 for one in range(13) for other in range(13) if one != other}
    assert_as_expected(_imagined(position, 0, 6000, read, variant="seven_suitors"), pairs)


def test_of_three_players_any_three_cards_of_a_hand_came_from_its_right_neighbour():
    position = _after_passing(3, 0, None)

    def read(world):
        return tuple(sorted(_rank(int(world.hand[2]), card) for card in world.passes[1]))

    assert_as_expected(_imagined(position, 0, 6000, read, players=3), dict.fromkeys(combinations(range(16), 3), 1))


# --- Simultaneous choices that are still secret ---


def test_secret_passes_are_any_cards_of_the_imagined_hand():
    position = before_play()
    position["passes"][1] = [position["hands"][1].pop(0)]
    counts = _imagined(position, 0, 9000, lambda w: int(w.passes[1, 0]))
    unknown = [card for hand in position["hands"][1:] for card in hand] + position["passes"][1]
    assert_as_expected(counts, {NUMBER[card]: 1 for card in unknown})


def test_secret_discards_are_any_cards_but_bosses():
    position = before_play(2)
    card = next(card for card in position["hands"][1] if card not in BOSSES)
    position["hands"][1].remove(card)
    position["discards"][1] = card
    unknown = position["hands"][1] + [card] + [c for pile in position["straw"] for c in pile["down"]]
    counts = _imagined(position, 0, 9000, lambda w: int(w.discards[1]), players=2)
    assert_as_expected(counts, {NUMBER[c]: 1 for c in unknown if c not in BOSSES})


def test_secret_exchanges_are_any_exchange():
    straw = [{"down": [None] * 7, "up": [None] * 6} for _ in range(2)]
    straw[1]["up"][1], straw[1]["up"][4] = "W7", "S7"
    straw[0]["up"][0] = "F7"
    position = before_play(2, hands=[[b for b in ALL_BOSSES if b not in ("W7", "S7", "F7")], []], straw=straw)
    position["discards"] = [hand.pop() for hand in position["hands"]]
    position |= {"phase": "exchange", "exchanges": [None, "exchange 1 left"]}
    counts = _imagined(position, 0, 5000, lambda w: int(w.exchanges[1]), players=2)
    assert_as_expected(counts, {2: 1, 3: 1, 8: 1, 9: 1, 12: 1})


def test_a_secret_choice_of_the_boss_to_keep_is_either():
    straw = [{"down": [None] * 7, "up": [None] * 6} for _ in range(2)]
    straw[0]["up"][0], straw[0]["down"][0] = "F7", "D7"
    straw[1]["up"][1], straw[1]["down"][1] = "W7", "S7"
    position = before_play(2, hands=[[b for b in ALL_BOSSES if b in ("E7", "C7", "L7")], []], straw=straw)
    position["discards"] = [hand.pop() for hand in position["hands"]]
    env = environment(position | {"phase": "exchange"}, players=2)
    env.step_for("player_0", env.parse_action("exchange 0 left"))
    env.step_for("player_1", env.parse_action("exchange 1 left"))
    env.step_for("player_1", env.parse_action("keep new up"))
    counts = _imagined(env.snapshot(), 0, 400, lambda w: (int(w.keeps[0]), int(w.keeps[1])), players=2)
    assert_as_expected(counts, {(-1, 0): 1, (-1, 1): 1})


def test_what_nobody_has_chosen_yet_stays_open():
    """While all still exchange, and in play."""
    straw = [{"down": [None] * 7, "up": [None] * 6} for _ in range(2)]
    straw[0]["up"][0], straw[1]["up"][1] = "F7", "W7"
    position = before_play(2, hands=[[b for b in ALL_BOSSES if b not in ("F7", "W7")], []], straw=straw)
    position["discards"] = [hand.pop() for hand in position["hands"]]
    position["phase"] = "exchange"
    for seat in range(2):
        chosen = _imagined(position, seat, 50, lambda w: (*w.exchanges.tolist(), *w.keeps.tolist()), players=2)
        assert set(chosen) == {(-1, -1, -1, -1)}
