"""Make the games known to Gymnasium and PettingZoo."""

from functools import cache

import gymnasium

from .core.game import NAMES


def gymnasium_id(name: str) -> str:
    """As in "monsterzoo/Pikit-v0" for "pikit_v0"."""
    base, version = name.rsplit("_", 1)
    return f"monsterzoo/{base.title().replace('_', '')}-{version}"


@cache
def register_everything() -> None:
    """Register every game as a one-seat environment with Gymnasium and as AEC and parallel with PettingZoo."""
    for name in NAMES:
        gymnasium.register(
            gymnasium_id(name),
            entry_point="monsterzoo.envs.single:make_seat",
            vector_entry_point="monsterzoo.envs.single:make_seats",
            kwargs={"game": name},
            disable_env_checker=True,
        )
    try:  # PettingZoo has a registry from 1.27 on
        from pettingzoo.env_registry import registration
    except ImportError:
        return
    for name in NAMES:
        for kind, creator in (("aec", "env"), ("parallel", "parallel_env")):
            registration.register(kind, f"monsterzoo/{name}", entry_point=f"monsterzoo.envs.{name}:{creator}")
