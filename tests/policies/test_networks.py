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
from monsterzoo.policies.networks import PRETRAINED, NeuralPolicy, inference, pretrained, read, write
from monsterzoo.policies.networks.inference import Net, make_net, new_memory
from monsterzoo.policies.networks.policy import as_words
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
    games = played_on("pikit_v0", PIKIT, count=20)
    policy, counts = player(games.variant), np.zeros(games.variant.num_actions)
    probabilities = policy.opinion(games.observations, games.action_masks)[0]
    row = int(probabilities.max(axis=1).argmin())
    assert probabilities[row].max() < 0.5, "not forced"
    token, words = make_net(policy.arrays, temperature=1.0), np.zeros(games.variant.words, np.uint64)
    state, stream = games.states[row : row + 1], streams(3, 1, "test")
    count_choices(state, int(games.seats[row]), token, words, games.variant.new_views(), stream, counts)
    counts /= 20_000
    np.testing.assert_allclose(counts, probabilities[row], atol=0.02)


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


# --- The parts of what is compiled, run as plain Python ---


@pytest.mark.parametrize(("width", "blocks"), [(21, 2), (8, 1), (3, 0)])
def test_nonzero_columns_alone_make_the_same_logits_and_values(width, blocks) -> None:
    variant = find_game("pikit_v0").variant(**PIKIT)
    arrays = random_network(variant, width, blocks, values=3)
    net, random = make_net(arrays), np.random.default_rng(2)
    for share in (0.1, 0.7, 0.0):
        columns = random.integers(-128, 128, variant.layout.size) * (random.random(variant.layout.size) < share)
        net.memory.columns[:] = columns
        inference.evaluate_sparsely(net.weights, net.memory)
        logits, values = by_matrices(arrays, columns[None])
        np.testing.assert_allclose(net.memory.logits, logits[0], atol=1e-3)
        np.testing.assert_allclose(net.memory.values, values[0], atol=1e-3)


def test_values_are_normalised_to_mean_0_and_variance_1_unless_they_are_level() -> None:
    found = np.zeros(4, np.float32)
    for values, wanted in (
        ([1, 3, 1, 3], [-1, 1, -1, 1]),
        ([5, 5, 5, 5], [0, 0, 0, 0]),
        ([0.001, -0.001, 0.001, -0.001], [0.3015, -0.3015, 0.3015, -0.3015]),  # √(1e-6 / 1.1e-5)
    ):
        inference.normalise(np.array(values, np.float32), found)
        np.testing.assert_allclose(found, wanted, atol=1e-3)


def test_random_numbers_are_strictly_between_0_and_1(monkeypatch) -> None:
    for bits, wanted in ((0, 2.0**-24), (0xFFFFFFFF, 1 - 2.0**-24), (1 << 31, 0.5 + 2.0**-24)):
        monkeypatch.setattr(inference, "draw32", lambda stream, bits=bits: np.uint64(bits))
        assert inference.uniform(None) == np.float32(wanted)


def test_the_first_of_equal_logits_is_picked_among_legal_actions_of_all_words() -> None:
    logits = np.zeros(130, np.float32)
    logits[[3, 64, 129]] = 9, 5, 7

    def picked(*legal: int) -> int:
        words = np.zeros(3, np.uint64)
        for action in legal:
            words[action >> 6] |= np.uint64(1 << (action & 63))
        return inference.pick_by_logits(logits, words, 0.0, None)

    assert [picked(3, 64, 129), picked(2, 64, 129), picked(2, 64), picked(65, 66), picked(128, 1)] == [
        3,
        129,
        64,
        65,
        1,
    ]
    logits -= 100
    assert picked(64, 129) == 129


def test_a_file_gives_a_layer_inputs_by_outputs_and_each_thread_its_memory() -> None:
    variant = find_game("pikit_v0").variant(**PIKIT)
    arrays = random_network(variant, width=5, blocks=2, values=3)
    weights = make_net(arrays).weights
    np.testing.assert_array_equal(weights.second[1].T, arrays["blocks.1.second.weight"])
    np.testing.assert_array_equal(weights.first_bias[0], arrays["blocks.0.first.bias"])
    memory = new_memory(weights)
    assert [len(part) for part in memory] == [
        variant.layout.size // 8, variant.layout.size, 5, 5, 5, variant.num_actions, 3
    ]  # fmt: skip
    memory.row[1] = 0x0201
    assert memory.columns[7:11].tolist() == [0, 1, 2, 0]


def test_an_action_is_drawn_with_its_probability_at_a_temperature() -> None:
    """Odds of 8, 2 and 1; at a temperature of 3 their cube roots."""
    logits, words = np.log([8, 2, 99, 1]).astype(np.float32), np.array([0b1011], np.uint64)
    for temperature, odds in ((1.0, [8, 2, 0, 1]), (3.0, [2, 2 ** (1 / 3), 0, 1])):
        stream = streams(3, 1, "test")[0]
        drawn = [inference.pick_by_logits(logits, words, temperature, stream) for _ in range(2000)]
        np.testing.assert_allclose(np.bincount(drawn) / 2000, np.divide(odds, sum(odds)), atol=0.035)


def test_values_are_chances_if_there_are_several_or_games_were_about_winning() -> None:
    variant = find_game("pikit_v0").variant(players=2)
    for values, options, chances in ((1, {}, True), (1, {"reward": "score"}, False), (2, {"reward": "score"}, True)):
        named = {**about(variant), "options": options}
        policy = NeuralPolicy(variant, random_network(variant, values=values), named)
        assert policy.knows_chances == chances
        assert policy.compiled.temperature == make_net(policy.arrays).temperature == 0.0
        assert policy.name == "neural"


def test_observations_are_eight_columns_a_word() -> None:
    assert as_words(np.array([[1, 2, 0, 0, 0, 0, 0, -1]])).tolist() == [[1 | 2 << 8 | 255 << 56]]


def test_files_of_networks_come_back_and_odd_ones_are_named(tmp_path) -> None:
    variant = find_game("pikit_v0").variant(players=2)
    arrays, path = random_network(variant), tmp_path / "policy.npz"
    write(path, arrays, {**about(variant), "options": {"players": 2}})
    found, told = read(path)
    assert told == {**about(variant), "options": {"players": 2}}
    assert found.keys() == arrays.keys()
    assert all((found[key] == arrays[key]).all() for key in arrays)
    for wrong in ({"actions": "9"}, {"layout": 3}, {"game": None}, {"options": [1]}):
        write(path, arrays, {**about(variant), **wrong})
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} (is|are) "):
            read(path)
    for values, wrong in ((np.inf, "not finite"), (2e6, "beyond 1,000,000"), (-2e6, "beyond 1,000,000")):
        write(path, {**arrays, "stem.bias": np.full(24, values, np.float32)}, about(variant))
        with pytest.raises(ValueError, match=wrong):
            read(path)
    write(path, {**arrays, "stem.bias": np.full(24, 1e6, np.float32)}, about(variant))
    read(path)
    write(path, {**arrays, "stem.bias": np.zeros(24)}, about(variant))
    with pytest.raises(ValueError, match="float64, not float16 or float32"):
        read(path)


def test_networks_of_other_games_observations_and_actions_are_told_apart() -> None:
    variant, arrays = find_game("pikit_v0").variant(players=2), {}
    for wrong, words in (
        ({"game": "bite_night_v0"}, "net was trained on bite_night_v0, it cannot play pikit_v0"),
        ({"layout": "x", "options": {"players": 3}}, r"\(players=3\).*it plays with --players 3"),
        ({"layout": "x", "options": {"players": 2, "max_turns": 9}}, "it plays with --option max_turns=9"),
        ({"layout": "x", "options": {"players": 2}}, "it plays with its own options and version"),
        ({"actions": 7}, f"among 7 actions .*, here are {variant.num_actions}"),
    ):
        with pytest.raises(ValueError, match=words):
            NeuralPolicy(variant, arrays, {**about(variant), **wrong}, "net")


def test_weights_of_another_shape_are_named() -> None:
    variant = find_game("pikit_v0").variant(players=3)
    for change, words in (
        ({"stem.weight": None}, "no weights of a first layer"),
        ({"stem.weight": np.zeros(3)}, "no weights of a first layer"),
        ({"stem.weight": np.zeros((0, 3))}, "no weights of a first layer"),
        ({"policy.bias": None}, "other layers than a network: policy.bias"),
        ({"blocks.1.first.weight": None}, "other layers"),
        ({"odd": np.zeros(1)}, "other layers than a network: odd"),
        ({"stem.bias": np.zeros(23)}, r"stem.bias is \(23,\), not \(24,\)"),
        ({"policy.weight": np.zeros((24, 24))}, r"policy.weight is \(24, 24\), not \(91, 24\)"),
        ({"blocks.0.second.weight": np.zeros((24, 25))}, r"blocks.0.second.weight is \(24, 25\), not \(24, 24\)"),
        ({"value.bias": np.zeros(3)}, r"value.weight is \(1, 24\), not \(3, 24\)"),
    ):
        arrays = {**random_network(variant), **change}
        with pytest.raises(ValueError, match=words):
            NeuralPolicy(variant, {key: value for key, value in arrays.items() if value is not None}, about(variant))
