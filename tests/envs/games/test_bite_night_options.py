"""Bite Night's assumptions are replaceable: which cards are there twice, and which tiles have a heart."""

import json
from collections import Counter
from typing import Any

import monsterzoo.envs as mz
import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.envs.bite_night import rules, text

OTHER_CARDS = {"skip two": 1, "colour set": 2}


def begun(seed: int = 1, **options: Any) -> Any:
    env = mz.make("bite_night_v0", **options).unwrapped
    env.reset(seed=seed)
    return env


def all_cards(env: Any) -> Counter[str]:
    return Counter(card for hand in env.snapshot()["hands"] for card in hand)


def test_four_players_get_the_whole_deck_of_their_own() -> None:
    usual, own = all_cards(begun()), all_cards(begun(cards=OTHER_CARDS))
    assert (usual["skip two"], usual["graveyard closed"], usual["colour set"]) == (2, 2, 1)
    assert (own["skip two"], own["graveyard closed"], own["colour set"]) == (1, 2, 2)
    assert sum(own.values()) == sum(usual.values()) == 36
    assert {card for card in usual if usual[card] != own[card]} == set(OTHER_CARDS)


def test_cards_left_out_are_never_dealt() -> None:
    without = {"dawn": 0, "servant": 0, "picture monk": 0}
    for seed in range(20):
        assert not without.keys() & all_cards(begun(seed, players=3, advanced=True, cards=without)).keys()


def test_both_copies_in_hand_are_seen() -> None:
    column = mz.variant("bite_night_v0", cards=OTHER_CARDS).layout["hand_twice"].slice
    shown = set()
    for seed in range(60):
        env = begun(seed, cards=OTHER_CARDS)
        for seat, hand in enumerate(env.snapshot()["hands"]):
            row = env.observe(f"player_{seat}")["observation"][column]
            twice = Counter(hand)
            assert row.tolist() == [twice["colour set"] == 2, twice["graveyard closed"] == 2]
            shown.add(tuple(row.tolist()))
    assert {(1, 0), (0, 1), (0, 0)} <= shown


def test_the_default_is_what_it_was() -> None:
    usual = mz.variant("bite_night_v0", advanced=True)
    spelled = mz.variant("bite_night_v0", advanced=True, cards={"skip two": 2}, hearts=list(reversed(kinds())))
    assert spelled.template.tobytes() == usual.template.tobytes()
    assert spelled.action_names == usual.action_names
    assert spelled.layout.signature == usual.layout.signature


def kinds() -> list[str]:
    names = mz.variant("bite_night_v0").action_names
    return [name.removeprefix("grab ") for name in names if name.startswith("grab ") and not name.endswith(" heart")]


def test_tiles_are_called_by_what_they_have() -> None:
    names = mz.variant("bite_night_v0", hearts=["blue vampire"]).action_names
    assert "grab blue vampire heart" in names
    assert "grab blue monk heart" not in names
    assert "grab blue monk 2" in names
    assert len(set(names)) == len(names) == mz.variant("bite_night_v0").num_actions


def bitten(hearts: list[str] | None) -> tuple[list[str], list[str]]:
    """The tiles of seats 0 and 1 after vampire's bite: 0 has the blue and red vampires, 1 the maidens."""
    own = mz.variant("bite_night_v0", players=3, advanced=True, hearts=hearts)
    states = own.new_states(1)
    state = states[0]
    state.lap_leader = 0
    for colour in (0, 1):
        state.tiles[0] |= np.uint64(0b11 << 10 * colour + 2 * rules.VAMPIRE)
        state.tiles[1] |= np.uint64(0b11 << 10 * colour + 2 * rules.MAIDEN)
    steal = getattr(rules.steal, "py_func", rules.steal)
    steal(state, rules.VAMPIRE, rules.MAIDEN)
    return text.tile_names(state, state.tiles[0]), text.tile_names(state, state.tiles[1])


def test_thieves_and_victims_need_hearts() -> None:
    taken, left = bitten(None)
    assert {"blue maiden heart", "red maiden heart"} <= set(taken)
    assert left == ["blue maiden", "red maiden"]
    taken, left = bitten(["blue vampire", "red vampire", "red maiden"])
    assert "red maiden heart" in taken
    assert left == ["blue maiden", "blue maiden 2", "red maiden"]
    assert bitten(["blue maiden", "red maiden"])[1] == [
        "blue maiden",
        "blue maiden heart",
        "red maiden",
        "red maiden heart",
    ]
    assert bitten([])[1] == ["blue maiden", "blue maiden 2", "red maiden", "red maiden 2"]


OWN = [
    {"players": 4, "cards": OTHER_CARDS},
    {"players": 3, "advanced": True, "hearts": []},
    {"players": 3, "advanced": True, "hearts": ["blue vampire", "blue maiden"], "cards": {**OTHER_CARDS, "dawn": 0}},
    {"players": 3, "cards": {"skip two": 0, "graveyard closed": 0}},
]


@pytest.mark.parametrize("options", OWN, ids=str)
def test_such_games_are_played_saved_and_imagined(options: dict[str, Any]) -> None:
    """Positions go out and in, and what a seat cannot know changes nothing it is shown."""
    env, other = begun(laps=1, **options), begun(laps=1, **options)
    player = policies.make("heuristic", "bite_night_v0", laps=1, **options)
    moves = 0
    while not env.terminations["player_0"]:
        agent = env.agent_selection
        if moves % 8 == 0:
            position = json.loads(json.dumps(env.snapshot()))
            other.reset(options={"snapshot": position})
            assert other.snapshot() == env.snapshot()
            states, seat = env.states, env.possible_agents.index(agent)
            states["rng"] = moves
            env.variant.game.rules.determinize(states[0], seat)
            other.reset(options={"snapshot": env.variant.snapshot(states[0])})
            assert other.text_observation(agent) == env.text_observation(agent)
            np.testing.assert_array_equal(other.observe(agent)["observation"], env.observe(agent)["observation"])
        env.step(policies.act_in(player, env))
        moves += 1
    assert mz.replay(env.record()).snapshot() == env.snapshot()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"cards": {"chess": 1}}, r"cards=.* is not allowed; allowed: None, or a dict .*\(there is no card 'chess'\)"),
        ({"cards": {"colour set": 3}}, r"colour set can be there 0 to 2 times, not 3"),
        ({"cards": {"colour set": True}}, r"cards=.* is not allowed"),
        ({"cards": {"dawn": 2}, "advanced": True}, r"dawn can be there 0 to 1 times, not 2"),
        ({"cards": {"dawn": 1}}, r"'dawn', which belongs to the advanced game"),
        ({"cards": {"colour set": 2}}, r"2 cards at most twice, not colour set, skip two, graveyard closed"),
        ({"cards": {"colour set": 0}}, r"at least 36 cards for players=4, not 35"),
        ({"cards": [1]}, r"cards=\[1\] is not allowed"),
        ({"hearts": ["blue"]}, r"there is no kind of tiles 'blue'"),
        ({"hearts": "blue vampire"}, r"hearts='blue vampire' is not allowed; allowed: None, or a list of kinds"),
        ({"hearts": 3}, r"hearts=3 is not allowed"),
        ({"hearts": [["blue vampire"]]}, r"there is no kind of tiles"),
    ],
)
def test_impossible_ones_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        mz.variant("bite_night_v0", **options)


def test_players_of_other_cards_or_hearts_do_not_fit() -> None:
    """What a column or a tile means differs."""
    usual = policies.make("heuristic", "bite_night_v0")
    for options in ({"cards": OTHER_CARDS}, {"hearts": []}):
        with pytest.raises(ValueError, match="was made for bite_night_v0"):
            policies.act_in(usual, begun(**options))


def test_a_position_with_more_cards_than_the_deck_is_refused() -> None:
    env = begun(cards=OTHER_CARDS)
    position = begun(seed=5).snapshot()
    position.pop("options")
    with pytest.raises(ValueError, match="'skip two' is there 2 times, the deck has it 1 times"):
        env.reset(options={"snapshot": position})
