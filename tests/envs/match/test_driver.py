"""The driver of games that are followed move by move."""

from random import Random

import monsterzoo.envs as mz
import pytest
from monsterzoo.envs.api.prompts import legal_actions
from monsterzoo.envs.match.driver import carry_out, is_over, moves


def test_moves_are_those_of_the_game_and_each_begins_where_the_last_one_ended() -> None:
    env, random = mz.make("bite_night_v0", players=3, laps=1).unwrapped, Random(1)
    env.reset(seed=1)
    start = env.states
    played = list(moves(env, lambda agent: random.choice(legal_actions(env, agent))))
    assert is_over(env)
    assert [move.seat for move in played] == env.record()["seats"]
    assert [env.action_name(move.action) for move in played] == env.record()["actions"]
    positions = [start, *(move.after for move in played)]
    assert [move.before.tobytes() for move in played] == [states.tobytes() for states in positions[:-1]]
    assert positions[-1].tobytes() == env.states.tobytes()


def test_whoever_is_asked_can_stop_the_game_and_go_on_later() -> None:
    env = mz.make("pikit_v0", players=2).unwrapped
    env.reset(seed=1)
    before = env.states.tobytes()
    assert list(moves(env, lambda agent: None)) == []
    assert env.states.tobytes() == before
    assert next(moves(env, lambda agent: legal_actions(env, agent)[0])).seat == 0


def test_an_illegal_choice_changes_nothing() -> None:
    env = mz.make("pikit_v0", players=2).unwrapped
    env.reset(seed=1)
    before = env.states.tobytes()
    with pytest.raises(mz.IllegalActionError):
        next(moves(env, lambda agent: env.parse_action("accept")))
    with pytest.raises(mz.IllegalActionError):
        carry_out(env, "player_1", 0)
    assert env.states.tobytes() == before
