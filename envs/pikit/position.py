"""Positions of Pikit as JSON, out and in; what comes in is checked against the rules."""

from typing import Any

from ..core.snapshots import read_number, require
from .rules import CENTRE, DICE_EFFECTS, DRAW, MAX_DECK, NONE, REACT, STEAL, TURN, score
from .text import (
    EFFECT_NAMES,
    PHASES,
    bag_of,
    cards_of,
    deck_cards,
    discard_pile,
    hand_cards,
    mechas_of,
    mechas_on_table,
    pending_discards,
)

MOST_WOUNDS = 255 - MAX_DECK  # a byte that every 3 of the largest deck could still add to
_CANCELLING = (6, 9, 10, 11)
_EFFECT_CARDS = {"reroll": 2, "steal": 4, "draw": 5, "cancel": 6, "turn": 7}


def snapshot(state: Any) -> dict[str, Any]:
    """The position in names (the game's part of it)."""
    seats = range(int(state.players))
    return {
        "phase": PHASES[state.phase],
        "turn_player": int(state.turn_player),
        "dice": [int(state.low), int(state.high)],
        "deck": deck_cards(state),
        "centre": cards_of(state.centre),
        "hands": [{"kaiju": hand_cards(state, seat), "mecha": mechas_of(state.mechas[seat])} for seat in seats],
        "discard_pile": discard_pile(state),
        "mechas_on_table": mechas_on_table(state),
        "wounds": [int(state.wounds[seat]) for seat in seats],
        "pending": [{"seat": seat, "card": card, "effect": effect} for seat, card, effect in pending_discards(state)],
        "last_turns_left": None if state.last_turns == NONE else int(state.last_turns),
        "scores": [int(score(state, seat)) for seat in seats],
        # what seats have learned: the kaiju of each hand that everybody has seen; and finished turns
        "known": [cards_of(state.known[seat]) for seat in seats],
        "turns": int(state.turns),
    }


def load(data: dict[str, Any], state: Any) -> None:
    """Write a position into a record that holds the options; raises `SnapshotError` for one that cannot be.

    `scores` follow from the rest and are not read.
    """
    loader = _Loader(data, state)
    loader.turn()
    loader.cards()
    loader.mechas()
    loader.pending()
    state.acting = 1 << loader.acting()


def _values(cards: Any, key: str, low: int = 1, high: int = 11) -> list[int]:
    require(isinstance(cards, list | tuple), f"{key} is a list, not {cards!r}")
    return [read_number(card, f"each of {key}", low, high) for card in cards]


class _Loader:
    """Reads a snapshot into a record, step by step."""

    def __init__(self, data: dict[str, Any], state: Any) -> None:
        self.data, self.state, self.players = data, state, int(state.players)

    def _per_seat(self, key: str) -> list[Any]:
        value = self.data[key]
        require(
            isinstance(value, list | tuple) and len(value) == self.players,
            f"{key} is a list of {self.players}, one for each seat, not {value!r}",
        )
        return list(value)

    def turn(self) -> None:
        """Phase, dice, whose turn, how many are left."""
        state, data = self.state, self.data
        require(data["phase"] in PHASES, f"phase is one of {', '.join(PHASES)}, not {data['phase']!r}")
        state.phase = PHASES.index(data["phase"])
        state.turn_player = read_number(data["turn_player"], "turn_player", 0, self.players - 1)
        dice = _values(data["dice"], "dice", 1, 6)
        require(len(dice) == 2 and dice[0] <= dice[1], f"dice are two faces, the low one first, not {data['dice']!r}")
        state.low, state.high = dice
        left = data.get("last_turns_left")
        state.last_turns = NONE if left is None else read_number(left, "last_turns_left", 1, self.players)
        turns = data.get("turns")
        state.turns = 0 if turns is None else read_number(turns, "turns (finished ones)", 0, int(state.max_turns) - 1)

    def cards(self) -> None:
        """Where every kaiju is, and which ones everybody knows."""
        state = self.state
        deck, centre = _values(self.data["deck"], "deck"), _values(self.data["centre"], "centre")
        pile = _values(self.data["discard_pile"], "discard_pile")
        hands = [self._kaiju(seat, hand) for seat, hand in enumerate(self._per_seat("hands"))]
        self._count(deck + centre + pile + [card for hand in hands for card in hand])
        require(len(centre) <= CENTRE, f"the centre has {len(centre)} cards, more than {CENTRE}")
        require(len(centre) == CENTRE or not deck, f"the centre has {len(centre)} cards and the deck could refill it")
        require(not deck or state.last_turns == NONE, "last_turns_left is set, but the deck is not empty")
        for k, card in enumerate(pile):
            state.cards[k] = card
        state.discarded = len(pile)
        state.top = int(state.deck_cards) - len(deck)
        for k, card in enumerate(deck):
            state.cards[int(state.top) + k] = card
        state.centre[:] = bag_of(centre)
        state.discards[:] = bag_of(pile)
        known = self._per_seat("known") if self.data.get("known") is not None else [[]] * self.players
        for seat, hand in enumerate(hands):
            seen = _values(known[seat], f"known of seat {seat}")
            for card in seen:
                require(card in hand, f"known: seat {seat} does not hold {seen.count(card)} of {card}")
                hand.remove(card)
            state.known[seat] = bag_of(seen)
            state.secret[seat] = bag_of(hand)

    def _kaiju(self, seat: int, hand: Any) -> list[int]:
        require(isinstance(hand, dict), f"each of hands is a dict with kaiju and mecha, not {hand!r}")
        return _values(hand["kaiju"], f"kaiju of seat {seat}")

    def _count(self, cards: list[int]) -> None:
        deck = cards_of(self.state.copies)
        for value in range(1, 12):
            there, right = cards.count(value), deck.count(value)
            require(
                there == right,
                f"deck, centre, hands and discard pile have {there} cards of value {value} together, not {right}",
            )

    def mechas(self) -> None:
        """Mechas and wounds."""
        state = self.state
        places = _values(self.data["mechas_on_table"], "mechas_on_table", 1, 6)
        for seat, hand in enumerate(self._per_seat("hands")):
            held = _values(hand["mecha"], f"mecha of seat {seat}", 1, 6)
            state.mechas[seat] = sum({1 << number for number in held})
            places += held
        for number in range(1, 7):
            there = places.count(number)
            require(there == 1, f"mecha {number} is {f'in {there} places' if there else 'missing'}")
        for seat, wounds in enumerate(self._per_seat("wounds")):
            state.wounds[seat] = read_number(wounds, "each of wounds", 0, MOST_WOUNDS)

    def pending(self) -> None:
        """The discards that wait for reactions: one of the turn player's, and cancels on it."""
        state, entries = self.state, self.data["pending"]
        require(isinstance(entries, list | tuple), f"pending is a list, not {entries!r}")
        reacting = int(state.phase) == REACT
        require(entries or not reacting, "phase react needs a pending discard")
        require(reacting or not entries, f"pending holds a discard in phase {PHASES[state.phase]}")
        state.effect = NONE
        last = None
        for k, entry in enumerate(entries):
            seat, card = read_number(entry["seat"], "seat in pending", 0, self.players - 1), entry["card"]
            kind = str(entry["effect"]).split()[0] if entry["effect"] else ""
            require(entry["effect"] in EFFECT_NAMES, f"pending: there is no effect {entry['effect']!r}")
            require(card in (_EFFECT_CARDS[kind], 9, 10, 11), f"pending: a {card} cannot {entry['effect']}")
            if k == 0:
                require(seat == state.turn_player, f"pending: seat {seat} has discarded in another player's turn")
                state.effect = EFFECT_NAMES.index(entry["effect"])
                self._effect(int(state.effect))
            else:
                require(kind == "cancel", f"pending: a discard can only be cancelled, not answered by {kind}")
                require(seat != last, f"pending: seat {seat} cancels its own discard")
            last = seat
        self._pile_up(entries)

    def _effect(self, effect: int) -> None:
        """Whether the turn player could declare an effect."""
        state, name = self.state, EFFECT_NAMES[effect]
        if effect < STEAL or effect >= TURN:
            possible = int(DICE_EFFECTS[state.low, state.high]) >> effect & 1
            require(possible, f"pending: {name!r} is impossible with the dice {int(state.low)}, {int(state.high)}")
        elif effect < DRAW:
            require(effect - STEAL + 1 < self.players, f"pending: {name!r} with {self.players} players")
        elif effect == DRAW:
            require(int(state.top) < int(state.deck_cards), "pending: draw is declared, but the deck is empty")
        else:
            require(False, "pending: the first discard cancels nothing")

    def _pile_up(self, entries: Any) -> None:
        """Pending cards lie on the discard pile, in their order."""
        state, pile = self.state, discard_pile(self.state)
        for entry in reversed(entries):
            require(entry["card"] in pile, f"pending: {entry['card']} is not in the discard pile")
            del pile[len(pile) - 1 - pile[::-1].index(entry["card"])]
        pile += [entry["card"] | entry["seat"] << 4 for entry in entries]
        for k, card in enumerate(pile):
            state.cards[k] = card
        state.pending = len(entries)

    def acting(self) -> int:
        """The seat that must decide now: in an open window the one that is asked, by default the first that can be."""
        state = self.state
        if int(state.phase) != REACT:
            return int(state.turn_player)
        discarder = int(state.cards[int(state.discarded) - 1]) >> 4
        others = [(discarder + k) % self.players for k in range(1, self.players)]
        able = [seat for seat in others if set(_CANCELLING) & set(hand_cards(state, seat))]
        require(able, "nobody can cancel the pending discard, so nobody is asked")
        asked = self.data.get("to_act")
        if asked is None:
            return able[0]
        require(len(asked) == 1, f"one seat at a time is asked to cancel, not {asked!r}")
        require(asked[0] in able, f"seat {asked[0]!r} cannot be asked to cancel, only {able}")
        return int(asked[0])
