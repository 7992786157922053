"""Which network plays: what was measured of one does not hold for the next that takes its place."""

from hashlib import sha256

import numpy as np
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies import Policy
from monsterzoo.policies.networks import NeuralPolicy

from .variants import all_variants


def fingerprint(policy: Policy) -> str | None:
    """Eight digits that tell networks apart, that of a search's guide too; None for a player without a network."""
    network = policy if isinstance(policy, NeuralPolicy) else getattr(policy, "guide", None)
    if not isinstance(network, NeuralPolicy):
        return None
    digest = sha256()
    for name, values in sorted(network.arrays.items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(values, np.float32).tobytes())
    return digest.hexdigest()[:8]


def shipped_networks() -> dict[str, str | None]:
    """The fingerprints of the networks that are shipped now, by variant."""
    found = {}
    for name, one in all_variants().items():
        try:
            found[name] = fingerprint(make_player(one.variant, "pretrained"))
        except ValueError:  # there is none
            continue
    return found
