"""Pictures of records and environments: any position as SVG, a game as a GIF."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..match.driver import Move, carry_out
from ..render.perspective import ALL, Trail, check_view, scene_of
from ..render.renderer import FPS, SIZE
from ..render.scene import Scene
from ..render.svg import to_svg


class DrawsItself:
    """`to_svg()` of an environment with a `record()`, and what notebooks show of it."""

    def to_svg(self: Any, view: str | None = None, width: float | None = None) -> str:
        """The position as an SVG document: as `view` ("all" or an agent) sees it, else the seat that decides."""
        *_, (_, scene) = scenes(self.record(), view)
        return to_svg(scene, width)

    def _repr_svg_(self: Any) -> str | None:
        try:
            return str(self.to_svg(width=SIZE[0]))
        except (AttributeError, RuntimeError):  # nothing to show before reset()
            return None


def moves_of(record: Mapping[str, Any]) -> tuple[Any, Iterator[Move]]:
    """The environment at the start of a record (see `GameEnv.record`), and its moves, carried out one by one.

    Raises `ValueError` for what is not a record, and `IllegalActionError` at a move that cannot be.
    """
    from .. import replay  # which needs the environments

    played = replay({**record}).record()  # checked, and with all its seats
    env = replay({**played, "actions": [], "seats": []})
    choices = zip(played["seats"], played["actions"])
    return env, (carry_out(env, env.possible_agents[seat], env.parse_action(name)) for seat, name in choices)


def scenes(record: Mapping[str, Any], view: str | None = None) -> Iterator[tuple[int, Scene]]:
    """What `view` sees, else the seat that decides: at the start of a record, and after each move that can be seen."""
    env, moves = moves_of(record)
    variant, trail = env.variant, Trail()
    check_view(variant, view)
    for number in range(len(record["actions"]) + 1):
        if number:
            move = next(moves)
            trail.add(move.before, move.seat, move.action)
        agent = view or env.possible_agents[env._acting]
        seat = None if agent == ALL else env.possible_agents.index(agent)
        scene = scene_of(variant, env.states, seat, trail.events(variant, env.states, seat))
        if view is None or not scene.skip:
            yield number, scene


def save_gif(
    record: Mapping[str, Any],
    path: str | Path,
    *,
    view: str | None = ALL,
    size: tuple[int, int] = SIZE,
    fps: float = FPS,
    start: int = 0,
    stop: int | None = None,
    colours: int = 64,
) -> None:
    """Write a record as an animated GIF: the positions after `start` to `stop` moves, all by default.

    Needs pygame-ce and Pillow (`monsterzoo[render]`). Raises `ValueError` for what is not a record.
    """
    from PIL import Image

    from ..render.picture import paint

    shown = (scene for number, scene in scenes(record, view) if start <= number <= (stop or number))
    images = [Image.fromarray(paint(scene, size)) for scene in shown]
    if not images:
        raise ValueError(f"there is nothing to see from move {start} to {stop}")
    palette = images[-1].quantize(colours)
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    times = [round(1000 / fps)] * (len(frames) - 1) + [3000]
    frames[0].save(path, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
