"""What the tests of Pikit share: a table to play on by names, positions, and the rules once more, in plain Python.

`Model` is written from the rules alone, with lists and counters, and shares nothing with the engine.
"""

import json
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
from monsterzoo.envs.core import stepping
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import generator, streams
from monsterzoo.envs.core.variant import Variant

GAME = find_game("pikit_v0")
DECK = Counter({1: 6, 2: 6, 3: 6, 4: 6, 5: 6, 6: 6, 7: 6, 8: 8, 9: 1, 10: 1, 11: 1})
SMALL_DECK = DECK - Counter(dict.fromkeys(range(1, 9), 2))
CANCELLING = {6, 9, 10, 11}
REACTIVE = {2: 6, 3: 6, 4: 10, 5: 8, 6: 20, 7: 6, 8: 4, 9: 6, 10: 6, 11: 6}  # a deck of cards that do things


@cache
def table_of(options: str) -> Variant:
    """The game with options given as JSON."""
    return GAME.variant(**json.loads(options))


class Board:
    """One game, played by names."""

    def __init__(self, snapshot: dict[str, Any] | None = None, seed: int = 0, **options: Any) -> None:
        if snapshot is not None:
            options = {**{k: v for k, v in snapshot["options"].items() if k != "reward"}, **options}
        self.variant = table_of(json.dumps(options))
        self.rewards = np.zeros(self.variant.players, np.float32)
        self._masks = np.zeros((self.variant.players, 8 * self.variant.words), np.uint64)
        self._words = np.zeros(self.variant.words, np.uint64)
        if snapshot is not None:
            self.states = self.variant.load(snapshot, seed)
        else:
            self.states = self.variant.new_states(1)
            self.states["rng"] = generator(seed)
            stepping.begin(self.states, 0)

    @property
    def position(self) -> dict[str, Any]:
        """The snapshot."""
        return self.variant.snapshot(self.states[0])

    @property
    def asked(self) -> int | None:
        """The seat that must decide; None at the end."""
        acting = int(self.states["acting"][0])
        return acting.bit_length() - 1 if acting else None

    @property
    def legal(self) -> list[str]:
        """Names of the legal actions of the seat that must decide."""
        mask = self.variant.legal_actions(self.states, 0, self.asked)
        return [self.variant.action_names[action] for action in np.flatnonzero(mask)]

    def act(self, *names: str) -> "Board":
        """Carry out actions, each by whoever must decide then."""
        for name in names:
            assert name in self.legal, f"{name} is not legal, only {self.legal}"
            action, count = self.variant.parse_action(name), self.variant.num_actions
            stepping.advance_one(self.states, 0, self.asked, action, self.rewards, self._masks, self._words, count)
        return self

    def see(self, seat: int) -> dict[str, np.ndarray]:
        """A seat's observation, field by field."""
        row = self.variant.observation(self.states, 0, seat)
        return {field.name: self.variant.layout.read(row, field.name) for field in self.variant.layout}

    def view(self, seat: int) -> tuple[bytes, bytes, str]:
        """All that a seat gets: observation, mask and text."""
        return (
            self.variant.observation(self.states, 0, seat).tobytes(),
            self.variant.legal_actions(self.states, 0, seat).tobytes(),
            self.variant.describe(self.variant.look(self.states, 0, seat)[0], seat),
        )

    def refusal(self, name: str) -> str:
        """Why an action is not legal."""
        return str(self.variant.refuse(self.states[0], self.asked, self.variant.parse_action(name)))

    def imagine(self, seat: int, stream: Any = None) -> "Board":
        """A world that a seat holds possible."""
        world = Board.__new__(Board)
        world.__dict__.update(self.__dict__)
        world.states = self.variant.new_states(1)
        imagine(world.states, self.states, seat, (streams(1, 1, "search") if stream is None else stream)[0])
        return world


def position(
    hands: list[list[int]],
    centre: list[int] | None = None,
    dice: tuple[int, int] = (1, 6),
    top: list[int] | None = None,
    mechas: dict[int, int] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A snapshot with these hands (mechas: number -> seat) and centre, `top` cards on the deck, the others below.

    `deck=[]` makes the deck empty and puts the other cards on the discard pile. Without `centre`, 8 of the others are
    in it.
    """
    players = len(hands)
    options = {"players": players, **more.pop("options", {})}
    given = options.get("deck")
    left = Counter({int(v): n for v, n in given.items()}) if given else (SMALL_DECK if players == 2 else DECK).copy()
    pile = more.pop("discard_pile", [])
    for cards in (*hands, top or [], pile, centre or []):
        for card in cards:
            left[card] -= 1
            assert left[card] >= 0, f"too many of {card}"
    rest = sorted(left.elements())
    if centre is None:
        centre, rest = rest[:8], rest[8:]
    if more.pop("deck", None) == []:
        deck, pile = [], rest + pile
    else:
        deck = [*(top or []), *rest]
    mechas = mechas or {}
    return {
        "options": options,
        "phase": "discard",
        "turn_player": 0,
        "dice": list(dice),
        "deck": deck,
        "centre": centre,
        "hands": [
            {"kaiju": list(hand), "mecha": [n for n, holder in mechas.items() if holder == seat]}
            for seat, hand in enumerate(hands)
        ],
        "discard_pile": pile,
        "mechas_on_table": [n for n in range(1, 7) if n not in mechas],
        "wounds": [0] * players,
        "pending": [],
        "last_turns_left": None,
        "known": [list(hand) for hand in hands],
        **more,
    }


def board(*args: Any, seed: int = 0, **more: Any) -> Board:
    """A board in a position."""
    return Board(position(*args, **more), seed)


class Model:
    """The rules in plain Python; luck (dice, stolen cards) is read off the engine's next snapshot."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.players = len(start["hands"])
        self.max_turns = start["options"]["max_turns"]
        self.hands = [Counter(hand["kaiju"]) for hand in start["hands"]]
        self.mechas = [set(hand["mecha"]) for hand in start["hands"]]
        self.seen = [Counter(cards) for cards in start["known"]]
        self.deck, self.centre = list(start["deck"]), Counter(start["centre"])
        self.pile, self.wounds = list(start["discard_pile"]), list(start["wounds"])
        self.dice, self.turn_player, self.turns = sorted(start["dice"]), start["turn_player"], start["turns"]
        self.last_turns, self.over, self.winners = start["last_turns_left"], False, []
        self.stack: list[dict[str, Any]] = []
        self.queue: list[int] = []  # seats still to be asked about the top of the stack
        self.phase = "discard"

    @property
    def to_act(self) -> int:
        return self.queue[0] if self.stack else self.turn_player

    # --- what is legal ---

    def legal(self) -> set[str]:
        hand = self.hands[self.to_act]
        if self.stack:
            return {"accept"} | {f"{card}: cancel" for card in CANCELLING if hand[card]}
        if self.phase == "discard":
            ways = {f"{card}: {effect}" for effect, card in self.effects().items() if hand[card]}
            ways |= {f"{wild}: {effect}" for effect in self.effects() for wild in (9, 10, 11) if hand[wild]}
            return ways | {"end discards"}
        return {"take nothing", *self.takes()}

    def effects(self) -> dict[str, int]:
        """Effects that can be declared, with the card that has them."""
        low, high = self.dice
        dice = ["low", "high"] if low != high else ["low"]
        effects = {f"reroll {die}": 2 for die in [*dice, "both"]}
        effects |= {
            f"turn {die} to {face}": 7 for die, now in zip(dice, self.dice) for face in range(1, 7) if face != now
        }
        for k in range(1, self.players):
            if self.size((self.turn_player + k) % self.players):
                effects[f"steal +{k}"] = 4
        if self.deck:
            effects["draw"] = 5
        return effects

    def takes(self) -> dict[str, list[int]]:
        """Options to take, with the values of the cards."""
        low, high = self.dice
        options = {"take sum": [low + high], "take difference": [high - low], "take low": [low]}
        options |= {"take high": [high]} if low != high else {}
        options["take both"] = [low, high]
        fitting = {name: cards for name, cards in options.items() if Counter(cards) <= self.centre}
        if low == high:
            holder = [seat for seat in range(self.players) if low in self.mechas[seat]]
            if not holder:
                fitting["take mecha"] = []
            elif holder != [self.turn_player]:
                fitting["steal mecha"] = []
        return fitting

    def size(self, seat: int) -> int:
        return self.hands[seat].total() + len(self.mechas[seat])

    # --- what happens ---

    def play(self, name: str, after: dict[str, Any]) -> None:
        seat = self.to_act
        if name == "end discards":
            self.phase = "take"
        elif name == "accept":
            self.queue.pop(0)
            self.settle(after)
        elif ": " in name:
            card, effect = name.split(": ")
            self.leave(seat, int(card))
            self.pile.append(int(card))
            self.stack.append({"seat": seat, "card": int(card), "effect": effect})
            others = [(seat + k) % self.players for k in range(1, self.players)]
            self.queue = [other for other in others if any(self.hands[other][card] for card in CANCELLING)]
            self.settle(after)
        else:
            self.take(name, after)
            self.end_turn(after)

    def settle(self, after: dict[str, Any]) -> None:
        """Once nobody is left to be asked, an odd stack has its effect."""
        if self.queue:
            return
        effect, happens = self.stack[0]["effect"].split(), len(self.stack) % 2 == 1
        self.stack = []
        if happens:
            getattr(self, effect[0])(after, *effect[1:])

    def reroll(self, after: dict[str, Any], which: str) -> None:
        kept = {"low": self.dice[1:], "high": self.dice[:1], "both": []}[which]
        assert not Counter(kept) - Counter(after["dice"]), "a die was rerolled that should not"
        self.dice = sorted(after["dice"])

    def turn(self, after: dict[str, Any], which: str, _to: str, face: str) -> None:
        self.dice = sorted([int(face), self.dice[1] if which == "low" else self.dice[0]])

    def draw(self, after: dict[str, Any]) -> None:
        if self.deck:
            self.hands[self.turn_player][self.deck.pop(0)] += 1

    def steal(self, after: dict[str, Any], who: str) -> None:
        self.rob((self.turn_player + int(who)) % self.players, after)

    def rob(self, victim: int, after: dict[str, Any]) -> None:
        thief = self.turn_player
        if not self.size(victim):
            return
        mechas = self.mechas[victim] - set(after["hands"][victim]["mecha"])
        cards = self.hands[victim] - Counter(after["hands"][victim]["kaiju"])
        assert len(mechas) + cards.total() == 1, "not exactly one card was stolen"
        if mechas:
            self.mechas[victim] -= mechas
            self.mechas[thief] |= mechas
            return
        card = next(iter(cards))
        self.leave(victim, card)
        if card == 3:
            self.pile.append(3)
            self.wounds[thief] += 1
        else:
            self.hands[thief][card] += 1
            self.seen[thief][card] += 1

    def leave(self, seat: int, card: int) -> None:
        """A card leaves a hand before all eyes."""
        self.hands[seat] -= Counter([card])
        self.seen[seat] -= Counter([card])

    def take(self, name: str, after: dict[str, Any]) -> None:
        seat = self.turn_player
        if name == "take mecha":
            self.mechas[seat].add(self.dice[0])
        elif name == "steal mecha":
            self.rob(next(s for s in range(self.players) if self.dice[0] in self.mechas[s]), after)
        elif name != "take nothing":
            cards = Counter(self.takes()[name])
            if cards[8]:
                cards[8] = self.centre[8]
            self.centre -= cards
            self.hands[seat] += cards
            self.seen[seat] += cards

    def end_turn(self, after: dict[str, Any]) -> None:
        while self.deck and self.centre.total() < 8:
            self.centre[self.deck.pop(0)] += 1
        self.turns += 1
        if self.last_turns is not None:
            self.last_turns -= 1
        elif not self.deck:
            self.last_turns = self.players
        if self.last_turns == 0:
            ranks = [(score, -self.size(seat)) for seat, score in enumerate(self.scores())]
            self.winners = [seat for seat in range(self.players) if ranks[seat] == max(ranks)]
            self.over = True
        elif self.turns == self.max_turns:
            self.over = True
        else:
            self.turn_player = (self.turn_player + 1) % self.players
            self.phase = "discard"
            self.dice = sorted(after["dice"])

    def scores(self) -> list[int]:
        ones = [hand[1] for hand in self.hands]
        return [
            sum(hand.elements()) + 15 * len(mechas) + (15 if hand[1] and hand[1] == max(ones) else 0) - 3 * wounds
            for hand, mechas, wounds in zip(self.hands, self.mechas, self.wounds)
        ]

    def snapshot(self) -> dict[str, Any]:
        """What the engine's snapshot should say."""
        return {
            "phase": "react" if self.stack else self.phase,
            "turn_player": self.turn_player,
            "to_act": [] if self.over else [self.to_act],
            "dice": self.dice,
            "deck": self.deck,
            "centre": sorted(self.centre.elements()),
            "hands": [
                {"kaiju": sorted(hand.elements()), "mecha": sorted(mechas)}
                for hand, mechas in zip(self.hands, self.mechas)
            ],
            "discard_pile": self.pile,
            "mechas_on_table": [n for n in range(1, 7) if not any(n in mechas for mechas in self.mechas)],
            "wounds": self.wounds,
            "pending": self.stack,
            "last_turns_left": self.last_turns,
            "scores": self.scores(),
            "known": [sorted(cards.elements()) for cards in self.seen],
            "turns": self.turns,
            "over": self.over,
            "winners": self.winners,
        }
