"""Every field of an observation, read back by the layout and compared with the snapshot, for every seat."""

import random

import numpy as np
import pytest
from monsterzoo.envs import make_vec, yokai_septet_v0
from yokai_positions import LEADS, environment, label, over, play_randomly
from yokai_reference import DECK, FOILS, SUITS, rank_of, suit_of

CARDS = DECK + FOILS


def _columns(names, order):
    """1 where a name of the order is among the names."""
    return np.array([name in names for name in order], np.int8)


def _places(cards):
    """A straw row: suit and rank within the suit of each known card."""
    rows = np.zeros((len(cards), 14), np.int8)
    for row, card in zip(rows, cards):
        if card is not None:
            suit = SUITS.index(suit_of(card))
            row[suit] = 1
            row[7 + rank_of(card) - suit - 1] = 1
    return rows


def _known_below(position, seat):
    """The lower straw cards that both have seen: open ones, and the one an exchange has moved or shown."""
    choice, known = position["exchanges"][seat], set()
    if choice not in (None, "no exchange") and position["phase"] in ("keep", "play"):
        _, place, way = choice.split()
        known.add(int(place) + (way == "right"))
    down = position["straw"][seat]["down"]
    return [card if k in known or card in position["bare"][seat] else None for k, card in enumerate(down)]


def expected(position, seat, options):
    """The fields of a seat's observation, from the snapshot alone."""
    players, suitors = len(position["hands"]), position["sealed"] is not None
    order = CARDS if suitors else DECK
    side_count = 3 if players == 3 else 2
    seats = [(seat + k) % players for k in range(players)]
    sides = [(seat + k) % side_count for k in range(side_count)]
    passing = position["phase"] == "pass"
    trick = dict(map(tuple, position["trick"]))
    phases = ["discard", "exchange", "keep", "play"] if players == 2 else ["pass", "play"]
    bosses = [f"{suit[0]}7" for suit in SUITS] + ([f"{suit[0]}7*" for suit in SUITS] if suitors else [])
    target = {"seven_suitors": 7, "seven_suitors_short": 4}.get(options["variant"])
    target = target or options["target"] or (2 if options["scoring"] == "basic" else 7)
    fields = {
        "hand": _columns(position["hands"][seat], order),
        "trump": _columns([position["trump"]], SUITS),
        "trick": [_columns([trick.get(s)], order) for s in seats],
        "played": [_columns(position["played"][s], order) for s in seats],
        "captured": [_columns(position["captured"][side], bosses) for side in sides],
        "void": [_columns(position["voids"][s], SUITS) for s in seats],
        "lead": [s == position["lead"] for s in seats],
        "shown_by": [s == position["shown_by"] for s in seats],
        "phase": _columns([position["phase"]], phases),
        "tricks": [position["tricks"][side] for side in sides],
        "scores": [0 if suitors else position["scores"][side] for side in sides],
        "target": target,
        "round": min(position["round"], 127),
        "rounds_left": min(options["max_rounds"] - position["round"] + 1, 127),
    }
    if suitors:
        fields["sealed"] = [_columns(position["sealed"][side], SUITS) for side in sides]
    else:
        fields["trump_card"] = _columns([position["trump_card"]], order)
    if players == 2:
        exchanges = [f"exchange {place} {way}" for place in range(6) for way in ("left", "right")] + ["no exchange"]
        fields |= {
            "discard": _columns([position["discards"][seat]], order),
            "exchange": _columns([position["exchanges"][seat]], exchanges),
            "keep": _columns([position["keeps"][seat]], ["keep old up", "keep new up"]),
            "bare": [_columns(position["bare"][s], order) for s in seats],
            "straw_up": [_places(position["straw"][s]["up"]) for s in seats],
            "straw_down": [_places(_known_below(position, s)) for s in seats],
            "straw_left": [[card is not None for card in position["straw"][s]["down"]] for s in seats],
        }
        return fields
    sent = position["passes"] if passing else position["sent"]
    if suitors:
        # The k-th passed card goes k + 1 seats on, so the giver k + 1 seats on gave its card number 2 - k.
        given = [sent[seat][k : k + 1] for k in range(3)]
        got = [[] if passing else position["sent"][(seat + 1 + k) % 4][2 - k : 3 - k] for k in range(3)]
        fields["sent"] = [_columns(cards, order) for cards in given]
        fields["received"] = [_columns(cards, order) for cards in got]
    else:
        giver = (seat + 2) % 4 if players == 4 else (seat - 1) % 3
        fields["sent"] = _columns(sent[seat], order)
        fields["received"] = _columns([] if passing else position["sent"][giver], order)
    return fields


def compare(env):
    """Check all observations of a position: every field, every column of padding, the bounds of the space."""
    position, layout = env.snapshot(), env.observation_layout
    for seat, agent in enumerate(env.possible_agents):
        observation = env.observe(agent)["observation"]
        fields = expected(position, seat, env.options)
        assert set(fields) == {field.name for field in layout}
        rest = np.ones(layout.size, bool)
        for field in layout:
            value = observation[field.slice].reshape(field.shape)
            assert np.array_equal(value, np.array(fields[field.name], np.int8)), (seat, field.name, position)
            rest[field.slice] = False
        assert not observation[rest].any(), "padding is not zero"
        low, high = layout.bounds
        assert (low <= observation).all()
        assert (observation <= high).all()


OPTIONS = (
    *LEADS,
    {"players": 4, "scoring": "basic"},
    {"players": 3, "target": 100, "max_rounds": 3},
    {"players": 2, "scoring": "basic", "target": 5, "max_rounds": 10_000},
)


@pytest.mark.parametrize("options", OPTIONS, ids=label)
def test_every_field_says_what_the_snapshot_says(options):
    env = yokai_septet_v0.raw_env(**options)
    phases = set()
    for seed in range(5 if options["players"] == 2 else 2):
        env.reset(seed=seed)
        chooser = random.Random(seed)
        compare(env)
        while not over(env):
            play_randomly(env, chooser)
            # Every step of the first rounds, then some: steps of later rounds are like them.
            if env.snapshot()["round"] < 3 or chooser.random() < 0.1 or over(env):
                compare(env)
            phases.add(env.snapshot()["phase"])
    assert phases == ({"discard", "exchange", "keep", "play"} if options["players"] == 2 else {"pass", "play"})


@pytest.mark.parametrize("options", OPTIONS, ids=label)
def test_fields_do_not_overlap_and_fill_the_space(options):
    env = environment(**options)
    layout = env.observation_layout
    taken = np.zeros(layout.size, int)
    for field in layout:
        assert field.slice.stop - field.slice.start == int(np.prod(field.shape, dtype=int))
        taken[field.slice] += 1
    assert taken.max() == 1
    assert (taken == 0).sum() < 16
    assert env.observation_space("player_0")["observation"].shape == (layout.size,)


def test_the_round_is_shown_up_to_127():
    env = environment(seed=1, max_rounds=10_000)
    position = env.snapshot()
    for number in (126, 127, 128, 9_874, 9_875, 10_000):
        env.reset(options={"snapshot": {**position, "round": number, "lead": 0}})
        compare(env)


def test_scores_up_to_the_target_of_100_fit():
    env = environment(seed=1, target=100)
    env.reset(options={"snapshot": {**env.snapshot(), "scores": [99, 98], "round": 40, "lead": 3}})
    compare(env)


# --- Everything comes from the view ---


def views_of_a_match(options, steps=300):
    """Views of every seat along random games, as (variant, states, index, seat, view)."""
    vec = make_vec("yokai_septet_v0", num_envs=4, seed=5, **options)
    for step in range(steps):
        vec.step(vec.sample_actions())
        if step % 7 == 0:
            for seat in range(vec.variant.players):
                yield vec.variant, vec.states, step % 4, seat, vec.variant.look(vec.states, step % 4, seat)


@pytest.mark.parametrize("options", OPTIONS, ids=label)
def test_a_view_comes_back_from_its_tensor_with_the_same_text(options):
    """So neither the text nor anything else made from a view can tell more than the tensor does."""
    for variant, states, index, seat, view in views_of_a_match(options):
        again = variant.decode(variant.observation(states, index, seat)[None])
        assert again.tobytes() == view.tobytes()
        assert variant.describe(again[0], seat) == variant.describe(view[0], seat)


@pytest.mark.parametrize("options", OPTIONS, ids=label)
def test_looking_and_encoding_are_the_same_without_a_compiler(options):
    for variant, states, index, seat, view in views_of_a_match(options):
        plain = variant.new_views()
        variant.game.view.look(states[index], seat, plain[0])
        assert plain.tobytes() == view.tobytes()
        columns = np.empty(variant.layout.size, np.int8)
        variant.layout.encode(view[0], columns)
        assert np.array_equal(columns, variant.observation(states, index, seat))


def test_the_text_of_a_late_round_does_not_pretend_to_know_its_number():
    env = environment(seed=1, max_rounds=10_000)
    position = env.snapshot()
    for number, text in ((126, "Round 126, "), (127, "Round 127 or later, "), (9_875, "Round 127 or later, ")):
        env.reset(options={"snapshot": {**position, "round": number, "lead": 0}})
        assert text in env.text_observation("player_0")


def test_the_text_counts_from_the_observer_and_calls_seats_by_name():
    env = environment(seed=3, episode="round")
    chooser = random.Random(3)
    while not over(env) and len(env.snapshot()["trick"]) != 2:
        play_randomly(env, chooser)
    position = env.snapshot()
    (first, led), (second, card) = position["trick"]
    own = env.text_observation(f"player_{first}")
    assert f"Trick: you {led}, player_{second} {card}." in own
    assert "Leader of the trick: you." in own
    partner = env.text_observation(f"player_{(first + 2) % 4}")
    assert f"Trick: player_{first} (partner) {led}, player_{second} {card}." in partner
    assert f"Your hand: {' '.join(position['hands'][(first + 2) % 4])}." in partner
