"""The network of training: how it starts, what its files hold, and what plays with its weights."""

from pathlib import Path

import numpy as np
import pytest
import torch
from monsterzoo.policies.networks.files import read
from monsterzoo.training.algorithms.network import CompiledNetwork, LogProbs, Network, NetworkPolicy, write
from nim import NIM, positions
from torch.nn import functional

HIGHS = np.array([1, 4, 0, 100, 1, 1, 1, 1])
ROWS = np.array([[1, 4, 0, 100, 0, 0, 1, 0], [0, 1, 0, 25, 1, 0, 0, 0]], np.int8)
MASKS = np.array([[1, 0, 1], [1, 1, 1]], np.int8)


def random_network(seed: int = 0, values: int = 1, blocks: int = 2) -> Network:
    torch.manual_seed(seed)
    network = Network(8, 3, 4, blocks, HIGHS, values)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return network


def test_a_fresh_network_is_uniform_expects_nothing_and_its_blocks_add_a_constant() -> None:
    torch.manual_seed(0)
    network = Network(8, 3, 16, 2, HIGHS, values=2)
    rows, masks = torch.from_numpy(ROWS), torch.from_numpy(MASKS)
    log_probs, entropy, values = network.evaluate(rows, masks)
    third, half = np.log(1 / 3), np.log(1 / 2)
    np.testing.assert_allclose(log_probs.detach(), [[half, -1e9, half], [third] * 3], rtol=1e-6)
    np.testing.assert_allclose(entropy.detach(), [-half, -third], rtol=1e-6)
    assert not values.detach().any()
    assert values.shape == (2, 2)
    stem = functional.relu(functional.linear(rows * network.scale, network.stem.weight, network.stem.bias))
    assert (stem > 0).any()
    for block in network.blocks:
        stem = stem + block.second.bias  # type: ignore[union-attr, operator]
    torch.testing.assert_close(network.trunk(rows), functional.layer_norm(stem, (16,)))


def test_columns_are_divided_by_the_square_root_of_their_bound_and_files_have_that_in_their_weights() -> None:
    network = random_network()
    np.testing.assert_allclose(network.scale, [1, 1 / 2, 1, 1 / 10, 1, 1, 1, 1])
    arrays = network.arrays()
    weight = network.stem.weight.detach().numpy()
    np.testing.assert_allclose(arrays["stem.weight"], weight * [1, 0.5, 1, 0.1, 1, 1, 1, 1], rtol=1e-6)
    hidden = torch.from_numpy(np.maximum(ROWS @ arrays["stem.weight"].T + arrays["stem.bias"], 0))
    for k in range(2):
        inner = functional.layer_norm(hidden, (4,)) @ arrays[f"blocks.{k}.first.weight"].T
        inner = functional.relu(inner + arrays[f"blocks.{k}.first.bias"])
        hidden = hidden + inner @ arrays[f"blocks.{k}.second.weight"].T + arrays[f"blocks.{k}.second.bias"]
    found = network.trunk(torch.from_numpy(ROWS)).detach()
    torch.testing.assert_close(found, functional.layer_norm(hidden, (4,)), rtol=1e-4, atol=1e-5)


def test_both_ways_to_ask_a_network_agree() -> None:
    network = random_network(values=2)
    rows, masks = torch.from_numpy(ROWS), torch.from_numpy(MASKS)
    log_probs, returns = network(rows, masks)
    others, _, values = network.evaluate(rows, masks)
    torch.testing.assert_close(log_probs[masks > 0], others[masks > 0])
    assert (log_probs[masks == 0] < -1e8).all()
    torch.testing.assert_close(returns, values[:, 0])
    probabilities = network.probabilities(ROWS, MASKS)
    np.testing.assert_allclose(probabilities, others.exp().detach(), rtol=1e-5)
    assert probabilities[0, 1] == 0
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)


def test_play_draws_actions_by_their_probabilities_and_says_how_likely_they_were() -> None:
    network = random_network(3)
    rows, masks = np.repeat(ROWS, 4000, axis=0), np.repeat(MASKS, 4000, axis=0)
    actions, log_probs, values = network.play(rows, masks, torch.Generator().manual_seed(1))
    wanted = network.probabilities(ROWS, MASKS)
    for row in range(2):
        part = slice(4000 * row, 4000 * (row + 1))
        np.testing.assert_allclose(np.bincount(actions[part], minlength=3) / 4000, wanted[row], atol=0.04)
        np.testing.assert_allclose(log_probs[part], np.log(wanted[row, actions[part]]), rtol=1e-4)
    _, _, expected = network.evaluate(torch.from_numpy(ROWS), torch.from_numpy(MASKS))
    np.testing.assert_allclose(values, np.repeat(expected[:, 0].detach(), 4000), rtol=1e-5)
    again = network.play(rows, masks, torch.Generator().manual_seed(1))[0]
    other = network.play(rows, masks, torch.Generator().manual_seed(2))[0]
    assert (again == actions).all()
    assert (other != actions).any()


def test_the_policy_of_a_network_is_its_likeliest_legal_action() -> None:
    known = positions()
    network = Network.for_variant(known.variant, 4, 0)
    network.policy.bias.data[:] = torch.tensor([0.0, 1.0, 9.0])  # the likeliest one is not legal
    assert NetworkPolicy(network).act(known.decisions).tolist() == [1] * len(known.stones)


def test_a_file_says_what_its_network_is_for(tmp_path: Path) -> None:
    variant = NIM.variant()
    network = Network.for_variant(variant, 4, 1)
    write(tmp_path / "policy.npz", network, variant, note="mine")
    arrays, about = read(tmp_path / "policy.npz")
    assert about == {
        "game": "nim_v0", "options": {**variant.options}, "layout": variant.layout.signature, "actions": 3,
        "note": "mine",
    }  # fmt: skip
    for name, values in network.arrays().items():
        np.testing.assert_array_equal(arrays[name], values)
    with pytest.raises(ValueError, match=r"the network has weights of another shape: stem\.weight"):
        write(tmp_path / "other.npz", random_network(), variant)
    assert [one.name for one in tmp_path.iterdir()] == ["policy.npz"]


def test_a_network_takes_over_weights_as_files_have_them() -> None:
    given = random_network(1).arrays()
    network = Network(8, 3, 4, 2, HIGHS)
    network.start_from(given, "given")
    for name, values in network.arrays().items():
        np.testing.assert_allclose(values, given[name], rtol=1e-6)
    own = random_network(2, values=2)
    before = own.value.weight.detach().clone()
    own.start_from({name: values.astype(np.float16) for name, values in given.items()}, "given")
    torch.testing.assert_close(own.value.weight.detach(), before)  # for each side, where `given` has one value
    np.testing.assert_allclose(own.arrays()["policy.weight"], given["policy.weight"], rtol=1e-3)
    for name, shape in (("policy.bias", 2), ("blocks.1.second.bias", 5)):
        with pytest.raises(ValueError, match=rf"given has another shape: {name} is \({shape},\), not"):
            network.start_from({**given, name: np.zeros(shape, np.float32)}, "given")
    del given["blocks.1.first.weight"]
    with pytest.raises(ValueError, match=r"blocks\.1\.first\.weight is missing, not"):
        network.start_from(given, "given")


def test_a_compiled_network_draws_and_becomes_another_in_place() -> None:
    """Compiled loops keep the arrays that they were given."""
    first, second = random_network(1), random_network(2)
    player = CompiledNetwork(first, "me")
    assert (player.name, player.compiled.temperature) == ("me", 1.0)
    kept = player.compiled.weights
    player.become(second)
    assert player.compiled.weights is kept
    for values, wanted in zip(kept, CompiledNetwork(second, "it").compiled.weights, strict=True):
        np.testing.assert_array_equal(values, wanted)


def test_actions_are_sampled_by_log_probabilities() -> None:
    chances = torch.tensor([[0.0, 0.2, 0.5, 0.3], [1.0, 0.0, 0.0, 0.0]])
    torch.manual_seed(0)
    distribution = LogProbs(chances.log().clamp_min(-1e9).repeat_interleave(4000, 0))
    drawn = distribution.sample().reshape(2, 4000).numpy()
    np.testing.assert_allclose(np.bincount(drawn[0], minlength=4) / 4000, chances[0], atol=0.04)
    assert not drawn[0][drawn[0] == 0].size
    assert (drawn[1] == 0).all()
    assert distribution.log_prob(torch.full((8000,), 2))[0] == pytest.approx(np.log(0.5))
