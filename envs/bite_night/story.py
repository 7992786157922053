"""The rendezvous of Bite Night told card by card: what everybody sees between one decision and the next."""

from typing import Any

import numpy as np

from ..core.bits import members
from . import rules
from .events import GAINS, MIDDLE
from .text import names_of_tiles, pile_of

TOLD = range(GAINS, MIDDLE)
"""Events that are told here instead."""


def story(before: np.ndarray, seat: int, action: int) -> list[tuple[int, str]]:
    """What a decision in a state (1,) leads to in the rendezvous, as (seat, text); {0}, {1}, … are the seats.

    It is played again, card by card. All of this lies open: tiles, points, and cards when their turn has come.
    """
    states = before.copy()
    state, pile = states[0], pile_of(before[0])
    resumed = rules.CARD_NAMES[state.pile[state.resolved]] if state.phase >= rules.BURY else ""
    if not rules.decide(state, seat, action):
        return []
    said = _changes(before[0], state)
    lines = [(-1, f"{resumed}: {said}" if resumed else said)]
    while state.resolved < state.pile_size:
        place, earlier = int(state.resolved), states.copy()[0]
        who, card = pile[place]
        asked = bool(rules.reveal(state))
        following = [name for _, name in pile[place + 1 : place + 3]]
        said = _changes(earlier, state) or _why_nothing(card, earlier.open_cards.tolist(), asked, following)
        lines.append((who, f"{rules.CARD_NAMES[card]}, laid by {{{who}}}: {said}"))
        if asked:
            break
    return lines


def _why_nothing(card: int, opened: list[int], asked: bool, following: list[int]) -> str:
    """Why a card has changed nothing."""
    if rules.GUARD[card] in opened and rules.GUARD[card] != rules.NONE:
        return f"no effect, {rules.CARD_NAMES[rules.GUARD[card]]} lay open"
    if card == rules.SKIP_TWO:
        return f"no effect for {' and '.join(rules.CARD_NAMES[skipped] for skipped in following) or 'anything'}"
    if card in rules.GUARD:
        return "it lies open"
    return "a choice has to be made" if asked else "nothing for anybody"


def _changes(before: Any, after: Any) -> str:
    """What has changed in points and tiles from one state to another."""
    names, said = names_of_tiles(int(after.hearts)), []
    for seat in range(int(after.players)):
        points, had, has = int(after.scores[seat]) - int(before.scores[seat]), before.tiles[seat], after.tiles[seat]
        changes = [f"+{points}"] if points else []
        for verb, tiles in (("gains", has & ~had), ("loses", had & ~has)):
            changes += [f"{verb} {' and '.join(names[tile] for tile in members(tiles))}"] if tiles else []
        said += [f"{{{seat}}} {' and '.join(changes)}"] if changes else []
    return "; ".join(said)
