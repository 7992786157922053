"""Policy and value network, one for all seats: observations count seats from the observer."""

from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from monsterzoo.envs.core.symmetry import Symmetry
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.policies.networks import files
from monsterzoo.policies.networks.inference import make_net
from torch import Tensor, nn
from torch.distributions import Categorical
from torch.nn import functional

from ..runs.files import replacing
from . import layers
from .layers import ILLEGAL, Linear
from .symmetric import Shared, is_symmetric, permuted

Layer = Linear | Shared
Arrays = tuple[np.ndarray, ...]


class Block(nn.Module):
    """A residual step: normalise, two layers, add."""

    def __init__(self, first: Layer, second: Layer) -> None:
        super().__init__()
        self.first, self.second = first, second
        nn.init.zeros_(next(second.parameters()))  # its weights; starts by adding a constant, its bias

    def forward(self, hidden: Tensor) -> Tensor:
        """Shapes (B, width) to (B, width)."""
        inner = self.first(functional.layer_norm(hidden, hidden.shape[1:]))
        return hidden + self.second(functional.relu(inner))


class Network(nn.Module):
    """Observation of `size` columns to logits and values: a linear stem, residual blocks, two heads.

    `highs` are the largest values of the columns. The values are 1, the observer's return, or a logit for each side's
    chance to win, counted from the observer's. `symmetry` are renamings that must not matter, see `symmetric`.
    """

    scale: Tensor

    def __init__(
        self,
        size: int,
        actions: int,
        width: int,
        blocks: int,
        highs: np.ndarray,
        values: int = 1,
        symmetry: Symmetry | None = None,
    ) -> None:
        super().__init__()
        self.symmetry = symmetry
        sizes = {"columns": size, "units": width, "actions": actions, "values": values}
        moved = None if symmetry is None else permuted(symmetry, width, values)

        def layer(inputs: str, outputs: str) -> Layer:
            if moved is None:
                return Linear(sizes[inputs], sizes[outputs])
            return Shared(moved[inputs], moved[outputs])

        self.stem = layer("columns", "units")
        self.blocks = nn.ModuleList(Block(layer("units", "units"), layer("units", "units")) for _ in range(blocks))
        self.policy = layer("units", "actions")
        self.value = layer("units", "values")
        for head in (self.policy, self.value):
            for parameter in head.parameters():
                nn.init.zeros_(parameter)  # starts uniform over the legal actions, and expects nothing
        # Numbers are divided by the square root of their bound: neither 0…127 nor 0…4 dominates the 0/1 columns.
        self.register_buffer("scale", torch.from_numpy(np.maximum(highs, 1).astype(np.float32) ** -0.5))

    @classmethod
    def for_variant(cls, variant: Variant, width: int, blocks: int, values: int = 1, symmetric: bool = False) -> Self:
        """A fresh network for a game's observations and actions; a `symmetric` one where the game has symmetries."""
        symmetry = variant.symmetry if symmetric else None
        return cls(variant.layout.size, variant.num_actions, width, blocks, variant.layout.bounds[1], values, symmetry)

    def layers(self) -> dict[str, Layer]:
        """All layers, by the names that files of weights have for them."""
        layers: dict[str, Any] = {"stem": self.stem}
        for k, block in enumerate(self.blocks):
            layers |= {f"blocks.{k}.first": block.first, f"blocks.{k}.second": block.second}
        return {**layers, "policy": self.policy, "value": self.value}

    def forward(self, observations: Tensor, action_masks: Tensor) -> tuple[Tensor, Tensor]:
        """(B, n) and (B, A) to log-probabilities (B, A), `ILLEGAL` or less where masked, and returns (B,)."""
        hidden = self.trunk(observations)
        logits = self.policy(hidden).masked_fill(action_masks == 0, ILLEGAL)
        return logits.log_softmax(1), self.value(hidden)[:, 0]

    def evaluate(self, observations: Tensor, action_masks: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Like `forward` for int8 on a processor: log-probabilities, their entropy (B,), and all values (B, values)."""
        hidden = self.trunk(observations)
        return *layers.legal_log_softmax(self.policy(hidden), action_masks), self.value(hidden)

    def trunk(self, observations: Tensor) -> Tensor:
        """What both heads read, (B, width)."""
        # Scaling the weights instead of the observations is the same, and an order of magnitude less work.
        stem = layers.linear_of_rows(observations, self.stem.weight * self.scale, self.stem.bias)
        hidden = functional.relu(stem)
        for block in self.blocks:
            hidden = block(hidden)
        return functional.layer_norm(hidden, hidden.shape[1:])

    @torch.no_grad()
    def play(self, observations: np.ndarray, action_masks: np.ndarray, generator: torch.Generator) -> Arrays:
        """Actions drawn from the probabilities, their log-probabilities, and values; arrays (B,)."""
        log_probs, _, values = self.evaluate(torch.from_numpy(observations), torch.from_numpy(action_masks))
        drawn, masks = torch.rand(len(log_probs), generator=generator).numpy(), np.ascontiguousarray(action_masks)
        actions, chosen, places = np.zeros(len(drawn), np.int64), np.zeros_like(drawn), layers.room_for(masks)
        layers.draw(log_probs.numpy(), masks, places, drawn, actions, chosen)
        return actions, chosen, values[:, 0].numpy()

    @torch.no_grad()
    def probabilities(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        """How likely each action is to be drawn, (B, A)."""
        log_probs, _ = self(torch.from_numpy(observations), torch.from_numpy(action_masks))
        return np.asarray(log_probs.exp())

    def arrays(self) -> dict[str, np.ndarray]:
        """The weights as `NeuralPolicy` reads them; the scaling of observations is part of the first layer."""
        weights: dict[str, np.ndarray] = {}
        for name, layer in self.layers().items():
            weights |= {f"{name}.{part}": getattr(layer, part).detach().numpy().copy() for part in ("weight", "bias")}
        weights["stem.weight"] *= self.scale.numpy()
        return weights

    @torch.no_grad()
    def start_from(self, arrays: dict[str, np.ndarray], name: str) -> None:
        """Take over the weights of another network, as `arrays` gives them; its values only if they mean the same.

        Raises `ValueError` if it is of another shape.
        """
        if self.symmetry is not None and not is_symmetric(self.symmetry, arrays):
            raise ValueError(f"{name} does not share its weights by the game's symmetries; go on with --no-symmetric")
        for key, layer in self.layers().items():
            wanted = {f"{key}.{part}": tuple(getattr(layer, part).shape) for part in ("weight", "bias")}
            found = {part: arrays[part].shape if part in arrays else "missing" for part in wanted}
            if key == "value" and found != wanted:
                continue
            for part, shape in wanted.items():
                if found[part] != shape:
                    raise ValueError(f"{name} has another shape: {part} is {found[part]}, not {shape}")
            weight, bias = (torch.from_numpy(arrays[part].astype(np.float32)) for part in wanted)
            weight = weight / self.scale if key == "stem" else weight
            if isinstance(layer, Shared):
                layer.share(weight, bias)
            else:
                layer.weight.copy_(weight)
                layer.bias.copy_(bias)


class LogProbs(Categorical):
    """Categorical distribution by log-probabilities (B, A): torch's own would check and normalise them again."""

    def __init__(self, log_probs: Tensor) -> None:
        self.logits, self._num_events = log_probs, log_probs.shape[1]
        super(Categorical, self).__init__(log_probs.shape[:1], validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Random actions (B,)."""
        sums = self.probs.cumsum(1)
        # A little less than the last sum, so that some sum is larger; the first such belongs to a legal action.
        drawn = torch.rand_like(sums[:, :1]) * (1 - 1e-6) * sums[:, -1:]
        return (sums > drawn).byte().argmax(1)


def write(path: Path, network: Network, variant: Variant, **more: Any) -> None:
    """Write the policy's file, in one step; `more` goes into what it says about itself.

    Raises `ValueError` for a network with other observations or actions than the variant's.
    """
    arrays = network.arrays()
    files.check_shapes(arrays, variant, "the network")
    about = {"game": variant.game.name, "options": variant.options, "layout": variant.layout.signature}
    with replacing(path) as part:
        files.write(part, arrays, {**about, "actions": variant.num_actions, **more})


class CompiledNetwork:
    """A network as an opponent inside of compiled loops, drawing from its probabilities."""

    def __init__(self, network: Network, name: str) -> None:
        self.compiled, self.name = make_net(network.arrays(), temperature=1.0), name

    def become(self, network: Network) -> None:
        """Play like another network of the same shape; loops that have this one already see it."""
        for weights, others in zip(self.compiled.weights, make_net(network.arrays()).weights):
            weights[...] = others


class NetworkPolicy:
    """A network as a policy that plays its most likely action, for games inside of training."""

    name = "network"

    def __init__(self, network: Network) -> None:
        self.network = network

    @torch.no_grad()
    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row, integers (B,)."""
        log_probs, _ = self.network(*map(torch.from_numpy, (decisions.observations, decisions.action_masks)))
        return log_probs.argmax(1).numpy()
