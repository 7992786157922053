"""Positions of Yokai Septet from the few cards that a rule is about, and short ways to play from them."""

from typing import Any

import numpy as np
from monsterzoo.envs import yokai_septet_v0
from yokai_reference import BOSSES, DECK, FOILS, SUITS, in_order, suit_of

SCHEMA = (
    *("options", "phase", "round", "to_act", "hands", "passes", "straw", "discards", "trump", "trump_card", "lead"),
    *("trick", "played", "captured", "tricks", "scores", "sealed", "exchanges", "over", "winners"),
)
"""The keys a snapshot must bring; everything else in one is extra."""

VARIANTS: tuple[dict[str, Any], ...] = (
    {"players": 4},
    {"players": 3},
    {"players": 2},
    {"players": 2, "straw_reveal": "trick_end"},
    {"players": 4, "variant": "seven_suitors"},
    {"players": 4, "variant": "seven_suitors_short"},
)

LEADS: tuple[dict[str, Any], ...] = (
    *VARIANTS,
    *({**options, "first_lead": "held"} for options in VARIANTS if options["players"] > 2),
)
"""The variants, with both ways of finding the first leader."""


def label(options: dict[str, Any]) -> str:
    return ",".join(f"{key}={value}" for key, value in options.items()) or "default"


# --- Playing ---


def environment(position: dict[str, Any] | None = None, seed: int = 0, **options: Any) -> Any:
    """A raw environment: of a seed, or in a position."""
    env = yokai_septet_v0.raw_env(**options)
    env.reset(seed=seed, options=None if position is None else {"snapshot": position})
    return env


def play(env: Any, *actions: str) -> dict[str, Any]:
    """Carry out some actions, each of whoever decides next; returns the snapshot after them."""
    for action in actions:
        env.step(env.parse_action(action))
    return env.snapshot()


def seat_to_act(env: Any) -> int:
    return int(env.agent_selection.removeprefix("player_"))


def legal(env: Any, seat: int | None = None) -> set[str]:
    """The names of the legal actions, of whoever decides next if no seat is given."""
    agent = env.agent_selection if seat is None else f"player_{seat}"
    return {env.action_name(int(action)) for action in np.flatnonzero(env.infos[agent]["action_mask"])}


def rewards(env: Any) -> list[float]:
    return [env.rewards[agent] for agent in env.possible_agents]


def over(env: Any) -> bool:
    return any(env.terminations.values()) or any(env.truncations.values())


def play_randomly(env: Any, chooser: Any) -> str:
    """One random legal action; returns its name."""
    action = chooser.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"]).tolist())
    env.step(action)
    return env.action_name(action)


# --- Positions; every card that is not given lies where it changes nothing ---


def _deal_size(players: int, suitors: bool) -> int:
    return {2: 11, 3: 16, 4: 14 if suitors else 12}[players]


def before_play(
    players: int = 4,
    *,
    hands: list[list[str]] | None = None,
    trump_card: str | None = "E3",
    variant: str = "base",
    **keys: Any,
) -> dict[str, Any]:
    """The start of a round: given cards are dealt to the given hands, the others in the order of the deck."""
    suitors, straw_game = variant != "base", players == 2
    trump_card = None if suitors else trump_card
    hands = [list(hand) for hand in hands or [[]] * players]
    straw = keys.pop("straw", [{"down": [None] * 7, "up": [None] * 6} for _ in range(2)]) if straw_game else None
    if straw is not None:
        straw = [{key: list(row) for key, row in pile.items()} for pile in straw]
    used = {trump_card, *(card for hand in hands for card in hand)}
    used |= {card for pile in straw or [] for row in pile.values() for card in row}
    # Bosses last: wherever the filling ends up, straw piles and hands get few of them by accident.
    deck = [card for card in (DECK + FOILS if suitors else DECK) if card not in used]
    deck.sort(key=lambda card: card in BOSSES)
    for pile in straw or []:
        for row in pile.values():
            row[:] = [deck.pop(0) if card is None else card for card in row]
    for hand in hands:
        while len(hand) < _deal_size(players, suitors):
            hand.append(deck.pop(0))
    assert not deck
    sides = 3 if players == 3 else 2
    return {
        "phase": "discard" if straw_game else "pass",
        "round": 1,
        "hands": hands,
        "passes": [[] for _ in range(players)],
        "straw": straw,
        "discards": [None, None] if straw_game else None,
        "exchanges": [None, None] if straw_game else None,
        "trump": None if trump_card is None else suit_of(trump_card),
        "trump_card": trump_card,
        "lead": 0 if straw_game else None,
        "trick": [],
        "played": [[] for _ in range(players)],
        "captured": [[] for _ in range(sides)],
        "tricks": [0] * sides,
        "scores": None if suitors else [0] * sides,
        "sealed": [[], []] if suitors else None,
        **keys,
    }


def in_play(
    players: int = 4,
    *,
    hands: list[list[str]],
    tricks: list[int],
    captured: list[list[str]] | None = None,
    trump_card: str | None = "E3",
    trick: list[list[Any]] | None = None,
    lead: int = 0,
    variant: str = "base",
    straw: list[dict[str, list[str | None]]] | None = None,
    discards: list[str] | None = None,
    **keys: Any,
) -> dict[str, Any]:
    """A position of the play phase: hands, straw piles and the current trick as given, the rest has been played.

    Hands that are too short are filled with cards that are no bosses; all bosses must be given somewhere.
    """
    suitors, straw_game = variant != "base", players == 2
    sides = 3 if players == 3 else 2
    trump_card = None if suitors else trump_card
    trick, captured = trick or [], captured or [[] for _ in range(sides)]
    hands = [list(hand) for hand in hands]
    done = sum(tricks)
    current = dict(trick)
    if straw_game:
        straw = straw or [{"down": [None] * 7, "up": [None] * 6} for _ in range(2)]
        in_straw = [[card for card in pile["down"] + pile["up"] if card] for pile in straw]
    else:
        in_straw = [[] for _ in range(players)]
    used = {trump_card, *current.values()} - {None}
    used |= {card for cards in hands + in_straw + captured for card in cards}
    used |= set(discards or [])
    rest = [card for card in (DECK + FOILS if suitors else DECK) if card not in used]
    assert not BOSSES & set(rest), f"these bosses are nowhere: {in_order(BOSSES & set(rest))}"
    if straw_game and discards is None:
        discards = [rest.pop(), rest.pop()]
    size = 23 if straw_game else _deal_size(players, suitors)
    played: list[list[str]] = [[current[seat]] if seat in current else [] for seat in range(players)]
    gone = sorted((boss for side in captured for boss in side), key=DECK.__contains__)
    for seat in range(players):
        hold = size - done - (seat in current) - len(in_straw[seat])
        while len(hands[seat]) < hold:
            hands[seat].append(rest.pop())
        assert len(hands[seat]) == hold, f"seat {seat} should hold {hold} cards, not {len(hands[seat])}"
    for seat in range(players):
        while len(played[seat]) < done + (seat in current):
            played[seat].append(gone.pop() if gone else rest.pop())
    assert not rest, f"left over: {rest}"
    assert not gone, f"left over: {gone}"
    trump = keys.pop("trump", None if suitors else suit_of(str(trump_card)))
    return {
        "phase": "play",
        "round": 1,
        "hands": hands,
        "passes": [[] for _ in range(players)],
        "straw": straw,
        "discards": discards,
        "exchanges": [None, None] if straw_game else None,
        "trump": trump,
        "trump_card": trump_card,
        "lead": lead,
        "trick": [list(pair) for pair in trick],
        "played": played,
        "captured": [list(cards) for cards in captured],
        "tricks": list(tricks),
        "scores": None if suitors else [0] * sides,
        "sealed": [[], []] if suitors else None,
        **keys,
    }


def boss(suit: str) -> str:
    return f"{suit[0]}7"


ALL_BOSSES = [boss(suit) for suit in SUITS]
