"""Games as OpenSpiel's games: its own tests, its algorithms, and players both ways."""

import contextvars
import sys

import monsterzoo.envs as mz
import numpy as np
import pytest
from guide import run_guide
from monsterzoo import policies
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.envs.core.contract import setup
from monsterzoo.envs.core.rng import CHANCE, draw, generator, streams
from monsterzoo.envs.core.stepping import advance
from test_add_a_game import FILES, forget, write

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: make test-openspiel")

from monsterzoo.training.openspiel import BotPolicy, PolicyBot, SpielState, load_game
from open_spiel.python.algorithms import exploitability, external_sampling_mccfr, ismcts, mcts


@pytest.fixture(scope="module")
def leduc(tmp_path_factory):
    """Leduc poker, a game that is small enough to be solved, from the guide."""
    folder = tmp_path_factory.mktemp("leduc")
    write(folder, FILES)
    sys.path.insert(0, str(folder))
    mz.register_game(__import__("leduc_poker").GAME)
    yield load_game("leduc_poker_v0", reward="score")
    sys.path.remove(str(folder))
    forget("leduc_poker_v0")


def play(state, random, stop=lambda state: False):
    """Go on at random until the end, or until it is time to stop."""
    while not state.is_terminal() and not stop(state):
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            state.apply_action(outcomes[random.integers(len(outcomes))][0])
        else:
            state.apply_action(int(random.choice(state.legal_actions())))
    return state


# --- The games ---


def test_random_games_pass_openspiels_own_test(name, options, capfd):
    game = load_game(name, chance="sampled", **options)
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
    assert game.num_players() == mz.variant(name, **options).players


@pytest.mark.parametrize(
    "game",
    [
        {"name": "pikit_v0", "players": 2, "reward": "score"},
        {"name": "yokai_septet_v0", "players": 2, "episode": "round"},
    ],
)
def test_random_games_with_exact_chance_pass_it_too(game, capfd):
    pyspiel.random_sim_test(load_game(**game), num_sims=1, serialize=True, verbose=False)


def test_the_rewards_of_all_nodes_add_up_to_the_returns():
    state = load_game("pikit_v0", players=2, reward="score", max_turns=12, chance="sampled").new_initial_state()
    random, total = np.random.default_rng(1), np.zeros(2)
    while not state.is_terminal():
        state.apply_action(int(random.choice(state.legal_actions())))  # outcomes of chance are equally likely
        total += state.rewards()
    assert total.any()
    np.testing.assert_allclose(total, state.returns(), atol=1e-9)


def draws_of(states, move):
    """What the generator in a state draws during the next move, or during the deal."""
    holder, state, drawn = streams(0, 1, "test"), states.copy()[0], []
    holder["rng"] = states["rng"]

    def draw_and_note(count, alike):
        outcome = int(contextvars.Context().run(draw, holder[0], count))  # outside of what is recorded
        if count > 1:
            drawn.append(outcome)
        return outcome

    token = CHANCE.set(draw_and_note)
    if move is None:
        setup(state)
    else:
        advance(state, *move, np.zeros(4, np.float32))
    CHANCE.reset(token)
    return drawn


def test_exact_luck_is_the_draws_of_the_rules(name, options):
    """With the outcomes that the game's generator draws, chance nodes lead to the game of that seed."""
    env = mz.make(name, **options).unwrapped
    env.reset(seed=11)
    state, random = load_game(name, **options).new_initial_state(), np.random.default_rng(0)
    fresh, moves = env.variant.new_states(1), 0
    fresh["rng"] = generator(11)
    draws = draws_of(fresh, None)
    while True:
        for answer in draws:
            assert answer < len(state.chance_outcomes())
            state.apply_action(answer)
        truth, told = env.snapshot(), env.variant.snapshot(state.position.states[0])
        assert {**truth, "generator": 0} == {**told, "generator": 0}
        if state.is_terminal() or moves == 60:
            break
        agent, seat = env.agent_selection, state.current_player()
        assert agent == f"player_{seat}"
        assert state.legal_actions() == np.flatnonzero(env.infos[agent]["action_mask"]).tolist()
        np.testing.assert_array_equal(state.observation_tensor(seat), env.observe(agent)["observation"])
        action = int(random.choice(state.legal_actions()))
        assert state.action_to_string(action) == env.action_name(action)
        draws = draws_of(env._states, (seat, action))
        env.step(action)
        state.apply_action(action)
        moves += 1
    assert state.is_terminal() == env.snapshot()["over"]


def test_games_and_states_go_through_text():
    game = load_game("pikit_v0", players=2, chance="sampled", deck={3: 10, 5: 10, 2: 10, 7: 4})
    state = play(game.new_initial_state(), np.random.default_rng(0), lambda state: state.move_number() > 20)
    twin_game, twin = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    assert twin_game.variant.options == game.variant.options
    assert twin.position.states.tobytes() == state.position.states.tobytes()
    assert str(twin) == str(state)
    assert pyspiel.load_game("monsterzoo(game=yokai_septet_v0)").num_players() == 4


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ({"name": "poker_v0"}, "there is no game"),
        ({"players": 7}, "players=7 is not allowed"),
        ({"chance": "fair"}, "chance='fair' is not allowed; allowed: 'exact', 'sampled'"),
        ({"outcomes": 1}, "outcomes=1 is not allowed"),
    ],
)
def test_bad_options_are_named(bad, problem):
    with pytest.raises(ValueError, match=problem):
        load_game(**{"name": "pikit_v0", **bad})


# --- What players know ---


def test_resampled_states_look_the_same_to_their_player_only(name, options):
    random = np.random.default_rng(3)
    game = load_game(name, chance="sampled", **options)
    changed = 0
    for depth in (1, 9, 30):
        state = play(game.new_initial_state(), random, lambda s, d=depth: s.move_number() > d and s.is_player_node())
        if state.is_terminal():
            continue
        player, before = state.current_player(), str(state)
        for _ in range(3):
            world = state.resample_from_infostate(player, random.random)
            assert world.information_state_string(player) == state.information_state_string(player)
            assert world.legal_actions() == state.legal_actions()
            others = [seat for seat in range(game.num_players()) if seat != player]
            truth, dream = (game.variant.snapshot(one.position.states[0]) for one in (state, world))
            changed += {**truth, "generator": 0} != {**dream, "generator": 0}
            for seat in others:  # what they know is what the new state says
                seen = game.variant.observation(world.position.states, 0, seat)
                np.testing.assert_array_equal(world.observation_tensor(seat), seen)
            play(world, random)
            assert world.is_terminal()
            assert sum(world.returns()) == pytest.approx(0)
        assert str(state) == before
    assert changed


def recalled(state, depth, key="information_state_string", found=None, pasts=None):
    """Walk through the tree of some decisions; for every information state: what it came from, and what is legal."""
    found, pasts = {} if found is None else found, pasts or {}
    if state.is_terminal() or depth == 0:
        return found
    player, known = state.current_player(), ""
    past = pasts.get(player, ())
    if player >= 0:
        known = getattr(state, key)(player)
        found.setdefault((player, known), set()).add((past, tuple(state.legal_actions())))
    for action in state.legal_actions():  # of chance too
        own = {**pasts, player: (*past, (known, action))} if known else pasts
        recalled(state.child(action), depth - bool(known), key, found, own)
    return found


def test_information_states_have_perfect_recall_in_leduc_poker(leduc):
    """One tells the player's earlier ones, its actions there, and what is legal now."""
    found = recalled(leduc.new_initial_state(), 99)
    assert len(found) == 288, "as is known of the game whose suits do not matter"
    assert all(len(pasts) == 1 for pasts in found.values())


ENDS = [
    ("pikit_v0", {"players": 2, "max_turns": 2, "deck": {2: 4, 4: 4, 6: 4, 8: 12}}, 4),
    ("pikit_v0", {"players": 3, "max_turns": 6}, 3),
    ("yokai_septet_v0", {"players": 2, "episode": "round"}, 4),
    ("yokai_septet_v0", {"players": 3, "episode": "round"}, 4),
    ("bite_night_v0", {"players": 3, "laps": 1}, 3),
]


def end_of_game(name, options, left):
    """A random game before its last decisions, with two outcomes of chance where there are any: a small tree."""
    game = load_game(name, chance="sampled", outcomes=2, **options)
    path = play(game.new_initial_state(), np.random.default_rng(1)).full_history()
    made = [k for k, move in enumerate(path) if move.player >= 0]
    state = game.new_initial_state()
    for move in path[: made[-left]]:
        state.apply_action(move.action)
    return state


@pytest.mark.parametrize("end", ENDS, ids=lambda end: f"{end[0]}-{end[1]['players']}")
def test_information_states_have_perfect_recall_at_the_end_of_games(end):
    found = recalled(end_of_game(*end), end[2])
    assert all(len(pasts) == 1 for pasts in found.values())
    assert any(past for pasts in found.values() for past, _ in pasts), "somebody decides more than once"


def test_observations_have_no_perfect_recall():
    """So the tests above would notice if information states were nothing more."""
    found = recalled(end_of_game(*ENDS[1]), 99, "observation_string")
    assert any(len(pasts) > 1 for pasts in found.values())


def test_the_choices_of_others_at_the_same_time_stay_hidden():
    game = load_game("bite_night_v0", players=3, chance="sampled")
    state = play(game.new_initial_state(), np.random.default_rng(0), lambda state: state.is_player_node())
    first = state.current_player()
    after = {action: state.child(action) for action in state.legal_actions()}
    seen = {child.information_state_string(child.current_player()) for child in after.values()}
    assert {child.current_player() for child in after.values()} != {first}
    assert len(after) > 1
    assert len(seen) == 1


# --- Algorithms ---


def test_uniform_play_is_as_exploitable_as_in_openspiels_own_game_and_mccfr_falls_below(leduc):
    """The same game twice: Leduc poker of the guide, paid in 13ths of a chip, and OpenSpiel's."""
    own, theirs = leduc, pyspiel.load_game("leduc_poker")
    uniform = pyspiel.exploitability(own, pyspiel.UniformRandomPolicy(own)) * 13
    assert uniform == pytest.approx(pyspiel.exploitability(theirs, pyspiel.UniformRandomPolicy(theirs)), abs=1e-5)
    np.random.seed(0)
    solver = external_sampling_mccfr.ExternalSamplingSolver(own, external_sampling_mccfr.AverageType.SIMPLE)
    for _ in range(600):
        solver.iteration()
    learned = exploitability.nash_conv(own, solver.average_policy(), use_cpp_br=True) / 2 * 13
    assert learned < 0.7 * uniform


def searcher(game, simulations, seed=0):
    random = np.random.RandomState(seed)
    evaluator = mcts.RandomRolloutEvaluator(1, random)
    return ismcts.ISMCTSBot(game, evaluator, uct_c=0.5, max_simulations=simulations, random_state=random)


def gains(game, bot, other, games):
    """Mean gain of a bot that has every seat in turn, and its standard error."""
    results = []
    for k in range(games):
        seat = k % game.num_players()
        bots = [bot if player == seat else other for player in range(game.num_players())]
        results.append(pyspiel.evaluate_bots(game.new_initial_state(), bots, k)[seat])
    return np.mean(results), np.std(results) / len(results) ** 0.5


def test_is_mcts_beats_random_play(leduc, monkeypatch):
    """And every move of the games and of the search in them is legal where it is carried out."""
    moves, apply = [], SpielState._apply_action

    def watched(state, action):
        moves.append(action in state.legal_actions())
        apply(state, action)

    monkeypatch.setattr(SpielState, "_apply_action", watched)
    mean, error = gains(leduc, searcher(leduc, 20), PolicyBot(policies.make("random", "leduc_poker_v0")), 300)
    assert mean > 2 * error, "OpenSpiel does not seed its sampler: about 0.13 and 0.023"
    assert len(moves) > 1000
    assert all(moves)


def test_is_mcts_plays_a_whole_game_with_chance_nodes_in_it():
    game = load_game("pikit_v0", players=2, chance="sampled", max_turns=6)
    bots = [searcher(game, 4), PolicyBot(policies.make("heuristic", "pikit_v0", players=2, max_turns=6))]
    assert sum(pyspiel.evaluate_bots(game.new_initial_state(), bots, 0)) == 0


def test_code_of_the_guide_runs():
    assert sum(run_guide("openspiel")["gains"]) == 0


# --- Players ---


def test_a_policy_of_ours_is_a_bot():
    game = load_game("pikit_v0", players=2, chance="sampled")
    heuristic, random = (PolicyBot(policies.make(spec, "pikit_v0", players=2)) for spec in ("heuristic", "random"))
    mean, error = gains(game, heuristic, random, 40)
    assert mean > 4 * error


def test_a_bot_is_a_policy_of_ours(leduc):
    player = BotPolicy(searcher(leduc, 10), leduc)
    games = mz.make_vec("leduc_poker_v0", 4, seed=0)
    for _ in range(3):
        games.step(player.act(games.decisions()))
    batch = SeatVectorEnv("leduc_poker_v0", 2, opponents=player)
    batch.reset(seed=0)
    batch.step(batch.action_masks().argmax(axis=1))
    with pytest.raises(ValueError, match="without games to sample worlds from"):
        player.act(policies.Decisions(games.variant, games.observations, games.action_masks, games.seats))


@pytest.mark.parametrize("seat", range(3))
def test_a_bot_is_asked_for_its_own_seat_when_several_choose(seat):
    game = load_game("bite_night_v0", players=3, chance="sampled")
    games = mz.make_vec("bite_night_v0", 1, seed=0, players=3)
    assert games.states["acting"][0] == 0b111
    asked = []

    class Witness(pyspiel.Bot):
        def step(self, state):
            asked.append(state.current_player())
            return state.legal_actions()[0]

    BotPolicy(Witness(), game, "witness").act(policies.Decisions.from_states(games.variant, games.states, [seat]))
    assert asked == [seat]
