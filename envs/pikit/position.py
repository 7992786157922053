"""Positions of Pikit as JSON, out and in; what comes in is checked against the rules."""

from typing import Any

from ..core.bits import members
from ..core.snapshots import Reader, read_list, read_number, require, require_once
from . import text
from .rules import DRAW, EFFECT_CARD, MAX_DECK, MECHAS, NONE, REACT, STEAL, TURN, dice_effects, score
from .text import bag_of, cards_of, discard_pile, hand_cards

MOST_WOUNDS = 255 - MAX_DECK  # a byte that every 3 of the largest deck could still add to
_WILD = (9, 10, 11)


def snapshot(state: Any) -> dict[str, Any]:
    """The position in names (the game's part of it)."""
    seats, size = range(int(state.players)), int(state.discarded)
    pending = state.cards[size - int(state.pending) : size].tolist()
    effects = [text.EFFECT_NAMES[state.effect]] + ["cancel"] * (len(pending) - 1)
    return {
        "phase": text.PHASES[state.phase],
        "turn_player": int(state.turn_player),
        "dice": [int(state.low), int(state.high)],
        "deck": state.cards[int(state.top) : int(state.deck_cards)].tolist(),
        "centre": cards_of(state.centre),
        "hands": [{"kaiju": hand_cards(state, seat), "mecha": members(state.mechas[seat])} for seat in seats],
        "discard_pile": discard_pile(state),
        "mechas_on_table": members(int(MECHAS) - sum(state.mechas.tolist())),
        "wounds": [int(state.wounds[seat]) for seat in seats],
        "pending": [{"seat": card >> 4, "card": card & 15, "effect": effect} for card, effect in zip(pending, effects)],
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
    return [read_number(card, f"each of {key}", low, high) for card in read_list(cards, key)]


class _Loader(Reader):
    """Reads a snapshot into a record, step by step."""

    def turn(self) -> None:
        """Phase, dice, whose turn, how many are left."""
        state = self.state
        state.phase = self.phase(text.PHASES, text.PHASES)
        state.turn_player = self.number("turn_player", 0, self.players - 1)
        dice = _values(self.data["dice"], "dice", 1, int(state.faces))
        require(len(dice) == 2 and dice[0] <= dice[1], f"dice are two faces, the low one first, not {dice!r}")
        state.low, state.high = dice
        state.last_turns = self.number("last_turns_left", 1, self.players, default=NONE)
        state.turns = self.number("turns", 0, int(state.max_turns) - 1, default=0)

    def cards(self) -> None:
        """Where every kaiju is, and which ones everybody knows."""
        state = self.state
        deck, centre, pile = (_values(self.data[key], key) for key in ("deck", "centre", "discard_pile"))
        hands = [self._kaiju(seat, hand) for seat, hand in enumerate(self.rows("hands"))]
        self._count(deck + centre + pile + [card for hand in hands for card in hand])
        most = int(state.centre_cards)
        require(len(centre) <= most, f"the centre has {len(centre)} cards, more than {most}")
        require(len(centre) == most or not deck, f"the centre has {len(centre)} cards and the deck could refill it")
        require(not deck or state.last_turns == NONE, "last_turns_left is set, but the deck is not empty")
        state.cards[: len(pile)] = pile
        state.discarded = len(pile)
        state.top = int(state.deck_cards) - len(deck)
        state.cards[state.top : state.deck_cards] = deck
        state.centre[:] = bag_of(centre)
        state.discards[:] = bag_of(pile)
        for seat, (hand, known) in enumerate(zip(hands, self.optional_rows("known", []))):
            seen = _values(known, f"known of seat {seat}")
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
            places = "deck, centre, hands and discard pile"
            require(there == right, f"{places} have {there} cards of value {value} together, not {right}")

    def mechas(self) -> None:
        """Mechas and wounds."""
        state = self.state
        places = _values(self.data["mechas_on_table"], "mechas_on_table", 1, 6)
        for seat, hand in enumerate(self.rows("hands")):
            held = _values(hand["mecha"], f"mecha of seat {seat}", 1, 6)
            state.mechas[seat] = sum({1 << number for number in held})
            places += held
        require_once(places, {number: f"mecha {number}" for number in range(1, 7)})
        for seat, wounds in enumerate(self.rows("wounds")):
            state.wounds[seat] = read_number(wounds, "each of wounds", 0, MOST_WOUNDS)

    def pending(self) -> None:
        """The discards that wait for reactions: one of the turn player's, and cancels on it."""
        state, entries = self.state, read_list(self.data["pending"], "pending")
        reacting, last = int(state.phase) == REACT, NONE
        require(entries or not reacting, "phase react needs a pending discard")
        require(reacting or not entries, f"pending holds a discard in phase {text.PHASES[state.phase]}")
        state.effect = NONE
        for k, entry in enumerate(entries):
            seat, card = read_number(entry["seat"], "seat in pending", 0, self.players - 1), entry["card"]
            name = entry["effect"]
            require(name in text.EFFECT_NAMES, f"pending: there is no effect {name!r}")
            effect = text.EFFECT_NAMES.index(name)
            require(card in (EFFECT_CARD[effect], *_WILD), f"pending: a {card} cannot {name}")
            if k == 0:
                require(seat == state.turn_player, f"pending: seat {seat} has discarded in another player's turn")
                state.effect = effect
                self._effect(effect)
            else:
                require(name == "cancel", f"pending: a discard can only be cancelled, not answered by {name}")
                require(seat != last, f"pending: seat {seat} cancels its own discard")
            last = seat
        self._pile_up(entries)

    def _effect(self, effect: int) -> None:
        """Whether the turn player could declare an effect."""
        state, name = self.state, text.EFFECT_NAMES[effect]
        if effect < STEAL or effect >= TURN:
            possible = int(dice_effects(state)) >> effect & 1
            require(possible, f"pending: {name!r} is impossible with the dice {int(state.low)}, {int(state.high)}")
        elif effect < DRAW:
            require(effect - STEAL + 1 < self.players, f"pending: {name!r} with {self.players} players")
        else:
            require(effect == DRAW, "pending: the first discard cancels nothing")
            require(int(state.top) < int(state.deck_cards), "pending: draw is declared, but the deck is empty")

    def _pile_up(self, entries: list[Any]) -> None:
        """Pending cards lie on the discard pile, in their order."""
        state, pile = self.state, discard_pile(self.state)
        for entry in reversed(entries):
            require(entry["card"] in pile, f"pending: {entry['card']} is not in the discard pile")
            del pile[len(pile) - 1 - pile[::-1].index(entry["card"])]
        pile += [entry["card"] | entry["seat"] << 4 for entry in entries]
        state.cards[: len(pile)] = pile
        state.pending = len(entries)

    def acting(self) -> int:
        """The seat that must decide now: in an open window the one that is asked, by default the first that can be."""
        state = self.state
        if int(state.phase) != REACT:
            return int(state.turn_player)
        discarder = int(state.cards[int(state.discarded) - 1]) >> 4
        others = [(discarder + k) % self.players for k in range(1, self.players)]
        able = [seat for seat in others if {6, *_WILD} & set(hand_cards(state, seat))]
        require(able, "nobody can cancel the pending discard, so nobody is asked")
        asked = self.data.get("to_act")
        if asked is None:
            return able[0]
        require(len(asked) == 1, f"one seat at a time is asked to cancel, not {asked!r}")
        require(asked[0] in able, f"seat {asked[0]!r} cannot be asked to cancel, only {able}")
        return int(asked[0])
