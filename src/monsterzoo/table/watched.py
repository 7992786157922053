"""A game that people watch: policies at play, or a record, forward and back, from anybody's perspective."""

from collections.abc import Sequence
from typing import Any

from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.api.pictures import moves_of
from monsterzoo.envs.api.saving import check_record
from monsterzoo.envs.core.options import Integer, checked
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.driver import Move, is_over, moves
from monsterzoo.envs.match.players import act_in, make_player, name_of
from monsterzoo.envs.match.seating import seat_players
from monsterzoo.envs.render.perspective import ALL, MOST_MOVES, check_view, narrate, scene_of
from monsterzoo.envs.render.scene import Event
from monsterzoo.policies.analysis import analyse

from .played import describe

JUDGE = "search:1000"
"""Who judges moves."""
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
        self._opinions: dict[int, dict[str, Any]] = {}

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
        place = checked("place", place, Integer(-1, LONGEST))
        view = check_view(self.variant, view) or ALL
        while not self.complete and (place == -1 or len(self.moves) < place) and len(self.moves) < LONGEST:
            self.moves.append(next(moves(self.env, self._choose)))
        place = len(self.moves) if place == -1 else min(place, len(self.moves))
        seat = None if view == ALL else self.variant.agents.index(view)
        seen = self._seen(view, seat)[:place]
        events = [event for some in seen for event in some]
        numbers = [number for number, some in enumerate(seen, 1) for _ in some]
        position = self.moves[place - 1].after if place else self._start
        drawn = scene_of(self.variant, position, seat, tuple(events[-MOST_MOVES:])).as_json()
        for part in drawn["parts"]:  # nobody here has anything to choose
            part.pop("actions", None)
        told = describe(self.variant, seat or 0, self._names, events)
        return {
            "say": "watch",
            **told,
            "scene": drawn,
            "events": [[*event, number] for event, number in zip(told["events"], numbers)],
            "place": place,
            "moves": len(self.moves),
            "movers": [move.seat for move in self.moves],
            "complete": self.complete,
            "view": view,
            "views": [ALL, *self.variant.agents],
        }

    def opinion(self, number: Any, view: Any = ALL) -> dict[str, Any]:
        """What search and the trained network think of a move, from what its player knew, for `view`.

        Raises `ValueError` for a move that was not made, and for another player's: that would tell of its cards.
        """
        number = checked("move", number, Integer(1, len(self.moves)))
        move, agents = self.moves[number - 1], self.variant.agents
        if check_view(self.variant, view) not in (None, ALL, agents[move.seat]):
            raise ValueError(f"move {number} is of {agents[move.seat]}: {view} cannot know what it knew")
        if number not in self._opinions:
            self._opinions[number] = _opinion(self.variant, move)
        return {"say": "opinion", "move": number, "view": view, **self._opinions[number]}

    def record(self) -> dict[str, Any]:
        """The record of the game so far, with its players' names."""
        return {**self.env.record(), "players": self._names}

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
    """A record (see `GameEnv.record`), of players with these names; raises `ValueError` for anything else."""
    check_record(record)
    env, played = moves_of(record)
    known = record.get("players")
    if known is not None and not (isinstance(known, list) and len(known) == len(env.possible_agents)):
        raise ValueError(f"'players' of the record are {len(env.possible_agents)} names, not {known!r:.80}")
    game = WatchedGame(env, names or [str(name)[:40] for name in known or env.possible_agents])
    game.moves += played
    return game


def _opinion(variant: Variant, move: Move) -> dict[str, Any]:
    """Search's and the network's choice, the move's chance to win, and how much it lost at the least.

    Search tries bad moves a few times only, so their chances are given a standard error more.
    """
    thoughts = analyse(make_player(variant, JUDGE), variant, move.before, seat=move.seat)
    tried = {one.action: (one.value, one.visits) for one in thoughts.thoughts if one.visits and one.value is not None}
    best, _ = tried.get(thoughts.choice, (thoughts.value, 1))
    own, visits = tried.get(move.action, (best, 1))
    loss = None
    if best is not None and own is not None:
        loss = best - own - (0.5 / visits**0.5 if move.action != thoughts.choice else 0)
    try:
        network = analyse(make_player(variant, "pretrained"), variant, move.before, seat=move.seat).choice
    except ValueError:  # this variant has none
        network = None
    return {
        "seat": move.seat,
        "played": variant.action_names[move.action],
        "search": variant.action_names[thoughts.choice],
        "network": None if network is None else variant.action_names[network],
        "chance": None if own is None else round(own, 3),
        "loss": None if loss is None else round(max(loss, 0.0), 3),
    }
