"""What people call variants and players."""

import re
from typing import Any

from monsterzoo.envs.core.game import Game

PLAYERS = {"heuristic": "rules of thumb", "random": "random moves", "pretrained": "a trained network"}


def variant_name(game: Game, options: dict[str, Any]) -> str:
    """A variant in words: the number of players, and what is not as usual."""
    usual = {name: option.default for name, option in game.all_options.items()}
    told = [f"{options['players']} players"] if "players" in options else []
    for key, value in options.items():
        if key == "players" or value == usual.get(key) or value is None:
            continue
        plain = key.replace("_", " ") if value is True else f"{key.replace('_', ' ')} {value}".replace("_", " ")
        told.append(game.looks.words.get(f"{key}={value}", plain))
    return ", ".join(filter(None, told))


def player_name(spec: str) -> str:
    """A policy's name in words."""
    search = re.fullmatch(r"search:(\d+)(,net=.*)?", spec)
    if search:
        return f"search with {int(search[1]):,} simulations{' and a network' if search[2] else ''}"
    return PLAYERS.get(spec, spec)
