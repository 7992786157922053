"""A game that a person plays, with policies on the other seats. No word of what the person may not know leaves it."""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from monsterzoo.envs.aec import GameEnv
from monsterzoo.envs.core.game import Variant
from monsterzoo.envs.core.scene import Scene, Told
from monsterzoo.envs.looking import MOST_MOVES, hear, scene_of
from monsterzoo.envs.players import ask, make_player, name_of

HINT = "search:2000"
"""Who gives hints: a number of simulations, not milliseconds, so that a hint is a function of what the seat knows."""


class UnreadyError(ValueError):
    """Something that cannot be done now; the game has not changed."""


def seat_players(variant: Variant, seat: int, specs: Sequence[str], seed: int) -> list[Any]:
    """A policy for every seat but the person's, which has None; one spec plays all of them, or one each clockwise.

    Raises `ValueError` for a wrong number of specs and for specs that are none.
    """
    others = variant.players - 1
    if not 0 <= seat < variant.players:
        raise ValueError(f"there is no seat {seat}; seats are 0 to {others}")
    if len(specs) not in (1, others):
        raise ValueError(f"opponents: {others} other seats need one policy for all or one each, not {len(specs)}")
    made = {spec: make_player(variant, spec, seed) for spec in dict.fromkeys(specs)}
    players: list[Any] = [None] * variant.players
    for k in range(others):
        players[(seat + 1 + k) % variant.players] = made[specs[k % len(specs)]]
    return players


class PlayedGame:
    """One game: positions, what the person has heard, and its messages to the browser.

    `play_on` is to be called after making one and after `act`: the others then decide, until it is the person's turn.
    """

    def __init__(self, variant: Variant, seat: int, players: Sequence[Any], seed: int | None = None) -> None:
        self.variant, self.seat, self.players = variant, seat, list(players)
        self.env = GameEnv(variant.game, **variant.options)
        self.env.reset(seed=seed)
        self.told: list[Told] = []
        self.decisions: list[tuple[bytes, int]] = []
        """Each of the person's decisions: the saved position, and how much was told before it."""
        self.ready = False
        """Whether nothing is left to do but for the person; `play_on` makes it so."""
        self._shown = ""
        self._hint: tuple[int, dict[str, Any]] | None = None

    # --- What can be asked of it ---

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return not int(self.env.states["acting"][0])

    @property
    def waiting(self) -> bool:
        """Whether it is the person's turn."""
        return bool(int(self.env.states["acting"][0]) >> self.seat & 1)

    def act(self, decision: Any, action: Any) -> None:
        """Carry out the person's action; raises `ValueError` (`IllegalActionError`) and changes nothing otherwise."""
        if not self.waiting or not self.ready:
            raise UnreadyError("the game is over" if self.over else "it is not your turn")
        if decision != len(self.decisions) - 1:
            raise UnreadyError(f"this is decision {len(self.decisions) - 1}, not {decision!r}: the table has moved on")
        if isinstance(action, bool) or not isinstance(action, int):
            raise ValueError(f"an action is a whole number, not {action!r:.40}")
        self._step(self.seat, action)
        self.ready = False

    def play_on(self) -> Iterator[dict[str, Any]]:
        """Let the others decide until it is the person's turn or the game is over; a message for each thing to see."""
        while not self.waiting and not self.over:
            seen = self._scene()
            if not seen.fleeting and (message := self._message(seen)) is not None:
                yield message
            seat = self.env.acting_seat
            self._step(seat, self._choice(seat))
        if self.waiting:
            self.decisions.append((self.env.save(), len(self.told)))
        self.ready = True
        yield self.table()

    def undo(self) -> "PlayedGame":
        """A new game from the position before the person's last action; raises `UnreadyError` where there is none."""
        kept = len(self.decisions) - (1 if self.waiting else 0)
        if kept < 1:
            raise UnreadyError("there is nothing to take back")
        twin = PlayedGame(self.variant, self.seat, self.players)
        saved, told = self.decisions[kept - 1]
        twin.env.restore(saved)
        twin.told, twin.decisions = self.told[:told], self.decisions[: kept - 1]
        return twin

    def hint(self) -> dict[str, Any]:
        """What a search thinks of every legal action: how often it was tried, and the chance to win with it."""
        if not self.waiting:
            raise UnreadyError("hints are for your own turn")
        decision = len(self.decisions) - 1
        if self._hint is None or self._hint[0] != decision:
            self._hint = decision, {"say": "hint", "decision": decision, "actions": self._analysed()}
        return self._hint[1]

    # --- Messages ---

    def table(self) -> dict[str, Any]:
        """The table now, with everything that was told from the beginning."""
        self._shown = ""
        message = self._message(self._scene())
        assert message is not None
        return {**message, "from": 0, "told": self._lines(0)}

    def _message(self, scene: Scene) -> dict[str, Any] | None:
        """The table now; None if it looks as it did in the last message."""
        drawn = scene.as_json()
        shown = json.dumps(drawn)
        if shown == self._shown:
            return None
        self._shown = shown
        start = max(len(self.told) - MOST_MOVES, 0)
        return {
            "say": "table",
            "title": self.variant.game.title,
            "players": [name_of(player) if player is not None else "you" for player in self.players],
            "scene": drawn,
            "from": start,
            "told": self._lines(start),
            "decision": len(self.decisions) - 1 if self.waiting and self.ready else None,
            "over": self.over,
            "undo": len(self.decisions) - (1 if self.waiting else 0) > 0,
        }

    def _lines(self, start: int) -> list[list[Any]]:
        return [[one.text, one.seat] for one in self.told[start:]]

    def _scene(self) -> Scene:
        """What the person sees; once the game is over, everybody's cards."""
        told = tuple(self.told[-MOST_MOVES:])
        return scene_of(self.variant, self.env.states, self.seat, told, reveal=self.over)

    # --- Playing ---

    def _step(self, seat: int, action: int) -> None:
        before = self.env.states
        self.env.step_for(self.variant.agents[seat], action)
        self.told += hear(self.variant, before, self.env.states, self.seat, seat, action)

    def _choice(self, seat: int) -> int:
        """What a policy decides."""
        states = self.env.states
        rows, masks = self._shown_to(states, seat)
        return int(ask(self.players[seat], self.variant, rows, masks, np.array([seat]), states)[0])

    def _shown_to(self, states: np.ndarray, seat: int) -> tuple[np.ndarray, np.ndarray]:
        variant = self.variant
        return variant.observation(states, 0, seat)[None], variant.legal_actions(states, 0, seat)[None]

    def _analysed(self) -> list[dict[str, Any]]:
        states = self.env.states
        rows, masks = self._shown_to(states, self.seat)
        tries, totals = _adviser(self.variant).analyse(rows, np.array([self.seat]), states)
        words = {action: said for part in self._scene().parts for action, said in part.actions}
        found = [
            {
                "action": action,
                "words": words[action],
                "share": round(float(tries[0, action] / max(tries.sum(), 1)), 3),
                "chance": round(float(totals[0, action] / tries[0, action]), 3) if tries[0, action] else None,
            }
            for action in np.flatnonzero(masks[0]).tolist()
        ]
        return sorted(found, key=lambda one: -one["share"])


@lru_cache(16)
def _adviser(variant: Variant) -> Any:
    return make_player(variant, HINT)
