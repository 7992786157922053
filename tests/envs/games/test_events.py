"""Events: numbers with a meaning, made from nothing but what a seat may know."""

import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from bite_night_table import STOP, TILES, last_grab
from bite_night_table import Board as BiteNight
from bite_night_table import value as card_value
from monsterzoo.envs import names
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.bite_night.rules import CARD_NAMES
from monsterzoo.envs.bite_night.story import story
from monsterzoo.envs.core.contract import MAX_EVENTS, add_event, imagine
from monsterzoo.envs.core.contract import events as plain_events
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.core.stepping import events_of
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.render.perspective import narrate, stepped
from monsterzoo.envs.yokai_septet.rules import BLACK_STARS, SUITS, WHITE_STARS
from pikit_table import REACTIVE
from told_events import bite_night_events, pikit_events, yokai_septet_events
from yokai_positions import in_play

Decision = tuple[np.ndarray, np.ndarray, int, int]
"""The states (1,) before and after it, who decided, and what."""


def deciding(states: np.ndarray) -> list[int]:
    return [seat for seat in range(4) if int(states["acting"][0]) >> seat & 1]


def legal(variant: Variant, states: np.ndarray, seat: int) -> list[int]:
    return np.flatnonzero(variant.legal_actions(states, 0, seat)).tolist()


def decisions(variant: Variant, seed: int, most: int = 10_000) -> Iterator[Decision]:
    """A random game; who chooses at once does so in any order."""
    env, random = GameEnv(variant.game, **variant.options), Random(seed)
    env.reset(seed=seed)
    states = env.states
    for _ in range(most):
        if not deciding(states):
            return
        mover = random.choice(deciding(states))
        action = random.choice(legal(variant, states, mover))
        after = stepped(variant, states, mover, action)
        yield states, after, mover, action
        states = after


def view(variant: Variant, states: np.ndarray, seat: int) -> bytes:
    return variant.look(states, 0, seat).tobytes()


def public(variant: Variant, action: int) -> bool:
    """Whether everybody hears an action itself; of all others, seats see what has come of them."""
    return variant.game.name == "pikit_v0" and variant.action_names[action] != "accept"


def alternatives(variant: Variant, world: np.ndarray, decision: Decision, seat: int) -> Iterator[Decision]:
    """Decisions in another world after which a seat knows the same as after the true one, its own being the same."""
    _, after, mover, action = decision
    known = view(variant, after, seat)
    movers = [seat] if mover == seat else [other for other in deciding(world) if other != seat]
    for other in movers:
        for choice in [action] if mover == seat else legal(variant, world, other):
            if choice != action and (public(variant, choice) or public(variant, action)):
                continue
            end = stepped(variant, world, other, choice)
            if view(variant, end, seat) == known:
                yield world, end, other, choice


def compare(variant: Variant, events: Any, seed: int, most: int) -> int:
    """Check that what a seat cannot know changes nothing of what it sees; how many other decisions were compared."""
    luck, compared = streams(seed, 1, "search"), 0
    for decision in decisions(variant, seed, most):
        for seat in range(variant.players):
            before, after, mover, action = decision
            told = events(before, after, seat, mover, action).tobytes()
            if mover != seat and view(variant, before, seat) == view(variant, after, seat):
                assert not told, "what nobody else can see yet is no event"
            if variant.action_names[action] == "accept" and mover != seat:
                for other in range(variant.players):  # who was asked to cancel and did not
                    assert other == seat or events(before, after, seat, other, action).tobytes() == told
            world = variant.new_states(1)
            imagine(world, decision[0], seat, luck[0])
            for begin, end, someone, choice in alternatives(variant, world, decision, seat):
                assert events(begin, end, seat, someone, choice).tobytes() == told
                compared += 1
    return compared


def test_events_do_not_depend_on_what_a_seat_cannot_know(name: str, options: dict[str, Any]) -> None:
    variant = find_game(name).variant(**options)
    assert compare(variant, variant.events, seed=1, most=160) > 80


@pytest.mark.parametrize("name", names())
def test_an_event_with_a_secret_in_it_would_be_noticed(name: str) -> None:
    variant = find_game(name).variant()

    def leaky(before: np.ndarray, after: np.ndarray, seat: int, mover: int, action: int) -> np.ndarray:
        return np.append(variant.events(before, after, seat, mover, action), [[mover, action]], axis=0)

    with pytest.raises(AssertionError):
        compare(variant, leaky, seed=1, most=160)


def test_two_games_that_a_seat_cannot_tell_apart_have_the_same_events(name: str, options: dict[str, Any]) -> None:
    """A twin game goes on with other choices and other luck for as long as the seat knows the same in both."""
    variant = find_game(name).variant(**options)
    luck, random, seat, apart, steps = streams(5, 1, "search"), Random(5), 1, 0, 0
    streams_of_events: tuple[list[bytes], list[bytes]] = ([], [])
    twin: np.ndarray | None = None
    for decision in decisions(variant, 3, 400):
        before, after, mover, action = decision
        if twin is None:
            twin = variant.new_states(1)
            imagine(twin, before, seat, luck[0])
        found = list(alternatives(variant, twin, decision, seat))
        if not found and mover != seat and view(variant, before, seat) == view(variant, after, seat):
            assert not len(variant.events(*decision[:2], seat, mover, action)), "nothing has changed for the seat"
            continue
        steps += 1
        if not found:  # no choice in the twin leads to the same: another twin
            twin, apart = None, apart + 1
            continue
        other = random.choice(found)
        streams_of_events[0].append(variant.events(before, after, seat, mover, action).tobytes())
        streams_of_events[1].append(variant.events(*other[:2], seat, *other[2:]).tobytes())
        twin = other[1]
    assert b"".join(streams_of_events[0]) == b"".join(streams_of_events[1])
    assert apart < steps / 2, "the games parted too often to be compared"


def test_numbers_have_a_meaning_and_fit(name: str, options: dict[str, Any]) -> None:
    variant = find_game(name).variant(**options)
    meanings = variant.event_names
    assert meanings[0] == ""
    assert len(set(meanings)) == len(meanings)
    most = 0
    for seed in range(3):
        for decision in decisions(variant, seed):
            rows = variant.events(*decision[:2], seed % variant.players, *decision[2:])
            most = max(most, len(rows))
            assert (rows[:, 1] > 0).all()
            assert (rows[:, 1] < len(meanings)).all()
            assert (rows[:, 0] < variant.players).all()
            assert (rows[:, 0] >= 0).all()
    assert most < MAX_EVENTS / 2, "there is room for rarer decisions"


# --- What happened, told in full even where the views before and after look alike ---


def told(name: str, options: dict[str, Any], snapshot: dict[str, Any], moves: list[str], seat: int) -> list[str]:
    """The events of some actions by name, each of the first seat that has to decide, as a seat sees them."""
    variant = find_game(name).variant(**options)
    states = variant.load(snapshot, seed=1)
    seen: list[str] = []
    for move in moves:
        mover, action = deciding(states)[0], variant.parse_action(move)
        after = stepped(variant, states, mover, action)
        seats = [f"seat {k}" for k in range(variant.players)]
        for about, number in variant.events(states, after, seat, mover, action).tolist():
            around = seats[(seat + about) % len(seats) :] + seats[: (seat + about) % len(seats)]
            seen.append(variant.event_names[number].format(*around))
        states = after
    return seen


def pikit(hands: list[list[int]], **more: Any) -> dict[str, Any]:
    """Two players, seat 0 discards; the rest of the deck of two lies in it, in order."""
    centre = more.get("centre", [1, 1, 2, 2, 3, 3, 5, 5])
    left = [value for value in range(1, 9) for _ in range(4 + 2 * (value == 8))] + [9, 10, 11]
    for value in [*centre, *hands[0], *hands[1]]:
        left.remove(value)
    return {
        "phase": more.get("phase", "discard"), "turn_player": 0, "dice": more.get("dice", [1, 4]), "deck": left,
        "centre": centre, "hands": [{"kaiju": hand, "mecha": []} for hand in hands], "discard_pile": [],
        "mechas_on_table": [1, 2, 3, 4, 5, 6], "wounds": [0, 0], "pending": [], "last_turns_left": None,
    }  # fmt: skip


@pytest.mark.parametrize("seat", [0, 1])
def test_pikit_a_stolen_card_is_told_even_if_it_is_like_the_one_discarded_for_it(seat: int) -> None:
    seen = told("pikit_v0", {"players": 2}, pikit([[4, 8], [4]]), ["4: steal +1"], seat)
    assert seen == ["seat 0: 4 to steal a card from seat 1", "seat 0: gain a 4"]


@pytest.mark.parametrize(("seat", "drawn"), [(0, "seat 0: draw a 1"), (1, "seat 0: draw a card")])
def test_pikit_only_the_player_knows_the_card_drawn(seat: int, drawn: str) -> None:
    seen = told("pikit_v0", {"players": 2}, pikit([[5, 8], [4]]), ["5: draw"], seat)
    assert seen == ["seat 0: 5 to draw a card from the deck", drawn]


def test_pikit_the_centre_is_refilled_with_a_card_like_the_one_taken() -> None:
    position = pikit([[8], [4]], phase="take", centre=[1, 2, 2, 3, 3, 5, 5, 5])
    seen = told("pikit_v0", {"players": 2}, position, ["take low"], 1)
    assert seen[:3] == ["seat 0: take the low die", "seat 0: gain a 1", "new in the centre: 1"]
    assert seen[3].startswith("seat 1: dice ")


def test_pikit_a_stolen_three_wounds() -> None:
    seen = told("pikit_v0", {"players": 2}, pikit([[4, 8], [3]]), ["4: steal +1"], 1)
    assert seen[1:] == ["seat 0: a stolen 3 wounds"]


def test_yokai_the_last_trick_of_a_round_has_a_winner_and_is_followed_by_a_deal() -> None:
    variant = find_game("yokai_septet_v0").variant(players=4)
    for before, after, mover, action in decisions(variant, 2):
        if int(before["round_number"][0]) != int(after["round_number"][0]):
            rows = variant.events(before, after, 0, mover, action)[:, 1].tolist()
            texts = [variant.event_names[number] for number in rows]
            assert texts[1] == "… trick for {0}"
            assert any(text.startswith("tokens for ") for text in texts) or "a new round begins" in texts[2:3]
            assert "a new round begins" in texts
            assert any(text.startswith("trump is ") for text in texts)
            return
    pytest.fail("the match has one round only")


def test_yokai_the_winner_of_every_trick_leads_the_next_one() -> None:
    for players in (2, 3, 4):
        variant = find_game("yokai_septet_v0").variant(players=players)
        tricks = 0
        for before, after, mover, action in decisions(variant, 4):
            rows = variant.events(before, after, 1, mover, action).tolist()
            taken = [about for about, number in rows if variant.event_names[number] == "… trick for {0}"]
            complete = int((before["trick"][0] >= 0).sum()) == players - 1
            assert len(taken) == complete
            if taken and int(after["round_number"][0]) == int(before["round_number"][0]) and deciding(after):
                assert (1 + taken[0]) % players == int(after["lead"][0])
                tricks += 1
        assert tricks > 3


def test_bite_night_who_is_too_late_is_told_and_nobody_else() -> None:
    variant = find_game("bite_night_v0").variant(players=3)
    late = 0
    for before, after, mover, action in decisions(variant, 5):
        resolved = before["middle"][0] != after["middle"][0] and before["lap"][0] == after["lap"][0]
        if int(before["phase"][0]) != 1 or int(after["phase"][0]) > 1 or not resolved:
            continue
        for seat in range(3):
            wanted = action - 34 if seat == mover else int(before["choices"][0, seat, 0])
            lost = wanted >= 0 and not int(after["tiles"][0, seat]) >> wanted & 1
            rows = variant.events(before, after, seat, mover, action)[:, 1].tolist()
            assert any("too late" in variant.event_names[number] for number in rows) == lost
            late += lost
    assert late > 3


@pytest.mark.parametrize(("lap", "then"), [(3, "picture monk"), (3, STOP), (2, "picture monk")])
def test_bite_night_who_got_the_last_tile_was_not_too_late_though_a_card_takes_it_away(lap: int, then: str) -> None:
    """Provisions, as the first card of the rendezvous, gives the garlic to seat 0; also at the end of the game."""
    rest = [tile for tile in TILES if tile not in ("blue monk heart", "blue garlic heart")]
    tiles = [["blue monk heart", *rest[:14]], rest[14:29], [*rest[29:43], "blue garlic heart"]]
    colours = [f"colour {colour}" for colour in ("blue", "red", "yellow", "green", "violet")]
    pictures = [f"picture {picture}" for picture in ("vampire", "maiden", "coffin", "garlic")]
    pile = ["provisions", then, *colours, *pictures, "colour set", "pair monk", "pair garlic", "pair coffin"]
    snapshot = last_grab(pile, tiles, advanced=True, lap=lap)
    seen = told("bite_night_v0", {"players": 3, "advanced": True}, snapshot, ["grab blue garlic heart"], 2)
    assert seen[0] == "seat 2: reach for blue garlic heart"
    assert not [text for text in seen if "too late" in text]
    assert ("seat 0: gain blue garlic heart" in seen) == (lap == 3), "of a lap that is over, the points are told"


def test_events_without_room_are_not_written() -> None:
    room = np.zeros((3, 2), np.int16)
    count = 0
    for number in range(1, 5):
        count = add_event(room[:2], count, 1, number)
    assert count == 2
    assert room.tolist() == [[1, 1], [1, 2], [0, 0]]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_yokai_the_end_of_every_round_is_explained_and_its_bosses_are_worth_the_tokens(players: int) -> None:
    variant = find_game("yokai_septet_v0").variant(players=players)
    reasons = set()
    for seed in range(12):
        for before, after, mover, action in decisions(variant, seed):
            texts = [
                (about, variant.event_names[number])
                for about, number in variant.events(before, after, 1, mover, action).tolist()
            ]
            why = [text for _, text in texts if text.endswith("s the round")]
            tokens = {about: int(text.split()[-1]) for about, text in texts if text.startswith("tokens for")}
            over = int(before["round_number"][0]) != int(after["round_number"][0]) or not deciding(after)
            assert len(why) == over
            assert over or not tokens
            if not over:
                continue
            reasons.add(why[0].partition(": ")[2])
            trump = int(before["trump"][0])
            suits = [SUITS.index(text.split()[-1]) for _, text in texts if text.startswith("bosses for")]
            worth = sum(WHITE_STARS[suit] + (players == 3) * BLACK_STARS[suit] for suit in suits if suit != trump)
            assert sum(tokens.values()) == (6 if players == 3 and "loses" in why[0] else worth)
    assert len(reasons) >= 2


@pytest.mark.parametrize(
    ("hands", "captured", "tricks", "won"),
    [
        (
            [["S13"], ["S8"], ["S9"], ["S10"]],
            [["W7", "E7", "C7"], ["L7", "D7", "F7"]],
            [5, 6],
            ["Wind", "Earth", "Charm"],
        ),
        ([["S13"], ["S8"], ["S9"]], [["W7", "E7"], ["C7", "L7"], ["D7", "F7"]], [5, 5, 5], ["Wind", "Earth"]),
    ],
    ids=["four", "three"],
)
def test_yokai_the_last_trick_of_all_wins_the_round(
    hands: list[list[str]], captured: list[list[str]], tricks: list[int], won: list[str]
) -> None:
    """As can only be where the trump card is a boss that nobody gets; the stars of those captured are one token."""
    players = len(hands)
    position = in_play(players, hands=hands, captured=captured, tricks=tricks, trump_card="S7")
    seen = told("yokai_septet_v0", {"players": players}, position, [hand[0] for hand in hands], 0)
    assert seen[players - 1 : -1] == [
        f"seat {players - 1}: {hands[-1][0]}",
        "… trick for seat 0",
        "seat 0: the last trick wins the round",
        *(f"bosses for seat 0: {suit}" for suit in won),
        "tokens for seat 0: 1",
        "a new round begins",
    ]


@pytest.mark.parametrize("advanced", [False, True])
def test_bite_night_the_rendezvous_is_told_card_by_card(advanced: bool) -> None:
    variant = find_game("bite_night_v0").variant(players=3, advanced=advanced, laps=2)
    cards = 0
    for seed in range(6):
        for before, after, mover, action in decisions(variant, seed):
            lines = [text for _, text in story(before, mover, action)]
            points = [sum(map(int, re.findall(rf"\{{{seat}\}} \+(\d+)", "\n".join(lines)))) for seat in range(3)]
            assert points == (after["scores"] - before["scores"])[0, :3].tolist()
            told = [text.partition(", laid by")[0] for text in lines if ", laid by" in text]
            start = int(before["resolved"][0]) + (int(before["phase"][0]) >= 2)
            names = [CARD_NAMES[card] for card in before["pile"][0, start:] if card >= 0]
            left = iter(names)
            assert all(name in left for name in told), "in the order they were laid"
            if int(after["phase"][0]) >= 2 and told and deciding(after):
                assert told[-1] == CARD_NAMES[after["pile"][0, int(after["resolved"][0])]], (
                    "nothing of what comes later"
                )
            cards += len(told)
            seen = [event.text for event in narrate(variant, 1, before, after, mover, action)]
            assert len([text for text in seen if ", laid by" in text]) == len(told)
    assert cards > 60


def test_plain_python_sees_the_same_events(name: str, options: dict[str, Any]) -> None:
    """Beyond the range of the bytes that views are made of, too."""
    variant, highest = find_game(name).variant(**options), 0
    views, found, wanted = (
        variant.new_views(2),
        np.zeros((MAX_EVENTS, 2), np.int16),
        np.zeros((MAX_EVENTS, 2), np.int16),
    )
    for before, after, mover, action in decisions(variant, 3, 150):
        for seat in range(variant.players):
            count = events_of(before, after, seat, mover, action, views, wanted)
            shown = [variant.look(states, 0, seat).copy() for states in (before, after)]
            assert plain_events(shown[0][0], shown[1][0], (mover - seat) % variant.players, action, found) == count
            np.testing.assert_array_equal(found[:count], wanted[:count])
            highest = max(highest, wanted[:count, 1].max(initial=0))
    assert highest > 127


# --- All events of whole games, from the truth ---

CASES: list[tuple[str, dict[str, Any], int]] = [
    ("pikit_v0", {"players": 2, "deck": REACTIVE}, 1),
    ("pikit_v0", {"players": 3}, 2),
    ("pikit_v0", {"players": 4, "deck": REACTIVE, "max_turns": 60}, 3),
    ("bite_night_v0", {"players": 3, "advanced": True}, 1),
    ("bite_night_v0", {"players": 4, "advanced": True, "laps": 2}, 2),
    ("bite_night_v0", {"players": 3, "grab": "draft", "laps": 2}, 3),
    ("yokai_septet_v0", {"players": 2}, 1),
    ("yokai_septet_v0", {"players": 2, "straw_reveal": "trick_end", "scoring": "basic"}, 2),
    ("yokai_septet_v0", {"players": 3}, 3),
    ("yokai_septet_v0", {"players": 4}, 4),
    ("yokai_septet_v0", {"players": 4, "first_lead": "held", "scoring": "basic"}, 5),
    ("yokai_septet_v0", {"players": 4, "variant": "seven_suitors"}, 6),
    ("yokai_septet_v0", {"players": 4, "variant": "seven_suitors_short"}, 7),
]
TRUE_EVENTS = {
    "pikit_v0": pikit_events,
    "bite_night_v0": bite_night_events,
    "yokai_septet_v0": yokai_septet_events,
}


@pytest.mark.parametrize(("game", "options", "seed"), CASES, ids=str)
def test_every_seat_is_told_all_that_it_can_see_and_nothing_else(game: str, options: dict[str, Any], seed: int) -> None:
    variant = find_game(game).variant(**options)
    for before, after, mover, action in decisions(variant, seed, 500):
        old, new = variant.snapshot(before[0]), variant.snapshot(after[0])
        for seat in range(variant.players):
            seats = [f"seat {(seat + k) % variant.players}" for k in range(variant.players)]
            seen = Counter(
                variant.event_names[number].format(*seats[about:], *seats[:about])
                for about, number in variant.events(before, after, seat, mover, action).tolist()
            )
            assert seen == Counter(TRUE_EVENTS[game](old, new, mover, variant.action_names[action], seat))


def test_bite_night_a_story_says_what_every_card_has_done_or_why_nothing() -> None:
    tiles = [TILES[seat:45:3] for seat in range(3)]  # nobody has a pair
    pile = ["graveyard closed", "graveyard monk", "skip two", "colour set", "pair garlic", "picture monk", "pair monk"]
    pile += [STOP, "colour red", "picture coffin", "colour blue", "colour green", "picture maiden", "picture garlic"]
    table = BiteNight(last_grab([*pile, "skip two"]), players=3)

    def told(seat: int, action: str) -> list[tuple[int, str]]:
        return story(table.states, seat, table.variant.parse_action(action))

    def scored(card: str, *own: list[str]) -> str:
        points = [card_value(card, list(one)) for one in own]
        return "; ".join(f"{{{seat}}} +{won}" for seat, won in enumerate(points) if won)

    last = tiles[2][-1]
    assert told(2, f"grab {last}") == [
        (-1, f"{{2}} gains {last}"),
        (0, "graveyard closed, laid by {0}: it lies open"),
        (1, "graveyard monk, laid by {1}: no effect, graveyard closed lay open"),
        (2, "skip two, laid by {2}: no effect for colour set and pair garlic"),
        (0, f"picture monk, laid by {{0}}: {scored('picture monk', *tiles)}"),
        (2, "pair monk, laid by {2}: nothing for anybody"),
        (0, "graveyard any, laid by {0}: a choice has to be made"),
    ]
    table.do(2, f"grab {last}")
    for seat in range(3):
        for tile in tiles[seat][:2]:
            if (seat, tile) != (2, tiles[2][1]):
                assert told(seat, f"bury {tile}") == []
                table.do(seat, f"bury {tile}")
    lines = told(2, f"bury {tiles[2][1]}")
    lost = "; ".join(f"{{{seat}}} loses {' and '.join(tiles[seat][:2])}" for seat in range(3))
    kept = [own[2:] for own in tiles]
    assert lines[:2] == [
        (-1, f"graveyard any: {lost}"),
        (1, f"colour red, laid by {{1}}: {scored('colour red', *kept)}"),
    ]
    assert lines[-1] == (0, "skip two, laid by {0}: no effect for anything")
    assert len(lines) == 8


def test_there_is_a_name_for_all_that_can_happen_and_for_nothing_else() -> None:
    bite_night = find_game("bite_night_v0").variant().event_names
    assert [text for text in bite_night if text.startswith("round ")] == [f"round {k} begins" for k in range(1, 6)]
    assert [text for text in bite_night if text.startswith("points ")] == [
        f"points for {{0}}: {k}" for k in range(1, 100)
    ]
    pikit = find_game("pikit_v0").variant().event_names
    assert sum(text.startswith("{0}: dice ") for text in pikit) == 21
    for words in ("{0}: gain a ", "{0}: draw a ", "new in the centre: "):
        assert [text for text in pikit if text.startswith(words) and text[-1].isdigit()] == [
            f"{words}{value}" for value in range(1, 12)
        ]
    yokai = find_game("yokai_septet_v0").variant().event_names
    assert [text for text in yokai if text.startswith("tokens ")] == [f"tokens for {{0}}: {k}" for k in range(1, 16)]
    deck = [f"{suit}{rank}" for suit in "CLD" for rank in (6, 7, 8)]
    small = find_game("yokai_septet_v0").variant(players=2, deck=deck, straw=0)
    assert "{0}: enough bosses win the round" in small.event_names
    assert "{0}: too many tricks lose the round" in small.event_names
    assert len(small.event_names) == len(yokai)
