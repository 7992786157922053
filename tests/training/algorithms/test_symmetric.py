"""Networks that share weights by a game's symmetries: what they compute and learn, and where they cannot start."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from monsterzoo.envs import make_vec
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.symmetry import Symmetry
from monsterzoo.policies.networks import WEIGHTS, read
from monsterzoo.training.algorithms.network import Network, NetworkPolicy, write
from monsterzoo.training.algorithms.rollout_learning import RolloutTrainer
from monsterzoo.training.algorithms.symmetric import Shared, is_symmetric
from monsterzoo.training.runs.config import RolloutConfig
from nim import NIM

BASIC, ADVANCED = {"players": 4}, {"players": 3, "advanced": True}
TINY = RolloutConfig(game="bite_night_v0", players=3, num_envs=8, width=64, updates=2, threads=1, evaluate=())


def random_network(options: dict[str, object], symmetric: bool = True, width: int = 64) -> Network:
    """A network with random weights everywhere."""
    variant = find_game("bite_night_v0").variant(**options)
    network = Network.for_variant(variant, width, 1, variant.sides, symmetric)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(0, 0.1)
    return network


def test_weights_that_a_swap_moves_onto_each_other_are_one_number() -> None:
    swap = np.array([[1, 0, 2]])
    layer = Shared(swap, swap)
    first, second, third = layer.weight.tolist()
    assert first[0] == second[1]
    assert first[1] == second[0]
    assert first[2] == second[2]
    assert third[0] == third[1]
    assert len({*first, *second, *third}) == len(layer.shared_weight) == 5
    assert layer.bias[0] == layer.bias[1] != layer.bias[2]


@pytest.mark.parametrize("options", [BASIC, ADVANCED])
def test_renamed_observations_have_renamed_probabilities_and_the_same_values(options) -> None:
    network = random_network(options)
    games = make_vec("bite_night_v0", num_envs=32, seed=1, **options)
    for _ in range(50):
        games.step(games.sample_actions())
    rows, masks, symmetry = games.observations, games.action_masks, games.variant.symmetry
    log_probs, _, values = network.evaluate(torch.from_numpy(rows), torch.from_numpy(masks))
    for columns, actions in zip(symmetry.columns, symmetry.actions):
        moved, legal = np.empty_like(rows), np.empty_like(masks)
        moved[:, columns], legal[:, actions] = rows, masks
        again, _, same = network.evaluate(torch.from_numpy(moved), torch.from_numpy(legal))
        torch.testing.assert_close(again[:, actions], log_probs, rtol=0, atol=1e-4)
        torch.testing.assert_close(same, values, rtol=0, atol=1e-4)


@pytest.mark.parametrize("options", [BASIC, ADVANCED])
def test_expanded_weights_are_symmetric_also_at_half_precision_and_others_are_not(options) -> None:
    network, symmetry = random_network(options), find_game("bite_night_v0").variant(**options).symmetry
    arrays = {name: values.astype(np.float16) for name, values in network.arrays().items()}
    assert is_symmetric(symmetry, arrays)
    assert not is_symmetric(symmetry, random_network(options, symmetric=False).arrays())
    for name in arrays:
        if not name.startswith("value."):  # values have no names
            spoiled = {**arrays, name: arrays[name].copy()}
            spoiled[name].flat[6 if name == "policy.bias" else 0] += 1  # "lay colour blue"; "colour set" may be any
            assert not is_symmetric(symmetry, spoiled), name


def test_a_symmetric_network_starts_from_its_own_file_and_from_no_other(tmp_path: Path) -> None:
    variant = find_game("bite_night_v0").variant(players=3)
    for kind in (True, False):
        (tmp_path / str(kind)).mkdir()
        write(tmp_path / str(kind) / WEIGHTS, random_network({"players": 3}, kind), variant)
    start = replace(TINY, start=f"net:{tmp_path}/True")
    arrays = read(tmp_path / "True" / WEIGHTS)[0]
    for name, values in RolloutTrainer(start).network.arrays().items():
        np.testing.assert_allclose(values, arrays[name], rtol=1e-5)
    RolloutTrainer(replace(start, symmetric=False))  # an ordinary network can be any
    with pytest.raises(ValueError, match=r"net:.*False does not share its weights .*--no-symmetric"):
        RolloutTrainer(replace(TINY, start=f"net:{tmp_path}/False"))


def test_learning_keeps_a_network_symmetric_and_checkpoints_hold_shared_weights(tmp_path: Path) -> None:
    config = replace(TINY, out=str(tmp_path), imitate_share=0.0, rollout_policy="random")
    trainer = RolloutTrainer(config)
    before = trainer.network.arrays()
    trainer.update()
    after = trainer.network.arrays()
    assert is_symmetric(trainer.variant.symmetry, after)
    assert any((before[name] != after[name]).any() for name in after)
    trainer.save(tmp_path)
    again = RolloutTrainer(config)
    again.restore(tmp_path)
    trainer.update()
    again.update()
    for name, values in again.network.arrays().items():
        np.testing.assert_array_equal(values, trainer.network.arrays()[name])


def test_games_without_symmetries_and_decks_of_ones_own_have_ordinary_networks() -> None:
    plain = find_game("pikit_v0").variant(players=2)
    own_deck = find_game("bite_night_v0").variant(players=3, cards={"picture vampire": 0})
    own_hearts = find_game("bite_night_v0").variant(players=3, advanced=True, hearts=["blue vampire"])
    for variant in (plain, own_deck, own_hearts):
        assert variant.symmetry is None
        assert isinstance(Network.for_variant(variant, 16, 1, symmetric=True).stem, torch.nn.Linear)


def test_a_layer_too_narrow_for_all_things_has_none_of_them() -> None:
    network = random_network(BASIC, width=8)
    policy = NetworkPolicy(network)
    games = make_vec("bite_night_v0", num_envs=4, seed=0, **BASIC)
    chosen = policy.act(games.decisions())
    assert games.action_masks[np.arange(4), chosen].all()
    assert network.stem.weight.shape == (8, games.variant.layout.size)


def test_rows_that_are_no_permutations_and_symmetries_of_other_games_are_refused() -> None:
    swap, same = np.array([[1, 0]]), np.arange(3)[None]
    Symmetry(swap, same, swap)
    with pytest.raises(ValueError, match="rows of actions must be permutations of 0 … 1"):
        Symmetry(swap, np.array([[1, 1]]), swap)
    with pytest.raises(ValueError, match=r"as many rows of things as of columns, not the shape \(2, 2\)"):
        Symmetry(swap, same, np.vstack([swap, swap]))
    other = replace(NIM, symmetry=lambda options: Symmetry(swap, same, swap)).variant()
    sizes = re.escape(str((other.layout.size, other.num_actions)))
    with pytest.raises(ValueError, match=rf"its symmetry has \(2, 3\) columns and actions, the game {sizes}"):
        _ = other.symmetry
