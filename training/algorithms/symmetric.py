"""Symmetry-equivariant layers: what differs by names alone is learned once.

A layer's weights lead from one permuted set to another: columns, hidden units or actions. A renaming moves a weight to
another place; all places that a weight can get to by renamings share one number (Ravanbakhsh et al., 2017). What a
network has learned of a red vampire it then knows of a green coffin. Outside of learning nothing is different: the
expanded weights are those of an ordinary network.
"""

import numpy as np
import torch
from monsterzoo.envs.core.symmetry import Symmetry
from torch import Tensor, nn

from .layers import linear

SHARE = 0.9
"""Of a layer's units that stand for things with names, at most; the others mean the same under every renaming."""


class Shared(nn.Module):
    """A linear layer whose weights are shared along orbits; `weight` and `bias` are those of an ordinary one.

    Args:
        inputs, outputs: the renamings of what the layer reads and writes, permutations (renamings, n) each.
    """

    weight_orbits: Tensor
    bias_orbits: Tensor

    def __init__(self, inputs: np.ndarray, outputs: np.ndarray) -> None:
        super().__init__()
        one = np.zeros((len(outputs), 1), np.int64)  # a bias is the weight of one input that has no name
        self.register_buffer("weight_orbits", _orbits(inputs, outputs), persistent=False)
        self.register_buffer("bias_orbits", _orbits(one, outputs), persistent=False)
        self.shape = (outputs.shape[1], inputs.shape[1])
        bound = self.shape[1] ** -0.5  # as in torch's own layer
        count_weights, count_biases = int(self.weight_orbits.max()) + 1, int(self.bias_orbits.max()) + 1
        self.shared_weight = nn.Parameter(torch.empty(count_weights).uniform_(-bound, bound))
        self.shared_bias = nn.Parameter(torch.empty(count_biases).uniform_(-bound, bound))

    @property
    def weight(self) -> Tensor:
        """All weights, shape (outputs, inputs)."""
        return self.shared_weight.index_select(0, self.weight_orbits).view(self.shape)

    @property
    def bias(self) -> Tensor:
        """What is added to each output, shape (outputs,)."""
        return self.shared_bias.index_select(0, self.bias_orbits)

    def forward(self, inputs: Tensor) -> Tensor:
        """Shapes (B, inputs) to (B, outputs)."""
        return linear(inputs, self.weight, self.bias)

    def share(self, weight: Tensor, bias: Tensor) -> None:
        """Take over the weights of an ordinary layer that is symmetric, see `is_symmetric`."""
        self.shared_weight[self.weight_orbits] = weight.flatten()
        self.shared_bias[self.bias_orbits] = bias


def permuted(symmetry: Symmetry, width: int, values: int) -> dict[str, np.ndarray]:
    """How renamings permute columns, units of hidden layers, actions and values: permutations (renamings, n).

    Units stand for things as often as those fit in; the others, and values, are the same under all names.
    """
    renamings, things = symmetry.things.shape
    bundles = int(SHARE * width) // things
    moved = np.arange(bundles)[:, None] * things + symmetry.things[:, None, :]
    unmoved = np.tile(np.arange(bundles * things, width), (renamings, 1))
    return {
        "columns": symmetry.columns,
        "units": np.concatenate([moved.reshape(renamings, -1), unmoved], axis=1),
        "actions": symmetry.actions,
        "values": np.tile(np.arange(values), (renamings, 1)),
    }


def is_symmetric(symmetry: Symmetry, arrays: dict[str, np.ndarray]) -> bool:
    """Whether the weights of an ordinary network are the same under all renamings, up to the rounding of files."""
    moved = permuted(symmetry, len(arrays["stem.bias"]), len(arrays["value.bias"]))
    ends = {"stem": ("columns", "units"), "policy": ("units", "actions"), "value": ("units", "values")}
    for name, values in arrays.items():
        layer, part = name.rsplit(".", 1)
        inputs, outputs = (moved[end] for end in ends.get(layer, ("units", "units")))
        for source, target in zip(inputs, outputs):
            renamed = np.empty_like(values)
            renamed[np.ix_(target, source) if part == "weight" else target] = values
            if not np.allclose(renamed, values, rtol=1e-3, atol=1e-6):
                return False
    return True


def _orbits(inputs: np.ndarray, outputs: np.ndarray) -> Tensor:
    """For each weight (outputs * inputs,) the number of its orbit under the renamings, counted from 0."""
    orbits = np.arange(outputs.shape[1] * inputs.shape[1]).reshape(outputs.shape[1], -1)
    while True:
        before = orbits
        for source, target in zip(inputs, outputs):
            places = np.ix_(target, source)
            orbits = np.minimum(orbits, orbits[places])
            back = np.empty_like(orbits)
            back[places] = orbits
            orbits = np.minimum(orbits, back)
        if (orbits == before).all():
            return torch.from_numpy(np.unique(orbits, return_inverse=True)[1].ravel())
