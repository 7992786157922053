"""`monsterzoo replay`: a recorded game, move by move, or the position after some of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monsterzoo.envs import replay, save_gif
from monsterzoo.envs.core.options import Integer, Option, Text, as_flag, refusal
from monsterzoo.training.runs.files import read_json, write_json

from .options import Parser

OPTIONS = {
    "at": Option(None, Integer(0), "stop after N moves (default: at the end)"),
    "view": Option("all", Text("WHO"), "all, or what player_0, player_1, … knows there"),
    "output": Option(
        None, Text("FILE"), "write the position as a snapshot (.json) or a picture (.svg), or the whole game (.gif)"
    ),
}


def main(words: Sequence[str]) -> int:
    """Show a record; raises `ValueError` for files that hold none, and for impossible games."""
    about = "Show a recorded game: env.record() as JSON, or what `monsterzoo play --output FILE` wrote."
    parser = Parser("replay", about, OPTIONS, game=False)
    parser.add_argument("file", type=Path, metavar="FILE", help="the record")
    parsed = parser.read(words)
    record = read_record(parsed.file)
    total = len(record["actions"])
    moves = total if parsed.at is None else parsed.at
    if moves > total:
        raise refusal(as_flag("at", moves), Integer(0, total))
    cut = {**record, "actions": record["actions"][:moves], "seats": list(record.get("seats") or [])[:moves]}
    try:
        env: Any = replay(cut)
    except ValueError as error:
        raise ValueError(f"{parsed.file}: {error}") from error
    if parsed.view != "all" and parsed.view not in env.possible_agents:
        raise refusal(as_flag("view", parsed.view), f"all, {', '.join(env.possible_agents)}")
    played = env.record()
    for number, (seat, action) in enumerate(zip(played["seats"], played["actions"]), 1):
        print(f"{number:4}  player_{seat}  {action}")
    print()
    if parsed.view == "all":
        print(env.variant.draw_table(env.states, 0))
    else:
        print(env.text_observation(parsed.view))
    print("\n" + _state_of(env, moves, total))
    if parsed.output is not None:
        _write(Path(parsed.output), env, parsed.view)
    return 0


def _write(path: Path, env: Any, view: str) -> None:
    if path.suffix == ".gif":
        save_gif(env.record(), path, view=view)
    elif path.suffix == ".svg":
        path.write_text(env.to_svg(view), encoding="utf-8")
    else:
        write_json(path, env.snapshot())
    print(f"The {'game' if path.suffix == '.gif' else 'position'} is in {path}.")


def read_record(path: Path) -> dict[str, Any]:
    """The record in a JSON file; raises `ValueError` naming the file if it is none."""
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    record = read_json(path, "the record of a game")
    if not isinstance(record.get("actions"), list):
        raise ValueError(f"{path} is not the record of a game: it has no list 'actions'")
    return record


def _state_of(env: Any, moves: int, total: int) -> str:
    position = env.snapshot()
    if not position["over"]:
        waiting = " and ".join(f"player_{seat}" for seat in position["to_act"])
        return f"After {moves} of {total} moves; {waiting} to decide."
    winners = " and ".join(f"player_{seat}" for seat in position["winners"])
    return f"After {moves} moves: " + (f"{winners} won." if winners else "truncated, nobody wins.")
