"""The engine against an independent implementation of the rules, over random games of every variant and option."""

import random
from typing import Any

import numpy as np
import pytest
from monsterzoo.envs import yokai_septet_v0
from yokai_positions import label, over, rewards
from yokai_reference import NUMBER, Reference

OPTIONS: tuple[dict[str, Any], ...] = (
    {"players": 4},
    {"players": 4, "scoring": "basic", "first_lead": "held"},
    {"players": 4, "target": 12, "max_rounds": 3, "reward": "score"},
    {"players": 4, "episode": "round"},
    {"players": 3},
    {"players": 3, "scoring": "basic", "target": 3, "first_lead": "held", "reward": "score"},
    {"players": 3, "max_rounds": 2},
    {"players": 3, "episode": "round", "first_lead": "held"},
    {"players": 2},
    {"players": 2, "straw_reveal": "trick_end"},
    {"players": 2, "straw_reveal": "trick_end", "scoring": "basic", "reward": "score"},
    {"players": 2, "episode": "round"},
    {"players": 4, "variant": "seven_suitors", "max_rounds": 12},
    {"players": 4, "variant": "seven_suitors", "first_lead": "held", "episode": "round"},
    {"players": 4, "variant": "seven_suitors_short", "reward": "score"},
    {"players": 4, "variant": "seven_suitors_short", "first_lead": "held", "max_rounds": 2},
)


def _choice(actions: list[str], style: int, chooser: random.Random) -> str:
    """Random play of several kinds, so that long rounds, hoarded bosses and empty hands come up."""
    cards = [action for action in actions if action in NUMBER]
    if not cards or style == 0 or chooser.random() < 0.2:
        return chooser.choice(actions)
    low_to_high = sorted(cards, key=lambda card: (card == "W1", int(card[1:].rstrip("*"))))
    if style == 1:
        return low_to_high[0]
    if style == 2:
        return low_to_high[-1]
    others = [card for card in cards if "7" not in card[1:2]]  # keep the bosses back
    return chooser.choice(others or cards)


def _play_along(env: Any, seed: int, every_step: bool) -> None:
    """One game by both; the masks are compared at every step, the positions at every step or at every deal and end."""
    env.reset(seed=seed)
    reference = Reference(env.options, env.snapshot())
    chooser = random.Random(seed)
    style = seed % 4
    assert env.snapshot().items() >= reference.view().items()
    while not reference.over:
        waiting = reference.to_act()
        seat = waiting[0]
        assert env.agent_selection == f"player_{seat}"
        masks = [env.infos[agent]["action_mask"] for agent in env.possible_agents]
        actions = sorted(reference.legal(seat), key=env.parse_action)
        assert np.flatnonzero(masks[seat]).tolist() == [env.parse_action(action) for action in actions]
        for other in range(reference.players):
            if other not in waiting:
                assert np.flatnonzero(masks[other]).tolist() == [env.parse_action("no-op")]
        action = _choice(actions, style, chooser)
        env.step(env.parse_action(action))
        reference.step(seat, action)
        assert rewards(env) == pytest.approx(reference.rewards)
        assert over(env) == reference.over
        if not (every_step or reference.over or reference.waiting_for_deal):
            continue
        snapshot = env.snapshot()
        if reference.waiting_for_deal:
            reference.deal(snapshot)
        view = reference.view()
        assert {key: snapshot[key] for key in view} == view
    assert all(env.truncations.values()) == reference.truncated
    assert all(env.terminations.values()) != reference.truncated


@pytest.mark.parametrize("options", OPTIONS, ids=label)
def test_engine_agrees_with_the_reference_at_every_step(options):
    env = yokai_septet_v0.raw_env(**options)
    for seed in range(12):
        _play_along(env, seed, every_step=True)


@pytest.mark.parametrize("options", OPTIONS, ids=label)
def test_engine_agrees_with_the_reference_over_many_games(options):
    env = yokai_septet_v0.raw_env(**options)
    for seed in range(1000, 1100):
        _play_along(env, seed, every_step=False)
