"""A moving picture per game for the README, in docs/gallery: `python -m tools.gallery` writes them."""

from itertools import islice
from pathlib import Path
from typing import Any

from monsterzoo.envs import save_gif
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.driver import moves
from monsterzoo.envs.match.players import act_in, make_player

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "gallery"
SIZE = (560, 420)
MOMENTS = {"bite_night_v0": 47, "pikit_v0": 83, "yokai_septet_v0": 42}
"""How many decisions into a game of heuristics it is worth looking at."""
MOVES = 24
"""Shown in a moving picture, up to that moment."""


def play(name: str, seed: int = 4) -> dict[str, Any]:
    """The record of heuristics at play, up to a moment worth looking at."""
    variant = find_game(name).variant()
    env, player = GameEnv(variant.game), make_player(variant, "heuristic", seed)
    env.reset(seed=seed)
    for _ in islice(moves(env, lambda agent: act_in(player, env)), MOMENTS[name]):
        pass
    return env.record()


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in MOMENTS:
        record, path = play(name), FOLDER / f"{name.rsplit('_', 1)[0]}.gif"
        save_gif(record, path, view="player_0", size=SIZE, fps=1, start=len(record["actions"]) - MOVES)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
