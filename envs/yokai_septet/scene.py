"""Yokai Septet as a picture: the table from what somebody knows, and what they hear of the others' moves."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..render.parts import (
    BOARD,
    DARK,
    EDGE,
    GOLD,
    PALE,
    SEATS,
    ask,
    back,
    backs,
    begin,
    cross_out,
    heading,
    in_row,
    name_tag,
    own_panel,
    seat_boxes,
    seat_panel,
    side_panel,
)
from ..render.scene import Box, Scene, Shape, Sight, Told, rect, text
from .rules import BASE, DISCARD, DOWN, EXCHANGING, KEEP, KEEP_NEW, KEEP_OLD, NO_EXCHANGE, NONE, PASS, PLAY, SUITS, UP
from .scene_cards import COLOURS, chips, describe_card, face, suit_sign, symbol
from .text import CARD_NAMES, captured_cards, members, on_places, suit_names, trick_cards

INKS = {
    rf"\b(?:{suit[0]}\d+\*?|{suit})(?!\w)": ink
    for suit, ink in zip(SUITS, (37, 137, 205, 178, 99, 203, 75), strict=True)
}
PHASES = ("passing", "discarding", "exchange", "which boss stays up", "play")
CARD = (84.0, 118.0)


# --- What is heard ---


def tell(before: Any, after: Any, mover: int, action: int | None) -> list[Told]:
    """What a seat hears of a decision: cards that are played, its own choices, and what comes of them."""
    return list(_telling(before, after, mover, action))


def _telling(before: Any, after: Any, mover: int, action: int | None) -> Iterator[Told]:
    if action is None:
        for k in range(int(before.players)):
            cards = members(int(after.played[k]) & ~int(before.played[k]))
            if cards:
                yield Told(f"{{{k}}}: {' '.join(CARD_NAMES[card] for card in cards)}", k)
    elif before.phase == PLAY:
        yield Told(f"{{{mover}}}: {CARD_NAMES[action]}", mover, action)
        if before.round_number == after.round_number and after.tricks.sum() > before.tricks.sum():
            yield Told(f"… trick for {{{int(after.lead)}}}")
    elif mover == 0:
        yield Told(f"{{0}}: {_own_choice(before, action)}", 0)
    if before.phase == PASS and after.phase == PLAY and after.variant == BASE:
        yield Told(f"{{0}} received {' '.join(CARD_NAMES[card] for card in members(after.received))}")
    if before.round_number != after.round_number:
        yield Told(f"round {int(after.round_number)} begins")


def _own_choice(view: Any, action: int) -> str:
    """One's own choice in a phase before play."""
    if view.phase == PASS:
        return f"pass {CARD_NAMES[action]}"
    if view.phase == DISCARD:
        return f"discard {CARD_NAMES[action]}"
    return ("no exchange" if action == NO_EXCHANGE else "an exchange") if view.phase == EXCHANGING else (
        "old boss up" if action == KEEP_OLD else "new boss up"
    )  # fmt: skip


def spoken(view: Any, action: int, called: tuple[str, ...]) -> str:
    """What choosing an action does, in words."""
    phase = int(view.phase)
    if phase == PASS:
        return f"Pass {describe_card(action)} to {_receiver(view, called)}"
    if phase == DISCARD:
        return f"Discard {describe_card(action)}, face down"
    if phase == PLAY:
        return f"{'Play' if any(card != NONE for card in view.trick) else 'Lead'} {describe_card(action)}"
    if action == NO_EXCHANGE:
        return "Exchange nothing"
    if phase == EXCHANGING:
        place, side = divmod(action - NO_EXCHANGE + 12, 2)
        card = describe_card(int(view.straw_up[0, place]))
        return f"Exchange {card} with the card below it on the {('left', 'right')[side]}"
    place, side = divmod(int(view.exchange), 2)
    kept = view.straw_down[0, place + side] if action == KEEP_OLD else view.straw_up[0, place]
    return f"Keep {describe_card(int(kept))} face up"


def _receiver(view: Any, called: tuple[str, ...]) -> str:
    """Who gets the card that is passed next."""
    if view.variant != BASE:
        return called[1 + sum(int(cards) != 0 for cards in view.sent_to)]
    return called[2] if len(called) == 4 else called[1]


# --- The table ---


def scene(sight: Sight) -> Scene:
    """The table from what somebody knows."""
    view, players = sight.view, len(sight.called)
    if view.phase == PLAY and sight.winners is None:
        sight = replace(sight, deciding=frozenset([_next_to_play(view)]))  # as everybody can see
    status = f"Round {int(view.round_number)}, {PHASES[int(view.phase)]}"
    table = begin(sight, "Yokai Septet", status)
    actions = {action: spoken(view, action, sight.called) for action, _ in sight.legal}
    for k, box in enumerate(seat_boxes(players), 1):
        _draw_other(table, sight, k, box)
    _draw_trick(table, sight)
    _draw_trump(table, view, 300 if players == 2 else 474)
    _draw_last_trick(table, sight, 310 if players == 2 else 474)
    top = 496.0 if players == 2 else 624.0
    _draw_own(table, sight, actions, top)
    _draw_scores(table, sight)
    captions = {NO_EXCHANGE: "No exchange", KEEP_OLD: "Old boss up", KEEP_NEW: "New boss up"} if players == 2 else {}
    buttons = [(action, caption, actions[action]) for action, caption in captions.items() if action in actions]
    ask(table, sight, _prompt(sight), buttons)
    return table


def _prompt(sight: Sight) -> str:
    view, phase = sight.view, int(sight.view.phase)
    if not sight.legal:
        if phase != PLAY:
            return "Waiting for the others"
        return f"Waiting for {sight.called[_next_to_play(view)]}"
    if phase == PASS:
        chosen = sum(int(cards) != 0 for cards in view.sent_to) if view.variant != BASE else len(members(view.sent))
        return f"Choose card {chosen + 1} of 3 for {_receiver(view, sight.called)}"
    if phase == DISCARD:
        return "Choose a card to discard, no boss"
    if phase == EXCHANGING:
        return "Exchange a boss of your straw pile with a card below it?"
    if phase == KEEP:
        return "Which boss stays face up?"
    trick = trick_cards(view)
    return (
        f"Play a card, {SUITS[trick[0][1] // 7 if trick[0][1] < 49 else trick[0][1] - 49]} was led"
        if trick
        else "Lead a card"
    )


def _next_to_play(view: Any) -> int:
    return (int(view.lead) + len(trick_cards(view))) % int(view.players)


def _hand_size(view: Any, k: int) -> int:
    """How many cards another seat holds, as everybody can count."""
    players, played = int(view.players), len(members(view.played[k]))
    if players > 2:
        return {3: 16, 4: 12 if view.variant == BASE else 14}[players] - played
    straw = len(on_places(view.straw_up[k])) + int(view.straw_left[k]).bit_count()
    return (11 if view.phase == DISCARD else 10) - (played - (UP + DOWN - straw))


def _draw_other(table: Scene, sight: Sight, k: int, box: Box) -> None:
    """Another seat: its hand, and the suits it has shown not to hold."""
    view, shown, (x, y, w, _) = sight.view, sight.views[k], box
    note = ""
    if len(sight.called) == 4:
        note = "partner" if k == 2 and not sight.spectator else f"team {sight.number(k) % 2}"
    seat_panel(table, sight, k, box, note)
    room = 300 if len(sight.called) == 2 else w - 24
    if shown is None:
        count = _hand_size(view, k)
        table.add(backs(count, (x + 12, y + 48, room, 46)), f"{sight.called[k]} holds {count} cards")
    else:
        cards = members(shown.hand)
        words = " ".join(CARD_NAMES[card] for card in cards)
        table.add(chips(cards, x + 12, y + 44, room), f"{sight.called[k]} holds {words}")
    voids = [suit for suit in range(7) if int(view.void[k]) >> suit & 1]
    if voids:
        shapes: list[Shape] = [text(x + 12, y + 168, "without", 21, PALE, "start")]
        for i, suit in enumerate(voids):
            left = x + 102 + i * 30
            shapes += [*suit_sign(suit, left, y + 155), *cross_out((left, y + 155, 27, 27), "#000000", 2)]
        table.add(shapes, f"{sight.called[k]} has no {', '.join(suit_names(view.void[k]))} in hand")
    if len(sight.called) == 2:
        _draw_straw(table, sight, k, x + 330, y + 14, {})


def _trick_places(players: int) -> list[tuple[float, float]]:
    """Where the cards of a trick lie, by seat: before whoever played them."""
    if players == 2:
        return [(494, 296), (378, 296)]
    across = [box[0] + box[2] / 2 - 46 for box in seat_boxes(players)]
    middle = BOARD[0] + BOARD[2] / 2 - 46
    heights = (268, 264, 268) if players == 4 else (290, 290)
    return [(middle, 452 if players == 4 else 440), *zip(across, heights)]


def _draw_trick(table: Scene, sight: Sight) -> None:
    """The current trick; an empty place for who is to play next."""
    view, players = sight.view, len(sight.called)
    laid = dict(trick_cards(view)) if view.lead != NONE else {}
    if players == 2:
        table.add([heading(378, 278, "Trick")])
    for k, (x, y) in enumerate(_trick_places(players)):
        box = (x, y, 92.0, 130.0)
        under = text(
            x + 46, y + 146, sight.called[k] + (" led" if laid and view.lead == k else ""), 21, SEATS[sight.number(k)]
        )
        if k in laid:
            table.add([*face(laid[k], box), under], f"{sight.called[k]} played {describe_card(laid[k])}")
        elif view.phase == PLAY and sight.winners is None:
            turn = k == _next_to_play(view)
            table.add(
                [rect(box, None, GOLD if turn else EDGE, 4 if turn else 2), under],
                f"{sight.called[k]} plays next" if turn else "",
            )


def _draw_trump(table: Scene, view: Any, top: float) -> None:
    x = 30.0
    if view.trump == NONE:
        table.add([heading(x, top - 20, "No trump yet")])
        return
    suit = int(view.trump)
    table.add([heading(x, top - 20, f"Trump: {SUITS[suit]}")], f"Trump: {SUITS[suit]}")
    cards = members(view.trump_card)
    if cards:
        table.add(face(cards[0], (x, top, 92, 130)), f"the trump card is {CARD_NAMES[cards[0]]}")
    else:
        table.add(
            [rect((x, top, 92, 92), "#ffffff", COLOURS[suit], 4), *symbol(suit, x + 46, top + 46, 30, COLOURS[suit])]
        )


def _draw_last_trick(table: Scene, sight: Sight, top: float) -> None:
    """The trick before the current one, from what was told."""
    view, players = sight.view, len(sight.called)
    plays = [(one.seat, one.action) for one in sight.told if one.action >= 0]
    current = len(trick_cards(view)) if view.lead != NONE else 0
    last = plays[: len(plays) - current][-players:]
    if int(view.tricks.sum()) == 0 or len(last) < players or view.phase != PLAY:
        return
    left = 640.0
    table.add([heading(left, top - 20, f"Last trick: {sight.called[int(view.lead)]}", 300)])
    for i, (seat, card) in enumerate(last):
        x = left + i * 74
        table.add(
            [*face(card, (x, top, 66, 94)), rect((x + 8, top + 98, 50, 8), SEATS[sight.number(seat)], None, corner=4)]
        )


def _draw_own(table: Scene, sight: Sight, actions: dict[int, str], top: float) -> None:
    """The observer's own cards; those that may be chosen can be clicked."""
    view, players = sight.view, len(sight.called)
    own_panel(table, sight, top)
    _draw_passes(table, view, top + 8)
    if players == 2:
        _draw_straw(table, sight, 0, 200, top + 46, actions)
    cards = members(view.hand)
    w, h = CARD if players == 2 else (100.0, 150.0)
    y = 884 - h - (16 if players == 2 else 34)
    for card, x in zip(cards, in_row(len(cards), 26, 908, w)):
        choices = [(card, actions[card])] if card in actions else []
        box = (x, y, w if card == cards[-1] else min(w, in_row(len(cards), 26, 908, w)[1] - 26), h)
        table.add(face(card, (x, y, w, h)), describe_card(card), choices, box)


def _draw_passes(table: Scene, view: Any, y: float) -> None:
    """Cards chosen to pass or to discard, and those received."""
    if int(view.players) == 2:
        sent, received = members(view.discard), []
    elif view.variant == BASE:
        sent, received = members(view.sent), members(view.received)
    else:
        sent, received = (
            [card for cards in column for card in members(cards)] for column in (view.sent_to, view.received_from)
        )
    x = 930.0
    for words, cards in (("received", received), ("discarded" if int(view.players) == 2 else "passed", sent)):
        if cards:
            x -= 43 * len(cards)
            named = " ".join(CARD_NAMES[card] for card in cards)
            table.add([*chips(cards, x, y, 400), text(x - 8, y + 19, words, 22, PALE, "end")], f"you {words} {named}")
            x -= 130


def _draw_straw(table: Scene, sight: Sight, k: int, x: float, y: float, actions: dict[int, str]) -> None:
    """A straw pile: the upper cards lie between and on the lower ones."""
    view = sight.view
    w, h, step, drop = 66.0, 92.0, 82.0, 62.0
    whose = "your" if k == 0 and not sight.spectator else f"{sight.called[k]}'s"
    for place in range(DOWN):
        box = (x + place * step, y, w, h)
        card = int(view.straw_down[k, place])
        if card != NONE and int(view.straw_left[k]) >> place & 1:
            bare = int(view.bare[k]) >> card & 1
            choices = [(card, actions[card])] if k == 0 and bare and card in actions else []
            table.add(face(card, box), f"{whose} straw pile: {describe_card(card)}", choices, box)
        elif int(view.straw_left[k]) >> place & 1:
            table.add(back(box), f"{whose} straw pile: a card face down")
    for place in range(UP):
        card = int(view.straw_up[k, place])
        if card == NONE:
            continue
        box = (x + step / 2 + place * step, y + drop, w, h)
        exchanges = [NO_EXCHANGE - 12 + 2 * place, NO_EXCHANGE - 11 + 2 * place]
        wanted = exchanges if view.phase == EXCHANGING else [card]
        choices = [(action, actions[action]) for action in wanted if k == 0 and action in actions]
        table.add(face(card, box), f"{whose} straw pile: {describe_card(card)}", choices, box)


def _draw_scores(table: Scene, sight: Sight) -> None:
    """The sides: points, tricks, captured bosses, sealed suits."""
    view, players, sides = sight.view, len(sight.called), int(sight.view.sides)
    each = 34.0 * (players // sides) + 72 + (86 if view.variant != BASE else 0)
    x, y, w, _ = side_panel(table, sight, each * sides + 10)
    for side in range(sides):
        _draw_side(table, sight, side, (x + 6, y + 8 + each * side, w - 12, each - 8))


def _draw_side(table: Scene, sight: Sight, side: int, box: Box) -> None:
    view, (x, y, w, _) = sight.view, box
    seats = range(side, len(sight.called), int(view.sides))
    sealed = [suit for suit in range(7) if int(view.sealed[side]) >> suit & 1]
    tricks, target = int(view.tricks[side]), int(view.target)
    score = len(sealed) if view.variant != BASE else int(view.scores[side])
    captured = captured_cards(view, side)
    line = y + 20 + 34 * len(seats)
    beside = line - 34 if len(seats) > 1 else line + 22
    shapes = [
        rect(box, DARK, None, corner=8),
        *(shape for i, k in enumerate(seats) for shape in name_tag(sight, k, x + 8, y + 22 + 34 * i)),
        text(x + w - 10, y + 22, f"{score} / {target}", 28, GOLD, "end"),
        text(x + w - 10, beside, f"{tricks} trick{'' if tricks == 1 else 's'}", 22, PALE, "end"),
        *chips(captured, x + 6, line - 4, 284 if len(seats) > 1 else 200, 40.5),
    ]
    words = f"{tricks} tricks, {score} of {target}, bosses {' '.join(CARD_NAMES[card] for card in captured) or 'none'}"
    if view.variant != BASE:
        words += f", sealed {', '.join(suit_names(view.sealed[side])) or 'none'}"
        shapes.append(text(x + 8, line + 96, "sealed" if sealed else "nothing sealed", 21, PALE, "start"))
        shapes += [shape for i, suit in enumerate(sealed) for shape in suit_sign(suit, x + 84 + i * 29, line + 83)]
    table.add(shapes, words)
