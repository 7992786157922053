"""A game that people watch: policies at play, or a record, forward and back, with anybody's eyes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from monsterzoo.envs import replay
from monsterzoo.envs.aec import GameEnv
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.scene import Told
from monsterzoo.envs.looking import ALL, MOST_MOVES, check_view, hear, scene_of
from monsterzoo.envs.players import ask, make_player, name_of

LONGEST = 100_000
"""Moves of a game after which nobody watches any more."""


class WatchedGame:
    """All positions of one game so far, and what anybody has heard of the moves between them.

    Without players it is a record, complete from the start; with them the game is played as far as somebody looks.
    """

    def __init__(self, env: GameEnv, names: Sequence[str], players: Sequence[Any] = ()) -> None:
        self.variant: Variant = env.variant
        self._env, self._names, self._players = env, list(names), list(players)
        self.positions = [env.states]
        self.moves: list[tuple[int, int]] = []
        self._heard: dict[str, list[list[Told]]] = {}

    @property
    def complete(self) -> bool:
        """Whether there is nothing left to play."""
        return not self._players or not int(self.positions[-1]["acting"][0])

    def show(self, place: Any = 0, view: Any = ALL) -> dict[str, Any]:
        """The position after `place` moves (-1: at the end) as `view` sees it: "all" or an agent.

        Raises `ValueError` for a place or a view that is none.
        """
        if isinstance(place, bool) or not isinstance(place, int) or not -1 <= place <= LONGEST:
            raise ValueError(f"a place is a whole number from -1 to {LONGEST}, not {place!r:.40}")
        view = check_view(self.variant, view) or ALL
        while not self.complete and (place == -1 or len(self.moves) < place) and len(self.moves) < LONGEST:
            self._play()
        place = len(self.moves) if place == -1 else min(place, len(self.moves))
        seat = None if view == ALL else self.variant.agents.index(view)
        told = [one for lines in self._told(view, seat)[:place] for one in lines]
        scene = scene_of(self.variant, self.positions[place], seat, tuple(told[-MOST_MOVES:]))
        drawn = scene.as_json()
        for part in drawn["parts"]:  # nobody here has anything to choose
            part.pop("actions", None)
        return {
            "say": "watch",
            "title": self.variant.game.title,
            "players": self._names,
            "scene": drawn,
            "from": 0,
            "told": [[one.text, one.seat] for one in told],
            "place": place,
            "moves": len(self.moves),
            "complete": self.complete,
            "view": view,
            "views": [ALL, *self.variant.agents],
        }

    def _play(self) -> None:
        """One more decision."""
        env, variant = self._env, self.variant
        seat = env.acting_seat
        states = env.states
        rows, masks = variant.observation(states, 0, seat)[None], variant.legal_actions(states, 0, seat)[None]
        self.follow(seat, int(ask(self._players[seat], variant, rows, masks, np.array([seat]), states)[0]))

    def follow(self, seat: int, action: int) -> None:
        """Carry out a decision and keep the position behind it."""
        self._env.step_for(self.variant.agents[seat], action)
        self.positions.append(self._env.states)
        self.moves.append((seat, action))

    def _told(self, view: str, seat: int | None) -> list[list[Told]]:
        """What somebody has heard of each move."""
        lines = self._heard.setdefault(view, [])
        for i in range(len(lines), len(self.moves)):
            lines.append(hear(self.variant, self.positions[i], self.positions[i + 1], seat, *self.moves[i]))
        return lines


def watch_policies(variant: Variant, specs: Sequence[str], seed: int) -> WatchedGame:
    """Policies at play; one spec for all seats, or one each. Raises `ValueError` for anything else."""
    if len(specs) not in (1, variant.players):
        raise ValueError(f"policies: {variant.players} seats need one for all or one each, not {len(specs)}")
    made = {spec: make_player(variant, spec, seed) for spec in dict.fromkeys(specs)}
    players = [made[specs[seat % len(specs)]] for seat in range(variant.players)]
    env = GameEnv(variant.game, **variant.options)
    env.reset(seed=seed)
    return WatchedGame(env, [name_of(player) for player in players], players)


def watch_record(record: Any) -> WatchedGame:
    """A record (see `GameEnv.record`); raises `ValueError` for what is none."""
    whole: Any = replay(record)  # which checks all of it
    assert isinstance(record, Mapping)
    start: Any = replay({**record, "actions": [], "seats": []})
    game = WatchedGame(start, whole.possible_agents)
    for seat, action in whole.moves:
        game.follow(seat, action)
    return game
