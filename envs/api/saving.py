"""Format of `GameEnv.save`: a checksum, a head in JSON, and the state's bytes."""

import json
import struct
import zlib
from typing import Any

import numpy as np

from ..core.variant import Variant

MAGIC = b"MZOO1"


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
    body = _checked_body(data)
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


def _checked_body(data: Any) -> bytes:
    start = len(MAGIC) + 4
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ValueError(f"restore needs the bytes of save(), not {type(data).__name__}")
    data = bytes(data)
    if data[: len(MAGIC)] != MAGIC or len(data) < start + 4:
        raise ValueError("these bytes do not come from save()")
    body = data[start:]
    if struct.unpack("<I", data[len(MAGIC) : start])[0] != zlib.crc32(body):
        raise ValueError("the saved bytes are damaged: their checksum is wrong")
    return body


def _fields(variant: Variant) -> str:
    """The record's layout, to refuse states of another version."""
    fields: Any = variant.game.rules.record.fields
    return ",".join(f"{name}:{fields[name][0].str}{fields[name][0].shape}@{fields[name][1]}" for name in fields)
