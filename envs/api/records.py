"""Records of games, see `Variant.record`: checking them and playing them again."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.options import is_whole

if TYPE_CHECKING:
    from .aec import GameEnv


def check_record(record: Any) -> None:
    """Raise `ValueError` unless this has the keys of a record, with values of the right types."""
    if not isinstance(record, Mapping):
        raise ValueError(f"a record is a dict, not {record!r:.80}")
    for key, wanted in (("game", str), ("options", Mapping), ("actions", list | tuple)):
        if key not in record:
            raise ValueError(f"the record has no {key!r}")
        if not isinstance(record[key], wanted):
            raise ValueError(f"{key!r} of the record cannot be {record[key]!r:.80}")
    if not all(isinstance(option, str) for option in record["options"]):
        raise ValueError(f"'options' of the record cannot be {record['options']!r:.80}")


def play_record(env: "GameEnv", record: Mapping[str, Any]) -> None:
    """Play a record in an environment of its game and options; raises `ValueError` if that cannot be."""
    if "snapshot" in record:
        env.reset(options={"snapshot": record["snapshot"]})
    elif "generator" in record:
        env.reset_generator(record["generator"])
    elif "seed" in record:
        env.reset(seed=record["seed"])
    else:
        raise ValueError("the record has no start: 'seed', 'generator' or 'snapshot'")
    seats = record.get("seats") or [None] * len(record["actions"])
    if not isinstance(seats, list | tuple) or len(seats) != len(record["actions"]):
        raise ValueError(f"'seats' of the record are {len(record['actions'])} numbers, one an action")
    for seat, action in zip(seats, record["actions"], strict=True):
        if seat is not None and not (is_whole(seat) and 0 <= seat < len(env.possible_agents)):
            raise ValueError(f"'seats' of the record: there is no seat {seat!r}")
        agent = env.agent_selection if seat is None else env.possible_agents[seat]
        env.step_for(agent, env.parse_action(action))
