"""Yokai Septet as a picture: the table from one perspective."""

from typing import Any

from ..core.bits import members
from ..render.parts import EDGE, GOLD, PALE, TableScene, back, backs, cross_out, in_row
from ..render.scene import Box, Perspective, Scene, Shape, rect, text
from . import rules
from .events import PASSED, PLAYED
from .scene_cards import COLOURS, card_help, chips, describe_card, face, suit_sign, symbol
from .text import CARD_NAMES, captured_cards, names, on_places, passed_cards, suit_names, trick_cards

PHASES = ("passing", "discarding", "exchange", "which boss stays up", "play")
CAPTIONS = {rules.NO_EXCHANGE: "No exchange", rules.KEEP_OLD: "Old boss up", rules.KEEP_NEW: "New boss up"}
CARD = (84.0, 118.0)
TRICK_PLACES = {
    2: [(652, 258), (544, 258)],
    3: [(598, 366), (490, 216), (706, 216)],
    4: [(598, 362), (476, 290), (598, 208), (720, 290)],
}
"""Where the cards of a trick lie, by number of players and seat: before whoever played them."""


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
        return seats[1 + len(passed_cards(view)[0])]
    return seats[2] if len(seats) == 4 else seats[1]


# --- The table ---


def scene(seen: Perspective) -> Scene:
    """The table from one perspective."""
    view = seen.view
    actions = {action: spoken(view, action, seen.names) for action, _ in seen.legal}
    status = f"Round {int(view.round_number)}, {PHASES[int(view.phase)]}"
    playing = view.phase == rules.PLAY and seen.winners is None  # then everybody can see whose turn it is
    table = TableScene(seen, "Yokai Septet", status, actions, [_next_to_play(view)] if playing else None)
    two = table.players == 2
    own = 392 if two else 512
    for k, box in enumerate(table.seat_boxes(own, 168 if two else 134), 1):
        _draw_other(table, k, box)
    _draw_trick(table)
    _draw_trump(table, 264 if two else 268)
    _draw_last_trick(table, 264 if two else 268)
    _draw_own(table, own)
    table.add_strip(*_scores(table))
    table.ask(_prompt(seen), CAPTIONS, _lesson(view))
    return table


def _prompt(seen: Perspective) -> str:
    view, phase = seen.view, int(seen.view.phase)
    if not seen.legal:
        return f"Waiting for {seen.names[_next_to_play(view)] if phase == rules.PLAY else 'the others'}"
    if phase == rules.PASS:
        return f"Choose card {len(passed_cards(view)[0]) + 1} of 3 for {_receiver(view, seen.names)}"
    if phase == rules.DISCARD:
        return "Choose a card to discard, no boss"
    if phase == rules.EXCHANGING:
        return "Exchange a boss of your straw pile with a card below it?"
    if phase == rules.KEEP:
        return "Which boss stays face up?"
    trick = trick_cards(view)
    return f"Play a card, {rules.SUITS[rules.SUIT_OF[trick[0][1]]]} was led" if trick else "Lead a card"


def _lesson(view: Any) -> str:
    """What to do now and what for."""
    phase, players, suitors = int(view.phase), int(view.players), view.variant != rules.BASE
    if phase == rules.PASS:
        return (
            "Choose a card for each other player, who does the same. A suit is sealed with both of its 7s, so give the "
            "opponents nothing that helps them to take one."
            if suitors
            else "Choose three cards to give away, before you see the three that you get. Short suits let you trump; "
            f"{'your partner uses what you cannot' if players == 4 else 'a 7 given away may come back with a trick'}."
        )
    if phase == rules.DISCARD:
        return "One card leaves your hand face down for this round. A boss, which is a 7, has to stay."
    if phase in (rules.EXCHANGING, rules.KEEP):
        return "A boss that lies open is easily caught: you may hide one below, or leave everything as it is."
    if suitors:
        aim = "Taking both 7s of a suit in one round seals it."
    else:
        wins, loses = int(view.bosses_to_win), int(view.tricks_to_lose)
        aim = f"Tricks with a boss (a 7) count: {wins} bosses win the round, but {loses} tricks without them lose it."
    trump = f" {rules.SUITS[view.trump]} is trump and beats the other suits." if view.trump != rules.NONE else ""
    follow = "Follow the suit that was led if you can." if trick_cards(view) else "You lead: the others must follow."
    return f"{follow}{trump} The A wins every trick. {aim}"


def _next_to_play(view: Any) -> int:
    return (int(view.lead) + len(trick_cards(view))) % int(view.players)


def _hand_size(view: Any, k: int) -> int:
    """How many cards another seat holds, as everybody can count."""
    straw = 0
    if view.players == 2:
        straw = len(on_places(view.straw_up[k])) + int(view.straw_left[k]).bit_count() - (view.phase == rules.DISCARD)
    return int(view.round_tricks) - len(members(view.played[k])) - straw


def _draw_other(table: TableScene, k: int, box: Box) -> None:
    """Another seat: its hand, and the suits it has shown not to hold."""
    view, shown, name, (x, y, w, h) = table.view, table.seen.views[k], table.names[k], box
    note = ""
    if table.players == 4:
        note = "partner" if k == 2 and not table.seen.spectator else f"team {table.seen.number(k) % 2}"
    table.add_seat(k, box, note)
    room = 560 if table.players == 2 else w - 24
    if shown is None:
        count = _hand_size(view, k)
        table.add(backs(count, (x + 12, y + 48, room, 46)), f"{name} holds {count} cards")
    else:
        cards = members(shown.hand)
        table.add(chips(cards, x + 12, y + 44, room), f"{name} holds {' '.join(names(cards))}")
    voids = members(view.void[k])
    if voids:
        narrow = w < h
        left, middle = (x + 12, y + 230) if narrow else (x + min(w * 0.36, 230), y + 22)
        shapes: list[Shape] = [text(left, middle, "without", 21, PALE, "start")]
        for i, suit in enumerate(voids):
            place = (left + i * 30, middle + 16) if narrow else (left + 84 + i * 30, middle - 13)
            shapes += [*suit_sign(suit, *place), *cross_out((*place, 27, 27), "#000000", 2)]
        table.add(shapes, f"{name} has no {', '.join(suit_names(view.void[k]))} in hand")
    if table.players == 2:
        _draw_straw(table, k, x + 660, y + 10)


def _draw_trick(table: TableScene) -> None:
    """The current trick; an empty place for who is to play next."""
    view = table.view
    laid = dict(trick_cards(view)) if view.lead != rules.NONE else {}
    h = 104.0 if table.players == 2 else CARD[1]
    for k, (x, y) in enumerate(TRICK_PLACES[table.players]):
        name, box = table.names[k], (x, y, CARD[0], h)
        under = text(x + 42, y + h + 13, name + (" led" if laid and view.lead == k else ""), 20, table.colour(k))
        if k in laid:
            said = f"{name} played {describe_card(laid[k])}"
            more = {"help": card_help(laid[k], view), "key": f"card {laid[k]}", "origin": f"seat {k}"}
            table.add([*face(laid[k], box), under], said, (), None, **more)
        elif view.phase == rules.PLAY and table.seen.winners is None:
            turn = k == _next_to_play(view)
            edge = rect(box, None, GOLD if turn else EDGE, 4 if turn else 2)
            table.add([edge, under], f"{name} plays next" if turn else "")


def _draw_trump(table: TableScene, top: float) -> None:
    view, x = table.view, 272.0
    if view.trump == rules.NONE:
        table.add_heading(x, top - 18, "No trump yet")
        return
    suit = int(view.trump)
    words = f"Trump: {rules.SUITS[suit]}"
    table.add_heading(x, top - 18, words, 190, words)
    cards = members(view.trump_card)
    if cards:
        said = f"the trump card is {CARD_NAMES[cards[0]]}"
        table.add(face(cards[0], (x, top, CARD[0], 110)), said, help=card_help(cards[0], view))
    else:
        sign = symbol(suit, x + 42, top + 42, 28, COLOURS[suit])
        table.add([rect((x, top, 84, 84), "#ffffff", COLOURS[suit], 4), *sign])


def _draw_last_trick(table: TableScene, top: float) -> None:
    """The trick before the current one, from the events."""
    view, players = table.view, table.players
    plays = [(event.seat, event.number - PLAYED) for event in table.seen.events if PLAYED <= event.number < PASSED]
    current = len(trick_cards(view)) if view.lead != rules.NONE else 0
    last = plays[: len(plays) - current][-players:]
    if int(view.tricks.sum()) == 0 or len(last) < players or view.phase != rules.PLAY:
        return
    table.add_heading(838, top - 18, f"Last trick: {table.names[int(view.lead)]}", 188)
    for i, (seat, card) in enumerate(last):
        x, y = 860 + i % 2 * 76, top + i // 2 * 106
        bar = rect((x + 6, y + 92, 52, 7), table.colour(seat), None, corner=3)
        table.add(
            [*face(card, (x, y, 64, 90)), bar], f"{table.names[seat]} played {describe_card(card)}", key=f"card {card}"
        )


def _draw_own(table: TableScene, top: float) -> None:
    """The observer's own cards; those that may be chosen can be clicked."""
    table.add_own_seat(top)
    _draw_passes(table, top + 6)
    if table.players == 2:
        _draw_straw(table, 0, 353, top + 6)
    cards, y = members(table.view.hand), (top + 168 if table.players == 2 else top + 46)
    w = min(104.0, 1236 / max(len(cards), 1) - 5)
    for card, x in zip(cards, in_row(len(cards), 22, 1236, w, 5)):
        box = (x, y, w, 682 - y)
        more = {"help": card_help(card, table.view), "key": f"card {card}"}
        table.add(face(card, box), describe_card(card), table.choices(card), box, **more)


def _draw_passes(table: TableScene, y: float) -> None:
    """Cards chosen to pass or to discard, and those received."""
    view, two = table.view, table.players == 2
    sent, received = (members(view.discard), []) if two else passed_cards(view)
    x = 1260.0
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
            _add_straw_card(table, card, whose, choices, box)
        elif int(view.straw_left[k]) >> place & 1:
            table.add(back(box), f"{whose} straw pile: a card face down")
    for place in range(rules.UP):
        card = int(view.straw_up[k, place])
        if card == rules.NONE:
            continue
        box = (x + step / 2 + place * step, y + drop, w, h)
        left = rules.EXCHANGE + 2 * place
        wanted = (left, left + 1) if view.phase == rules.EXCHANGING else (card,)
        _add_straw_card(table, card, whose, table.choices(*wanted) if k == 0 else [], box)


def _add_straw_card(table: TableScene, card: int, whose: str, choices: list[tuple[int, str]], box: Box) -> None:
    said = f"{whose} straw pile: {describe_card(card)}"
    table.add(face(card, box), said, choices, box, help=card_help(card, table.view), key=f"card {card}")


def _scores(table: TableScene) -> tuple[list[str], list[list[str]]]:
    """The sides: tokens, tricks, captured bosses, sealed suits, each with what wins or loses."""
    view, players, base = table.view, table.players, table.view.variant == rules.BASE
    head = ["side", "tricks", "bosses", f"sealed ({int(view.target)} win)"]
    if base:
        tricks, bosses = f"tricks ({int(view.tricks_to_lose)} lose)", f"bosses ({int(view.bosses_to_win)} win)"
        head = ["side", f"tokens ({int(view.target)} win)", tricks, bosses]
    rows = []
    for side in range(int(view.sides)):
        seats = " + ".join(table.names[k] for k in range(side, players, int(view.sides)))
        cells = [str(int(view.tricks[side])), " ".join(names(captured_cards(view, side))) or "–"]
        sealed = " ".join(suit[0] for suit in suit_names(view.sealed[side])) or "–"
        rows.append([seats, str(int(view.scores[side])), *cells] if base else [seats, *cells, sealed])
    return head, rows
