"""Pikit in words: names of actions and effects, what a seat knows, the whole table, why an action is refused."""

from collections.abc import Iterable, Iterator
from typing import Any

from ..core.bits import members
from . import rules
from .view import MOST_TURNS

PHASES = ("discard", "react", "take")
EFFECT_NAMES = (
    *(f"reroll {dice}" for dice in ("low", "high", "both")),
    *(f"steal +{k}" for k in (1, 2, 3)),
    "draw",
    "cancel",
    *(f"turn {die} to {face}" for die in ("low", "high") for face in range(1, 7)),
)
ACTION_NAMES = (
    *(f"{rules.CARD_OF[action]}: {EFFECT_NAMES[action % rules.EFFECTS]}" for action in range(rules.END_DISCARDS)),
    "end discards",
    "accept",
    *(f"take {option}" for option in ("sum", "difference", "low", "high", "both", "mecha")),
    "steal mecha",
    "take nothing",
)
assert len(ACTION_NAMES) == rules.ACTIONS - 1


def actions(options: dict[str, Any]) -> tuple[str, ...]:
    """Names of all actions but the no-op; the same for any number of players."""
    return ACTION_NAMES


# --- Bags, sets of mechas, piles ---


def bag_of(values: Iterable[int]) -> tuple[int, int]:
    """Cards as the two words of a bag."""
    number = sum(1 << 8 * value for value in values)
    return number & (1 << 64) - 1, number >> 64


def cards_of(bag: Any) -> list[int]:
    """The values of a bag's cards, in order."""
    number = int(bag[0]) | int(bag[1]) << 64
    return [value for value in range(1, 12) for _ in range(number >> 8 * value & 0xFF)]


def hand_cards(state: Any, seat: int) -> list[int]:
    """A seat's kaiju, in order."""
    return sorted(cards_of(state.known[seat]) + cards_of(state.secret[seat]))


def discard_pile(state: Any) -> list[int]:
    """The discards, the first one first."""
    return [card & 15 for card in state.cards[: int(state.discarded)].tolist()]


# --- In words ---


def describe(view: Any, seat: int) -> str:
    """What a seat knows, in words; seats are called by their numbers at the table."""
    players = int(view.players)
    called = ["you", *(f"player_{(seat + k) % players}" for k in range(1, players))]
    whose = "your turn" if view.turn_player == 0 else f"the turn of {called[view.turn_player]}"
    lines = [
        f"You are player_{seat}. It is {whose}, phase {PHASES[view.phase]}.",
        f"Dice: {int(view.low)} and {int(view.high)}.",
        f"Centre: {_listed(cards_of(view.centre))}.",
        f"Mechas on the table: {_doubles(members(view.mechas_on_table))}.",
        f"Deck: {int(view.deck)} cards. Discard pile: {_listed(cards_of(view.discard_pile))}.",
        *_describe_pending(view, called),
        *(_describe_hand(view, k, called) for k in range(players)),
    ]
    if view.last_turns:
        lines.append(f"Last turns left, this one included: {int(view.last_turns)}.")
    more = " or more" if view.turns_left == MOST_TURNS else ""
    lines.append(f"Turns until truncation: {int(view.turns_left)}{more}.")
    return "\n".join(lines)


def _describe_pending(view: Any, called: list[str]) -> Iterator[str]:
    """The discard that waits for reactions, and who has cancelled it and each other."""
    if view.pending_effect == rules.NONE:
        return
    victim = f" (from {called[view.pending_victim]})" if view.pending_victim != rules.NONE else ""
    effect = EFFECT_NAMES[view.pending_effect] + victim
    yield f"Pending: a {int(view.pending_card)} discarded by {called[view.turn_player]}: {effect}."
    if view.last_cancel != rules.NONE:
        counts = zip(called, view.cancels.tolist())
        laid = ", ".join(f"{count} by {who}" for who, count in counts if count)
        yield f"Cancels on it: {laid}; the last one by {called[view.last_cancel]}."


def _describe_hand(view: Any, k: int, called: list[str]) -> str:
    known = _listed(cards_of(view.known[k]))
    if k == 0:
        cards = f"You hold {_listed(cards_of(view.hand))} (the others know of {known})"
    else:
        unknown = f" and {int(view.unknown[k])} unknown" if view.unknown[k] else ""
        cards = f"{called[k]} holds {known}{unknown}"
    return f"{cards}; mechas {_doubles(members(view.mechas[k]))}; wounds {int(view.wounds[k])}."


def _listed(cards: list[int]) -> str:
    return " ".join(map(str, cards)) or "none"


def _doubles(mechas: list[int]) -> str:
    return " ".join(f"{number}-{number}" for number in mechas) or "none"


# --- Refusals ---


def refusal(state: Any, seat: int, action: int) -> str:
    """Why an action that is not legal is not."""
    phase = int(state.phase)
    if phase == rules.REACT and (action >= rules.END_DISCARDS or action % rules.EFFECTS != rules.CANCEL):
        return "a discard is pending: cancel it or accept"
    if action < rules.END_DISCARDS:
        return _refuse_discard(state, seat, int(rules.CARD_OF[action]), action % rules.EFFECTS)
    if action == rules.ACCEPT:
        return "no discard is pending"
    if phase == rules.DISCARD:
        return "end the discards first"
    if action == rules.END_DISCARDS:
        return "the discards have ended"
    return _refuse_take(state, seat, action)


def _refuse_discard(state: Any, seat: int, card: int, effect: int) -> str:
    if int(state.phase) == rules.TAKE:
        return "the discards have ended"
    if effect == rules.CANCEL and int(state.phase) == rules.DISCARD:
        return "no discard is pending"
    if card not in hand_cards(state, seat):
        return f"the seat holds no {card}"
    low, high, players = int(state.low), int(state.high), int(state.players)
    if effect == rules.DRAW:
        return "the deck is empty"
    if rules.STEAL <= effect < rules.DRAW:
        k = effect - rules.STEAL + 1
        return f"player_{(seat + k) % players} has no cards" if k < players else f"there are only {players} players"
    if low == high and (effect == rules.REROLL + 1 or effect >= rules.TURN + 6):
        return "the dice are equal and both count as the low one"
    return "the die shows this face already"


def _refuse_take(state: Any, seat: int, action: int) -> str:
    low, high, centre = int(state.low), int(state.high), cards_of(state.centre)
    double = low == high
    if action in (rules.TAKE_MECHA, rules.STEAL_MECHA):
        holders = [s for s in range(int(state.players)) if low in members(state.mechas[s])]
        where = f"with player_{holders[0]}" if holders else "on the table"
        return f"mecha {low}-{low} is {where}" if double else "the dice show no double"
    if double and action == rules.TAKE_HIGH:
        return "the dice are equal and both count as the low one"
    both = f"second {low}" if double and low in centre else low if low not in centre else high
    values = {rules.TAKE_SUM: low + high, rules.TAKE_DIFFERENCE: high - low, rules.TAKE_LOW: low, rules.TAKE_HIGH: high}
    return f"the centre has no {values.get(action, both)}"
