"""Bite Night, see README.md in this folder."""

from ..core.contract import register
from .determinize import determinize
from .observation import observe
from .rules import STATE, legal, score, setup, step

register(STATE, setup=setup, legal=legal, step=step, observe=observe, score=score, determinize=determinize)
