"""Positions whose parts contradict each other: refused, and records that hold such a thing are imagined all the same.

No played or loaded game gets there; whoever writes into records must still not hang a search or crash it.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from monsterzoo.envs import SnapshotError, make_vec, variant, yokai_septet_v0
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.core.stepping import look_at
from monsterzoo.envs.core.variant import Variant

YOKAI = "yokai_septet_v0"
PASSING = [{"players": 3}, {"players": 4}, {"players": 4, "variant": "seven_suitors"}]


def _first_trick(options, shown_goes):
    """A snapshot of the first trick of a match in which the shown card was passed on, or kept; and who showed it."""
    env = yokai_septet_v0.raw_env(**options)
    env.reset(seed=1)
    start = env.snapshot()
    shown = "S13" if start["trump_card"] == "W1" else "W1"
    [owner] = [seat for seat, hand in enumerate(start["hands"]) if shown in hand]
    for seat, hand in enumerate(start["hands"]):
        others = [card for card in hand if card != shown]
        chosen = [shown, *others[:2]] if shown_goes and seat == owner else others[:3]
        for card in chosen:
            env.step_for(f"player_{seat}", env.parse_action(card))
    return env.snapshot(), owner, shown


@pytest.mark.parametrize("options", PASSING, ids=str)
def test_who_had_the_shown_card_must_have_passed_it_to_where_it_is(options):
    position, owner, shown = _first_trick(options, shown_goes=True)
    variant(YOKAI, **options).load(position, 0)
    [holder] = [seat for seat, hand in enumerate(position["hands"]) if shown in hand]
    taken = position["sent"][owner].index(shown)
    passed = {card for cards in position["sent"] for card in cards}
    other = next(card for card in position["hands"][holder] if card not in passed)
    position["sent"][owner][taken] = other
    with pytest.raises(SnapshotError, match=f"sent: {shown} came from seat {owner} to seat {holder}, but"):
        variant(YOKAI, **options).load(position, 0)
    position["sent"][owner] = []  # not told: it may have been
    variant(YOKAI, **options).load(position, 0)


@pytest.mark.parametrize("options", PASSING, ids=str)
def test_nobody_else_can_have_passed_the_shown_card(options):
    position, owner, shown = _first_trick(options, shown_goes=False)
    variant(YOKAI, **options).load(position, 0)
    suitors = "variant" in options
    giver = (owner + 3) % 4 if suitors else (owner + 2) % options["players"]
    position["sent"][giver][0] = shown
    with pytest.raises(SnapshotError, match=f"sent: {shown} of seat {giver} was dealt to seat {owner}"):
        variant(YOKAI, **options).load(position, 0)


def test_a_card_is_passed_by_one_seat_only():
    position, _, _ = _first_trick(PASSING[2], shown_goes=False)
    position["sent"][1][0] = position["sent"][0][1]  # both to seat 2
    with pytest.raises(SnapshotError, match=f"sent: two seats passed {position['sent'][0][1]}"):
        variant(YOKAI, **PASSING[2]).load(position, 0)


def test_open_straw_cards_are_those_of_who_has_yet_to_play():
    """With late turning only who has played to this trick can have a straw card that is free and still face down."""
    options = {"players": 2, "straw_reveal": "trick_end"}
    games = make_vec(YOKAI, 64, seed=3, **options)
    refused = 0
    for _ in range(200):
        games.step(games.sample_actions())
        for index in np.flatnonzero((games.states["phase"] == 4) & (games.states["trick_size"] == 1))[:4]:
            position = games.variant.snapshot(games.states[index])
            seat = int(games.seats[index])
            down = [card for card in position["bare"][seat] if card in position["straw"][seat]["down"]]
            if down:
                position["bare"][seat].remove(down[0])
                with pytest.raises(SnapshotError, match=f"bare: .*{down[0]}.* of seat {seat} lies open too"):
                    games.variant.load(position, 0)
                refused += 1
    assert refused


# --- Records that contradict themselves ---


def _imagined(game: Variant, states: np.ndarray) -> Iterator[tuple[np.void, np.void]]:
    """Every record and a world that a seat imagines in it, which looks the same to that seat."""
    world, luck = game.new_states(1), streams(1, 1, "search")
    seen, seen_then = game.new_views(), game.new_views()
    for index in range(len(states)):
        truth = states[index : index + 1]
        for seat in range(game.players):
            imagine(world, truth, seat, luck[0])
            look_at(truth, 0, seat, seen)
            look_at(world, 0, seat, seen_then)
            assert seen_then.tobytes() == seen.tobytes()
            yield truth[0], world[0]


def _later(name, steps, **options):
    games = make_vec(name, 16, seed=5, **options)
    for _ in range(steps):
        games.step(games.sample_actions())
    return games.variant, games.states


@pytest.mark.parametrize("options", [{"players": 2}, *PASSING], ids=str)
def test_void_in_everything_leaves_the_cards_where_they_are(options):
    game, states = _later(YOKAI, 20, **options)
    states["void"] = 0x7F
    for truth, world in _imagined(game, states):
        assert world["hand"].tolist() == truth["hand"].tolist()


@pytest.mark.parametrize("options", PASSING, ids=str)
def test_a_shown_card_that_is_nowhere_it_could_be_loses_no_card(options):
    game, states = _later(YOKAI, 20, **options)
    for seat in range(game.players):
        states["shown_by"] = seat
        for truth, world in _imagined(game, states):
            assert np.bitwise_or.reduce(world["hand"]) == np.bitwise_or.reduce(truth["hand"])
            assert np.bitwise_count(world["hand"]).tolist() == np.bitwise_count(truth["hand"]).tolist()


def test_a_seat_that_is_asked_and_cannot_cancel_is_still_asked():
    game, states = _later("pikit_v0", 30, players=3, deck={5: 60, 6: 1, 7: 20})
    states["phase"] = 1
    states["acting"] = 1 << (states["turn_player"] + 1) % 3
    for truth, world in _imagined(game, states):
        assert (world["phase"], world["acting"]) == (truth["phase"], truth["acting"])


@pytest.mark.parametrize("field", ["secret", "known", "centre", "discards"])
def test_missing_and_surplus_cards_of_pikit_stay_where_they_are(field):
    game, states = _later("pikit_v0", 30, players=4)
    states[field] += np.uint64(0x0302010302010000)
    for truth, world in _imagined(game, states):
        for kept in ("secret", "cards", "top"):
            np.testing.assert_array_equal(world[kept], truth[kept])


@pytest.mark.parametrize("steps", [2, 8, 60, 120])
@pytest.mark.parametrize(
    ("field", "value"), [("hand", (1 << 45) - 1), ("hand", 0), ("tiles", (1 << 50) - 1), ("middle", (1 << 50) - 1)]
)
def test_missing_and_surplus_cards_and_tiles_of_bite_night_are_no_more_and_no_fewer(steps, field, value):
    game, states = _later("bite_night_v0", steps, players=4, advanced=True)
    states[field] = value
    for truth, world in _imagined(game, states):
        assert np.bitwise_count(world["hand"]).tolist() == np.bitwise_count(truth["hand"]).tolist()
        for kept in ("tiles", "middle", "graveyard"):
            np.testing.assert_array_equal(world[kept], truth[kept])
        assert ((world["stacks"] == -1) == (truth["stacks"] == -1)).all()


# --- Positions that once were accepted, and then hung the search (three players) or crashed it (Seven Suitors) ---

ACCEPTED_ONCE = json.loads(Path(__file__).with_name("contradictions.json").read_text())
SEARCH = """
import json, sys
import numpy as np
from monsterzoo.envs import variant
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.rng import streams
from monsterzoo.policies import Decisions, make

position = json.load(sys.stdin)
game = variant("yokai_septet_v0", **position["options"])
told = {"shown_by": position.pop("shown_by"), "sent": position.pop("sent")}
states = game.load(position, 1)
states["shown_by"] = told["shown_by"]
for seat, cards in enumerate(told["sent"]):
    states["passes"][0, seat] = [game.parse_action(card) for card in cards]
world, luck = game.new_states(1), streams(1, 1, "search")
for seat in range(game.players):
    for _ in range(200):
        imagine(world, states, seat, luck[0])
[seat] = position["to_act"]
decisions = Decisions.from_states(game, states, np.array([seat]))
for seed in range(15):
    player = make("search:200", "yokai_septet_v0", seed=seed, **position["options"])
    [action] = player.act(decisions)
    assert decisions.action_masks[0, action]
"""


@pytest.mark.parametrize("what", ACCEPTED_ONCE)
def test_who_showed_a_card_and_what_was_passed_must_agree(what):
    position = ACCEPTED_ONCE[what]
    with pytest.raises(SnapshotError, match=r"^sent: W1 "):
        variant(YOKAI, **position["options"]).load(position, 0)


@pytest.mark.parametrize("what", ACCEPTED_ONCE)
def test_search_survives_records_that_contradict_themselves(what):
    """In a process of its own, which may crash or never end."""
    position = json.dumps(ACCEPTED_ONCE[what])
    done = subprocess.run([sys.executable, "-c", SEARCH], input=position, text=True, capture_output=True, timeout=300)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
