"""Fuzzing of what is read from files: networks, checkpoints, batches, results of tournaments, records, and specs.

Each file is damaged in one of two ways: its bytes, or its content behind a form that is as good as new.
"""

import json
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from monsterzoo import policies
from monsterzoo.envs import make_vec, replay
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.core.game import Variant
from monsterzoo.policies.networks import NeuralPolicy
from monsterzoo.policies.networks import files as weights_files
from mutations import ODD_VALUES, mutate, mutate_bytes
from strangers import SPECS as STRANGERS

REFUSED, ACCEPTED = "refused", "accepted"
# Short games leave time for more inputs.
SHORT: dict[str, dict[str, Any]] = {"yokai_septet_v0": {"max_rounds": 2}, "pikit_v0": {}, "bite_night_v0": {"laps": 1}}


def variant_of(name: str, random: Random) -> Variant:
    game = find_game(name)
    return game.variant(**{**SHORT.get(name, {}), **random.choice(game.variants)})


def odd_array(values: np.ndarray, random: Random) -> Any:
    """An array with other numbers, of another shape or type, or something that is none."""
    changed = values.copy()
    if changed.dtype.kind == "U":  # the JSON text of a file: cut off, or something else
        return np.array(random.choice((str(changed)[: random.randrange(40)], "", "[]", "null", "{}")))
    kind = random.randrange(10)
    if kind > 7 and changed.dtype.kind == "f":  # all of them
        with np.errstate(over="ignore"):
            return changed * changed.dtype.type(random.choice((-1, 0, 1e3, 1e6, 1e8, 1e30, 3e38)))
    if kind < 4 and changed.size:
        flat = changed.reshape(-1)
        for _ in range(random.choice((1, 1, 3, 40))):
            place = random.randrange(flat.size)
            if flat.dtype.kind == "f":
                odd = (0, -1, 1e4, 6e4, -1e6, 1e8, 1e30, 3e38, np.nan, -np.inf, random.gauss(0, 1))
                with np.errstate(over="ignore"):  # infinity at half precision
                    flat[place] = random.choice(odd)
            elif flat.dtype.kind in "iu":
                low, high = np.iinfo(flat.dtype).min, np.iinfo(flat.dtype).max
                flat[place] = random.choice((0, 1, low, high, random.randint(low, high), random.randint(0, 9)))
            else:
                flat[place] = random.random() < 0.5
        return changed
    if kind == 4:
        return changed.astype(random.choice((np.float64, np.float16, np.int8, np.bool_, np.complex64)))
    if kind == 5:
        return (
            random.choice((changed[:0], changed[..., :-1], changed[None], changed.T)) if changed.ndim else changed[None]
        )
    if kind == 6:
        return np.zeros(random.choice(((), (0, 0), (1,), (3, 3))), random.choice((np.float32, np.int64)))
    return np.concatenate([changed, changed]) if changed.ndim else np.stack([changed] * 2)


def change_entry(content: Any, random: Random) -> None:
    """Change one entry of nested dicts and lists of arrays, or leave one out."""
    key = random.choice(list(content) if isinstance(content, dict) else range(len(content)))
    value = content[key]
    if isinstance(value, dict | list) and value and random.random() < 0.9:
        change_entry(value, random)
    elif random.random() < 0.1:
        del content[key]
    elif isinstance(value, np.ndarray) and random.random() < 0.9:
        content[key] = odd_array(value, random)
    else:
        content[key] = random.choice([value for value in ODD_VALUES if value != ()])


# --- Networks ---


@cache
def _network(name: str, number: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A small network for one of a game's variants."""
    import torch
    from monsterzoo.training import network as networks

    variant = variant_of(name, Random(number))
    torch.manual_seed(number)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, weights_files.WEIGHTS)
        networks.write(path, networks.Network.for_variant(variant, 8, 1), variant)
        return weights_files.read(path)


def networks(name: str, random: Random) -> str:
    """A changed file of weights is refused in words, or plays legal actions."""
    number = random.randrange(8)
    variant, (arrays, about) = variant_of(name, Random(number)), _network(name, number)
    precision = random.choice((np.float32, np.float32, np.float16))
    content: dict[str, Any] = {"about": dict(about), **{key: array.astype(precision) for key, array in arrays.items()}}
    damage = random.random() < 0.5
    if not damage:
        change_entry(content, random)
    told = content.pop("about", {})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, weights_files.WEIGHTS)
        try:
            weights_files.write(path, content, told)
        except (TypeError, ValueError):
            return REFUSED  # not even to be written
        if damage:
            path.write_bytes(mutate_bytes(path.read_bytes(), path.read_bytes(), random))
        spec = random.choice(
            ("net:{}", "net:{}", "search:2,net=net:{}", "search:2,net=net:{},rollout_weight=0,opponents=net")
        )
        try:
            player = policies.make(spec.format(path), name, **variant.options)
        except ValueError:
            return REFUSED
    games = make_vec(name, num_envs=3, seed=random.randrange(1 << 30), **variant.options)
    for _ in range(20):
        games.step(player.act(games.decisions()))
    if isinstance(player, NeuralPolicy):
        assert all(np.isfinite(found).all() for found in player.evaluate(games.observations)), "logits or values"
    return ACCEPTED


# --- Batches and checkpoints ---


def batches(name: str, random: Random) -> str:
    """Changed arrays of a batch are refused and change nothing, or are games that go on."""
    variant = variant_of(name, random)
    games = make_vec(name, num_envs=3, seed=random.randrange(1 << 30), **variant.options)
    for _ in range(random.randrange(60)):
        games.step(games.sample_actions())
    before, saved = games.save(), games.save()
    if random.random() < 0.7:  # one bit of a card, say
        raw = saved["states"].reshape(-1)
        for _ in range(random.choice((1, 1, 2, 5))):
            raw[random.randrange(raw.size)] ^= 1 << random.randrange(8)
    else:
        change_entry(saved, random)
    try:
        games.restore(saved, validate=True)
    except ValueError:
        assert all((values == before[key]).all() for key, values in games.save().items()), "refused, but changed"
        return REFUSED
    for _ in range(100):
        games.step(games.sample_actions())
    return ACCEPTED


@cache
def _run(name: str, method: str) -> tuple[Any, dict[str, bytes]]:
    """A tiny run after one update: its options, and its files."""
    from monsterzoo.training.config import METHODS

    players = find_game(name).variants[0]["players"]
    usual: dict[str, Any] = {"players": players, "options": SHORT[name], "updates": 9, "evaluate": [], "width": 8}
    own: dict[str, dict[str, Any]] = {
        "ppo": {"num_envs": 3, "steps": 24, "minibatch": 32, "imitate": "", "opponents": ["past"], "magnet_coef": 0.1},
        "rollouts": {"num_envs": 6, "samples": 2, "minibatch": 8, "threads": 1},
    }
    config = METHODS[method](name, **usual, **own[method])
    trainer = _trainer(config)
    trainer.update()
    with tempfile.TemporaryDirectory() as folder:
        trainer.save(Path(folder))
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        return config, {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _trainer(config: Any) -> Any:
    from monsterzoo.training.runs import trainer_of

    return trainer_of(config.method)(config, None)


def checkpoints(name: str, random: Random) -> str:
    """A changed checkpoint is refused in words, or learning goes on from it."""
    from monsterzoo.training.runs import CHECKPOINT

    return _goes_on(name, random.choice(("ppo", "ppo", "rollouts")), CHECKPOINT, random)


def _goes_on(name: str, method: str, changed: str, random: Random) -> str:
    """Restore a run one file of which is changed, and make an update."""
    config, files = _run(name, method)
    with tempfile.TemporaryDirectory() as folder:
        for path, data in files.items():
            Path(folder, path).parent.mkdir(exist_ok=True)
            Path(folder, path).write_bytes(data)
        path, data = Path(folder, changed), files[changed]
        if random.random() < 0.3:
            path.write_bytes(mutate_bytes(data, data, random))
        elif path.suffix == ".npz":
            _change_arrays(path, random)
        else:
            _change_tensors(path, random)
        trainer = _trainer(config)
        try:
            trainer.restore(Path(folder))
        except ValueError:
            return REFUSED
    trainer.update()
    for key, values in trainer.network.state_dict().items():
        assert values.isfinite().all(), f"{key} is not finite after an update"
    return ACCEPTED


def _change_tensors(path: Path, random: Random) -> None:
    """Change an entry of a torch file, most often one of the optimiser, which has many."""
    import torch

    plain = _plain(torch.load(path, weights_only=True))
    change_entry(plain["optimizer"] if random.random() < 0.3 else plain, random)
    torch.save(_torch(plain), path)


def _change_arrays(path: Path, random: Random) -> None:
    """Change an array of a numpy archive."""
    with np.load(path) as file:
        content = {key: file[key] for key in file.files}
    change_entry(content, random)
    np.savez(path, **content)


def _plain(values: Any) -> Any:
    """Dicts and lists of arrays instead of those of tensors."""
    if isinstance(values, dict):
        return {key: _plain(value) for key, value in values.items()}
    if isinstance(values, list):
        return [_plain(value) for value in values]
    return values.numpy() if hasattr(values, "numpy") else values


def _torch(values: Any) -> Any:
    import torch

    if isinstance(values, dict):
        return {key: _torch(value) for key, value in values.items()}
    if isinstance(values, list):
        return [_torch(value) for value in values]
    return torch.from_numpy(values.copy()) if isinstance(values, np.ndarray) else values


# --- Results of tournaments ---


def results(name: str, random: Random) -> str:
    """Changed results are refused in words, or have a table."""
    from monsterzoo.training.arena import Tournament, enter

    variant = find_game(name).variant(**{**find_game(name).variants[-1], **SHORT[name]})
    names, players = enter(variant, ["random", "random"])
    tournament = Tournament(variant, names)
    tournament.play(players, 20)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "results.npz")
        tournament.save(path)
        if random.random() < 0.4:
            path.write_bytes(mutate_bytes(path.read_bytes(), path.read_bytes(), random))
        else:
            _change_arrays(path, random)
        other = Tournament(variant, names)
        try:
            other.load(path)
        except ValueError:
            return REFUSED
    json.dumps(other.result() if other.games else {})
    return ACCEPTED


# --- Records and specs ---


def records(name: str, random: Random) -> str:
    """A changed record is refused in words, or is a game that replays to the same end."""
    variants = [variant_of(name, random)] * 2
    one, other = (played(name, variant, random)[0] for variant in variants)
    try:
        env = replay(mutate(one, other, random))
    except (ValueError, TypeError):
        return REFUSED
    again = replay(json.loads(json.dumps(env.record())))
    assert again.save() == env.save(), "the record of the game is of another one"
    return ACCEPTED


def played(name: str, variant: Variant, random: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Record and snapshot of the beginning of a random game."""
    from monsterzoo.envs.aec import GameEnv

    env = GameEnv(find_game(name), **variant.options)
    env.reset(seed=random.randrange(1 << 30))
    for _ in range(random.randrange(40)):
        if any(env.terminations.values()):
            break
        env.step(random.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"]).tolist()))
    return env.record(), env.snapshot()


_WORDS = (
    "random",
    "heuristic",
    "search",
    "ppo",
    "pretrained",
    "",
    "SEARCH",
    "séarch",
    "\x00",
    "a:b",
    "past",
    "/",
    "..",
)
_PARTS = ("1", "5", "0", "-3", "1e400ms", "nanms", "infms", "2ms", "0ms", "-1ms", "ms", "c=nan", "c=1", "c=-1", "c=inf",
          "c=1e400", "heuristic_bonus=3", "trust=2", "depth=2", "worlds=0", "rollout=random", "rollout=heuristic",
          "rollout=x", "net=", "net=pretrained", "net=net:/nowhere", "threads=2", "threads=0", "x=1", "=", "c", ",",
          "99999999999999999999", "1.5", "٣", "1_0", " 5", "5 ", "0x10", "True", "None", "/nowhere",
          "/dev/null")  # fmt: skip


def specs(name: str, random: Random) -> str:
    """Any text as a policy: an error in words, or a player with legal actions."""
    variant = variant_of(name, random)
    spec = random.choice(("random", "heuristic", "search:5", "search:5,c=1", "search:2ms"))
    if random.random() < 0.5:
        spec = random.choice(_WORDS)
    if random.random() < 0.6:
        spec += random.choice(":,") + ",".join(random.choice(_PARTS) for _ in range(random.choice((1, 1, 2, 3))))
    if random.random() < 0.2:
        spec = random.choice(STRANGERS)
    elif random.random() < 0.1:
        spec = "".join(random.choice("serach:10,c=nm.\n\x00é") for _ in range(random.randrange(12)))
    try:
        player = policies.make(spec, name, seed=random.choice((0, 1 << 63)), **variant.options)
    except ValueError:
        return REFUSED
    games = make_vec(name, num_envs=2, seed=1, **variant.options)
    chosen = player.act(games.decisions())
    assert games.action_masks[range(2), chosen].all(), f"{spec!r}: {chosen} is not legal"
    return ACCEPTED
