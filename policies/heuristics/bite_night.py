"""Bite Night by hand: know what the pile will pay, and grab that.

- The own cards in the pile are certain to come (barring a skip), cards in hand may follow, any other card might be in
  the pile: each scoring card has a weight, and a tile is worth what it adds to the weighted sum of all cards' points.
  Tiles are grabbed, spared from the graveyard and raised by that value.
- A card is laid for the lead it gives: the own points with it minus the others' average with the tiles on the table,
  while in early rounds, when there are few tiles, cards that one can still collect for are preferred.
- Graveyard cards are laid against tiles the others have more of; cards that steal against hearts in reach.
"""

import numpy as np
from monsterzoo.envs.bite_night.observation import layout, observe_packed
from monsterzoo.envs.bite_night.rules import (
    BANISHMENT,
    BASIC_DESIGNS,
    CARD_TILES,
    COLOUR_CARD,
    COLOUR_SET,
    COLOUR_TILES,
    COMBINATION,
    COUPLES,
    DESIGNS,
    GARLIC,
    GRAVEYARD,
    GRAVEYARD_ANY,
    HEARTS,
    PAIR,
    PICTURE_CARD,
    PICTURE_TILES,
    SOUP,
    STATE,
    THIEF,
    TILES,
    VAMPIRE,
    VICTIM,
    once,
    points,
    twice,
)
from monsterzoo.envs.core.bits import ZERO, bit, drop_lowest, first, has, lowest, popcount
from monsterzoo.envs.core.jit import compiled, inlined

from . import register
from .reading import columns, columns_64, number

# --- Where the fields are, by [variant, field]; variants are (players, advanced) ---

_VARIANTS = ((3, False), (4, False), (3, True), (4, True))
FIELDS = ("hand", "pile", "pile_seats", "tiles", "phase", "round", "resolved")
HAND, PILE, PILE_SEATS, TILES_OF, PHASE, ROUND, RESOLVED = range(len(FIELDS))
_LAYOUTS = [layout(*variant) for variant in _VARIANTS]
_AT = np.array([[one.packed_start(name) for name in FIELDS] for one in _LAYOUTS], np.int64)
_SIZES = np.array([one.size // 8 for one in _LAYOUTS], np.int64)
_PLAYERS = np.array([players for players, _ in _VARIANTS], np.int64)
_DESIGNS = np.array([DESIGNS if advanced else BASIC_DESIGNS for _, advanced in _VARIANTS], np.int64)
_PLACES = np.array([one["pile_seats"].shape[0] for one in _LAYOUTS], np.int64)
_ROUNDS = np.array([5, 4, 5, 4], np.int64)
# The columns of `pile_seats` that tell our own places.
_OWN_PLACES = np.array(
    [
        sum(1 << players * place for place in range(places))
        for players, places in zip(_PLAYERS.tolist(), _PLACES.tolist())
    ],
    np.uint64,
)

# Who goes with whom by five combination cards, each: bit 10 p + 2 q for the pictures p and q.
_COUPLED = np.zeros((2, 32), np.uint64)
for _half, _cards in np.ndindex(2, 32):
    for _k, (_p, _q) in enumerate(COUPLES[5 * _half : 5 * _half + 5]):
        _COUPLED[_half, _cards] |= np.uint64((_cards >> _k & 1) * (1 << 10 * _p + 2 * _q | 1 << 10 * _q + 2 * _p))

# --- Weights ---

OWN, IN_HAND, ANY = 20, 7, 5  # how surely a scoring card pays, in twentieths: laid by us, still in hand, none of these
BURIED, STOLEN = 2.0, 3.0  # what a tile is worth that is lost or stolen
# What a card promises before there are tiles: one can collect for it, or use it well later.
PROMISE = np.zeros(DESIGNS)
PROMISE[COLOUR_SET] = 2.0
PROMISE[PICTURE_CARD : PICTURE_CARD + 10] = 3.0
PROMISE[PAIR : PAIR + 5] = 1.5
PROMISE[COMBINATION : COMBINATION + 10] = 3.5
PROMISE[GRAVEYARD : GRAVEYARD_ANY + 1] = -1.0

# What a tile adds, in hundredths of a point: these times how sure the card is. Picture and colour cards pay more for a
# new kind (a colour of the picture, a picture of the colour), most of all where there are enough tiles for a bonus.
KNOWN_KIND_ADDS, NEW_KIND_ADDS, BONUS_KIND_ADDS = 5, 9, 15
ENOUGH_TILES = 3
PAIR_ADDS, COUPLE_ADDS, SET_ADDS = 15, 20, 25


@compiled
def advise(row, words):
    """The action to choose."""
    # Constant variants let the compiler place every field once and for all.
    if len(row) == _SIZES[0]:
        return decide(row, words, 0)
    if len(row) == _SIZES[1]:
        return decide(row, words, 1)
    if len(row) == _SIZES[2]:
        return decide(row, words, 2)
    return decide(row, words, 3)


@inlined
def decide(row, words, variant):
    """The action to choose in one of the variants."""
    at, designs = _AT[variant], _DESIGNS[variant]
    phase = lowest(columns(row, at[PHASE], 4 if designs == DESIGNS else 3))
    if phase == 0:
        return best_to_lay(row, variant, words[0])
    start = designs + TILES * (phase - 1)
    word, shift = start >> 6, np.uint64(start & 63)
    tiles = words[word] >> shift
    if shift > np.uint64(64 - TILES):
        tiles |= words[word + 1] << (np.uint64(64) - shift)
    tiles &= first(TILES)
    return start + best_tile(row, variant, tiles, phase == 2)


# --- Tiles ---


@inlined
def own_cards(row, variant):
    """The cards we have laid that are still to come, as a set."""
    at, designs, players = _AT[variant], _DESIGNS[variant], _PLAYERS[variant]
    laid = columns_64(row, at[PILE_SEATS]) & _OWN_PLACES[variant]
    laid &= ~first(number(row, at[RESOLVED]) * players)
    cards = ZERO
    while laid != ZERO:
        place = lowest(laid) >> 2 if players == 4 else lowest(laid) // 3
        laid = drop_lowest(laid)
        cards |= columns(row, at[PILE] + place * designs, designs)
    return cards


# Numbers for all five pictures, or colours, are kept in one word, twelve bits each.
_FIVE = np.array([sum((five >> k & 1) << 12 * k for k in range(5)) for five in range(32)], np.uint64)  # 1 for a member
_WHOLE = np.uint64(0xFFF)


@inlined
def each_of(members):
    """1 for each member of a set of five, else 0."""
    return _FIVE[members & np.uint64(31)]


@inlined
def of_one(five, k):
    """One of five numbers."""
    return np.int64((five >> np.uint64(12 * k)) & _WHOLE)


@inlined
def sureness(laid, hand, start):
    """How sure each of the five cards from `start` on is."""
    ours, likely = each_of(laid >> np.uint64(start)), each_of(hand >> np.uint64(start))
    return np.uint64(ANY) * _FIVE[31] + np.uint64(OWN - ANY) * ours + np.uint64(IN_HAND - ANY) * likely


@inlined
def with_at_least(count, tiles, groups):
    """The set of five groups of tiles, pictures or colours, of which there are so many."""
    found = ZERO
    for k in range(5):
        found |= np.uint64(popcount(tiles & groups[k]) >= count) << np.uint64(k)
    return found


@inlined
def new_kind_adds(sure, enough):
    """What a tile of a new kind adds for picture or colour cards; `enough` are those with enough tiles."""
    extra = sure & _WHOLE * each_of(enough)
    return np.uint64(NEW_KIND_ADDS) * sure + np.uint64(BONUS_KIND_ADDS - NEW_KIND_ADDS) * extra


@inlined
def coupled(cards):
    """Which pictures the combination cards of a set bring together, see `_COUPLED`."""
    cards >>= np.uint64(COMBINATION)
    return _COUPLED[0, cards & np.uint64(31)] | _COUPLED[1, (cards >> np.uint64(5)) & np.uint64(31)]


@inlined
def smallest_colours(tiles):
    """The set of colours with the fewest tiles."""
    least = np.int64(TILES)
    for colour in range(5):
        least = min(least, popcount(tiles & COLOUR_TILES[colour]))
    return first(5) & ~with_at_least(least + 1, tiles, COLOUR_TILES)


@inlined
def kind_adds(own, laid, hand, bury):
    """What tiles of each picture and of each colour add, of a new kind and of one that we have another tile of.

    A tile that is buried is one of ours and compared with the others: where counts matter, it is not one of them.
    """
    enough = ENOUGH_TILES + 1 if bury else ENOUGH_TILES
    behind = smallest_colours(own)  # another tile makes a further set of colours possible, if it is missed there alone
    behind = behind if bury or drop_lowest(behind) == ZERO else ZERO
    pictures, colours = sureness(laid, hand, PICTURE_CARD), sureness(laid, hand, COLOUR_CARD)
    a_set = np.uint64(SET_ADDS) * (sureness(laid, hand, COLOUR_SET) & _WHOLE) * each_of(behind)
    return (
        new_kind_adds(pictures, with_at_least(enough, own, PICTURE_TILES)),
        new_kind_adds(colours, with_at_least(enough, own, COLOUR_TILES)) + a_set,
        np.uint64(KNOWN_KIND_ADDS) * pictures + np.uint64(PAIR_ADDS) * sureness(laid, hand, PAIR),
        np.uint64(KNOWN_KIND_ADDS) * colours + a_set,
    )


@inlined
def best_tile(row, variant, tiles, bury):
    """The tile worth the most to have, or to bury the one worth the least."""
    at = _AT[variant]
    own, laid = columns(row, at[TILES_OF], TILES), own_cards(row, variant)
    hand = ZERO if bury else columns(row, at[HAND], _DESIGNS[variant]) & ~laid
    picture_adds, colour_adds, known_picture_adds, known_colour_adds = kind_adds(own, laid, hand, bury)
    certain, likely = coupled(laid), coupled(hand)
    one, two = once(own), twice(own)
    best = -(1 << 30)
    while tiles != ZERO:
        tile = lowest(tiles)
        tiles = drop_lowest(tiles)
        colour = tile // 10
        picture = (tile - 10 * colour) >> 1
        known = has(two if bury else one, tile & 62)
        value = of_one(known_picture_adds if known else picture_adds, picture)
        value += of_one(known_colour_adds if known else colour_adds, colour)
        # Pictures that we have more of in this colour wait for this one.
        waiting = ((two if known else one) >> np.uint64(10 * colour)) & first(10) & ~bit(2 * picture)
        mates = np.uint64(10 * picture)
        sure = ANY * popcount(waiting) + (OWN - ANY) * popcount(waiting & certain >> mates)
        sure += (IN_HAND - ANY) * popcount(waiting & likely >> mates)
        value += COUPLE_ADDS * sure
        best = max(best, (-value if bury else value) * 64 - tile)  # of the same value, the first tile
    return -best & 63


# --- Cards ---


@inlined
def best_to_lay(row, variant, cards):
    """The card that gives the largest lead."""
    at, players = _AT[variant], _PLAYERS[variant]
    done = (number(row, at[ROUND]) - 1.0) / _ROUNDS[variant]  # how many of the tiles are known
    own = columns(row, at[TILES_OF], TILES)
    left = columns(row, at[TILES_OF] + TILES, TILES)
    right = columns(row, at[TILES_OF] + (players - 1) * TILES, TILES)
    opposite = columns(row, at[TILES_OF] + 2 * TILES, TILES) if players == 4 else ZERO  # nobody: no tiles, no points
    everything = own | left | right | opposite
    best, chosen = -1e9, 0
    while cards != ZERO:
        card = lowest(cards)
        cards = drop_lowest(cards)
        lead = effect(card, own, everything)
        others = effect(card, left, everything) + effect(card, opposite, everything) + effect(card, right, everything)
        value = lead - others / (players - 1) + (1.0 - done) * PROMISE[card]
        better = value > best
        best, chosen = value if better else best, card if better else chosen
    return chosen


@compiled
def effect(card, tiles, everything):
    """What a card does to the owner of some tiles, `everything` on the table, in points."""
    if card < GRAVEYARD:
        return np.float64(points(tiles, card))
    if card <= GRAVEYARD_ANY:
        return -BURIED * min(popcount(tiles & CARD_TILES[card]), 2)
    if card < BASIC_DESIGNS:
        return 0.0
    if card == SOUP:
        return 3.0 * popcount(tiles & PICTURE_TILES[GARLIC])
    if card == BANISHMENT:
        return -BURIED * popcount(tiles & PICTURE_TILES[VAMPIRE]) if tiles & PICTURE_TILES[GARLIC] != ZERO else 0.0
    if THIEF[card] == VICTIM[card]:  # nobody steals: resurrection and protective cards
        return 0.0
    thieves = tiles & HEARTS & PICTURE_TILES[THIEF[card]]
    victims = tiles & HEARTS & PICTURE_TILES[VICTIM[card]]
    all_thieves = everything & HEARTS & PICTURE_TILES[THIEF[card]]
    all_victims = everything & HEARTS & PICTURE_TILES[VICTIM[card]]
    value = 0.0
    for colour in range(5):
        ours = COLOUR_TILES[colour]
        if thieves & ours != ZERO and (all_victims & ~victims) & ours != ZERO:
            value += STOLEN
        if victims & ours != ZERO and (all_thieves & ~thieves) & ours != ZERO:
            value -= STOLEN
    return value


register(STATE, advise, observe_packed)
