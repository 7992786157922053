"""Heuristic for Bite Night: grab and lay by the expected points of the pile.

- One's own cards in the pile are certain to come (barring a skip), cards in hand may follow, any other card might be in
  the pile: a tile is worth what it adds to the points of every scoring card, times how sure that card is. Tiles are
  grabbed, spared from the graveyard and raised by that value.
- A card is laid for the lead it gives: one's own points with it minus the others' average with the tiles on the table,
  while in early rounds, when there are few tiles, cards that one can still collect for are preferred.
- Graveyard cards are laid against tiles the others have more of; cards that steal against hearts in reach.
"""

from itertools import product

import numpy as np
from monsterzoo.envs.bite_night.rules import (
    BANISHMENT,
    BASIC_DESIGNS,
    BURY,
    CARD_TILES,
    COLOUR_CARD,
    COLOUR_SET,
    COLOUR_TILES,
    COMBINATION,
    COUPLES,
    DESIGNS,
    GARLIC,
    GRAB,
    GRAVEYARD,
    GRAVEYARD_ANY,
    LAY,
    PAIR,
    PICTURE_CARD,
    PICTURE_TILES,
    SOUP,
    THIEF,
    TILES,
    VAMPIRE,
    VICTIM,
    once,
    points,
    prey,
    rounds,
    twice,
)
from monsterzoo.envs.bite_night.view import VIEW
from monsterzoo.envs.compiling.dispatch import implement
from monsterzoo.envs.compiling.jit import compiled, inlined
from monsterzoo.envs.core.bits import ZERO, bit, drop_lowest, first, has, lowest, popcount

from . import advise

# --- Weights ---

# How surely a scoring card pays, in percent.
LAID = 100  # we have laid it; only a skip could remove it
HELD = 35  # it is in our hand and may follow
ELSEWHERE = 25  # somebody else may have laid it, or will
SURENESS = np.array([[ELSEWHERE, HELD], [LAID, LAID]], np.int64)  # by [whether we have laid it, whether we hold it]

# What a tile adds to the points of a card, in tenths.
KNOWN_KIND = 10  # picture or colour card: a tile like one that we have
NEW_KIND = 18  # the same, a new colour of the picture or picture of the colour: a step towards the bonus
BONUS_KIND = 30  # the same, when ENOUGH tiles count already for the bonus to be near
ENOUGH = 3
A_PAIR, A_COUPLE, A_SET = 30, 40, 50  # pair card, combination card, colour set
# Picture and colour cards, by [copies of the tile that we have, tiles that count already].
KIND_ADDS = np.array([[NEW_KIND] * ENOUGH + [BONUS_KIND] * (11 - ENOUGH), [KNOWN_KIND] * 11], np.int64)

# What a tile is worth that is lost by a card, in points.
BURIED = 2
STOLEN = 3

# What a card promises before there are tiles, in points: one can collect for it, or use it well later.
PROMISE = np.zeros(DESIGNS)
PROMISE[COLOUR_SET] = 2.0
PROMISE[PICTURE_CARD : PICTURE_CARD + 5] = 3.0
PROMISE[COLOUR_CARD : COLOUR_CARD + 5] = 3.0
PROMISE[PAIR : PAIR + 5] = 1.5
PROMISE[COMBINATION : COMBINATION + 10] = 3.5
PROMISE[GRAVEYARD : GRAVEYARD_ANY + 1] = -1.0

# Who goes with whom by a set of combination cards: bit 10 p + 2 q for the pictures p and q.
COUPLED = np.zeros(1 << len(COUPLES), np.uint64)
for _cards, (_k, (_p, _q)) in product(range(len(COUPLED)), enumerate(COUPLES)):
    if _cards >> _k & 1:
        COUPLED[_cards] |= np.uint64(1 << 10 * _p + 2 * _q | 1 << 10 * _q + 2 * _p)


@compiled
def best_action(view, words):
    """The action to choose."""
    if view.phase == LAY:
        return best_card(view, words[0] & first(DESIGNS))
    start = (DESIGNS if view.advanced else BASIC_DESIGNS) + TILES * (np.int64(view.phase) - GRAB)
    return start + best_tile(view, tiles_from(words, start))


@inlined
def tiles_from(words, start):
    """The tiles of the legal actions from `start` on."""
    word, shift = start >> 6, np.uint64(start & 63)
    tiles = words[word] >> shift
    if shift > np.uint64(64 - TILES):
        tiles |= words[word + 1] << (np.uint64(64) - shift)
    return tiles & first(TILES)


# --- Tiles: tables instead of unpredictable branches ---


@compiled
def best_tile(view, tiles):
    """The tile worth the most to have, or to bury the one worth the least; of several the first."""
    burying, own, laid = view.phase == BURY, view.tiles[0], cards_to_come(view)
    hand = ZERO if burying else view.hand
    decisive, a_set = decisive_tiles(own, burying), A_SET * sureness(COLOUR_SET, laid, hand)
    best, chosen = -(1 << 30), 0
    while tiles != ZERO:
        tile = lowest(tiles)
        tiles = drop_lowest(tiles)
        worth = worth_of_tile(tile, own & ~bit(tile), laid, hand) + a_set * has(decisive, tile)
        if burying:
            worth = -worth
        if worth > best:
            best, chosen = worth, tile
    return chosen


@inlined
def cards_to_come(view):
    """The cards we have laid that are still to be applied, as a set."""
    players, cards = np.int64(view.players), ZERO
    for place in range(np.int64(view.resolved), players * rounds(players)):
        if view.pile_seats[place] == 0:
            cards |= bit(view.pile[place] & 63)
    return cards


@inlined
def decisive_tiles(own, burying):
    """The tiles that make a set of colours more or, when we bury one of them, less."""
    fewest = TILES
    for colour in range(5):
        fewest = min(fewest, popcount(own & COLOUR_TILES[colour]))
    scarce, tiles = 0, ZERO
    for colour in range(5):
        if popcount(own & COLOUR_TILES[colour]) == fewest:
            scarce, tiles = scarce + 1, tiles | COLOUR_TILES[colour]
    return tiles if burying or scarce == 1 else ZERO


@inlined
def worth_of_tile(tile, others, laid, hand):
    """What a tile beside our others adds to the points of all cards but the colour set, in thousandths."""
    colour = tile // 10
    picture = (tile - 10 * colour) >> 1
    of_colour, of_picture = others & COLOUR_TILES[colour], others & PICTURE_TILES[picture]
    copies = popcount(of_colour & of_picture)
    worth = KIND_ADDS[copies, popcount(of_picture)] * sureness(PICTURE_CARD + picture, laid, hand)
    worth += KIND_ADDS[copies, popcount(of_colour)] * sureness(COLOUR_CARD + colour, laid, hand)
    worth += A_PAIR * copies * sureness(PAIR + picture, laid, hand)
    # A couple waits for this tile where we have more of another picture in its colour.
    more = (twice(of_colour) if copies > 0 else once(of_colour)) >> np.uint64(10 * colour)
    return worth + A_COUPLE * sureness_of_couples(picture, more & ~bit(2 * picture), laid, hand)


@inlined
def sureness(card, laid, hand):
    """How surely a scoring card pays, in percent."""
    return SURENESS[int(has(laid, card)), int(has(hand, card))]


@inlined
def sureness_of_couples(picture, mates, laid, hand):
    """How surely the combination cards of a picture and some others (bit 2 q for picture q) pay, all together."""
    place = np.uint64(10 * picture)
    ours, likely = popcount(mates & (coupled(laid) >> place)), popcount(mates & (coupled(hand) >> place))
    return LAID * ours + HELD * likely + ELSEWHERE * (popcount(mates) - ours - likely)


@inlined
def coupled(cards):
    """Who goes with whom by the combination cards of a set, see COUPLED."""
    return COUPLED[(cards >> np.uint64(COMBINATION)) & first(len(COUPLES))]


# --- Cards ---


@compiled
def best_card(view, cards):
    """The card that gives the largest lead."""
    players = np.int64(view.players)
    to_come = 1.0 - (view.round_number - 1.0) / rounds(players)  # which part of the tiles nobody has seen yet
    everything = ZERO
    for seat in range(players):
        everything |= view.tiles[seat]
    best, chosen = -1e9, 0
    while cards != ZERO:
        card = lowest(cards)
        cards = drop_lowest(cards)
        others = 0
        for seat in range(1, players):
            others += effect(card, view.tiles[seat], everything, view.hearts)
        own = effect(card, view.tiles[0], everything, view.hearts)
        value = own - others / (players - 1) + to_come * PROMISE[card]
        if value > best:
            best, chosen = value, card
    return chosen


@compiled
def effect(card, tiles, everything, hearts):
    """What a card does to the owner of some tiles, `everything` on the table, in points."""
    if card < GRAVEYARD:
        return points(tiles, card)
    if card <= GRAVEYARD_ANY:
        return -BURIED * min(popcount(tiles & CARD_TILES[card]), 2)
    if card == SOUP:
        return 3 * popcount(tiles & PICTURE_TILES[GARLIC])
    if card == BANISHMENT:
        return -BURIED * popcount(tiles & PICTURE_TILES[VAMPIRE]) if tiles & PICTURE_TILES[GARLIC] != ZERO else 0
    if THIEF[card] == VICTIM[card]:
        return 0  # nobody steals
    others = everything & ~tiles
    gained = popcount(prey(tiles, hearts, THIEF[card], VICTIM[card]) & others)
    lost = popcount(prey(others, hearts, THIEF[card], VICTIM[card]) & tiles)
    return STOLEN * (gained - lost)


implement(advise, VIEW, best_action)
