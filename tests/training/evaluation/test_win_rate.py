"""Win rates against perfect players of Nim: who wins follows from the deal."""

import numpy as np
import pytest
from monsterzoo.envs.core import registry
from monsterzoo.envs.core.rng import generator
from monsterzoo.envs.core.stepping import begin
from monsterzoo.policies import from_function
from monsterzoo.training.algorithms.ppo import PPOTrainer
from monsterzoo.training.evaluation.seeds import deal_seed
from monsterzoo.training.evaluation.tournament import Tournament
from monsterzoo.training.evaluation.win_rate import win_rate
from monsterzoo.training.runs import run
from monsterzoo.training.runs.config import PPOConfig
from nim import LAYOUT, NIM

PERFECT = from_function(lambda rows, masks: np.maximum(LAYOUT.read(rows, "count").reshape(-1) % 3 - 1, 0), "perfect")


def wins_of(side: int, seed: int) -> bool:
    """Whether a side wins a deal if both play perfectly."""
    states = NIM.variant().new_states(1)
    states["rng"] = generator(seed, "game")
    begin(states, 0)
    first = int(states["acting"][0]) >> 1
    return side == (first if states["stones"][0] % 3 else 1 - first)


def test_every_deal_of_the_purpose_is_played_with_each_side() -> None:
    tournament = Tournament(NIM.variant(), ["one", "other"], 3, ["other"], "publishing")
    tournament.play([PERFECT, PERFECT], 40)
    won = [[wins_of(side, deal_seed("publishing", 3, deal)) for side in range(2)] for deal in range(20)]
    assert 0 < np.mean(won, axis=0)[0] < 1
    for seating in range(2):
        np.testing.assert_array_equal(tournament.shares[:, seating], won)


def test_perfect_players_win_half_of_the_games() -> None:
    found = win_rate(NIM.variant(), PERFECT, PERFECT, 41, seed=3)
    assert (found.games, found.win_rate) == (42, 0.5)
    assert found.error < 0.05  # each deal was won once


def test_a_training_run_evaluates_with_as_many_games_as_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._games, NIM.name, NIM)
    monkeypatch.setitem(registry._loaders, NIM.name, lambda: NIM)
    played = []

    def counted(*arguments: object) -> object:
        played.append(win_rate(*arguments))
        return played[-1]

    monkeypatch.setattr(run, "win_rate", counted)
    trainer = PPOTrainer(PPOConfig(NIM.name, num_envs=2, width=8, evaluate=("random",), evaluate_games=10, imitate=""))
    report = trainer.evaluate()
    assert [one.games for one in played] == [10]
    assert report == {"win_random": played[0].win_rate, "error_random": played[0].error}
