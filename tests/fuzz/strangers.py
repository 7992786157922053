"""Players from outside, and what only looks like one: the fuzzer names them on command lines and as policies."""

from typing import Any

import numpy as np


def first(observations: np.ndarray, action_masks: np.ndarray) -> Any:
    return action_masks.argmax(axis=1)


def by_all(decisions: Any) -> Any:
    return decisions.action_masks.argmax(axis=1)


def with_states(observations: np.ndarray, action_masks: np.ndarray, *, states: np.ndarray) -> Any:
    return action_masks.argmax(axis=1)


def lonely(observations: np.ndarray) -> Any:
    return observations


def demanding(observations: np.ndarray, action_masks: np.ndarray, *, weather: str) -> Any:
    return weather


class Player:
    def act(self, decisions: Any) -> Any:
        return decisions.action_masks.argmax(axis=1)


class Told(Player):
    def __init__(self, variant: Any, seed: int) -> None:
        self.variant, self.seed, self.name = variant, seed, "told"


class Greedy(Player):
    def __init__(self, variant: Any, colour: str) -> None:
        self.colour = colour


class Narrow:
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        return action_masks.argmax(axis=1)


player, narrow, number, nothing = Player(), Narrow(), 3, None

SPECS = (
    *("strangers:first", "strangers:by_all", "strangers:with_states", "strangers:Player", "strangers:player"),
    *("strangers:Told", "strangers:lonely", "strangers:demanding", "strangers:Greedy", "strangers:Narrow"),
    *("strangers:narrow", "strangers:number", "strangers:nothing", "strangers:Player.act", "strangers:player.act"),
    *("strangers:nobody", "strangers:np", "json:loads", "json:dumps", "json:JSONDecoder", "os:getcwd", "sys:path"),
    *("monsterzoo.policies:Policy", "monsterzoo.policies.networks:NeuralPolicy"),
    *("monsterzoo.policies.uniform:UniformPolicy", "monsterzoo.policies.search:SearchPolicy"),
)
"""Good ones choose legal actions; all others must be refused when they are loaded."""
