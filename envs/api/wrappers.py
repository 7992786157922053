"""PettingZoo's standard wrappers without their price."""

from typing import Any

import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from ..core.variant import read_action


class StandardWrappers(OrderEnforcingWrapper):
    """OrderEnforcing(AssertOutOfBounds(TerminateIllegal(env))), with a fast path for legal actions.

    These, and what an agent reads before it acts, go straight to the environment; everything else goes through all of
    PettingZoo's wrappers, which costs four times as much as a game step.
    """

    def __init__(self, env: AECEnv) -> None:
        self._raw = env
        self._referee = TerminateIllegalWrapper(env, illegal_reward=-1)
        super().__init__(AssertOutOfBoundsWrapper(self._referee))

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation, reward, termination, truncation and info of the agent that acts next."""
        if not self._has_reset:
            return super().last(observe)
        result = self._raw.last(observe)
        if observe:
            self._referee._prev_obs, self._referee._prev_info = result[0], result[4]
        return result

    def step(self, action: Any) -> None:
        """Carry out an action; an illegal one ends the game, what is no integer raises `ActionTypeError`."""
        raw = self._raw
        if self._has_reset and raw.is_legal(action):
            self._has_updated = True
            self._referee._prev_obs = self._referee._prev_info = None
            raw.step(action)
            return
        super().step(read_action(action) if isinstance(action, np.ndarray) else action)

    def __repr__(self) -> str:
        return f"<StandardWrappers {self._raw!r}>"

    def _repr_svg_(self) -> str | None:
        return self._raw._repr_svg_() if self._has_reset else None

    def _read(self, name: str) -> Any:
        if not self._has_reset:
            raise AttributeError(f"{name} cannot be accessed before reset")
        return getattr(self._raw, name)

    agents = property(lambda self: self._read("agents"))
    agent_selection = property(lambda self: self._read("agent_selection"))
    rewards = property(lambda self: self._read("rewards"))
    terminations = property(lambda self: self._read("terminations"))
    truncations = property(lambda self: self._read("truncations"))
    infos = property(lambda self: self._read("infos"))
