"""Every game, variant and option passes the public conformance suite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monsterzoo.envs import conformance, names
from monsterzoo.envs.conformance import CHECKS, Case
from monsterzoo.envs.core.registry import find_game

# Options that change a game beyond its variants; a check of all of them with everything would only take time.
MORE_OPTIONS = {
    "yokai_septet_v0": [
        {"players": 4, "scoring": "basic", "first_lead": "held", "reward": "score"},
        {"players": 3, "episode": "round", "target": 30},
        {"players": 2, "straw_reveal": "trick_end", "scoring": "basic"},
        {"players": 4, "variant": "seven_suitors_short", "episode": "round", "first_lead": "held"},
        {"players": 2, "deck": [f"{suit}{rank}" for suit in "CLD" for rank in (6, 7, 8)], "straw": 0},
        {"players": 2, "straw": 2, "straw_reveal": "trick_end", "episode": "round"},
    ],
    "pikit_v0": [
        {"players": 2, "reward": "score", "max_turns": 30},
        {"players": 3, "deck": {1: 8, 2: 8, 3: 8, 4: 8, 5: 8, 6: 8, 7: 8, 8: 8, 9: 3, 10: 3, 11: 3}},
        {"players": 2, "deck": {1: 2, 3: 1, 5: 2}, "centre": 1, "start": 1, "faces": 2, "max_turns": 4},
        {"players": 4, "deck": {1: 5, 2: 5, 4: 5, 5: 5, 6: 5, 7: 5, 10: 1}, "centre": 4, "start": 3, "faces": 3},
    ],
    "bite_night_v0": [
        {"players": 3, "grab": "draft", "reward": "score"},
        {"players": 4, "advanced": True, "grab": "draft"},
        {"players": 3, "advanced": True, "reflexes": [1.0, 2.0, 3.0], "laps": 1},
    ],
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_variant_conforms(name, options, check):
    check(Case(name, options))


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [Case(n, o) for n in names() for o in MORE_OPTIONS.get(n, [])], ids=lambda c: f"{c.name}-{c.options}"
)
def test_more_options_conform(case):
    assert conformance.check_game(case.name, **case.options)


@pytest.mark.parametrize("game", names())
def test_every_option_and_value_is_covered_somewhere(game):
    """A new option, or a new value of one, must be added to the list above."""
    covered = [*find_game(game).variants, *MORE_OPTIONS.get(game, [])]
    for option, spec in find_game(game).options.items():
        for text in spec.allowed.split(", "):
            if text[:1] in "'0123456789TF":
                value = eval(text)
                assert value == spec.default or any(c.get(option) == value for c in covered), f"{option}={value!r}"


@settings(max_examples=8)
@given(seed=st.integers(0, 2**62))
def test_secrets_hold_for_random_seeds(seed):
    random = np.random.default_rng(seed)
    name = names()[random.integers(len(names()))]
    options = find_game(name).variants[random.integers(len(find_game(name).variants))]
    conformance.check_secrets(Case(name, options, seed % 2**31))


def test_a_failing_check_is_named():
    """What the checks find, `test_add_a_game` shows with mistakes in a small game."""
    game = find_game("pikit_v0")
    honest = game.looks.describe
    object.__setattr__(game.looks, "describe", lambda view, seat: f"{honest(view, seat)} {np.random.random()}")
    try:
        with pytest.raises(AssertionError, match=r"pikit_v0 .'players': 2.: check_secrets: .* the text"):
            conformance.check_game("pikit_v0", players=2)
    finally:
        object.__setattr__(game.looks, "describe", honest)
