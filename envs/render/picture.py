"""Scenes as pixels, with pygame-ce: arrays, and a window."""

import os
import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from ..core.options import UnexpectedOptionError
from .scene import HEIGHT, WIDTH, Scene, Shape, rect

RING = "#ffd257"
"""Around what can be chosen."""
OWN_FONT = 0.6875
"""What pygame multiplies the size of its own font with."""
FINER = 2
"""Pictures are painted this much larger and then scaled down, for smooth edges."""


class NoPicturesError(UnexpectedOptionError, ModuleNotFoundError):
    """pygame is missing; a `TypeError` too, for libraries that ask for pictures and can do without."""


def load_pygame() -> Any:
    """pygame-ce; raises `ModuleNotFoundError` saying what to install."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ModuleNotFoundError as error:
        raise NoPicturesError(
            "pictures need pygame-ce: pip install '.[render]' in the checkout brings it along "
            '(render_mode="ansi" does without)'
        ) from error
    return pygame


def paint(scene: Scene, size: tuple[int, int]) -> np.ndarray:
    """A scene as pixels, uint8 (height, width, 3)."""
    surface = _painted(scene, size)
    return np.ascontiguousarray(load_pygame().surfarray.array3d(surface).swapaxes(0, 1))


def _painted(scene: Scene, size: tuple[int, int]) -> Any:
    pygame = load_pygame()
    scale = min(size[0] / WIDTH, size[1] / HEIGHT)
    inner = (max(round(WIDTH * scale), 1), max(round(HEIGHT * scale), 1))
    large = pygame.Surface((inner[0] * FINER, inner[1] * FINER), 0, 32)
    brush = _Brush(pygame, large, FINER * scale)
    for part in scene.parts:
        for shape in part.shapes:
            brush.draw(shape)
        if part.actions and part.box is not None:
            x, y, w, h = part.box
            brush.draw(rect((x - 3, y - 3, w + 6, h + 6), None, RING, 4, 10))
    small = pygame.transform.smoothscale(large, inner)
    if inner == size:
        return small
    framed = pygame.Surface(size, 0, 32)
    framed.blit(small, ((size[0] - inner[0]) // 2, (size[1] - inner[1]) // 2))
    return framed


@cache
def _new_font(pixels: int) -> Any:
    pygame = load_pygame()
    pygame.font.init()
    return pygame.font.Font(None, round(pixels / OWN_FONT))


def _font(pixels: int) -> Any:
    """Pygame's own font, the same on every machine; made again after somebody's `pygame.quit()`."""
    try:
        _new_font(pixels).size("")
    except load_pygame().error:
        _new_font.cache_clear()
    return _new_font(pixels)


class _Brush:
    """Draws shapes on a surface; each kind of shape has a method of its name."""

    def __init__(self, pygame: Any, surface: Any, scale: float) -> None:
        self._draw, self._surface, self._scale = pygame.draw, surface, scale

    def draw(self, shape: Shape) -> None:
        """Draw one shape."""
        getattr(self, shape["kind"])(shape)

    def _length(self, units: float) -> int:
        return max(round(units * self._scale), 1)

    def _points(self, shape: Shape) -> list[tuple[float, float]]:
        return [(x * self._scale, y * self._scale) for x, y in shape["points"]]

    def _fill_and_line(self, shape: Shape, draw: Callable[..., Any], *place: Any, **more: Any) -> None:
        if shape["fill"]:
            draw(self._surface, shape["fill"], *place, **more)
        if shape["line"]:
            draw(self._surface, shape["line"], *place, self._length(shape["width"]), **more)

    def rect(self, shape: Shape) -> None:
        x, y, w, h, s = *(shape[key] for key in "xywh"), self._scale
        left, top = round(x * s), round(y * s)
        box = (left, top, round((x + w) * s) - left, round((y + h) * s) - top)
        self._fill_and_line(shape, self._draw.rect, box, border_radius=round(shape["corner"] * s))

    def circle(self, shape: Shape) -> None:
        centre, radius = (shape["x"] * self._scale, shape["y"] * self._scale), shape["r"] * self._scale
        self._fill_and_line(shape, self._draw.circle, centre, radius)

    def polygon(self, shape: Shape) -> None:
        self._draw.polygon(self._surface, shape["fill"], self._points(shape))

    def stroke(self, shape: Shape) -> None:
        points, thickness = self._points(shape), self._length(shape["width"])
        for start, end in pairwise(points):
            self._draw.line(self._surface, shape["line"], start, end, thickness)
        for point in points:  # round joints
            self._draw.circle(self._surface, shape["line"], point, thickness / 2)

    def text(self, shape: Shape) -> None:
        size = text_size(shape)
        drawn = _font(self._length(size)).render(shape["text"], True, shape["fill"])
        x, y = shape["x"] * self._scale, shape["y"] * self._scale
        left = x - {"start": 0, "middle": 0.5, "end": 1}[shape["anchor"]] * drawn.get_width()
        self._surface.blit(drawn, (left, y - drawn.get_height() / 2))


def text_size(shape: Shape) -> float:
    """The size of a text as it is drawn, in units: made smaller where it would not fit into its room."""
    size: float = shape["size"]
    if not shape["room"]:
        return size
    width = _font(100).size(shape["text"])[0] / 100 * size
    return size if width <= shape["room"] else size * shape["room"] / width


class Window:
    """A window that shows scenes, not faster than `fps` a second."""

    def __init__(self, title: str, size: tuple[int, int], fps: float) -> None:
        self._title, self._size, self._pause = title, size, 1 / fps
        self._screen: Any = None
        self._closed = False
        self._shown = 0.0

    def show(self, scene: Scene) -> None:
        """Show a scene; nothing happens once the window was closed by hand."""
        pygame = load_pygame()
        if self._screen is None or pygame.display.get_surface() is None:
            self._open(pygame)
        if self._closed or any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            self._closed = True
            return
        if pygame.display.get_driver() != "dummy":  # where somebody watches
            time.sleep(max(self._shown + self._pause - time.monotonic(), 0))
        self._screen.blit(_painted(scene, self._size), (0, 0))
        pygame.display.flip()
        self._shown = time.monotonic()

    def _open(self, pygame: Any) -> None:
        try:
            pygame.display.init()
            self._screen = pygame.display.set_mode(self._size)
        except pygame.error as error:
            raise RuntimeError(
                f'render_mode="human" needs a screen ({error}); "rgb_array" and "ansi" work without one'
            ) from error
        pygame.display.set_caption(self._title)

    def close(self) -> None:
        """Close the window; showing another scene opens it again."""
        if self._screen is not None:
            load_pygame().display.quit()
        self._screen, self._closed = None, False
