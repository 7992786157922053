"""One picture per game for the README, in docs/gallery: `python -m tools.gallery` writes them."""

from io import BytesIO
from pathlib import Path

import numpy as np
from monsterzoo.envs import names
from monsterzoo.envs.aec import GameEnv
from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.looking import Trail, scene_of
from monsterzoo.envs.picture import paint
from monsterzoo.envs.players import ask, make_player

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
    for _ in range(MOMENTS.get(name, 20)):
        seat, states = env.acting_seat, env.states
        rows, masks = variant.observation(states, 0, seat)[None], variant.legal_actions(states, 0, seat)[None]
        action = int(ask(player, variant, rows, masks, np.array([seat]), states)[0])
        trail.add(states, seat, action)
        env.step_for(variant.agents[seat], action)
    seat = env.acting_seat
    scene = scene_of(variant, env.states, seat, trail.told(variant, env.states, seat))
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
