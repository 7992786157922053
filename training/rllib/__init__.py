"""RLlib (Ray 2.60, new API stack): PPO on the compiled batch, for one seat against policies or in self-play.

```python
from monsterzoo.training.rllib import ppo_config

config = ppo_config("pikit_v0", players=2, multi_agent=True)  # an RLlib PPOConfig like any other
algorithm = config.build_algo()
for _ in range(50):
    print(algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"])
```

| module | what it has |
|---|---|
| `config` | `ppo_config`, a config of RLlib's PPO with the parts below |
| `runner` | `BatchRunner`, an `EnvRunner` on the compiled batch |
| `episodes` | the runner's rollout buffer: numpy episodes with the decisions of one seat each |
| `learner` | `BatchLearner`, PPO's learner with one connector that joins episodes and computes advantages |
| `module` | `MaskedModule`, the network of `monsterzoo train` as an RLModule; `save_policy` |
"""

from .config import SHARED, ppo_config
from .learner import BatchLearner
from .module import MaskedModule, save_policy
from .runner import BatchRunner

__all__ = ["SHARED", "BatchLearner", "BatchRunner", "MaskedModule", "ppo_config", "save_policy"]
