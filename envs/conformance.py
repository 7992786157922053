"""Conformance tests for games: the RL libraries' own tests, and what they do not test.

`check_game("pikit_v0", players=3)` raises `AssertionError` saying what is wrong; every check is also a function of its
own. PettingZoo's `max_cycles_test` cannot apply, since it plays without masks; `check_truncation` stands in for it.
"""

import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from inspect import signature
from io import StringIO
from typing import Any
from unittest.mock import patch

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env as gymnasium_check_env
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

from . import make, make_parallel, make_raw, make_vec
from .api.aec import GameEnv
from .core import contract, stepping
from .core.contract import MAX_EVENTS, MAX_PLAYERS, PLAYING, imagine
from .core.game import Game, nothing_hidden
from .core.layout import SET, Layout
from .core.registry import find_game, gymnasium_id
from .core.rng import env_seed, streams
from .core.variant import IllegalActionError, Variant
from .match.driver import is_over
from .render.perspective import scene_of, stepped
from .render.scene import Scene


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
        return make_raw(self.name, **{**self.options, **more})

    def random(self) -> np.random.Generator:
        """A generator of the seed."""
        return np.random.default_rng(self.seed)

    def moments(self, env: GameEnv, stride: int, wanted: int = 30) -> Iterator[int]:
        """Play whole games at random, of this seed and the next ones; stop at every `stride`-th step with its number.

        There are at least two games and `wanted` moments, so that short games are looked at as closely as long ones.
        The caller must leave the game as it is.
        """
        random, seen, game = self.random(), 0, 0
        while game < 2 or seen < wanted:
            env.reset(seed=self.seed + game)
            for step, _ in enumerate(random_steps(env, random)):
                if (step + game) % stride == 0:
                    seen += 1
                    yield step
            game += 1


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
        if not env.agents or is_over(env):
            return
        action = int(random.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])))
        yield action
        env.step(action)
    raise AssertionError(f"a random game did not end within {limit} decisions")


def _same(one: Any, other: Any) -> bool:
    """Whether two nests of dicts, arrays and numbers are equal to the bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return bool(one == other)


def _known(variant: Variant, states: np.ndarray, seat: int) -> dict[str, Any]:
    """All that a seat gets to know of a state: view, observation, mask, text."""
    views = variant.look(states, 0, seat)
    return {
        **{f"{name} in the view": views[name].tobytes() for name in views.dtype.names or ()},
        "the observation": variant.observation(states, 0, seat).tobytes(),
        "the mask": variant.legal_actions(states, 0, seat).tobytes(),
        "the text": variant.describe(views[0], seat),
    }


def _changed(one: Any, other: Any) -> str:
    """The parts in which two dicts, or two arrays of records, differ."""
    names = one if isinstance(one, dict) else one.dtype.names
    return ", ".join(name for name in names if not _same(one[name], other[name]))


# --- What a game says of itself ---


def check_definition(case: Case) -> None:
    """Records, functions, names and layout fit together."""
    game, variant = case.game, case.variant
    for name in ("setup", "legal", "step", "look", "score", "determinize"):
        given = game.view.look if name == "look" else getattr(game.rules, name)
        own, wanted = (_parameters(function) for function in (given, getattr(contract, name)))
        assert len(own) == len(wanted), f"{name} takes {', '.join(wanted)}, not {', '.join(own)}"
    names = variant.action_names
    assert len(set(names)) == len(names), "two actions have the same name (the last one is the no-op)"
    assert 2 <= variant.players <= MAX_PLAYERS, f"configure wrote {variant.players} players"
    assert 2 <= variant.sides <= variant.players, f"configure wrote {variant.sides} sides"
    assert variant.template["scale"][0] > 0, "configure wrote no scale for rewards"
    assert json.loads(json.dumps(variant.options)) == variant.options, "options are not JSON"
    assert variant.layout in game.layouts, f"none of {game.variants} has the layout of {case.options}"
    for field in variant.layout:
        alone = Layout(field)
        try:
            alone.encode(variant.new_views()[0], np.empty(alone.size, np.int8))
        except (ValueError, IndexError) as error:
            raise AssertionError(f"{field.name} in the layout does not fit the view: {error}") from error


def _parameters(function: Any) -> list[str]:
    assert callable(function), f"{function!r} is not a function"
    return list(signature(getattr(function, "py_func", function)).parameters)


# --- The libraries' own tests ---


ABOUT_DICTS = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box",
)
"""What PettingZoo's `api_test` has to say about every environment with a mask in its observations."""


def check_pettingzoo(case: Case) -> None:
    """PettingZoo's api, seed and render tests, AEC and parallel, with dict and box observations; none may warn."""
    with _strictly(), redirect_stdout(StringIO()):
        for observation in ("dict", "box"):
            for problem in ABOUT_DICTS if observation == "dict" else ():
                warnings.filterwarnings("ignore", problem)
            makers = (make, make_raw, make_parallel)
            env, raw_env, parallel_env = (
                partial(maker, case.name, observation=observation, **case.options) for maker in makers
            )
            api_test(env(), num_cycles=200, verbose_progress=False)
            api_test(raw_env(), num_cycles=200, verbose_progress=False)
            parallel_api_test(parallel_env(), num_cycles=200)
            seed_test(env, num_cycles=60)
            parallel_seed_test(parallel_env, num_cycles=60)
        if find_spec("pygame") is not None:
            with patch.dict(os.environ, {"SDL_VIDEODRIVER": "dummy", **os.environ}):  # a window that nobody sees
                render_test(env)


@contextmanager
def _strictly() -> Iterator[None]:
    """Warnings are errors, and what the libraries' tests play against the rules is not worth a line in the log."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        logging.disable(before)


def check_gymnasium(case: Case) -> None:
    """Gymnasium's (and, where installed, Stable-Baselines3's) `check_env` on the one-seat environment."""
    for seat, observation in (("rotate", "dict"), (0, "box")):
        env = gymnasium.make(gymnasium_id(case.name), seat=seat, observation=observation, **case.options)
        with _strictly():
            gymnasium_check_env(env.unwrapped, skip_render_check=True)
            try:
                from stable_baselines3.common.env_checker import check_env
            except ImportError:
                continue
            check_env(env.unwrapped)


# --- Rules, seen from outside ---


def check_contract(case: Case) -> None:
    """Set-up, turns and endings are what `contract` says, and plain Python plays the same games as compiled code."""
    variant, env, random = case.variant, case.raw_env(), case.random()
    env.reset(seed=case.seed)
    games = steps = 0
    while games < 3 or steps < 60:
        games += 1
        fresh = variant.new_states(1)
        fresh["rng"] = env.states["rng"]
        plain = fresh.copy()
        stepping.begin(fresh, 0)
        env.reset()
        _plainly(contract.setup, plain[0])
        assert _same(fresh, env.states), f"setup leaves something of the last game in {_changed(fresh, env.states)}"
        assert _same(plain, fresh), f"setup in plain Python and compiled differs in {_changed(plain, fresh)}"
        _check_turn(variant, fresh)
        for action in random_steps(env, random):
            plain, where, words = env.states, f"in position {env.snapshot()}", np.zeros(variant.words, np.uint64)
            seat, name = env.possible_agents.index(env.agent_selection), env.action_name(action)
            _plainly(contract.legal, plain[0], seat, words)
            legal = sum(int(word) << 64 * k for k, word in enumerate(words))
            assert legal, f"seat {seat} has no legal action {where}"
            assert not legal >> variant.num_actions - 1, f"seat {seat} has legal actions without a name {where}"
            after = stepped(variant, plain, seat, action)
            _plainly(contract.step, plain[0], seat, action)
            assert _same(plain, after), (
                f"{name!r} in plain Python and compiled differs in {_changed(plain, after)} {where}"
            )
            _check_turn(variant, after)
            steps += 1
        for side in range(variant.sides):
            points = _plainly(contract.score, env.states[0], side)
            assert isinstance(points, int | np.integer), f"score is an integer, not {points!r}"


def _plainly(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a rule in plain Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's scalars warn where they wrap, compiled integers do not
        return function(*arguments)


def _check_turn(variant: Variant, states: np.ndarray) -> None:
    """Who acts and who has won are sets of seats that fit the outcome."""
    outcome, acting, winners = (int(states[name][0]) for name in ("outcome", "acting", "winners"))
    assert outcome in (contract.PLAYING, contract.TERMINATED, contract.TRUNCATED), f"outcome is {outcome}"
    assert not (acting | winners) >> variant.players, f"acting is {acting:b}, winners {winners:b}: too many seats"
    if outcome == PLAYING:
        assert acting, f"nobody acts, but the game is not over: {variant.snapshot(states[0])}"
        assert not winners, "somebody has won, but the game is not over"
    else:
        assert not acting, f"the game is over, but acting is {acting:b} and not 0"
        won = [winners >> seat & 1 for seat in range(variant.players)]
        assert won == [won[seat % variant.sides] for seat in range(variant.players)], "only a part of a side has won"


def check_masks(case: Case) -> None:
    """Every action outside the mask is refused and changes nothing; every other one is accepted."""
    env = case.raw_env()
    for _ in case.moments(env, 7):
        before = env.save()
        mask = env.infos[env.agent_selection]["action_mask"]
        assert mask.any(), "an acting seat has no legal action"
        assert not mask[-1], "an acting seat may choose the no-op"
        for action in range(len(mask)):
            if mask[action]:
                env.step(action)
                env.restore(before)
                continue
            name, problem = env.action_name(action), ""
            try:
                env.step(action)
            except IllegalActionError as error:
                problem = str(error)
            assert problem, f"{name!r} is masked out but was accepted"
            assert name in problem, f"the error does not name the action: {problem}"
            assert env.save() == before, f"refusing {name!r} changed the state"


def check_conservation(case: Case) -> None:
    """Snapshots are JSON and lose nothing: loading one at any step gives the same record."""
    env, other = case.raw_env(), case.raw_env()
    for _ in case.moments(env, 3):
        snapshot = json.loads(json.dumps(env.snapshot()))
        other.reset(seed=1, options={"snapshot": snapshot})
        assert other.snapshot() == snapshot, "a snapshot comes back changed"
        lost = _changed(env.states, other.states)
        assert not lost, f"a position loaded from its snapshot differs in {lost}"


def check_returns(case: Case) -> None:
    """Rewards sum to zero over sides, and members of a side share theirs, in both reward modes."""
    for reward in ("win", "score"):
        env, random = case.raw_env(reward=reward), case.random()
        sides = env.variant.sides
        for game in range(10):
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
    """Games that reach the limit are truncated, for everybody, and nobody wins them."""
    rules = case.game.rules
    if not rules.truncating:
        return
    short = {**case.options, **rules.truncating}
    env, random, truncated = Case(case.name, short).raw_env(), case.random(), 0
    for game in range(20):
        env.reset(seed=game)
        list(random_steps(env, random))
        if any(env.truncations.values()):
            truncated += 1
            assert all(env.truncations.values()), "a truncation is for everybody"
            assert not any(env.terminations.values()), "a truncated game is not terminated"
            paid = any(env.rewards.values()) and case.options.get("reward") != "score"
            assert not paid, "nobody wins a truncated game"
            assert env.snapshot()["over"], "a truncated game is over"
            assert not env.snapshot()["winners"], "a truncated game has no winners"
    assert truncated, f"no game was truncated by {rules.truncating}"


# --- Batches ---


def check_same_games(case: Case) -> None:
    """A batch plays the games of AEC environments of its seeds."""
    batch = make_vec(case.name, 5, 2, case.seed, **case.options)
    singles = [case.raw_env() for _ in range(5)]
    for i, env in enumerate(singles):
        env.reset(seed=env_seed(case.seed, i))
    ends = np.zeros(5, np.int64)
    for step in range(20_000):
        if step >= 200 and ends.all():
            return
        for i, env in enumerate(singles):
            seen = env.observe(env.agent_selection)
            assert env.possible_agents[batch.seats[i]] == env.agent_selection, "AEC and batch ask different seats"
            assert _same(seen["observation"], batch.observations[i]), "AEC and batch observe differently"
            assert (seen["action_mask"] == batch.action_masks[i]).all(), "AEC and batch have different masks"
        actions = batch.sample_actions()
        batch.step(actions)
        for i, env in enumerate(singles):
            env.step(int(actions[i]))
            assert np.allclose(list(env.rewards.values()), batch.rewards[i]), "AEC and batch reward differently"
            assert is_over(env) == bool(batch.terminated[i] or batch.truncated[i]), "AEC and batch end differently"
            if is_over(env):
                ends[i] += 1
                assert _same(env.states, batch.final_states[i : i + 1]), "final states differ"
                env.reset()
    raise AssertionError("a random game did not end within 20,000 decisions")


# --- Views and secrets ---


def check_views(case: Case) -> None:
    """A view is a function of state and seat, and the tensor tells all of it: `decode` gives back the same bytes."""
    variant, env, layout = case.variant, case.raw_env(), case.variant.layout
    again = np.empty(layout.size, np.int8)
    for step in case.moments(env, 5):
        states = env.states
        for seat in range(variant.players):
            moment = f"seat {seat} at step {step}"
            view, row = variant.look(states, 0, seat), variant.observation(states, 0, seat)
            stepping.observe_one(states, 0, seat, _used_views(variant), again.view(np.uint64))
            assert _same(again, row), f"{moment}: look does not write {_other_columns(variant, row, again)}"
            try:
                back = variant.decode(row[None])
            except ValueError as error:
                raise AssertionError(f"{moment}: the tensor cannot be read back, {error}") from error
            assert _same(back, view), f"{moment}: the tensor does not tell {_changed(view, back)}"
            layout.encode(view[0], again)
            other = _other_columns(variant, row, again)
            assert not other, f"{moment}: plain Python encodes {other} differently"


def _used_views(variant: Variant) -> np.ndarray:
    """A view that holds something else in every field that `look` writes."""
    views = variant.new_views()
    for field in variant.layout:
        if field.source not in variant.game.view.options:
            views[field.source] = np.iinfo(views[field.source].dtype).max if field.kind == SET else 1
    return views


def _other_columns(variant: Variant, one: np.ndarray, other: np.ndarray) -> str:
    return ", ".join(field.name for field in variant.layout if not _same(one[field.slice], other[field.slice]))


def check_secrets(case: Case) -> None:
    """What a seat gets never depends on what it cannot know, and determinized worlds are legal positions.

    The hidden part is resampled for each seat at many moments (also within simultaneous phases): view, observation,
    mask and text of that seat stay identical to the byte. Resampled worlds must pass the snapshot's validation and be
    playable to the end, and must really differ where something is hidden. A world sampled from a resampled one,
    with the same stream, is the same world: what is sampled shows nothing of the truth either.
    """
    variant, env, other, random = case.variant, case.raw_env(), case.raw_env(), case.random()
    stream, moved = streams(case.seed, 1, "search"), 0
    worlds, one, two = (variant.new_states(1) for _ in range(3))
    for step in case.moments(env, 3, wanted=100):
        truth = env.states
        for seat in range(variant.players):
            known = _known(variant, truth, seat)
            imagine(worlds, truth, seat, stream[0])
            leaks = _changed(known, _known(variant, worlds, seat))
            assert not leaks, f"seat {seat} sees what it cannot know at step {step}: {leaks}"
            for world, source in ((one, truth), (two, worlds)):
                imagine(world, source, seat, streams(step, 1, "search")[0])
            assert one.tobytes() == two.tobytes(), f"seat {seat} at step {step}: the truth shows through"
            moved += _changed(worlds, truth) not in ("", "rng")
            assert int(worlds["acting"][0]) >> seat & 1 == int(truth["acting"][0]) >> seat & 1, "other turn"
            variant.check_positions(worlds)
            other.reset(options={"snapshot": variant.snapshot(worlds[0])})
        assert env.states.tobytes() == truth.tobytes(), "imagining moved the game"
        if step % 9 == 0:
            list(random_steps(other, random))
    assert moved or case.game.rules.determinize is nothing_hidden, "determinize never changed anything"


def check_events(case: Case) -> None:
    """Events have names, their numbers are in range, and a choice that another seat sees nothing of is none for it."""
    variant, env, names = case.variant, case.raw_env(), case.variant.event_names
    assert names[0] == "", "event 0 is no event, it has no name"
    assert len(set(names)) == len(names), "two events have the same name"
    env.reset(seed=case.seed)
    for action in random_steps(env, case.random()):
        mover = env.possible_agents.index(env.agent_selection)
        before, after = env.states, stepped(variant, env.states, mover, action)
        for seat in range(variant.players):
            events = variant.events(before, after, seat, mover, action)
            assert len(events) <= MAX_EVENTS, f"{len(events)} events of one decision"
            there = ((events >= (0, 1)) & (events < (variant.players, len(names)))).all()
            assert there, f"there are no events {events}"
            seen = variant.look(before, 0, seat).tobytes() != variant.look(after, 0, seat).tobytes()
            assert seen or seat == mover or not len(events), f"seat {seat} is told of what it does not see: {events}"


def check_scenes(case: Case) -> None:
    """Scenes are JSON; every legal action has exactly one place to click, with words; what is hidden stays hidden."""
    variant, env = case.variant, case.raw_env()
    stream, worlds = streams(case.seed, 1, "search"), variant.new_states(1)
    for step in case.moments(env, 9):
        states = env.states
        for seat, agent in enumerate(env.possible_agents):
            moment = f"seat {seat} at step {step}"
            scene = scene_of(variant, states, seat)
            _check_targets(scene, env.infos[agent]["action_mask"], moment)
            imagine(worlds, states, seat, stream[0])
            own, other = (json.dumps(one.as_json()) for one in (scene, scene_of(variant, worlds, seat)))
            assert own == other, f"{moment}: the scene shows secrets"
        spectators = scene_of(variant, states, None)
        assert not any(part.actions for part in spectators.parts), "spectators are offered actions"


def _check_targets(scene: Scene, mask: np.ndarray, moment: str) -> None:
    """The legal actions of a mask, and no others, have one place each to click on."""
    offered = sorted(action for part in scene.parts for action, _ in part.actions)
    legal = [] if mask[-1] else np.flatnonzero(mask).tolist()
    assert offered == legal, f"{moment}: the scene offers {offered}, legal are {legal}"
    for part in scene.parts:
        assert not part.actions or part.box, f"{moment}: {part.label!r} has actions, but no box to click on"
        assert all(words for _, words in part.actions), f"{moment}: {part.label!r} does not say what it does"


CHECKS: tuple[Callable[[Case], None], ...] = (
    check_definition, check_contract, check_views, check_pettingzoo, check_gymnasium, check_masks, check_conservation,
    check_returns, check_truncation, check_same_games, check_secrets, check_events, check_scenes,
)  # fmt: skip
