"""MonsterZoo for verifiers: tasks, a chat harness that runs in this process, and one seat against policies.

`monsterzoo_self_play.py` beside this file is self-play, a role and a trace for every seat.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import verifiers.v1 as vf
from monsterzoo import TextGame
from verifiers.v1.clients import ModelContext
from verifiers.v1.harness import Harness
from verifiers.v1.runtimes import ProgramResult, Runtime, SubprocessConfig

__all__ = ["ChatHarness", "MonsterZooEnv", "MonsterZooTaskset"]
PURPOSES = {"train": "training", "eval": "publishing"}


class SeatData(vf.TaskData):
    """A task: its number and where its deals come from."""

    number: int = 0
    split: str = "train"


class SeatTask(vf.Task[SeatData]):
    """One game; its rewards are recorded by the environment."""


class MonsterZooConfig(vf.TasksetConfig):
    """Which game, against whom."""

    split: str = "train"
    game: str = "pikit_v0"
    opponents: str = "heuristic"
    settings: dict[str, Any] = {"players": 2}
    """Settings of `TextGame` and options of the game."""

    def make_game(self) -> TextGame:
        """A game of its own for every episode."""
        return TextGame(self.game, opponents=self.opponents, **self.settings)


class MonsterZooTaskset(vf.Taskset[SeatTask, MonsterZooConfig]):
    """Endless tasks; the splits "train" and "eval" share no deal."""

    INFINITE = True

    def load(self) -> Iterator[SeatTask]:
        """One task after the other."""
        return (SeatTask(SeatData(number=number, split=self.config.split)) for number in count())


class ChatConfig(vf.HarnessConfig):
    """Nothing to set."""


class ChatHarness(Harness[ChatConfig]):
    """One chat completion a turn, in this process; verifiers' own chat loop starts a process for each."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: ModelContext,
        trace: Any,
        runtime: Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        **_: Any,
    ) -> ProgramResult:
        """Ask the model, through the interception that keeps the trace."""
        system, prompt = self.resolve_prompt(data)
        said = (
            [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [_plain(one) for one in prompt or []]
        )
        messages = [*([{"role": "system", "content": system}] if system else []), *said]
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(timeout=None, trust_env=False) as client:
            body = {"model": ctx.model, "messages": messages}
            answer = await client.post(f"{endpoint}/chat/completions", json=body, headers=headers)
            answer.raise_for_status()
        return ProgramResult(0, "", "")


def _plain(message: Any) -> dict[str, str]:
    content = message.content
    text = content if isinstance(content, str) else "".join(part.text for part in content or [])
    return {"role": message.role, "content": text}


def seat_config() -> vf.AgentConfig:
    """A role that chats in this process (verifiers' default runtime is a cloud)."""
    return vf.AgentConfig(harness=ChatConfig(id="monsterzoo_vf"), runtime=SubprocessConfig())


def end(game: TextGame, talk: Any) -> Any:
    """End a game because an agent answers no more: it forfeits, unless that was no fault of its own."""
    return game.stop(forfeit=not talk.trace.errors)


class OneSeatConfig(vf.EnvConfig):
    """One role."""

    taskset: MonsterZooConfig = MonsterZooConfig(id="monsterzoo_vf")
    agent: vf.AgentConfig = seat_config()


class MonsterZooEnv(vf.Env[OneSeatConfig]):
    """One seat against policies; the reward is the game's."""

    async def run(self, task: SeatTask, agents: Any) -> None:
        """A question a turn."""
        game = self.config.taskset.make_game()
        chosen = game.task(task.data.number, PURPOSES[task.data.split])
        turn, agent = game.reset(**chosen), game.variant.agents[chosen["seat"]]
        async with agents.agent.interaction(task.with_system_prompt(turn.messages[0]["content"])) as talk:
            while not turn.done:
                segment = await talk.turn(turn.messages[-1]["content"])
                turn = game.say(segment.last_reply) if not segment.terminated else end(game, talk)
        talk.trace.record_reward("return", game.result.returns[agent])
        talk.trace.record_metric("unusable", game.result.unusable[agent])
