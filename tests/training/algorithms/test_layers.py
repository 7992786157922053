"""Layers of our own compute what torch's do, and have the same gradients."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from monsterzoo.training.algorithms import layers
from torch import Tensor
from torch.nn import functional

CLOSE = {"rtol": 1e-4, "atol": 1e-4}


def both(ours: Callable[..., Tensor], torchs: Callable[..., Tensor], *inputs: Tensor) -> None:
    """Check results, and gradients of a random combination of them, by all inputs that have one."""
    found, wanted = ours(*inputs), torchs(*inputs)
    torch.testing.assert_close(found, wanted, **CLOSE)
    weights, learned = torch.randn_like(wanted), [one for one in inputs if one.requires_grad]
    gradients = [torch.autograd.grad((result * weights).sum(), learned) for result in (found, wanted)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, **CLOSE)


def random(*shape: int) -> Tensor:
    return torch.randn(shape, requires_grad=True)


@pytest.mark.parametrize(("batch", "columns", "outputs"), [(1, 8, 1), (3, 16, 7), (7, 152, 33), (64, 656, 128)])
@pytest.mark.parametrize("share", [0.0, 0.07, 1.0])
def test_rows_times_weights_by_the_nonzero_columns(batch: int, columns: int, outputs: int, share: float) -> None:
    torch.manual_seed(batch)
    rows = torch.randint(-128, 128, (batch, columns), dtype=torch.int8) * (torch.rand(batch, columns) < share)
    rows[0] = 0
    rows[-1, ::5], rows[-1, -1] = 1, -128  # the smallest number is only its sign bit
    weight, bias = torch.randn(outputs, columns) / 100, random(outputs)
    both(
        layers.linear_of_rows,
        lambda rows, *layer: functional.linear(rows.float(), *layer),
        rows,
        weight.requires_grad_(),
        bias,
    )
    floats = layers.linear_of_rows(rows.float(), weight, bias)  # as other libraries have them
    torch.testing.assert_close(floats, layers.linear_of_rows(rows, weight, bias), **CLOSE)


@pytest.mark.parametrize(("batch", "inputs", "outputs"), [(1, 8, 1), (5, 3, 9), (33, 128, 91)])
def test_linear_layers(batch: int, inputs: int, outputs: int) -> None:
    for kind in (torch.float32, torch.float64):
        tensors = (torch.randn(shape, dtype=kind) for shape in ((batch, inputs), (outputs, inputs), (outputs,)))
        both(layers.linear, functional.linear, *(one.requires_grad_() for one in tensors))


def by_torch(logits: Tensor, masks: Tensor) -> Tensor:
    log_probs = logits.masked_fill(masks == 0, layers.ILLEGAL).log_softmax(1).masked_fill(masks == 0, 0)
    return torch.cat([log_probs, -(log_probs.exp() * log_probs).sum(1, keepdim=True)], 1)


def compiled(logits: Tensor, masks: Tensor) -> Tensor:
    log_probs, entropy = layers.legal_log_softmax(logits, masks)
    assert (log_probs[masks == 0] == layers.ILLEGAL).all()
    return torch.cat([log_probs.masked_fill(masks == 0, 0), entropy[:, None]], 1)


@pytest.mark.parametrize(("batch", "actions"), [(1, 1), (9, 5), (40, 91)])
@pytest.mark.parametrize("scale", [1, 300])
def test_probabilities_of_legal_actions_and_their_entropy(batch: int, actions: int, scale: int) -> None:
    torch.manual_seed(actions)
    masks = (torch.rand(batch, actions) < 0.3).to(torch.int8)
    masks[:, -1] = 1
    masks[0] = 1
    both(compiled, by_torch, (scale * torch.randn(batch, actions)).requires_grad_(), masks)


def test_a_row_without_legal_actions_has_no_gradient() -> None:
    logits, masks = random(2, 3), torch.tensor([[0, 0, 0], [1, 0, 1]], dtype=torch.int8)
    log_probs, entropy = layers.legal_log_softmax(logits, masks)
    (log_probs.sum() + entropy.sum()).backward()
    assert entropy[0] == 0
    assert logits.grad is not None
    assert (logits.grad[0] == 0).all()


def test_draws_take_each_action_as_often_as_it_is_likely() -> None:
    probabilities = torch.tensor([[0.5, 0, 0.2, 0.3]])
    masks, uniform = np.array([[1, 0, 1, 1]], np.int8), np.linspace(0, 1, 1001, dtype=np.float32)
    log_probs = probabilities.log().clamp_min(layers.ILLEGAL).repeat(1001, 1).numpy()
    actions, chosen = np.zeros(1001, np.int64), np.zeros(1001, np.float32)
    layers.draw(log_probs, masks.repeat(1001, 0), layers.room_for(masks), uniform, actions, chosen)
    np.testing.assert_allclose(np.bincount(actions) / 1001, probabilities[0], atol=2e-3)
    np.testing.assert_array_equal(chosen, log_probs[0, actions])
