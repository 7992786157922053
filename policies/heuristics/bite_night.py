"""Bite Night by hand: know what the pile will pay, and grab that.

- The own cards in the pile are certain to come (barring a skip), cards in hand may follow, any other card might be in
  the pile: each scoring card has a weight, and a tile is worth what it adds to the weighted sum of all cards' points.
  Tiles are grabbed, spared from the graveyard and raised by that value.
- A card is laid for the lead it gives: the own points with it minus the others' average with the tiles on the table,
  while in early rounds, when there are few tiles, cards that one can still collect for are preferred.
- Graveyard cards are laid against tiles the others have more of; cards that steal against hearts in reach.
"""

import numpy as np
from monsterzoo.envs.bite_night.observation import layout
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
    points,
)
from monsterzoo.envs.core.bits import ZERO, bit, drop_lowest, first, has, lowest, popcount
from monsterzoo.envs.core.jit import compiled, inlined

from . import register
from .reading import columns, number

# --- Where the fields are, by [variant, field]; variants are (players, advanced) ---

_VARIANTS = ((3, False), (4, False), (3, True), (4, True))
_NAMES = ("hand", "pile", "pile_seats", "middle", "tiles", "graveyard", "phase", "round", "resolved")
HAND, PILE, PILE_SEATS, MIDDLE, TILES_OF, GRAVES, PHASE, ROUND, RESOLVED = range(len(_NAMES))
_LAYOUTS = [layout(*variant) for variant in _VARIANTS]
_AT = np.array([[one[name].start for name in _NAMES] for one in _LAYOUTS], np.int64)
_SIZES = np.array([one.size // 8 for one in _LAYOUTS], np.int64)
_PLAYERS = np.array([players for players, _ in _VARIANTS], np.int64)
_DESIGNS = np.array([DESIGNS if advanced else BASIC_DESIGNS for _, advanced in _VARIANTS], np.int64)
_PLACES = np.array([one["pile_seats"].shape[0] for one in _LAYOUTS], np.int64)
_ROUNDS = np.array([5, 4, 5, 4], np.int64)

_COUPLE = np.full((5, 5), -1, np.int64)  # the combination card of two pictures
for _k, (_p, _q) in enumerate(COUPLES):
    _COUPLE[_p, _q] = _COUPLE[_q, _p] = COMBINATION + _k

# --- Weights ---

OWN, IN_HAND, ANY = 1.0, 0.35, 0.25  # how surely a scoring card pays: laid by us, still in hand, none of these
BURIED, STOLEN = 2.0, 3.0  # what a tile is worth that is lost or stolen
# What a card promises before there are tiles: one can collect for it, or use it well later.
PROMISE = np.zeros(DESIGNS)
PROMISE[COLOUR_SET] = 2.0
PROMISE[PICTURE_CARD : PICTURE_CARD + 10] = 3.0
PROMISE[PAIR : PAIR + 5] = 1.5
PROMISE[COMBINATION : COMBINATION + 10] = 3.5
PROMISE[GRAVEYARD : GRAVEYARD_ANY + 1] = -1.0


@compiled
def advise(row, words):
    """The action to choose."""
    variant = 0
    while _SIZES[variant] != len(row):
        variant += 1
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


@compiled
def own_cards(row, variant):
    """The cards we have laid that are still to come, as a set."""
    at, designs, players = _AT[variant], _DESIGNS[variant], _PLAYERS[variant]
    resolved = number(row, at[RESOLVED])
    cards = ZERO
    for place in range(resolved, _PLACES[variant]):
        seats = columns(row, at[PILE_SEATS] + place * players, players)
        if seats == ZERO:
            break
        if has(seats, 0):
            cards |= columns(row, at[PILE] + place * designs, designs)
    return cards


@inlined
def weight(card, laid, hand):
    """How surely a scoring card pays."""
    if has(laid, card):
        return OWN
    return IN_HAND if has(hand, card) else ANY


@compiled
def added(tiles, tile, laid, hand):
    """What a tile adds to a collection it is not part of, in weighted points."""
    colour, picture = tile // 10, (tile % 10) >> 1
    of_picture, of_colour = tiles & PICTURE_TILES[picture], tiles & COLOUR_TILES[colour]
    value = weight(PICTURE_CARD + picture, laid, hand) * (1.0 + new_kind(of_picture, of_colour))
    value += weight(COLOUR_CARD + colour, laid, hand) * (1.0 + new_kind(of_colour, of_picture))
    same = popcount(of_picture & of_colour)
    if same == 1:
        value += 3.0 * weight(PAIR + picture, laid, hand)
    for other in range(5):
        if other != picture and popcount(of_colour & PICTURE_TILES[other]) > same:
            value += 4.0 * weight(_COUPLE[picture, other], laid, hand)
    fewest = 50
    for other in range(5):
        if other != colour:
            fewest = min(fewest, popcount(tiles & COLOUR_TILES[other]))
    if popcount(of_colour) < fewest:
        value += 5.0 * weight(COLOUR_SET, laid, hand)
    return value


@inlined
def new_kind(row_of_kinds, column):
    """The bonus step of a picture or colour card: more for another kind, nothing for one that is there already."""
    if row_of_kinds & column != ZERO:
        return 0.0
    return 0.8 if popcount(row_of_kinds) < 3 else 2.0


@compiled
def best_tile(row, variant, tiles, bury):
    """The tile worth the most to have, or to bury the one worth the least."""
    at = _AT[variant]
    own = columns(row, at[TILES_OF], TILES)
    laid, hand = own_cards(row, variant), ZERO
    if not bury:
        hand = columns(row, at[HAND], _DESIGNS[variant])
    best, chosen = -1e9, 0
    while tiles != ZERO:
        tile = lowest(tiles)
        tiles = drop_lowest(tiles)
        value = added(own & ~bit(tile), tile, laid, hand)
        if bury:
            value = -value
        if value > best:
            best, chosen = value, tile
    return chosen


# --- Cards ---


@compiled
def best_to_lay(row, variant, cards):
    """The card that gives the largest lead."""
    at, players = _AT[variant], _PLAYERS[variant]
    done = (number(row, at[ROUND]) - 1.0) / _ROUNDS[variant]  # how many of the tiles are known
    best, chosen = -1e9, 0
    while cards != ZERO:
        card = lowest(cards)
        cards = drop_lowest(cards)
        lead = effect(card, columns(row, at[TILES_OF], TILES), row, variant)
        others = 0.0
        for seat in range(1, players):
            others += effect(card, columns(row, at[TILES_OF] + seat * TILES, TILES), row, variant)
        value = lead - others / (players - 1) + (1.0 - done) * PROMISE[card]
        if value > best:
            best, chosen = value, card
    return chosen


@compiled
def effect(card, tiles, row, variant):
    """What a card does to the owner of some tiles, in points."""
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
    at, everything = _AT[variant], ZERO
    for seat in range(_PLAYERS[variant]):
        everything |= columns(row, at[TILES_OF] + seat * TILES, TILES)
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


register(STATE, advise)
