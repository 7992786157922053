"""Monte Carlo tree search over information sets, plain or guided by a network, for every game.

Each simulation samples a world that the deciding seat holds possible, descends in it to a leaf of the tree, evaluates
the leaf and backs its value up (single-observer ISMCTS; Cowling, Powley and Whitehouse 2012). The parts:

- `simulation`: determinize, descend, the whole search;
- `selection`: UCB and sequential halving at the root, UCB and PUCT below, the model of the other seats;
- `evaluation`: rollouts, the network's values, their mixture;
- `tree`: nodes and edges as arrays, backup;
- `policy`: the player with its budget and threads; `settings`: what "search:BUDGET,name=value,…" sets.

Plain search is UCB with rollouts; with a network it is sequential halving at the root and PUCT below. `docs/search.md`
shows how to replace a part.
"""

from .evaluation import evaluate
from .policy import RootStatistics, SearchPolicy, make
from .selection import select_root
from .settings import Settings, parse

__all__ = ["RootStatistics", "SearchPolicy", "Settings", "evaluate", "make", "parse", "select_root"]
