"""Positions of Yokai Septet as JSON: out and in again, the few keys that are needed, and positions that cannot be."""

import copy
import json
import random

import pytest
from monsterzoo.envs import yokai_septet_v0
from monsterzoo.envs.core.snapshots import SnapshotError
from yokai_positions import (
    ALL_BOSSES,
    LEADS,
    SCHEMA,
    VARIANTS,
    before_play,
    environment,
    in_play,
    label,
    legal,
    over,
    play,
    play_randomly,
)


def _seen(env):
    """Everything an environment shows: observations, masks, words, who decides."""
    return [
        (
            env.observe(agent)["observation"].tobytes(),
            env.infos[agent]["action_mask"].tobytes(),
            env.text_observation(agent),
        )
        for agent in env.possible_agents
    ], env.agent_selection


# --- Out and in again ---


@pytest.mark.parametrize("options", LEADS, ids=label)
def test_a_position_comes_back_unchanged_at_every_step(options):
    env = environment(seed=7, max_rounds=3, **options)
    copy_env = yokai_septet_v0.raw_env(max_rounds=3, **options)
    chooser = random.Random(7)
    while not over(env):
        position = env.snapshot()
        again = json.loads(json.dumps(position))
        assert again == position
        copy_env.reset(options={"snapshot": again})
        assert copy_env.snapshot() == position
        assert _seen(copy_env) == _seen(env)
        # The record itself, so that nothing that matters later is missing from the snapshot.
        for field in env._states.dtype.names:
            assert copy_env._states[field].tolist() == env._states[field].tolist(), field
        play_randomly(env, chooser)


@pytest.mark.parametrize("options", LEADS, ids=label)
def test_a_loaded_position_continues_like_the_original(options):
    """The generator included: rounds that are dealt later are the same."""
    chooser = random.Random(3)
    for start in (0, 1, 5, 17, 40, 75):
        env = environment(seed=start, max_rounds=3, **options)
        for _ in range(start):
            if not over(env):
                play_randomly(env, chooser)
        if over(env):
            continue
        other = environment(json.loads(json.dumps(env.snapshot())), seed=99, max_rounds=3, **options)
        while not over(env):
            action = play_randomly(env, chooser)
            play(other, action)
            assert _seen(other) == _seen(env)
        assert other.snapshot() == env.snapshot()
        assert other.rewards == env.rewards


def test_a_snapshot_is_a_copy():
    env = environment(seed=1)
    before = env.snapshot()
    env.snapshot()["hands"][0].clear()
    assert env.snapshot() == before


def test_loading_does_not_change_the_given_position():
    position = before_play()
    before = copy.deepcopy(position)
    environment(position)
    assert position == before


@pytest.mark.parametrize("options", VARIANTS, ids=label)
def test_all_keys_of_the_schema_are_there(options):
    assert set(SCHEMA) <= set(environment(**options).snapshot())


# --- Only the schema's keys ---


@pytest.mark.parametrize("options", LEADS, ids=label)
def test_the_schemas_keys_are_enough(options):
    """Without anything learned the rules go on the same: same decisions, same positions, to the end of the round."""
    env = environment(seed=2, episode="round", **options)
    chooser = random.Random(2)
    other = yokai_septet_v0.raw_env(episode="round", **options)
    while not over(env):
        position = env.snapshot()
        minimal = {key: position[key] for key in SCHEMA}
        other.reset(seed=5, options={"snapshot": minimal})
        back = other.snapshot()
        assert {key: back[key] for key in SCHEMA} == minimal
        # A choice that is made but secret in the keep phase is no key of the schema: it counts as not made.
        assert legal(other) == legal(env)
        play_randomly(env, chooser)
    for start in (0, 7, 30):
        env.reset(seed=start)
        for _ in range(start):
            play_randomly(env, chooser)
        if env.snapshot()["phase"] == "keep":
            continue
        other.reset(seed=5, options={"snapshot": {key: env.snapshot()[key] for key in SCHEMA}})
        while not over(env):
            play(other, play_randomly(env, chooser))
            assert {key: other.snapshot()[key] for key in SCHEMA} == {key: env.snapshot()[key] for key in SCHEMA}


@pytest.mark.parametrize("options", VARIANTS, ids=label)
def test_null_and_absent_mean_the_same_where_a_key_makes_no_sense(options):
    position = environment(seed=2, **options).snapshot()
    without = {key: position[key] for key in SCHEMA if position[key] is not None}
    back = environment(without, **options).snapshot()
    assert {key: back[key] for key in SCHEMA} == {key: position[key] for key in SCHEMA}


def test_a_missing_generator_is_seeded_by_seed():
    position = environment(seed=2).snapshot()
    del position["generator"]
    first, same, other = (environment(position, seed=seed).snapshot()["generator"] for seed in (5, 5, 6))
    assert first == same != other


def test_an_unfinished_simultaneous_phase_waits_for_the_others():
    position = before_play()
    position["passes"][1] = [position["hands"][1].pop(0) for _ in range(3)]
    position["passes"][2] = [position["hands"][2].pop(0)]
    env = environment(position)
    assert env.snapshot()["to_act"] == [0, 2, 3]
    assert legal(env, 2) == set(position["hands"][2])
    assert legal(env, 1) == {"no-op"}


# --- Positions that cannot be ---


def _four(**keys):
    return before_play(**keys)


def _played(**keys):
    base = {
        "hands": [["S13", "D8"], ["S8", "D9"], ["S9", "D10"], ["S10", "D7"]],
        "captured": [["W7", "E7", "C7"], ["L7", "F7", "S7"]],
        "tricks": [5, 5],
    }
    return in_play(**{**base, **keys})


def _straw(phase="discard", **keys):
    position = before_play(2, hands=[ALL_BOSSES, []], **keys)
    if phase != "discard":
        position["discards"] = [hand.pop() for hand in position["hands"]]
    return {**position, "phase": phase}


STRAW_PLAY = {
    "hands": [["F9", "S9"], ["F10", "L7"]],
    "straw": [
        {"down": ["W2", "D7", "S7", None, None, None, None], "up": ["C3", "C4", None, None, None, None]},
        {"down": ["L4", "F7", "L6", None, None, None, None], "up": ["E4", "C8", None, None, None, None]},
    ],
    "captured": [["W7", "E7"], ["C7"]],
    "tricks": [8, 8],
    "trump_card": "D11",
}


def _straw_play(**keys):
    return in_play(2, **copy.deepcopy({**STRAW_PLAY, **keys}))


def _suitors(**keys):
    hands = [["S13", "D8"], ["S8", "D9"], ["S9", "D10"], ["S10", "D7"]]
    captured = [["W7", "E7", "C7", "L7", "F7", "S7"], ["W7*", "E7*", "C7*", "L7*", "D7*", "F7*", "S7*"]]
    return in_play(
        **{"variant": "seven_suitors", "hands": hands, "captured": captured, "tricks": [6, 6], "trump": "Earth", **keys}
    )


def _edited(position, path, value):
    """The position with one entry replaced; a callable gets the old entry."""
    position = copy.deepcopy(position)
    target = position
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value(target[path[-1]]) if callable(value) else value
    return position


def _swapped(position, one, other):
    """The position with two cards in each other's places."""
    swap = {one: other, other: one}

    def change(value):
        if isinstance(value, list):
            return [change(entry) for entry in value]
        if isinstance(value, dict):
            return {key: change(entry) for key, entry in value.items()}
        return swap.get(value, value) if isinstance(value, str) else value

    return change(position)


TEAMS, TWO, SUITORS = {"players": 4}, {"players": 2}, {"players": 4, "variant": "seven_suitors"}
SHORT = {"players": 4, "variant": "seven_suitors_short"}

WRONG = {
    # the match
    "phase unknown": (TEAMS, _edited(_four(), ["phase"], "discard"), "phase is one of pass, play, not 'discard'"),
    "phase of another variant": (
        TWO,
        _edited(_straw(), ["phase"], "pass"),
        "phase is one of discard, exchange, keep, play, not 'pass'",
    ),
    "phase missing": (TEAMS, {k: v for k, v in _four().items() if k != "phase"}, "'phase' is missing"),
    "round 0": (TEAMS, _edited(_four(), ["round"], 0), "round is .* from 1 to 50, not 0"),
    "round beyond the last": (TEAMS, _edited(_four(), ["round"], 51), "round is .* from 1 to 50, not 51"),
    "round not a number": (TEAMS, _edited(_four(), ["round"], "1"), "round is .*, not '1'"),
    "score of a finished match": (TEAMS, _edited(_four(), ["scores"], [7, 0]), "scores .* from 0 to 6, not 7"),
    "score negative": (TEAMS, _edited(_four(), ["scores"], [-1, 0]), "scores .* from 0 to 6, not -1"),
    "scores of three sides": (TEAMS, _edited(_four(), ["scores"], [0, 0, 0]), "scores is a list of 2"),
    "scores missing": (TEAMS, _edited(_four(), ["scores"], None), "scores is a list of 2, not None"),
    "over": (TEAMS, {**_four(), "over": True}, "over is True"),
    "winners of a game that goes on": (TEAMS, {**_four(), "winners": [0, 2]}, "winners is"),
    "to_act wrong": (TEAMS, {**_four(), "to_act": [0]}, "to_act is .* waits for"),
    "to_act no list": (TEAMS, {**_four(), "to_act": 0}, "to_act is 0"),
    "to_act of words": (TEAMS, {**_four(), "to_act": ["player_0", 1]}, "to_act is .*player_0"),
    "other options": (TEAMS, {**_four(), "options": {"scoring": "basic"}}, "scoring='basic'"),
    "options no dict": (TEAMS, {**_four(), "options": "stars"}, "options is a dict"),
    "generator no number": (TEAMS, {**_four(), "generator": "x"}, "generator is .*, not 'x'"),
    "generator too big": (TEAMS, {**_four(), "generator": 2**64}, r"generator is .*2\*\*64"),
    # cards
    "no such card": (TEAMS, _edited(_four(), ["hands", 0, 0], "W8"), "hands: there is no card 'W8'"),
    "a card as a number": (TEAMS, _edited(_four(), ["hands", 0, 0], 3), "hands: there is no card 3"),
    "a foil in the base game": (TEAMS, _edited(_four(), ["hands", 0, 0], "W7*"), r"W7\*"),
    "a card twice in one hand": (
        TEAMS,
        _edited(_four(), ["hands", 0], lambda hand: hand[:1] + hand[:-1]),
        "hands: '.*' is there twice",
    ),
    "a card in two hands": (
        TEAMS,
        _edited(_four(), ["hands", 0, 0], lambda _: _four()["hands"][1][0]),
        "W1 is missing",
    ),
    "a card missing from the hands": (TEAMS, _edited(_four(), ["hands", 0], lambda hand: hand[1:]), "seat 0 has 11"),
    "uneven hands": (
        TEAMS,
        _edited(_edited(_four(), ["hands", 0], lambda h: h[1:]), ["hands", 1], lambda h: [*h, _four()["hands"][0][0]]),
        "seat 0 has 11",
    ),
    "hands of three": (TEAMS, _edited(_four(), ["hands"], lambda hands: hands[:3]), "hands is a list of 4"),
    "a hand that is no list": (TEAMS, _edited(_four(), ["hands", 0], None), "each of hands is a list, not None"),
    "the trump card is in a hand": (
        TEAMS,
        _edited(_four(), ["hands", 3, -1], "E3"),
        "E3 is in 2 places",
    ),
    "no trump card": (TEAMS, _edited(_four(), ["trump_card"], None), "trump_card is missing"),
    "trump is not the trump card's suit": (TEAMS, _edited(_four(), ["trump"], "Wind"), "trump is 'Wind'"),
    # passing
    "four cards passed": (
        TEAMS,
        _edited(_four(), ["passes", 0], lambda _: _four()["hands"][0][:4]),
        "passes: seat 0 has 4",
    ),
    "a passed card still in hand": (
        TEAMS,
        _edited(_four(), ["passes", 0], lambda _: _four()["hands"][0][:1]),
        "seat 0 has 13",
    ),
    "everybody has passed": (
        TEAMS,
        {
            **_four(),
            "hands": [hand[3:] for hand in _four()["hands"]],
            "passes": [hand[:3] for hand in _four()["hands"]],
        },
        "everybody has chosen",
    ),
    "passes in play": (TEAMS, _edited(_played(), ["passes", 0], ["S13"]), "passes: seat 0 has 1 in phase play"),
    "passes no list": (TEAMS, _edited(_four(), ["passes", 0], None), "each of passes is a list, not None"),
    "played while passing": (
        TEAMS,
        _edited(
            _edited(_four(), ["hands", 0], lambda hand: hand[1:]),
            ["played", 0],
            lambda _: _four()["hands"][0][:1],
        ),
        "played is not empty or 0 in phase pass",
    ),
    "captured no list while passing": (TEAMS, _edited(_four(), ["captured"], 0), "captured is a list of 2, not 0"),
    "tricks of three sides while passing": (TEAMS, _edited(_four(), ["tricks"], [0] * 3), "tricks is a list of 2"),
    "trick no list while passing": (TEAMS, _edited(_four(), ["trick"], {}), "trick is a list, not {}"),
    "voids while passing": (TEAMS, {**_four(), "voids": [["Wind"], [], [], []]}, "voids are unknown before play"),
    "sent while passing": (
        TEAMS,
        {**_four(), "sent": [_four()["hands"][2][:3], [], [], []]},
        "sent is empty before play",
    ),
    "tricks while passing": (TEAMS, _edited(_four(), ["tricks"], [1, 0]), "tricks is not empty or 0 in phase pass"),
    "a captured boss while passing": (
        TEAMS,
        _edited(_four(), ["captured", 0], ["W7"]),
        "captured is not empty or 0 in phase pass",
    ),
    "a leader before passing is over": (TEAMS, _edited(_four(), ["lead"], 2), "lead is 2, but"),
    "no leader in a later round": (TEAMS, _edited(_four(), ["round"], 2), "lead is missing"),
    "shown before play": (TEAMS, {**_four(), "shown_by": 0}, "shown_by is unknown before play"),
    # tricks
    "no leader in play": (TEAMS, _edited(_played(), ["lead"], None), "lead is missing"),
    "leader out of range": (TEAMS, _edited(_played(), ["lead"], 4), "lead is .* from 0 to 3, not 4"),
    "a complete trick": (
        TEAMS,
        _played(hands=[["D8"], ["D9"], ["D10"], ["D7"]], trick=[[0, "S13"], [1, "S8"], [2, "S9"], [3, "S10"]]),
        "trick holds 4 cards",
    ),
    "trick no list": (TEAMS, _edited(_played(), ["trick"], 0), "trick is a list of pairs .*, not 0"),
    "a trick's card without its seat": (TEAMS, _edited(_played(), ["trick"], ["S13"]), "trick is a list of pairs"),
    "a trick's seat is no number": (
        TEAMS,
        _edited(_played(hands=[["D8"], *_played()["hands"][1:]], trick=[[0, "S13"]]), ["trick", 0, 0], False),
        "trick: seat False played",
    ),
    "a trick out of turn": (
        TEAMS,
        _edited(_played(hands=[["D8"], *_played()["hands"][1:]], trick=[[0, "S13"]]), ["lead"], 1),
        "trick: seat 0 played where it was the turn of seat 1",
    ),
    "a trick's card is not in played": (TEAMS, _edited(_played(), ["trick"], [[0, "S13"]]), "not in played"),
    "a revoke in the trick": (
        TEAMS,
        _played(hands=[["D8"], ["S8"], ["S9", "D10"], ["S10", "D7"]], trick=[[0, "S13"], [1, "D9"]]),
        "trick: seat 1 played D9 without following Snow",
    ),
    "seats have played unequally often": (
        TEAMS,
        _edited(_edited(_played(), ["hands", 0], ["D8"]), ["played", 0], lambda cards: [*cards, "S13"]),
        r"seats have played \[11, 10, 10, 10\] cards",
    ),
    "tricks do not add up": (TEAMS, _edited(_played(), ["tricks"], [5, 4]), r"tricks are \[5, 4\], but 10 were played"),
    "more tricks than cards": (
        TEAMS,
        _edited(_played(), ["tricks"], [24, 0]),
        "each of tricks .* from 0 to 23, not 24",
    ),
    "tricks negative": (TEAMS, _edited(_played(), ["tricks"], [11, -1]), "each of tricks .*, not -1"),
    "seven tricks": (TEAMS, _edited(_played(), ["tricks"], [7, 3]), "7 tricks, the round is over"),
    "four bosses": (TEAMS, _edited(_played(), ["captured"], [["W7", "E7", "C7", "L7"], ["F7", "S7"]]), "4 bosses"),
    "bosses without a trick": (
        TEAMS,
        in_play(hands=[["S7"], ["F7"], ["L7"], ["D7"]], captured=[["W7", "E7"], ["C7"]], tricks=[6, 0]),
        "without a trick",
    ),
    "captured holds another card": (TEAMS, _edited(_played(), ["captured", 0, 0], "W2"), "captured holds bosses only"),
    "a captured boss twice": (
        TEAMS,
        _edited(_played(), ["captured", 1, 0], "W7"),
        "captured: a boss is with two sides",
    ),
    "a boss is missing from captured": (
        TEAMS,
        _edited(_played(), ["captured", 0], ["W7", "E7"]),
        "bosses of complete tricks are .*'C7'.*, captured",
    ),
    "a captured boss is still in a hand": (
        TEAMS,
        _edited(_played(), ["captured", 0, 0], "D7"),
        "bosses of complete tricks are .*'W7'.*, captured .*'D7'",
    ),
    "no cards are left": (
        TEAMS,
        in_play(
            hands=[[], [], [], []], trump_card="S7", captured=[["W7", "E7", "C7"], ["L7", "D7", "F7"]], tricks=[6, 6]
        ),
        "no cards",
    ),
    # learned
    "a void suit is in the hand": (TEAMS, {**_played(), "voids": [["Snow"], [], [], []]}, "voids: seat 0 holds S13"),
    "a void of no suit": (
        TEAMS,
        {**_played(), "voids": [["Water"], [], [], []]},
        "voids: there is no suit 'Water'",
    ),
    "a sent card is elsewhere": (
        TEAMS,
        {**_played(), "sent": [["S13", "D8", "S8"], [], [], []]},
        "sent: S13 of seat 0 is not with its receiver, seat 2",
    ),
    "two cards sent": (TEAMS, {**_played(), "sent": [["S9", "D10"], [], [], []]}, "sent: seat 0 passed 2 cards"),
    "a card sent twice": (
        TEAMS,
        {**_played(), "sent": [["S9", "S9", "D10"], [], [], []]},
        "sent: '.*' is there twice",
    ),
    "shown by a seat that cannot have had it": (
        TEAMS,
        {**_swapped(_played(), "W1", "D8"), "shown_by": 1},
        "shown_by is 1, but W1 is with seat 0",
    ),
    "shown in a later round": (TEAMS, _played(round=2, shown_by=0), "shown_by is 0, but nobody shows a card"),
    "shown by another than the first leader": (
        TEAMS,
        in_play(hands=[["W1"], ALL_BOSSES, [], []], tricks=[0, 0], lead=1, shown_by=0),
        "shown_by is 0, but seat 1 leads first",
    ),
    "a key of two players": (TEAMS, {**_four(), "straw": _straw()["straw"]}, "straw has no meaning in this variant"),
    "a key of Seven Suitors": (TEAMS, {**_four(), "sealed": [[], []]}, "sealed has no meaning in this variant"),
    # two players
    "passed cards of two players": (TWO, _edited(_straw(), ["passes", 0], ["W7"]), "passes: seat 0 has 1 in phase"),
    "sent cards of two players": (TWO, {**_straw(), "sent": [[], []]}, "sent has no meaning in this variant"),
    "shown by one of two players": (TWO, {**_straw_play(), "shown_by": 0}, "shown_by has no meaning in this variant"),
    "a straw pile that is no dict": (TWO, _edited(_straw(), ["straw", 0], []), "straw is a dict with down and up"),
    "a straw pile without a row": (TWO, _edited(_straw(), ["straw", 0], {"up": []}), "straw: down is a list of 7"),
    "a straw row too short": (
        TWO,
        _edited(_straw(), ["straw", 0, "up"], lambda row: row[:5]),
        "straw: up is a list of 6",
    ),
    "a straw card in two places": (
        TWO,
        _edited(_straw(), ["straw", 0, "up", 0], lambda _: _straw()["straw"][0]["down"][0]),
        "W1 is in 2 places",
    ),
    "a straw place is empty before play": (
        TWO,
        _edited(
            _edited(_straw(), ["straw", 0, "up", 0], None),
            ["hands", 0],
            lambda hand: [*hand, _straw()["straw"][0]["up"][0]],
        ),
        "straw of seat 0 has empty places in phase discard",
    ),
    "straw missing": (TWO, _edited(_straw(), ["straw"], None), "straw is a list of 2, not None"),
    "a straw card over nothing": (
        TWO,
        _edited(_straw_play(), ["straw", 0, "down"], ["W2", None, "S7", *[None] * 4]),
        "straw of seat 0: place 0 up covers nothing",
    ),
    "a boss is discarded": (TWO, _swapped(_straw("exchange"), _straw("exchange")["discards"][0], "W7"), "W7 is a boss"),
    "a discard is missing": (TWO, _edited(_straw(), ["phase"], "play"), "a discard is missing in phase play"),
    "both have discarded": (TWO, _edited(_straw("exchange"), ["phase"], "discard"), "everybody has chosen"),
    "an exchange before the discards": (
        TWO,
        _edited(_straw(), ["exchanges"], ["no exchange", None]),
        "exchanges come after the discards",
    ),
    "a choice to keep before the exchanges": (
        TWO,
        {**_straw("exchange"), "keeps": ["keep old up", None]},
        "keeps come after the exchanges",
    ),
    "no exchange chosen by who has a boss": (
        TWO,
        {**_swapped(_straw("keep"), "W7", _straw()["straw"][0]["up"][0]), "exchanges": [None, None]},
        "has not chosen",
    ),
    "no such exchange": (TWO, _edited(_straw("exchange"), ["exchanges"], ["exchange 6 left", None]), "exchange 6 left"),
    "nobody can exchange": (TWO, _straw("exchange"), "everybody has chosen"),
    "an exchange without a boss": (
        TWO,
        _edited(_straw("exchange"), ["exchanges"], ["exchange 0 left", None]),
        "seat 0 chose 'exchange 0 left', but has no boss there",
    ),
    "a choice to keep without two bosses": (
        TWO,
        {**_straw("keep"), "keeps": ["keep old up", None]},
        "keeps: seat 0 has no choice of bosses",
    ),
    "a choice to keep without an exchange": (
        TWO,
        {**_straw_play(), "keeps": ["keep new up", None]},
        "keeps: seat 0 has exchanged nothing",
    ),
    "a choice of no words": (
        TWO,
        _edited(_straw(), ["exchanges"], ["", None]),
        "exchanges holds null or a choice .*''",
    ),
    "the wrong dealer leads": (TWO, _edited(_straw(), ["lead"], 1), "lead is 1, but seat 0 deals"),
    "too many cards in hand": (
        TWO,
        _edited(
            _edited({**_straw("exchange"), "phase": "play"}, ["straw", 0, "up", 0], None),
            ["hands", 0],
            lambda hand: [*hand, _straw()["straw"][0]["up"][0]],
        ),
        "seat 0 holds 11",
    ),
    "thirteen tricks": (TWO, _edited(_straw_play(), ["tricks"], [13, 3]), "13 tricks"),
    "open cards that are covered": (
        TWO,
        {**_straw_play(), "bare": [["C3", "C4", "D7"], ["E4", "C8"]]},
        "bare: D7 of seat 0 is not an uncovered straw card",
    ),
    "open cards missing": (TWO, {**_straw_play(), "bare": [["C3"], ["E4", "C8"]]}, "bare: C4 of seat 0 lies open too"),
    # Seven Suitors
    "a trump card in Seven Suitors": (
        SUITORS,
        _edited(_suitors(), ["trump_card"], "E3"),
        "trump_card has no meaning in this variant",
    ),
    "trump before the first lead": (SUITORS, {**before_play(variant="seven_suitors"), "trump": "Wind"}, "first lead"),
    "no trump after the first lead": (SUITORS, _edited(_suitors(), ["trump"], None), "first lead"),
    "trump is no suit": (
        SUITORS,
        _edited(_suitors(), ["trump"], "Water"),
        "trump is the name of a suit or null, not 'Water'",
    ),
    "trump is not the first card led": (
        SUITORS,
        in_play(
            variant="seven_suitors",
            hands=[["D8", *ALL_BOSSES], [f"{b}*" for b in ALL_BOSSES], [], []],
            tricks=[0, 0],
            trick=[[0, "S13"]],
            trump="Wind",
        ),
        "trump is 'Wind', but Snow was led first",
    ),
    "scores in Seven Suitors": (SUITORS, _suitors(scores=[0, 0]), "scores has no meaning in this variant"),
    "both sevens without the seal": (
        SUITORS,
        _suitors(captured=[["W7", "W7*", "C7", "L7", "F7", "S7"], ["E7", "E7*", "C7*", "L7*", "D7*", "F7*", "S7*"]]),
        "without sealing",
    ),
    "all suits sealed": (
        SUITORS,
        _suitors(sealed=[["Wind", "Earth", "Charm", "Lightning", "Darkness", "Fire", "Snow"], []]),
        "won already",
    ),
    "a suit sealed twice": (SUITORS, _suitors(sealed=[["Wind", "Wind"], []]), "sealed: .Wind. is there twice"),
    "sealed no list": (SUITORS, _suitors(sealed=[None, []]), "each of sealed is a list, not None"),
    "one suit sealed by both in the short form": (
        SHORT,
        _suitors(sealed=[["Wind"], ["Wind"]]),
        "both sides have sealed Wind",
    ),
    # altogether
    "not a dict": (TEAMS, [1, 2], "a snapshot is a dict"),
    "empty": (TEAMS, {"x": 1}, "'phase' is missing"),
}


@pytest.mark.parametrize("name_of_problem", WRONG)
def test_an_impossible_position_is_refused_with_its_problem_and_nothing_changes(name_of_problem):
    options, position, problem = WRONG[name_of_problem]
    env = environment(seed=4, **options)
    play(env, min(legal(env)))
    before, seen = env.snapshot(), _seen(env)
    with pytest.raises(SnapshotError, match=problem):
        env.reset(options={"snapshot": position})
    assert env.snapshot() == before
    assert _seen(env) == seen
    play(env, min(legal(env)))


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("below", [0, 1], ids=["left", "right"])
def test_an_upper_straw_card_covers_two_lower_ones(place, below):
    down, up = [f"W{rank}" for rank in range(1, 8)], [None] * 6
    down[place + below], up[place] = None, "C3"
    position = _edited(_straw_play(), ["straw", 0], {"down": down, "up": up})
    with pytest.raises(SnapshotError, match=f"straw of seat 0: place {place} up covers nothing"):
        environment(position, players=2)


@pytest.mark.parametrize("position", [_four(), _played(), _straw(), _straw_play(), _suitors()], ids=range(5))
def test_the_positions_above_are_possible_without_their_problems(position):
    players = len(position["hands"])
    variant = "base" if position["sealed"] is None else "seven_suitors"
    env = environment(position, players=players, variant=variant)
    play(env, min(legal(env)))


GARBAGE = (
    *(-1, 300, 2**70, 1.5, True, "", "x", "W1", [], {}, {"down": []}),
    *([count] * length for count in (None, 0.5, "W1", "x", {}, [None], [[]], [1, 2]) for length in (1, 2, 3, 4)),
)
"""What no key can hold, whatever the variant; but an empty list is an empty trick."""

COMMON = ("options", "to_act", "over", "truncated", "winners", "generator")
"""Keys that every game has, and that no game reads by itself."""


NOBODY_HAS_CHOSEN = [("exchanges", [None, None]), ("keeps", [None, None])]
"""What is in `GARBAGE`, but can be read."""


def _after(steps, options):
    """A position after some random actions."""
    env, chooser = environment(seed=9, **options), random.Random(9)
    for _ in range(steps):
        play_randomly(env, chooser)
    return env.snapshot()


def _problem(env, position):
    """Why a position is refused, None if it is not."""
    try:
        env.reset(options={"snapshot": position})
    except SnapshotError as error:
        return str(error)
    return None


UNREAD = "not a position of"
"""How the message begins where a game has stumbled over garbage instead of checking for it."""


@pytest.mark.parametrize("options", VARIANTS, ids=label)
@pytest.mark.parametrize("steps", [0, 2, 20])
def test_garbage_in_any_key_is_refused_in_words(options, steps):
    position, env = _after(steps, options), yokai_septet_v0.raw_env(**options)
    for key in position.keys() - set(COMMON):
        for garbage in GARBAGE:
            if garbage == position[key] or (key, garbage) in NOBODY_HAS_CHOSEN:
                continue
            problem = _problem(env, {**position, key: garbage})
            assert problem, (key, garbage)
            assert not problem.startswith(UNREAD), (key, garbage, problem)


@pytest.mark.parametrize("options", VARIANTS, ids=label)
@pytest.mark.parametrize("steps", [0, 2, 20])
def test_null_is_refused_or_means_nothing_learned(options, steps):
    position, env = _after(steps, options), yokai_septet_v0.raw_env(**options)
    for key in position.keys() - set(COMMON):
        problem = _problem(env, {**position, key: None})
        if problem is not None:
            assert key in SCHEMA
            assert not problem.startswith(UNREAD), (key, problem)
            continue
        # A null exchange is one that was not made; every other key follows from the rest, or was empty.
        same = [other for other in SCHEMA if other != "exchanges"]
        assert [env.snapshot()[other] for other in same] == [position[other] for other in same], key


def test_straw_piles_are_the_same_from_either_side():
    """The cards in the last places are read, seen, played and refused as those in the first are."""
    turned = _straw_play()
    for pile in turned["straw"]:
        for row in pile.values():
            row.reverse()
    envs = [environment(position, players=2) for position in (_straw_play(), turned)]
    for env, position in zip(envs, (_straw_play(), turned)):
        assert env.snapshot()["straw"] == position["straw"]
    assert legal(envs[0]) == legal(envs[1])
    assert envs[0].snapshot()["bare"] == envs[1].snapshot()["bare"]
    for card in ("C4", sorted(legal(envs[0]) - {"C4"})[0]):
        for env in envs:
            play(env, card if card in legal(env) else sorted(legal(env))[0])
        assert legal(envs[0]) == legal(envs[1])
    assert [env.snapshot()["straw"][0]["up"][place] for env, place in zip(envs, (1, 4))] == [None, None]
    assert [sorted(env.snapshot()["bare"][0]) for env in envs] == [["C3", "S7"]] * 2
    assert "S7" in envs[1].text_observation("player_1")
    position = envs[1].snapshot()
    again = environment(position, players=2)
    assert again.snapshot()["straw"] == position["straw"]
    assert again.text_observation("player_0") == envs[1].text_observation("player_0")
