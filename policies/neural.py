"""Trained networks as players, and their files; playing needs no torch.

A file holds arrays and a JSON text; loading it runs no code from it. `monsterzoo.training.network` writes it.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.match.decisions import Decisions

from .base import legal_masks, named
from .networks import choose_rows, evaluate_rows, make_net

WEIGHTS = "policy.npz"
"""The file's name in a run's folder."""

LARGEST = 1e6
"""Numbers beyond it are refused in files: each is finite, but what layers make of them may not be."""

PRETRAINED = Path(__file__).parent / "pretrained"


class NeuralPolicy:
    """A residual network's choice: its most likely action, or one drawn from its probabilities.

    Args:
        variant: the game; raises `ValueError` if the network was trained on another one or on other observations, or
            has weights of other shapes.
        arrays: the weights, see `read`.
        about: what the file says about itself: at least "game", "layout" and "actions".
        name: for tables and plots.
        seed: of the draws.
        temperature: 0 takes the most likely action, 1 draws from the probabilities.
    """

    def __init__(
        self,
        variant: Variant,
        arrays: dict[str, np.ndarray],
        about: dict[str, Any],
        name: str = "neural",
        seed: int = 0,
        temperature: float = 0.0,
    ) -> None:
        check(variant, about, name)
        check_shapes(arrays, variant, name)
        self.variant, self.arrays, self.about, self.name, self.temperature = variant, arrays, about, name, temperature
        self.compiled = make_net(arrays, temperature)
        """What plays inside compiled loops; see `compiled_form`."""
        self._stream = streams(seed, 1, "neural")

    @classmethod
    def from_run(cls, variant: Variant, folder: Path, name: str, seed: int = 0) -> "NeuralPolicy":
        """The network of a run's folder or a file of weights; raises `ValueError` if there is none or a damaged one."""
        path = folder / WEIGHTS if folder.is_dir() else folder
        if not path.exists():
            raise ValueError(f"{name!r}: there is no {path}")
        return cls(variant, *read(path), name, seed)

    def __repr__(self) -> str:
        return named(self)

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row, int64 (B,); raises `ValueError` for decisions in another game."""
        sets = pack_masks(legal_masks(self, decisions), self.variant.words)
        choices = np.empty(len(sets), np.int64)
        choose_rows(self.compiled, as_words(decisions.observations), sets, self._stream, choices)
        return choices

    def evaluate(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Unmasked logits (B, A) and values (B, 1 or sides), float32; see `networks.Weights`."""
        rows = as_words(observations)
        logits = np.empty((len(rows), self.variant.num_actions), np.float32)
        values = np.empty((len(rows), len(self.compiled.weights.value_bias)), np.float32)
        evaluate_rows(self.compiled.weights, self.compiled.memory, rows, logits, values)
        return logits, values

    def opinion(self, observations: np.ndarray, action_masks: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Probabilities (B, A) of all actions, and the chances (B,) of the seats' sides to win; None if not known."""
        logits, values = self.evaluate(observations)
        logits = np.where(action_masks, logits, -np.inf)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances = None
        if self.knows_chances:
            values = values.astype(np.float64)
            sides = self.variant.sides
            if values.shape[1] == 1:
                chances = np.clip((1 + (sides - 1) * values[:, 0]) / sides, 0, 1)
            else:
                raised = np.exp(values - values.max(axis=1, keepdims=True))
                chances = raised[:, 0] / raised.sum(axis=1)
        return odds / odds.sum(axis=1, keepdims=True), chances

    @property
    def shape(self) -> dict[str, int]:
        """Its options of training: `width` and `blocks`."""
        return {"width": len(self.arrays["stem.weight"]), "blocks": len(self.compiled.weights.first)}

    @property
    def knows_chances(self) -> bool:
        """Whether its values tell how likely a side wins; those learned from points do not."""
        several = len(self.compiled.weights.value_bias) > 1
        return several or self.about.get("options", {}).get("reward", "win") == "win"


def as_words(observations: np.ndarray) -> np.ndarray:
    """Observations (B, n) as kernels read them: eight columns a uint64, (B, n / 8)."""
    return np.ascontiguousarray(observations, np.int8).view(np.uint64)


def pack_masks(masks: np.ndarray, words: int) -> np.ndarray:
    """Masks (B, A) of zeros and ones as bit sets, uint64 (B, words)."""
    packed = np.zeros((len(masks), 8 * words), np.uint8)
    bits = np.packbits(masks, axis=1, bitorder="little")
    packed[:, : bits.shape[1]] = bits
    return packed.view(np.dtype("<u8")).astype(np.uint64, copy=False)


def check(variant: Variant, about: dict[str, Any], name: str) -> None:
    """Raise `ValueError` if a network does not fit a game: another game, other observations or other actions."""
    if about["game"] != variant.game.name:
        raise ValueError(f"{name} was trained on {about['game']}, it cannot play {variant.game.name}")
    options = ", ".join(f"{key}={value!r}" for key, value in about.get("options", {}).items())
    if about["layout"] != variant.layout.signature:
        there, here = (set(text.split(";")) for text in (about["layout"], variant.layout.signature))
        fields = sorted({part.split(":")[0] for part in (there ^ here) if ":" in part})
        raise ValueError(
            f"{name} was trained on other observations ({options}): its network cannot read these, "
            f"which differ in {', '.join(fields) or 'size'}; train one with these options or this version"
        )
    if about["actions"] != variant.num_actions:
        raise ValueError(f"{name} chooses among {about['actions']} actions ({options}), here are {variant.num_actions}")


def write(path: Path, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
    """Write a file of weights; `about` is JSON."""
    with path.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]


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


def check_size(values: np.ndarray, name: str) -> None:
    """Raise `ValueError` if numbers that a network computes with are not finite, or beyond `LARGEST`."""
    if not np.isfinite(values).all():
        raise ValueError(f"{name} has numbers that are not finite")
    # Half precision does not know the limit: it would be infinity, and nothing beyond it.
    if (np.abs(values.astype(np.float32)) > LARGEST).any():
        raise ValueError(f"{name} has numbers beyond {LARGEST:,.0f}")


ABOUT = {"game": str, "layout": str, "actions": int}
"""What a file has to say about itself."""


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The weights and what the file says about itself; raises `ValueError` for other and for damaged files.

    A file is data: nothing in it is run.
    """
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
    except Exception as error:  # whatever a reader of archives stumbles over in a file that may hold anything
        problem = f"it lacks {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise ValueError(f"{path} is not a file of network weights, or it is damaged: {problem}") from error
    return arrays, about


def make(variant: Variant, argument: str | None, seed: int) -> NeuralPolicy:
    """The maker behind "ppo:runs/pikit2", a run's folder or a file of weights."""
    if argument is None:
        raise ValueError("'ppo' needs the folder of a training run, as in 'ppo:runs/pikit2'")
    return NeuralPolicy.from_run(variant, Path(argument), f"ppo:{argument}", seed)


@cache
def pretrained() -> tuple[dict[str, Any], ...]:
    """The shipped networks: file, game, options, how each was trained and how strong it was."""
    index = PRETRAINED / "index.json"
    return tuple(json.loads(index.read_text())["models"]) if index.exists() else ()


def make_pretrained(variant: Variant, argument: str | None, seed: int) -> NeuralPolicy:
    """The maker behind "pretrained": the shipped network for a game and its observations."""
    if argument is not None:
        raise ValueError(f"'pretrained' takes no argument, not {argument!r}")
    for model in pretrained():
        if model["game"] != variant.game.name:
            continue
        if all(variant.options[key] == value for key, value in model["options"].items()):
            arrays, about = read(PRETRAINED / model["file"])
            if about["layout"] == variant.layout.signature:
                return NeuralPolicy(variant, arrays, about, "pretrained", seed)
    known = "; ".join(f"{m['game']} {m['options']}" for m in pretrained()) or "none"
    raise ValueError(
        f"there is no pretrained network for {variant.game.name} with {variant.options}; there are: {known}. "
        f"Train one: monsterzoo train --game {variant.game.name} --players {variant.players} --out runs/mine"
    )
