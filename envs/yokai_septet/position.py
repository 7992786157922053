"""Positions of Yokai Septet as JSON, out and in; what comes in is checked against the rules."""

from collections.abc import Sequence
from typing import Any

from ..core.game import SnapshotError
from .rules import (
    BASE,
    BOSSES,
    CARDS,
    CARDS_WITH_FOILS,
    DISCARD,
    DOWN,
    EXCHANGING,
    KEEP,
    NONE,
    PASS,
    PLAY,
    SNOW_13,
    SUIT_OF,
    SUITORS_SHORT,
    SUITS,
    THE_A,
    UP,
)
from .text import (
    CARD_NAMES,
    CARD_NUMBERS,
    EXCHANGES,
    KEEPS,
    PHASES,
    bits_of,
    boss_card,
    captured_cards,
    card_name,
    members,
    names,
    on_places,
    suit_names,
    trick_cards,
)


def snapshot(state: Any) -> dict[str, Any]:
    """The position in names (the game's part of it)."""
    seats, sides = range(int(state.players)), range(int(state.sides))
    straw, suitors, passing = int(state.players) == 2, int(state.variant) != BASE, int(state.phase) == PASS
    chosen = [names(on_places(state.passes[seat])) for seat in seats]
    return {
        "phase": PHASES[state.phase],
        "round": int(state.round_number),
        "hands": [names(members(state.hand[seat])) for seat in seats],
        "passes": chosen if passing else [[] for _ in seats],
        "straw": [_straw(state, seat) for seat in seats] if straw else None,
        "discards": [card_name(state.discards[seat]) for seat in seats] if straw else None,
        "exchanges": [_choice(EXCHANGES, state.exchanges[seat]) for seat in seats] if straw else None,
        "trump": None if state.trump == NONE else SUITS[state.trump],
        "trump_card": card_name(state.trump_card),
        "lead": None if state.lead == NONE else int(state.lead),
        "trick": [[seat, CARD_NAMES[card]] for seat, card in trick_cards(state)],
        "played": [names(members(state.played[seat])) for seat in seats],
        "captured": [names(captured_cards(state, side)) for side in sides],
        "tricks": [int(state.tricks[side]) for side in sides],
        "scores": None if suitors else [int(state.scores[side]) for side in sides],
        "sealed": [suit_names(state.sealed[side]) for side in sides] if suitors else None,
        # what seats have learned, and choices that are still secret
        "sent": None if straw else [[] if passing else cards for cards in chosen],
        "shown_by": None if state.shown_by == NONE else int(state.shown_by),
        "voids": [suit_names(state.void[seat]) for seat in seats],
        "bare": [names(members(state.bare[seat])) for seat in seats] if straw else None,
        "keeps": [_choice(KEEPS, state.keeps[seat]) for seat in seats] if straw else None,
    }


def _choice(table: Sequence[str], choice: Any) -> str | None:
    return None if choice == NONE else table[choice]


def _straw(state: Any, seat: int) -> dict[str, Any]:
    return {
        "down": [card_name(card) for card in state.straw_down[seat]],
        "up": [card_name(card) for card in state.straw_up[seat]],
    }


def load(data: dict[str, Any], state: Any) -> None:
    """Write a position into a record that holds the options; raises `SnapshotError` for one that cannot be."""
    loader = _Loader(data, state)
    loader.match()
    loader.cards()
    loader.deck()
    if int(state.phase) == PLAY:
        loader.tricks()
    else:
        loader.nothing_played()
    loader.learned()
    state.acting = loader.acting()


def _require(condition: Any, problem: str) -> None:
    if not condition:
        raise SnapshotError(problem)


def _card(name: Any) -> int:
    _require(isinstance(name, str) and name in CARD_NUMBERS, f"there is no card {name!r}")
    return CARD_NUMBERS[name]


def _card_or_none(name: Any) -> int:
    return NONE if name is None else _card(name)


class _Loader:
    """Reads a snapshot into a record, step by step from the match to the trick."""

    def __init__(self, data: dict[str, Any], state: Any) -> None:
        self.data, self.state = data, state
        self.players, self.sides = int(state.players), int(state.sides)
        self.straw, self.suitors = self.players == 2, int(state.variant) != BASE

    def _list(self, key: str, length: int, default: Any = None) -> list[Any]:
        """The key's list, with one entry a seat or side."""
        value: Any = self.data[key] if default is None else self.data.get(key)
        if value is None and default is not None:
            return [default for _ in range(length)]
        _require(
            isinstance(value, list | tuple) and len(value) == length, f"{key} is a list of {length}, not {value!r}"
        )
        return list(value)

    def _number(self, value: Any, key: str, low: int, high: int) -> int:
        _require(
            type(value) is int and low <= value <= high, f"{key} is a whole number from {low} to {high}, not {value!r}"
        )
        return int(value)

    def _seat(self, key: str) -> int:
        value = self.data.get(key)
        return NONE if value is None else self._number(value, key, 0, self.players - 1)

    def match(self) -> None:
        """Phase, round, scores and seals."""
        state, data = self.state, self.data
        phases = ("discard", "exchange", "keep", "play") if self.straw else ("pass", "play")
        _require(data["phase"] in phases, f"phase is one of {', '.join(phases)}, not {data['phase']!r}")
        state.phase = PHASES.index(data["phase"])
        state.round_number = self._number(data["round"], "round", 1, int(state.max_rounds))
        if self.suitors:
            for side, suits in enumerate(self._list("sealed", 2)):
                state.sealed[side] = self._suit_bits(suits, "sealed")
                _require(len(suits) < state.target, f"side {side} has sealed {len(suits)} suits and won already")
            shared = int(state.sealed[0]) & int(state.sealed[1])
            _require(
                state.variant != SUITORS_SHORT or not shared, f"both sides have sealed {', '.join(suit_names(shared))}"
            )
            return
        for side, score in enumerate(self._list("scores", self.sides)):
            state.scores[side] = self._number(score, "a score before the end", 0, int(state.target) - 1)

    def _suit_bits(self, suits: Any, key: str) -> int:
        _require(isinstance(suits, list | tuple), f"{key} holds a list of suits a seat or side, not {suits!r}")
        for suit in suits:
            _require(suit in SUITS, f"{key} names suits such as 'Wind', not {suit!r}")
        _require(len(set(suits)) == len(suits), f"a suit stands twice in {key}")
        return sum(1 << SUITS.index(suit) for suit in suits)

    def cards(self) -> None:
        """Where every card is."""
        state = self.state
        for seat, cards in enumerate(self._list("hands", self.players)):
            state.hand[seat] = self._set(cards, "hands")
        for seat, cards in enumerate(self._list("played", self.players)):
            state.played[seat] = self._set(cards, "played")
        state.passes[:] = NONE
        if not self.straw:
            passing = int(state.phase) == PASS
            for seat, names_of in enumerate(self._list("passes", self.players, [])):
                cards, most = self._cards(names_of, "passes"), 3 if passing else 0
                _require(len(cards) <= most, f"passes: seat {seat} has {len(cards)} in phase {PHASES[state.phase]}")
                state.passes[seat, : len(cards)] = cards
        trump_card, trump = _card_or_none(self.data.get("trump_card")), self.data.get("trump")
        state.trump_card = trump_card
        if self.suitors:
            _require(trump_card == NONE, "Seven Suitors has no trump card")
            _require(trump is None or trump in SUITS, f"trump is the name of a suit or null, not {trump!r}")
            state.trump = NONE if trump is None else SUITS.index(trump)
        else:
            _require(trump_card != NONE, "trump_card is missing")
            state.trump = SUIT_OF[trump_card]
            _require(
                trump in (None, SUITS[state.trump]),
                f"trump is {trump!r}, but the trump card says {SUITS[state.trump]!r}",
            )
        if self.straw:
            self._straw()

    def _cards(self, names_of: Any, key: str) -> list[int]:
        _require(isinstance(names_of, list | tuple), f"{key} holds lists of cards, not {names_of!r}")
        cards = [_card(name) for name in names_of]
        _require(len(set(cards)) == len(cards), f"a card stands twice in {key}")
        return cards

    def _set(self, names_of: Any, key: str) -> int:
        return bits_of(self._cards(names_of, key))

    def _straw(self) -> None:
        state = self.state
        state.bare[:] = 0
        state.seen_down[:] = 0
        for seat, pile in enumerate(self._list("straw", 2)):
            for key, size, places in (("down", DOWN, state.straw_down), ("up", UP, state.straw_up)):
                _require(len(pile[key]) == size, f"straw has {size} places {key}, not {len(pile[key])}")
                places[seat] = [_card_or_none(name) for name in pile[key]]
            for place in range(UP):
                below = state.straw_down[seat, place] != NONE and state.straw_down[seat, place + 1] != NONE
                _require(
                    state.straw_up[seat, place] == NONE or below,
                    f"straw of seat {seat}: place {place} up covers nothing",
                )
        for seat, name in enumerate(self._list("discards", 2)):
            state.discards[seat] = _card_or_none(name)
            _require(name is None or not _is_boss(state.discards[seat]), f"{name} is a boss and cannot be discarded")
        for key, table, field in (("exchanges", EXCHANGES, state.exchanges), ("keeps", KEEPS, state.keeps)):
            for seat, choice in enumerate(self._list(key, 2, ())):
                known = choice in (None, (), *table)
                _require(known, f"{key} holds null or a choice such as {table[-1]!r}, not {choice!r}")
                field[seat] = table.index(choice) if choice in table else NONE

    def deck(self) -> None:
        """Every card of the deck lies in exactly one place, and everybody has had as many."""
        state = self.state
        total = CARDS_WITH_FOILS if self.suitors else CARDS
        seen: list[int] = on_places([state.trump_card])
        for seat in range(self.players):
            own = members(state.hand[seat]) + members(state.played[seat])
            if self.straw:
                own += (
                    on_places(state.straw_down[seat])
                    + on_places(state.straw_up[seat])
                    + on_places([state.discards[seat]])
                )
            elif int(state.phase) == PASS:
                own += on_places(state.passes[seat])
            dealt = int(state.hand_cards) + (UP + DOWN if self.straw else 0)
            _require(len(own) == dealt, f"seat {seat} has {len(own)} cards in all places together instead of {dealt}")
            seen += own
        _require(max(seen) < total, f"{CARD_NAMES[max(seen)]} is not in this variant's deck")
        for card in range(total):
            count = seen.count(card)
            _require(count == 1, f"{CARD_NAMES[card]} is {'missing' if not count else f'in {count} places'}")

    def nothing_played(self) -> None:
        """Before the first trick nothing is played, taken or led, and choices fit the phase."""
        state, phase = self.state, int(self.state.phase)
        state.trick[:] = NONE
        state.trick_size = 0
        state.captured[:] = 0
        state.tricks[:] = 0
        for key in ("trick", "played", "captured"):
            value = self.data.get(key) or []
            _require(not any(value), f"{key} is not empty in phase {PHASES[phase]}")
        _require(not any(self.data.get("tricks") or []), f"tricks is not 0 in phase {PHASES[phase]}")
        lead = self._seat("lead")
        if self.straw:
            _require(phase > DISCARD or all(state.exchanges == NONE), "exchanges come after the discards")
            _require(phase == KEEP or all(state.keeps == NONE), "keeps come after the exchanges")
            _require(phase == DISCARD or all(state.discards != NONE), f"a discard is missing in phase {PHASES[phase]}")
            state.lead = (int(state.round_number) - 1) % 2
            _require(lead in (NONE, state.lead), f"lead is {lead}, but seat {state.lead} deals this round and leads")
            for seat in range(2):
                cards = on_places(state.straw_up[seat])
                _require(
                    len(cards) + len(on_places(state.straw_down[seat])) == UP + DOWN,
                    f"straw of seat {seat} has empty places in phase {PHASES[phase]}",
                )
                state.bare[seat] = bits_of(cards)
                self._straw_choices(seat)
            return
        _require(not self.suitors or state.trump == NONE, "trump is set by the first lead")
        later = not self.suitors and int(state.round_number) > 1
        _require(lead == NONE or later, f"lead is {lead}, but who leads this round is unknown until all have passed")
        _require(lead != NONE or not later, "lead is missing: the last trick's winner leads a later round")
        state.lead = lead

    def _straw_choices(self, seat: int) -> None:
        """A seat's exchange fits its straw pile."""
        state, phase, choice = self.state, int(self.state.phase), int(self.state.exchanges[seat])
        if choice in (NONE, len(EXCHANGES) - 1):
            return
        up, down = choice // 2, choice // 2 + choice % 2
        boss = state.straw_up[seat, up] if phase == EXCHANGING else state.straw_down[seat, down]
        # Later the boss may have been played, or put back; then nothing more can be told.
        if phase != PLAY:
            _require(_is_boss(boss), f"seat {seat} chose {EXCHANGES[choice]!r}, but has no boss there")
        if phase in (KEEP, PLAY):
            state.seen_down[seat] = 1 << down

    def tricks(self) -> None:
        """The current trick, its leader, and what was captured in the tricks before."""
        state = self.state
        state.lead = self._seat("lead")
        _require(state.lead != NONE, "lead is missing")
        trick = self.data["trick"]
        _require(len(trick) < self.players, f"trick holds {len(trick)} cards, a complete one is taken at once")
        state.trick[:] = NONE
        state.trick_size = len(trick)
        for k, (seat, name) in enumerate(trick):
            expected = (int(state.lead) + k) % self.players
            _require(seat == expected, f"trick: seat {seat!r} played where it was the turn of seat {expected}")
            card = _card(name)
            _require(
                int(state.played[seat]) >> card & 1, f"{name} lies in the trick but is not in played of seat {seat}"
            )
            state.trick[seat] = card
            led = SUIT_OF[state.trick[state.lead]]
            void = SUIT_OF[card] != led
            revoked = void and any(SUIT_OF[held] == led for held in members(state.hand[seat]))
            _require(not revoked, f"trick: seat {seat} played {name} without following {SUITS[led]}, which it holds")
            state.void[seat] = void << led  # this void lies on the table
        counts = [len(members(state.played[s])) - (state.trick[s] != NONE) for s in range(self.players)]
        _require(len(set(counts)) == 1, f"seats have played {counts} cards to complete tricks")
        done = counts[0]
        taken = [self._number(n, "tricks", 0, 23) for n in self._list("tricks", self.sides)]
        state.tricks[: self.sides] = taken
        _require(sum(taken) == done, f"tricks are {taken}, but {done} were played")
        if self.straw:
            _require(all(state.discards != NONE), "a discard is missing in phase play")
            for seat in range(2):
                held, most = len(members(state.hand[seat])), int(state.hand_cards) - 1
                _require(held <= most, f"seat {seat} holds {held} cards, after the discard at most {most}")
                self._straw_choices(seat)
        left = any(int(hand) for hand in state.hand) or (self.straw and (state.straw_down != NONE).any())
        _require(left, "no cards are left, the round is over")
        self._captures()
        if self.suitors:
            started = done > 0 or len(trick) > 0
            _require(started == (state.trump != NONE), "trump is set by the first lead, and only then")
            if trick and not done:
                led = SUITS[SUIT_OF[state.trick[state.lead]]]
                _require(state.trump == SUITS.index(led), f"trump is {self.data['trump']!r}, but {led} was led first")

    def _captures(self) -> None:
        state = self.state
        taken = 0
        state.captured[:] = 0
        for side, cards in enumerate(self._list("captured", self.sides)):
            bosses = self._set(cards, "captured")
            _require(bosses & ~int(BOSSES) == 0, "captured holds bosses only")
            _require(bosses & taken == 0, "a boss is captured by two sides")
            taken |= bosses
            state.captured[side] = sum(1 << index for index in range(14) if bosses >> boss_card(index) & 1)
        played = bits_of(c for seat in range(self.players) for c in members(state.played[seat]))
        current = bits_of(on_places(state.trick))
        expected = played & ~current & int(BOSSES)
        _require(
            taken == expected,
            f"bosses of complete tricks are {names(members(expected))}, captured {names(members(taken))}",
        )
        for side in range(self.sides):
            self._not_ended(side)

    def _not_ended(self, side: int) -> None:
        """A side that has ended the round cannot still be playing it."""
        state = self.state
        bosses, tricks = len(captured_cards(state, side)), int(state.tricks[side])
        _require(bosses == 0 or tricks > 0, f"side {side} has captured bosses without a trick")
        if self.suitors:
            pairs = int(state.captured[side]) & int(state.captured[side]) >> 7
            sealed = int(state.sealed[side])
            if state.variant == SUITORS_SHORT:
                sealed |= int(state.sealed[1 - side])
            _require(
                pairs & ~sealed == 0,
                f"side {side} has both sevens of {', '.join(suit_names(pairs & ~sealed))} without sealing it",
            )
            return
        need, limit = (3 if self.players == 3 else 4), (13 if self.straw else 7)
        _require(bosses < need, f"side {side} has {bosses} bosses, the round is over")
        _require(tricks < limit, f"side {side} has {tricks} tricks, the round is over")

    def learned(self) -> None:
        """What seats have seen; missing keys mean nothing."""
        state = self.state
        for seat, suits in enumerate(self._list("voids", self.players, ())):
            state.void[seat] |= self._suit_bits(suits, "voids")
            held = {int(SUIT_OF[card]) for card in members(state.hand[seat])}
            for suit in held:
                _require(not int(state.void[seat]) >> suit & 1, f"voids: seat {seat} holds {SUITS[suit]} cards")
        state.shown_by = self._seat("shown_by")
        if self.straw:
            self._open_straw()
            return
        if int(state.phase) == PLAY:
            for seat, names_of in enumerate(self._list("sent", self.players, ())):
                cards = self._cards(names_of, "sent")
                _require(len(cards) in (0, 3), f"sent: seat {seat} passed {len(cards)} cards instead of 3")
                for k, card in enumerate(cards):
                    self._sent(seat, k, card)
        self._shown()

    def _sent(self, seat: int, k: int, card: int) -> None:
        state = self.state
        receiver = (seat + 1 + k) % 4 if self.suitors else (seat + (2 if self.players == 4 else 1)) % self.players
        there = int(state.hand[receiver]) | int(state.played[receiver])
        _require(
            there >> card & 1, f"sent: {CARD_NAMES[card]} of seat {seat} is not with its receiver, seat {receiver}"
        )
        state.passes[seat, k] = card

    def _shown(self) -> None:
        """Whoever showed the A (or Snow 13) had it, and may have passed it on."""
        state, seat = self.state, int(self.state.shown_by)
        if seat == NONE:
            return
        _require(int(state.phase) == PLAY, "shown_by is unknown before play")
        card = SNOW_13 if state.trump_card == THE_A else THE_A
        reach = {seat}
        if not state.lead_held:
            reach |= (
                {(seat + k) % 4 for k in (1, 2, 3)}
                if self.suitors
                else {(seat + (2 if self.players == 4 else 1)) % self.players}
            )
        where = [s for s in range(self.players) if (int(state.hand[s]) | int(state.played[s])) >> card & 1]
        _require(where[0] in reach, f"shown_by is {seat}, but {CARD_NAMES[card]} is with seat {where[0]}")

    def _open_straw(self) -> None:
        """Straw cards that lie open: given, or everything uncovered."""
        state = self.state
        for seat, given in enumerate(self._list("bare", 2, ())):
            up = bits_of(on_places(state.straw_up[seat]))
            free = bits_of(
                int(card)
                for place, card in enumerate(state.straw_down[seat])
                if card != NONE and not _covered(state, seat, place)
            )
            bare = self._set(given, "bare") if given != () else up | free
            _require(bare & up == up and bare & ~(up | free) == 0, f"bare: seat {seat} has other open straw cards")
            _require(
                (state.late_reveal and state.trick_size) or bare == up | free,
                f"bare: seat {seat} has turned-up cards missing",
            )
            state.bare[seat] = bare
            for place, card in enumerate(state.straw_down[seat]):
                if card == NONE or bare >> int(card) & 1:
                    state.seen_down[seat] |= 1 << place

    def acting(self) -> int:
        """The seats that must decide now."""
        state, phase = self.state, int(self.state.phase)
        if phase == PLAY:
            return 1 << (int(state.lead) + int(state.trick_size)) % self.players
        waiting = [seat for seat in range(self.players) if self._undecided(seat, phase)]
        _require(waiting, f"everybody has chosen, phase {PHASES[phase]} is over")
        return sum(1 << seat for seat in waiting)

    def _undecided(self, seat: int, phase: int) -> bool:
        state = self.state
        if phase == PASS:
            return bool(state.passes[seat, 2] == NONE)
        if phase == DISCARD:
            return bool(state.discards[seat] == NONE)
        choice = int(state.exchanges[seat])
        if phase == EXCHANGING:
            bosses = any(_is_boss(card) for card in state.straw_up[seat])
            _require(bosses or choice == NONE, f"seat {seat} has no boss to exchange")
            return bosses and choice == NONE
        face_up = any(_is_boss(card) for card in state.straw_up[seat])
        _require(choice != NONE or not face_up, f"exchanges: seat {seat} has a face-up boss and has not chosen")
        asked = choice not in (NONE, len(EXCHANGES) - 1) and _is_boss(state.straw_up[seat, choice // 2])
        _require(asked or state.keeps[seat] == NONE, f"seat {seat} has no choice of bosses to keep")
        return asked and bool(state.keeps[seat] == NONE)


def _is_boss(card: Any) -> bool:
    return bool(card != NONE and int(BOSSES) >> int(card) & 1)


def _covered(state: Any, seat: int, place: int) -> bool:
    above = [p for p in (place - 1, place) if 0 <= p < UP]
    return any(state.straw_up[seat, p] != NONE for p in above)
