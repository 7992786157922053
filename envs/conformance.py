"""Checks that every game passes: the RL libraries' own tests, and what they do not test.

`check_game("pikit_v0", players=3)` raises `AssertionError` saying what is wrong; every check is also a function of its
own. PettingZoo's `max_cycles_test` is the one that cannot apply: it plays without masks and demands that nothing
illegal ever ends a game. `check_truncation` stands in for it.
"""

import copy
import json
import pickle
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env as gymnasium_check_env
from pettingzoo import AECEnv
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

from . import make, make_vec, replay
from .aec import GameEnv
from .core.contract import imagine
from .core.catalogue import find_game
from .core.game import Game, IllegalActionError, Variant
from .core.rng import env_seed, streams
from .parallel import ParallelGameEnv
from .register import gymnasium_id


@dataclass(frozen=True)
class Case:
    """A game with options, and the seed of everything random in a check."""

    name: str
    options: dict[str, Any]
    seed: int = 0

    @property
    def game(self) -> Game:
        """The game."""
        return find_game(self.name)

    @property
    def variant(self) -> Variant:
        """The game with its options."""
        return self.game.variant(**self.options)

    def raw_env(self, **more: Any) -> GameEnv:
        """A fresh `raw_env`, not yet reset."""
        return GameEnv(self.game, **self.options, **more)

    def env(self, **more: Any) -> AECEnv:
        """A fresh `env`, not yet reset."""
        return make(self.name, **self.options, **more)

    def parallel_env(self, **more: Any) -> ParallelGameEnv:
        """A fresh `parallel_env`, not yet reset."""
        return ParallelGameEnv(self.game, **self.options, **more)


def check_game(name: str, *, seed: int = 0, **options: Any) -> list[str]:
    """Run every check on a game with its options; returns the names of the checks that ran."""
    case = Case(name, options, seed)
    for check in CHECKS:
        try:
            check(case)
        except AssertionError as error:
            raise AssertionError(f"{name} {options}: {check.__name__}: {error}") from error
    return [check.__name__ for check in CHECKS]


# --- Playing at random ---


def random_steps(env: GameEnv, random: np.random.Generator, limit: int = 100_000) -> Iterator[int]:
    """Play a game that was reset to its end, yielding each random legal action before it is carried out."""
    for _ in range(limit):
        if not env.agents or any(env.terminations.values()) or any(env.truncations.values()):
            return
        action = int(random.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])))
        yield action
        env.step(action)
    raise AssertionError(f"a random game did not end within {limit} decisions")


def play(env: GameEnv, random: np.random.Generator) -> list[int]:
    """Play a game that was reset to its end at random; returns the actions."""
    return list(random_steps(env, random))


def _same(one: Any, other: Any) -> bool:
    """Whether two nests of dicts, arrays and numbers are equal to the bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return bool(one == other)


def _seen(env: GameEnv) -> dict[str, Any]:
    """Everything an environment shows all its agents."""
    return {
        agent: (env.observe(agent), env.infos.get(agent), env.text_observation(agent)) for agent in env.possible_agents
    }


def _view(variant: Variant, states: np.ndarray, seat: int) -> tuple[bytes, bytes, str]:
    """All that a seat gets to know of a state: observation, mask, text."""
    return (
        variant.observation(states, 0, seat).tobytes(),
        variant.legal_actions(states, 0, seat).tobytes(),
        variant.describe(variant.look(states, 0, seat)[0], seat),
    )


# --- The libraries' own tests ---


def check_pettingzoo(case: Case) -> None:
    """PettingZoo's api, seed and render tests, AEC and parallel."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dict observations always cause warnings, illegal moves are logged
        api_test(case.env(), num_cycles=200, verbose_progress=False)
        api_test(case.raw_env(), num_cycles=200, verbose_progress=False)
        parallel_api_test(case.parallel_env(), num_cycles=200)
        seed_test(lambda: case.env(), num_cycles=60)
        parallel_seed_test(lambda: case.parallel_env(), num_cycles=60)
        render_test(_quiet(case.env))


def _quiet(make_env: Callable[..., AECEnv]) -> Callable[..., AECEnv]:
    """Environments that print nowhere, for tests of render_mode="human"."""

    def quiet(**options: Any) -> AECEnv:
        env = make_env(**options)
        env.unwrapped.print = lambda text: None
        return env

    return quiet


def check_gymnasium(case: Case) -> None:
    """Gymnasium's (and, where installed, Stable-Baselines3's) `check_env` on the one-seat environment."""
    for seat in ("rotate", 0):
        env = gymnasium.make(gymnasium_id(case.name), opponents="random", seat=seat, **case.options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gymnasium_check_env(env.unwrapped, skip_render_check=True)
            try:
                from stable_baselines3.common.env_checker import check_env
            except ImportError:
                continue
            check_env(env.unwrapped)


# --- Rules, seen from outside ---


def check_masks(case: Case) -> None:
    """Every masked-out action is refused and changes nothing; every masked-in one is accepted."""
    env, random = case.raw_env(), np.random.default_rng(case.seed)
    env.reset(seed=case.seed)
    for step, _ in enumerate(random_steps(env, random)):
        if step % 7:
            continue
        before = env.save()
        mask = env.infos[env.agent_selection]["action_mask"]
        assert mask.any(), "an acting seat has no legal action"
        assert not mask[-1], "an acting seat may choose the no-op"
        for action in range(len(mask)):
            if mask[action]:
                env.step(action)
                env.restore(before)
                continue
            problem = _refused(env, action)
            assert problem, f"{env.action_name(action)!r} is masked out but was accepted"
            assert env.action_name(action) in problem, f"the error does not name the action: {problem}"
            assert env.save() == before, f"refusing {env.action_name(action)!r} changed the state"


def _refused(env: GameEnv, action: int) -> str:
    """What the environment says to an illegal action, nothing if it carries it out."""
    try:
        env.step(action)
    except IllegalActionError as error:
        return str(error)
    return ""


def check_conservation(case: Case) -> None:
    """Snapshots are JSON and lose nothing: loading one at any step shows the same, so no card is lost or doubled."""
    env, other, random = case.raw_env(), case.raw_env(), np.random.default_rng(case.seed)
    for game in range(2):
        env.reset(seed=case.seed + game)
        for step, _ in enumerate(random_steps(env, random)):
            if step % 3:
                continue
            snapshot = json.loads(json.dumps(env.snapshot()))
            other.reset(seed=1, options={"snapshot": snapshot})
            assert other.snapshot() == env.snapshot(), "a snapshot comes back changed"
            assert _same(_seen(other), _seen(env)), "a position loaded from its snapshot looks different"


def check_returns(case: Case) -> None:
    """Rewards sum to zero over sides, and members of a side share theirs, in both reward modes."""
    for reward in ("win", "score"):
        env, random = Case(case.name, {**case.options, "reward": reward}).raw_env(), np.random.default_rng(case.seed)
        sides = env.variant.sides
        for game in range(3):
            env.reset(seed=case.seed + game)
            totals = np.zeros(env.variant.players)
            for _ in random_steps(env, random):
                totals += list(env.rewards.values())
            totals += list(env.rewards.values())
            assert abs(totals[:sides].sum()) < 1e-4, f"returns {totals} are not zero-sum"
            assert all(totals[seat] == totals[seat % sides] for seat in range(len(totals))), "team mates differ"
            if reward == "win":
                assert abs(totals).max() <= 1, f"returns {totals} exceed 1"


def check_truncation(case: Case) -> None:
    """Long games are cut off, and say so; nobody wins then."""
    limits = case.game.truncating
    if not limits:
        return
    short = Case(case.name, {**case.options, **limits})
    env, random = short.raw_env(), np.random.default_rng(case.seed)
    truncated = 0
    for game in range(20):
        env.reset(seed=game)
        play(env, random)
        if any(env.truncations.values()):
            truncated += 1
            assert all(env.truncations.values()), "a truncation is for everybody"
            assert not any(env.terminations.values()), "a truncated game is not terminated"
            assert not any(env.rewards.values()) or case.options.get("reward") == "score", (
                "nobody wins a truncated game"
            )
            assert env.snapshot()["over"], "a truncated game is over"
            assert not env.snapshot()["winners"], "a truncated game has no winners"
    assert truncated, f"no game was truncated by {limits}"


# --- Reproducibility ---


def check_saving(case: Case) -> None:
    """save/restore, deepcopy and pickle, wrapped and not, continue identically from every kind of moment."""
    random = np.random.default_rng(case.seed)
    env, other = case.raw_env(), case.raw_env()
    env.reset(seed=case.seed)
    moments = []
    for step, _ in enumerate(random_steps(env, random)):
        if step < 12 or step % 29 == 0:
            moments.append((step, env.save()))
    actions, end = [action for _, action in env._moves], env.snapshot()
    other.reset(seed=case.seed + 1)
    for step, saved in moments:
        other.restore(saved)
        for action in actions[step:]:
            other.step(action)
        assert other.snapshot() == end, f"a game restored at step {step} ends differently"
        assert other.record() == env.record(), "a restored game has another record"
    wrapped = case.env()
    wrapped.reset(seed=case.seed)
    for action in actions[: len(actions) // 2]:
        wrapped.step(action)
    for twin in (copy.deepcopy(wrapped), pickle.loads(pickle.dumps(wrapped))):
        for action in actions[len(actions) // 2 :]:
            twin.step(action)
        assert twin.unwrapped.snapshot() == end, "a copied environment ends differently"
    assert len(wrapped.unwrapped._moves) == len(actions) // 2, "a copy moved its original"


def check_records(case: Case) -> None:
    """A record replays to the identical end, from a seed, a running generator, and a snapshot."""
    env, random = case.raw_env(), np.random.default_rng(case.seed)
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


def check_same_games(case: Case) -> None:
    """AEC, parallel and batch (1 and 2 threads) play identical games from one seed."""
    batches = [make_vec(case.name, 5, threads, case.seed, **case.options) for threads in (1, 2)]
    singles = []
    for i in range(5):
        single = case.raw_env()
        single.reset(seed=env_seed(case.seed, i))
        singles.append(single)
    ends = 0
    for _ in range(600):
        one, two = batches
        for i, env in enumerate(singles):
            seen = env.observe(env.agent_selection)
            assert env.possible_agents[one.seats[i]] == env.agent_selection, "AEC and batch ask different seats"
            assert _same(seen["observation"], one.observations[i]), "AEC and batch observe differently"
            assert (seen["action_mask"] == one.action_masks[i]).all(), "AEC and batch have different masks"
        actions = one.sample_actions().copy()
        assert (two.sample_actions() == actions).all(), "samples depend on the number of threads"
        for batch in batches:
            batch.step(actions)
        assert one.states.tobytes() == two.states.tobytes(), "1 and 2 threads play different games"
        for i, env in enumerate(singles):
            env.step(int(actions[i]))
            assert np.allclose(list(env.rewards.values()), one.rewards[i]), "AEC and batch reward differently"
            over = any(env.terminations.values()) or any(env.truncations.values())
            assert over == bool(one.terminated[i] or one.truncated[i]), "AEC and batch end differently"
            if over:
                ends += 1
                assert env._states.tobytes() == one.final_states[i : i + 1].tobytes(), "final states differ"
                env.reset()
    _check_parallel(case)


def _check_parallel(case: Case) -> None:
    """The parallel environment plays the AEC environment's game."""
    random = np.random.default_rng(case.seed)
    parallel, env = case.parallel_env(), case.raw_env()
    _, infos = parallel.reset(seed=case.seed)
    env.reset(seed=case.seed)
    chosen: dict[str, list[int]] = {agent: [] for agent in env.possible_agents}
    owed, gained = dict.fromkeys(chosen, 0.0), dict.fromkeys(chosen, 0.0)
    while parallel.agents:
        masks = {agent: infos[agent]["action_mask"] for agent in parallel.agents}
        assert all(mask.any() for mask in masks.values()), "a mask is all zero"
        actions = {agent: int(random.choice(np.flatnonzero(mask))) for agent, mask in masks.items()}
        observations, rewards, _, _, infos = parallel.step(actions)
        for agent, action in actions.items():
            gained[agent] += rewards[agent]
            if action != env.variant.num_actions - 1:
                chosen[agent].append(action)
        # The AEC environment asks one seat after the other, with several choices in a row: it follows when it can.
        while chosen.get(env.agent_selection):
            env.step(chosen[env.agent_selection].pop(0))
            for agent in owed:
                owed[agent] += env.rewards[agent]
            if any(env.terminations.values()) or any(env.truncations.values()):
                break
        if not any(chosen.values()):
            assert owed == gained, "AEC and parallel reward differently"
            seen = {agent: env.observe(agent) for agent in env.possible_agents}
            assert _same(observations, seen), "AEC and parallel observe differently"
            assert _same(infos, env.infos), "AEC and parallel have different infos"
    assert parallel.snapshot() == env.snapshot(), "AEC and parallel end differently"
    assert replay(parallel.record()).snapshot() == env.snapshot(), "a parallel game's record does not replay"


# --- Secrets ---


def check_secrets(case: Case) -> None:
    """What a seat gets never depends on what it cannot know, and determinized worlds are legal positions.

    The hidden part is resampled from each seat's view at many moments (also within simultaneous phases): observation,
    mask, info and text of that seat stay identical to the byte. Resampled worlds must pass the snapshot's validation
    and be playable to the end, and must really differ where something is hidden.
    """
    variant, env, random = case.variant, case.raw_env(), np.random.default_rng(case.seed)
    other = case.raw_env()
    stream = streams(case.seed, 1, "search")
    worlds = variant.new_states(1)
    moved = 0
    for game in range(3):
        env.reset(seed=case.seed + game)
        for step, _ in enumerate(random_steps(env, random)):
            if step > 40 and step % 11:
                continue
            truth = env._states.copy()
            for seat in range(variant.players):
                view = _view(variant, truth, seat)
                imagine(worlds, truth, seat, stream[0])
                assert _view(variant, worlds, seat) == view, f"seat {seat} sees what it cannot know at step {step}"
                hidden = {**variant.snapshot(worlds[0]), "generator": 0}
                moved += hidden != {**variant.snapshot(truth[0]), "generator": 0}
                assert int(worlds["acting"][0]) >> seat & 1 == int(truth["acting"][0]) >> seat & 1, "other turn"
                other.reset(options={"snapshot": hidden})
                again = _view(variant, other._states, seat)
                assert again == view, f"seat {seat}: a resampled world is not a position"
            assert env._states.tobytes() == truth.tobytes(), "imagining moved the game"
        if game == 0:
            other.reset(options={"snapshot": hidden})
            play(other, random)
    assert moved, "nothing was ever hidden"


def check_search_stream(case: Case) -> None:
    """Imagined worlds are a function of what the seat knows and of the given stream: nothing hidden leaves a trace."""
    variant, env, random = case.variant, case.raw_env(), np.random.default_rng(case.seed)
    luck = streams(case.seed, 1, "search")
    twin, one, other = (variant.new_states(1) for _ in range(3))
    env.reset(seed=case.seed)
    for step, _ in enumerate(random_steps(env, random)):
        if step % 5:
            continue
        truth = env._states.copy()
        for seat in range(variant.players):
            imagine(twin, truth, seat, luck[0])
            for world, source in ((one, truth), (other, twin)):
                imagine(world, source, seat, streams(step, 1, "search")[0])
            assert one.tobytes() == other.tobytes(), f"seat {seat} at step {step}: the truth shows through"


CHECKS: tuple[Callable[[Case], None], ...] = (
    check_pettingzoo,
    check_gymnasium,
    check_masks,
    check_conservation,
    check_returns,
    check_truncation,
    check_saving,
    check_records,
    check_same_games,
    check_secrets,
    check_search_stream,
)
