"""Saves, copies, records, threads and the parallel environment: all go on with the same game, to the bit."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monsterzoo.envs import make, make_parallel, make_vec, names, replay
from monsterzoo.envs.conformance import Case, _same, random_steps
from monsterzoo.envs.core.registry import find_game


def saving(case: Case) -> None:
    """save/restore, deepcopy and pickle, wrapped and not, continue identically from every kind of moment."""
    random, env, other, wrapped = case.random(), case.raw_env(), case.raw_env(), make(case.name, **case.options)
    other.reset(seed=case.seed + 3)
    for seed in range(case.seed, case.seed + 3):
        env.reset(seed=seed)
        saved = [(step, env.save()) for step, _ in enumerate(random_steps(env, random)) if step < 12 or step % 29 == 0]
        actions, end = [action for _, action in env.moves], env.snapshot()
        for step, data in saved:
            other.restore(data if step % 2 else bytes(data))  # in this process, or as from another one
            for action in actions[step:]:
                other.step(action)
            assert other.snapshot() == end, f"a game restored at step {step} ends differently"
            assert other.record() == env.record(), "a restored game has another record"
        half = len(actions) // 2
        wrapped.reset(seed=seed)
        for action in actions[:half]:
            wrapped.step(action)
        for twin in (copy.deepcopy(wrapped), pickle.loads(pickle.dumps(wrapped))):
            for action in actions[half:]:
                twin.step(action)
            assert twin.unwrapped.snapshot() == end, "a copied environment ends differently"
        assert len(wrapped.unwrapped.moves) == half, "a copy moved its original"


def test_a_record_replays_to_the_identical_end(name, options):
    """A record replays to the identical end, from a seed, a running generator, and a snapshot."""
    case = Case(name, options)
    env, random = case.raw_env(), case.random()
    env.reset(seed=case.seed)
    half: list[Any] = []
    for start in ("seed", "generator", "snapshot"):
        if start == "generator":
            env.reset()
        elif start == "snapshot":
            env.reset(options={"snapshot": half[len(half) // 2]})
        half = [env.snapshot() for _ in random_steps(env, random)]
        record = json.loads(json.dumps(env.record()))
        assert start in record, f"the record has no {start}"
        again = replay(record)
        assert again.snapshot() == env.snapshot(), f"a replay from a {start} ends differently"
        assert again.record() == record, "a replay has another record"


def test_saves_and_copies_go_on_with_the_same_game(name, options):
    saving(Case(name, options))


@settings(max_examples=8)
@given(seed=st.integers(0, 2**62))
def test_saving_holds_for_random_seeds(seed):
    random = np.random.default_rng(seed)
    name = names()[random.integers(len(names()))]
    options = find_game(name).variants[random.integers(len(find_game(name).variants))]
    saving(Case(name, options, seed % 2**31))


def test_threads_play_the_same_games(name, options):
    one, two = (make_vec(name, 5, threads, seed=0, **options) for threads in (1, 2))
    for _ in range(300):
        actions = one.sample_actions().copy()
        assert (two.sample_actions() == actions).all(), "samples depend on the number of threads"
        one.step(actions)
        two.step(actions)
        assert one.states.tobytes() == two.states.tobytes(), "1 and 2 threads play different games"


@pytest.mark.parametrize("seed", range(3))
def test_parallel_and_aec_environments_play_the_same_games(name, options, seed):
    """The parallel environment plays a game that the AEC environment, which asks one seat after another, plays too."""
    case, random = Case(name, options), np.random.default_rng(seed)
    parallel, env = make_parallel(case.name, **case.options), case.raw_env()
    _, infos = parallel.reset(seed=seed)
    gained = owed = np.zeros(env.variant.players)
    while parallel.agents:
        masks = {agent: infos[agent]["action_mask"] for agent in parallel.agents}
        assert all(mask.any() for mask in masks.values()), "a mask is all zero"
        actions = {agent: int(random.choice(np.flatnonzero(mask))) for agent, mask in masks.items()}
        observations, rewards, _, _, infos = parallel.step(actions)
        gained = gained + list(rewards.values())
    env.reset(seed=seed)
    for seat, action in parallel.moves:
        env.step_for(env.possible_agents[seat], action)
        owed = owed + list(env.rewards.values())
    assert owed.tolist() == gained.tolist(), "AEC and parallel reward differently"
    assert _same(observations, {agent: env.observe(agent) for agent in infos}), "AEC and parallel observe differently"
    assert _same(infos, env.infos), "AEC and parallel have different infos"
    assert parallel.snapshot() == env.snapshot(), "AEC and parallel end differently"
    assert replay(parallel.record()).snapshot() == env.snapshot(), "a parallel game's record does not replay"
