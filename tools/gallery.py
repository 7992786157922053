"""A picture and a moving one per game for the README, in docs/gallery: `python -m tools.gallery` writes them."""

from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from monsterzoo.envs import names, save_gif
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.api.pictures import scenes
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.driver import moves
from monsterzoo.envs.match.players import act_in, make_player
from monsterzoo.envs.render.picture import paint

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "gallery"
SIZE = (960, 720)
SMALL = (560, 420)
MOMENTS = {"bite_night_v0": 47, "pikit_v0": 83, "yokai_septet_v0": 42}
"""How many decisions into a game of heuristics it is worth looking at; games not listed are shown after 20."""
MOVES = 24
"""Shown in a moving picture, up to that moment."""


def play(name: str, seed: int = 4) -> dict[str, Any]:
    """The record of heuristics at play, up to a moment worth looking at."""
    variant = find_game(name).variant()
    env, player = GameEnv(variant.game), make_player(variant, "heuristic", seed)
    env.reset(seed=seed)
    for _ in islice(moves(env, lambda agent: act_in(player, env)), MOMENTS.get(name, 20)):
        pass
    return env.record()


def picture(name: str) -> bytes:
    """A position of a game as PNG: what the seat sees that has to decide."""
    from PIL import Image

    *_, (_, scene) = scenes(play(name))
    file = BytesIO()
    Image.fromarray(paint(scene, SIZE)).quantize(128).save(file, "PNG", optimize=True)
    return file.getvalue()


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names():
        path = FOLDER / f"{name.rsplit('_', 1)[0]}.png"
        path.write_bytes(picture(name))
        record, gif = play(name), path.with_suffix(".gif")
        save_gif(record, gif, view="player_0", size=SMALL, fps=1, start=len(record["actions"]) - MOVES)
        print(*(f"{one.name}: {one.stat().st_size / 1000:.0f} kB" for one in (path, gif)), sep="\n")


if __name__ == "__main__":
    main()
