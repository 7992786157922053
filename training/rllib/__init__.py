"""RLlib (Ray 2.60, new API stack): PPO on the compiled batch, for one seat against policies or in self-play.

```python
from monsterzoo.training.rllib import ppo_config

config = ppo_config("pikit_v0", players=2, multi_agent=True)  # an RLlib PPOConfig like any other
algorithm = config.build_algo()
for _ in range(50):
    print(algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"])
```

docs/rllib.md is the guide.
"""

from .config import SHARED, ppo_config
from .learner import BatchLearner
from .module import MaskedModule, save_policy
from .runner import BatchRunner

__all__ = ["SHARED", "BatchLearner", "BatchRunner", "MaskedModule", "ppo_config", "save_policy"]
