"""The engine's parts: random numbers, bit sets, records, options, shares of the win, threads."""

import gc
import threading
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from monsterzoo.envs.compiling.jit import kernel
from monsterzoo.envs.compiling.threads import ThreadPool
from monsterzoo.envs.core import bits, rng
from monsterzoo.envs.core.contract import TERMINATED, TRUNCATED, record_type, view_type
from monsterzoo.envs.core.options import (
    Checked,
    Choice,
    GameOptions,
    Integer,
    Number,
    Specs,
    Switch,
    Text,
    checked,
    choice,
    integer,
    options_of,
    read_settings,
    resolve,
)
from monsterzoo.envs.core.stepping import share_of_win, win_reward

WORDS = st.integers(0, 2**64 - 1)


@kernel
def _draws(stream, count, results):
    for i in range(len(results)):
        results[i] = rng.draw(stream[0], count)


@kernel
def _raw_draws(stream, results):
    for i in range(len(results)):
        results[i] = rng.draw32(stream[0])


@kernel
def _shuffled(stream, items):
    rng.shuffle(stream[0], items, len(items))


@kernel
def _bit_functions(word, index, results):
    results[0] = bits.popcount(word)
    results[1] = bits.lowest(word) if word != np.uint64(0) else -1
    results[2] = bits.has(word, index)
    results[3] = bits.nth(word, index) if bits.popcount(word) > index else -1
    results[4] = bits.nth_by_halves(word, index) if bits.popcount(word) > index else -1


def _stream(state: int) -> np.ndarray:
    stream = np.zeros(1, rng.STREAM)
    stream["rng"] = state
    return stream


def test_generator_is_pcg32():
    """The first outputs of PCG-XSH-RR 64/32, computed with Python's integers."""
    state, expected = 42, []
    for _ in range(100):
        word = (((state >> 18) ^ state) >> 27) & 0xFFFFFFFF
        turn = state >> 59
        expected.append(((word >> turn) | (word << (-turn & 31))) & 0xFFFFFFFF)
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    results = np.zeros(100, np.uint64)
    _raw_draws(_stream(42), results)
    assert results.tolist() == expected


@pytest.mark.parametrize("count", [1, 2, 3, 7, 49, 1000])
def test_bounded_draws_are_uniform(count):
    results = np.zeros(200_000, np.int64)
    _draws(_stream(7), count, results)
    observed = np.bincount(results, minlength=count)
    assert len(observed) == count
    expected = len(results) / count
    chi_square = ((observed - expected) ** 2 / expected).sum()
    assert chi_square < count + 6 * np.sqrt(2 * count) + 6


def test_draws_of_most_of_32_bits_are_uniform_too():
    """Three of four numbers of 32 bits: without rejection every third outcome would come twice as often."""
    stream, found = _stream(5)[0], [0, 0, 0]
    for _ in range(6000):
        drawn = int(rng.draw(stream, 3 << 30))
        assert 0 <= drawn < 3 << 30
        found[drawn % 3] += 1
    assert max(abs(count - 2000) for count in found) < 5 * np.sqrt(2000 * 2 / 3)


def test_whether_a_draw_is_below_a_limit_has_the_chance_of_the_limit():
    stream = _stream(9)[0]
    assert abs(sum(rng.draw_below(stream, 10, 3) for _ in range(3000)) - 900) < 5 * np.sqrt(630)
    assert all(rng.draw_below(stream, 4, 4) for _ in range(20))
    assert not any(rng.draw_below(stream, 4, 0) for _ in range(20))


def test_seeds_are_mixed_like_splitmix64():
    """Its first outputs for the seed 0, as published; a seed in a batch is made from them as documented."""
    outputs = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [rng.mix(k) for k in range(3)] == outputs
    assert rng.mix(np.arange(3, dtype=np.uint64)).tolist() == outputs
    assert int(rng.generator(1)) == outputs[1]
    assert rng.env_seed(5, 3) == rng.mix((rng.mix(5) + 3) % 2**64) >> 1
    holders = rng.streams(5, 4, "game")
    assert holders["stream"].tolist() == [0, 1, 2, 3]
    assert [int(one) for one in holders["rng"]] == [rng.mix(rng.env_seed(5, k)) for k in range(4)]


def test_shuffles_are_uniform():
    stream, counts = _stream(3), {}
    for _ in range(24_000):
        items = np.arange(4)
        _shuffled(stream, items)
        counts[tuple(items)] = counts.get(tuple(items), 0) + 1
    assert len(counts) == 24
    assert max(abs(count - 1000) for count in counts.values()) < 160


def test_streams_of_different_seeds_and_purposes_differ():
    states = {int(rng.generator(seed, purpose)) for seed in range(200) for purpose in ("game", "sample", "search")}
    assert len(states) == 600
    assert len({rng.env_seed(s, i) for s in range(50) for i in range(50)}) == 2500
    assert 0 <= rng.env_seed(-5, 3) < 2**63


def test_an_array_of_seeds_gives_what_each_gives():
    numbers = [-3, 0, 1, 2**40, 2**62]
    made = rng.deal_seed("curve", 7, np.array(numbers))
    assert made.tolist() == [rng.deal_seed("curve", 7, number) for number in numbers]
    assert rng.generator(made, "policies").tolist() == [int(rng.generator(int(one), "policies")) for one in made]
    assert rng.generator(np.array(numbers)).dtype == np.uint64


@given(word=WORDS, index=st.integers(0, 63))
def test_bit_functions(word, index):
    results = np.zeros(5, np.int64)
    _bit_functions(np.uint64(word), index, results)
    members = [i for i in range(64) if word >> i & 1]
    assert results[0] == len(members)
    assert results[1] == (members[0] if members else -1)
    assert results[2] == (index in members)
    assert results[3] == results[4] == (members[index] if index < len(members) else -1)


PLACES = np.dtype((np.record, [("six", np.int8, (2, 6)), ("eight", np.int8, 8), ("rest", np.uint64)]))


@kernel
def _where(holders, value, results):
    results[0] = bits.where(holders[0].six[0], value)
    results[1] = bits.where(holders[0].six[1], value)
    results[2] = bits.where(holders[0].eight, value)


@given(
    values=st.lists(st.integers(-128, 127) | st.sampled_from([-1, 0, 7]), min_size=20, max_size=20),
    value=st.sampled_from([-1, 0, 7, -128, 127]),
)
def test_places_that_hold_a_value(values, value):
    holders, results = np.zeros(1, PLACES), np.zeros(3, np.uint64)
    holders["six"], holders["eight"] = np.reshape(values[:12], (2, 6)), values[12:]
    _where(holders, value, results)
    for result, held in zip(results, (values[:6], values[6:12], values[12:])):
        assert int(result) == sum(1 << k for k, one in enumerate(held) if one == value)


@pytest.mark.parametrize("make", [record_type, view_type])
def test_fields_that_records_cannot_have(make):
    with pytest.raises(ValueError, match="'round'"):
        make([("round", np.uint8)])


def test_options_fill_in_defaults_and_refuse_the_rest():
    table = {
        "mode": choice("a", "b", default="a", meaning=""),
        "size": integer(1, 9, default=3, meaning=""),
        "end": integer(1, 9, default=None, meaning=""),
    }
    assert resolve("g", table, {"mode": "b", "size": np.int64(4)}) == {"mode": "b", "size": 4, "end": None}
    with pytest.raises(ValueError, match="size=True"):
        resolve("g", table, {"size": True})
    with pytest.raises(ValueError, match="g: end=10 is not allowed; allowed: None, or an integer from 1 to 9"):
        resolve("g", table, {"end": 10})


@pytest.mark.parametrize(
    ("values", "taken", "refused"),
    [
        (Integer(1, 9), [1, 9, np.int8(5)], [0, 10, True, 1.0, "1", None]),
        (Integer(3), [3, 10**9], [2]),
        (Number(0, 1), [0, 1, 0.5, np.float32(0.5)], [-0.01, 1.01, True, "0", float("nan")]),
        (Number(0, above=True), [1e-9, 1e9], [0, -1, float("inf")]),
        (Number(0, 2, above=True), [2], [0, 2.01]),
        (Choice(1, 2, "a"), [1, np.int64(2), "a"], [True, 1.0, 3, "b", None]),
        (Choice(False, True), [False, True], [0, 1, "True"]),
        (Text(), ["", "a"], [1, None, b"a"]),
        (Specs(), [["a"], ("a", "b"), []], ["a", [1], None]),
        (Switch(), [True, False], [0, 1, "True"]),
        (GameOptions(), [{}, {"players": 2}], [[], "players=2"]),
    ],
    ids=str,
)
def test_values_that_options_take(values, taken, refused):
    for value in taken:
        kept = checked("it", value, values)
        assert kept == (tuple(value) if isinstance(values, Specs) else value)
    for value in refused:
        with pytest.raises(ValueError, match="is not allowed; allowed: "):
            checked("it", value, values)


def test_an_integer_of_numpy_is_kept_as_pythons():
    assert type(checked("it", np.int8(5), Integer(1, 9))) is int
    assert type(checked("it", np.int64(2), Choice(1, 2))) is int
    assert type(checked("it", 1, Number(0, 1))) is float


@dataclass(frozen=True)
class Settings(Checked):
    """As a search has them."""

    budget: Annotated[int, "simulations", Integer(1)]
    c: Annotated[float | None, "weight of exploration", Number(0, 10)] = None
    playout: Annotated[str, "who plays on", Choice("random", "heuristic")] = "random"


def test_settings_are_read_from_text():
    assert read_settings(Settings, ["c=1", "playout=heuristic"], budget=5) == Settings(5, 1.0, "heuristic")
    assert [(name, one.default, one.meaning) for name, one in options_of(Settings).items()][1:] == [
        ("c", None, "weight of exploration"), ("playout", "random", "who plays on")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (["d=1"], "unknown setting 'd'; settings are budget, c, playout"),
        (["c=11"], "c=11 is not allowed; allowed: a number from 0 to 10"),
        (["c=nan"], "c=nan is not allowed; allowed: a number from 0 to 10"),
        (["c"], "c is not allowed; allowed: a number from 0 to 10"),
        (["c=1", "c=1"], "c is given twice"),
        (["playout=luck"], "playout=luck is not allowed; allowed: 'random', 'heuristic'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(texts, problem):
    with pytest.raises(ValueError, match=problem):
        read_settings(Settings, texts, budget=5)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"budget": True}, r"budget=True is not allowed; allowed: an integer from 1 \(expected an integer, got bool\)"),
        ({"budget": 1, "c": "1"}, "c='1' is not allowed; allowed: None, or a number from 0 to 10"),
        ({"budget": 1, "playout": None}, "playout=None is not allowed; allowed: 'random', 'heuristic'"),
    ],
)
def test_settings_from_python_are_not_text(wrong, problem):
    with pytest.raises(ValueError, match=problem):
        Settings(**wrong)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_a_pool_covers_the_range_once_and_hands_errors_on(threads):
    pool, seen = ThreadPool(threads), []
    pool.run(lambda start, stop: seen.extend(range(start, stop)), 11, lambda start, stop: (start, stop))
    assert sorted(seen) == list(range(11))

    def fail(start, stop):
        if stop == 11:
            raise KeyError("the last slice")

    with pytest.raises(KeyError, match="the last slice"):
        pool.run(fail, 11, lambda start, stop: (start, stop))
    with pytest.raises(KeyError, match="everywhere"):  # of all errors one, and none is left for the next run
        pool.run(_fail_everywhere, 11, lambda start, stop: (start, stop))
    seen.clear()
    pool.run(lambda start, stop: seen.extend(range(start, stop)), 2, lambda start, stop: (start, stop))
    assert sorted(seen) == [0, 1]


def _fail_everywhere(start, stop):
    raise KeyError("everywhere")


def test_workers_end_with_their_pool():
    before = set(threading.enumerate())  # those of earlier tests may end meanwhile
    pool = ThreadPool(3)
    assert not set(threading.enumerate()) - before, "they start when they are needed"
    pool.run(lambda start, stop: None, 3, lambda start, stop: (start, stop))
    workers = set(threading.enumerate()) - before
    assert len(workers) == 2
    del pool
    gc.collect()
    for worker in workers:
        worker.join(timeout=10)
    assert not any(worker.is_alive() for worker in workers)


@kernel
def _shares_and_rewards(states, shares, rewards):
    for i in range(len(states)):
        shares[i] = share_of_win(states[i], i % np.int64(states[i].sides))
        rewards[i] = win_reward(states[i], i)


@pytest.mark.parametrize(
    ("sides", "winners", "shares"),
    [
        (2, 0b0101, [1, 0, 1, 0]),  # a team, both its seats
        (2, 0b1111, [1 / 2, 1 / 2, 1 / 2, 1 / 2]),
        (4, 0b0100, [0, 0, 1, 0]),
        (4, 0b1010, [0, 1 / 2, 0, 1 / 2]),
        (4, 0b0000, [1 / 4, 1 / 4, 1 / 4, 1 / 4]),  # nobody wins
    ],
)
def test_sides_share_the_win(sides, winners, shares):
    # With a field of its own: numba takes games for subtypes of a bare header, and warns of it in all later tests.
    states, compiled, rewards = np.zeros(4, record_type([("own", np.int8)])), np.zeros(4), np.zeros(4, np.float32)
    states["players"], states["sides"], states["winners"], states["outcome"] = 4, sides, winners, TERMINATED
    _shares_and_rewards(states, compiled, rewards)
    assert compiled.tolist() == shares
    assert [share_of_win(states[seat], seat % sides) for seat in range(4)] == shares, "Python can ask too"
    np.testing.assert_allclose(rewards, sides / (sides - 1) * (np.array(shares) - 1 / sides), atol=1e-7)
    assert rewards.sum() == pytest.approx(0, abs=1e-6)
    states["winners"], states["outcome"] = 0, TRUNCATED
    _shares_and_rewards(states, compiled, rewards)
    assert compiled.tolist() == [1 / sides] * 4
    assert not rewards.any()


@pytest.mark.parametrize("make", [record_type, view_type])
def test_records_have_no_bytes_that_a_copy_would_miss(make):
    kind = make([("small", np.uint8), ("large", np.uint64), ("tail", np.uint8)])
    assert sum(kind[name].itemsize for name in kind.names) == kind.itemsize
    states = np.frombuffer(bytes(range(kind.itemsize)), kind)
    assert states.copy().tobytes() == bytes(range(kind.itemsize))
