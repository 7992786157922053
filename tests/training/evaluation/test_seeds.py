"""Deals of different purposes never meet."""

from dataclasses import replace

import numpy as np
import pytest
from monsterzoo.envs import make_vec
from monsterzoo.envs.core import rng
from monsterzoo.policies import make
from monsterzoo.training.algorithms.ppo import PPOTrainer
from monsterzoo.training.evaluation.seeds import MEASURING, deal_seed, generators
from monsterzoo.training.evaluation.tournament import Tournament, play_listed
from monsterzoo.training.runs.config import PPOConfig
from nim import NIM

SEEDS = [0, 1, 2, 255, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
DEALS = [0, 1, 12_345, (1 << 62) + 7]


def test_the_highest_bits_of_a_deals_seed_are_its_purpose_whatever_seed_and_deal():
    for seed in SEEDS:
        for deal in DEALS:
            assert rng.env_seed(seed, deal) >> 63 == 0, "training has the other half"
            found = [deal_seed(purpose, seed, deal) for purpose in MEASURING]
            assert [one >> 61 for one in found] == [4, 5, 6]
            assert all(rng.check_seed(one) == one for one in found), "an environment can be reset to each"


def test_generators_begin_apart_because_mixing_can_be_undone():
    """SplitMix64's output function undone step by step: different seeds have different generators."""

    def unshift(value, by):
        found = value
        for _ in range(64 // by + 1):
            found = value ^ (found >> by)
        return found

    for seed in [*SEEDS, *(deal_seed("curve", 0, deal) for deal in range(100))]:
        value = unshift(int(rng.generator(seed)), 31)
        value = unshift(value * pow(0x94D049BB133111EB, -1, 1 << 64) % (1 << 64), 27)
        value = unshift(value * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) % (1 << 64), 30)
        assert (value - rng._GOLDEN) * pow(rng._GOLDEN, -1, 1 << 64) % (1 << 64) == seed


def test_a_tournament_plays_the_deals_of_its_purpose(monkeypatch):
    began = {}

    def listed(variant, players, seating, luck, *more, **options):
        began[purpose] = set(luck.tolist())
        return play_listed(variant, players, seating, luck, *more, **options)

    monkeypatch.setattr("monsterzoo.training.evaluation.tournament.play_listed", listed)
    games = make_vec("pikit_v0", num_envs=8, players=2, seed=3, log=1)
    training = {int(rng.generator(rng.env_seed(3, i))) for i in range(8)}
    assert set(games._match.arrays["starts"][0].tolist()) == training
    for purpose in MEASURING:
        tournament = Tournament(games.variant, ["one", "two"], 3, purpose=purpose)
        tournament.play([make("random", "pikit_v0", players=2)] * 2, 16)
        assert began[purpose] == {int(rng.generator(deal_seed(purpose, 3, deal))) for deal in range(8)}
    sets = [training, *began.values()]
    assert len(set().union(*sets)) == sum(map(len, sets))


def test_a_deal_has_one_generator_however_often_it_is_listed():
    found = generators("choosing", 1, np.array([5, 2, 5]), "game")
    assert found[0] == found[2] != found[1]
    with pytest.raises(ValueError, match="purpose='training'"):
        Tournament(make_vec("pikit_v0", num_envs=1, players=2, seed=0).variant, ["one", "two"], purpose="training")


def test_learning_curves_have_deals_of_their_own(monkeypatch):
    asked = []
    config = PPOConfig(NIM.name, num_envs=4, steps=4, minibatch=8, width=8, opponents=(), imitate="", seed=7)
    trainer = PPOTrainer(replace(config, evaluate=("random",), evaluate_games=8), NIM)
    monkeypatch.setattr(Tournament, "play_listed", lambda self, *_, **__: asked.append(self.purpose))
    trainer.evaluate()
    assert asked == ["curve"]
