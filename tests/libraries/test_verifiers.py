"""Whole games in verifiers with a model on loopback: one seat, self-play, forfeits."""

import asyncio
import sys
from typing import Any

import pytest
from needs import ROOT

pytest.importorskip("verifiers")
sys.path.insert(0, str(ROOT / "examples" / "verifiers"))

from fake_model import first_listed, served
from monsterzoo_self_play import SelfPlayConfig, SelfPlayEnv
from monsterzoo_vf import MonsterZooConfig, MonsterZooEnv, OneSeatConfig
from verifiers.v1.clients import EvalClientConfig, ModelContext


def play(env: Any, model: Any, number: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[dict[str, Any]]]:
    """An episode of a task, and the requests of the model."""
    monkeypatch.setenv("FAKE_KEY", "none")

    async def run(url: str) -> Any:
        context = ModelContext("tiny", EvalClientConfig(base_url=url, api_key_var="FAKE_KEY"))
        async with env.serving():
            task = next(iter(env.taskset.skip(number)))
            return await env.run_episode(task, context)

    with served(model) as (url, seen):
        episode = asyncio.run(run(url))
    assert not episode.errors, episode.errors
    return episode, seen


def short() -> MonsterZooConfig:
    return MonsterZooConfig(id="monsterzoo_vf", opponents="random", settings={"players": 2, "max_turns": 6})


def test_one_seat_plays_a_game_in_one_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    episode, seen = play(MonsterZooEnv(OneSeatConfig(taskset=short())), first_listed, 1, monkeypatch)
    (trace,) = episode.traces
    assert trace.rewards["return"].score in (-1, 0, 1)
    assert len(seen) > 3
    assert [one["role"] for one in seen[1]["messages"]] == ["system", "user", "assistant", "user"]
    assert "You are player_1." in seen[0]["messages"][1]["content"]


def test_unusable_answers_forfeit(monkeypatch: pytest.MonkeyPatch) -> None:
    episode, seen = play(MonsterZooEnv(OneSeatConfig(taskset=short())), lambda _: "mumble", 0, monkeypatch)
    assert episode.traces[0].rewards["return"].score == -1
    assert len(seen) == 3


def test_a_broken_endpoint_is_no_fault_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    episode, _ = play(MonsterZooEnv(OneSeatConfig(taskset=short())), lambda _: 400, 0, monkeypatch)
    assert not episode.ok
    assert episode.traces[0].rewards["return"].score == 0


def test_who_runs_out_of_turns_forfeits(monkeypatch: pytest.MonkeyPatch) -> None:
    config = OneSeatConfig(taskset=short())
    config.agent.max_turns = 2
    episode, seen = play(MonsterZooEnv(config), first_listed, 0, monkeypatch)
    assert len(seen) == 2
    assert episode.traces[0].rewards["return"].score == -1


def test_every_seat_has_a_trace_and_a_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    episode, seen = play(
        SelfPlayEnv(SelfPlayConfig(id="monsterzoo_self_play", taskset=short())), first_listed, 0, monkeypatch
    )
    rewards = {trace.agent.name: trace.rewards["return"].score for trace in episode.traces}
    assert set(rewards) == {"player_0", "player_1"}
    assert sum(rewards.values()) == 0
    for request in seen:
        told = {
            message["content"].split("You are ")[1][:8]
            for message in request["messages"]
            if "You are " in message["content"]
        }
        assert len(told) == 1, "no conversation mixes two seats"
