"""Players of one's own by their address, "mymodule:MyPlayer", wherever a policy is asked for."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import monsterzoo.envs as mz
import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.cli import main
from monsterzoo.envs import IllegalActionError
from monsterzoo.training.arena import arena

PLAYERS = """
import abc

class Plain:
    def act(self, decisions):
        return decisions.action_masks.argmax(axis=1)

class Told(Plain):
    def __init__(self, variant, seed):
        self.variant, self.seed, self.name = variant, seed, f"told {seed}"

class Eager(Plain):
    def __init__(self, **settings):
        self.settings = settings

class Nothing:
    pass

class Illegal:
    def act(self, decisions):
        return decisions.action_masks.argmin(axis=1)

first = Plain()

def last(observations, action_masks):
    return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)

def by_seat(decisions):
    assert decisions.seats.shape == (len(decisions),)
    return decisions.action_masks.argmax(axis=1)

def with_setting(observations, masks, temperature=1.0):
    assert temperature == 1.0
    return masks.argmax(axis=1)

class Greedy(Plain):
    def __init__(self, variant, colour):
        pass

class Narrow:
    def act(self):
        return 0

class Former:
    def act(self, observations, action_masks, seats, states=None):
        return action_masks.argmax(axis=1)

class Named:
    def act(self, *, decisions):
        return decisions.action_masks.argmax(axis=1)

class Thought(Plain, abc.ABC):
    @abc.abstractmethod
    def think(self):
        pass

narrow = Narrow()

def nobody():
    pass

def lonely(observations):
    pass

def demanding(decisions, *, weather):
    pass

def crowded(observations, masks, seats, states):
    pass

number = 3
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the module `zoo_of_mine`, which is the current one."""
    (tmp_path / "zoo_of_mine.py").write_text(PLAYERS)
    (tmp_path / "needy_zoo.py").write_text("import there_is_no_such_package\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("zoo_of_mine", "needy_zoo"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["Plain", "Told", "Eager", "first", "last", "by_seat", "with_setting"])
def test_classes_objects_and_functions_play(name: str) -> None:
    player = policies.make(f"zoo_of_mine:{name}", "pikit_v0", seed=5, players=3)
    games = mz.make_vec("pikit_v0", 6, seed=1, players=3)
    for _ in range(20):
        games.step(player.act(games.decisions()))
    if name == "Told":
        assert (player.variant.players, player.seed) == (3, 5)
    if name == "Eager":
        assert player.settings["seed"] == 5


def test_an_object_is_taken_as_it_is() -> None:
    import zoo_of_mine

    assert policies.make("zoo_of_mine:first", "pikit_v0") is zoo_of_mine.first


def test_a_tournament_calls_them_by_their_name_or_their_spec() -> None:
    entered = ["zoo_of_mine:Plain", "zoo_of_mine:Told", "zoo_of_mine:last", "zoo_of_mine:last"]
    result = arena("pikit_v0", entered, 20, players=2)
    names = [player["name"] for player in result["players"]]
    assert names == ["zoo_of_mine:Plain", "told 0", "zoo_of_mine:last", "zoo_of_mine:last#2"]


def test_they_play_the_other_seats_of_a_gymnasium_environment() -> None:
    env = gymnasium.make("monsterzoo/Pikit-v0", players=2, opponents="zoo_of_mine:Plain")
    _, info = env.reset(seed=0)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        over = terminated or truncated
    wrong = gymnasium.make("monsterzoo/Pikit-v0", players=2, opponents="zoo_of_mine:Illegal", seat=1)
    with pytest.raises(IllegalActionError, match="Illegal"):
        wrong.reset(seed=0)


def test_the_arena_finds_them_in_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", str(here))])
    words = ["arena", "pikit_v0", "--players", "2", "--games", "4", "--quiet"]
    before = list(sys.path)
    assert main([*words, "--policies", "zoo_of_mine:Plain", "random", "--against", "random"]) == 0
    assert "zoo_of_mine:Plain" in capsys.readouterr().out
    assert sys.path == before


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("nowhere_at_all:Player", r"there is no module 'nowhere_at_all'; kinds of policies are heuristic"),
        ("zoo_of_mine.inner:Player", r"there is no module 'zoo_of_mine.inner'"),
        ("zoo_of_mine:Players", r"zoo_of_mine has no 'Players'"),
        ("zoo_of_mine:Nothing", r"is not a player but <class 'zoo_of_mine.Nothing'>; expected a class or object"),
        ("zoo_of_mine:number", r"'zoo_of_mine:number' is not a player but 3"),
        ("zoo_of_mine:", r"there is no policy 'zoo_of_mine:'"),
        (":Player", r"there is no policy ':Player'"),
        ("../zoo:Player", r"there is no policy"),
        ("a\0b:c", r"there is no policy"),
        ("zoo_of_mine", r"'zoo_of_mine'; kinds of policies are heuristic, .*; a player of your own is 'module:name'"),
    ],
)  # fmt: skip
def test_what_is_no_player_is_refused_in_words(spec: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        policies.make(spec, "pikit_v0")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("json:loads", r"'json:loads' is not a player but a function .* with \(observations, action_masks\): too many"),
        ("zoo_of_mine:nobody", r"with \(observations, action_masks\): too many positional arguments"),
        ("zoo_of_mine:lonely", r"with \(observations, action_masks\): too many positional arguments"),
        ("zoo_of_mine:demanding", r"with \(decisions\): missing a required .*'weather'"),
        ("zoo_of_mine:crowded", r"with \(observations, action_masks\): .*'seats'; .* take `decisions` alone"),
        ("zoo_of_mine:Greedy", r"a class whose constructor needs other arguments .* missing .*'colour'"),
        ("zoo_of_mine:Thought", r"is not a player but <class 'zoo_of_mine.Thought'>, which is abstract"),
        ("monsterzoo.policies:Policy", r"which is abstract"),
        ("zoo_of_mine:Narrow", r"`act` cannot be called with \(decisions\): too many"),
        ("zoo_of_mine:narrow", r"'zoo_of_mine:narrow' is not a player but an object whose `act` cannot be called with"),
        ("zoo_of_mine:Former", r"with \(decisions\): .*'action_masks'; expected a class .* `act\(decisions\)`"),
        ("zoo_of_mine:Named", r"too many positional arguments"),
    ],
)  # fmt: skip
def test_who_cannot_be_asked_is_refused_when_it_is_loaded(
    spec: str, problem: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match=problem):
        policies.make(spec, "pikit_v0", players=2)
    with pytest.raises(ValueError, match=problem):
        gymnasium.make("monsterzoo/Pikit-v0", players=2, opponents=spec)
    env = mz.make("pikit_v0", players=2).unwrapped
    env.reset(seed=1)
    (here / "position.json").write_text(json.dumps(env.snapshot()))
    assert main(["analyse", "pikit_v0", "--snapshot", "position.json", "--policy", spec]) == 2
    assert main(["arena", "pikit_v0", "--players", "2", "--games", "2", "--policies", "random", spec]) == 2
    assert repr(spec) in capsys.readouterr().err


def test_a_function_that_cannot_be_asked_makes_no_policy() -> None:
    with pytest.raises(ValueError, match=r"'loads' is not a player but a function that cannot be called with"):
        policies.from_function(json.loads)


def test_mistakes_inside_of_the_module_are_not_hidden() -> None:
    with pytest.raises(ModuleNotFoundError, match="there_is_no_such_package"):
        policies.make("needy_zoo:Player", "pikit_v0")


# --- In an AEC environment ---


@pytest.mark.parametrize("spec", ["random", "heuristic", "search:20", "zoo_of_mine:Plain"])
@pytest.mark.parametrize(("make", "observation"), [("env", "dict"), ("raw_env", "dict"), ("env", "box")])
def test_any_policy_plays_in_an_aec_environment(spec: str, make: str, observation: str) -> None:
    from monsterzoo.envs import pikit_v0

    env = getattr(pikit_v0, make)(players=2, observation=observation)
    env.reset(seed=3)
    player = policies.make(spec, "pikit_v0", players=2)
    for _ in range(4):
        chosen = policies.act_in(player, env)
        assert env.last()[4]["action_mask"][chosen]
        env.step(chosen)


def test_search_in_an_environment_is_search_in_a_batch() -> None:
    env = mz.make("yokai_septet_v0", players=3)
    env.reset(seed=mz.env_seed(4, 0))
    games = mz.make_vec("yokai_septet_v0", 1, seed=4, players=3)
    player = policies.make("search:200", "yokai_septet_v0", players=3)
    batched = player.act(games.decisions())
    assert policies.act_in(player, env) == batched[0]
    decisions = env.unwrapped.decisions()
    found = player.search(decisions.observations, decisions.seats, env.unwrapped.states)
    values = found.values[found.visits > 0]
    assert ((values >= 0) & (values <= 1)).all()
    assert found.visits.sum() == 200


def test_what_an_environment_gives_away_are_copies() -> None:
    env = mz.make("pikit_v0", players=2).unwrapped
    env.reset(seed=3)
    before = env.save()
    decisions = env.decisions()
    for values in (env.states, decisions._states):
        assert values.shape == (1,)
        values["players"] = 7
    decisions.observations[:], decisions.action_masks[:] = 1, 1
    assert env.save() == before


def test_only_who_must_decide_has_a_decision() -> None:
    env = mz.make("pikit_v0", players=2).unwrapped
    with pytest.raises(ValueError, match="call reset"):
        env.decisions()
    env.reset(seed=3)
    with pytest.raises(ValueError, match="player_1 has nothing to decide now"):
        env.decisions("player_1")
    with pytest.raises(ValueError, match="there is no agent 'player_7'"):
        env.decisions("player_7")
    together = mz.make("bite_night_v0", players=3).unwrapped
    together.reset(seed=3)
    for seat, agent in enumerate(together.possible_agents):
        decisions = together.decisions(agent)
        np.testing.assert_array_equal(decisions.observations[0], together.observe(agent)["observation"])
        assert (decisions.seats.tolist(), decisions.action_masks[0, -1]) == ([seat], 0)
