"""Self-play for verifiers: every seat of Pikit for two has a role, a trace and a reward of its own."""

from contextlib import AsyncExitStack
from typing import Any

import verifiers.v1 as vf
from monsterzoo_vf import PURPOSES, MonsterZooConfig, SeatTask, end, seat_config

__all__ = ["SelfPlayEnv"]


class SelfPlayConfig(vf.EnvConfig):
    """A role for each seat; `--env.player_1.model` gives it another model."""

    taskset: MonsterZooConfig = MonsterZooConfig(id="monsterzoo_vf")
    player_0: vf.AgentConfig = seat_config()
    player_1: vf.AgentConfig = seat_config()


class SelfPlayEnv(vf.Env[SelfPlayConfig]):
    """All seats are asked."""

    async def run(self, task: SeatTask, agents: Any) -> None:
        """Every agent has its own conversation, with the rules as its system prompt."""
        game, talks = self.config.taskset.make_game(), {}
        turn = game.reset(game.task(task.data.number, PURPOSES[task.data.split])["seed"], seat=None)
        seated = task.with_system_prompt(turn.messages[0]["content"])
        async with AsyncExitStack() as stack:
            for agent in game.variant.agents:
                talks[agent] = await stack.enter_async_context(getattr(agents, agent).interaction(seated))
            while not turn.done:
                segment = await talks[turn.agent].turn(turn.messages[-1]["content"])
                turn = game.say(segment.last_reply) if not segment.terminated else end(game, talks[turn.agent])
        for agent, talk in talks.items():
            talk.trace.record_reward("return", game.result.returns[agent])
