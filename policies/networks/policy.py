"""Networks as policies, behind the specs "net:FOLDER" and "pretrained"."""

from pathlib import Path
from typing import Any

import numpy as np
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.decisions import Decisions

from ..base import Named, legal_masks
from .files import WEIGHTS, check_fit, check_shapes, read, read_pretrained
from .inference import evaluate_rows, make_net


class NeuralPolicy(Named):
    """A residual network's most likely legal action.

    Args:
        variant: the game; raises `ValueError` if the network was trained on another one or on other observations, or
            has weights of other shapes.
        arrays: the weights, see `files.read`.
        about: what the file says about itself: at least "game", "layout" and "actions".
        name: for tables and plots.
    """

    def __init__(
        self, variant: Variant, arrays: dict[str, np.ndarray], about: dict[str, Any], name: str = "neural"
    ) -> None:
        check_fit(variant, about, name)
        check_shapes(arrays, variant, name)
        self.variant, self.arrays, self.about, self.name = variant, arrays, about, name
        self.compiled = make_net(arrays)

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row, int64 (B,); raises `ValueError` for decisions in another game."""
        masks, (logits, _) = legal_masks(self, decisions), self.evaluate(decisions.observations)
        return np.asarray(np.where(masks, logits, -np.inf).argmax(axis=1))

    def evaluate(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Unmasked logits (B, A) and values (B, 1 or sides), float32; see `inference.Weights`."""
        rows = as_words(observations)
        logits = np.empty((len(rows), self.variant.num_actions), np.float32)
        values = np.empty((len(rows), len(self.compiled.weights.value_bias)), np.float32)
        evaluate_rows(self.compiled.weights, self.compiled.memory, rows, logits, values)
        return logits, values

    def opinion(self, observations: np.ndarray, action_masks: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Probabilities (B, A) of all actions, and win probabilities (B,) of the seats' sides; None if not known."""
        logits, values = self.evaluate(observations)
        probabilities = _softmax(np.where(action_masks, logits, -np.inf))
        if not self.knows_chances:
            return probabilities, None
        values, sides = values.astype(np.float64), self.variant.sides
        if values.shape[1] == 1:  # the expected return, from -1 / (sides - 1) to 1
            return probabilities, np.clip((1 + (sides - 1) * values[:, 0]) / sides, 0, 1)
        return probabilities, _softmax(values)[:, 0]

    @property
    def shape(self) -> dict[str, int]:
        """Its options of training: `width` and `blocks`."""
        return {"width": len(self.arrays["stem.weight"]), "blocks": len(self.compiled.weights.first)}

    @property
    def knows_chances(self) -> bool:
        """Whether its values are about winning; those learned from points are not."""
        several = len(self.compiled.weights.value_bias) > 1
        return several or self.about.get("options", {}).get("reward", "win") == "win"


def _softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def as_words(observations: np.ndarray) -> np.ndarray:
    """Observations (B, n) as kernels read them: eight columns a uint64, (B, n / 8)."""
    return np.ascontiguousarray(observations, np.int8).view(np.uint64)


def make(variant: Variant, argument: str | None, seed: int) -> NeuralPolicy:
    """The policy of "net:runs/pikit2", a run's folder or a file of weights."""
    if argument is None:
        raise ValueError("'net' needs the folder of a training run, as in 'net:runs/pikit2'")
    path = Path(argument, WEIGHTS) if Path(argument).is_dir() else Path(argument)
    if not path.exists():
        raise ValueError(f"'net:{argument}': there is no {path}")
    return NeuralPolicy(variant, *read(path), f"net:{argument}")


def make_pretrained(variant: Variant, argument: str | None, seed: int) -> NeuralPolicy:
    """The policy of "pretrained": the shipped network for a game and its observations."""
    if argument is not None:
        raise ValueError(f"'pretrained' takes no argument, not {argument!r}")
    return NeuralPolicy(variant, *read_pretrained(variant), "pretrained")
