"""One loop for all games: seating per seat, the move log, and what is refused."""

import gymnasium
import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.envs import make_vec, replay, variant
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.core.contract import PLAYING
from monsterzoo.envs.core.registry import gymnasium_id
from monsterzoo.envs.core.rng import env_seed, generator
from monsterzoo.envs.match.loop import ACT, BEGIN, OUTSIDE, Endless
from monsterzoo.envs.match.match import Match, play_listed

SOME = pytest.mark.parametrize(
    ("game", "played"),
    [("yokai_septet_v0", {"players": 4}), ("pikit_v0", {"players": 3}), ("bite_night_v0", {"players": 3})],
)


class Noting:
    """Takes the first legal action, and notes for which seats it was asked."""

    name = "noting"

    def __init__(self) -> None:
        self.seats: set[int] = set()

    def act(self, decisions):
        self.seats |= set(decisions.seats.tolist())
        return decisions.action_masks.argmax(axis=1)


# --- Seating ---


def test_every_seat_can_have_a_player_of_its_own_and_partners_may_differ() -> None:
    four = variant("yokai_septet_v0", players=4)
    players = [Noting() for _ in range(4)]
    luck = np.array([generator(env_seed(3, i)) for i in range(6)])
    seating = np.array([[0, 1, 2, 3]] * 6)
    queue = play_listed(four, players, seating, luck, luck, batch=4)
    assert queue.done.all()
    np.testing.assert_allclose(queue.shares.sum(axis=1), 1)
    assert [player.seats for player in players] == [{0}, {1}, {2}, {3}]
    swapped = play_listed(four, players, seating[:, ::-1].copy(), luck, luck, batch=3)
    np.testing.assert_array_equal(queue.scores, swapped.scores)  # all of them play alike, whatever the slots


def test_compiled_asked_and_outside_seats_share_a_table() -> None:
    three = variant("pikit_v0", players=3)
    asked = Noting()
    players = [policies.make("heuristic", "pikit_v0", players=3), asked]
    match = Match(three, 5, players, [OUTSIDE, 0, 1], forfeit=True)
    match.arrays["states"]["rng"] = [generator(env_seed(1, i)) for i in range(5)]
    match.arrays["orders"][:] = BEGIN
    match.run()
    for _ in range(60):
        assert (match.arrays["waiting"] == OUTSIDE).all()
        assert (match.arrays["seats"] == 0).all()
        match.arrays["choices"][:] = match.action_masks.argmax(axis=1)
        match.arrays["orders"][:] = ACT
        match.run()
    assert asked.seats == {2}


@pytest.mark.parametrize(
    ("seating", "problem"),
    [
        ([0, 0], r"expected the shape \(5, 3\) or \(3,\), got \(2,\)"),
        ([[0, 0, 0]] * 4, r"expected the shape \(5, 3\)"),
        ([0, 0, 1], "expected players 0 to 0 or -1"),
        ([0, 0, -2], "expected players 0 to 0 or -1"),
        ([0.0, 0.0, 0.0], "expected players 0 to 0 or -1"),
    ],
)
def test_impossible_seatings_are_refused_and_change_nothing(seating, problem) -> None:
    match = Match(variant("pikit_v0", players=3), 5, [policies.make("random", "pikit_v0", players=3)], [OUTSIDE, 0, 0])
    before = match.arrays["seating"].copy()
    with pytest.raises(ValueError, match=problem):
        match.seat(slice(None), seating)
    np.testing.assert_array_equal(match.arrays["seating"], before)


def test_truncated_games_are_told_apart_shared_by_all_and_replaced() -> None:
    """Three turns of Pikit for three, one of them outside: nobody wins, the next game has begun."""
    three = variant("pikit_v0", players=3, max_turns=3)
    player = policies.make("random", "pikit_v0", players=3, max_turns=3)
    match = Match(three, 6, [player], [OUTSIDE, 0, 0], log=99)
    plain = Match(three, 6)
    for one in (match, plain):
        one.arrays["states"]["rng"] = [generator(env_seed(1, i)) for i in range(6)]
        one.begin(np.ones(6, np.bool_))
        while not one.arrays["truncated"].any():
            assert not one.arrays["lengths"][1].any()
            one.act(one.action_masks.argmax(axis=1))
        over = one.arrays["truncated"]
        assert not one.arrays["terminated"].any()
        assert not one.arrays["rewards"].any()
        assert (one.arrays["finals"]["turns"][over] == 3).all()
        assert (one.arrays["states"]["turns"][over] == 0).all()
        assert (one.arrays["lengths"][1][over] >= 3).all()
        assert (one.arrays["states"]["outcome"] == PLAYING).all()
    luck = np.array([generator(seed) for seed in range(4)])
    queue = play_listed(three, [player], np.zeros((4, 3), np.int64), luck, luck)
    np.testing.assert_array_equal(queue.shares, np.full((4, 3), 1 / 3))


@pytest.mark.parametrize("players", [3, 4])
def test_with_a_turn_everybody_moves_one_seat_on_after_each_game(players: int) -> None:
    table = variant("pikit_v0", players=players, max_turns=players)
    random = policies.make("random", "pikit_v0", players=players, max_turns=players)
    seating = [OUTSIDE, *[0] * (players - 1)]
    match = Match(table, 1, [random], seating, source=Endless(1))
    match.begin(np.ones(1, np.bool_))
    seats = [int(match.seats[0])]
    while len(seats) < players + 2:
        match.act(match.action_masks.argmax(axis=1))
        assert int(match.seats[0]) == int(match.arrays["outside"][0]).bit_length() - 1
        if match.arrays["truncated"][0]:
            seats.append(int(match.seats[0]))
            row = match.arrays["seating"][0].tolist()
            assert (row.index(OUTSIDE), row.count(OUTSIDE)) == (seats[-1], 1)
    assert seats == [k % players for k in range(players + 2)]


# --- The move log ---


@SOME
def test_any_game_of_a_batch_can_be_recorded(game: str, played: dict) -> None:
    games = make_vec(game, 6, seed=4, log=4000, **played)
    while not (games.final_lengths > 0).all():
        games.step(games.sample_actions())
    for i in range(6):
        ended = replay(games.record(i, final=True))
        assert ended.states.tobytes() == games.final_states[i : i + 1].tobytes()
        running = replay(games.record(i))
        assert running.states.tobytes() == games.states[i : i + 1].tobytes()
    other = make_vec(game, 6, seed=5, log=4000, **played)
    other.restore(games.save())
    assert other.record(3) == games.record(3)


@SOME
@pytest.mark.parametrize("opponents", ["random", Noting()], ids=["compiled", "asked"])
def test_one_seat_games_are_recorded_with_everybodys_moves(game: str, played: dict, opponents) -> None:
    env = gymnasium.make(gymnasium_id(game), opponents=opponents, **played)
    _, info = env.reset(seed=2)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        over = terminated or truncated
    record = env.unwrapped.record()
    assert set(record["seats"]) == set(range(played["players"]))
    assert replay(record).snapshot()["over"]


def test_a_game_from_a_position_is_recorded_from_there() -> None:
    env = replay(make_played_record())
    position = env.snapshot()
    games = SeatVectorEnv("pikit_v0", 2, players=2, log=3000)
    _, infos = games.reset(seed=1, options={"snapshot": [position, None]})
    for _ in range(5):
        infos = games.step(infos["action_mask"].argmax(axis=1))[4]
    assert games.record(0)["snapshot"]["deck"] == position["deck"]
    assert "snapshot" not in games.record(1)
    for i in range(2):
        assert replay(games.record(i)).states.tobytes() == games.states[i : i + 1].tobytes()


def make_played_record() -> dict:
    games = make_vec("pikit_v0", 1, seed=9, players=2, log=100)
    for _ in range(15):
        games.step(games.sample_actions())
    return games.record(0)


def test_logs_that_are_too_short_or_no_logs_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match="log=-1 is not allowed; allowed: an integer from 0"):
        make_vec("pikit_v0", 2, players=2, log=-1)
    games = make_vec("pikit_v0", 2, seed=1, players=2, log=5)
    for _ in range(6):
        games.step(games.sample_actions())
    with pytest.raises(ValueError, match=r"game 1 has 6 moves and the log keeps 5: ask for a longer one with log="):
        games.record(1)
    with pytest.raises(ValueError, match="the log keeps 0: ask for a longer one with log="):
        make_vec("pikit_v0", 2, players=2).record(0)


def test_the_log_changes_no_game() -> None:
    plain, logged = (make_vec("bite_night_v0", 16, seed=3, players=4, log=log) for log in (0, 64))
    for _ in range(300):
        for games in (plain, logged):
            games.step(games.sample_actions())
    assert plain.states.tobytes() == logged.states.tobytes()


@SOME
def test_pictures_of_one_seat_games_are_drawn_from_every_move(game: str, played: dict) -> None:
    env = gymnasium.make(gymnasium_id(game), opponents="random", render_mode="ansi", **played)
    _, info = env.reset(seed=2)
    for _ in range(4):
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        assert not terminated
        assert not truncated
    shown = [(move[1], move[2]) for move in env.unwrapped._renderer._trail._moves]
    record = env.unwrapped.record()
    names = env.unwrapped.variant.action_names
    latest = list(zip(record["seats"], record["actions"]))[-len(shown) :]
    assert [(seat, names[action]) for seat, action in shown] == latest
    assert len({seat for seat, _ in shown}) > 1
