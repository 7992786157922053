"""Files of network weights: arrays and a JSON text in an npz archive. Loading one runs no code from it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from monsterzoo.envs.core.options import write_option
from monsterzoo.envs.core.variant import Variant

WEIGHTS = "policy.npz"  # the file's name in a run's folder
PRETRAINED = Path(__file__).parents[1] / "pretrained"
LARGEST = 1e6  # larger weights are refused: each is finite, but sums of their products may not be
ABOUT = {"game": str, "layout": str, "actions": int}  # what a file must say about itself


def write(path: Path, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
    """Write a file of weights; `about` is JSON."""
    with path.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The weights and what the file says about itself; raises `ValueError` for other and for damaged files."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        about = json.loads(str(arrays.pop("about")))
        for key, kind in ABOUT.items():
            if not isinstance(about[key], kind):
                raise ValueError(f"{key} is {about[key]!r}")
        if not isinstance(about.get("options", {}), dict):
            raise ValueError(f"options are {about['options']!r}")
        for key, values in arrays.items():
            if values.dtype not in (np.float16, np.float32):
                raise ValueError(f"{key} is {values.dtype}, not float16 or float32")
            check_size(values, key)
    except Exception as error:  # readers of archives raise anything for files that may hold anything
        problem = f"it lacks {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise ValueError(f"{path} is not a file of network weights, or it is damaged: {problem}") from error
    return arrays, about


def check_size(values: np.ndarray, name: str) -> None:
    """Raise `ValueError` for weights that are not finite or larger than `LARGEST`."""
    if not np.isfinite(values).all():
        raise ValueError(f"{name} has numbers that are not finite")
    if (np.abs(values.astype(np.float32)) > LARGEST).any():  # in half precision the limit would be infinity
        raise ValueError(f"{name} has numbers beyond {LARGEST:,.0f}")


def check_fit(variant: Variant, about: dict[str, Any], name: str) -> None:
    """Raise `ValueError` if a network was trained on another game, other observations or other actions."""
    if about["game"] != variant.game.name:
        raise ValueError(f"{name} was trained on {about['game']}, it cannot play {variant.game.name}")
    options = ", ".join(f"{key}={value!r}" for key, value in about.get("options", {}).items())
    if about["layout"] != variant.layout.signature:
        own = {key: value for key, value in about.get("options", {}).items() if variant.options.get(key) != value}
        flags = [f"--players {own.pop('players')}"] if "players" in own else []
        flags += [f"--option {write_option(key, value)}" for key, value in own.items()]
        raise ValueError(
            f"{name} was trained on other observations ({options}): its network cannot read these; "
            f"it plays with {' '.join(flags) or 'its own options and version'}"
        )
    if about["actions"] != variant.num_actions:
        raise ValueError(f"{name} chooses among {about['actions']} actions ({options}), here are {variant.num_actions}")


def check_shapes(arrays: dict[str, np.ndarray], variant: Variant, name: str) -> None:
    """Raise `ValueError` unless arrays are the weights of a network for a game's columns, actions and sides."""
    if "stem.weight" not in arrays or arrays["stem.weight"].ndim != 2 or not len(arrays["stem.weight"]):
        raise ValueError(f"{name} has no weights of a first layer (stem.weight)")
    width, blocks = len(arrays["stem.weight"]), sum(key.endswith(".first.weight") for key in arrays)
    values = variant.sides if np.shape(arrays.get("value.bias", ())) == (variant.sides,) else 1
    layers = {"stem": (width, variant.layout.size), "policy": (variant.num_actions, width), "value": (values, width)}
    layers |= {f"blocks.{k}.{layer}": (width, width) for k in range(blocks) for layer in ("first", "second")}
    shapes: dict[str, tuple[int, ...]] = {f"{layer}.weight": shape for layer, shape in layers.items()}
    shapes |= {f"{layer}.bias": shape[:1] for layer, shape in layers.items()}
    if arrays.keys() != shapes.keys():
        raise ValueError(f"{name} has other layers than a network: {', '.join(sorted(arrays.keys() ^ shapes.keys()))}")
    for key, shape in shapes.items():
        if arrays[key].shape != shape:
            raise ValueError(f"{name} has weights of another shape: {key} is {arrays[key].shape}, not {shape}")


def pretrained() -> tuple[dict[str, Any], ...]:
    """The shipped networks: file, game, options, how each was trained and how strong it was."""
    index = PRETRAINED / "index.json"
    return tuple(json.loads(index.read_text())["models"]) if index.exists() else ()


def read_pretrained(variant: Variant) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The shipped network for a game and its observations, see `read`; raises `ValueError` if there is none."""
    for model in pretrained():
        if model["game"] != variant.game.name:
            continue
        if all(variant.options[key] == value for key, value in model["options"].items()):
            arrays, about = read(PRETRAINED / model["file"])
            if about["layout"] == variant.layout.signature:
                return arrays, about
    known = "; ".join(f"{m['game']} {m['options']}" for m in pretrained()) or "none"
    raise ValueError(
        f"there is no pretrained network for {variant.game.name} with {variant.options}; there are: {known}. "
        f"Train one: monsterzoo train --game {variant.game.name} --players {variant.players} --out runs/mine"
    )
