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
from monsterzoo.envs.core.bits import ONE, ZERO, bit, drop_lowest, first, lowest, popcount
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

# Combination cards by five, as a table of who goes with whom: bit 10 p + 2 q for pictures p and q, as tiles are counted.
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

# What a tile adds for one card, in hundredths of a point, by how sure that card is: 0 any card, 1 in hand, 2 or 3 laid
# by us. Everything is looked up and added, be it 0: jumps that depend on the cards would be guessed wrong.
_SURE = np.array([ANY, IN_HAND, OWN, OWN])
# A picture or colour card, by [tiles of the same kind, tiles of the picture or colour]: more for another kind.
KIND_ADDS = np.array([[_SURE * (5 if same else 9 if tiles < 3 else 15) for tiles in range(16)] for same in range(2)])
PAIR_ADDS = np.array([0 * _SURE, 15 * _SURE])  # by tiles of the same kind
SET_ADDS = np.array([0 * _SURE, 25 * _SURE])  # by whether the colour has the fewest tiles
COUPLE_ADDS = 20  # for each picture that waits for this one


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


@inlined
def sureness(laid, hand):
    """How sure every scoring card is, two bits each."""
    return spread(hand) | spread(laid) << ONE


@inlined
def spread(cards):
    """Bit k of the scoring cards moved to bit 2 k."""
    cards &= first(GRAVEYARD)
    cards = (cards | cards << np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    cards = (cards | cards << np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    cards = (cards | cards << np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    cards = (cards | cards << np.uint64(2)) & np.uint64(0x3333333333333333)
    return (cards | cards << np.uint64(1)) & np.uint64(0x5555555555555555)


@inlined
def of_card(sure, card):
    """How sure one card is."""
    return (sure >> np.uint64(2 * card)) & np.uint64(3)


@inlined
def coupled(cards):
    """Which pictures the combination cards of a set bring together, see `_COUPLED`."""
    cards >>= np.uint64(COMBINATION)
    return _COUPLED[0, cards & np.uint64(31)] | _COUPLED[1, (cards >> np.uint64(5)) & np.uint64(31)]


@inlined
def added(tiles, tile, sure, couples, fewest):
    """What a tile adds to a collection it is not part of, in weighted points; `fewest` tiles are in another colour.

    `couples` are those by the cards we have laid and those by the cards still in hand.
    """
    colour, picture = tile // 10, (tile % 10) >> 1
    of_picture, of_colour = tiles & PICTURE_TILES[picture], tiles & COLOUR_TILES[colour]
    same = popcount(of_picture & of_colour)  # 0 or 1: there are two tiles of a kind
    value = KIND_ADDS[same, popcount(of_picture), of_card(sure, PICTURE_CARD + picture)]
    value += KIND_ADDS[same, popcount(of_colour), of_card(sure, COLOUR_CARD + colour)]
    value += PAIR_ADDS[same, of_card(sure, PAIR + picture)]
    value += SET_ADDS[np.uint64(popcount(of_colour) < fewest), of_card(sure, COLOUR_SET)]
    waiting = (twice(of_colour) if same == 1 else once(of_colour)) >> np.uint64(10 * colour)  # pictures we have more of
    certain, likely = (
        (couples[0] >> np.uint64(10 * picture)) & waiting,
        (couples[1] >> np.uint64(10 * picture)) & waiting,
    )
    sum_sure = ANY * popcount(waiting) + (OWN - ANY) * popcount(certain) + (IN_HAND - ANY) * popcount(likely)
    return value + COUPLE_ADDS * sum_sure


@inlined
def two_fewest(tiles):
    """The number of tiles in the colour with the fewest, and in the next one."""
    least, second = TILES, TILES
    for colour in range(5):
        count = popcount(tiles & COLOUR_TILES[colour])
        second = min(second, max(least, count))
        least = min(least, count)
    return least, second


@inlined
def best_tile(row, variant, tiles, bury):
    """The tile worth the most to have, or to bury the one worth the least."""
    at = _AT[variant]
    own = columns(row, at[TILES_OF], TILES)
    laid, hand = own_cards(row, variant), columns(row, at[HAND], _DESIGNS[variant])
    hand = ZERO if bury else hand
    sure, couples = sureness(laid, hand), (coupled(laid), coupled(hand & ~laid))
    sign = -1 if bury else 1
    least, second = two_fewest(own)
    best, chosen = -(1 << 30), 0
    while tiles != ZERO:
        tile = lowest(tiles)
        tiles = drop_lowest(tiles)
        fewest = least if popcount(own & COLOUR_TILES[tile // 10]) > least else second
        value = sign * added(own & ~bit(tile), tile, sure, couples, fewest)
        better = value > best
        best, chosen = value if better else best, tile if better else chosen
    return chosen


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
