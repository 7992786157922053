"""Tianshou: the mask is where its DQN looks for it, and training works."""

import pytest
from needs import needs

torch = needs("torch")
pytest.importorskip("tianshou", reason="Tianshou is not installed: make test-tianshou")

from guide import Audit, best_of, check_beats_random, run_guide
from monsterzoo.training.tianshou import MaskedSeat, make_envs


def test_observations_have_the_names_of_tianshou():
    envs = make_envs("pikit_v0", 2, players=2)
    observations, infos = envs.reset(seed=3)
    assert envs.observation_space[0].contains(observations[0])
    assert (observations[0]["mask"] == infos[0]["action_mask"]).all()
    with pytest.raises(ValueError, match="observation='box'"):
        MaskedSeat("pikit_v0", observation="box")


def test_training_of_the_guide_works(monkeypatch):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    audit, names = Audit(monkeypatch), run_guide("tianshou")
    audit.check(24_000)
    data, _ = names["collector"].buffer.sample(0)
    assert audit.knows(data.obs_next.obs[data.terminated])
    check_beats_random(best_of(lambda rows: names["net"](rows)[0]))  # 0.86 to 0.91 with three seeds
