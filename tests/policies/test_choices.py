"""Published baselines stay what they were: choices of the heuristics, imagined worlds and searches of fixed seeds.

Results in `benchmarks` and the docs were made with these players, so none may change unnoticed. After a change on
purpose `PYTHONPATH=.:tests python tests/policies/test_choices.py` writes `choices.json` anew.
"""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.envs import make_vec
from monsterzoo.envs.core.bits import lowest
from monsterzoo.envs.core.contract import PLAYING, imagine, setup
from monsterzoo.envs.core.contract import step as carry_out
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import streams
from monsterzoo.policies.networks import WEIGHTS, write
from monsterzoo.policies.search import SearchPolicy, parse
from reveal import REVEAL
from test_networks import about, random_network

from tools.games.kuhn import KUHN
from tools.games.leduc import leduc

FILE = Path(__file__).with_name("choices.json")


def label(name, options):
    return "-".join([name, *(f"{key}={value}" for key, value in options.items())])


def games_of(name, options, count, steps, seed):
    """Batches of a game of which the heuristic plays two decisions of three, and with them its choices."""
    games, heuristic = make_vec(name, count, seed=seed, **options), policies.make("heuristic", name, **options)
    for step in range(steps):
        chosen = heuristic.act(games.decisions())
        yield games, chosen
        games.step(np.where((step + np.arange(count)) % 3, chosen, games.sample_actions()))


def heuristic_choices(name, options):
    check = 0
    for _, chosen in games_of(name, options, 32, 60, seed=6):
        check = zlib.crc32(chosen.astype("<i8").tobytes(), check)
    return check


OTHER_RULES = [
    *({"players": players, "first_lead": "held"} for players in (3, 4)),
    {"players": 4, "variant": "seven_suitors", "first_lead": "held"},
    {"players": 2, "straw_reveal": "trick_end"},
]
"""Of Yokai Septet, which change what a seat can know."""


def imagined_worlds(name, options):
    """Positions that every seat imagines, also those that wait, without the options."""
    check, stream = 0, streams(7, 1, "test")[0]
    for step, (games, _) in enumerate(games_of(name, options, 4, 80, seed=8)):
        world, positions = games.variant.new_states(1), games.states.copy()
        for i in range(len(positions)):
            imagine(world, positions[i : i + 1], (i + step) % games.variant.players, stream)
            position = games.variant.snapshot(world[0])
            del position["options"]
            check = zlib.crc32(json.dumps(position, sort_keys=True).encode(), check)
    return check


def round_network(variant):
    """A network whose sums are exact in single precision, so that no processor rounds them differently."""
    arrays = random_network(variant, width=8, blocks=0, values=variant.sides)
    return {key: (np.round(values * 8) / 8).astype(np.float32) for key, values in arrays.items()}


def guided(variant, folder):
    """Settings of searches that a network guides, with either model of the other seats."""
    write(folder / WEIGHTS, round_network(variant), about(variant))
    return [f",rollout=random,net=net:{folder},opponents={model}" for model in ("net", "rollout")]


def told(player, observations, seats, states):
    """What a search found, without values, which processors may round differently."""
    result = player.search(observations, seats, states)
    return np.column_stack([result.visits, result.nodes, result.steps]).astype("<i8").tobytes()


def searches(name, options, folder):
    """Plain searches with either rollout policy and, in a variant of each game, guided ones."""
    specs = ["60,rollout=random", "16"]
    if options in ({"players": 3}, {"players": 4, "variant": "seven_suitors"}):
        specs += [f"40{settings}" for settings in guided(find_game(name).variant(**options), folder)]
    players, found = [policies.make(f"search:{spec}", name, seed=3, **options) for spec in specs], [0] * len(specs)
    for step, (games, _) in enumerate(games_of(name, options, 3, 40, seed=9)):
        if step % 13 == 0:
            for place, player in enumerate(players):
                result = told(player, games.observations, games.seats, games.states)
                found[place] = zlib.crc32(result, found[place])
    return found


SMALL = {"kuhn": KUHN, "leduc": leduc(), "reveal": REVEAL}


def small_searches(game, folder):
    """Statistics of the root, for games that also plain Python searches in a moment, from decisions of a few games."""
    variant, found = SMALL[game].variant(), []
    net, rollout = guided(variant, folder)
    for spec in (",rollout=random", net, rollout, f"{net},rollout_weight=0.25,prior_weight=1"):
        player = SearchPolicy(variant, parse(f"70{spec},trees=2"), seed=5)
        for seed in range(3):
            states = variant.new_states(1)
            states["rng"] = seed
            setup(states[0])
            while states["outcome"][0] == PLAYING:
                seat = lowest(np.uint64(states["acting"][0]))
                result = player.search(variant.observation(states, 0, seat)[None], np.array([seat]), states)
                for column in (result.visits, result.votes, result.totals, result.priors, result.nodes, result.steps):
                    found += column.reshape(-1).astype(float).round(4).tolist()
                mask = variant.legal_actions(states, 0, seat)
                carry_out(states[0], seat, int(np.flatnonzero(mask)[(seed + seat) % mask.sum()]))
    return found


def test_heuristics_choose_as_they_did(name, options):
    assert heuristic_choices(name, options) == recorded("heuristic", name, options)


def test_seats_imagine_the_worlds_that_they_did(name, options):
    assert imagined_worlds(name, options) == recorded("worlds", name, options)


@pytest.mark.parametrize("rules", OTHER_RULES, ids=str)
def test_seats_imagine_the_worlds_that_they_did_with_other_rules(rules):
    assert imagined_worlds("yokai_septet_v0", rules) == recorded("worlds", "yokai_septet_v0", rules)


def test_searches_find_what_they_did(name, options, tmp_path):
    assert searches(name, options, tmp_path) == recorded("search", name, options)


@pytest.mark.parametrize("game", SMALL)
def test_searches_of_small_games_find_what_they_did(game, tmp_path):
    assert small_searches(game, tmp_path) == pytest.approx(json.loads(FILE.read_text())["small"][game], abs=1e-3)


def recorded(what, name, options):
    return json.loads(FILE.read_text())[what][label(name, options)]


if __name__ == "__main__":
    from tempfile import mkdtemp

    from conftest import variants

    made: dict[str, dict[str, object]] = {"heuristic": {}, "worlds": {}, "search": {}}
    for case in variants():
        made["heuristic"][case.id] = heuristic_choices(*case.values)
        made["worlds"][case.id] = imagined_worlds(*case.values)
        made["search"][case.id] = searches(*case.values, Path(mkdtemp()))
    for rules in OTHER_RULES:
        made["worlds"][label("yokai_septet_v0", rules)] = imagined_worlds("yokai_septet_v0", rules)
    made["small"] = {game: small_searches(game, Path(mkdtemp())) for game in SMALL}
    lines = (
        f'"{what}": {{\n' + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in part.items()) + "\n}"
        for what, part in made.items()
    )
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
