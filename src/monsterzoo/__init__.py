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
    from . import benchmarks, envs, policies, training  # noqa: F401
    from .envs import *  # noqa: F403

PARTS = ("benchmarks", "envs", "policies", "training")


def __getattr__(name: str) -> Any:
    """A public name, imported when it is used: a part, or what `envs` exports."""
    if name in PARTS:
        return import_module(f"{__name__}.{name}")
    if name == "__version__":
        from importlib.metadata import version  # not from `envs`, which imports numba

        return version(__name__)
    if name == "__all__" or not name.startswith("_"):
        public = import_module(f"{__name__}.envs")
        if name == "__all__":
            return sorted([*PARTS, *public.__all__])
        if name in public.__all__:
            return getattr(public, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __getattr__("__all__")
