"""Stable-Baselines3 as the guide has it (its adapter is tested in tests/training)."""

import numpy as np
import pytest
from needs import needs

torch = needs("torch")
pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed: pip install '.[train]'")

from guide import Audit, best_of, check_beats_random, run_guide


def test_training_of_the_guide_works(monkeypatch):
    torch.set_num_threads(1)
    audit, start, ends = Audit(monkeypatch), "model.learn(", []
    names = run_guide("sb3", start)
    env, network = names["env"], names["model"].policy
    step = env.step_wait

    def watched():
        result = step()
        ends.extend(info["terminal_observation"] for info in result[3] if "terminal_observation" in info)
        return result

    env.step_wait = watched

    def logits(rows):
        return network.action_net(network.mlp_extractor.forward_actor(network.extract_features(rows)))

    run_guide("sb3", start, names)
    audit.check(60_000)
    assert audit.knows(np.stack(ends))
    check_beats_random(best_of(logits))
