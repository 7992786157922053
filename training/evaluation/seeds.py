"""Seeds of deals, by what they are for: no network is measured on a deal that it was trained on or chosen by.

| purpose | whose deals |
|---|---|
| training | every batched environment's, `env_seed(seed, i)`: below 2**63 |
| curve | learning curves, by which runs are stopped and compared |
| choosing | tournaments: comparing networks, settings and players |
| publishing | published numbers; use a seed once per network |

The highest bits of a deal's seed name its purpose, so that deals of two purposes differ for all seeds and any number of
deals, and so do the generators that games begin with (`generator` maps seeds one to one). An environment that is reset
without a seed goes on from its generator: a later game of training meets a given deal with a chance of 2**-64.
"""

import numpy as np
from monsterzoo.envs.core.options import Choice
from monsterzoo.envs.core.rng import MEASURING, deal_seed, generator

Purpose = Choice(*MEASURING)


def generators(purpose: str, seed: int, deals: np.ndarray, stream: str) -> np.ndarray:
    """The generators of one stream ("game" or "policies") of the listed deals (G,), uint64 (G,)."""
    return generator(deal_seed(purpose, seed, deals), stream)
