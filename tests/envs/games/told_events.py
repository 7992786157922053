"""What every seat should see of a decision, from the whole truth before and after it: snapshots, no views.

Each function takes both snapshots, who decided, the action's name and the observer, and gives the events as texts.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from yokai_reference import BOSSES, suit_of, trick_winner

Snapshot = dict[str, Any]


def new_in(after: list[Any], before: list[Any]) -> list[Any]:
    return list((Counter(after) - Counter(before)).elements())


# --- Pikit ---

DICE = {"low": "the low die", "high": "the high die", "both": "both dice"}
TAKES = {
    "end discards": "end the discards",
    "accept": "accept the discard",
    "take sum": "take the sum",
    "take difference": "take the difference",
    "take low": "take the low die",
    "take high": "take the high die",
    "take both": "take both dice",
    "take mecha": "take the mecha of the dice",
    "steal mecha": "steal from who holds the mecha of the dice",
    "take nothing": "take nothing",
}


def pikit_events(before: Snapshot, after: Snapshot, mover: int, action: str, observer: int) -> Iterator[str]:
    players, turn_player = len(before["hands"]), before["turn_player"]
    card, _, effect = action.partition(": ")
    stack, dice = before["pending"], f"seat {after['turn_player']}: dice {after['dice'][0]} and {after['dice'][1]}"
    if effect:
        stack = [*stack, {"seat": mover, "effect": effect}]
        verb, _, rest = effect.partition(" ")
        what = {
            "reroll": lambda: f"reroll {DICE[rest]}",
            "steal": lambda: f"steal a card from seat {(mover + int(rest)) % players}",
            "draw": lambda: "draw a card from the deck",
            "cancel": lambda: "cancel",
            "turn": lambda: f"turn {DICE[rest.split()[0]]} to {rest.split()[-1]}",
        }[verb]()
        yield f"seat {mover}: {card} to {what}"
    elif action != "accept" or mover == observer:
        yield f"seat {mover}: {TAKES[action]}"
    if before["phase"] == "take":
        yield from _gained(before, after, turn_player, before["hands"][turn_player]["kaiju"])
        yield from (
            f"new in the centre: {value}" for value in before["deck"][: len(before["deck"]) - len(after["deck"])]
        )
        if before["last_turns_left"] is None and after["last_turns_left"] is not None:
            yield "the deck is empty: last turns"
        if after["turn_player"] != turn_player:
            yield dice
        return
    if after["pending"] or action == "end discards":
        return
    if len(stack) % 2 == 0:
        yield "… it is cancelled"
        return
    held = Counter(before["hands"][turn_player]["kaiju"])
    held -= Counter([int(card)] if effect and mover == turn_player else [])
    match stack[0]["effect"].split()[0]:
        case "reroll" | "turn":
            yield dice
        case "steal":
            yield from _gained(before, after, turn_player, list(held.elements()))
        case "draw" if observer == turn_player:
            [drawn] = new_in(after["hands"][turn_player]["kaiju"], list(held.elements()))
            yield f"seat {turn_player}: draw a {drawn}"
        case "draw":
            yield f"seat {turn_player}: draw a card"


def _gained(before: Snapshot, after: Snapshot, seat: int, held: list[int]) -> Iterator[str]:
    yield from (f"seat {seat}: gain a {value}" for value in new_in(after["hands"][seat]["kaiju"], held))
    for number in new_in(after["hands"][seat]["mecha"], before["hands"][seat]["mecha"]):
        yield f"seat {seat}: gain the mecha {number}-{number}"
    if after["wounds"] != before["wounds"]:
        yield f"seat {seat}: a stolen 3 wounds"


# --- Bite Night ---


def bite_night_events(before: Snapshot, after: Snapshot, mover: int, action: str, observer: int) -> Iterator[str]:
    players = len(before["hands"])
    verb, _, what = action.partition(" ")
    if mover == observer:
        said = {"lay": "lay", "grab": "reach for", "bury": "choose to bury", "raise": "raise"}[verb]
        yield f"seat {mover}: {said} {what}"
    same_lap, wanted = before["lap"] == after["lap"], [what] if mover == observer else before["choices"][observer]
    for seat in range(players) if same_lap else ():
        grabbed = before["phase"] == "grab" == after["phase"] and not after["over"]
        if grabbed and seat != observer and set(wanted) & set(new_in(after["tiles"][seat], before["tiles"][seat])):
            yield f"… too late, seat {seat} was quicker"
        yield from (f"seat {seat}: gain {tile}" for tile in new_in(after["tiles"][seat], before["tiles"][seat]))
        for tile in set(before["tiles"][seat]) & set(after["graveyard"]):
            yield f"seat {seat}: bury {tile}"
    if same_lap:
        for seat, card in after["pile"][_revealed(before) : _revealed(after)]:
            yield f"revealed, laid by seat {seat}: {card}"
    for seat in range(players):
        points = after["scores"][seat] - before["scores"][seat]
        yield from (f"points for seat {seat}: {part}" for part in [99] * (points // 99) + [points % 99] if part)
    yield from (f"to grab: {tile}" for tile in new_in(after["middle"], before["middle"]))
    if not same_lap:
        yield f"a new lap begins, seat {after['lap_leader']} leads"
    if not same_lap or before["round"] != after["round"]:
        yield f"round {after['round']} begins"


def _revealed(snapshot: Snapshot) -> int:
    """Cards that are done, and the one that waits for choices."""
    return int(snapshot["resolved"]) + (snapshot["phase"] in ("bury", "resurrect"))


# --- Yokai Septet ---


def yokai_septet_events(before: Snapshot, after: Snapshot, mover: int, action: str, observer: int) -> Iterator[str]:
    players, new_round = len(before["hands"]), before["round"] != after["round"]
    suitors = before["sealed"] is not None
    if before["phase"] == "play":
        yield f"seat {mover}: {action}"
        if len(before["trick"]) == players - 1:
            yield from _trick(before, mover, action, observer)
    elif mover == observer:
        yield f"seat {mover}: {({'pass': 'pass ', 'discard': 'discard '}).get(before['phase'], '')}{action}"
    if before["phase"] == "pass" and after["phase"] == "play":
        for giver, cards in enumerate(after["sent"]):
            for k, card in enumerate(cards):
                taker = (giver + 1 + k) % 4 if suitors else (giver + 2) % 4 if players == 4 else (giver + 1) % 3
                if taker == observer:
                    yield f"received from seat {giver}: {card}"
    if players == 2 and not new_round:
        yield from _straw(before, after, observer)
    sides = len(before["tricks"])
    for seat in [(observer + k) % players for k in range(sides)]:  # the first of each side, clockwise
        side = seat % sides
        if suitors:
            yield from (
                f"suit sealed by seat {seat}: {suit}" for suit in new_in(after["sealed"][side], before["sealed"][side])
            )
        elif after["scores"][side] > before["scores"][side]:
            yield f"tokens for seat {seat}: {after['scores'][side] - before['scores'][side]}"
    if new_round:
        yield "a new round begins"
    if after["trump"] is not None and (new_round or before["trump"] is None):
        yield f"trump is {after['trump']}"
    if after["shown_by"] is not None and (new_round or before["shown_by"] is None):
        yield f"seat {after['shown_by']}: show the A, or Snow 13, and lead"


def _trick(before: Snapshot, mover: int, card: str, observer: int) -> Iterator[str]:
    players, sides = len(before["hands"]), len(before["tricks"])
    trick = [*map(tuple, before["trick"]), (mover, card)]
    winner = trick_winner(trick, before["trump"])
    yield f"… trick for seat {winner}"
    if before["sealed"] is not None:
        return
    bosses = BOSSES & {*before["captured"][winner % sides], *(one for _, one in trick)}
    left = {one for hand in before["hands"] for one in hand} - {card}
    left |= {one for pile in before["straw"] or [] for row in pile.values() for one in row} - {card, None}
    if len(bosses) >= (3 if players == 3 else 4):
        yield f"seat {winner}: {'the third boss' if players == 3 else 'the fourth boss of the side'} wins the round"
    elif before["tricks"][winner % sides] + 1 >= (13 if players == 2 else 7):
        yield f"seat {winner}: the {'13th' if players == 2 else 'seventh'} trick loses the round"
        if players == 3:
            return
        winner = next(seat % players for seat in (observer, observer + 1) if (seat - winner) % 2)
        bosses = BOSSES - bosses - {before["trump_card"]}
    elif not left:
        yield f"seat {winner}: the last trick wins the round"
    else:
        return
    yield from (f"bosses for seat {winner}: {suit_of(boss)}" for boss in bosses if not boss.endswith("*"))


def _straw(before: Snapshot, after: Snapshot, observer: int) -> Iterator[str]:
    other = 1 - observer
    swapped = before["phase"] == "exchange" != after["phase"] and after["exchanges"][other] != "no exchange"
    swapped |= before["phase"] == "keep" != after["phase"] and after["keeps"][other] == "keep old up"
    if swapped and after["exchanges"][other] is not None:
        yield f"seat {other}: {after['exchanges'][other]}"
    for seat in range(2):
        known = {*before["straw"][seat]["up"], *before["bare"][seat]}
        # What an exchange laid below has been seen before, and so has what came up and went back.
        choice = after["exchanges"][seat]
        if before["phase"] != "exchange" and choice not in (None, "no exchange"):
            place = int(choice.split()[1]) + (choice.split()[2] == "right")
            known.add(before["straw"][seat]["down"][place])
        open_now = {*after["straw"][seat]["up"], *after["bare"][seat]} - {None}
        yield from (f"seat {seat}: {card} lies open in the straw pile" for card in open_now - known)
