"""Fuzzing, inside of one process: inputs for one entrance of one game, each a function of its number alone.

`python tests/fuzz/entrances.py snapshots pikit_v0 --first 17 --inputs 1` repeats a single input. The process writes the
number of the input at hand into `--progress`, so that whoever started it can tell which one crashed it or never ended.
"""

import argparse
import faulthandler
import json
import os
import sys
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("MONSTERZOO_CHECKS", "1")  # before numba compiles: an index out of range becomes an IndexError

import gymnasium
import numpy as np
from command_lines import commands
from files import ACCEPTED, REFUSED, SHORT, batches, checkpoints, networks, records, results, specs
from monsterzoo import policies
from monsterzoo.envs import make, make_parallel, make_vec
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.registry import find_game, names
from monsterzoo.envs.core.rng import streams
from mutations import ODD_VALUES, mutate, mutate_bytes

MOST_DECISIONS = 50_000
CLEAN = (ValueError, TypeError, AssertionError)
"""What a wrong action or policy input may raise; PettingZoo's and Gymnasium's own wrappers assert."""

# Beside the variants every game lists: options that change what a position can be.
MORE_OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "yokai_septet_v0": (
        {"players": 4, "first_lead": "held"},
        {"players": 3, "first_lead": "held", "scoring": "basic"},
        {"players": 2, "straw_reveal": "trick_end"},
        {"players": 4, "episode": "round"},
        {"players": 4, "variant": "seven_suitors", "first_lead": "held", "reward": "score"},
    ),
    "pikit_v0": (
        {"players": 4, "deck": {5: 20, 6: 12, 9: 4, 3: 10, 4: 12}},
        {"players": 2, "deck": {"7": 40, "6": 80}, "reward": "score"},
        {"players": 3, "max_turns": 20},
    ),
    "bite_night_v0": (
        {"players": 4, "advanced": True, "grab": "draft"},
        {"players": 3, "reflexes": [1.0, 2.0, 0.5], "laps": 2, "reward": "score"},
    ),
}


def options_of(name: str, random: Random) -> dict[str, Any]:
    options = random.choice((*find_game(name).variants, *MORE_OPTIONS.get(name, ())))
    return {**(SHORT.get(name, {}) if random.random() < 0.8 else {}), **options}


def legal(env: Any) -> list[int]:
    actions: list[int] = np.flatnonzero(env.infos[env.agent_selection]["action_mask"]).tolist()
    return actions


def is_over(env: Any) -> bool:
    return not env.agents or any(env.terminations.values()) or any(env.truncations.values())


def mid_game(name: str, options: dict[str, Any], random: Random) -> Any:
    """A raw environment somewhere in a random game that is not over."""
    env = make(name, **options).unwrapped
    env.reset(seed=random.randrange(1 << 30))
    for _ in range(random.choice((0, random.randrange(12), random.randrange(60), random.randrange(250)))):
        before = env.save()
        env.step(random.choice(legal(env)))
        if is_over(env):
            env.restore(before)
            break
    return env


# --- Snapshots ---


def snapshots(name: str, random: Random) -> str:
    """A changed snapshot is refused in words, or a position like any other."""
    options = options_of(name, random)
    env = mid_game(name, options, random)
    data = mutate(env.snapshot(), mid_game(name, options, random).snapshot(), random)
    before = env.save()
    try:
        env.reset(seed=1, options={"snapshot": data})
    except ValueError:
        assert env.save() == before, "a refused snapshot changed the environment"
        return REFUSED
    _comes_back(env)
    _is_seen_well(env)
    _can_be_imagined(env)
    start = env.save()
    for player in ("random", "heuristic", "search:20"):
        env.restore(start)
        _plays_on(env, player, random)
    return ACCEPTED


def _comes_back(env: Any) -> None:
    """Snapshot, load, snapshot: the same, and so is the record."""
    position = json.loads(json.dumps(env.snapshot()))
    again = env.variant.load(position, 0)
    assert env.variant.snapshot(again[0]) == env.snapshot(), "the position does not come back"
    for field in again.dtype.names:
        assert again[field].tolist() == env._states[field].tolist(), f"{field} does not come back"


def _is_seen_well(env: Any) -> None:
    """Views fit their space, and the tensor tells all of a view."""
    variant = env.variant
    low, high = variant.layout.bounds
    for seat, agent in enumerate(env.possible_agents):
        row = variant.observation(env._states, 0, seat)
        assert ((low <= row) & (row <= high)).all(), f"seat {seat}: an observation out of its bounds"
        view = variant.look(env._states, 0, seat)
        assert variant.decode(row[None]).tobytes() == view.tobytes(), f"seat {seat}: the tensor does not tell the view"
        assert env.observe(agent)["action_mask"].any(), f"seat {seat}: an empty mask"
        env.text_observation(agent)


def _can_be_imagined(env: Any) -> None:
    """Worlds look the same to the seat they are imagined for, and are positions themselves."""
    variant = env.variant
    world, luck = variant.new_states(1), streams(7, 1, "search")
    for seat in range(variant.players):
        row = variant.observation(env._states, 0, seat)
        for _ in range(3):
            imagine(world, env._states, seat, luck[0])
            assert (variant.observation(world, 0, seat) == row).all(), f"seat {seat}: a world that looks different"
            imagined = variant.snapshot(world[0])
            loaded = variant.load(imagined, 0)
            assert variant.snapshot(loaded[0]) == imagined, f"seat {seat}: a world that does not come back"


def _plays_on(env: Any, spec: str, random: Random) -> None:
    """A player leads the game to its end, search for some of the way."""
    variant = env.variant
    player = None if spec == "random" else policies.make(spec, variant.game.name, **env.options)
    searched = random.choice((10, 30, 30, 200)) if spec.startswith("search") else MOST_DECISIONS
    for count in range(MOST_DECISIONS):
        if is_over(env):
            returns = [env.rewards[agent] for agent in env.possible_agents]
            assert abs(sum(returns)) < 1e-4, f"rewards {returns} do not add up to zero"
            return
        if player is None or count >= searched:
            action = random.choice(legal(env))
        else:
            action = policies.act_in(player, env)
        env.step(action)
    raise AssertionError(f"{spec} has not come to an end in {MOST_DECISIONS} decisions")


# --- Saved bytes ---


def saved(name: str, random: Random) -> str:
    """Changed bytes of `save` are refused and change nothing, or restore to the same bytes."""
    options = options_of(name, random)
    env, other = mid_game(name, options, random), mid_game(name, options_of(name, random), random)
    before = env.save()
    data = other.save() if random.random() < 0.1 else mutate_bytes(before, other.save(), random)
    if random.random() < 0.7 and len(data) > 9:  # not by accident: with the right checksum
        data = data[:5] + zlib.crc32(data[9:]).to_bytes(4, "little") + data[9:]
    try:
        env.restore(data)
    except ValueError:
        assert env.save() == before, "refused bytes changed the environment"
        return REFUSED
    assert env.save() == data, "other bytes came back"
    return ACCEPTED


# --- Actions ---


def odd_action(random: Random, actions: int, good: list[int]) -> Any:
    """Anything that somebody could pass as an action."""
    number = random.choice((*good, random.randrange(actions), actions - 1, actions, -1, -actions, 1 << 31, 1 << 63))
    kinds: tuple[Callable[[Any], Any], ...] = (
        *(int, float, str, bool, complex, Fraction, Decimal, np.float32, np.float64, np.array, np.str_),
        *(lambda n: np.int64(n & 0x7F), lambda n: np.uint8(n & 0xFF), lambda n: np.int32(n & 0xFF)),
        *(lambda n: [n], lambda n: (n, n), lambda n: {n: n}, lambda n: np.array([n]), lambda n: np.array([n, n])),
        *(lambda n: np.array(n, object), lambda n: np.zeros((0,), np.int64), lambda n: object(), lambda n: b"%d" % n),
        *(lambda n: np.datetime64(abs(n) & 0xFF, "s"), lambda n: np.void(b"ab"), lambda n: range(n & 3)),
        lambda n: random.choice(ODD_VALUES),
    )
    return random.choice(kinds)(int(number))


def actions(name: str, random: Random) -> str:
    """Any value as an action, through every interface: a legal move, or an error in words that changes nothing."""
    options = options_of(name, random)
    entrance = random.choice((_raw_action, _wrapped_action, _parallel_action, _batch_action, _seat_action))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return entrance(name, options, random)


def _raw_action(name: str, options: dict[str, Any], random: Random) -> str:
    env = mid_game(name, options, random)
    before, good = env.save(), legal(env)
    action = odd_action(random, env.variant.num_actions, good)
    try:
        env.step(action)
    except (ValueError, TypeError):
        assert env.save() == before, f"{action!r} was refused, but changed the game"
        return REFUSED
    moved = env.record()["actions"][-1]
    assert env.parse_action(moved) in good, f"{action!r} was carried out as {moved!r}"
    return ACCEPTED


def _wrapped_action(name: str, options: dict[str, Any], random: Random) -> str:
    env = make(name, **options)
    env.reset(seed=random.randrange(1 << 30))
    for _ in range(random.randrange(8)):
        env.step(random.choice(legal(env)))
        if is_over(env):
            return REFUSED
    before, good = env.unwrapped._states.tobytes(), legal(env)
    action = odd_action(random, env.unwrapped.variant.num_actions, good)
    played = len(env.unwrapped.record()["actions"])
    try:
        env.step(action)
    except CLEAN:
        assert env.unwrapped._states.tobytes() == before, f"{action!r} was refused, but changed the game"
        return REFUSED
    moves = env.unwrapped.record()["actions"][played:]
    assert all(env.unwrapped.parse_action(move) in good for move in moves), f"{action!r} became {moves}"
    return ACCEPTED if moves else REFUSED


def _parallel_action(name: str, options: dict[str, Any], random: Random) -> str:
    env = make_parallel(name, **options)
    _, infos = env.reset(seed=random.randrange(1 << 30))
    good = {agent: np.flatnonzero(info["action_mask"]).tolist() for agent, info in infos.items()}
    chosen: Any = {agent: random.choice(those) for agent, those in good.items()}
    victim = random.choice(env.agents)
    chosen[victim] = odd_action(random, env.action_space(victim).n, good[victim])
    if random.random() < 0.1:
        chosen = random.choice(ODD_VALUES)
    try:
        env.step(chosen)
    except (*CLEAN, AttributeError):  # not a dict at all
        return REFUSED
    return ACCEPTED


def _batch_action(name: str, options: dict[str, Any], random: Random) -> str:
    games = make_vec(name, num_envs=3, seed=random.randrange(1 << 30), **options)
    for _ in range(random.randrange(20)):
        games.step(games.sample_actions())
    before, masks = games.states.tobytes(), games.action_masks.copy()
    chosen: Any = games.sample_actions().tolist()
    chosen[random.randrange(3)] = odd_action(random, games.variant.num_actions, np.flatnonzero(masks[0]).tolist())
    if random.random() < 0.3:
        kind = random.choice((np.int8, np.uint64, np.float64, np.bool_, object, np.complex128))
        try:
            chosen = np.asarray(chosen).astype(kind)
        except CLEAN:
            chosen = random.choice(ODD_VALUES)
        except OverflowError:
            chosen = None
    try:
        games.step(chosen)
    except CLEAN:
        assert games.states.tobytes() == before, f"{chosen!r} was refused, but changed games"
        return REFUSED
    assert masks[range(3), np.asarray(chosen).astype(np.int64)].all(), f"{chosen!r} was carried out"
    return ACCEPTED


def _seat_action(name: str, options: dict[str, Any], random: Random) -> str:
    title = "".join(word.capitalize() for word in name.rsplit("_", 1)[0].split("_"))
    checked = random.random() < 0.5
    env = gymnasium.make(
        f"monsterzoo/{title}-v0", disable_env_checker=not checked, opponents="random", seat="rotate", **options
    )
    _, info = env.reset(seed=random.randrange(1 << 30))
    good = np.flatnonzero(info["action_mask"]).tolist()
    try:
        env.step(odd_action(random, env.action_space.n, good))
    except CLEAN:
        return REFUSED
    return ACCEPTED


# --- Inputs of policies ---


def players(name: str, random: Random) -> str:
    """Arrays of a wrong form, or of another variant, for a policy: an error in words, or legal actions."""
    return _asked(name, random, _odd_form)


def contents(name: str, random: Random) -> str:
    """Arrays of the right form with contents that no table ever showed: some answer, or an error in words."""
    return _asked(name, random, _odd_contents)


def _asked(name: str, random: Random, change: Callable[[Any, np.ndarray, Random], Any]) -> str:
    options = options_of(name, random)
    games = make_vec(name, num_envs=3, seed=random.randrange(1 << 30), **options)
    other = make_vec(name, num_envs=3, seed=1, **options_of(name, random))
    for _ in range(random.randrange(30)):
        games.step(games.sample_actions())
    spec = random.choice(("random", "heuristic", "search:5"))
    player = policies.make(spec, name, **options)
    keys = ("observations", "action_masks", "seats", "states")
    if change is _odd_form and random.random() < 0.2:
        given: dict[str, Any] = {key: getattr(other, key) for key in keys}
    else:
        given = {key: getattr(games, key).copy() for key in keys}
        for key in random.sample(keys, random.choice((1, 1, 2))):
            given[key] = change(given[key], getattr(other, key), random)
    try:
        chosen = np.asarray(player.act(policies.Decisions(games.variant, **given)))
    except CLEAN:
        return REFUSED
    assert chosen.ndim == 1, f"{spec}: actions of shape {chosen.shape}"
    assert chosen.dtype.kind in "iu", f"{spec}: actions of {chosen.dtype}"
    masks = np.asarray(given["action_masks"])
    assert len(chosen) == len(masks), f"{spec}: {len(chosen)} actions for {len(masks)} masks"
    assert masks[range(len(masks)), chosen].all(), f"{spec}: {chosen} is not legal"
    return ACCEPTED


def _odd_form(array: np.ndarray, other: np.ndarray, random: Random) -> Any:
    kinds: list[Callable[[], Any]] = [
        lambda: array[:-1],
        lambda: array[None],
        lambda: array.reshape(-1),
        lambda: np.asfortranarray(array),
        lambda: np.concatenate([array, array]),
        lambda: np.repeat(array, 2, axis=0)[::2],
        lambda: array.tolist(),
        lambda: random.choice(ODD_VALUES),
    ]
    if array.dtype.names is None:
        kinds += [lambda: array.astype(random.choice((np.int64, np.float32, np.float64, object, np.complex64, str)))]
    if array.ndim == 2:
        kinds += [lambda: array[:, :-1], lambda: np.hstack([array, array]), lambda: array.T]
    return random.choice(kinds)()


def _odd_contents(array: np.ndarray, other: np.ndarray, random: Random) -> Any:
    if array.dtype.names is not None:
        return random.choice((array[::-1], other))
    value = random.choice((-1, 0, 1, 5, 100))
    return random.choice(
        (
            array[::-1],
            other,
            np.full_like(array, value),
            np.full(array.shape, random.choice((np.nan, np.inf, 1e30))),
            np.where(np.array([random.random() < 0.1 for _ in range(array.size)]).reshape(array.shape), value, array),
        )
    )


ENTRANCES: dict[str, Callable[[str, Random], str]] = {
    "snapshots": snapshots,
    "saved": saved,
    "actions": actions,
    "players": players,
    "contents": contents,
    "commands": commands,
    "networks": networks,
    "batches": batches,
    "checkpoints": checkpoints,
    "results": results,
    "records": records,
    "specs": specs,
}


def prepare(entrance: str, name: str) -> None:
    """Compile what the inputs need, so that time is theirs alone afterwards."""
    env = make(name).unwrapped
    env.reset(seed=1)
    specs = ("heuristic", "search:20") if entrance in ("snapshots", "players", "contents") else ()
    specs += ("pretrained", "search:2,net=pretrained") if entrance in ("specs", "networks") else ()
    options = {"players": 4}  # every game has a network for four players
    games = make_vec(name, num_envs=2, seed=1, **options)
    for spec in specs:
        policies.make(spec, name, **options).act(games.decisions())
    if entrance == "snapshots":
        _can_be_imagined(env)
    if entrance == "actions":
        _seat_action(name, {}, Random(0))
    env.step(legal(env)[0])


def main() -> int:
    parser = argparse.ArgumentParser(description="Try inputs of one entrance of one game.")
    parser.add_argument("entrance", choices=ENTRANCES)
    parser.add_argument("game", choices=names())
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--inputs", type=int, default=1 << 60, help="how many at most")
    parser.add_argument("--seconds", type=float, default=1e9, help="time at most")
    parser.add_argument("--least", type=int, default=0, help="inputs to try even if that takes longer")
    parser.add_argument("--progress", type=Path, help="a file for the number of the input at hand")
    options = parser.parse_args()
    faulthandler.enable()
    prepare(options.entrance, options.game)
    counts: Counter[str] = Counter()
    progress = os.open(options.progress, os.O_WRONLY | os.O_CREAT) if options.progress else None
    end = time.monotonic() + options.seconds
    for number in range(options.first, options.first + options.inputs):
        if time.monotonic() > end and number - options.first >= options.least:
            break
        if progress is not None:
            os.pwrite(progress, b"%020d" % number, 0)
        try:
            counts[
                ENTRANCES[options.entrance](options.game, Random(f"{options.entrance} {options.game} {number}"))
            ] += 1
        except Exception:
            traceback.print_exc()
            print(json.dumps({"finding": number, **counts}))
            return 1
    print(json.dumps(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
