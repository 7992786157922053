"""Random changes to JSON: of its structure, and of where things lie while their number stays right."""

import copy
from random import Random
from typing import Any

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 7, 255, 256, 10**30, 1.0, 2.5, float("nan"), float("inf")),
    *("", "W1", "W7*", "Snow", "no-op", "skip two", "blue vampire heart", "\x00", [], {}, [[]], [None], {"a": 1}),
    *([0], [0, 1, 2, 3], ["W1", "W1"], (), ((),), b"W1"),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything inside of a value, itself not included."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, part in inside:
        found += [(*path, key), *places(part, (*path, key))]
    return found


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def put(value: Any, path: tuple[Any, ...], part: Any) -> None:
    at(value, path[:-1])[path[-1]] = part


def _leaves(data: Any, random: Random) -> list[tuple[Any, ...]]:
    """Paths of numbers and names of one kind."""
    kind = random.choice((str, str, int))
    return [path for path in places(data) if type(at(data, path)) is kind and path[0] not in ("options", "generator")]


def _lists(data: Any) -> list[tuple[Any, ...]]:
    return [path for path in places(data) if isinstance(at(data, path), list)]


# --- One change each ---


def delete(data: Any, other: Any, random: Random) -> None:
    path = random.choice(places(data))
    del at(data, path[:-1])[path[-1]]


def replace(data: Any, other: Any, random: Random) -> None:
    put(data, random.choice(places(data)), copy.deepcopy(random.choice(ODD_VALUES)))


def nullify(data: Any, other: Any, random: Random) -> None:
    data[random.choice(list(data))] = None


def count_on(data: Any, other: Any, random: Random) -> None:
    numbers = [path for path in places(data) if type(at(data, path)) is int]
    path = random.choice(numbers)
    put(data, path, at(data, path) + random.choice((-2, -1, 1, 1, 2, 5)))


def swap_leaves(data: Any, other: Any, random: Random) -> None:
    """Two cards, tiles or numbers change places."""
    leaves = _leaves(data, random)
    if len(leaves) > 1:
        one, two = random.sample(leaves, 2)
        first, second = at(data, one), at(data, two)
        put(data, one, second)
        put(data, two, first)


def swap_everywhere(data: Any, other: Any, random: Random) -> None:
    """Two names change places wherever they stand, so that keys still agree with each other."""
    names = sorted({at(data, path) for path in places(data) if isinstance(at(data, path), str) and len(path) > 1})
    if len(names) < 2:
        return
    one, two = random.sample(names, 2)
    for path in places(data):
        value = at(data, path)
        if path[0] != "options" and isinstance(value, str) and value in (one, two):
            put(data, path, two if value == one else one)


def swap_within(data: Any, other: Any, random: Random) -> None:
    """Entries of one list, such as seats, change places."""
    lists = [path for path in _lists(data) if len(at(data, path)) > 1]
    if lists:
        values = at(data, random.choice(lists))
        one, two = random.sample(range(len(values)), 2)
        values[one], values[two] = values[two], values[one]


def swap_lists(data: Any, other: Any, random: Random) -> None:
    lists = _lists(data)
    one, two = random.choice(lists), random.choice(lists)
    if one != two[: len(one)] and two != one[: len(two)]:
        first, second = at(data, one), at(data, two)
        put(data, one, second)
        put(data, two, first)


def move(data: Any, other: Any, random: Random) -> None:
    """An entry goes from one list to another."""
    lists = [path for path in _lists(data) if path[0] != "options"]
    source, target = at(data, random.choice(lists)), at(data, random.choice(lists))
    if source and source is not target:
        target.insert(random.randint(0, len(target)), source.pop(random.randrange(len(source))))


def duplicate(data: Any, other: Any, random: Random) -> None:
    values = at(data, random.choice(_lists(data)))
    if values:
        values.append(copy.deepcopy(random.choice(values)))


def shuffle(data: Any, other: Any, random: Random) -> None:
    random.shuffle(at(data, random.choice(_lists(data))))


def graft(data: Any, other: Any, random: Random) -> None:
    """A key comes from another position of the same variant."""
    key = random.choice(list(other))
    data[key] = copy.deepcopy(other[key])


def graft_part(data: Any, other: Any, random: Random) -> None:
    path = random.choice(places(data))
    try:
        put(data, path, copy.deepcopy(at(other, path)))
    except (KeyError, IndexError, TypeError):
        graft(data, other, random)


STRUCTURAL = (delete, replace, nullify, duplicate, swap_lists, graft)
# These leave more positions possible, which is where it becomes interesting.
CAREFUL = (count_on, swap_leaves, swap_leaves, swap_everywhere, swap_within, move, shuffle, graft_part, nullify)


def mutate(data: dict[str, Any], other: dict[str, Any], random: Random) -> dict[str, Any]:
    """A changed copy of a snapshot; `other` is another one of the same variant."""
    data = copy.deepcopy(data)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
        change = random.choice(random.choice((CAREFUL, CAREFUL, CAREFUL, STRUCTURAL)))
        try:
            change(data, other, random)
        except (KeyError, IndexError, TypeError, ValueError):
            continue  # what an earlier change has left does not allow this one
        if not data:
            break
    return data


def mutate_bytes(data: bytes, other: bytes, random: Random) -> bytes:
    """Changed bytes; `other` are bytes of the same kind."""
    changed = bytearray(data)
    kind = random.randrange(6)
    if kind == 0:
        for _ in range(random.choice((1, 1, 2, 8))):
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    elif kind == 1:
        del changed[random.randrange(len(changed)) :]
    elif kind == 2:
        changed += random.randbytes(random.randint(1, 64))
    elif kind == 3:
        start = random.randrange(len(changed))
        changed[start : start + random.randint(1, 40)] = random.randbytes(random.randint(0, 40))
    elif kind == 4:
        cut = random.randrange(min(len(data), len(other)))
        changed = bytearray(data[:cut] + other[cut:])
    else:
        changed = bytearray(random.randbytes(random.randint(0, 80)))
    return bytes(changed)
