"""Compiled evaluation of residual networks, one observation at a time.

Few columns of an observation are set: adding up the weights of those alone is several times faster than the matrix
product of a batch, and needs no batch. Weights are arguments of kernels, so that all networks of a game share one
compilation.
"""

from typing import Any, NamedTuple

import numpy as np
from monsterzoo.envs.compiling.jit import compiled, compiled_as, inlined, kernel, numeric
from monsterzoo.envs.core.bits import ZERO, drop_lowest, lowest
from monsterzoo.envs.core.contract import legal, observe
from monsterzoo.envs.core.rng import draw32
from monsterzoo.envs.match.compiled_policies import compiled_policy

from ..heuristics import sole

BYTE = np.uint64(0xFF)


class Weights(NamedTuple):
    """A residual network, float32; weights are (inputs, outputs), so that an input's are side by side.

    `value` has one output, the expected return of the observer, or one for each side, counted from the observer's:
    logits of their win probabilities.
    """

    stem: Any  # (columns, width)
    stem_bias: Any  # (width,)
    first: Any  # (blocks, width, width)
    first_bias: Any  # (blocks, width)
    second: Any  # (blocks, width, width)
    second_bias: Any  # (blocks, width)
    policy: Any  # (width, actions)
    policy_bias: Any  # (actions,)
    value: Any  # (width, values)
    value_bias: Any  # (values,)


class Memory(NamedTuple):
    """Scratch arrays of one thread; float32 but for the observation."""

    row: Any  # (columns / 8,) uint64: the observation, to be written before `evaluate`
    columns: Any  # (columns,) int8: the same
    hidden: Any  # (width,)
    normal: Any  # (width,): `hidden` with mean 0 and variance 1
    inner: Any  # (width,): between the layers of a block
    logits: Any  # (actions,): unmasked, the result of `evaluate`
    values: Any  # (values,): likewise


class Net(NamedTuple):
    """Compiled policy: a network's most likely action, or one sampled from its probabilities."""

    weights: Weights
    memory: Memory
    temperature: float  # 0 takes the most likely action, 1 samples from the probabilities

    def fresh(self) -> "Net":
        """The same network with memory of its own, for another thread."""
        return self._replace(memory=new_memory(self.weights))


def make_net(arrays: dict[str, np.ndarray], temperature: float = 0.0) -> Net:
    """A network from the arrays of a file, see `files.check_shapes`."""

    def layer(name: str) -> tuple[np.ndarray, np.ndarray]:
        weight, bias = (arrays[f"{name}.{part}"].astype(np.float32) for part in ("weight", "bias"))
        return np.ascontiguousarray(weight.T), np.ascontiguousarray(bias)

    def stacked(name: str) -> tuple[np.ndarray, np.ndarray]:
        blocks = sum(key.endswith(".first.weight") for key in arrays)
        layers = [layer(f"blocks.{block}.{name}") for block in range(blocks)]
        width = len(arrays["stem.weight"])
        if not layers:
            return np.zeros((0, width, width), np.float32), np.zeros((0, width), np.float32)
        return np.stack([weight for weight, _ in layers]), np.stack([bias for _, bias in layers])

    weights = Weights(*layer("stem"), *stacked("first"), *stacked("second"), *layer("policy"), *layer("value"))
    return Net(weights, new_memory(weights), float(temperature))


def new_memory(weights: Weights) -> Memory:
    """Scratch arrays to evaluate a network in."""
    row = np.zeros(len(weights.stem) // 8, np.uint64)
    width, actions, values = len(weights.stem_bias), len(weights.policy_bias), len(weights.value_bias)
    sizes = (width, width, width, actions, values)
    return Memory(row, row.view(np.int8), *(np.zeros(size, np.float32) for size in sizes))


# --- Evaluation ---


def evaluate_sparsely(weights, memory):
    """`evaluate`, adding up the weights of nonzero columns."""
    hidden = memory.hidden
    write(hidden, weights.stem_bias)
    for k in range(len(memory.row)):
        word = memory.row[k]
        while word != ZERO:
            place = lowest(word) >> 3
            add_scaled(hidden, weights.stem[8 * k + place], np.float32(memory.columns[8 * k + place]))
            word &= ~(BYTE << np.uint64(8 * place))
    rectify(hidden)
    for block in range(len(weights.first)):
        normalise(hidden, memory.normal)
        apply_layer(memory.normal, weights.first[block], weights.first_bias[block], memory.inner)
        rectify(memory.inner)
        add_scaled(hidden, weights.second_bias[block], np.float32(1))
        add_products(memory.inner, weights.second[block], hidden)
    normalise(hidden, memory.normal)
    apply_layer(memory.normal, weights.policy, weights.policy_bias, memory.logits)
    apply_layer(memory.normal, weights.value, weights.value_bias, memory.values)


@compiled_as(evaluate_sparsely)
def evaluate(weights: Weights, memory: Memory) -> None:
    """Write the logits and values of the observation in `memory`."""
    hidden = np.maximum(memory.columns.astype(np.float32) @ weights.stem + weights.stem_bias, 0)
    for block in range(len(weights.first)):
        normalise(hidden, memory.normal)
        inner = np.maximum(memory.normal @ weights.first[block] + weights.first_bias[block], 0)
        hidden += inner @ weights.second[block] + weights.second_bias[block]
    normalise(hidden, memory.normal)
    memory.logits[:] = memory.normal @ weights.policy + weights.policy_bias
    memory.values[:] = memory.normal @ weights.value + weights.value_bias


@compiled
def apply_layer(inputs, weight, bias, outputs):
    """A linear layer; `weight` is (inputs, outputs)."""
    write(outputs, bias)
    add_products(inputs, weight, outputs)


@numeric
def add_products(inputs, weight, outputs):
    """Add inputs @ weight to outputs, four inputs at a time: outputs are read and written a quarter as often."""
    size, k = len(outputs), 0
    while k + 4 <= len(inputs):
        one, two, three, four = inputs[k], inputs[k + 1], inputs[k + 2], inputs[k + 3]
        first, second, third, fourth = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        for j in range(size):
            outputs[j] += one * first[j] + two * second[j] + three * third[j] + four * fourth[j]
        k += 4
    while k < len(inputs):
        add_scaled(outputs, weight[k], inputs[k])
        k += 1


@numeric
def add_scaled(target, source, factor):
    """Add factor * source to target, both (n,)."""
    for k in range(len(target)):
        target[k] += factor * source[k]


@numeric
def normalise(values, target):
    """Write `values` shifted and scaled to mean 0 and variance 1."""
    total, squares = np.float32(0), np.float32(0)
    for k in range(len(values)):
        total += values[k]
    mean = total / np.float32(len(values))
    for k in range(len(values)):
        centred = values[k] - mean
        squares += centred * centred
    scale = np.float32(1) / np.sqrt(squares / np.float32(len(values)) + np.float32(1e-5))
    for k in range(len(values)):
        target[k] = (values[k] - mean) * scale


@inlined
def write(target, source):
    """Copy source to target, both (n,)."""
    for k in range(len(target)):
        target[k] = source[k]


@inlined
def rectify(values):
    """ReLU, in place."""
    for k in range(len(values)):
        values[k] = max(values[k], np.float32(0))


# --- Playing ---


@compiled
def choose_by_network(policy, state, seat, words, views, stream):
    """The network's action for an acting seat; a forced one without evaluating it."""
    legal(state, seat, words)
    only = sole(words)
    if only >= 0:
        return only
    observe(state, seat, views[0], policy.memory.row)
    evaluate(policy.weights, policy.memory)
    return pick_by_logits(policy.memory.logits, words, policy.temperature, stream)


compiled_policy(Net, choose_by_network)


@compiled
def pick_by_logits(logits, words, temperature, stream):
    """The legal action with the highest logit, or one sampled with the logits divided by `temperature`."""
    best, top = -1, np.float32(-np.inf)
    for k in range(len(words)):
        word = words[k]
        while word != ZERO:
            action = 64 * k + lowest(word)
            word = drop_lowest(word)
            value = logits[action]
            if temperature > 0:
                value -= np.float32(temperature) * np.log(-np.log(uniform(stream)))  # the Gumbel-max trick
            if best < 0 or value > top:
                best, top = action, value
    return best


@inlined
def uniform(stream):
    """A number strictly between 0 and 1."""
    return (np.float32(draw32(stream) >> np.uint64(9)) + np.float32(0.5)) / np.float32(1 << 23)


@kernel
def evaluate_rows(weights, memory, rows, logits, values):
    """Logits (B, actions) and values (B, values) of observations (B, columns / 8), uint64."""
    for i in range(len(rows)):
        write(memory.row, rows[i])
        evaluate(weights, memory)
        write(logits[i], memory.logits)
        write(values[i], memory.values)
