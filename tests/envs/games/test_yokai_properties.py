"""Facts about Yokai Septet that follow from its rules, for every division of bosses or for random games."""

import random
import zlib
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monsterzoo.envs import make_vec, yokai_septet_v0
from yokai_positions import ALL_BOSSES, LEADS, VARIANTS, environment, in_play, label, over, play, play_randomly, rewards
from yokai_reference import BOSSES, WHITE, suit_of

few = settings(max_examples=8)
seeds = st.integers(0, 2**32)

# --- Scoring: every division of the bosses ---


def _star_sum(bosses, trump):
    return sum(WHITE[suit_of(boss)] for boss in bosses if suit_of(boss) != trump)


TRUMP_CARDS = [*ALL_BOSSES, "W2", "E3", "C4", "L5", "D6", "F8", "S9"]
"""Of each suit the boss itself, and another card that no position below needs."""


def _divisions(trump_card):
    """Every way to share the bosses that are in the round between two sides."""
    bosses = [boss for boss in ALL_BOSSES if boss != trump_card]
    for choice in product((0, 1), repeat=len(bosses)):
        yield [[boss for boss, side in zip(bosses, choice) if side == k] for k in range(2)]


def test_winning_with_four_bosses_always_scores():
    """Whatever four to seven bosses a team has, and whatever is trump."""
    env = yokai_septet_v0.raw_env(episode="round")
    checked = 0
    for trump_card in TRUMP_CARDS:
        trump = suit_of(trump_card)
        for mine, theirs in _divisions(trump_card):
            if len(mine) < 4:
                continue
            # The last trick brings what three bosses lack; its best card is led: the A, the trump boss, or any of four.
            cards = sorted(mine[3:], key=lambda boss: suit_of(boss) != trump)
            if len(cards) < 4:
                cards = ["W1", *cards, "S10", "S11"][:4]
            position = in_play(
                hands=[[card] for card in cards], captured=[mine[:3], theirs], tricks=[6, 5], trump_card=trump_card
            )
            env.reset(options={"snapshot": position})
            end = play(env, *cards)
            assert end["winners"] == [0, 2]
            assert end["scores"] == [_star_sum(mine, trump), 0]
            assert end["scores"][0] >= 1
            checked += 1
    assert checked == 7 * (15 + 6 + 1) + 7 * (35 + 21 + 7 + 1)


def test_winning_by_the_others_seventh_trick_always_scores():
    """Whatever up to three bosses the loser took; the winner took three, the others are in hands."""
    env = yokai_septet_v0.raw_env(episode="round")
    cards, spare = ["W1", "W3", "W4", "W5"], ["W6", "E8", "C8", "L8"]
    for trump_card in TRUMP_CARDS:
        trump = suit_of(trump_card)
        for mine, theirs in _divisions(trump_card):
            if len(mine) > 3:
                continue
            hands = [[card, theirs[3 + k] if 3 + k < len(theirs) else spare[k]] for k, card in enumerate(cards)]
            position = in_play(hands=hands, captured=[mine, theirs[:3]], tricks=[6, 4], trump_card=trump_card)
            env.reset(options={"snapshot": position})
            end = play(env, *cards)
            assert end["winners"] == [1, 3]
            assert end["scores"] == [0, _star_sum(theirs, trump)]
            assert end["scores"][1] >= 1


def test_winning_with_no_cards_left_always_scores():
    """Three bosses each: the trump card is the seventh."""
    env = yokai_septet_v0.raw_env(episode="round")
    cards = ["S12", "S13", "S11", "S10"]
    for trump_card in ALL_BOSSES:
        for mine, theirs in _divisions(trump_card):
            if len(mine) != 3:
                continue
            position = in_play(
                hands=[[card] for card in cards], captured=[mine, theirs], tricks=[6, 5], trump_card=trump_card
            )
            env.reset(options={"snapshot": position})
            end = play(env, *cards)
            assert end["winners"] == [1, 3]
            assert end["scores"] == [0, _star_sum(theirs, suit_of(trump_card))]
            assert end["scores"][1] >= 1


# --- Rounds that end with empty hands ---


@pytest.mark.parametrize("options", [{"players": players, "episode": "round"} for players in (4, 3, 2)], ids=label)
def test_no_cards_left_only_happens_when_the_trump_card_is_a_seven(options):
    """Over many random rounds: without a winner by bosses or loser by tricks, the trump card is a boss."""
    vec = make_vec("yokai_septet_v0", num_envs=512, seed=3, **options)
    limit, need = (13, 4) if options["players"] == 2 else (7, 3 if options["players"] == 3 else 4)
    endings = {"bosses": 0, "tricks": 0, "empty": 0}
    while sum(endings.values()) < 8000:
        vec.step(vec.sample_actions())
        for last in vec.final_states[vec.terminated]:
            if last.tricks.max() >= limit:
                endings["tricks"] += 1
            elif max(int(bosses).bit_count() for bosses in last.captured) >= need:
                endings["bosses"] += 1
            else:
                end = vec.variant.snapshot(last)
                assert not any(end["hands"])
                assert end["trump_card"] in BOSSES
                endings["empty"] += 1
    assert all(endings.values()), endings


# --- Rewards ---


@pytest.mark.parametrize("options", LEADS, ids=label)
@pytest.mark.parametrize("reward", ["win", "score"])
@few
@given(seed=seeds)
def test_rewards_are_zero_sum_with_the_documented_values(options, reward, seed):
    env = yokai_septet_v0.raw_env(reward=reward, max_rounds=8, **options)
    env.reset(seed=seed)
    sides = 3 if options["players"] == 3 else 2
    target = {"base": 7, "seven_suitors": 7, "seven_suitors_short": 4}[options.get("variant", "base")]
    chooser = random.Random(seed)
    totals = np.zeros(sides)
    while not over(env):
        play_randomly(env, chooser)
        by_seat = rewards(env)
        by_side = by_seat[:sides]
        assert sum(by_side) == pytest.approx(0, abs=1e-6)
        assert by_seat == [by_side[seat % sides] for seat in range(len(by_seat))]
        totals += by_side
    end = env.snapshot()
    if reward == "win":
        assert end["truncated"] == (not end["winners"])
        wins = [1 if side in end["winners"] else -1 / (sides - 1) for side in range(sides)]
        assert totals == pytest.approx(wins if end["winners"] else [0] * sides)
    else:
        points = np.array(end["scores"] or [len(suits) for suits in end["sealed"]])
        others = (points.sum() - points) / (sides - 1)
        assert totals == pytest.approx((points - others) / target, abs=1e-6)


# --- Seats are alike ---

_BY_SEAT = ("hands", "passes", "straw", "discards", "exchanges", "played", "sent", "voids", "bare", "keeps")
_BY_SIDE = ("captured", "tricks", "scores", "sealed")


def rotate(snapshot, by):
    """The same position with every seat moved on by some places."""
    players = len(snapshot["hands"])
    moved = dict(snapshot)
    for key in (*_BY_SEAT, *_BY_SIDE):
        if snapshot[key] is not None:
            count = len(snapshot[key])
            moved[key] = [snapshot[key][(k - by) % count] for k in range(count)]
    for key in ("lead", "shown_by"):
        if snapshot[key] is not None:
            moved[key] = (snapshot[key] + by) % players
    for key in ("to_act", "winners"):
        moved[key] = sorted((seat + by) % players for seat in snapshot[key])
    moved["trick"] = [[(seat + by) % players, card] for seat, card in snapshot["trick"]]
    if players == 2:
        moved["round"] += by  # the other one deals
    return moved


def _play_round(env, seats_moved_by):
    """One round by a fixed policy that knows only its observation; each seat's view of it, and the positions."""
    players = env.variant.players
    layout = env.observation_layout
    counters = [
        *range(*layout["round"].slice.indices(layout.size)),
        *range(*layout["rounds_left"].slice.indices(layout.size)),
    ]
    views = {seat: [] for seat in range(players)}
    positions = []
    start = env.snapshot()["round"]
    paid = np.zeros(players)
    while True:
        seat = (int(env.agent_selection[-1]) - seats_moved_by) % players
        seen = env.observe(env.agent_selection)
        observation = np.delete(seen["observation"], counters)
        mask = seen["action_mask"]
        actions = np.flatnonzero(mask)
        action = int(actions[zlib.crc32(observation.tobytes()) % len(actions)])
        views[seat].append((observation.tobytes(), mask.tobytes(), action))
        env.step(action)
        paid += rewards(env)
        position = {**env.snapshot(), "generator": None, "options": None}
        if over(env) or position["round"] != start:
            scores = (position["scores"], position["sealed"], position["over"], position["winners"])
            return views, positions, scores, list(paid)
        if position["phase"] == "play":
            positions.append(position)


@pytest.mark.parametrize("options", LEADS, ids=label)
@few
@given(seed=seeds, by=st.integers(1, 3), steps=st.integers(0, 40))
def test_a_rotated_table_plays_the_rotated_game(options, seed, by, steps):
    by = by % options["players"] or 1
    env = environment(seed=seed, reward="score", **options)
    chooser = random.Random(seed)
    for _ in range(steps):
        play_randomly(env, chooser)
        if over(env):
            return
    rotated = environment(rotate(env.snapshot(), by), reward="score", **options)
    views, positions, scores, paid = _play_round(env, 0)
    views_rotated, positions_rotated, scores_rotated, paid_rotated = _play_round(rotated, by)
    assert views_rotated == views
    assert [rotate(position, by) for position in positions] == positions_rotated
    for mine, other in zip(scores[:2], scores_rotated[:2]):
        if mine is not None:
            assert other == [mine[(k - by) % len(mine)] for k in range(len(mine))]
    assert scores_rotated[2] == scores[2]
    assert scores_rotated[3] == sorted((seat + by) % options["players"] for seat in scores[3])
    assert paid_rotated == pytest.approx([paid[(k - by) % len(paid)] for k in range(len(paid))])


# --- Play on ---


@pytest.mark.parametrize("options", VARIANTS, ids=label)
@settings(max_examples=3)
@given(seed=seeds)
def test_no_card_is_ever_lost_or_doubled(options, seed):
    env = environment(seed=seed, max_rounds=4, **options)
    chooser = random.Random(seed)
    deck = 56 if "variant" in options else 49
    while not over(env):
        play_randomly(env, chooser)
        now = env.snapshot()
        cards = [card for key in ("hands", "passes", "played") for seat in now[key] for card in seat]
        cards += [card for pile in now["straw"] or [] for row in pile.values() for card in row if card]
        cards += [card for card in now["discards"] or [] if card]
        cards += [now["trump_card"]] if now["trump_card"] else []
        assert len(cards) == len(set(cards)) == deck
        assert {tuple(pair) for pair in now["trick"]} <= {
            (s, c) for s in range(len(now["played"])) for c in now["played"][s]
        }
