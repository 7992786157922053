"""Bite Night with renamed colours and pictures is the same game: positions, observations, legal actions, points."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from bite_night_table import GAME
from monsterzoo.envs import make
from monsterzoo.envs.bite_night.rules import COLOURS, PICTURES

COMBINATIONS = re.compile(r"(combination )(\w+)\+(\w+)")
BASIC_NAMES = [*pairwise(COLOURS), *pairwise(PICTURES)]
"""Which names each renaming swaps, in the order of `symmetry`."""


def renamed(text: str, names: tuple[str, str]) -> str:
    """A text with two names swapped, and combinations again in the order of the pictures."""
    one, other = names
    # Not "vampire's bite": the names of advanced cards are no pictures, and pictures keep theirs in that game.
    text = re.sub(rf"\b({one}|{other})\b", lambda found: other if found[0] == one else one, text)
    return COMBINATIONS.sub(lambda found: found[1] + "+".join(sorted(found.group(2, 3), key=PICTURES.index)), text)


def test_renamings_are_of_neighbouring_names() -> None:
    assert len(GAME.variant(players=4).symmetry.columns) == 8
    assert len(GAME.variant(players=4, advanced=True).symmetry.columns) == 4  # advanced cards tell pictures apart


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("options", [{"players": 4}, {"players": 3}, {"players": 3, "grab": "draft"}])
def test_a_renamed_position_has_the_renamed_observations_actions_and_points(options, number) -> None:
    check(options, number)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("players", [3, 4])
def test_so_has_the_advanced_game_with_renamed_colours(players, number) -> None:
    check({"players": players, "advanced": True}, number)


def check(options: dict[str, object], number: int) -> None:
    """At every decision of a game of two laps the renamed position is the renamed game, and stays it for a step."""
    env, twin = (make("bite_night_v0", laps=2, **options).unwrapped for _ in range(2))
    columns, actions = env.variant.symmetry.columns[number], env.variant.symmetry.actions[number]
    random = np.random.default_rng(number)

    def compare() -> None:
        for seat in env.possible_agents:
            for part, moved in (("observation", columns), ("action_mask", actions)):
                np.testing.assert_array_equal(twin.observe(seat)[part][moved], env.observe(seat)[part], err_msg=part)

    env.reset(seed=number)
    while True:
        before = env.snapshot()
        twin.reset(options={"snapshot": json.loads(renamed(json.dumps(before), BASIC_NAMES[number]))})
        compare()
        action = int(random.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])))
        env.step(action)
        twin.step(int(actions[action]))
        assert twin.snapshot()["scores"] == env.snapshot()["scores"]
        if env.snapshot()["over"]:
            break
        if env.snapshot()["lap"] == before["lap"]:  # chance deals the next lap by numbers, not by names
            compare()
