"""Positions of Bite Night as JSON, out and in; what comes in is checked against the rules."""

from typing import Any

from ..core.bits import bits_of
from ..core.snapshots import Reader, SnapshotError, read_list, read_name, read_names, read_number, require
from . import rules, text
from .rules import BURY, CARD_NAMES, GRAB, HAND_CARDS, LAY, NONE, RAISE, TILES_A_ROUND
from .text import card_names, claims_of, names_of_tiles, open_names, pile_of, tile_name, tile_names

MOST_POINTS = 1_000_000


def snapshot(state: Any) -> dict[str, Any]:
    """The position in names (the game's part of it)."""
    seats = range(int(state.players))
    choosable = CARD_NAMES if int(state.phase) == LAY else names_of_tiles(int(state.hearts))
    return {
        "phase": text.PHASES[state.phase],
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
        "choices": [[choosable[choice] for choice in state.choices[seat] if choice != NONE] for seat in seats],
        "scores": [int(state.scores[seat]) for seat in seats],
        # what the resurrecting seat may still raise, by colour
        "claims": claims_of(state) if state.phase == RAISE else None,
    }


def _stack(state: Any, seat: int) -> Any:
    """A seat's places in `stacks`."""
    height = TILES_A_ROUND * rules.rounds(state.players)
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


def _copies(state: Any, card: int) -> int:
    """How many cards of a design the game has."""
    return (int(state.deck) >> card & 1) + (card in state.twice)


class _Loader(Reader):
    """Reads a snapshot into a record, step by step from the course of the game to the decision it waits for."""

    def __init__(self, data: dict[str, Any], state: Any) -> None:
        super().__init__(data, state)
        self.rounds = rules.rounds(state.players)
        self.tile_numbers = {name: tile for tile, name in enumerate(names_of_tiles(int(state.hearts)))}

    # --- The course of the game ---

    def course(self) -> None:
        """Phase, lap, round, who leads, and the scores."""
        state = self.state
        state.phase = phase = self.phase(text.PHASES, text.PHASES if state.advanced else text.PHASES[:RAISE])
        self.in_rendezvous, self.name_of_phase = phase >= BURY, text.PHASES[phase]
        state.lap = self.number("lap", 1, int(state.laps))
        self.round = state.round_number = self.number("round", 1, self.rounds)
        self.laid = self.round - (phase == LAY)
        last = self.round == self.rounds
        late = f"phase {text.PHASES[phase]} comes after round {self.rounds}, not in round {self.round}"
        require(not self.in_rendezvous or last, late)
        state.lap_leader = leader = (int(state.lap) - 1) % self.players
        given = self.number("lap_leader", 0, self.players - 1)
        require(given == leader, f"lap_leader is {given}, but seat {leader} leads lap {int(state.lap)}")
        first, expected = self.number("first_player", 0, self.players - 1), (leader + self.round - 1) % self.players
        require(
            self.in_rendezvous or first == expected,
            f"first_player is {first}, but it is seat {expected} in round {self.round} of a lap led by seat {leader}",
        )
        state.first_player = leader if self.in_rendezvous else first  # it means nothing in the rendezvous
        for seat, points in enumerate(self.rows("scores")):
            state.scores[seat] = read_number(points, "each of scores", 0, MOST_POINTS)

    # --- Cards ---

    def cards(self) -> None:
        """Hands and pile: everybody has laid one card a round, and no design comes up too often."""
        state, size = self.state, HAND_CARDS - self.laid
        self.left = [_copies(state, card) for card in range(rules.DESIGNS if state.advanced else rules.BASIC_DESIGNS)]
        self._pile(self.laid * self.players)
        hands = [read_list(hand, "each of hands") for hand in self.rows("hands")]
        put_away = self.in_rendezvous and not any(hands)
        for seat, hand in enumerate(hands):
            fits = put_away or len(hand) == size
            require(fits, f"seat {seat} has {len(hand)} cards in hand instead of {size}")
            state.hand[seat] = 0
            for name in hand:
                state.hand[seat] = rules.with_card(state, state.hand[seat], self._card(name, "hands"))

    def _card(self, name: Any, key: str) -> int:
        """A card by name, taken out of the deck."""
        card = read_name(name, key, text.CARD_NUMBERS, "card")
        require(card < len(self.left), f"{name!r} belongs to the advanced game")
        self.left[card] -= 1
        copies = _copies(self.state, card)
        require(self.left[card] >= 0, f"{name!r} is there {copies + 1} times, the deck has it {copies} times")
        return card

    def _pile(self, size: int) -> None:
        state, pile = self.state, read_list(self.data["pile"], "pile")
        when = f"in phase {self.name_of_phase} of round {self.round}"
        require(len(pile) == size, f"pile has {len(pile)} cards instead of {size} {when}")
        state.pile[:] = NONE
        state.pile_size = size
        for place, (seat, name) in enumerate(pile):
            state.pile[place] = self._card(name, "pile")
            owner = int(rules.LAID_BY[self.players, state.lap_leader, place])
            require(seat == owner, f"pile: card {place + 1} was laid by seat {owner}, not {seat!r}")

    # --- Tiles ---

    def tiles(self) -> None:
        """Every tile lies in one place at most, and there are as many in each place as the round says."""
        state = self.state
        self.seen: set[int] = set()
        height = TILES_A_ROUND * (self.rounds - self.laid)
        state.stacks[:] = NONE
        for seat, names in enumerate(self.rows("stacks") if height else self.optional_rows("stacks", [])):
            stack = self._new_tiles(names, "stacks")
            require(len(stack) == height, f"the stack of seat {seat} has {len(stack)} tiles instead of {height}")
            _stack(state, seat)[TILES_A_ROUND * self.laid :] = stack
        for key in ("middle", "graveyard"):
            names = read_list(self.data.get(key) or [], key)
            setattr(state, key, bits_of(self._new_tiles(names, key)))
        for seat, names in enumerate(self.rows("tiles")):
            state.tiles[seat] = bits_of(self._new_tiles(names, "tiles"))
        if not self.in_rendezvous:
            self._tiles_taken()
            return
        require(not int(state.middle), f"middle is not empty in phase {self.name_of_phase}")
        there, dealt = len(self.seen), TILES_A_ROUND * self.rounds * self.players
        require(there == dealt, f"{there} tiles lie before the players and in the graveyard instead of {dealt}")

    def _new_tiles(self, names: Any, key: str) -> list[int]:
        tiles = read_names(names, key, self.tile_numbers, "tile")
        for tile in tiles:
            require(tile not in self.seen, f"the tile {tile_name(self.state, tile)!r} is in two places")
        self.seen.update(tiles)
        return tiles

    def _tiles_taken(self) -> None:
        """Before the rendezvous: three tiles a round for everybody, those of this round partly still in the middle."""
        state, grabbing = self.state, int(self.state.phase) == GRAB
        require(not int(state.graveyard), f"graveyard is not empty in phase {self.name_of_phase}")
        taken = [TILES_A_ROUND - int(rules.to_grab(state, seat)) for seat in self.seats]
        most = TILES_A_ROUND if grabbing else 0
        for seat, count in enumerate(taken):
            tiles = TILES_A_ROUND * (self.round - 1) + count
            problem = f"seat {seat} has {tiles} tiles in phase {self.name_of_phase} of round {self.round}"
            require(0 <= count <= most, problem)
        self.needs = [most - count for count in taken]
        middle = int(state.middle).bit_count()
        require(middle == sum(self.needs), f"middle has {middle} tiles, but {sum(self.needs)} are to be grabbed")
        if grabbing and state.draft:
            turns = [(seat - int(state.first_player)) % self.players for seat in self.seats]
            expected = [(sum(taken) - turn + self.players - 1) // self.players for turn in turns]
            require(taken == expected, f"seats have grabbed {taken} tiles in turn instead of {expected}")

    # --- The rendezvous ---

    def rendezvous(self) -> None:
        """How far the pile is resolved, and the cards that lie open since."""
        state = self.state
        state.open_cards[:] = NONE
        state.claims[:] = 0
        given = read_list(self.data.get("open_cards") or [], "open_cards")
        state.resolved = resolved = self.number("resolved", 0, int(state.pile_size), default=0)
        if not self.in_rendezvous:
            require(resolved == 0, f"resolved is {resolved} before the rendezvous")
            require(not given, "open_cards is not empty before the rendezvous")
            return
        require(resolved < int(state.pile_size), "resolved counts the whole pile: the lap is over")
        place = 0
        while place < resolved:
            place += max(rules.pass_over(state, int(state.pile[place])), 1)
        require(place == resolved, f"resolved is {resolved}, but 'skip two' removes that card")
        names = open_names(state)
        fits = "open_cards" not in self.data or sorted(given) == sorted(names)
        require(fits, f"open_cards is {given}, but the resolved cards leave {names}")
        self._applied(int(state.pile[resolved]))

    def _applied(self, card: int) -> None:
        """The card being applied is one that asks somebody."""
        burying, number, name = int(self.state.phase) == BURY, int(self.state.resolved) + 1, CARD_NAMES[card]
        asks = rules.GRAVEYARD <= card <= rules.GRAVEYARD_ANY if burying else card == rules.RESURRECTION
        require(asks, f"card {number} of the pile, {name!r}, asks nobody to {self.name_of_phase}")
        guard = int(rules.GUARD[card])
        applies = guard == NONE or guard not in self.state.open_cards
        require(applies, f"{name!r} is cancelled by the open {CARD_NAMES[guard]!r}")

    # --- Who decides ---

    def asked(self) -> int:
        """The seats that decide together."""
        state, phase = self.state, int(self.state.phase)
        if phase == LAY:
            return (1 << self.players) - 1
        if phase == GRAB:
            seats = [seat for seat in self.seats if self.needs[seat]]
            require(seats, "everybody has grabbed three tiles, the round is over")
            if state.draft:
                seats = [(int(state.first_player) + TILES_A_ROUND * self.players - sum(self.needs)) % self.players]
        elif phase == BURY:
            card = int(state.pile[int(state.resolved)])
            seats = [seat for seat in self.seats if rules.chooses_burial(state, seat, card)]
            require(seats, f"nobody has more than two tiles for {CARD_NAMES[card]!r}: there is no choice")
        else:
            seats = [self._raiser()]
        return bits_of(seats)

    def _raiser(self) -> int:
        """Who resurrects: the seat to act, or the first from the lap's leader on that has a choice."""
        state, given, seats = self.state, self.data.get("claims"), self.data.get("to_act")
        if seats is None:
            seats = [(int(state.lap_leader) + k) % self.players for k in self.seats]
        else:
            require(len(seats) == 1, f"one seat resurrects at a time, not to_act {seats!r}")
        for seat in seats:
            rules.claim(state, read_number(seat, "to_act", 0, self.players - 1))
            if given is not None:
                for k, (colour, most) in enumerate(zip(rules.COLOURS, state.claims.tolist())):
                    state.claims[k] = read_number(given.get(colour, 0), f"claims on {colour}", 0, most)
            if rules.has_to_choose(state):
                return int(seat)
        raise SnapshotError(f"seat {' and '.join(map(str, seats))} cannot choose what to raise")

    def acting(self) -> int:
        """The seats that have not chosen yet; also reads the choices of the others."""
        state = self.state
        state.choices[:] = NONE
        most = (1, 0 if state.draft else 1, 2, 0)[state.phase]
        waiting = []
        for seat, given in enumerate(self.optional_rows("choices", [])):
            chosen = [given] if isinstance(given, str) else read_list([] if given is None else given, "each of choices")
            asked = int(state.asked) >> seat & 1
            allowed = most if asked else 0
            require(len(chosen) <= allowed, f"seat {seat} has chosen {len(chosen)} times instead of {allowed} at most")
            require(len(set(chosen)) == len(chosen), f"seat {seat} has chosen the same twice: {chosen}")
            for k, name in enumerate(chosen):
                state.choices[seat, k] = self._choice(seat, name)
            if asked and (len(chosen) < most or most == 0):
                waiting.append(seat)
        require(waiting, f"everybody has chosen, phase {self.name_of_phase} is over")
        return bits_of(waiting)

    def _choice(self, seat: int, name: Any) -> int:
        """A card or tile that a seat may choose now."""
        state = self.state
        if int(state.phase) == LAY:
            held = name in card_names(state, state.hand[seat])
            require(held, f"seat {seat} chose {name!r}, which is not in its hand")
            return text.CARD_NUMBERS[name]
        tile = read_name(name, "choices", self.tile_numbers, "tile")
        possible = int(rules.legal_tiles(state, seat)) >> tile & 1
        require(possible, f"seat {seat} chose {name!r}, which it cannot {self.name_of_phase}")
        return tile
