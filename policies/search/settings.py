"""What "search:BUDGET,name=value,…" sets."""

from dataclasses import dataclass
from typing import Annotated, Any

from monsterzoo.envs.core.options import Checked, Choice, Integer, Number, Text, read_settings


@dataclass(frozen=True)
class Settings(Checked):
    """Settings of a search; raises `ValueError` for those that make no sense."""

    # Visits are counted in 32 bits.
    simulations: Annotated[int, "simulations a decision, all trees together", Integer(0, 1_000_000_000)] = 0
    milliseconds: Annotated[float, "time a decision instead", Number(0, 600_000)] = 0
    rollout: Annotated[
        str | None,
        "who plays rollouts; random is weaker and much faster (default: the heuristic where the game has one)",
        Choice("heuristic", "random"),
    ] = None
    net: Annotated[str | None, "a network that guides the search, pretrained or net:FOLDER", Text()] = None
    rollout_weight: Annotated[
        float | None,
        "with net: weight of a rollout in a leaf's value, the rest is the network's (default: 1 where rollouts end at "
        "a near horizon, 0.5 where they go on to the end of the game)",
        Number(0, 1),
    ] = None
    opponents: Annotated[
        str | None,
        "with net: model of the other seats, the network or the rollout policy (default: the network where rollouts "
        "are random)",
        Choice("net", "rollout"),
    ] = None
    prior_weight: Annotated[
        float | None, "with net: weight of the log-prior in root scores (default: 0.1)", Number(0, 1000)
    ] = None
    c: Annotated[
        float | None,
        "weight of exploration, in units of a game of win or loss (default: 0.7; with net, where it counts below the "
        "root only, 1)",
        Number(0, 1000),
    ] = None
    heuristic_bonus: Annotated[
        float | None, "without net: factor of exploration for the heuristic's action (default: 2)", Number(1, 1000)
    ] = None
    trees: Annotated[int, "independent trees, each with its share of the budget", Integer(1, 1000)] = 1
    threads: Annotated[int, "threads that search; they do not change decisions", Integer(1, 256)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.simulations and not self.milliseconds:
            raise ValueError("the budget must be positive")
        for name in ("rollout_weight", "opponents", "prior_weight"):
            if self.net is None and getattr(self, name) is not None:
                raise ValueError(f"{name} has no effect without a network, as in net=pretrained")
        if self.net is not None and self.heuristic_bonus is not None:
            raise ValueError("heuristic_bonus has no effect with a network")


_RENAMED = {
    "playout": "rollout",
    "mix": "rollout_weight",
    "others": "opponents",
    "opinion": "prior_weight",
    "trust": "heuristic_bonus",
}


def parse(argument: str | None) -> Settings:
    """The settings in a spec's argument; raises `ValueError` saying what is wrong."""
    budget, *rest = (argument or "").replace(" ", "").split(",")
    try:
        given: dict[str, Any] = (
            {"milliseconds": float(budget[:-2])} if budget.endswith("ms") else {"simulations": int(budget)}
        )
        for name in (text.partition("=")[0] for text in rest):
            if name in _RENAMED:
                raise ValueError(f"{name!r} is now called {_RENAMED[name]!r}")
        return read_settings(Settings, rest, **given)
    except ValueError as error:
        raise ValueError(
            f"'search:{argument or '':.60}' is not a search ({error!s:.240}); it reads like 'search:1000', "
            "'search:50ms' or 'search:1000,rollout=heuristic,c=0.7,trees=2,threads=2'"
        ) from None
