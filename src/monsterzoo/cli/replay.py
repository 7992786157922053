"""`monsterzoo replay`: a recorded game, move by move, or the position after some of them."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from monsterzoo.envs import replay
from monsterzoo.training import settings
from monsterzoo.training.files import read_json, write_json
from monsterzoo.training.settings import Whole


def main(words: Sequence[str]) -> int:
    """Show a record; raises `ValueError` for files that hold none, and for games that cannot be."""
    parser = argparse.ArgumentParser(
        "monsterzoo replay", description="Show a recorded game (env.record() as JSON, or `monsterzoo play --output`)."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the record")
    parser.add_argument("--at", metavar="N", help="stop after N moves (default: at the end)")
    parser.add_argument("--view", default="all", metavar="WHO", help="all, or what player_0, player_1, … knows there")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the position as a snapshot, as JSON")
    parser.add_argument("--quiet", action="store_true", help="the position alone, not the moves")
    parsed = parser.parse_args(words)
    record = read_record(parsed.file)
    moves = _moves(parsed.at, len(record["actions"]))
    cut = {**record, "actions": record["actions"][:moves], "seats": list(record.get("seats") or [])[:moves]}
    try:
        env: Any = replay(cut)
    except ValueError as error:
        raise ValueError(f"{parsed.file}: {error}") from error
    if parsed.view != "all" and parsed.view not in env.possible_agents:
        raise settings.refusal("view", parsed.view, f"all, {', '.join(env.possible_agents)}")
    played = env.record()
    if not parsed.quiet:
        for number, (seat, action) in enumerate(zip(played["seats"], played["actions"]), 1):
            print(f"{number:4}  player_{seat}  {action}")
        print()
    if parsed.view == "all":
        print(env.variant.draw_table(env.states, 0))
    else:
        print(env.text_observation(parsed.view))
    print("\n" + _state_of(env, moves, len(record["actions"])))
    if parsed.output is not None:
        write_json(parsed.output, env.snapshot())
        print(f"The position is in {parsed.output}.")
    return 0


def read_record(path: Path) -> dict[str, Any]:
    """The record in a JSON file; raises `ValueError` naming the file if it is none."""
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    record = read_json(path, "the record of a game")
    if not isinstance(record.get("actions"), list):
        raise ValueError(f"{path} is not the record of a game: it has no list 'actions'")
    return record


def _moves(at: str | None, total: int) -> int:
    if at is None:
        return total
    try:
        return Whole(0, total)(at)
    except ValueError:
        raise settings.refusal("at", at, Whole(0, total)) from None


def _state_of(env: Any, moves: int, total: int) -> str:
    position = env.snapshot()
    if not position["over"]:
        waiting = " and ".join(f"player_{seat}" for seat in position["to_act"])
        return f"After {moves} of {total} moves; {waiting} to decide."
    winners = " and ".join(f"player_{seat}" for seat in position["winners"])
    return f"After {moves} moves: " + (f"{winners} won." if winners else "broken off, nobody wins.")
