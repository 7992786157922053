"""Scenes as SVG, for the page, notebooks and papers; needs nothing but the standard library."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from .scene import HEIGHT, WIDTH, Part, Scene, Shape

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_WIDTHS = {
    letter: width for letters, width in (("ijl.,:;'|!", 0.3), ("ftr ()-/", 0.36), ("mwMW×", 0.87)) for letter in letters
}
"""Of bold letters, by the size of the text; most others are close to 0.6."""


def to_svg(scene: Scene, width: float | None = None) -> str:
    """A scene as one SVG document; `width` in pixels, else as wide as it is shown."""
    size = "" if width is None else f' width="{width:g}" height="{width * HEIGHT / WIDTH:g}"'
    font = f'font-family="{FONT}" font-weight="bold"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"{size} {font}>'
    return "\n".join([head, *(f"<g>{_title(part)}{part_svg(part.shapes)}</g>" for part in scene.parts), "</svg>"])


def part_svg(shapes: Iterable[Shape]) -> str:
    """Some shapes, without a document around them."""
    return "".join(map(_shape, shapes))


def _title(part: Part) -> str:
    return f"<title>{escape(part.label)}</title>" if part.label else ""


def _element(name: str, inside: str = "", **attributes: Any) -> str:
    given = " ".join(f"{key.replace('_', '-')}={_quoted(value)}" for key, value in attributes.items())
    return f"<{name} {given}>{inside}</{name}>"


@lru_cache(maxsize=4096, typed=True)
def _quoted(value: Any) -> str:
    """An attribute's value; most are a few colours and sizes."""
    return quoteattr(f"{value:g}" if isinstance(value, float) else str(value))


def _shape(shape: Shape) -> str:
    kind, ink = shape["kind"], {"fill": shape.get("fill") or "none"}
    if shape.get("line"):
        ink |= {"stroke": shape["line"], "stroke_width": shape["width"]}
    if kind == "rect":  # edges lie inside of the box, as in pictures
        inset = shape["width"] / 2 if shape["line"] else 0
        place = {"x": shape["x"] + inset, "y": shape["y"] + inset, "rx": max(shape["corner"] - inset, 0)}
        width, height = (max(shape[side] - 2 * inset, 0) for side in "wh")
        return _element("rect", width=width, height=height, **place, **ink)
    if kind == "circle":
        return _element("circle", cx=shape["x"], cy=shape["y"], r=shape["r"], **ink)
    if kind == "text":
        place = {"x": shape["x"], "y": shape["y"], "text_anchor": shape["anchor"], "dominant_baseline": "central"}
        return _element("text", escape(shape["text"]), font_size=round(_fitting(shape), 1), **place, **ink)
    points = " ".join(f"{x:g},{y:g}" for x, y in shape["points"])
    ends = {"stroke_linecap": "round", "stroke_linejoin": "round"} if kind == "stroke" else {}
    return _element("polyline" if kind == "stroke" else "polygon", points=points, **ink, **ends)


def _fitting(shape: Shape) -> float:
    """The size of a text, made smaller where it would not fit into its room."""
    size: float = shape["size"]
    width = size * sum(_WIDTHS.get(letter, 0.72 if letter.isupper() else 0.58) for letter in shape["text"])
    return size * shape["room"] / width if 0 < shape["room"] < width else size
