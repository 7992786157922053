"""A game that people watch: policies at play, or a record, forward and back, from anybody's perspective."""

from collections.abc import Sequence
from typing import Any

from monsterzoo.envs import replay
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.driver import Move, carry_out, is_over, moves
from monsterzoo.envs.match.players import act_in, name_of
from monsterzoo.envs.match.seating import seat_players
from monsterzoo.envs.render.perspective import ALL, MOST_MOVES, check_view, narrate, scene_of
from monsterzoo.envs.render.scene import Event

from .played import events_as_json

LONGEST = 100_000
"""Moves of a game after which nobody watches any more."""


class WatchedGame:
    """All moves of one game so far, and what anybody has seen of them.

    Without players it is a record, complete from the start; with them the game is played as far as somebody looks.
    """

    def __init__(self, env: GameEnv, names: Sequence[str], players: Sequence[Any] = ()) -> None:
        self.variant, self.env = env.variant, env
        self.moves: list[Move] = []
        self._names, self._players, self._start = list(names), list(players), env.states
        self._events: dict[str, list[list[Event]]] = {}

    ready = True
    """Whether it can be shown at once; see `PlayedGame.ready`."""

    @property
    def complete(self) -> bool:
        """Whether there is nothing left to play."""
        return not self._players or is_over(self.env)

    def show(self, place: Any = 0, view: Any = ALL) -> dict[str, Any]:
        """The position after `place` moves (-1: at the end) as `view` sees it: "all" or an agent.

        Raises `ValueError` for an impossible place or view.
        """
        if isinstance(place, bool) or not isinstance(place, int) or not -1 <= place <= LONGEST:
            raise ValueError(f"expected a place, an integer from -1 to {LONGEST}, got {place!r:.40}")
        view = check_view(self.variant, view) or ALL
        while not self.complete and (place == -1 or len(self.moves) < place) and len(self.moves) < LONGEST:
            self.moves.append(next(moves(self.env, self._choose)))
        place = len(self.moves) if place == -1 else min(place, len(self.moves))
        seat = None if view == ALL else self.variant.agents.index(view)
        events = [event for some in self._seen(view, seat)[:place] for event in some]
        position = self.moves[place - 1].after if place else self._start
        drawn = scene_of(self.variant, position, seat, tuple(events[-MOST_MOVES:])).as_json()
        for part in drawn["parts"]:  # nobody here has anything to choose
            part.pop("actions", None)
        return {
            "say": "watch",
            "title": self.variant.game.title,
            "setup": {"game": self.variant.game.name, "options": self.variant.options, "seat": 0},
            "players": self._names,
            "scene": drawn,
            "from": 0,
            "events": events_as_json(events, seat or 0, self.variant.players),
            "place": place,
            "moves": len(self.moves),
            "complete": self.complete,
            "view": view,
            "views": [ALL, *self.variant.agents],
        }

    def _choose(self, agent: str) -> int:
        return act_in(self._players[self.variant.agents.index(agent)], self.env)

    def _seen(self, view: str, seat: int | None) -> list[list[Event]]:
        """What somebody has seen of each move."""
        seen = self._events.setdefault(view, [])
        seen += [narrate(self.variant, seat, *move) for move in self.moves[len(seen) :]]
        return seen


def watch_policies(variant: Variant, specs: Sequence[str] | None, seed: int) -> WatchedGame:
    """Policies at play; one spec for all seats, or one each, see `seat_players`."""
    players = seat_players(variant, specs, seed)
    env = GameEnv(variant.game, **variant.options)
    env.reset(seed=seed)
    return WatchedGame(env, [name_of(player) for player in players], players)


def watch_record(record: Any, names: Sequence[str] | None = None) -> WatchedGame:
    """A record (see `GameEnv.record`) of players with these names; raises `ValueError` for anything else."""
    played = replay(record).record()  # checked, and with all its seats
    env: Any = replay({**played, "actions": [], "seats": []})
    game = WatchedGame(env, names or env.possible_agents)
    for seat, name in zip(played["seats"], played["actions"]):
        game.moves.append(carry_out(env, env.possible_agents[seat], env.parse_action(name)))
    return game
