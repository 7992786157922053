"""Yokai Septet in words: names of cards and actions, what a seat knows, the whole table, why an action is refused."""

from collections.abc import Iterable, Iterator
from typing import Any

from ..core.bits import bits_of, members
from . import rules
from .view import MOST_ROUNDS

CARD_NAMES = tuple(
    f"{rules.SUITS[rules.SUIT_OF[card]][0]}{rules.RANK_OF[card]}" + ("*" if card >= rules.CARDS else "")
    for card in range(rules.CARDS_WITH_FOILS)
)
CARD_NUMBERS = {name: card for card, name in enumerate(CARD_NAMES)}
PHASES = ("pass", "discard", "exchange", "keep", "play")
EXCHANGES = (*(f"exchange {place} {side}" for place in range(rules.UP) for side in ("left", "right")), "no exchange")
KEEPS = ("keep old up", "keep new up")


def actions(options: dict[str, Any]) -> tuple[str, ...]:
    """Names of all actions but the no-op."""
    if options["variant"] != "base":
        return CARD_NAMES
    if options["players"] == 2:
        return (*CARD_NAMES[: rules.CARDS], *EXCHANGES, *KEEPS)
    return CARD_NAMES[: rules.CARDS]


# --- Sets of cards ---


def deck_of(options: dict[str, Any]) -> int:
    """All cards of a game, as a set."""
    if options["deck"] is not None:
        return bits_of(CARD_NUMBERS[name] for name in options["deck"])
    return (1 << (rules.CARDS if options["variant"] == "base" else rules.CARDS_WITH_FOILS)) - 1


def bosses_to_win(options: dict[str, Any]) -> int:
    """Bosses that win a round of the base game: most of them, with three players three."""
    return 3 if options["players"] == 3 else (deck_of(options) & int(rules.BOSSES)).bit_count() // 2 + 1


def names(cards: Iterable[int]) -> list[str]:
    """The names of some cards."""
    return [CARD_NAMES[card] for card in cards]


def card_name(card: Any) -> str | None:
    """A card's name, None for no card."""
    return None if card == rules.NONE else CARD_NAMES[card]


def captured_cards(state: Any, side: int) -> list[int]:
    """The bosses a side has captured, of a state or a view."""
    return [card for card in range(rules.CARDS_WITH_FOILS) if int(state.captured[side]) & int(rules.BOSS_BIT[card])]


def trick_cards(state: Any) -> list[tuple[int, int]]:
    """The current trick of a state or a view as (seat, card), in the order of play."""
    players = int(state.players)
    seats = [(int(state.lead) + k) % players for k in range(players)]
    return [(seat, int(state.trick[seat])) for seat in seats if state.trick[seat] != rules.NONE]


def passed_cards(view: Any) -> tuple[list[int], list[int]]:
    """The cards a seat has chosen to pass, and those it has received."""
    if view.variant == rules.BASE:
        return members(view.sent), members(view.received)
    # A card to and from each other player, in their order.
    sent, received = ([c for cards in column for c in members(cards)] for column in (view.sent_to, view.received_from))
    return sent, received


def on_places(cards: Iterable[int]) -> list[int]:
    """The cards of some places, without the empty ones."""
    return [int(card) for card in cards if card != rules.NONE]


def suit_names(bits: Any) -> list[str]:
    """The names of a set of suits."""
    return [rules.SUITS[suit] for suit in members(bits)]


# --- In words ---


def describe(view: Any, seat: int) -> str:
    """What a seat knows, in words; seats are called by their numbers at the table."""
    players, card = int(view.players), "".join(f" (card {name})" for name in names(members(view.trump_card)))
    partner = [" (partner)" if players == 4 and k == 2 else "" for k in range(players)]
    called = ["you", *(f"player_{(seat + k) % players}{partner[k]}" for k in range(1, players))]
    more = " or later" if view.round_number == MOST_ROUNDS else ""
    return "\n".join(
        [
            f"You are player_{seat}. Round {int(view.round_number)}{more}, phase {PHASES[view.phase]}.",
            *([f"Trump: {rules.SUITS[view.trump]}{card}."] if view.trump != rules.NONE else []),
            f"Your hand: {_listed(members(view.hand))}.",
            *(_describe_straw(view, called) if len(called) == 2 else _describe_passing(view)),
            *_describe_seats(view, called),
            *_describe_trick(view, called),
            *(_describe_side(view, seat, side, called) for side in range(int(view.sides))),
        ]
    )


def _listed(cards: list[int]) -> str:
    return " ".join(names(cards)) or "none"


def _describe_passing(view: Any) -> Iterator[str]:
    sent, received = passed_cards(view)
    if sent:
        yield f"{'You chose to pass' if view.phase == rules.PASS else 'You passed'}: {_listed(sent)}."
    if received:
        yield f"You received: {_listed(received)}."


def _describe_straw(view: Any, called: list[str]) -> Iterator[str]:
    for card in members(view.discard):
        yield f"You discarded {CARD_NAMES[card]}."
    if view.exchange != rules.NONE:
        yield f"You chose: {EXCHANGES[view.exchange]}."
    if view.keep != rules.NONE:
        yield f"You chose: {KEEPS[view.keep]}."
    for k, whose in enumerate(("Your straw pile", f"Straw pile of {called[1]}")):
        yield f"{whose}, up: {_row(view.straw_up[k])}; down: {_row(view.straw_down[k], int(view.straw_left[k]))}."


def _describe_seats(view: Any, called: list[str]) -> Iterator[str]:
    for who, played, void in zip(called, view.played, view.void):
        if played:
            yield f"Played by {who}: {_listed(members(played))}."
        if void:
            yield f"Hand of {who} is without: {', '.join(suit_names(void))}."


def _describe_trick(view: Any, called: list[str]) -> Iterator[str]:
    if view.shown_by != rules.NONE:
        trump_card = members(view.trump_card)
        card = rules.shown_card(trump_card[0] if trump_card else rules.NONE)
        yield f"{CARD_NAMES[card]} was shown by {called[view.shown_by]}."
    if view.lead != rules.NONE:
        yield f"Leader of the trick: {called[view.lead]}."
    trick = [f"{called[k]} {CARD_NAMES[card]}" for k, card in trick_cards(view)]
    if trick:
        yield f"Trick: {', '.join(trick)}."


def _describe_side(view: Any, seat: int, side: int, called: list[str]) -> str:
    by_number = sorted(range(side, len(called), int(view.sides)), key=lambda k: (seat + k) % len(called))
    tricks = int(view.tricks[side])
    text = f"Side of {' and '.join(called[k] for k in by_number)}: {tricks} trick{'s' * (tricks != 1)}"
    text += f", bosses {_listed(captured_cards(view, side))}"
    if view.variant == rules.BASE:
        return f"{text}, score {int(view.scores[side])} of {int(view.target)}."
    return f"{text}, sealed {', '.join(suit_names(view.sealed[side])) or 'none'}."


def _row(cards: Iterable[Any], held: int = 0) -> str:
    """A row of a straw pile; the places of the set `held` hold a card, even where it is not known."""
    empty = ["?" if held >> place & 1 else "-" for place in range(rules.DOWN)]
    return " ".join(card_name(card) or empty[place] for place, card in enumerate(cards))


def refusal(state: Any, seat: int, action: int) -> str:
    """Why an action that is not legal is not."""
    phase = int(state.phase)
    cards = rules.CARDS_WITH_FOILS if int(state.variant) != rules.BASE else rules.CARDS
    if phase in (rules.EXCHANGING, rules.KEEP):
        if phase == rules.EXCHANGING and cards <= action <= rules.NO_EXCHANGE:
            return "there is no face-up boss in that place"
        return "choose an exchange or none" if phase == rules.EXCHANGING else "choose which boss stays face up"
    if action >= cards:
        return f"it belongs to another phase than {PHASES[phase]}"
    held = int(state.hand[seat]) | (int(state.bare[seat]) if int(state.players) == 2 and phase == rules.PLAY else 0)
    if not held >> action & 1:
        return "the seat does not hold this card"
    if phase == rules.DISCARD:
        return "a boss cannot be discarded"
    led = rules.SUITS[rules.SUIT_OF[int(state.trick[int(state.lead)])]]
    return f"the seat must follow suit ({led})"
