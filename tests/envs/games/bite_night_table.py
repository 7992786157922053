"""What the tests of Bite Night share: a table to play on by names, positions, and the rules once more, in plain Python.

`Model` is written from the rules alone, with lists and counters, and shares nothing with the engine.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
from monsterzoo.envs.core import stepping
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import generator, streams

COLOURS = ("blue", "red", "yellow", "green", "violet")
PICTURES = ("vampire", "monk", "maiden", "coffin", "garlic")
TILES = [f"{colour} {picture}{heart}" for colour in COLOURS for picture in PICTURES for heart in ("", " heart")]
SCORING = [
    "colour set",
    *(f"picture {picture}" for picture in PICTURES),
    *(f"colour {colour}" for colour in COLOURS),
    *(f"pair {picture}" for picture in PICTURES),
    *(f"combination {p}+{q}" for p, q in combinations(PICTURES, 2)),
]
BURYING = [*(f"graveyard {picture}" for picture in PICTURES), "graveyard any"]
BASIC = Counter(SCORING + BURYING + 2 * ["skip two", "graveyard closed"])
ADVANCED = Counter(
    [
        "resurrection",
        "blood wedding",
        "servant",
        "vampire's bite",
        "provisions",
        "vow of celibacy",
        "garlic soup",
        "dawn",
        "banishment",
    ]
)
GAME = find_game("bite_night_v0")
VARIANTS = [*GAME.variants, {"players": 3, "advanced": True, "reflexes": [3.0, 2.0, 1.0]}]


class Board:
    """One game, played by names."""

    def __init__(self, snapshot: dict[str, Any] | None = None, seed: int = 0, **options: Any) -> None:
        self.variant = GAME.variant(**options)
        self.states = self.variant.new_states(1)
        self._rewards = np.zeros(self.variant.players, np.float32)
        self._masks = np.zeros((self.variant.players, 8 * self.variant.words), np.uint64)
        self._words = np.zeros(self.variant.words, np.uint64)
        if snapshot is not None:
            self.states = self.variant.load(snapshot, seed)
        else:
            self.states["rng"] = generator(seed)
            stepping.begin(self.states, 0)

    def __getitem__(self, key: str) -> Any:
        """A key of the snapshot."""
        return self.position()[key]

    def position(self) -> dict[str, Any]:
        return self.variant.snapshot(self.states[0])

    def legal(self, seat: int) -> list[str]:
        mask = self.variant.legal_actions(self.states, 0, seat)
        return [self.variant.action_names[action] for action in np.flatnonzero(mask)]

    def do(self, seat: int, *actions: str) -> np.ndarray:
        """Carry out actions of a seat; returns the rewards of the last one."""
        for name in actions:
            assert name in self.legal(seat), f"{name!r} is not legal for seat {seat}: {self.legal(seat)}"
            action = self.variant.parse_action(name)
            stepping.advance_one(
                self.states, 0, seat, action, self._rewards, self._masks, self._words, self.variant.num_actions
            )
        return self._rewards.copy()

    def observation(self, seat: int) -> np.ndarray:
        return self.variant.observation(self.states, 0, seat)

    def field(self, seat: int, name: str) -> np.ndarray:
        return self.variant.layout.read(self.observation(seat), name)

    def view(self, seat: int) -> tuple[bytes, bytes, str]:
        """All that a seat gets to know."""
        mask = self.variant.legal_actions(self.states, 0, seat)
        return self.observation(seat).tobytes(), mask.tobytes(), self.text(seat)

    def text(self, seat: int) -> str:
        return self.variant.describe(self.variant.look(self.states, 0, seat)[0], seat)

    def imagined(self, seat: int, seed: int = 0) -> "Board":
        """The board as a seat could imagine it."""
        world = Board.__new__(Board)
        world.__dict__.update(self.__dict__)
        world.states = self.variant.new_states(1)
        imagine(world.states, self.states, seat, streams(seed, 1, "world")[0])
        return world


def random_walk(board: Board, random: np.random.Generator) -> Iterable[tuple[int, str]]:
    """Play at random, asking the waiting seats in random order; yields each choice before it is carried out."""
    while acting := int(board.states["acting"][0]):
        seat = int(random.choice([seat for seat in range(4) if acting >> seat & 1]))
        action = str(random.choice(board.legal(seat)))
        yield seat, action
        board.do(seat, action)


# --- Positions ---

STOP = "graveyard any"
"""A card at which everybody has to choose, so that the rendezvous waits behind the cards under test."""


def cards_for(pile: list[str], players: int, advanced: bool) -> tuple[list[str], list[list[str]]]:
    """A whole pile that begins with some cards, and what is left in the hands."""
    rounds = 5 if players == 3 else 4
    left = (BASIC + ADVANCED if advanced else BASIC) - Counter(pile)
    spare = [card for card in SCORING if left[card]] + [card for card in left.elements() if card not in SCORING]
    missing, hand = players * rounds - len(pile), 9 - rounds
    hands = [spare[missing + hand * seat : missing + hand * (seat + 1)] for seat in range(players)]
    return pile + spare[:missing], hands


def last_round(pile: list[str], players: int, advanced: bool, lap: int) -> dict[str, Any]:
    """What positions of the last round and of the rendezvous have in common."""
    rounds = 5 if players == 3 else 4
    leader = (lap - 1) % players
    cards, hands = cards_for(pile, players, advanced)
    return {
        "lap": lap,
        "round": rounds,
        "first_player": (leader + rounds - 1) % players,
        "lap_leader": leader,
        "hands": hands,
        "pile": [[(leader + k // players + k % players) % players, card] for k, card in enumerate(cards)],
        "resolved": 0,
        "middle": [],
        "stacks": [[] for _ in range(players)],
        "graveyard": [],
        "open_cards": [],
        "scores": [0] * players,
    }


def last_grab(
    pile: list[str],
    tiles: list[list[str]] | None = None,
    *,
    players: int = 3,
    advanced: bool = False,
    lap: int = 1,
    scores: list[int] | None = None,
) -> dict[str, Any]:
    """A position in which only the last seat's last tile (of `tiles`) has to be grabbed before the rendezvous."""
    size = 15 if players == 3 else 12
    tiles = tiles or [TILES[seat : seat + players * size : players] for seat in range(players)]
    return {
        **last_round(pile, players, advanced, lap),
        "phase": "grab",
        "to_act": [players - 1],
        "middle": tiles[-1][-1:],
        "tiles": [*tiles[:-1], tiles[-1][:-1]],
        "scores": scores or [0] * players,
    }


def after_last_grab(pile: list[str], tiles: list[list[str]] | None = None, **position: Any) -> Board:
    """Play the last grab of `last_grab`."""
    snapshot = last_grab(pile, tiles, **position)
    options = {"players": position.get("players", 3), "advanced": position.get("advanced", False)}
    board = Board(snapshot, **options)
    board.do(snapshot["to_act"][0], f"grab {snapshot['middle'][0]}")
    return board


class Rendezvous(Board):
    """A rendezvous of four between exact tiles: `tiles` of the first three seats, then the cards of `pile`.

    The last seat, who is there to be asked, had five tiles of the picture `dug`, has just buried two of them and keeps
    three plain ones. All tiles that nobody has are in the graveyard from the beginning.
    """

    def __init__(self, pile: list[str], tiles: dict[int, list[str]], dug: str = "garlic") -> None:
        named = [tile for own in tiles.values() for tile in own]
        left = [tile for tile in TILES if picture(tile) == dug and tile not in named]
        kept = [tile for tile in left if not has_heart(tile)][-3:]
        given = [tile for tile in left if tile not in kept][:2]
        rest = [tile for tile in TILES if tile not in (*named, *kept, *given)]
        self.before = rest[: 48 - len(named) - 5] + given
        position = {
            **last_round([f"graveyard {dug}", *pile], 4, True, 1),
            "phase": "bury",
            "tiles": [*(tiles.get(seat, []) for seat in range(3)), kept + given],
            "graveyard": self.before[:-2],
        }
        super().__init__(position, players=4, advanced=True)
        self.do(3, *(f"bury {tile}" for tile in given))

    @property
    def points(self) -> list[int]:
        """The scores of the first three seats."""
        return self["scores"][:3]

    @property
    def done(self) -> int:
        """How many cards of the pile are done."""
        return int(self["resolved"]) - 1

    @property
    def buried(self) -> set[str]:
        """The tiles buried by the cards of the pile."""
        return set(self["graveyard"]) - set(self.before)


def at_resurrection(
    tiles: dict[int, list[str]], buried: list[str], seat: int | None, *, lap: int = 1
) -> dict[str, Any]:
    """A position of three players at "resurrection"; the seat that `tiles` leaves out has the rest but five hearts."""
    named = [tile for own in [*tiles.values(), buried] for tile in own]
    rest = sorted((tile for tile in TILES if tile not in named), key=has_heart)[: 45 - len(named)]
    return {
        **last_round(["resurrection", STOP], 3, True, lap),
        "phase": "resurrect",
        "tiles": [tiles.get(other, rest) for other in range(3)],
        "graveyard": buried,
        **({} if seat is None else {"to_act": [seat]}),
    }


# --- The rules once more ---


def colour(tile: str) -> str:
    return tile.split()[0]


def picture(tile: str) -> str:
    return tile.split()[1]


def has_heart(tile: str) -> bool:
    return tile.endswith("heart")


def value(card: str, tiles: list[str]) -> int:
    """What a scoring card brings for some tiles."""
    kind, _, what = card.partition(" ")
    if card == "colour set":
        return 5 * min(sum(colour(tile) == c for tile in tiles) for c in COLOURS)
    if kind in ("picture", "colour"):
        fitting = [tile for tile in tiles if what in tile.split()[:2]]
        different = {colour(tile) if kind == "picture" else picture(tile) for tile in fitting}
        return len(fitting) + {4: 2, 5: 4}.get(len(different), 0)
    if kind == "pair":
        return 3 * sum(sum(tile.split()[:2] == [c, what] for tile in tiles) == 2 for c in COLOURS)
    left, right = what.split("+")
    kinds = Counter((colour(tile), picture(tile)) for tile in tiles)
    return 4 * sum(min(kinds[c, left], kinds[c, right]) for c in COLOURS)


STEALS = {
    "blood wedding": ("maiden", "monk"),
    "vampire's bite": ("vampire", "maiden"),
    "provisions": ("monk", "garlic"),
    "dawn": ("vampire", "coffin"),
}
GUARDS = {**dict.fromkeys(BURYING, "graveyard closed"), "dawn": "servant", "blood wedding": "vow of celibacy"}


class Model:
    """A game followed by names: told what was dealt and who won a race, it knows everything else."""

    def __init__(self, players: int, advanced: bool, draft: bool, laps: int) -> None:
        self.players, self.advanced, self.draft, self.laps = players, advanced, draft, laps
        self.seats = list(range(players))
        self.rounds = 5 if players == 3 else 4
        self.scores = [0] * players
        self.over = False
        self.lap = 0

    def deal(self, hands: list[list[str]], stacks: list[list[str]]) -> None:
        """A new lap begins with these hands and stacks."""
        self.lap += 1
        self.leader = (self.lap - 1) % self.players
        self.round = 1
        self.hands = [list(hand) for hand in hands]
        self.stacks = [list(stack) for stack in stacks]
        self.tiles: list[list[str]] = [[] for _ in self.seats]
        self.pile: list[tuple[int, str]] = []
        self.resolved = 0
        self.middle: list[str] = []
        self.graveyard: list[str] = []
        self.open: list[str] = []
        self._await("lay", dict.fromkeys(self.seats, 1))

    def _await(self, phase: str, choices: dict[int, int]) -> None:
        self.phase = phase
        self.due = choices
        self.choices: list[list[str]] = [[] for _ in self.seats]

    @property
    def first(self) -> int:
        if self.phase in ("bury", "resurrect"):
            return self.leader
        return (self.leader + self.round - 1) % self.players

    @property
    def to_act(self) -> list[int]:
        return [] if self.over else [seat for seat in self.seats if len(self.choices[seat]) < self.due.get(seat, 0)]

    def legal(self, seat: int) -> set[str]:
        if self.phase == "lay":
            return {f"lay {card}" for card in self.hands[seat]}
        if self.phase == "grab":
            return {f"grab {tile}" for tile in self.middle}
        if self.phase == "bury":
            return {f"bury {tile}" for tile in self.fitting(seat) if tile not in self.choices[seat]}
        return {f"raise {tile}" for tile in self.graveyard if self.claims[colour(tile)]}

    def fitting(self, seat: int) -> list[str]:
        what = self.pile[self.resolved][1].split()[1]
        return [tile for tile in self.tiles[seat] if what in ("any", picture(tile))]

    def step(self, seat: int, action: str, race: list[list[str]] | None = None) -> bool:
        """Follow an action; `race` are all seats' tiles after a tick. Whether the lap is over."""
        what = action.split(" ", 1)[1]
        if self.phase == "resurrect":
            self.graveyard.remove(what)
            self.tiles[seat].append(what)
            self.claims[colour(what)] -= 1
            return self.go_on_raising(seat)
        self.choices[seat].append(what)
        if self.to_act:
            return False
        if self.phase == "lay":
            self.lay()
            return False
        if self.phase == "bury":
            self.bury()
            self.resolved += 1
            return self.resolve()
        return self.grab(race)

    def lay(self) -> None:
        for k in self.seats:
            seat = (self.first + k) % self.players
            self.hands[seat].remove(self.choices[seat][0])
            self.pile.append((seat, self.choices[seat][0]))
        for stack in self.stacks:
            self.middle += stack[:3]
            del stack[:3]
        self._await("grab", {self.first: 1} if self.draft else dict.fromkeys(self.seats, 1))

    def grab(self, after: list[list[str]] | None) -> bool:
        named = {seat: own[0] for seat, own in enumerate(self.choices) if own}
        for tile in set(named.values()):
            rivals = [seat for seat in named if named[seat] == tile]
            winners = rivals if len(rivals) == 1 else [seat for seat in rivals if after and tile in after[seat]]
            assert len(winners) == 1, f"{tile} was grabbed by {winners} of {rivals}"
            self.tiles[winners[0]].append(tile)
            self.middle.remove(tile)
        needy = [seat for seat in self.seats if len(self.tiles[seat]) < 3 * self.round]
        if needy:
            if self.draft:
                needy = [(next(iter(named)) + 1) % self.players]
            self._await("grab", dict.fromkeys(needy, 1))
            return False
        if self.round < self.rounds:
            self.round += 1
            self._await("lay", dict.fromkeys(self.seats, 1))
            return False
        return self.resolve()

    def resolve(self) -> bool:
        while self.resolved < len(self.pile):
            card = self.pile[self.resolved][1]
            if GUARDS.get(card) in self.open:
                self.open.remove(GUARDS[card])
            elif card == "skip two":
                self.resolved = min(self.resolved + 2, len(self.pile) - 1)
            elif card in ("graveyard closed", "servant", "vow of celibacy"):
                self.open.append(card)
            elif card in SCORING:
                for seat in self.seats:
                    self.scores[seat] += value(card, self.tiles[seat])
            elif card in BURYING:
                asked = [seat for seat in self.seats if len(self.fitting(seat)) > 2]
                self._await("bury", dict.fromkeys(asked, 2))
                if asked:
                    return False
                self.bury()
            elif card == "resurrection":
                return self.start_raising(self.leader)
            else:
                self.special(card)
            self.resolved += 1
        self.over = self.lap == self.laps
        return True

    def bury(self) -> None:
        for seat in self.seats:
            for tile in self.choices[seat] or self.fitting(seat):
                self.tiles[seat].remove(tile)
                self.graveyard.append(tile)

    def special(self, card: str) -> None:
        for seat in [(self.leader + k) % self.players for k in self.seats]:
            own = self.tiles[seat]
            if card in STEALS:
                thief, victim = STEALS[card]
                for tile in [tile for tile in own if picture(tile) == thief and has_heart(tile)]:
                    wanted = f"{colour(tile)} {victim} heart"
                    for other in self.seats:
                        if other != seat and wanted in self.tiles[other]:
                            self.tiles[other].remove(wanted)
                            own.append(wanted)
                continue
            garlic = [tile for tile in own if picture(tile) == "garlic"]
            buried = garlic
            if card == "garlic soup":
                self.scores[seat] += 3 * len(garlic)
            else:
                assert card == "banishment"
                buried = [tile for tile in own if picture(tile) == "vampire" and garlic]
            for tile in buried:
                own.remove(tile)
                self.graveyard.append(tile)

    def start_raising(self, seat: int) -> bool:
        self.claims = Counter(colour(tile) for tile in self.tiles[seat] if has_heart(tile))
        return self.go_on_raising(seat)

    def go_on_raising(self, seat: int) -> bool:
        buried = Counter(colour(tile) for tile in self.graveyard)
        if any(0 < self.claims[c] < buried[c] for c in COLOURS):
            self._await("resurrect", {seat: 1})
            return False
        for tile in [tile for tile in self.graveyard if self.claims[colour(tile)]]:
            self.graveyard.remove(tile)
            self.tiles[seat].append(tile)
        following = (seat + 1) % self.players
        if following != self.leader:
            return self.start_raising(following)
        self.resolved += 1
        return self.resolve()

    def agrees_with(self, position: dict[str, Any]) -> None:
        """Compare everything with a snapshot."""
        ours = {
            "phase": self.phase,
            "lap": self.lap,
            "round": self.round,
            "first_player": self.first,
            "lap_leader": self.leader,
            "to_act": self.to_act,
            "hands": [sorted(hand) for hand in self.hands],
            "pile": [[seat, card] for seat, card in self.pile],
            "resolved": self.resolved,
            "middle": sorted(self.middle),
            "stacks": self.stacks,
            "tiles": [sorted(tiles) for tiles in self.tiles],
            "graveyard": sorted(self.graveyard),
            "open_cards": self.open,
            "choices": self.choices,
            "scores": self.scores,
            "over": self.over,
        }
        theirs = {key: position[key] for key in ours}
        for key in ("middle", "graveyard"):
            theirs[key] = sorted(theirs[key])
        for key in ("hands", "tiles"):
            theirs[key] = [sorted(own) for own in theirs[key]]
        assert theirs == ours
