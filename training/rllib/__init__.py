"""RLlib (Ray 2.60, new API stack): PPO on the compiled batch, for one seat against policies or for all in self-play.

```python
from monsterzoo.training.rllib import ppo_config

config = ppo_config("pikit_v0", players=2, multi_agent=True)  # an RLlib PPOConfig like any other
algorithm = config.build_algo()
for _ in range(50):
    print(algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"])
```

| part | what it is to RLlib |
|---|---|
| `tables` | many games at once, in each of them one learning seat has to decide |
| `runner` | `BatchRunner`, an `EnvRunner`: plays the tables and hands over finished numpy episodes, one for each seat |
| `record`, `reports` | what it writes down while playing: decisions that become episodes, and metrics |
| `learner` | `BatchLearner`, PPO's learner with one connector that makes all episodes a batch |
| `module` | `MaskedModule`, the network of `monsterzoo train` as an RLModule: it chooses among legal actions only |

A seat's episode has only its own decisions. Each earns what the seat is paid until it decides again, or until the game
is over, whoever moves last (`ppo_buffer`); the terminal observation is what the seat knew at the end of that game. An
episode that goes on when a sample ends is cut at the seat's latest decision: its observation is the one to bootstrap
from, and the decision itself belongs to the next sample.
"""

from .config import SHARED, ppo_config
from .learner import BatchLearner
from .module import MaskedModule, save_policy
from .runner import BatchRunner

__all__ = ["SHARED", "BatchLearner", "BatchRunner", "MaskedModule", "ppo_config", "save_policy"]
