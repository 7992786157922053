"""A run that begins with imitation."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import torch
from monsterzoo.envs.match.players import kinds
from monsterzoo.training.algorithms.network import NetworkPolicy
from monsterzoo.training.algorithms.ppo import PPOTrainer
from nim import NIM, positions
from test_ppo import TINY


class Perfect:
    """Best play of Nim by a rule, the first move where all lose."""

    name = "perfect"

    def __init__(self, variant):
        self.variant = variant

    def act(self, decisions):
        stones = self.variant.layout.read(decisions.observations, "count").astype(np.int64)
        return np.maximum(stones % 3 - 1, 0)


def test_a_network_first_learns_to_choose_like_its_teacher(monkeypatch) -> None:
    made = SimpleNamespace(load=lambda: lambda variant, argument, seed: Perfect(variant))
    monkeypatch.setitem(kinds(), "perfect", made)
    config = replace(TINY, imitate="perfect", imitate_share=1.0, updates=15, opponents=())
    trainer = PPOTrainer(config, NIM)
    reports = [trainer.update() for _ in range(config.updates)]
    known = positions()
    actions = NetworkPolicy(trainer.network).act(known.decisions)
    assert actions.tolist() == np.maximum(known.best, 0).tolist()
    assert reports[-1]["policy_loss"] < 0.05 < reports[0]["policy_loss"]
    with torch.no_grad():
        _, values = trainer.network(torch.from_numpy(known.observations), torch.from_numpy(known.masks))
    assert (values.numpy()[known.best >= 0] > 0.5).all(), "the value is that of the teacher's games"
