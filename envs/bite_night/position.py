"""Positions of Bite Night as JSON, out and in; what comes in is checked against the rules."""

from typing import Any

from ..core.snapshots import SnapshotError, read_number, require
from .rules import (
    BASIC_DESIGNS,
    BURY,
    CARD_NAMES,
    COLOURS,
    DESIGNS,
    GRAB,
    GRAVEYARD,
    GRAVEYARD_ANY,
    GUARD,
    HAND_CARDS,
    LAID_BY,
    LAY,
    NONE,
    RAISE,
    RESURRECTION,
    TILES_A_ROUND,
    chooses_burial,
    claim,
    has_to_choose,
    legal_tiles,
    pass_over,
    rounds,
    to_grab,
    with_card,
)
from .text import (
    CARD_NUMBERS,
    PHASES,
    card_names,
    chosen_names,
    claims_of,
    names_of_tiles,
    open_names,
    pile_of,
    tile_name,
    tile_names,
)

MOST_POINTS = 1_000_000


def snapshot(state: Any) -> dict[str, Any]:
    """The position in names (the game's part of it)."""
    seats = range(int(state.players))
    return {
        "phase": PHASES[state.phase],
        "lap": int(state.lap),
        "round": int(state.round_number),
        "first_player": int(state.first_player),
        "lap_leader": int(state.lap_leader),
        "hands": [card_names(state, state.hand[seat]) for seat in seats],
        "pile": [[seat, CARD_NAMES[card]] for seat, card in pile_of(state)],
        "resolved": int(state.resolved),
        "middle": tile_names(state, state.middle),
        "stacks": [[tile_name(state, tile) for tile in _stack(state, seat) if tile != NONE] for seat in seats],
        "tiles": [tile_names(state, state.tiles[seat]) for seat in seats],
        "graveyard": tile_names(state, state.graveyard),
        "open_cards": open_names(state),
        "choices": [chosen_names(state, seat) for seat in seats],
        "scores": [int(state.scores[seat]) for seat in seats],
        # what the resurrecting seat may still raise, by colour
        "claims": claims_of(state) if state.phase == RAISE else None,
    }


def _stack(state: Any, seat: int) -> Any:
    """A seat's places in `stacks`."""
    height = TILES_A_ROUND * rounds(state.players)
    return state.stacks[seat * height : (seat + 1) * height]


def load(data: dict[str, Any], state: Any) -> None:
    """Write a position into a record that holds the options; raises `SnapshotError` for one that cannot be."""
    loader = _Loader(data, state)
    loader.course()
    loader.cards()
    loader.tiles()
    loader.rendezvous()
    state.asked = loader.asked()
    state.acting = loader.acting()


def _items(value: Any, key: str) -> list[Any]:
    require(isinstance(value, list | tuple), f"{key} holds lists of names, not {value!r}")
    return list(value)


def _tile(state: Any, name: Any) -> int:
    names = names_of_tiles(int(state.hearts))
    require(isinstance(name, str) and name in names, f"there is no tile {name!r}")
    return names.index(name)


def _copies(state: Any, card: int) -> int:
    """How many cards of a design the game has."""
    return (int(state.deck) >> card & 1) + (card in state.twice)


class _Loader:
    """Reads a snapshot into a record, step by step from the course of the game to the decision it waits for."""

    def __init__(self, data: dict[str, Any], state: Any) -> None:
        self.data, self.state = data, state
        self.players, self.rounds = int(state.players), rounds(state.players)
        self.seats = range(self.players)

    def _list(self, key: str, default: Any = None) -> list[Any]:
        """The key's list, with one entry a seat."""
        value: Any = self.data[key] if default is None else self.data.get(key)
        if value is None and default is not None:
            return [default for _ in self.seats]
        require(
            isinstance(value, list | tuple) and len(value) == self.players,
            f"{key} is a list with an entry for each of {self.players} seats, not {value!r}",
        )
        return list(value)

    # --- The course of the game ---

    def course(self) -> None:
        """Phase, lap, round, who leads, and the scores."""
        state, data = self.state, self.data
        phases = PHASES if state.advanced else PHASES[:RAISE]
        require(data["phase"] in phases, f"phase is one of {', '.join(phases)}, not {data['phase']!r}")
        self.phase = PHASES.index(data["phase"])
        state.phase = self.phase
        state.lap = read_number(data["lap"], "lap", 1, int(state.laps))
        self.round = read_number(data["round"], "round", 1, self.rounds)
        state.round_number = self.round
        require(
            self.phase < BURY or self.round == self.rounds,
            f"phase {PHASES[self.phase]} comes after round {self.rounds}, not in round {self.round}",
        )
        leader = (int(state.lap) - 1) % self.players
        state.lap_leader = leader
        given = read_number(data["lap_leader"], "lap_leader", 0, self.players - 1)
        require(given == leader, f"lap_leader is {given}, but seat {leader} leads lap {int(state.lap)}")
        first = read_number(data["first_player"], "first_player", 0, self.players - 1)
        expected = (leader + self.round - 1) % self.players
        require(
            self.phase >= BURY or first == expected,
            f"first_player is {first}, but it is seat {expected} in round {self.round} of a lap led by seat {leader}",
        )
        state.first_player = first if self.phase < BURY else leader  # it means nothing in the rendezvous
        for seat, points in enumerate(self._list("scores")):
            state.scores[seat] = read_number(points, "a score", 0, MOST_POINTS)

    # --- Cards ---

    def cards(self) -> None:
        """Hands and pile: everybody has laid one card a round, and no design comes up too often."""
        designs = DESIGNS if self.state.advanced else BASIC_DESIGNS
        self.left = [_copies(self.state, card) for card in range(designs)]
        laid = self.round - (self.phase == LAY)
        self._pile(laid * self.players)
        hands = [_items(hand, "hands") for hand in self._list("hands")]
        put_away = self.phase >= BURY and not any(hands)
        for seat, hand in enumerate(hands):
            require(
                put_away or len(hand) == HAND_CARDS - laid,
                f"seat {seat} has {len(hand)} cards in hand instead of {HAND_CARDS - laid}",
            )
            self.state.hand[seat] = 0
            for name in hand:
                self.state.hand[seat] = with_card(self.state, self.state.hand[seat], self._card(name))

    def _card(self, name: Any) -> int:
        """A card by name, taken out of the deck."""
        require(isinstance(name, str) and name in CARD_NUMBERS, f"there is no card {name!r}")
        card = CARD_NUMBERS[name]
        require(card < len(self.left), f"{name!r} belongs to the advanced game")
        self.left[card] -= 1
        copies = _copies(self.state, card)
        require(self.left[card] >= 0, f"{name!r} is there {copies + 1} times, the deck has it {copies} times")
        return card

    def _pile(self, size: int) -> None:
        state, pile = self.state, self.data["pile"]
        pile = _items(pile, "pile")
        require(
            len(pile) == size,
            f"pile has {len(pile)} cards instead of {size} in phase {PHASES[self.phase]} of round {self.round}",
        )
        state.pile[:] = NONE
        state.pile_size = size
        for place, (seat, name) in enumerate(pile):
            state.pile[place] = self._card(name)
            owner = int(LAID_BY[self.players, state.lap_leader, place])
            require(seat == owner, f"pile: card {place + 1} was laid by seat {owner}, not {seat!r}")

    # --- Tiles ---

    def tiles(self) -> None:
        """Every tile lies in one place at most, and there are as many in each place as the round says."""
        state = self.state
        self.seen: set[int] = set()
        turned = self.round - (self.phase == LAY)
        height = TILES_A_ROUND * (self.rounds - turned)
        state.stacks[:] = NONE
        for seat, names in enumerate(self._list("stacks", [] if height == 0 else None)):
            stack = self._new_tiles(names, "stacks")
            require(len(stack) == height, f"the stack of seat {seat} has {len(stack)} tiles instead of {height}")
            _stack(state, seat)[TILES_A_ROUND * turned :] = stack
        state.middle = _bits(self._new_tiles(self.data.get("middle") or [], "middle"))
        state.graveyard = _bits(self._new_tiles(self.data.get("graveyard") or [], "graveyard"))
        for seat, names in enumerate(self._list("tiles")):
            state.tiles[seat] = _bits(self._new_tiles(names, "tiles"))
        if self.phase < BURY:
            self._tiles_taken()
            return
        require(not int(state.middle), f"middle is not empty in phase {PHASES[self.phase]}")
        dealt = TILES_A_ROUND * self.rounds * self.players
        require(
            len(self.seen) == dealt,
            f"{len(self.seen)} tiles lie before the players and in the graveyard instead of {dealt}",
        )

    def _new_tiles(self, names: Any, key: str) -> list[int]:
        tiles = [_tile(self.state, name) for name in _items(names, key)]
        for tile in tiles:
            require(tile not in self.seen, f"the tile {tile_name(self.state, tile)!r} is in two places")
            self.seen.add(tile)
        return tiles

    def _tiles_taken(self) -> None:
        """Before the rendezvous: three tiles a round for everybody, those of this round partly still in the middle."""
        state, before = self.state, TILES_A_ROUND * (self.round - 1)
        require(not int(state.graveyard), f"graveyard is not empty in phase {PHASES[self.phase]}")
        taken = [TILES_A_ROUND - int(to_grab(state, seat)) for seat in self.seats]
        most = TILES_A_ROUND if self.phase == GRAB else 0
        for seat, count in enumerate(taken):
            require(
                0 <= count <= most,
                f"seat {seat} has {before + count} tiles in phase {PHASES[self.phase]} of round {self.round}",
            )
        self.needs = [most - count for count in taken]
        middle = int(state.middle).bit_count()
        require(middle == sum(self.needs), f"middle has {middle} tiles, but {sum(self.needs)} are to be grabbed")
        if self.phase == GRAB and state.draft:
            turns = [(seat - int(state.first_player)) % self.players for seat in self.seats]
            expected = [(sum(taken) - turn + self.players - 1) // self.players for turn in turns]
            require(taken == expected, f"seats have grabbed {taken} tiles in turn instead of {expected}")

    # --- The rendezvous ---

    def rendezvous(self) -> None:
        """How far the pile is resolved, and the cards that lie open since."""
        state = self.state
        state.open_cards[:] = NONE
        state.claims[:] = 0
        given = _items(self.data.get("open_cards") or [], "open_cards")
        resolved = read_number(self.data.get("resolved") or 0, "resolved", 0, int(state.pile_size))
        state.resolved = resolved
        if self.phase < BURY:
            require(resolved == 0, f"resolved is {resolved} before the rendezvous")
            require(not given, "open_cards is not empty before the rendezvous")
            return
        require(resolved < int(state.pile_size), "resolved counts the whole pile: the lap is over")
        place = 0
        while place < resolved:
            place += max(pass_over(state, int(state.pile[place])), 1)
        require(place == resolved, f"resolved is {resolved}, but 'skip two' removes that card")
        names = open_names(state)
        require(
            "open_cards" not in self.data or sorted(given) == sorted(names),
            f"open_cards is {given}, but the resolved cards leave {names}",
        )
        self._applied(int(state.pile[resolved]))

    def _applied(self, card: int) -> None:
        """The card being applied is one that asks somebody."""
        asks = GRAVEYARD <= card <= GRAVEYARD_ANY if self.phase == BURY else card == RESURRECTION
        number, name = int(self.state.resolved) + 1, CARD_NAMES[card]
        require(asks, f"card {number} of the pile, {name!r}, asks nobody to {PHASES[self.phase]}")
        guard = int(GUARD[card])
        require(
            guard == NONE or guard not in self.state.open_cards,
            f"{name!r} is cancelled by the open {CARD_NAMES[guard]!r}",
        )

    # --- Who decides ---

    def asked(self) -> int:
        """The seats that decide together."""
        state = self.state
        if self.phase == LAY:
            return (1 << self.players) - 1
        if self.phase == GRAB:
            seats = [seat for seat in self.seats if self.needs[seat]]
            require(seats, "everybody has grabbed three tiles, the round is over")
            if state.draft:
                seats = [(int(state.first_player) + TILES_A_ROUND * self.players - sum(self.needs)) % self.players]
        elif self.phase == BURY:
            card = int(state.pile[int(state.resolved)])
            seats = [seat for seat in self.seats if chooses_burial(state, seat, card)]
            require(seats, f"nobody has more than two tiles for {CARD_NAMES[card]!r}: there is no choice")
        else:
            seats = [self._raiser()]
        return _bits(seats)

    def _raiser(self) -> int:
        """Who resurrects: the seat to act, or the first from the lap's leader on that has a choice."""
        state, given = self.state, self.data.get("claims")
        seats = self.data.get("to_act")
        if seats is None:
            seats = [(int(state.lap_leader) + k) % self.players for k in self.seats]
        else:
            require(len(seats) == 1, f"one seat resurrects at a time, not to_act {seats!r}")
        for seat in seats:
            read_number(seat, "to_act", 0, self.players - 1)
            claim(state, seat)
            if given is not None:
                most = state.claims.tolist()
                for k, colour in enumerate(COLOURS):
                    state.claims[k] = read_number(given.get(colour, 0), f"claims on {colour}", 0, most[k])
            if has_to_choose(state):
                return int(seat)
        raise SnapshotError(f"seat {' and '.join(map(str, seats))} cannot choose what to raise")

    def acting(self) -> int:
        """The seats that have not chosen yet; also reads the choices of the others."""
        state = self.state
        state.choices[:] = NONE
        most = {LAY: 1, GRAB: 0 if state.draft else 1, BURY: 2, RAISE: 0}[self.phase]
        waiting = []
        for seat, given in enumerate(self._list("choices", [])):
            chosen = [given] if isinstance(given, str) else _items([] if given is None else given, "choices")
            allowed = most if int(state.asked) >> seat & 1 else 0
            require(len(chosen) <= allowed, f"seat {seat} has chosen {len(chosen)} times instead of {allowed} at most")
            require(len(set(chosen)) == len(chosen), f"seat {seat} has chosen the same twice: {chosen}")
            for k, name in enumerate(chosen):
                state.choices[seat, k] = self._choice(seat, name)
            if int(state.asked) >> seat & 1 and (len(chosen) < most or most == 0):
                waiting.append(seat)
        require(waiting, f"everybody has chosen, phase {PHASES[self.phase]} is over")
        return _bits(waiting)

    def _choice(self, seat: int, name: Any) -> int:
        """A card or tile that a seat may choose now."""
        state = self.state
        if self.phase == LAY:
            require(
                name in card_names(state, state.hand[seat]), f"seat {seat} chose {name!r}, which is not in its hand"
            )
            return CARD_NUMBERS[name]
        tile = _tile(state, name)
        require(
            int(legal_tiles(state, seat)) >> tile & 1,
            f"seat {seat} chose {name!r}, which it cannot {PHASES[self.phase]}",
        )
        return tile


def _bits(numbers: list[int]) -> int:
    return sum(1 << number for number in numbers)
