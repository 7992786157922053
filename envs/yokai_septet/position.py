"""Positions of Yokai Septet as JSON, out and in; what comes in is checked against the rules."""

from collections.abc import Sequence
from typing import Any

from ..core.bits import bits_of, has, members
from ..core.snapshots import Reader, read_list, read_name, read_names, read_number, require, require_once
from . import rules, text
from .rules import BASE, BOSSES, DISCARD, EXCHANGING, KEEP, NONE, PASS, PLAY, SUIT_OF, SUITS
from .text import captured_cards, card_name, names, on_places, suit_names, trick_cards

_SUIT_NUMBERS = {name: suit for suit, name in enumerate(SUITS)}


def snapshot(state: Any) -> dict[str, Any]:
    """The position in names (the game's part of it)."""
    seats, sides = range(int(state.players)), range(int(state.sides))
    straw, suitors, passing = int(state.players) == 2, int(state.variant) != BASE, int(state.phase) == PASS
    chosen = [names(on_places(state.passes[seat])) for seat in seats]
    return {
        "phase": text.PHASES[state.phase],
        "round": int(state.round_number),
        "hands": [names(members(state.hand[seat])) for seat in seats],
        "passes": chosen if passing else [[] for _ in seats],
        "straw": [_straw(state, seat) for seat in seats] if straw else None,
        "discards": [card_name(state.discards[seat]) for seat in seats] if straw else None,
        "exchanges": [_choice(text.EXCHANGES, state.exchanges[seat]) for seat in seats] if straw else None,
        "trump": _choice(SUITS, state.trump),
        "trump_card": card_name(state.trump_card),
        "lead": None if state.lead == NONE else int(state.lead),
        "trick": [[seat, text.CARD_NAMES[card]] for seat, card in trick_cards(state)],
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
        "keeps": [_choice(text.KEEPS, state.keeps[seat]) for seat in seats] if straw else None,
    }


def _choice(table: Sequence[str], choice: Any) -> str | None:
    return None if choice == NONE else table[choice]


def _straw(state: Any, seat: int) -> dict[str, Any]:
    rows = {"down": state.straw_down, "up": state.straw_up}
    return {key: [card_name(card) for card in row[seat]] for key, row in rows.items()}


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


def _cards(given: Any, key: str) -> list[int]:
    return read_names(given, key, text.CARD_NUMBERS, "card")


def _suits(given: Any, key: str) -> int:
    return bits_of(read_names(given, key, _SUIT_NUMBERS, "suit"))


def _card_or_none(name: Any, key: str) -> int:
    return NONE if name is None else read_name(name, key, text.CARD_NUMBERS, "card")


def _is_boss(card: Any) -> bool:
    return bool(card != NONE and has(BOSSES, card))


class _Loader(Reader):
    """Reads a snapshot into a record, step by step from the match to the trick."""

    def __init__(self, data: dict[str, Any], state: Any) -> None:
        super().__init__(data, state)
        self.sides, self.straw, self.suitors = int(state.sides), self.players == 2, int(state.variant) != BASE

    def _seat(self, key: str) -> int:
        return self.number(key, 0, self.players - 1, default=NONE)

    # --- The match, and where the cards are ---

    def match(self) -> None:
        """Phase, round, scores and seals; keys of other variants are null or absent."""
        state = self.state
        other = ["sent", "shown_by"] if self.straw else ["straw", "discards", "exchanges", "keeps", "bare"]
        for key in other + (["scores", "trump_card"] if self.suitors else ["sealed"]):
            require(self.data.get(key) is None, f"{key} has no meaning in this variant, but is {self.data.get(key)!r}")
        state.phase = self.phase(text.PHASES, text.PHASES[DISCARD:] if self.straw else ("pass", "play"))
        state.round_number = self.number("round", 1, int(state.max_rounds))
        if not self.suitors:
            for side, score in enumerate(self.rows("scores", self.sides)):
                state.scores[side] = read_number(score, "each of scores before the end", 0, int(state.target) - 1)
            return
        for side, suits in enumerate(self.rows("sealed", 2)):
            state.sealed[side] = _suits(suits, "sealed")
            require(len(suits) < state.target, f"side {side} has sealed {len(suits)} suits and won already")
        shared = suit_names(state.sealed[0] & state.sealed[1])
        require(state.variant != rules.SUITORS_SHORT or not shared, f"both sides have sealed {', '.join(shared)}")

    def cards(self) -> None:
        """Where every card is."""
        state = self.state
        for key, hands in (("hands", state.hand), ("played", state.played)):
            for seat, given in enumerate(self.rows(key)):
                hands[seat] = bits_of(_cards(given, key))
        state.passes[:] = NONE
        most = 3 if int(state.phase) == PASS else 0
        for seat, given in enumerate(self.optional_rows("passes", [])):
            chosen = _cards(given, "passes")
            require(len(chosen) <= most, f"passes: seat {seat} has {len(chosen)} in phase {text.PHASES[state.phase]}")
            state.passes[seat, : len(chosen)] = chosen
        self._trump()
        if self.straw:
            self._straw()

    def _trump(self) -> None:
        """The trump suit: that of the trump card, in Seven Suitors that of the first lead."""
        state, card, trump = self.state, self.data.get("trump_card"), self.data.get("trump")
        require(trump is None or trump in SUITS, f"trump is the name of a suit or null, not {trump!r}")
        state.trump_card = NONE
        state.trump = NONE if trump is None else SUITS.index(trump)
        if not self.suitors:
            require(card is not None, "trump_card is missing")
            state.trump_card = _card_or_none(card, "trump_card")
            state.trump = SUIT_OF[state.trump_card]
            suit = SUITS[state.trump]
            require(trump in (None, suit), f"trump is {trump!r}, but the trump card says {suit!r}")

    def _straw(self) -> None:
        """Straw piles, discards, and what was chosen."""
        state = self.state
        state.bare[:] = 0
        state.seen_down[:] = 0
        for seat, pile in enumerate(self.rows("straw")):
            require(isinstance(pile, dict), f"each of straw is a dict with down and up, not {pile!r}")
            for key, places in (("down", state.straw_down[seat]), ("up", state.straw_up[seat])):
                row = read_list(pile.get(key), f"straw: {key}", len(places))
                places[:] = [_card_or_none(name, "straw") for name in row]
            for place in range(rules.UP):
                below = state.straw_down[seat, place : place + 2]
                covers = state.straw_up[seat, place] == NONE or all(below != NONE)
                require(covers, f"straw of seat {seat}: place {place} up covers nothing")
        for seat, name in enumerate(self.rows("discards")):
            state.discards[seat] = _card_or_none(name, "discards")
            require(not _is_boss(state.discards[seat]), f"{name} is a boss and cannot be discarded")
        for key, table, field in (("exchanges", text.EXCHANGES, state.exchanges), ("keeps", text.KEEPS, state.keeps)):
            for seat, choice in enumerate(self.optional_rows(key, None)):
                known = choice in (None, *table)
                require(known, f"{key} holds null or a choice such as {table[-1]!r}, not {choice!r}")
                field[seat] = NONE if choice is None else table.index(choice)

    def deck(self) -> None:
        """Every card of the deck lies in exactly one place, and everybody has had as many."""
        state = self.state
        dealt = int(state.hand_cards) + int(state.straw) + rules.straw_below(state)
        found = on_places([state.trump_card])
        for seat in self.seats:
            own = members(state.hand[seat]) + members(state.played[seat]) + on_places(state.passes[seat])
            if self.straw:
                own += on_places((*state.straw_down[seat], *state.straw_up[seat], state.discards[seat]))
            require(len(own) == dealt, f"seat {seat} has {len(own)} cards in all places together instead of {dealt}")
            found += own
        deck = members(state.deck)
        for card in found:
            require(card in deck, f"{text.CARD_NAMES[card]} is not in this variant's deck")
        require_once(found, {card: text.CARD_NAMES[card] for card in deck})

    # --- Before play ---

    def nothing_played(self) -> None:
        """Before the first trick nothing is played, taken or led, and choices fit the phase."""
        state, phase = self.state, text.PHASES[self.state.phase]
        state.trick[:] = NONE
        state.trick_size = 0
        state.captured[:] = 0
        state.tricks[:] = 0
        trick = self.data.get("trick")
        there = {
            "trick": trick is not None and read_list(trick, "trick"),
            "played": any(state.played),
            "captured": any(_cards(cards, "captured") for cards in self.optional_rows("captured", [], self.sides)),
            "tricks": any(self._numbers_of_tricks(self.optional_rows("tricks", 0, self.sides))),
        }
        for key, something in there.items():
            require(not something, f"{key} is not empty or 0 in phase {phase}")
        lead = self._seat("lead")
        if self.straw:
            state.lead = rules.dealer(state)
            require(lead in (NONE, state.lead), f"lead is {lead}, but seat {state.lead} deals this round and leads")
            self._choices()
            return
        require(state.trump == NONE or not self.suitors, "trump is set by the first lead")
        later = not self.suitors and int(state.round_number) > 1
        require(lead == NONE or later, f"lead is {lead}, but who leads this round is unknown until all have passed")
        require(lead != NONE or not later, "lead is missing: the last trick's winner leads a later round")
        state.lead = lead

    def _choices(self) -> None:
        """Two players: which choices there can be in a phase."""
        state, phase, name = self.state, int(self.state.phase), text.PHASES[self.state.phase]
        require(phase > DISCARD or all(state.exchanges == NONE), "exchanges come after the discards")
        require(phase >= KEEP or all(state.keeps == NONE), "keeps come after the exchanges")
        require(phase == DISCARD or all(state.discards != NONE), f"a discard is missing in phase {name}")
        for seat in self.seats:
            if phase < PLAY:
                up, below = int(state.straw), rules.straw_below(state)
                full = all(state.straw_up[seat, :up] != NONE) and all(state.straw_down[seat, :below] != NONE)
                require(full, f"straw of seat {seat} has empty places in phase {name}")
            else:
                held, most = len(members(state.hand[seat])), int(state.hand_cards) - 1
                require(held <= most, f"seat {seat} holds {held} cards, after the discard at most {most}")
                exchanged = rules.changes_places(int(state.exchanges[seat]))
                require(exchanged or state.keeps[seat] == NONE, f"keeps: seat {seat} has exchanged nothing")
            self._exchange(seat)

    def _exchange(self, seat: int) -> None:
        """A seat's exchange fits its straw pile, and shows a lower card."""
        state, phase, choice = self.state, int(self.state.phase), int(self.state.exchanges[seat])
        if not rules.changes_places(choice):
            return
        up, down = rules.exchanged_places(choice)
        boss = state.straw_up[seat, up] if phase == EXCHANGING else state.straw_down[seat, down]
        # In play the boss may have been played, or put back.
        possible = phase == PLAY or _is_boss(boss)
        require(possible, f"seat {seat} chose {text.EXCHANGES[choice]!r}, but has no boss there")
        if phase in (KEEP, PLAY):
            state.seen_down[seat] = 1 << down

    # --- Tricks ---

    def tricks(self) -> None:
        """The current trick, its leader, and what was captured in the tricks before."""
        state = self.state
        state.lead = self._seat("lead")
        require(state.lead != NONE, "lead is missing")
        self._trick()
        counts = [len(members(state.played[seat])) - int(state.trick[seat] != NONE) for seat in self.seats]
        require(len(set(counts)) == 1, f"seats have played {counts} cards to complete tricks")
        done = counts[0]
        taken = self._numbers_of_tricks(self.rows("tricks", self.sides))
        state.tricks[: self.sides] = taken
        require(sum(taken) == done, f"tricks are {taken}, but {done} were played")
        if self.straw:
            self._choices()
        left = any(state.hand) or (self.straw and (state.straw_down != NONE).any())
        require(left, "no cards are left, the round is over")
        self._captures()
        if self.suitors:
            started = done > 0 or state.trick_size > 0
            require(started == (state.trump != NONE), "trump is set by the first lead, and only then")
            if started and not done:
                led = SUIT_OF[state.trick[state.lead]]
                require(state.trump == led, f"trump is {self.data['trump']!r}, but {SUITS[led]} was led first")

    @staticmethod
    def _numbers_of_tricks(counts: list[Any]) -> list[int]:
        return [read_number(count, "each of tricks", 0, 23) for count in counts]

    def _trick(self) -> None:
        """The cards of the current trick; who could not follow is void."""
        state, trick = self.state, self.data["trick"]
        entries = trick if isinstance(trick, list | tuple) else [None]
        fits = all(isinstance(entry, list | tuple) and len(entry) == 2 for entry in entries)
        require(fits, f"trick is a list of pairs [seat, card], not {trick!r}")
        require(len(trick) < self.players, f"trick holds {len(trick)} cards, a complete one is taken at once")
        state.trick[:] = NONE
        state.trick_size = len(trick)
        for k, (seat, name) in enumerate(trick):
            expected = (int(state.lead) + k) % self.players
            in_turn = type(seat) is int and seat == expected
            require(in_turn, f"trick: seat {seat!r} played where it was the turn of seat {expected}")
            card = read_name(name, "trick", text.CARD_NUMBERS, "card")
            require(has(state.played[seat], card), f"trick: {name} is not in played of seat {seat}")
            state.trick[seat] = card
            led = SUIT_OF[state.trick[state.lead]]
            void = SUIT_OF[card] != led
            revoked = void and any(SUIT_OF[held] == led for held in members(state.hand[seat]))
            require(not revoked, f"trick: seat {seat} played {name} without following {SUITS[led]}, which it holds")
            state.void[seat] = void << led

    def _captures(self) -> None:
        """Captured are the bosses of complete tricks, and nobody has ended the round with them."""
        state, taken = self.state, 0
        state.captured[:] = 0
        for side, cards in enumerate(self.rows("captured", self.sides)):
            bosses = bits_of(_cards(cards, "captured"))
            require(bosses & ~int(BOSSES) == 0, "captured holds bosses only")
            require(bosses & taken == 0, "captured: a boss is with two sides")
            taken |= bosses
            state.captured[side] = sum(int(rules.BOSS_BIT[card]) for card in members(bosses))
        played = sum(map(int, state.played[: self.players]))
        expected = names(members(played & ~bits_of(on_places(state.trick)) & int(BOSSES)))
        given = names(members(taken))
        require(given == expected, f"bosses of complete tricks are {expected}, captured {given}")
        for side in range(self.sides):
            self._not_ended(side)

    def _not_ended(self, side: int) -> None:
        """A side that has ended the round cannot still be playing it."""
        state = self.state
        bosses, tricks = len(captured_cards(state, side)), int(state.tricks[side])
        require(bosses == 0 or tricks > 0, f"side {side} has captured bosses without a trick")
        if self.suitors:
            sealed = int(state.sealed[side])
            if state.variant == rules.SUITORS_SHORT:
                sealed |= int(state.sealed[1 - side])
            missing = suit_names(int(rules.pairs(state.captured[side])) & ~sealed)
            require(not missing, f"side {side} has both sevens of {', '.join(missing)} without sealing it")
            return
        require(bosses < state.bosses_to_win, f"side {side} has {bosses} bosses, the round is over")
        require(tricks < state.tricks_to_lose, f"side {side} has {tricks} tricks, the round is over")

    # --- What seats have learned ---

    def learned(self) -> None:
        """What seats have seen; missing keys mean nothing."""
        state = self.state
        playing = int(state.phase) == PLAY
        for seat, suits in enumerate(self.optional_rows("voids", [])):
            void = _suits(suits, "voids")
            require(playing or not void, "voids are unknown before play")
            state.void[seat] |= void
            for card in members(state.hand[seat]):
                void_of = has(state.void[seat], SUIT_OF[card])
                require(not void_of, f"voids: seat {seat} holds {text.CARD_NAMES[card]}")
        state.shown_by = self._seat("shown_by")
        if self.straw:
            self._open_straw()
            return
        for seat, given in enumerate(self.optional_rows("sent", [])):
            cards = _cards(given, "sent")
            require(len(cards) in (0, 3), f"sent: seat {seat} passed {len(cards)} cards instead of 3")
            require(playing or not cards, "sent is empty before play")
            for k, card in enumerate(cards):
                receiver = rules.pass_target(state, seat, k)
                there = has(state.hand[receiver] | state.played[receiver], card)
                require(there, f"sent: {card_name(card)} of seat {seat} is not with its receiver, seat {receiver}")
                state.passes[seat, k] = card
        passed = on_places(state.passes[: self.players].reshape(-1))
        twice = names(sorted({card for card in passed if passed.count(card) > 1}))
        require(not twice, f"sent: two seats passed {' '.join(twice)}")
        self._shown()

    def _shown(self) -> None:
        """Whoever showed the A (or Snow 13) had it, may have passed it on, and led first."""
        state, seat = self.state, int(self.state.shown_by)
        if seat == NONE:
            return
        require(int(state.phase) == PLAY, "shown_by is unknown before play")
        first_round = int(state.round_number) == 1
        require(self.suitors or first_round, f"shown_by is {seat}, but nobody shows a card in a later round")
        led_first = any(state.tricks) or state.lead == seat
        require(led_first, f"shown_by is {seat}, but seat {state.lead} leads first")
        card = rules.shown_card(state.trump_card)
        reach = {seat} if state.lead_held else {seat, *(rules.pass_target(state, seat, k) for k in range(3))}
        [owner] = [other for other in self.seats if has(state.hand[other] | state.played[other], card)]
        require(owner in reach, f"shown_by is {seat}, but {text.CARD_NAMES[card]} is with seat {owner}")
        if not state.lead_held:
            self._way_of_shown(card, seat, owner)

    def _way_of_shown(self, card: int, dealt_to: int, owner: int) -> None:
        """Only who was dealt the shown card can have passed it, and has, where another seat has it now."""
        passes, name = self.state.passes, text.CARD_NAMES[card]
        for giver in self.seats:
            passed = card in passes[giver]
            require(not passed or giver == dealt_to, f"sent: {name} of seat {giver} was dealt to seat {dealt_to}")
        kept = owner == dealt_to or passes[dealt_to, 0] == NONE or card in passes[dealt_to]
        require(kept, f"sent: {name} came from seat {dealt_to} to seat {owner}, but is not among what that one passed")

    def _open_straw(self) -> None:
        """Straw cards that lie open: given, or everything uncovered."""
        state, given = self.state, self.data.get("bare")
        for seat, cards in enumerate(self.optional_rows("bare", [])):
            up = bits_of(on_places(state.straw_up[seat]))
            lower = (state.straw_down[seat, place] for place in members(rules.uncovered(state, seat)))
            uncovered = up | bits_of(on_places(lower))
            bare = uncovered if given is None else bits_of(_cards(cards, "bare"))
            covered = names(members(bare & ~uncovered))
            require(not covered, f"bare: {' '.join(covered)} of seat {seat} is not an uncovered straw card")
            # What a seat bares is turned up late, but before its next card.
            turned = up if state.late_reveal and state.trick[seat] != NONE else uncovered
            missing = names(members(turned & ~bare))
            require(not missing, f"bare: {' '.join(missing)} of seat {seat} lies open too")
            state.bare[seat] = bare
            for place, card in enumerate(state.straw_down[seat]):
                if card == NONE or bare >> int(card) & 1:
                    state.seen_down[seat] |= 1 << place

    # --- Who decides ---

    def acting(self) -> int:
        """The seats that must decide now."""
        state, phase = self.state, int(self.state.phase)
        if phase == PLAY:
            return 1 << (int(state.lead) + int(state.trick_size)) % self.players
        waiting = [seat for seat in self.seats if self._undecided(seat, phase)]
        require(waiting, f"everybody has chosen, phase {text.PHASES[phase]} is over")
        return bits_of(waiting)

    def _undecided(self, seat: int, phase: int) -> bool:
        state = self.state
        if phase == PASS:
            return bool(state.passes[seat, 2] == NONE)
        if phase == DISCARD:
            return bool(state.discards[seat] == NONE)
        choice, face_up = int(state.exchanges[seat]), any(map(_is_boss, state.straw_up[seat]))
        if phase == EXCHANGING:
            require(face_up or choice == NONE, f"exchanges: seat {seat} has no boss to exchange")
            return face_up and choice == NONE
        require(choice != NONE or not face_up, f"exchanges: seat {seat} has a face-up boss and has not chosen")
        asked = rules.changes_places(choice) and _is_boss(state.straw_up[seat, rules.exchanged_places(choice)[0]])
        require(asked or state.keeps[seat] == NONE, f"keeps: seat {seat} has no choice of bosses to keep")
        return asked and bool(state.keeps[seat] == NONE)
