"""Fuzzing of the command line: every command with words, numbers and files that somebody could give it."""

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from files import ACCEPTED, REFUSED, played, variant_of
from mutations import mutate, mutate_bytes
from strangers import SPECS as STRANGERS

_ODD = ("", "0", "-1", "x", "1.5", "nan", "inf", "1e9", "99999999999999999999", "random", "search:0", "search:-3", "=",
        "a=b", "net:/nowhere", "pikit_v0", "players=[", "heuristic", "--", "-", "/dev/null", "None", "true", "\x00",
        "net:.", "pretrained", "search:2,net=pretrained", "search:2,net=net:.", "../..", "reflexes=[1e999]",
        'deck={"1": 1e400}', "players=1e400", "a:b")  # fmt: skip
Words = Callable[[str, Random], list[str]]


def _maybe(random: Random, *good: str) -> str:
    return random.choice(_ODD) if random.random() < 0.15 else random.choice(good)


def _numbers(random: Random, **good: tuple[str, ...]) -> list[str]:
    """Some of the flags, each with one of its good values or with an odd one."""
    words = []
    for name in random.sample(list(good), random.randint(0, min(3, len(good)))):
        words += ["--" + name.replace("_", "-"), _maybe(random, *good[name])]
    return words


def _policy(random: Random) -> str:
    return random.choice(STRANGERS) if random.random() < 0.1 else _maybe(random, "random", "heuristic", "search:2")


def _policies(random: Random, most: int) -> list[str]:
    return [_policy(random) for _ in range(random.randint(1, most))]


_GAME = {"players": ("2", "3", "4"), "option": ("reward=score", "players=3"), "seed": ("0", "7")}


def _arena(name: str, random: Random) -> list[str]:
    games = random.choice(("1", "4", "8", "8", "0", "-1", "x"))
    words = ["--game", _maybe(random, name), "--quiet", "--games", games, "--policies", *_policies(random, 3)]
    return [*words, *_numbers(random, **_GAME, batch=("1", "16"), threads=("1", "2"), output=("out",))]


def _train(name: str, random: Random) -> list[str]:
    """One update of a few games, unless something is wrong."""
    method = _maybe(random, "ppo", "rollouts")
    little = ["--updates", "1", "--num-envs", "4", "--width", "8", "--evaluate-games", "4", "--evaluate", "random"]
    more = {"steps": ("4",)} if method == "ppo" else {"samples": ("2",), "candidates": ("2",)}
    odd = _numbers(random, **_GAME, **more, minibatch=("16",), blocks=("0", "1"), start=("pretrained",), threads=("1",))
    return [_maybe(random, name), "--method", method, *little, "--log", "none", *odd, *_resumed(random)]


def _resumed(random: Random) -> list[str]:
    return ["--resume"] if random.random() < 0.1 else []


def _exploit(name: str, random: Random) -> list[str]:
    words = [_maybe(random, name), "--policy", _policy(random)]
    little = ["--updates", "1", "--num-envs", "2", "--games", _maybe(random, "2", "4")]
    return [*words, *little, *_numbers(random, **_GAME, width=("8",), learning_rate=("0.1",), threads=("1",))]


def _analyse(name: str, random: Random) -> list[str]:
    position, other = (_position(name, random) for _ in range(2))
    Path("position.json").write_bytes(_damaged(position, other, random))
    words = [name, "--snapshot", _maybe(random, "position.json"), "--policy", *_policies(random, 1)]
    return [*words, *_numbers(random, **_GAME, seat=("0", "1", "2"))]


def _replay(name: str, random: Random) -> list[str]:
    one, other = (played(name, variant_of(name, random), random)[0] for _ in range(2))
    Path("record.json").write_bytes(_damaged(one, other, random))
    odd = _numbers(random, at=("0", "3"), view=("all", "player_0", "player_3"), output=("position.json", "."))
    return [_maybe(random, "record.json"), *odd]


def _text(name: str, random: Random) -> list[str]:
    lines = ("1", "2", "99", "?", "rules", "view", "quit", "", "no-op", "\x00", "é" * 100, "-1", "1.5")
    sys.stdin = io.StringIO("".join(f"{random.choice(lines)}\n" for _ in range(random.randrange(30))))
    words = ["--text", _maybe(random, name), "--opponents", *_policies(random, 3)]
    return [*words, *_numbers(random, **_GAME, seat=("0", "1", "2"), output=("record.json", "."))]


def _games(name: str, random: Random) -> list[str]:
    return random.choice(([], [_maybe(random, name)], ["--json"], ["--rules"], [_maybe(random, name), "--rules"]))


def _servers(name: str, random: Random) -> list[str]:
    """Only what cannot be served: a table that can be waits for visitors."""
    Path("record.json").write_bytes(b"[" * random.randrange(99_999))
    return random.choice((["--record", _maybe(random, "record.json")], ["--seat", "-1", name], [name, "--port", "-1"]))


KINDS: dict[str, Words] = {
    "arena": _arena, "train": _train, "exploit": _exploit, "analyse": _analyse, "replay": _replay, "play": _text,
    "games": _games, "watch": _servers,
}  # fmt: skip


def _position(name: str, random: Random) -> dict:
    return played(name, variant_of(name, random), random)[1]


def _damaged(content: dict, other: dict, random: Random) -> bytes:
    """JSON as it is, of something else, or broken."""
    kind = random.randrange(4)
    text = json.dumps(mutate(content, other, random) if kind == 0 else content, default=repr).encode()
    return mutate_bytes(text, text, random) if kind == 1 else text


def commands(name: str, random: Random) -> str:
    """Any command line ends with exit code 0 or 2, never with a traceback."""
    from monsterzoo.cli import main

    told, kind = io.StringIO(), random.choice(list(KINDS))
    before = sys.stdin
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        words = [_maybe(random, kind) if random.random() < 0.1 else kind, *KINDS[kind](name, random)]
        try:
            with contextlib.redirect_stderr(told), contextlib.redirect_stdout(told):
                code = main(words)
        except SystemExit as end:
            code = end.code  # argparse's own
        except Exception as error:
            raise AssertionError(f"monsterzoo {words}: {type(error).__name__}: {error}") from error
        finally:
            sys.stdin = before
    assert code in (0, 2), f"monsterzoo {words}: exit code {code!r}"
    assert "Traceback" not in told.getvalue(), f"monsterzoo {words}: {told.getvalue()}"
    return ACCEPTED if code == 0 else REFUSED
