"""Yokai Septet as a picture: the table from one perspective."""

from typing import Any

from ..core.bits import members
from ..render.parts import BOARD, DARK, EDGE, GOLD, PALE, TableScene, back, backs, cross_out, in_row
from ..render.scene import Box, Perspective, Scene, Shape, rect, text
from . import rules
from .events import PASSED, PLAYED
from .scene_cards import COLOURS, chips, describe_card, face, suit_sign, symbol
from .text import (
    CARD_NAMES,
    captured_cards,
    names,
    on_places,
    passed_cards,
    suit_names,
    trick_cards,
)

INKS = {
    rf"\b(?:{suit[0]}\d+\*?|{suit})(?!\w)": ink
    for suit, ink in zip(rules.SUITS, (37, 137, 205, 178, 99, 203, 75), strict=True)
}
PHASES = ("passing", "discarding", "exchange", "which boss stays up", "play")
CARD = (84.0, 118.0)


def spoken(view: Any, action: int, seats: tuple[str, ...]) -> str:
    """What choosing an action does, in words."""
    phase = int(view.phase)
    if phase == rules.PASS:
        return f"Pass {describe_card(action)} to {_receiver(view, seats)}"
    if phase == rules.DISCARD:
        return f"Discard {describe_card(action)}, face down"
    if phase == rules.PLAY:
        return f"{'Play' if any(card != rules.NONE for card in view.trick) else 'Lead'} {describe_card(action)}"
    if action == rules.NO_EXCHANGE:
        return "Exchange nothing"
    if phase == rules.EXCHANGING:
        place, side = divmod(action - rules.EXCHANGE, 2)
        card = describe_card(int(view.straw_up[0, place]))
        return f"Exchange {card} with the card below it on the {('left', 'right')[side]}"
    place, side = divmod(int(view.exchange), 2)
    kept = view.straw_down[0, place + side] if action == rules.KEEP_OLD else view.straw_up[0, place]
    return f"Keep {describe_card(int(kept))} face up"


def _receiver(view: Any, seats: tuple[str, ...]) -> str:
    """Who gets the card that is passed next."""
    if view.variant != rules.BASE:
        return seats[1 + sum(int(cards) != 0 for cards in view.sent_to)]
    return seats[2] if len(seats) == 4 else seats[1]


# --- The table ---


def scene(seen: Perspective) -> Scene:
    """The table from one perspective."""
    view = seen.view
    visible = (
        [_next_to_play(view)] if view.phase == rules.PLAY and seen.winners is None else None
    )  # as everybody can see
    actions = {action: spoken(view, action, seen.names) for action, _ in seen.legal}
    status = f"Round {int(view.round_number)}, {PHASES[int(view.phase)]}"
    table = TableScene(seen, "Yokai Septet", status, actions, visible)
    two = table.players == 2
    for k, box in enumerate(table.seat_boxes(), 1):
        _draw_other(table, k, box)
    _draw_trick(table)
    _draw_trump(table, 300 if two else 474)
    _draw_last_trick(table, 310 if two else 474)
    _draw_own(table, 496 if two else 624)
    _draw_scores(table)
    captions = (
        {rules.NO_EXCHANGE: "No exchange", rules.KEEP_OLD: "Old boss up", rules.KEEP_NEW: "New boss up"} if two else {}
    )
    table.ask(_prompt(seen), captions)
    return table


def _prompt(seen: Perspective) -> str:
    view, phase = seen.view, int(seen.view.phase)
    if not seen.legal:
        return f"Waiting for {seen.names[_next_to_play(view)] if phase == rules.PLAY else 'the others'}"
    if phase == rules.PASS:
        chosen = (
            sum(int(cards) != 0 for cards in view.sent_to) if view.variant != rules.BASE else len(members(view.sent))
        )
        return f"Choose card {chosen + 1} of 3 for {_receiver(view, seen.names)}"
    if phase == rules.DISCARD:
        return "Choose a card to discard, no boss"
    if phase == rules.EXCHANGING:
        return "Exchange a boss of your straw pile with a card below it?"
    if phase == rules.KEEP:
        return "Which boss stays face up?"
    trick = trick_cards(view)
    return f"Play a card, {rules.SUITS[rules.SUIT_OF[trick[0][1]]]} was led" if trick else "Lead a card"


def _next_to_play(view: Any) -> int:
    return (int(view.lead) + len(trick_cards(view))) % int(view.players)


def _hand_size(view: Any, k: int) -> int:
    """How many cards another seat holds, as everybody can count."""
    players, played = int(view.players), len(members(view.played[k]))
    if players > 2:
        return {3: 16, 4: 12 if view.variant == rules.BASE else 14}[players] - played
    straw = len(on_places(view.straw_up[k])) + int(view.straw_left[k]).bit_count()
    return (11 if view.phase == rules.DISCARD else 10) - (played - (rules.UP + rules.DOWN - straw))


def _draw_other(table: TableScene, k: int, box: Box) -> None:
    """Another seat: its hand, and the suits it has shown not to hold."""
    view, shown, name, (x, y, w, _) = table.view, table.seen.views[k], table.names[k], box
    note = ""
    if table.players == 4:
        note = "partner" if k == 2 and not table.seen.spectator else f"team {table.seen.number(k) % 2}"
    table.add_seat(k, box, note)
    room = 300 if table.players == 2 else w - 24
    if shown is None:
        count = _hand_size(view, k)
        table.add(backs(count, (x + 12, y + 48, room, 46)), f"{name} holds {count} cards")
    else:
        cards = members(shown.hand)
        table.add(chips(cards, x + 12, y + 44, room), f"{name} holds {' '.join(names(cards))}")
    voids = members(view.void[k])
    if voids:
        shapes: list[Shape] = [text(x + 12, y + 168, "without", 21, PALE, "start")]
        for i, suit in enumerate(voids):
            left = x + 102 + i * 30
            shapes += [*suit_sign(suit, left, y + 155), *cross_out((left, y + 155, 27, 27), "#000000", 2)]
        table.add(shapes, f"{name} has no {', '.join(suit_names(view.void[k]))} in hand")
    if table.players == 2:
        _draw_straw(table, k, x + 330, y + 14)


def _trick_places(table: TableScene) -> list[tuple[float, float]]:
    """Where the cards of a trick lie, by seat: before whoever played them."""
    if table.players == 2:
        return [(494, 296), (378, 296)]
    across = [box[0] + box[2] / 2 - 46 for box in table.seat_boxes()]
    middle = BOARD[0] + BOARD[2] / 2 - 46
    if table.players == 3:
        return [(middle, 440), *zip(across, (290, 290))]
    return [(middle, 452), *zip(across, (268, 264, 268))]


def _draw_trick(table: TableScene) -> None:
    """The current trick; an empty place for who is to play next."""
    view = table.view
    laid = dict(trick_cards(view)) if view.lead != rules.NONE else {}
    if table.players == 2:
        table.add_heading(378, 278, "Trick")
    for k, (x, y) in enumerate(_trick_places(table)):
        name, box = table.names[k], (x, y, 92.0, 130.0)
        under = text(x + 46, y + 146, name + (" led" if laid and view.lead == k else ""), 21, table.colour(k))
        if k in laid:
            table.add([*face(laid[k], box), under], f"{name} played {describe_card(laid[k])}")
        elif view.phase == rules.PLAY and table.seen.winners is None:
            turn = k == _next_to_play(view)
            edge = rect(box, None, GOLD if turn else EDGE, 4 if turn else 2)
            table.add([edge, under], f"{name} plays next" if turn else "")


def _draw_trump(table: TableScene, top: float) -> None:
    view, x = table.view, 30.0
    if view.trump == rules.NONE:
        table.add_heading(x, top - 20, "No trump yet")
        return
    suit = int(view.trump)
    words = f"Trump: {rules.SUITS[suit]}"
    table.add_heading(x, top - 20, words, label=words)
    cards = members(view.trump_card)
    if cards:
        table.add(face(cards[0], (x, top, 92, 130)), f"the trump card is {CARD_NAMES[cards[0]]}")
    else:
        sign = symbol(suit, x + 46, top + 46, 30, COLOURS[suit])
        table.add([rect((x, top, 92, 92), "#ffffff", COLOURS[suit], 4), *sign])


def _draw_last_trick(table: TableScene, top: float) -> None:
    """The trick before the current one, from the events."""
    view, players = table.view, table.players
    plays = [(event.seat, event.number - PLAYED) for event in table.seen.events if PLAYED <= event.number < PASSED]
    current = len(trick_cards(view)) if view.lead != rules.NONE else 0
    last = plays[: len(plays) - current][-players:]
    if int(view.tricks.sum()) == 0 or len(last) < players or view.phase != rules.PLAY:
        return
    left = 640.0
    table.add_heading(left, top - 20, f"Last trick: {table.names[int(view.lead)]}", 300)
    for i, (seat, card) in enumerate(last):
        x = left + i * 74
        table.add([*face(card, (x, top, 66, 94)), rect((x + 8, top + 98, 50, 8), table.colour(seat), None, corner=4)])


def _draw_own(table: TableScene, top: float) -> None:
    """The observer's own cards; those that may be chosen can be clicked."""
    table.add_own_seat(top)
    _draw_passes(table, top + 8)
    if table.players == 2:
        _draw_straw(table, 0, 200, top + 46)
    cards = members(table.view.hand)
    w, h = CARD if table.players == 2 else (100.0, 150.0)
    y = 884 - h - (16 if table.players == 2 else 34)
    lefts = in_row(len(cards), 26, 908, w)
    for card, x in zip(cards, lefts):
        box = (x, y, w if card == cards[-1] else min(w, lefts[1] - 26), h)
        table.add(face(card, (x, y, w, h)), describe_card(card), table.choices(card), box)


def _draw_passes(table: TableScene, y: float) -> None:
    """Cards chosen to pass or to discard, and those received."""
    view, two = table.view, table.players == 2
    sent, received = (members(view.discard), []) if two else passed_cards(view)
    x = 930.0
    for words, cards in (("received", received), ("discarded" if two else "passed", sent)):
        if cards:
            x -= 43 * len(cards)
            label = f"you {words} {' '.join(names(cards))}"
            table.add([*chips(cards, x, y, 400), text(x - 8, y + 19, words, 22, PALE, "end")], label)
            x -= 130


def _draw_straw(table: TableScene, k: int, x: float, y: float) -> None:
    """A straw pile: the upper cards lie between and on the lower ones."""
    view = table.view
    w, h, step, drop = 66.0, 92.0, 82.0, 62.0
    whose = "your" if k == 0 and not table.seen.spectator else f"{table.names[k]}'s"
    for place in range(rules.DOWN):
        box = (x + place * step, y, w, h)
        card = int(view.straw_down[k, place])
        if card != rules.NONE and int(view.straw_left[k]) >> place & 1:
            choices = table.choices(card) if k == 0 and int(view.bare[k]) >> card & 1 else []
            table.add(face(card, box), f"{whose} straw pile: {describe_card(card)}", choices, box)
        elif int(view.straw_left[k]) >> place & 1:
            table.add(back(box), f"{whose} straw pile: a card face down")
    for place in range(rules.UP):
        card = int(view.straw_up[k, place])
        if card == rules.NONE:
            continue
        box = (x + step / 2 + place * step, y + drop, w, h)
        wanted = (
            range(rules.EXCHANGE + 2 * place, rules.EXCHANGE + 2 * place + 2)
            if view.phase == rules.EXCHANGING
            else [card]
        )
        choices = table.choices(*wanted) if k == 0 else []
        table.add(face(card, box), f"{whose} straw pile: {describe_card(card)}", choices, box)


def _draw_scores(table: TableScene) -> None:
    """The sides: points, tricks, captured bosses, sealed suits."""
    sides = int(table.view.sides)
    each = 34.0 * (table.players // sides) + 72 + (86 if table.view.variant != rules.BASE else 0)
    x, y, w, _ = table.add_side(each * sides + 10)
    for side in range(sides):
        _draw_side(table, side, (x + 6, y + 8 + each * side, w - 12, each - 8))


def _draw_side(table: TableScene, side: int, box: Box) -> None:
    view, (x, y, w, _) = table.view, box
    seats = range(side, table.players, int(view.sides))
    sealed = members(view.sealed[side])
    tricks, target = int(view.tricks[side]), int(view.target)
    score = len(sealed) if view.variant != rules.BASE else int(view.scores[side])
    captured = captured_cards(view, side)
    line = y + 20 + 34 * len(seats)
    beside = line - 34 if len(seats) > 1 else line + 22
    shapes = [
        rect(box, DARK, None, corner=8),
        *(shape for i, k in enumerate(seats) for shape in table.name_tag(k, x + 8, y + 22 + 34 * i)),
        text(x + w - 10, y + 22, f"{score} / {target}", 28, GOLD, "end"),
        text(x + w - 10, beside, f"{tricks} trick{'' if tricks == 1 else 's'}", 22, PALE, "end"),
        *chips(captured, x + 6, line - 4, 284 if len(seats) > 1 else 200, 40.5),
    ]
    words = f"{tricks} tricks, {score} of {target}, bosses {' '.join(names(captured)) or 'none'}"
    if view.variant != rules.BASE:
        words += f", sealed {', '.join(suit_names(view.sealed[side])) or 'none'}"
        shapes.append(text(x + 8, line + 96, "sealed" if sealed else "nothing sealed", 21, PALE, "start"))
        shapes += [shape for i, suit in enumerate(sealed) for shape in suit_sign(suit, x + 84 + i * 29, line + 83)]
    table.add(shapes, words)
