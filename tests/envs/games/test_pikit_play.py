"""Pikit by the hundred thousand games, and from every chair."""

import numpy as np
import pytest
from monsterzoo.envs import make_vec
from pikit_table import REACTIVE, Board

CASES = [
    {"players": 2},
    {"players": 3},
    {"players": 4},
    {"players": 4, "deck": REACTIVE},
    {"players": 2, "deck": {1: 20, 3: 20, 4: 60, 5: 20}},
    {"players": 3, "deck": {5: 60, 6: 60}, "max_turns": 150},
]


def by_value(words):
    """Bags, uint64 (..., 2), as numbers of copies (..., 16)."""
    return np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape[:-1], 16).astype(np.int64)


def check_cards(states):
    """No card is lost or doubled, in the bags and in the pile; what is kept twice agrees."""
    size, place = int(states["deck_cards"][0]), np.arange(120)
    cards = states["cards"]
    in_deck = (place >= states["top"][:, None]) & (place < size)
    in_pile = place < states["discarded"][:, None]
    assert ((cards > 0) == (in_deck | in_pile)).all()
    deck = np.stack([((cards == value) & in_deck).sum(1) for value in range(16)], 1)
    pile = np.stack([(((cards & 15) == value) & in_pile).sum(1) for value in range(16)], 1)
    assert (pile == by_value(states["discards"])).all()
    hands = by_value(states["known"]).sum(1) + by_value(states["secret"]).sum(1)
    centre = by_value(states["centre"])
    assert (deck + pile + hands + centre == by_value(states["copies"])).all()
    assert (hands >= 0).all()
    assert ((centre.sum(1) == 8) | (states["top"] == size)).all()
    assert (states["mechas"].sum(1) == np.bitwise_or.reduce(states["mechas"], axis=1)).all(), "a mecha is held twice"
    assert ((states["mechas"] & 0b10000001) == 0).all()
    assert (pile[:, 3] == states["wounds"].sum(1)).all(), "every wound comes with a discarded 3"
    assert (pile[:, [1, 8]] == 0).all(), "1s and 8s are never discarded"


@pytest.mark.parametrize("options", CASES, ids=str)
def test_a_hundred_thousand_games_keep_every_card_and_end(options):
    """100,000 games over all cases; the longest possible game bounds every one."""
    games = 3000
    batch = make_vec("pikit_v0", games, seed=11, **options)
    most_turns = batch.variant.options["max_turns"]
    low, high = batch.variant.layout.bounds
    finished, step = 0, 0
    while finished < 17_000:
        batch.step(batch.sample_actions())
        over = batch.terminated | batch.truncated
        finished += int(over.sum())
        ended = batch.final_states[over]
        if step % 40 == 0:
            check_cards(batch.states)
            assert (low <= batch.observations).all()
            assert (batch.observations <= high).all()
            assert (batch.action_masks.any(1)).all()
        if step % 40 == 20 and len(ended):
            check_cards(ended)
        if len(ended):
            regular = ended["outcome"] == 1
            assert (ended["last_turns"][regular] == 0).all()
            assert (ended["top"][regular] == ended["deck_cards"][regular]).all()
            assert (ended["winners"][regular] != 0).all()
            assert (ended["turns"][~regular] == most_turns).all()
            assert (ended["winners"][~regular] == 0).all()
            assert (ended["acting"] == 0).all()
        step += 1
        assert step < 100_000


def test_random_games_end_well_before_max_turns():
    for players in (2, 3, 4):
        batch = make_vec("pikit_v0", 500, seed=1, players=players)
        truncated = 0
        for _ in range(600):
            batch.step(batch.sample_actions())
            truncated += int(batch.truncated.sum())
        assert truncated == 0


# --- Seats ---


def rotated(snapshot, k):
    """The same position with everybody k chairs further clockwise."""
    players = snapshot["options"]["players"]
    turned = dict(snapshot)
    for key in ("hands", "wounds", "known"):
        turned[key] = [snapshot[key][(seat - k) % players] for seat in range(players)]
    turned["turn_player"] = (snapshot["turn_player"] + k) % players
    turned["to_act"] = [(seat + k) % players for seat in snapshot["to_act"]]
    turned["pending"] = [{**entry, "seat": (entry["seat"] + k) % players} for entry in snapshot["pending"]]
    turned.pop("scores")
    return turned


@pytest.mark.parametrize("options", [{"players": 3}, {"players": 4, "deck": REACTIVE}], ids=str)
def test_every_chair_is_alike(options):
    """A position turned by some chairs looks the same from there, and so does everything that follows."""
    random, players = np.random.default_rng(4), options["players"]
    for seed in range(3):
        game = Board(seed=seed, **options)
        for _ in range(int(random.integers(60))):
            game.act(str(random.choice(game.legal)))
        k = int(random.integers(1, players))
        twin = Board(rotated(game.position, k))
        while game.asked is not None:
            assert twin.asked == (game.asked + k) % players
            for seat in range(players):
                there = (seat + k) % players
                assert game.view(seat)[:2] == twin.view(there)[:2]
            name = str(random.choice(game.legal))
            game.act(name)
            twin.act(name)
            assert np.array_equal(np.roll(game.rewards, k), twin.rewards)
        assert sorted((seat + k) % players for seat in game.position["winners"]) == twin.position["winners"]


def test_the_first_seat_has_no_large_advantage_in_random_play():
    """A sanity check of the turn order and the last turns: everybody wins about as often."""
    batch = make_vec("pikit_v0", 2000, seed=5, players=4)
    wins = np.zeros(4)
    for _ in range(600):
        batch.step(batch.sample_actions())
        for seat in range(4):
            wins[seat] += int(((batch.final_states["winners"][batch.terminated] >> seat) & 1).sum())
    assert wins.sum() > 5000
    assert (abs(wins / wins.sum() - 1 / 4) < 0.05).all(), wins
