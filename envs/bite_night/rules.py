"""Bite Night: the rules for three and four players, basic and advanced.

Sections in the comments are those of the rulebook (see README.md for sources and rulings).
"""

import numpy as np

from ..compiling.jit import compiled, inlined
from ..core.bits import ZERO, bit, drop_lowest, first, has, lowest, popcount, wrap
from ..core.contract import PLAYING, TERMINATED, record_type
from ..core.rng import draw, draw32, draw_from

NONE = -1

# --- Tiles: number 10 * colour + 2 * picture, + 1 for the copy that may have a heart; every tile exists once ---

COLOURS = ("blue", "red", "yellow", "green", "violet")
PICTURES = ("vampire", "monk", "maiden", "coffin", "garlic")
VAMPIRE, MONK, MAIDEN, COFFIN, GARLIC = range(5)
TILES = 50

ALL_TILES = np.uint64((1 << TILES) - 1)
PLAIN = np.uint64(sum(1 << tile for tile in range(0, TILES, 2)))
HEARTS = ALL_TILES ^ PLAIN  # of the usual game; a game's own are in its state
COLOUR_TILES = np.array([0x3FF << (10 * colour) for colour in range(5)], np.uint64)
FIRST_OF_COLOUR = np.uint64(sum(1 << (10 * colour) for colour in range(5)))
PICTURE_TILES = np.array([int(FIRST_OF_COLOUR) * 3 << (2 * picture) for picture in range(5)], np.uint64)

# --- Rendezvous cards: a card's number is its design; the basic designs come first ---

COUPLES = tuple((p, q) for p in range(5) for q in range(p + 1, 5))
BASIC_CARDS = (
    "colour set",
    *(f"picture {picture}" for picture in PICTURES),
    *(f"colour {colour}" for colour in COLOURS),
    *(f"pair {picture}" for picture in PICTURES),
    *(f"combination {PICTURES[p]}+{PICTURES[q]}" for p, q in COUPLES),
    *(f"graveyard {picture}" for picture in PICTURES),
    "graveyard any",
    "skip two",
    "graveyard closed",
)
ADVANCED_CARDS = (
    "resurrection",
    "blood wedding",
    "servant",
    "vampire's bite",
    "provisions",
    "vow of celibacy",
    "garlic soup",
    "dawn",
    "banishment",
)
CARD_NAMES = BASIC_CARDS + ADVANCED_CARDS
TWICE = ("skip two", "graveyard closed")  # designs with a second copy, in the usual game
MOST_TWICE = 2
BASIC_DESIGNS, DESIGNS = len(BASIC_CARDS), len(CARD_NAMES)

COLOUR_SET = 0
PICTURE_CARD, COLOUR_CARD, PAIR, COMBINATION = 1, 6, 11, 16  # + picture, colour, picture, couple
GRAVEYARD, GRAVEYARD_ANY = 26, 31
SKIP_TWO, CLOSED = 32, 33
RESURRECTION, WEDDING, SERVANT, BITE, PROVISIONS, CELIBACY, SOUP, DAWN, BANISHMENT = range(BASIC_DESIGNS, DESIGNS)

# A set of cards has a bit a design, and bit DESIGNS + k for a second card of design `twice[k]` beside the first.
SECONDS = np.uint64(((1 << MOST_TWICE) - 1) << DESIGNS)

# What a card looks at: the tiles a picture, colour or pair card counts, or those a graveyard card takes.
CARD_TILES = np.zeros(DESIGNS, np.uint64)
CARD_TILES[PICTURE_CARD : PICTURE_CARD + 5] = PICTURE_TILES
CARD_TILES[COLOUR_CARD : COLOUR_CARD + 5] = COLOUR_TILES
CARD_TILES[PAIR : PAIR + 5] = PICTURE_TILES
CARD_TILES[GRAVEYARD : GRAVEYARD + 5] = PICTURE_TILES
CARD_TILES[GRAVEYARD_ANY] = ALL_TILES
BONUS = np.array([0, 0, 0, 0, 2, 4], np.int64)  # by the number of different colours or pictures
LEFT_OF, RIGHT_OF = (np.array([couple[side] for couple in COUPLES], np.int64) for side in (0, 1))
# Who steals whom: tiles with hearts, of one colour.
THIEF, VICTIM = np.zeros(DESIGNS, np.int64), np.zeros(DESIGNS, np.int64)
THIEF[[WEDDING, BITE, PROVISIONS, DAWN]] = MAIDEN, VAMPIRE, MONK, VAMPIRE
VICTIM[[WEDDING, BITE, PROVISIONS, DAWN]] = MONK, MAIDEN, GARLIC, COFFIN
# Which open card cancels a card; NONE where nothing can.
GUARD = np.full(DESIGNS, NONE, np.int64)
GUARD[GRAVEYARD : GRAVEYARD_ANY + 1] = CLOSED
GUARD[DAWN] = SERVANT
GUARD[WEDDING] = CELIBACY

# --- Actions: lay a card, then grab, bury and (advanced) raise a tile; the last one is the no-op ---

HAND_CARDS = 9
TILES_A_ROUND = 3
MAX_PILE = 16
MAX_OPEN = 4

# Who lays the cards of the pile, by [players, leader of the lap, place]: the first player moves on by one each round.
LAID_BY = np.zeros((5, 4, MAX_PILE), np.int8)
for _players in (3, 4):
    for _leader, _place in np.ndindex(_players, MAX_PILE):
        LAID_BY[_players, _leader, _place] = (_leader + _place // _players + _place % _players) % _players

# --- State ---

LAY, GRAB, BURY, RAISE = 0, 1, 2, 3  # phase

STATE = record_type(
    [
        # options
        ("reflexes", np.float64, 4),  # weights of the seats in a race; not used where `uneven` is 0
        ("uneven", np.uint8),  # 1: reflexes were given
        ("advanced", np.uint8),
        ("draft", np.uint8),  # 1: grab="draft"
        ("laps", np.uint8),
        ("deck", np.uint64),  # all cards of the game, as a set
        ("twice", np.int8, MOST_TWICE),  # designs with a second copy; NONE where there are fewer
        ("hearts", np.uint64),  # tiles with a heart, at most one of a kind
        # the game
        ("lap", np.uint8),  # from 1
        ("scores", np.int32, 4),
        # the lap
        ("phase", np.uint8),
        ("round_number", np.uint8),  # from 1
        ("lap_leader", np.uint8),
        ("first_player", np.uint8),  # of the round; in the rendezvous the lap's leader
        ("hand", np.uint64, 4),  # cards; what is left in the rendezvous is set aside
        ("pile", np.int8, MAX_PILE),  # designs, the first card laid first; NONE behind the last one
        ("pile_size", np.uint8),
        ("stacks", np.int8, TILES),  # tiles, top first, seat s from s * (tiles a lap); NONE once turned up
        ("middle", np.uint64),  # tiles to grab
        ("tiles", np.uint64, 4),  # what lies in front of the seats
        # a decision
        ("asked", np.uint8),  # bit set of the seats that decide together; `acting` has those still choosing
        ("choices", np.int8, (4, 2)),  # cards or tiles chosen but still hidden, NONE where missing
        # the rendezvous
        ("resolved", np.uint8),  # cards of the pile that are done, without the one being applied
        ("open_cards", np.int8, MAX_OPEN),  # designs in the order they came, then NONE
        ("graveyard", np.uint64),
        ("claims", np.uint8, 5),  # resurrection: tiles of a colour that the acting seat may still raise
    ]
)


# --- Sets of cards ---


@inlined
def second_of(state, card):
    """The member of sets that stands for a second card of a design; an empty set where there is none."""
    if card == state.twice[0]:
        return bit(DESIGNS)
    return bit(DESIGNS + 1) if card == state.twice[1] else ZERO


@inlined
def design_of(state, member):
    """The design of a member of a set of cards."""
    return member if member < DESIGNS else np.int64(state.twice[member - DESIGNS])


@inlined
def with_card(state, cards, card):
    """The set with one more card of a design."""
    return cards | (second_of(state, card) if has(cards, card) else bit(card))


@inlined
def without_card(state, cards, card):
    """The set with one card less of a design it holds."""
    second = cards & second_of(state, card)
    return cards ^ (bit(card) if second == ZERO else second)


# --- Preparation ---


@inlined
def rounds(players):
    """Rounds of a lap."""
    return 5 if players == 3 else 4


@compiled
def setup(state):
    """Begin a game; seat 0 leads the first lap."""
    state.outcome = PLAYING
    state.winners = 0
    state.lap = 0
    state.scores[:] = 0
    state.lap_leader = state.players - 1
    begin_lap(state)


@compiled
def begin_lap(state):
    """The next player leads; cards and tiles are shuffled and dealt."""
    state.lap += 1
    state.lap_leader = wrap(np.int64(state.lap_leader) + 1, np.int64(state.players))
    state.first_player = state.lap_leader
    state.round_number = 0
    state.pile[:] = NONE
    state.pile_size = state.resolved = 0
    state.open_cards[:] = NONE
    state.graveyard = state.middle = ZERO
    state.claims[:] = 0
    state.tiles[:] = ZERO
    state.choices[:] = NONE
    deal_tiles(state)
    deal_cards(state)
    begin_round(state)


@compiled
def deal_tiles(state):
    """A face-down stack for everybody; what is left goes into the box."""
    dealt = TILES_A_ROUND * rounds(state.players) * np.int64(state.players)
    for i in range(TILES):
        state.stacks[i] = i
    for i in range(dealt):
        j = i + draw(state, TILES - i)
        state.stacks[i], state.stacks[j] = state.stacks[j], state.stacks[i]
    for i in range(dealt, TILES):
        state.stacks[i] = NONE


@compiled
def deal_cards(state):
    """Nine cards for everybody; what is left goes into the box."""
    state.hand[:] = ZERO
    deck = np.uint64(state.deck)
    # Every card goes to a random free place among the hands and the box.
    while deck != ZERO:
        lot = draw(state, popcount(deck))
        card = design_of(state, lowest(deck))
        deck = drop_lowest(deck)
        for seat in range(np.int64(state.players)):
            lot -= HAND_CARDS - popcount(state.hand[seat])
            if lot < 0:
                state.hand[seat] = with_card(state, state.hand[seat], card)
                break


# --- Legal actions ---


@compiled
def legal(state, seat, words):
    """Write the bit set of the seat's legal actions."""
    words[0] = words[1] = words[2] = ZERO  # one by one: a loop over so few would become a call
    designs = BASIC_DESIGNS
    if state.advanced:
        words[3] = ZERO
        designs = DESIGNS
    if state.phase == LAY:
        words[0] = state.hand[seat] & first(designs)
        return
    start = designs + TILES * (np.int64(state.phase) - GRAB)
    tiles = legal_tiles(state, seat)
    word, shift = start >> 6, np.uint64(start & 63)
    words[word] = tiles << shift
    if shift > np.uint64(64 - TILES):
        words[word + 1] = tiles >> (np.uint64(64) - shift)


@compiled
def legal_tiles(state, seat):
    """The tiles a seat may grab, bury or raise."""
    if state.phase == GRAB:
        return np.uint64(state.middle)
    if state.phase == BURY:
        tiles = state.tiles[seat] & CARD_TILES[state.pile[state.resolved]]
        chosen = np.int64(state.choices[seat, 0])
        return tiles if chosen == NONE else tiles & ~bit(chosen)
    return fitting_tiles(state)


# --- Actions ---


@compiled
def step(state, seat, action):
    """Carry out a legal action, then what follows from it in the rendezvous."""
    if decide(state, seat, action):
        rendezvous(state)


@compiled
def decide(state, seat, action):
    """Carry out a legal action alone; whether the rendezvous begins or goes on."""
    phase = np.int64(state.phase)
    if phase == LAY:
        lay(state, seat, action)
        return False
    tile = action - (DESIGNS if state.advanced else BASIC_DESIGNS) - TILES * (phase - GRAB)
    if phase == GRAB:
        return draft(state, seat, tile) if state.draft else race(state, seat, tile)
    return bury(state, seat, tile) if phase == BURY else raise_tile(state, seat, tile)


@inlined
def ask(state, seats):
    """Some seats decide now, together."""
    state.asked = seats
    state.acting = seats


@inlined
def decided(state, seat):
    """The seat has decided; whether it was the last of those who choose together."""
    state.acting &= ~(1 << seat) & 0xFF
    return state.acting == 0


# --- Rounds, first part: lay a card ---


@compiled
def begin_round(state):
    """Everybody chooses a card to lay."""
    state.round_number += 1
    state.phase = LAY
    ask(state, (1 << np.int64(state.players)) - 1)


@compiled
def lay(state, seat, card):
    """Choose a card; it stays in hand, hidden, until everybody has chosen."""
    state.choices[seat, 0] = card
    if not decided(state, seat):
        return
    players, owner, size = np.int64(state.players), np.int64(state.first_player), np.int64(state.pile_size)
    for _ in range(players):
        chosen = np.int64(state.choices[owner, 0])
        state.hand[owner] = without_card(state, state.hand[owner], chosen)
        state.choices[owner, 0] = NONE
        state.pile[size] = chosen
        size += 1
        owner = wrap(owner + 1, players)
    state.pile_size = size
    turn_up(state)


# --- Rounds, second part: grab three tiles ---


@compiled
def turn_up(state):
    """Three tiles from every stack lie in the middle."""
    players = np.int64(state.players)
    height = TILES_A_ROUND * rounds(state.players)
    top = TILES_A_ROUND * (np.int64(state.round_number) - 1)
    middle = ZERO
    for seat in range(players):
        for place in range(seat * height + top, seat * height + top + TILES_A_ROUND):
            middle |= bit(state.stacks[place])
            state.stacks[place] = NONE
    state.middle = middle
    state.phase = GRAB
    ask(state, 1 << np.int64(state.first_player) if state.draft else (1 << players) - 1)


@inlined
def to_grab(state, seat):
    """How many tiles a seat still needs in this round."""
    return TILES_A_ROUND * np.int64(state.round_number) - popcount(state.tiles[seat])


@compiled
def draft(state, seat, tile):
    """Take a tile; the next player clockwise takes the next one. Whether the rendezvous begins."""
    state.tiles[seat] |= bit(tile)
    state.middle ^= bit(tile)
    if state.middle == ZERO:
        return end_round(state)
    ask(state, 1 << wrap(seat + 1, np.int64(state.players)))
    return False


@compiled
def race(state, seat, tile):
    """Reach for a tile; every tile that was named finds an owner when all have. Whether the rendezvous begins."""
    state.choices[seat, 0] = tile
    if not decided(state, seat):
        return False
    players = np.int64(state.players)
    for runner in range(players):
        wanted = np.int64(state.choices[runner, 0])
        if wanted == NONE or not has(state.middle, wanted):
            continue  # nothing left to grab, or too late
        winner = quickest(state, wanted, runner)
        state.tiles[winner] |= bit(wanted)
        state.middle ^= bit(wanted)
    needy = 0
    for runner in range(players):
        state.choices[runner, 0] = NONE
        if to_grab(state, runner) > 0:
            needy |= 1 << runner
    if needy == 0:
        return end_round(state)
    ask(state, needy)
    return False


@compiled
def quickest(state, tile, seat):
    """Who of those who named a tile gets it; `seat` is the first of them."""
    rivals = bit(seat)
    for other in range(seat + 1, np.int64(state.players)):
        if state.choices[other, 0] == tile:
            rivals |= bit(other)
    if rivals == bit(seat):
        return seat
    return draw_by_reflexes(state, rivals) if state.uneven else draw_from(state, rivals)


@compiled
def draw_by_reflexes(state, rivals):
    """A random seat of a set, with chances as its weights."""
    largest = 0.0
    for seat in range(4):
        if has(rivals, seat):
            largest = max(largest, state.reflexes[seat])
    total = 0.0
    for seat in range(4):
        if has(rivals, seat):
            total += state.reflexes[seat] / largest  # such that no sum overflows
    high, low = draw32(state), draw32(state)
    lot = np.float64((high << np.uint64(21)) | (low >> np.uint64(11))) * 2.0**-53 * total
    for seat in range(4):
        if has(rivals, seat):
            lot -= state.reflexes[seat] / largest
            if lot < 0.0:
                return seat
    return lowest(rivals)  # only where rounding used up the lot


@compiled
def end_round(state):
    """The first-player card moves on; after the last round the lap's leader takes it and the rendezvous begins."""
    if state.round_number == rounds(state.players):
        state.first_player = state.lap_leader
        return True
    state.first_player = wrap(np.int64(state.first_player) + 1, np.int64(state.players))
    begin_round(state)
    return False


# --- Rendezvous ---


@compiled
def rendezvous(state):
    """Apply the pile's cards in order, until somebody has to decide or the lap is over."""
    while state.resolved < state.pile_size:
        if reveal(state):
            return
    end_lap(state)


@compiled
def reveal(state):
    """Apply the pile's next card; whether somebody has to decide first."""
    card = np.int64(state.pile[state.resolved])
    done = pass_over(state, card)
    if done == 0:
        if apply(state, card):
            return True
        done = 1
    state.resolved = min(np.int64(state.resolved) + done, np.int64(state.pile_size))
    return False


@compiled
def pass_over(state, card):
    """How many cards are done with one that is cancelled, skips others or lies open; 0 for one to be applied."""
    if GUARD[card] != NONE and remove_open(state, GUARD[card]):
        return 1  # it leaves with the open card that cancels it
    if card == SKIP_TWO:
        return 3
    if card in (CLOSED, SERVANT, CELIBACY):
        lie_open(state, card)
        return 1
    return 0


@inlined
def revealed(state):
    """How many cards of the pile everybody has seen: those done, and the one being applied."""
    return np.int64(state.resolved) + (1 if state.phase >= BURY else 0)


@compiled
def apply(state, card):
    """Carry out a card with an effect of its own; whether somebody has to decide first."""
    if card < GRAVEYARD:
        for seat in range(np.int64(state.players)):
            state.scores[seat] += points(state.tiles[seat], card)
        return False
    if card <= GRAVEYARD_ANY:
        return ask_to_bury(state, card)
    if card == RESURRECTION:
        return resurrect(state, np.int64(state.lap_leader))
    if card == SOUP:
        cook_soup(state)
    elif card == BANISHMENT:
        banish(state)
    else:
        steal(state, THIEF[card], VICTIM[card])
    return False


@compiled
def lie_open(state, card):
    """A protective card waits for what it cancels."""
    place = 0
    while state.open_cards[place] != NONE:
        place += 1
    state.open_cards[place] = card


@compiled
def remove_open(state, card):
    """Remove the first open card of a design; whether there was one."""
    found = False
    for place in range(MAX_OPEN):
        found |= state.open_cards[place] == card
        if found:
            state.open_cards[place] = state.open_cards[place + 1] if place + 1 < MAX_OPEN else NONE
    return found


# --- Cards that bring points ---


@compiled
def points(tiles, card):
    """What a scoring card brings for the tiles of a player."""
    if card == COLOUR_SET:
        sets = np.int64(TILES)
        for colour in range(5):
            sets = min(sets, popcount(tiles & COLOUR_TILES[colour]))
        return 5 * sets
    if card >= COMBINATION:
        return 4 * couples(tiles, LEFT_OF[card - COMBINATION], RIGHT_OF[card - COMBINATION])
    shown = tiles & CARD_TILES[card]
    if card >= PAIR:
        return 3 * popcount(twice(shown))
    return popcount(shown) + BONUS[popcount(once(shown))]


@inlined
def once(tiles):
    """The kinds (colour and picture) with at least one copy in a set, as plain tiles."""
    return (tiles | (tiles >> np.uint64(1))) & PLAIN


@inlined
def twice(tiles):
    """The kinds with both copies in a set, as plain tiles."""
    return tiles & (tiles >> np.uint64(1)) & PLAIN


@inlined
def couples(tiles, left, right):
    """Couples of two pictures in one colour: over the colours, the smaller number of the two."""
    left, right = np.uint64(2 * left), np.uint64(2 * right)
    one, two = once(tiles), twice(tiles)
    one, two = (one >> left) & (one >> right), (two >> left) & (two >> right)
    return popcount(one & FIRST_OF_COLOUR) + popcount(two & FIRST_OF_COLOUR)


# --- Graveyard cards ---


@compiled
def ask_to_bury(state, card):
    """Everybody buries two fitting tiles; who has more has to choose."""
    seats = 0
    for seat in range(np.int64(state.players)):
        if chooses_burial(state, seat, card):
            seats |= 1 << seat
    if seats == 0:
        bury_all(state, card)
        return False
    state.phase = BURY
    ask(state, seats)
    return True


@inlined
def chooses_burial(state, seat, card):
    """Whether a seat has more tiles that fit a graveyard card than it buries."""
    return popcount(state.tiles[seat] & CARD_TILES[card]) > 2


@compiled
def bury(state, seat, tile):
    """Choose a tile, then another one; all are buried when everybody has chosen. Whether the card is done."""
    if state.choices[seat, 0] == NONE:
        state.choices[seat, 0] = tile
        return False
    state.choices[seat, 1] = tile
    if not decided(state, seat):
        return False
    bury_all(state, np.int64(state.pile[state.resolved]))
    state.resolved += 1
    return True


@compiled
def bury_all(state, card):
    """The chosen tiles, and all fitting ones of those who had no choice, go to the graveyard."""
    for seat in range(np.int64(state.players)):
        tiles = state.tiles[seat] & CARD_TILES[card]
        if state.choices[seat, 0] != NONE:
            tiles = bit(state.choices[seat, 0]) | bit(state.choices[seat, 1])
            state.choices[seat, 0] = state.choices[seat, 1] = NONE
        entomb(state, seat, tiles)


@inlined
def entomb(state, seat, tiles):
    """Tiles of a seat go to the graveyard."""
    state.tiles[seat] ^= tiles
    state.graveyard |= tiles


# --- Cards of the advanced game ---


@compiled
def resurrect(state, seat):
    """From a seat on, up to the one before the lap's leader, everybody raises tiles; whether one has to choose."""
    players = np.int64(state.players)
    while True:
        claim(state, seat)
        if has_to_choose(state):
            state.phase = RAISE
            ask(state, 1 << seat)
            return True
        raise_all(state, seat)
        seat = wrap(seat + 1, players)
        if seat == state.lap_leader:
            return False


@inlined
def claim(state, seat):
    """A seat may raise a tile for each of its hearts, in the heart's colour."""
    for colour in range(5):
        state.claims[colour] = popcount(state.tiles[seat] & state.hearts & COLOUR_TILES[colour])


@compiled
def fitting_tiles(state):
    """Tiles of the graveyard in a colour that is still claimed."""
    colours = ZERO
    for colour in range(5):
        if state.claims[colour] > 0:
            colours |= COLOUR_TILES[colour]
    return state.graveyard & colours


@compiled
def has_to_choose(state):
    """Whether some colour has more tiles in the graveyard than are claimed of it."""
    for colour in range(5):
        claims = np.int64(state.claims[colour])
        if 0 < claims < popcount(state.graveyard & COLOUR_TILES[colour]):
            return True
    return False


@compiled
def raise_all(state, seat):
    """Every fitting tile is raised; this ends the seat's turn."""
    tiles = fitting_tiles(state)
    state.graveyard ^= tiles
    state.tiles[seat] |= tiles
    state.claims[:] = 0


@compiled
def raise_tile(state, seat, tile):
    """Take a tile from the graveyard; with no choice left the next player's turn comes. Whether the card is done."""
    state.graveyard ^= bit(tile)
    state.tiles[seat] |= bit(tile)
    state.claims[tile // 10] -= 1
    if has_to_choose(state):
        return False
    raise_all(state, seat)
    following = wrap(seat + 1, np.int64(state.players))
    if following != state.lap_leader and resurrect(state, following):
        return False
    state.resolved += 1
    return True


@compiled
def steal(state, thief, victim):
    """Each own thief takes the victim of its colour from an opponent; all of them with hearts."""
    players, seat = np.int64(state.players), np.int64(state.lap_leader)
    for _ in range(players):
        wanted = prey(state.tiles[seat], np.uint64(state.hearts), thief, victim)
        for other in range(players):
            if other != seat:
                stolen = state.tiles[other] & wanted
                state.tiles[other] ^= stolen
                state.tiles[seat] |= stolen
        seat = wrap(seat + 1, players)


@inlined
def prey(tiles, hearts, thief, victim):
    """What the thieves among some tiles are after: victims of their colours, all of them with hearts."""
    thieves = tiles & hearts & PICTURE_TILES[thief]
    return (thieves >> np.uint64(2 * thief)) << np.uint64(2 * victim) & hearts


@compiled
def cook_soup(state):
    """3 points for every garlic, then all garlic goes to the graveyard."""
    for seat in range(np.int64(state.players)):
        garlic = state.tiles[seat] & PICTURE_TILES[GARLIC]
        state.scores[seat] += 3 * popcount(garlic)
        entomb(state, seat, garlic)


@compiled
def banish(state):
    """Garlic drives all vampires of its owner into the graveyard."""
    for seat in range(np.int64(state.players)):
        if state.tiles[seat] & PICTURE_TILES[GARLIC] != ZERO:
            entomb(state, seat, state.tiles[seat] & PICTURE_TILES[VAMPIRE])


# --- End of a lap and of the game ---


@compiled
def end_lap(state):
    """The next lap follows, or most points win; a tie is shared."""
    if state.lap < state.laps:
        begin_lap(state)
        return
    state.open_cards[:] = NONE
    state.graveyard = ZERO
    best, winners = np.int64(-1), 0
    for seat in range(np.int64(state.players)):
        total = np.int64(state.scores[seat])
        if total > best:
            best, winners = total, 0
        if total == best:
            winners |= 1 << seat
    state.winners = winners
    state.outcome = TERMINATED
    ask(state, 0)


# --- Result ---


@compiled
def score(state, side):
    """The points of a seat."""
    return np.int64(state.scores[side])
