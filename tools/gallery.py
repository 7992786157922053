"""One picture per game for the README, in docs/gallery: `python -m tools.gallery` writes them."""

from io import BytesIO
from itertools import islice
from pathlib import Path

from monsterzoo.envs import names
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.driver import moves
from monsterzoo.envs.match.players import act_in, make_player
from monsterzoo.envs.render.perspective import Trail, scene_of
from monsterzoo.envs.render.picture import paint

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "gallery"
SIZE = (960, 720)
MOMENTS = {"bite_night_v0": 47, "pikit_v0": 83, "yokai_septet_v0": 42}
"""How many decisions into a game of heuristics it is worth looking at; games not listed are shown after 20."""


def picture(name: str, seed: int = 4) -> bytes:
    """A position of a game as PNG: what the seat sees that has to decide."""
    from PIL import Image

    variant = find_game(name).variant()
    env, player, trail = GameEnv(variant.game), make_player(variant, "heuristic", seed), Trail()
    env.reset(seed=seed)
    for move in islice(moves(env, lambda agent: act_in(player, env)), MOMENTS.get(name, 20)):
        trail.add(move.before, move.seat, move.action)
    seat = variant.agents.index(env.agent_selection)
    scene = scene_of(variant, env.states, seat, trail.events(variant, env.states, seat))
    file = BytesIO()
    Image.fromarray(paint(scene, SIZE)).quantize(128).save(file, "PNG", optimize=True)
    return file.getvalue()


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names():
        path = FOLDER / f"{name.rsplit('_', 1)[0]}.png"
        path.write_bytes(picture(name))
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
