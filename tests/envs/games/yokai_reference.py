"""Yokai Septet once more, written for reading: the referee that the compiled engine has to agree with.

Cards are names, everything else lists, sets and dicts. Nothing here is shared with the engine. Luck is not modelled:
a deal is read from a snapshot of the engine at the start of a round and only checked for being one.
"""

from typing import Any

SUITS = ("Wind", "Earth", "Charm", "Lightning", "Darkness", "Fire", "Snow")
WHITE = {"Wind": 0, "Earth": 0, "Charm": 1, "Lightning": 1, "Darkness": 1, "Fire": 2, "Snow": 2}
BLACK = {"Wind": 0, "Earth": 1, "Charm": 0, "Lightning": 1, "Darkness": 1, "Fire": 1, "Snow": 1}

DECK = tuple(f"{suit[0]}{rank}" for low, suit in enumerate(SUITS, 1) for rank in range(low, low + 7))
FOILS = tuple(f"{suit[0]}7*" for suit in SUITS)
NUMBER = {card: number for number, card in enumerate(DECK + FOILS)}
BOSSES = frozenset(card for card in DECK + FOILS if card.rstrip("*")[1:] == "7")

_SUIT = {suit[0]: suit for suit in SUITS}


def suit_of(card: str) -> str:
    return _SUIT[card[0]]


def rank_of(card: str) -> int:
    return int(card.rstrip("*")[1:])


def in_order(cards: Any) -> list[str]:
    """Cards as every list of the snapshot that has no order of its own is sorted."""
    return sorted(cards, key=NUMBER.__getitem__)


def trick_winner(trick: list[tuple[int, str]], trump: str) -> int:
    """The seat that takes a complete trick: the A, else the best trump, else the best card of the led suit."""
    for seat, card in trick:
        if card == "W1":
            return seat
    led = suit_of(trick[0][1])
    best = [(seat, card) for seat, card in trick if suit_of(card) == trump]
    best = best or [(seat, card) for seat, card in trick if suit_of(card) == led]
    top = max(rank_of(card) for _, card in best)
    return next(seat for seat, card in best if rank_of(card) == top)  # of two equal sevens the first


class Reference:
    """One match, told move by move what the engine is told."""

    def __init__(self, options: dict[str, Any], snapshot: dict[str, Any]) -> None:
        self.options = options
        self.players = options["players"]
        self.suitors = options["variant"] != "base"
        self.short = options["variant"] == "seven_suitors_short"
        self.side_count = 3 if self.players == 3 else 2
        self.target = options["target"] or (2 if options["scoring"] == "basic" else 7)
        if self.suitors:
            self.target = 4 if self.short else 7
        self.seats = range(self.players)
        self.sides = range(self.side_count)
        self.round = 0
        self.scores = [0] * self.side_count
        self.sealed: list[set[str]] = [set() for _ in self.sides]
        self.lead: int | None = None
        self.over = self.truncated = False
        self.winners: list[int] = []
        self.rewards = [0.0] * self.players
        self.waiting_for_deal = False
        self.deal(snapshot)

    # --- A round begins ---

    def deal(self, snapshot: dict[str, Any]) -> None:
        """Take the cards of a new round from the engine, after checking that they are a deal."""
        self.waiting_for_deal = False
        self.round += 1
        self.hands = [set(hand) for hand in snapshot["hands"]]
        self.trump_card = snapshot["trump_card"]
        self.trump = None if self.suitors else suit_of(self.trump_card)
        straw = snapshot["straw"] if self.players == 2 else []
        self.straw = [{"down": list(pile["down"]), "up": list(pile["up"])} for pile in straw]
        size = {2: 11, 3: 16, 4: 14 if self.suitors else 12}[self.players]
        assert [len(hand) for hand in snapshot["hands"]] == [size] * self.players
        assert all(len(pile["down"]) == 7 and len(pile["up"]) == 6 for pile in self.straw)
        cards = [card for hand in self.hands for card in hand] + ([] if self.suitors else [self.trump_card])
        cards += [card for pile in self.straw for card in pile["down"] + pile["up"]]
        assert in_order(cards) == list(DECK + FOILS if self.suitors else DECK)

        self.phase = "discard" if self.players == 2 else "pass"
        self.passes: list[list[str]] = [[] for _ in self.seats]
        self.sent: list[list[str]] = [[] for _ in self.seats]
        self.shown_by: int | None = None
        self.discards: list[str | None] = [None] * self.players
        self.exchanges: list[str | None] = [None] * self.players
        self.keeps: list[str | None] = [None] * self.players
        self.asked = set(self.seats)
        self.bare = [set(pile["up"]) for pile in self.straw]
        self.trick: list[tuple[int, str]] = []
        self.played: list[set[str]] = [set() for _ in self.seats]
        self.captured: list[set[str]] = [set() for _ in self.sides]
        self.tricks = [0] * self.side_count
        self.voids: list[set[str]] = [set() for _ in self.seats]
        if self.suitors:
            self.lead = None
        elif self.players == 2:
            self.lead = 0 if self.round % 2 == 1 else 1
        elif self.round == 1:
            self.lead = None

    # --- Whose decision, and between what ---

    def to_act(self) -> list[int]:
        if self.over:
            return []
        if self.phase == "play":
            assert self.lead is not None
            return [(self.lead + len(self.trick)) % self.players]
        return sorted(self.asked)

    def legal(self, seat: int) -> set[str]:
        if self.phase == "pass":
            return set(self.hands[seat])
        if self.phase == "discard":
            return self.hands[seat] - BOSSES
        if self.phase == "exchange":
            places = [place for place, card in enumerate(self.straw[seat]["up"]) if card in BOSSES]
            return {"no exchange"} | {f"exchange {place} {way}" for place in places for way in ("left", "right")}
        if self.phase == "keep":
            return {"keep old up", "keep new up"}
        own = self.hands[seat] | (self.bare[seat] if self.straw else set())
        if self.trick:
            led = suit_of(self.trick[0][1])
            own = {card for card in own if suit_of(card) == led} or own
        return own

    # --- Decisions ---

    def step(self, seat: int, action: str) -> None:
        before = self._points()
        {
            "pass": self._pass,
            "discard": self._discard,
            "exchange": self._exchange,
            "keep": self._keep,
            "play": self._play,
        }[self.phase](seat, action)
        self.rewards = self._rewards(before)

    def _pass(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.passes[seat].append(card)
        if len(self.passes[seat]) < 3:
            return
        self.asked.remove(seat)
        if self.asked:
            return
        card_to_show = "S13" if self.trump_card == "W1" else "W1"
        dealt_to = next(s for s in self.seats if card_to_show in self.hands[s] | set(self.passes[s]))
        for giver in self.seats:
            for k, passed in enumerate(self.passes[giver]):
                if self.suitors:
                    taker = (giver + 1 + k) % 4
                else:
                    taker = (giver + 2) % 4 if self.players == 4 else (giver + 1) % 3
                self.hands[taker].add(passed)
        holder = next(s for s in self.seats if card_to_show in self.hands[s])
        if self.suitors or self.round == 1:
            self.shown_by = dealt_to if self.options["first_lead"] == "dealt" else holder
            self.lead = self.shown_by
        self.sent, self.passes = self.passes, [[] for _ in self.seats]
        self.phase = "play"

    def _discard(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.discards[seat] = card
        self.asked.remove(seat)
        if self.asked:
            return
        self.asked = {s for s in self.seats if BOSSES & set(self.straw[s]["up"])}
        self.phase = "exchange" if self.asked else "play"

    def _exchange(self, seat: int, action: str) -> None:
        self.exchanges[seat] = action
        self.asked.remove(seat)
        if self.asked:
            return
        for s in self.seats:
            if self.exchanges[s] not in (None, "no exchange") and self._swap(s) in BOSSES:
                self.asked.add(s)
        self.phase = "keep" if self.asked else "play"

    def exchange_places(self, seat: int) -> tuple[int, int]:
        """The upper and the lower place of a seat's exchange."""
        _, place, way = str(self.exchanges[seat]).split()
        return int(place), int(place) + (way == "right")

    def _swap(self, seat: int) -> str:
        """Exchange the two cards; returns the one that came up."""
        pile = self.straw[seat]
        up, down = self.exchange_places(seat)
        pile["up"][up], pile["down"][down] = pile["down"][down], pile["up"][up]
        self.bare[seat] = set(pile["up"])
        return pile["up"][up]

    def _keep(self, seat: int, action: str) -> None:
        self.keeps[seat] = action
        self.asked.remove(seat)
        if self.asked:
            return
        for s in self.seats:
            if self.keeps[s] == "keep old up":
                self._swap(s)
        self.phase = "play"

    def _turn_up(self, seat: int) -> None:
        pile = self.straw[seat]
        for place, card in enumerate(pile["down"]):
            above = pile["up"][max(place - 1, 0) : place + 1]
            if card is not None and all(cover is None for cover in above):
                self.bare[seat].add(card)

    def _play(self, seat: int, card: str) -> None:
        if self.trick and suit_of(card) != suit_of(self.trick[0][1]):
            self.voids[seat].add(suit_of(self.trick[0][1]))
        if card in self.hands[seat]:
            self.hands[seat].remove(card)
        else:
            for row in self.straw[seat].values():
                row[:] = [None if other == card else other for other in row]
            self.bare[seat].remove(card)
            if self.options["straw_reveal"] == "immediate":
                self._turn_up(seat)
        self.played[seat].add(card)
        self.trick.append((seat, card))
        if self.trump is None:
            self.trump = suit_of(card)
        if len(self.trick) == self.players:
            self._finish_trick()

    # --- A trick ends ---

    def _finish_trick(self) -> None:
        assert self.trump is not None
        winner = trick_winner(self.trick, self.trump)
        side = winner % self.side_count
        self.captured[side] |= {card for _, card in self.trick if card in BOSSES}
        self.tricks[side] += 1
        self.trick = []
        self.lead = winner
        for seat in range(len(self.straw)):
            self._turn_up(seat)
        if self.suitors:
            self._seal(side)
        else:
            self._round_over(side)

    def _unplayed(self) -> set[str]:
        cards = set().union(*self.hands)
        for pile in self.straw:
            cards |= {card for card in pile["down"] + pile["up"] if card is not None}
        return cards

    def _round_over(self, side: int) -> None:
        others = [other for other in self.sides if other != side]
        if len(self.captured[side]) >= (3 if self.players == 3 else 4):
            self._score([side], None)
        elif self.tricks[side] >= (13 if self.players == 2 else 7):
            if self.players != 3:
                self.captured[others[0]] |= self._unplayed() & BOSSES
            self._score(others, side)
        elif not self._unplayed():
            self._score([side], None)

    def _score(self, round_winners: list[int], loser: int | None) -> None:
        for side in round_winners:
            if self.options["scoring"] == "basic":
                self.scores[side] += 1
            elif self.players == 3 and loser is not None:
                self.scores[side] += 3
            else:
                counted = [suit_of(boss) for boss in self.captured[side] if suit_of(boss) != self.trump]
                self.scores[side] += sum(WHITE[suit] for suit in counted)
                if self.players == 3:
                    self.scores[side] += sum(BLACK[suit] for suit in counted)
        if self.options["episode"] == "round":
            self._end(round_winners)
        elif max(self.scores) >= self.target:
            best = [side for side in self.sides if self.scores[side] == max(self.scores)]
            if len(best) > 1:
                assert loser is not None, "a tie follows a round lost by too many tricks"
                best.sort(key=lambda side: (side - loser) % self.side_count)
            self._end(best[:1])
        else:
            self._next_round()

    def _seal(self, side: int) -> None:
        for suit in SUITS:
            both = {f"{suit[0]}7", f"{suit[0]}7*"} <= self.captured[side]
            if both and not (self.short and suit in self.sealed[1 - side]):
                self.sealed[side].add(suit)
        if len(self.sealed[side]) >= self.target:
            self._end([side])
        elif not any(self.hands):
            if self.options["episode"] == "match":
                self._next_round()
            elif len(self.sealed[0]) == len(self.sealed[1]):
                self._end([])
            else:
                self._end([0 if len(self.sealed[0]) > len(self.sealed[1]) else 1])

    def _next_round(self) -> None:
        if self.round == self.options["max_rounds"]:
            self.over = self.truncated = True
        else:
            self.waiting_for_deal = True

    def _end(self, sides: list[int]) -> None:
        self.over = True
        self.winners = [seat for seat in self.seats if seat % self.side_count in sides]

    # --- Rewards ---

    def _points(self) -> list[int]:
        return [len(sealed) for sealed in self.sealed] if self.suitors else list(self.scores)

    def _rewards(self, before: list[int]) -> list[float]:
        n = self.side_count
        if self.options["reward"] == "score":
            change = [new - old for new, old in zip(self._points(), before)]
            by_side = [(change[side] - (sum(change) - change[side]) / (n - 1)) / self.target for side in self.sides]
        else:
            winning = {seat % n for seat in self.winners}
            share = [1 / len(winning) if side in winning else 0.0 for side in self.sides]
            by_side = [n / (n - 1) * (share[side] - 1 / n) if winning else 0.0 for side in self.sides]
        return [by_side[seat % n] for seat in self.seats]

    # --- As a snapshot ---

    def view(self) -> dict[str, Any]:
        """The position under the names of the snapshot schema, and what seats have learned."""
        straw = self.players == 2
        return {
            "phase": self.phase,
            "round": self.round,
            "to_act": self.to_act(),
            "hands": [in_order(hand) for hand in self.hands],
            "passes": [list(cards) for cards in self.passes],
            "straw": self.straw if straw else None,
            "discards": self.discards if straw else None,
            "exchanges": self.exchanges if straw else None,
            "trump": self.trump,
            "trump_card": self.trump_card,
            "lead": self.lead,
            "trick": [[seat, card] for seat, card in self.trick],
            "played": [in_order(cards) for cards in self.played],
            "captured": [in_order(cards) for cards in self.captured],
            "tricks": self.tricks,
            "scores": None if self.suitors else self.scores,
            "sealed": [[s for s in SUITS if s in sealed] for sealed in self.sealed] if self.suitors else None,
            "over": self.over,
            "winners": self.winners,
            "truncated": self.truncated,
            "sent": None if straw else self.sent,
            "shown_by": self.shown_by,
            "voids": [[suit for suit in SUITS if suit in void] for void in self.voids],
            "bare": [in_order(cards) for cards in self.bare] if straw else None,
            "keeps": self.keeps if straw else None,
        }
