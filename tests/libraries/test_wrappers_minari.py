"""Minari: its collector works on our environments, and recorded games become its datasets."""

import numpy as np
import pytest
from needs import needs

needs("torch")
needs("pyarrow")
minari = pytest.importorskip("minari", reason="Minari is not installed: make test-wrappers")

import gymnasium
import monsterzoo.envs as mz
from monsterzoo.training.data import GameFile, record_games
from monsterzoo.training.data.datasets import to_minari


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))


def test_minari_collects_from_one_seat_environments():
    env = minari.DataCollector(gymnasium.make("monsterzoo/Pikit-v0", players=2, opponents="heuristic"))
    for seed in range(3):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
            over = terminated or truncated
    dataset = env.create_dataset("monsterzoo/collected-v0", description="three games")
    assert dataset.total_episodes == 3
    assert dataset.total_steps > 30


def test_recorded_games_become_episodes_of_one_policy(tmp_path):
    path = tmp_path / "games.parquet"
    record_games(path, mz.variant("pikit_v0", players=2), ["heuristic", "random"], 6, seed=3)
    dataset = to_minari(path, "monsterzoo/recorded-v0", "heuristic", description="of the heuristic")
    (samples,) = GameFile(path).samples()
    own = samples.policies == 0
    assert dataset.total_episodes == 6
    assert dataset.total_steps == own.sum()
    assert dataset.observation_space == mz.make_raw("pikit_v0", players=2).observation_space("player_0")
    for game, episode in enumerate(dataset.iterate_episodes()):
        rows = np.flatnonzero(own & (samples.games == game))
        assert (episode.actions == samples.actions[rows]).all()
        assert (episode.rewards == samples.rewards[rows]).all()
        assert (episode.observations["observation"][:-1] == samples.observations[rows]).all()
        assert episode.terminations.tolist() == [False] * (len(rows) - 1) + [True]
    with pytest.raises(ValueError, match="'search' is none of the policies"):
        to_minari(path, "monsterzoo/nobody-v0", "search")
