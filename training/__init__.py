"""Training of networks, and tournaments between players.

```python
from monsterzoo.training import train
from monsterzoo.training.arena import arena

train("pikit_v0", players=2, minutes=1, out="runs/mine")  # as `monsterzoo train`
result = arena("pikit_v0", ["net:runs/mine", "heuristic"], games=1000, players=2)
```
"""

from dataclasses import fields
from typing import Any

__all__ = ["train"]


def train(game: str, method: str = "ppo", *, resume: bool = False, **options: Any) -> dict[str, Any]:
    """Train a network by self-play, as `monsterzoo train` does; afterwards "net:" and its folder is a policy.

    `options` are fields of `PPOConfig`, or of `RolloutConfig` with `method="rollouts"`, such as `out`, `minutes`,
    `updates`, `seed` and `log`; all others are options of the game. With `updates=N` the same call gives the same
    network again; with `minutes=N` it depends on the machine. `resume` goes on with the run in `out`, which must have
    been started with the same options.

    Returns the run's summary: its options, commands, versions, and the last numbers under "result". Raises `ValueError`
    for bad options, and if `out` holds a run already.
    """
    from .runs.config import METHODS

    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; there are {', '.join(METHODS)}")
    kind = METHODS[method]
    own = {one.name for one in fields(kind)} - {"options"}
    chosen = {name: value for name, value in options.items() if name in own}
    rest = {name: value for name, value in options.items() if name not in own}
    from .runs.run import train as train_run  # imports torch

    return train_run(kind(game=game, options=rest, **chosen), resume)
