"""Networks inside compiled loops choose what a plain matrix product would, wherever they play."""

import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.envs import make_vec
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.compiling.jit import kernel
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.match.compiled_policies import Uniform, choose, distinct_tokens, fresh_token
from monsterzoo.policies.heuristics import Heuristic
from monsterzoo.policies.networks import PRETRAINED, NeuralPolicy, pretrained, read
from monsterzoo.policies.networks.inference import Net, make_net
from monsterzoo.training.arena import Tournament

MODELS = [pytest.param(model, id=model["file"]) for model in pretrained()]
PIKIT = {"players": 3}


def by_matrices(arrays: dict[str, np.ndarray], observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logits and values of a network, in double precision."""
    weights = {name: values.astype(np.float64) for name, values in arrays.items()}

    def linear(name: str, values: np.ndarray) -> np.ndarray:
        return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normalised(values: np.ndarray) -> np.ndarray:
        centred = values - values.mean(1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)

    hidden = np.maximum(linear("stem", observations.astype(np.float64)), 0)
    for block in range(sum(name.endswith(".first.weight") for name in weights)):
        inner = np.maximum(linear(f"blocks.{block}.first", normalised(hidden)), 0)
        hidden = hidden + linear(f"blocks.{block}.second", inner)
    hidden = normalised(hidden)
    return linear("policy", hidden), linear("value", hidden)


def random_network(variant, width=24, blocks=2, values=1, seed=0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    shapes = {"stem": (width, variant.layout.size), "policy": (variant.num_actions, width), "value": (values, width)}
    shapes |= {f"blocks.{k}.{layer}": (width, width) for k in range(blocks) for layer in ("first", "second")}
    arrays = {f"{name}.weight": random.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    return arrays | {
        f"{name}.bias": random.normal(0, 0.3, shape[0]).astype(np.float32) for name, shape in shapes.items()
    }


def about(variant) -> dict[str, object]:
    return {"game": variant.game.name, "layout": variant.layout.signature, "actions": variant.num_actions}


def player(variant, seed=0) -> NeuralPolicy:
    return NeuralPolicy(variant, random_network(variant, seed=seed), about(variant), f"net{seed}")


def played_on(name, options, count=200, steps=17):
    games = make_vec(name, count, seed=5, **options)
    for _ in range(steps):
        games.step(games.sample_actions())
    return games


@pytest.mark.parametrize("model", MODELS)
def test_shipped_networks_choose_as_matrix_products_do(model) -> None:
    policy = policies.make("pretrained", model["game"], **model["options"])
    arrays, _ = read(PRETRAINED / model["file"])
    games = played_on(model["game"], model["options"])
    for _ in range(5):
        wanted_logits, wanted_values = by_matrices(arrays, games.observations)
        logits, values = policy.evaluate(games.observations)
        np.testing.assert_allclose(logits, wanted_logits, atol=1e-4)
        np.testing.assert_allclose(values, wanted_values, atol=1e-4)
        chosen = policy.act(games.decisions())
        best = np.where(games.action_masks, wanted_logits, -np.inf)
        rows = np.arange(len(chosen))
        assert (best[rows, chosen] > best.max(axis=1) - 2e-4).all()  # the same but for ties within rounding
        games.step(chosen)


@pytest.mark.parametrize(("blocks", "values"), [(0, 1), (1, 3), (3, 3)])
def test_any_depth_and_a_value_for_each_side(blocks, values) -> None:
    games = played_on("pikit_v0", PIKIT)
    arrays = random_network(games.variant, 21, blocks, values)
    policy = NeuralPolicy(games.variant, arrays, about(games.variant))
    for found, wanted in zip(policy.evaluate(games.observations), by_matrices(arrays, games.observations), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_values_for_another_number_of_sides_are_refused() -> None:
    variant = find_game("pikit_v0").variant(**PIKIT)
    with pytest.raises(ValueError, match=r"value.weight is \(2, 24\), not \(1, 24\)"):
        NeuralPolicy(variant, random_network(variant, values=2), about(variant), "odd")


class Asked:
    """A policy without its compiled form, so that Python asks it."""

    def __init__(self, policy) -> None:
        self.name, self.act = policy.name, policy.act


@pytest.mark.parametrize("threads", [1, 2])
def test_one_seat_meets_the_same_network_compiled_or_asked(threads) -> None:
    variant = find_game("pikit_v0").variant(**PIKIT)
    batches = [
        SeatVectorEnv("pikit_v0", 32, opponents=opponents, threads=threads, **PIKIT)
        for opponents in (player(variant), Asked(player(variant)))
    ]
    shown = [batch.reset(seed=4) for batch in batches]
    for _ in range(60):
        (one, infos), (other, _) = shown
        np.testing.assert_array_equal(one["observation"], other["observation"])
        actions = infos["action_mask"].argmax(axis=1)
        shown = [(step[0], step[4]) for step in (batch.step(actions) for batch in batches)]


def test_one_table_may_have_two_networks_and_a_heuristic() -> None:
    variant = find_game("pikit_v0").variant(players=4)
    others = [player(variant, 1), "heuristic", player(variant, 2)]
    asked = [Asked(player(variant, 1)), "heuristic", Asked(player(variant, 2))]
    one, other = (SeatVectorEnv("pikit_v0", 16, opponents=table, players=4) for table in (others, asked))
    one.reset(seed=1)
    other.reset(seed=1)
    for _ in range(40):
        actions = one.action_masks().argmax(axis=1)
        np.testing.assert_array_equal(one.step(actions)[0]["observation"], other.step(actions)[0]["observation"])


def test_tournaments_are_the_same_compiled_asked_and_on_threads() -> None:
    variant = find_game("pikit_v0").variant(players=2)
    results = []
    for net, threads in ((player(variant), 1), (player(variant), 2), (Asked(player(variant)), 1)):
        tournament = Tournament(variant, ["net", "heuristic"], seed=3)
        tournament.play([net, policies.make("heuristic", "pikit_v0", players=2)], 60, threads=threads)
        results.append(tournament.shares)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@kernel
def count_choices(state, seat, token, words, views, stream, counts):
    for _ in range(20_000):
        counts[choose(token, state[0], seat, words, views, stream[0])] += 1


def test_a_temperature_draws_from_the_probabilities_inside_compiled_loops() -> None:
    games = played_on("pikit_v0", PIKIT, count=1)
    policy, counts = player(games.variant), np.zeros(games.variant.num_actions)
    token, words = make_net(policy.arrays, temperature=1.0), np.zeros(games.variant.words, np.uint64)
    stream = streams(3, 1, "test")
    count_choices(games.states, int(games.seats[0]), token, words, games.variant.new_views(), stream, counts)
    counts /= 20_000
    np.testing.assert_allclose(counts, policy.opinion(games.observations, games.action_masks)[0][0], atol=0.02)


def test_threads_have_memory_of_their_own() -> None:
    variant = find_game("pikit_v0").variant(**PIKIT)
    net = player(variant).compiled
    other = fresh_token(net)
    assert isinstance(other, Net)
    assert other.weights is net.weights
    assert not any(np.shares_memory(mine, theirs) for mine, theirs in zip(net.memory, other.memory, strict=True))


def test_equal_tokens_are_one_and_networks_are_told_apart() -> None:
    variant = find_game("pikit_v0").variant(**PIKIT)
    one, other = player(variant, 1).compiled, player(variant, 2).compiled
    which, kinds = distinct_tokens([one, Heuristic(), other, Heuristic(), one])
    assert len(kinds) == 3
    for place, token in zip(which, [one, Heuristic(), other, Heuristic(), one], strict=True):
        assert kinds[place] is token or kinds[place] == token == Heuristic()
    usual = (Heuristic(), Uniform())
    assert distinct_tokens([Uniform()], usual) == ([1], usual)


@pytest.mark.parametrize(("reward", "chances"), [("win", [0, 0, 1 / 3, 1 / 2, 1, 1]), ("score", None)])
def test_an_expected_return_is_a_chance_to_win_unless_it_is_of_points(reward, chances) -> None:
    """Of three players: from -1/2, a sure loss, to 1."""
    games = played_on("pikit_v0", PIKIT, count=6)
    policy = NeuralPolicy(
        games.variant, random_network(games.variant), {**about(games.variant), "options": {"reward": reward}}
    )
    logits = np.random.default_rng(1).normal(size=(6, games.variant.num_actions)).astype(np.float32)
    returns = np.array([[-9], [-0.5], [0], [0.25], [1], [1.5]], np.float32)
    policy.evaluate = lambda observations: (logits, returns)
    priors, found = policy.opinion(games.observations, games.action_masks)
    exact = np.exp(logits) * games.action_masks
    np.testing.assert_allclose(priors, exact / exact.sum(1, keepdims=True), rtol=1e-5)
    assert found is None if chances is None else found.tolist() == pytest.approx(chances)
    assert policy.shape == {"width": 24, "blocks": 2}


def test_values_of_sides_are_chances_of_the_observers() -> None:
    games = played_on("pikit_v0", PIKIT, count=2)
    policy = NeuralPolicy(games.variant, random_network(games.variant, values=3), about(games.variant))
    policy.evaluate = lambda observations: (
        np.zeros((2, games.variant.num_actions), np.float32),
        np.log(np.array([[2, 1, 1], [1, 3, 6]], np.float32)),
    )
    assert policy.opinion(games.observations, games.action_masks)[1].tolist() == pytest.approx([0.5, 0.1])
