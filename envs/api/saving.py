"""Records of games, see `Variant.record`, and the format of `GameEnv.save`: a checksum, a head in JSON, a state."""

import json
import struct
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.options import is_whole
from ..core.variant import Variant

if TYPE_CHECKING:
    from .aec import GameEnv

MAGIC = b"MZOO1"


# --- Records ---


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


# --- Saves ---


class Saved(bytes):
    """What `GameEnv.save` returns, and `restore` trusts: bytes that never left this process.

    A copy that went through a file or through pickle is plain bytes, which `restore` checks.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return bytes, (bytes(self),)

    def __copy__(self) -> "Saved":
        return self

    def __deepcopy__(self, memo: Any) -> "Saved":
        return self


def pack(variant: Variant, head: dict[str, Any], states: np.ndarray) -> Saved:
    """One state (1,) of a variant, and what is saved with it, as bytes."""
    head = {"game": variant.game.name, "options": variant.options, **head, "fields": _fields(variant)}
    text = json.dumps(head).encode()
    body = struct.pack("<I", len(text)) + text + states.tobytes()
    return Saved(MAGIC + struct.pack("<I", zlib.crc32(body)) + body)


def unpack(variant: Variant, data: Any) -> tuple[dict[str, Any], np.ndarray]:
    """The head and the state (1,) of saved bytes.

    Raises `ValueError` for bytes of another format, game, version or options, and for damaged ones. Whether a game can
    be in that state is not checked.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ValueError(f"restore needs the bytes of save(), not {type(data).__name__}")
    data = bytes(data)
    body = data[len(MAGIC) + 4 :]
    if data[: len(MAGIC)] != MAGIC or len(body) < 4:
        raise ValueError("these bytes do not come from save()")
    if data[len(MAGIC) : -len(body)] != struct.pack("<I", zlib.crc32(body)):
        raise ValueError("the saved bytes are damaged: their checksum is wrong")
    length = struct.unpack("<I", body[:4])[0]
    head = json.loads(body[4 : 4 + length])
    if head["game"] != variant.game.name or head["options"] != json.loads(json.dumps(variant.options)):
        raise ValueError(f"the bytes are of {head['game']} with {head['options']}, not of this environment")
    if head["fields"] != _fields(variant):
        raise ValueError("the bytes were saved by another version of the game")
    if len(body) != 4 + length + variant.game.rules.record.itemsize:
        raise ValueError("the saved bytes do not hold one state")
    states = np.frombuffer(body[4 + length :], variant.game.rules.record).copy()
    variant.check_states(states, exactly=True)
    return head, states


def _fields(variant: Variant) -> str:
    """The record's layout, to refuse states of another version."""
    fields: Any = variant.game.rules.record.fields
    return ",".join(f"{name}:{fields[name][0].str}{fields[name][0].shape}@{fields[name][1]}" for name in fields)
