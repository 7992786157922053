"""PettingZoo parallel environment of any game: all seats that must decide act in one step."""

import logging
from collections.abc import Mapping
from typing import Any

from pettingzoo import ParallelEnv

from ..core.game import Game
from ..core.variant import IllegalActionError, read_action
from .aec import GameEnv

ILLEGAL_REWARD = -1.0

logger = logging.getLogger(__name__)


class ParallelGameEnv(ParallelEnv):
    """One game as a parallel environment; seats without a decision have the no-op alone in their mask.

    An illegal action is logged and ends the game for everybody: -1 for who chose it, 0 for the others. `unwrapped.aec`
    is the AEC environment underneath, with snapshots, records and everything else.
    """

    def __init__(self, game: Game, render_mode: str | None = None, **options: Any) -> None:
        self.aec = GameEnv(game, render_mode, **options)
        self.render_mode = render_mode
        self.metadata = {**self.aec.metadata, "is_parallelizable": True}
        self.possible_agents = self.aec.possible_agents
        for name in ("observation_space", "action_space", "state", "render", "close", "_repr_svg_"):
            setattr(self, name, getattr(self.aec, name))
        self.agents: list[str] = []

    def __getattr__(self, name: str) -> Any:
        """Everything else (snapshot, save, record, teams, …) is the AEC environment's."""
        if name.startswith("_") or name == "aec":
            raise AttributeError(name)
        return getattr(self.aec, name)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin a game, see `GameEnv.reset`; observations and infos by agent."""
        self.aec.reset(seed, options)
        self.agents = list(self.possible_agents)
        return self._observations(), dict(self.aec.infos)

    def restore(self, data: bytes) -> None:
        """Continue where `save` was called."""
        self.aec.restore(data)
        playing = not any(self.aec.terminations.values()) and not any(self.aec.truncations.values())
        self.agents = list(self.possible_agents) if playing else []

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """One action an agent, the no-op for those without a decision.

        Returns observations, rewards, terminations, truncations and infos by agent. Raises `ActionTypeError`, a
        `TypeError` and a `ValueError`, and changes nothing for actions that are no integers.
        """
        aec = self.aec
        if not self.agents:
            raise RuntimeError("the game is over; call reset()")
        if not isinstance(actions, Mapping) or actions.keys() != set(self.agents):
            raise ValueError(f"actions are a dict by agent, for exactly {self.agents}, not {actions!r:.200}")
        chosen = {agent: read_action(actions[agent]) for agent in self.agents}
        offenders = {agent: error for agent, action in chosen.items() if (error := aec.refusal(agent, action))}
        if offenders:
            return self._end_illegally(offenders)
        waiting = aec.variant.num_actions - 1
        rewards = dict.fromkeys(self.agents, 0.0)
        for agent, action in chosen.items():
            if action != waiting:
                aec.step_for(agent, action)
                for other in rewards:
                    rewards[other] += aec.rewards[other]
        terminations, truncations = dict(aec.terminations), dict(aec.truncations)
        result = (self._observations(), rewards, terminations, truncations, dict(aec.infos))
        if any(terminations.values()) or any(truncations.values()):
            self.agents = []
        return result

    def _end_illegally(self, offenders: dict[str, IllegalActionError]) -> tuple[dict[str, Any], ...]:
        for error in offenders.values():
            logger.warning("%s; the game ends", error)
        agents, self.agents = self.agents, []
        return (
            self._observations(agents),
            {agent: ILLEGAL_REWARD if agent in offenders else 0.0 for agent in agents},
            dict.fromkeys(agents, True),
            dict.fromkeys(agents, False),
            {agent: self.aec.infos[agent] for agent in agents},
        )

    def _observations(self, agents: list[str] | None = None) -> dict[str, Any]:
        return {agent: self.aec.observe(agent) for agent in agents or self.possible_agents}

    def __repr__(self) -> str:
        return f"<ParallelGameEnv {self.aec.variant}>"
