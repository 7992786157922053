"""MonsterZoo: hidden-information table games with monsters in them, as reinforcement-learning environments.

```python
import monsterzoo as mz

mz.names()                                                  # the games
env = mz.make("pikit_v0", players=3)                        # PettingZoo; also mz.make_parallel
games = mz.make_vec("pikit_v0", num_envs=1024, players=3)   # a compiled batch
player = mz.policies.make("heuristic", "pikit_v0", players=3)
```

Importing `monsterzoo.envs` also registers the games with Gymnasium ("monsterzoo/Pikit-v0"). On the command line,
`monsterzoo` lists what there is: playing, training, tournaments, analysis.

The parts, each with names of its own: `envs` (games and their interfaces), `policies` (players), `training` (learning
and comparing players), `benchmarks`. Nothing is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import benchmarks, envs, policies, training
    from .envs import (
        ActionTypeError,
        Game,
        IllegalActionError,
        SnapshotError,
        VectorGame,
        __version__,
        env_seed,
        make,
        make_parallel,
        make_vec,
        names,
        register_game,
        replay,
        save_gif,
        text_game,
        variant,
    )

PARTS = ("benchmarks", "envs", "policies", "training")

__all__ = [
    "ActionTypeError",
    "Game",
    "IllegalActionError",
    "SnapshotError",
    "VectorGame",
    "__version__",
    "benchmarks",
    "env_seed",
    "envs",
    "make",
    "make_parallel",
    "make_vec",
    "names",
    "policies",
    "register_game",
    "replay",
    "save_gif",
    "text_game",
    "training",
    "variant",
]


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        from importlib.metadata import version  # not from `envs`, which imports numba

        value: Any = version(__name__)
    elif name in PARTS:
        return import_module(f"{__name__}.{name}")
    else:
        value = getattr(import_module(f"{__name__}.envs"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
