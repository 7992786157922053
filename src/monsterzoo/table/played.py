"""A game that a person plays against policies, in the browser or in a terminal; only what the seat knows leaves it."""

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.api.prompts import legal_actions
from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.options import LARGEST_SEED, Checked, GameOptions, Integer, Specs, Text, checked
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.driver import Move, carry_out, moves
from monsterzoo.envs.match.players import act_in, make_player, name_of
from monsterzoo.envs.match.seating import seat_around
from monsterzoo.envs.render.perspective import MOST_MOVES, narrate, scene_of
from monsterzoo.envs.render.scene import Event, Scene
from monsterzoo.policies.analysis import Analysis, analyse

HINT = "search:2000"
"""Who gives hints: a number of simulations, not milliseconds, so that a hint is a function of what the seat knows."""
LITTLE = 40
"""Simulations of an action below which its chance says little: the standard error is above 8 %."""


class PlayedGame:
    """One game: the environment, what the person has seen happen, and messages to the browser.

    `advance` or `play_on` is to be called after making one and after `act`: the others then decide, until it is the
    person's turn.
    """

    def __init__(self, variant: Variant, seat: int, players: Sequence[Any], seed: int | None = None) -> None:
        self.variant, self.seat, self.players = variant, seat, list(players)
        self.env = GameEnv(variant.game, **variant.options)
        self.env.reset(seed=seed)
        self.names = [name_of(player) if player is not None else "you" for player in players]
        self.events: list[Event] = []
        self.chapters: list[tuple[int, int, list[int]]] = []
        """Each part of the game that has ended: its last events, from and to, and everybody's scores then."""
        self.decisions: list[tuple[bytes, int]] = []
        """Each of the person's decisions: the saved position, and how many events were before it."""
        self.ready = False
        """Whether nothing is left to do but for the person; `play_on` makes it so."""
        self._shown = ""
        self._hint: tuple[int, dict[str, Any]] | None = None

    # --- What can be asked of it ---

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return not self._acting

    @property
    def waiting(self) -> bool:
        """Whether it is the person's turn."""
        return bool(self._acting >> self.seat & 1)

    @property
    def _acting(self) -> int:
        """The set of seats that must decide now."""
        return int(self.env.states["acting"][0])

    def legal(self) -> dict[int, str]:
        """The person's legal actions with their names."""
        legal = legal_actions(self.env, self.variant.agents[self.seat])
        return {action: self.env.action_name(action) for action in legal}

    def act(self, decision: Any, action: Any) -> None:
        """Carry out the person's action; raises `ValueError` (`IllegalActionError`) and changes nothing otherwise."""
        if not self.waiting or not self.ready:
            raise ValueError("the game is over" if self.over else "it is not your turn")
        if decision != len(self.decisions) - 1:
            raise ValueError(f"this is decision {len(self.decisions) - 1}, not {decision!r}: the table has moved on")
        action = checked("action", action, Integer(0))
        self._see(carry_out(self.env, self.variant.agents[self.seat], action))
        self.ready = False

    def advance(self) -> Iterator[None]:
        """Let the others decide until it is the person's turn or the game is over; pauses before and after each."""
        yield
        for move in moves(self.env, self._choose):
            self._see(move)
            yield
        if self.waiting:
            self.decisions.append((self.env.save(), len(self.events)))
        self.ready = True

    def play_on(self) -> Iterator[dict[str, Any]]:
        """The same as messages to the browser, one for each thing to see."""
        for _ in self.advance():
            scene = self._scene()
            if not (self.waiting or self.over or scene.skip) and json.dumps(drawn := scene.as_json()) != self._shown:
                yield self.show(drawn)
        yield self.show()

    def undo(self) -> "PlayedGame":
        """A new game from the position before the person's last action; raises `ValueError` where there is none."""
        kept = self._undoable
        if kept < 1:
            raise ValueError("there is nothing to take back")
        twin = PlayedGame(self.variant, self.seat, self.players)
        saved, events = self.decisions[kept - 1]
        twin.env.restore(saved)
        twin.events, twin.decisions = self.events[:events], self.decisions[: kept - 1]
        twin.chapters = [chapter for chapter in self.chapters if chapter[1] <= events]
        return twin

    @property
    def _undoable(self) -> int:
        """How many decisions the person has made."""
        return len(self.decisions) - self.waiting

    def analyse(self) -> Analysis:
        """What a search thinks of the person's legal actions that knows what the person knows."""
        if not self.waiting:
            raise ValueError("the game is over" if self.over else "hints are for your own turn")
        return analyse(make_player(self.variant, HINT), self.variant, self.env.states, seat=self.seat)

    def hint(self) -> dict[str, Any]:
        """The same for the browser, best first: whether search chooses an action, and the chance to win."""
        decision = len(self.decisions) - 1
        if not self.waiting or self._hint is None or self._hint[0] != decision:
            found = self.analyse()
            words = {action: said for part in self._scene().parts for action, said in part.actions}
            actions = [
                {
                    "action": one.action,
                    "words": words[one.action],
                    "chosen": one.action == found.choice,
                    "chance": None if one.value is None or (one.visits or 0) < LITTLE else round(one.value, 3),
                }
                for one in found.thoughts
            ]
            self._hint = decision, {"say": "hint", "decision": decision, "actions": actions, "why": _why(actions)}
        return self._hint[1]

    def result(self) -> str:
        """Who has won, in words; raises `ValueError` before the end."""
        if not self.over:
            raise ValueError("the game is not over")
        winners = self.env.snapshot()["winners"]
        others = " and ".join(self.variant.agents[seat] for seat in winners if seat != self.seat)
        if self.seat in winners:
            return f"You win, with {others}." if others else "You win!"
        return f"You lose: {others} won." if others else "The game was truncated: nobody wins."

    def scores(self) -> tuple[tuple[str, ...], ...]:
        """The scores as the person knows them, as a table."""
        return self._scene().scores

    def breakdown(self) -> list[list[str]]:
        """The scores of the sides after each part of the game, as a table; empty where there is only one part."""
        if len(self.chapters) < 2:
            return []
        sides, players = self.variant.sides, self.variant.players
        called = ["you" if seat == self.seat else self.variant.agents[seat] for seat in range(players)]
        sums = [scores for _, _, scores in self.chapters]
        part = self.variant.game.looks.words.get("chapter", "round")
        head = [f"after {part}", *map(str, range(1, len(sums) + 1))]
        return [head, *([" + ".join(called[s::sides]), *(str(scores[s]) for scores in sums)] for s in range(sides))]

    def record(self) -> dict[str, Any]:
        """The record of the whole game (`GameEnv.record`); raises `ValueError` before its end, for it tells all."""
        if not self.over:
            raise ValueError("the record can be saved when the game is over")
        return {**self.env.record(), "players": self.names}

    # --- Messages ---

    def show(self, drawn: dict[str, Any] | None = None) -> dict[str, Any]:
        """The table now, or as it was drawn, with everything that happened from the beginning."""
        drawn = self._scene().as_json() if drawn is None else drawn
        self._shown = json.dumps(drawn)
        return {
            "say": "table",
            **describe(self.variant, self.seat, self.names, self.events),
            "scene": drawn,
            "decision": len(self.decisions) - 1 if self.waiting and self.ready else None,
            "over": self.over,
            "result": self.result() if self.over else "",
            "undo": self._undoable > 0,
            "summary": self._summary(),
            "breakdown": self.breakdown() if self.over else [],
        }

    def _summary(self) -> list[str]:
        """How the last part of the game has ended, if that was after the person's last decision."""
        since = self.decisions[-1 - (self.waiting and self.ready)][1] if self._undoable > 0 else 0
        begin, end, _ = self.chapters[-1] if self.chapters else (0, 0, [])
        return [event.text for event in self.events[begin:end]] if end > since else []

    def _scene(self) -> Scene:
        """What the person sees; once the game is over, everybody's cards."""
        events = tuple(self.events[-MOST_MOVES:])
        return scene_of(self.variant, self.env.states, self.seat, events, reveal=self.over)

    # --- Playing ---

    def _see(self, move: Move) -> None:
        seen = narrate(self.variant, self.seat, *move)
        if self.over or any(event.number in self.variant.game.looks.chapters for event in seen):
            scores = [int(self.variant.game.rules.score(move.after[0], side)) for side in range(self.variant.sides)]
            self.chapters.append((len(self.events), len(self.events) + len(seen), scores))
        self.events += seen

    def _choose(self, agent: str) -> int | None:
        """What a policy decides; None where the person can decide first."""
        return None if self.waiting else act_in(self.players[self.variant.agents.index(agent)], self.env)


@dataclass(frozen=True)
class Plan(Checked):
    """What a new game is to be: the choices of the command line, and then of the page."""

    game: Annotated[str, "name of the game", Text()]
    options: Annotated[dict[str, Any], "options of the game", GameOptions()] = field(default_factory=dict)
    opponents: Annotated[Sequence[str] | None, "one for all other seats, or one each clockwise", Specs()] = None
    seat: Annotated[int, "the person's seat", Integer(0)] = 0
    seed: Annotated[int | None, "of the deal", Integer(0, LARGEST_SEED)] = None

    def start(self) -> PlayedGame:
        """The game; raises `ValueError` for options, policies or a seat that cannot be."""
        variant = find_game(self.game).variant(**self.options)
        seed = secrets.randbits(32) if self.seed is None else self.seed  # JavaScript rounds larger ones in records
        return PlayedGame(variant, self.seat, seat_around(variant, self.seat, self.opponents, seed), seed)


def _why(actions: list[dict[str, Any]]) -> str:
    """Why the first of some analysed actions is search's choice, in words."""
    best, *others = [(one["words"], one["chance"]) for one in actions]
    if best[1] is None:
        return "Search sees no clear difference."
    second = max((one for one in others if one[1] is not None), key=lambda one: float(one[1]), default=None)
    compared = "" if second is None else f"; “{second[0]}” wins {second[1]:.0%}"
    return f"It wins {best[1]:.0%} of the games that search imagines from here{compared}."


def describe(variant: Variant, seat: int, names: Sequence[str], events: Sequence[Event]) -> dict[str, Any]:
    """What the browser is told of any game; an event is its text and the number at the table of who did it, or -1."""
    players = variant.players
    return {
        "title": variant.game.title,
        "setup": {"game": variant.game.name, "options": variant.options, "seat": seat},
        "variant": variant_name(variant.game, variant.options),
        "players": list(names),
        "events": [[one.text, (seat + one.seat) % players if one.seat >= 0 else -1] for one in events],
    }


def variant_name(game: Game, options: dict[str, Any]) -> str:
    """A variant in words: the number of players, and what is not as usual."""
    words = [f"{options['players']} players"] if "players" in options else []
    for key, value in options.items():
        if key != "players" and value is not None and value != game.all_options[key].default:
            plain = key if value is True else f"{key} {value}"
            words.append(game.looks.words.get(f"{key}={value}", plain.replace("_", " ")))
    return ", ".join(filter(None, words))
