"""Positions of Yokai Septet as JSON: out and in again, the few keys that are needed, and positions that cannot be."""

import copy
import json
import random

import pytest
from monsterzoo.envs import yokai_septet_v0
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
    "phase unknown": (TEAMS, _edited(_four(), ["phase"], "discard"), "phase"),
    "phase of another variant": (TWO, _edited(_straw(), ["phase"], "pass"), "phase"),
    "phase missing": (TEAMS, {k: v for k, v in _four().items() if k != "phase"}, "'phase' is missing"),
    "round 0": (TEAMS, _edited(_four(), ["round"], 0), "round"),
    "round beyond the last": (TEAMS, _edited(_four(), ["round"], 51), "round"),
    "round not a number": (TEAMS, _edited(_four(), ["round"], "1"), "round"),
    "score of a finished match": (TEAMS, _edited(_four(), ["scores"], [7, 0]), "score"),
    "score negative": (TEAMS, _edited(_four(), ["scores"], [-1, 0]), "score"),
    "scores of three sides": (TEAMS, _edited(_four(), ["scores"], [0, 0, 0]), "scores"),
    "scores missing": (TEAMS, _edited(_four(), ["scores"], None), "scores"),
    "over": (TEAMS, {**_four(), "over": True}, "over"),
    "winners of a game that goes on": (TEAMS, {**_four(), "winners": [0, 2]}, "winners"),
    "to_act wrong": (TEAMS, {**_four(), "to_act": [0]}, "to_act"),
    "to_act no list": (TEAMS, {**_four(), "to_act": 0}, "to_act"),
    "to_act of words": (TEAMS, {**_four(), "to_act": ["player_0", 1]}, "to_act"),
    "other options": (TEAMS, {**_four(), "options": {"scoring": "basic"}}, "scoring"),
    "options no dict": (TEAMS, {**_four(), "options": "stars"}, "options"),
    "generator no number": (TEAMS, {**_four(), "generator": "x"}, "generator"),
    "generator too big": (TEAMS, {**_four(), "generator": 2**64}, "generator"),
    # cards
    "no such card": (TEAMS, _edited(_four(), ["hands", 0, 0], "W8"), "'W8'"),
    "a card as a number": (TEAMS, _edited(_four(), ["hands", 0, 0], 3), "no card 3"),
    "a foil in the base game": (TEAMS, _edited(_four(), ["hands", 0, 0], "W7*"), r"W7\*"),
    "a card twice in one hand": (TEAMS, _edited(_four(), ["hands", 0], lambda hand: hand[:1] + hand[:-1]), "twice"),
    "a card in two hands": (
        TEAMS,
        _edited(_four(), ["hands", 0, 0], lambda _: _four()["hands"][1][0]),
        "missing|2 places",
    ),
    "a card missing from the hands": (TEAMS, _edited(_four(), ["hands", 0], lambda hand: hand[1:]), "seat 0 has 11"),
    "uneven hands": (
        TEAMS,
        _edited(_edited(_four(), ["hands", 0], lambda h: h[1:]), ["hands", 1], lambda h: [*h, _four()["hands"][0][0]]),
        "seat 0 has 11",
    ),
    "hands of three": (TEAMS, _edited(_four(), ["hands"], lambda hands: hands[:3]), "hands"),
    "a hand that is no list": (TEAMS, _edited(_four(), ["hands", 0], None), "hands"),
    "the trump card is in a hand": (TEAMS, _edited(_four(), ["trump_card"], "S13"), "S13|E3|trump"),
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
    "passes in play": (TEAMS, _edited(_played(), ["passes", 0], ["S13"]), "passes"),
    "passes no list": (TEAMS, _edited(_four(), ["passes", 0], None), "passes"),
    "played while passing": (
        TEAMS,
        _edited(_four(), ["played", 0], lambda _: _four()["hands"][0][:1]),
        "seat 0 has 13|played",
    ),
    "tricks while passing": (TEAMS, _edited(_four(), ["tricks"], [1, 0]), "tricks"),
    "a captured boss while passing": (TEAMS, _edited(_four(), ["captured", 0], ["W7"]), "captured"),
    "a leader before passing is over": (TEAMS, _edited(_four(), ["lead"], 2), "lead"),
    "no leader in a later round": (TEAMS, _edited(_four(), ["round"], 2), "lead"),
    "shown before play": (TEAMS, {**_four(), "shown_by": 0}, "shown_by"),
    # tricks
    "no leader in play": (TEAMS, _edited(_played(), ["lead"], None), "lead"),
    "leader out of range": (TEAMS, _edited(_played(), ["lead"], 4), "lead"),
    "a complete trick": (
        TEAMS,
        _played(hands=[["D8"], ["D9"], ["D10"], ["D7"]], trick=[[0, "S13"], [1, "S8"], [2, "S9"], [3, "S10"]]),
        "trick",
    ),
    "a trick out of turn": (
        TEAMS,
        _edited(_played(hands=[["D8"], *_played()["hands"][1:]], trick=[[0, "S13"]]), ["lead"], 1),
        "turn",
    ),
    "a trick's card is not in played": (TEAMS, _edited(_played(), ["trick"], [[0, "S13"]]), "not in played"),
    "a revoke in the trick": (
        TEAMS,
        _played(hands=[["D8"], ["S8"], ["S9", "D10"], ["S10", "D7"]], trick=[[0, "S13"], [1, "D9"]]),
        "follow",
    ),
    "seats have played unequally often": (
        TEAMS,
        _edited(_edited(_played(), ["hands", 0], ["D8"]), ["played", 0], lambda cards: [*cards, "S13"]),
        "played",
    ),
    "tricks do not add up": (TEAMS, _edited(_played(), ["tricks"], [5, 4]), "tricks"),
    "tricks negative": (TEAMS, _edited(_played(), ["tricks"], [11, -1]), "tricks"),
    "seven tricks": (TEAMS, _edited(_played(), ["tricks"], [7, 3]), "7 tricks, the round is over"),
    "four bosses": (TEAMS, _edited(_played(), ["captured"], [["W7", "E7", "C7", "L7"], ["F7", "S7"]]), "4 bosses"),
    "bosses without a trick": (
        TEAMS,
        in_play(hands=[["S7"], ["F7"], ["L7"], ["D7"]], captured=[["W7", "E7"], ["C7"]], tricks=[6, 0]),
        "without a trick",
    ),
    "captured holds another card": (TEAMS, _edited(_played(), ["captured", 0, 0], "W2"), "captured"),
    "a captured boss twice": (TEAMS, _edited(_played(), ["captured", 1, 0], "W7"), "captured"),
    "a boss is missing from captured": (TEAMS, _edited(_played(), ["captured", 0], ["W7", "E7"]), "captured"),
    "a captured boss is still in a hand": (TEAMS, _edited(_played(), ["captured", 0, 0], "D7"), "captured"),
    "no cards are left": (
        TEAMS,
        in_play(
            hands=[[], [], [], []], trump_card="S7", captured=[["W7", "E7", "C7"], ["L7", "D7", "F7"]], tricks=[6, 6]
        ),
        "no cards",
    ),
    # learned
    "a void suit is in the hand": (TEAMS, {**_played(), "voids": [["Snow"], [], [], []]}, "voids"),
    "a void of no suit": (TEAMS, {**_played(), "voids": [["Water"], [], [], []]}, "voids"),
    "a sent card is elsewhere": (TEAMS, {**_played(), "sent": [["S13", "D8", "S8"], [], [], []]}, "sent"),
    "two cards sent": (TEAMS, {**_played(), "sent": [["S9", "D10"], [], [], []]}, "sent"),
    "a card sent twice": (TEAMS, {**_played(), "sent": [["S9", "S9", "D10"], [], [], []]}, "sent"),
    "shown by a seat that cannot have had it": (TEAMS, {**_swapped(_played(), "W1", "D8"), "shown_by": 1}, "shown_by"),
    # two players
    "a straw row too short": (TWO, _edited(_straw(), ["straw", 0, "up"], lambda row: row[:5]), "straw"),
    "a straw card in two places": (
        TWO,
        _edited(_straw(), ["straw", 0, "up", 0], lambda _: _straw()["straw"][0]["down"][0]),
        "places",
    ),
    "a straw place is empty before play": (
        TWO,
        _edited(
            _edited(_straw(), ["straw", 0, "up", 0], None),
            ["hands", 0],
            lambda hand: [*hand, _straw()["straw"][0]["up"][0]],
        ),
        "straw",
    ),
    "straw missing": (TWO, _edited(_straw(), ["straw"], None), "straw"),
    "a straw card over nothing": (
        TWO,
        _edited(_straw_play(), ["straw", 0, "down"], ["W2", None, "S7", *[None] * 4]),
        "straw",
    ),
    "a boss is discarded": (TWO, _swapped(_straw("exchange"), _straw("exchange")["discards"][0], "W7"), "W7 is a boss"),
    "a discard is missing": (TWO, _edited(_straw(), ["phase"], "play"), "discard"),
    "both have discarded": (TWO, _edited(_straw("exchange"), ["phase"], "discard"), "everybody has chosen"),
    "an exchange before the discards": (TWO, _edited(_straw(), ["exchanges"], ["no exchange", None]), "exchange"),
    "a choice to keep before the exchanges": (TWO, {**_straw("exchange"), "keeps": ["keep old up", None]}, "keeps"),
    "no exchange chosen by who has a boss": (
        TWO,
        {**_swapped(_straw("keep"), "W7", _straw()["straw"][0]["up"][0]), "exchanges": [None, None]},
        "has not chosen",
    ),
    "no such exchange": (TWO, _edited(_straw("exchange"), ["exchanges"], ["exchange 6 left", None]), "exchange 6 left"),
    "nobody can exchange": (TWO, _straw("exchange"), "everybody has chosen"),
    "an exchange without a boss": (TWO, _edited(_straw("exchange"), ["exchanges"], ["exchange 0 left", None]), "boss"),
    "a choice to keep without two bosses": (TWO, {**_straw("keep"), "keeps": ["keep old up", None]}, "keep|boss"),
    "the wrong dealer leads": (TWO, _edited(_straw(), ["lead"], 1), "lead"),
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
    "open cards that are covered": (TWO, {**_straw_play(), "bare": [["C3", "C4", "D7"], ["E4", "C8"]]}, "bare"),
    "open cards missing": (TWO, {**_straw_play(), "bare": [["C3"], ["E4", "C8"]]}, "bare"),
    # Seven Suitors
    "a trump card in Seven Suitors": (SUITORS, _edited(_suitors(), ["trump_card"], "E3"), "no trump card"),
    "trump before the first lead": (SUITORS, {**before_play(variant="seven_suitors"), "trump": "Wind"}, "first lead"),
    "no trump after the first lead": (SUITORS, _edited(_suitors(), ["trump"], None), "first lead"),
    "trump is no suit": (SUITORS, _edited(_suitors(), ["trump"], "Water"), "trump"),
    "trump is not the first card led": (
        SUITORS,
        in_play(
            variant="seven_suitors",
            hands=[["D8", *ALL_BOSSES], [f"{b}*" for b in ALL_BOSSES], [], []],
            tricks=[0, 0],
            trick=[[0, "S13"]],
            trump="Wind",
        ),
        "trump",
    ),
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
    "a suit sealed twice": (SUITORS, _suitors(sealed=[["Wind", "Wind"], []]), "sealed"),
    "sealed no list": (SUITORS, _suitors(sealed=[None, []]), "sealed"),
    "one suit sealed by both in the short form": (SHORT, _suitors(sealed=[["Wind"], ["Wind"]]), "Wind"),
    # altogether
    "not a dict": (TEAMS, [1, 2], "dict"),
    "empty": (TEAMS, {"x": 1}, "missing"),
}


@pytest.mark.parametrize("name_of_problem", WRONG)
def test_an_impossible_position_is_refused_with_its_problem_and_nothing_changes(name_of_problem):
    options, position, problem = WRONG[name_of_problem]
    env = environment(seed=4, **options)
    play(env, min(legal(env)))
    before, seen = env.snapshot(), _seen(env)
    with pytest.raises(ValueError, match=problem):
        env.reset(options={"snapshot": position})
    assert env.snapshot() == before
    assert _seen(env) == seen
    play(env, min(legal(env)))


@pytest.mark.parametrize("position", [_four(), _played(), _straw(), _straw_play(), _suitors()], ids=range(5))
def test_the_positions_above_are_possible_without_their_problems(position):
    players = len(position["hands"])
    variant = "base" if position["sealed"] is None else "seven_suitors"
    env = environment(position, players=players, variant=variant)
    play(env, min(legal(env)))


@pytest.mark.parametrize("options", VARIANTS, ids=label)
def test_garbage_in_any_key_is_a_value_error(options):
    """Whatever stands in a key: either it is read, or it is refused as a ValueError."""
    env = environment(seed=9, **options)
    chooser = random.Random(9)
    for _ in range(20):
        play_randomly(env, chooser)
    position = env.snapshot()
    other = yokai_septet_v0.raw_env(**options)
    for key in position:
        for garbage in (
            None,
            -1,
            300,
            2**70,
            1.5,
            "x",
            "W1",
            [],
            [[]],
            [None],
            ["W1"],
            {},
            {"down": []},
            [[1, 2]],
            [{}, {}],
            True,
        ):
            try:
                other.reset(seed=1, options={"snapshot": {**position, key: garbage}})
            except ValueError:
                continue
            assert not over(other)
