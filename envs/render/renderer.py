"""`render_mode`, `view` and `render_size` of all environments: a picture, a window, or text."""

from typing import Any

import numpy as np

from ..core.options import UnexpectedOptionError, is_whole, refusal
from ..core.variant import Variant
from .perspective import ALL, Trail, check_view, scene_of, text_of
from .scene import HEIGHT, WIDTH
from .svg import to_svg

MODES = ["ansi", "human", "rgb_array", "svg"]
FPS = 2
SIZE = (WIDTH // 2, HEIGHT // 2)
LARGEST = 8192


class Renderer:
    """Renderer of one game: `mode` is one of `MODES`, or None to show nothing.

    `view` is "all" for spectators, or the agent whose view is shown; without one it is that of the seat that decides.
    Raises `ValueError` for an unknown mode or view, and for a size (width and height in pixels) that cannot be.
    """

    def __init__(
        self, variant: Variant, mode: str | None, view: str | None = None, size: tuple[int, int] = SIZE
    ) -> None:
        name = variant.game.name
        if mode is not None and mode not in MODES:
            allowed = ", ".join(map(repr, (None, *MODES)))
            raise UnexpectedOptionError(f"{name}: render_mode={mode!r} is not allowed; allowed: {allowed}")
        self._variant, self._mode, self._view = variant, mode, check_view(variant, view)
        self._size = _check_size(name, size)
        self._trail = Trail()
        self._window: Any = None
        if mode in ("human", "rgb_array"):
            from .picture import load_pygame

            load_pygame()  # to complain now, not in the middle of a game

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}

    def forget(self) -> None:
        """Another game begins."""
        self._trail.clear()

    def remember(self, states: np.ndarray, mover: int, action: int) -> None:
        """A seat is about to decide in the position `states` (1,)."""
        if self._mode is not None:
            self._trail.add(states, mover, action)

    def render(self, states: np.ndarray, seat: int) -> np.ndarray | str | None:
        """Show the position `states` (1,) as `view` says, or else as a seat sees it.

        Returns pixels, uint8 (height, width, 3), or text, or None where there is a window or no mode.
        """
        if self._mode is None:
            return None
        observer: int | None = seat
        if self._view is not None:
            observer = None if self._view == ALL else self._variant.agents.index(self._view)
        if self._mode == "ansi":
            return text_of(self._variant, states, observer)
        scene = scene_of(self._variant, states, observer, self._trail.events(self._variant, states, observer))
        if self._mode == "svg":
            return to_svg(scene, self._size[0])
        from .picture import Window, paint

        if self._mode == "rgb_array":
            return paint(scene, self._size)
        if self._window is None:
            self._window = Window(self._variant.game.title, self._size, FPS)
        self._window.show(scene)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None


def _check_size(name: str, size: Any) -> tuple[int, int]:
    pair = tuple(size) if isinstance(size, list | tuple) else ()
    if len(pair) != 2 or not all(is_whole(side) and 1 <= side <= LARGEST for side in pair):
        raise refusal(f"{name}: render_size={size!r}", f"(width, height) in pixels, up to {LARGEST}")
    return int(pair[0]), int(pair[1])
