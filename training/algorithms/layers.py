"""Layers that compute what matters: linear ones of sparse rows, and probabilities of the legal actions alone.

Times in comments are processor time for a minibatch of 2,048 decisions in a network 128 wide, on a core of an AMD EPYC
(Zen 5) with torch 2.13.
"""

from typing import Any

import numpy as np
import torch
from monsterzoo.envs.compiling.jit import compiled, kernel, numeric
from monsterzoo.envs.core.bits import ZERO, drop_lowest, lowest
from monsterzoo.policies.networks.inference import add_scaled, write
from monsterzoo.policies.networks.policy import as_words
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

ILLEGAL = -1e9  # a logit that makes a probability exactly 0 (and, unlike minus infinity, no NaN in the entropy)
ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
LOW_BITS, GATHER = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x0102040810204080)


def product(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`nn.functional.linear` by oneDNN; torch takes MKL, which needs 0.70 ms instead of 0.34 on processors of AMD."""
    if ONEDNN and inputs.is_cpu and inputs.dtype == torch.float32:
        return torch.ops.mkldnn._linear_pointwise(inputs, weight, bias, "none", [], "")
    return nn.functional.linear(inputs, weight, bias)


class _Linear(Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        return product(inputs, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight = ctx.saved_tensors
        by_inputs = product(gradient, weight.t()) if ctx.needs_input_grad[0] else None
        return by_inputs, product(gradient.t(), inputs.t()), gradient.sum(0)


class _SparseLinear(Function):
    """8.3 ms become 2.2 for Yokai Septet's 656 columns, of which 41 are set, 2.0 become 1.2 for Pikit's 42 of 152."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.rows, ctx.places = rows.numpy(), np.empty(rows.shape, np.int16)
        ctx.counts, outputs = np.empty(len(rows), np.int64), weight.new_empty((len(rows), len(weight)))
        table, bias = weight.t().contiguous(), bias.contiguous()
        add_columns(as_words(ctx.rows), ctx.rows, table.numpy(), bias.numpy(), ctx.places, ctx.counts, outputs.numpy())
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        table = gradient.new_zeros((ctx.rows.shape[1], gradient.shape[1]))
        spread_columns(ctx.rows, ctx.places, ctx.counts, gradient.contiguous().numpy(), table.numpy())
        return None, table.t(), gradient.sum(0)


class _LogSoftmax(Function):
    """With its gradient 0.35 ms; masked fill, log-softmax and entropy of 91 actions by torch 1.5."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        log_probs, entropy = torch.full_like(logits, ILLEGAL), logits.new_empty(len(logits))
        ctx.masks, ctx.places = masks.numpy(), room_for(masks)
        log_softmax(logits.numpy(), ctx.masks, ctx.places, log_probs.numpy(), entropy.numpy())
        ctx.save_for_backward(log_probs, entropy)
        return log_probs, entropy

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_log_probs: Tensor, by_entropy: Tensor) -> tuple[Tensor, None]:
        log_probs, entropy = ctx.saved_tensors
        gradient, given = torch.zeros_like(log_probs), (by_log_probs.contiguous(), by_entropy.contiguous())
        arrays = (one.numpy() for one in (log_probs, entropy, *given, gradient))
        back_to_logits(ctx.masks, ctx.places, *arrays)
        return gradient, None


def linear(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A linear layer, shapes (B, inputs), (outputs, inputs) and (outputs,) to (B, outputs)."""
    # In play every batch has another size, and oneDNN compiles 1 ms for each; one output takes it 0.6 ms, torch 0.1.
    if not torch.is_grad_enabled() or len(weight) < 8:
        return nn.functional.linear(inputs, weight, bias)
    return _Linear.apply(inputs, weight, bias)


def linear_of_rows(rows: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A linear layer of observations (B, n), by the columns that are not zero; n is a multiple of 8."""
    if rows.is_cpu and rows.dtype == torch.int8:
        return _SparseLinear.apply(rows.contiguous(), weight, bias)
    return linear(rows.float(), weight, bias)


def legal_log_softmax(logits: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probabilities (B, A), `ILLEGAL` where masks (B, A) int8 are 0, and their entropy (B,)."""
    return _LogSoftmax.apply(logits.contiguous(), masks.contiguous())


def room_for(masks: Any) -> np.ndarray:
    """What `list_legal` writes to."""
    return np.zeros(masks.shape[1] + 1, np.int64)


class Linear(nn.Linear):
    """torch's layer, computed by `linear`."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Shapes (B, inputs) to (B, outputs)."""
        return linear(inputs, self.weight, self.bias)


# --- Kernels ---


@kernel
def add_columns(words, rows, table, bias, places, counts, outputs):
    """Write rows @ table + bias to `outputs`, and which columns of the rows are not zero."""
    for i in range(len(rows)):
        counts[i] = list_columns(words[i], places[i])
        write(outputs[i], bias)
        add_listed(rows[i], places[i, : counts[i]], table, outputs[i])


@compiled
def list_columns(words, places):
    """Write the numbers of the nonzero columns; returns how many."""
    count = 0
    for first in range(0, len(words), 8):
        found = ZERO  # a bit for each of 64 columns; branches for every word would be mispredicted half of the time
        for k in range(first, min(first + 8, len(words))):
            high = (((words[k] & LOW_BITS) + LOW_BITS) | words[k]) & ~LOW_BITS  # the top bit of every nonzero byte
            found |= ((high >> np.uint64(7)) * GATHER >> np.uint64(56)) << np.uint64(8 * (k - first))
        while found != ZERO:
            places[count] = 8 * first + lowest(found)
            count += 1
            found = drop_lowest(found)
    return count


@numeric
def add_listed(row, places, table, output):
    """Add rows of `table` times the listed numbers of `row`, four at a time: `output` is read and written less."""
    k, kind = 0, output.dtype.type
    while k + 4 <= len(places):
        a, b, c, d = places[k], places[k + 1], places[k + 2], places[k + 3]
        first, second, third, fourth = table[a], table[b], table[c], table[d]
        one, two, three, four = kind(row[a]), kind(row[b]), kind(row[c]), kind(row[d])
        for j in range(len(output)):
            output[j] += one * first[j] + two * second[j] + three * third[j] + four * fourth[j]
        k += 4
    while k < len(places):
        add_scaled(output, table[places[k]], kind(row[places[k]]))
        k += 1


@kernel
def spread_columns(rows, places, counts, gradient, table):
    """Add rows.T @ gradient to `table`."""
    for i in range(len(rows)):
        for k in range(counts[i]):
            column = places[i, k]
            add_scaled(table[column], gradient[i], table.dtype.type(rows[i, column]))


@kernel
def log_softmax(logits, masks, places, log_probs, entropy):
    """Write the log-probabilities of the legal actions, and their entropy, 0 where nothing is legal."""
    for i in range(len(logits)):
        count = list_legal(masks[i], places)
        top = logits[i, places[0]]
        for k in range(1, count):
            top = max(top, logits[i, places[k]])
        total = weighted = logits.dtype.type(0)
        for k in range(count):
            above = logits[i, places[k]] - top
            total += np.exp(above)
            weighted += np.exp(above) * above
        for k in range(count):
            log_probs[i, places[k]] = logits[i, places[k]] - top - np.log(total)
        entropy[i] = np.log(total) - weighted / total if count else 0


@kernel
def back_to_logits(masks, places, log_probs, entropy, by_log_probs, by_entropy, gradient):
    """Write the gradient by the logits of the legal actions."""
    for i in range(len(log_probs)):
        count = list_legal(masks[i], places)
        total = gradient.dtype.type(0)
        for k in range(count):
            total += by_log_probs[i, places[k]]
        for k in range(count):
            log_prob = log_probs[i, places[k]]
            less = np.exp(log_prob) * (total + by_entropy[i] * (log_prob + entropy[i]))
            gradient[i, places[k]] = by_log_probs[i, places[k]] - less


@kernel
def draw(log_probs, masks, places, uniform, actions, chosen):
    """Write actions drawn by `uniform` numbers (B,), and their log-probabilities."""
    for i in range(len(log_probs)):
        count = list_legal(masks[i], places)
        left = uniform[i]
        for k in range(count):
            actions[i], chosen[i] = places[k], log_probs[i, places[k]]
            left -= np.exp(chosen[i])
            if left < 0:
                break


@compiled
def list_legal(mask, places):
    """Write the numbers of the legal actions, see `room_for`; returns how many."""
    count = 0
    for k in range(len(mask)):
        places[count] = k
        count += mask[k] != 0
    return count
