"""Yokai Septet in words: names of cards and actions, positions as JSON, what a seat knows, the whole table."""

from collections.abc import Iterable
from typing import Any

from .rules import (
    BASE,
    CARDS,
    CARDS_WITH_FOILS,
    DISCARD,
    EXCHANGING,
    KEEP,
    NO_EXCHANGE,
    NONE,
    PASS,
    PLAY,
    RANK_OF,
    SNOW_13,
    SUIT_OF,
    SUITS,
    THE_A,
    UP,
)

CARD_NAMES = tuple(
    f"{SUITS[SUIT_OF[card]][0]}{RANK_OF[card]}" + ("*" if card >= CARDS else "") for card in range(CARDS_WITH_FOILS)
)
CARD_NUMBERS = {name: card for card, name in enumerate(CARD_NAMES)}
PHASES = ("pass", "discard", "exchange", "keep", "play")
EXCHANGES = (*(f"exchange {place} {side}" for place in range(UP) for side in ("left", "right")), "no exchange")
KEEPS = ("keep old up", "keep new up")


def actions(options: dict[str, Any]) -> tuple[str, ...]:
    """Names of all actions but the no-op."""
    if options["variant"] != "base":
        return CARD_NAMES
    if options["players"] == 2:
        return (*CARD_NAMES[:CARDS], *EXCHANGES, *KEEPS)
    return CARD_NAMES[:CARDS]


# --- Sets of cards ---


def members(bits: Any) -> list[int]:
    """The cards of a bit set, in order of their numbers."""
    value = int(bits)
    return [card for card in range(CARDS_WITH_FOILS) if value >> card & 1]


def names(cards: Iterable[int]) -> list[str]:
    """The names of some cards."""
    return [CARD_NAMES[card] for card in cards]


def card_name(card: Any) -> str | None:
    """A card's name, None for no card."""
    return None if card == NONE else CARD_NAMES[card]


def bits_of(cards: Iterable[int]) -> int:
    """Cards as a bit set."""
    return sum(1 << card for card in cards)


def boss_card(index: int) -> int:
    """The card behind a bit of a set of captured bosses."""
    return 6 * index + 6 if index < 7 else CARDS + index - 7


def captured_cards(state: Any, side: int) -> list[int]:
    """The bosses a side has captured."""
    return [boss_card(index) for index in range(14) if int(state.captured[side]) >> index & 1]


def trick_cards(state: Any) -> list[tuple[int, int]]:
    """The current trick as (seat, card), in the order of play."""
    players = int(state.players)
    seats = [(int(state.lead) + k) % players for k in range(int(state.trick_size))]
    return [(seat, int(state.trick[seat])) for seat in seats]


def on_places(cards: Iterable[int]) -> list[int]:
    """The cards of some places, without the empty ones."""
    return [int(card) for card in cards if card != NONE]


def suit_names(bits: Any) -> list[str]:
    """The names of a set of suits."""
    return [name for suit, name in enumerate(SUITS) if int(bits) >> suit & 1]


# --- In words ---


def _who(state: Any, seat: int, observer: int) -> str:
    """A seat as its observer would call it."""
    if seat == observer:
        return "you"
    if int(state.players) == 4 and (seat - observer) % 4 == 2:
        return f"player_{seat} (partner)"
    return f"player_{seat}"


def describe(state: Any, seat: int) -> str:
    """What a seat knows, in words."""
    players, sides = int(state.players), int(state.sides)
    straw, suitors = players == 2, int(state.variant) != BASE
    lines = [f"You are player_{seat}. Round {int(state.round_number)}, phase {PHASES[state.phase]}."]
    if not suitors:
        lines.append(f"Trump: {SUITS[state.trump]} (card {CARD_NAMES[state.trump_card]}).")
    elif state.trump != NONE:
        lines.append(f"Trump: {SUITS[state.trump]}.")
    lines.append(f"Your hand: {_listed(members(state.hand[seat]))}.")
    if not straw:
        lines += _describe_passing(state, seat)
    else:
        lines += _describe_straw(state, seat)
    for other in [(seat + k) % players for k in range(players)]:
        who = _who(state, other, seat)
        if int(state.played[other]):
            lines.append(f"Played by {who}: {_listed(members(state.played[other]))}.")
        if int(state.void[other]):
            lines.append(f"Hand of {who} is without: {', '.join(suit_names(state.void[other]))}.")
    if state.shown_by != NONE:
        card = SNOW_13 if state.trump_card == THE_A else THE_A
        lines.append(f"{CARD_NAMES[card]} was shown by {_who(state, int(state.shown_by), seat)}.")
    if state.lead != NONE:
        lines.append(f"Leader of the trick: {_who(state, int(state.lead), seat)}.")
    if state.trick_size:
        lines.append(
            "Trick: " + ", ".join(f"{_who(state, s, seat)} {CARD_NAMES[c]}" for s, c in trick_cards(state)) + "."
        )
    for side in [(seat + k) % sides for k in range(sides)]:
        lines.append(_describe_side(state, side, seat))
    return "\n".join(lines)


def _listed(cards: list[int]) -> str:
    return " ".join(names(cards)) or "none"


def _describe_side(state: Any, side: int, seat: int) -> str:
    members_of = " and ".join(_who(state, s, seat) for s in range(int(state.players)) if s % int(state.sides) == side)
    text = f"Side of {members_of}: {int(state.tricks[side])} tricks, bosses {_listed(captured_cards(state, side))}"
    if int(state.variant) == BASE:
        return f"{text}, score {int(state.scores[side])} of {int(state.target)}."
    return f"{text}, sealed {', '.join(suit_names(state.sealed[side])) or 'none'}."


def _describe_passing(state: Any, seat: int) -> list[str]:
    players, suitors = int(state.players), int(state.variant) != BASE
    sent = on_places(state.passes[seat])
    verb = "You chose to pass" if int(state.phase) == PASS else "You passed"
    lines = [f"{verb}: {_listed(sent)}."] if sent else []
    if int(state.phase) == PASS:
        return lines
    if suitors:
        got = on_places(state.passes[(seat + 1 + k) % 4, 2 - k] for k in range(3))
    else:
        got = on_places(state.passes[(seat + 2) % players])
    return [*lines, f"You received: {_listed(got)}."] if got else lines


def _describe_straw(state: Any, seat: int) -> list[str]:
    lines = []
    if state.discards[seat] != NONE:
        lines.append(f"You discarded {CARD_NAMES[state.discards[seat]]}.")
    if state.exchanges[seat] != NONE:
        lines.append(f"You chose: {EXCHANGES[state.exchanges[seat]]}.")
    if state.keeps[seat] != NONE:
        lines.append(f"You chose: {KEEPS[state.keeps[seat]]}.")
    for other in (seat, 1 - seat):
        whose = "Your straw pile" if other == seat else f"Straw pile of player_{other}"
        lines.append(f"{whose}, up: {_row(state.straw_up[other])}; down: {_row(_seen_down(state, other))}.")
    return lines


def _seen_down(state: Any, seat: int) -> list[Any]:
    """The lower straw cards as both players see them: a card, NONE or "?"."""
    seen = int(state.seen_down[seat])
    return [card if card == NONE or seen >> place & 1 else "?" for place, card in enumerate(state.straw_down[seat])]


def _row(cards: Iterable[Any]) -> str:
    return " ".join("?" if card == "?" else "-" if card == NONE else CARD_NAMES[card] for card in cards)


def draw_table(state: Any) -> str:
    """The whole table, everything face up."""
    players, sides = int(state.players), int(state.sides)
    trump = "not set" if state.trump == NONE else SUITS[state.trump]
    if state.trump_card != NONE:
        trump += f" ({CARD_NAMES[state.trump_card]})"
    lines = [f"Yokai Septet   round {int(state.round_number)}   {PHASES[state.phase]}   trump {trump}"]
    for side in range(sides):
        score = f"score {int(state.scores[side])}/{int(state.target)}"
        if int(state.variant) != BASE:
            score = f"sealed {', '.join(suit_names(state.sealed[side])) or '-'}"
        bosses = " ".join(names(captured_cards(state, side))) or "-"
        seats = "+".join(str(s) for s in range(players) if s % sides == side)
        lines.append(f"  side {side} (seats {seats}): {int(state.tricks[side])} tricks   bosses {bosses}   {score}")
    for seat in range(players):
        mark = ">" if int(state.acting) >> seat & 1 else " "
        card = CARD_NAMES[state.trick[seat]] if state.trick[seat] != NONE else "."
        led = "*" if state.trick_size and state.lead == seat else " "
        line = f"{mark} player_{seat}  trick {card:>4}{led} hand {_listed(members(state.hand[seat]))}"
        if int(state.phase) == PASS and on_places(state.passes[seat]):
            line += f"   passing {_listed(on_places(state.passes[seat]))}"
        if players == 2:
            discard = card_name(state.discards[seat]) or "-"
            up, down = _row(state.straw_up[seat]), _row(state.straw_down[seat])
            line += f"   discarded {discard}\n      up     {up}\n      down {down}"
        lines.append(line)
    return "\n".join(lines)


def refusal(state: Any, seat: int, action: int) -> str:
    """Why an action that is not legal is not."""
    phase = int(state.phase)
    cards = CARDS_WITH_FOILS if int(state.variant) != BASE else CARDS
    if phase in (EXCHANGING, KEEP):
        if phase == EXCHANGING and cards <= action <= NO_EXCHANGE:
            return "there is no face-up boss in that place"
        return "choose an exchange or none" if phase == EXCHANGING else "choose which boss stays face up"
    if action >= cards:
        return f"it belongs to another phase than {PHASES[phase]}"
    held = int(state.hand[seat]) | (int(state.bare[seat]) if int(state.players) == 2 and phase == PLAY else 0)
    if not held >> action & 1:
        return "the seat does not hold this card"
    if phase == DISCARD:
        return "a boss cannot be discarded"
    led = SUITS[SUIT_OF[int(state.trick[int(state.lead)])]]
    return f"the seat must follow suit ({led})"
