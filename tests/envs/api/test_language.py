"""Games in words: questions without secrets, answers, rules for unusable ones, tasks and results."""

from copy import deepcopy

import monsterzoo.envs as mz
import numpy as np
import pytest
from monsterzoo import TextGame, policies
from monsterzoo.envs.api.prompts import Turn, patterns, rules_in_short
from monsterzoo.envs.api.text import text_game
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.rng import streams

# --- Questions ---


def table(asked: str) -> tuple[str, list[str]]:
    """What a question tells, and the actions it lists."""
    told, listed = asked.split("\nYou may:\n")
    return told, [line.partition(". ")[2] for line in listed.split("\n\n")[0].splitlines()]


def legal_names(game: TextGame, turn: Turn) -> list[str]:
    return [game.env.action_name(action) for action in np.flatnonzero(game.env.infos[turn.agent]["action_mask"])]


def test_a_question_is_the_view_and_what_is_legal(name: str, options: dict) -> None:
    game = TextGame(name, rules="never", **options)
    turn = game.reset(seed=2, seat=None)
    for _ in range(60):
        if turn.done:
            break
        told, listed = table(turn.text)
        assert game.env.text_observation(turn.agent) in told
        assert listed == legal_names(game, turn)
        assert turn.text.count("\n") < 30 + len(listed), "it is short"
        turn = game.say(str(len(listed)))


@pytest.mark.parametrize("legal", ["listed", "hidden"])
def test_no_question_depends_on_what_the_seat_cannot_know(legal: str, name: str, options: dict) -> None:
    """The hidden part is resampled: questions, events before them and complaints have the same bytes."""
    game = TextGame(name, legal=legal, show="events", unusable="again:1000,forfeit", rules="never", **options)
    luck, changed, compared = streams(3, 1, "search"), 0, 0
    turn = game.reset(seed=6, seat=None)
    for step in range(40):
        if turn.done:
            break
        seat, names = game.variant.agents.index(turn.agent), legal_names(game, turn)
        if step % 4 == 0:
            known, twin = dict(game._known), deepcopy(game)
            imagine(twin.env._states, game.env._states, seat, luck[0])
            changed += twin.env.states.tobytes() != game.env.states.tobytes()
            compared += 1
            for one in (game, twin):
                one._known = dict.fromkeys(known, "")  # as if nothing of the view had been shown
            assert twin._pose(turn.agent) == game._pose(turn.agent)
            game._known = known
            for said in ["mumble", *game.variant.action_names[:-1]]:
                if said not in names:
                    assert twin.say(said) == game.say(said)
        turn = game.say(names[step % len(names)])
    assert compared >= 3
    assert changed, "some of the imagined worlds were different ones"


def test_hidden_actions_are_told_why_they_are_refused() -> None:
    game = TextGame("pikit_v0", players=2, legal="hidden", opponents="heuristic")
    turn = game.reset(seed=1)
    assert "You may" not in turn.text
    assert f"Actions are written: {patterns(game.variant.action_names[:-1])}." in turn.messages[0]["content"]
    assert "'accept' (81) is illegal for player_0: no discard is pending" in game.say("accept").text
    assert "names none" in game.say("1").text, "there are no numbers"
    assert not game.result.random_actions["player_0"]


def test_patterns_name_every_action(name: str, options: dict) -> None:
    names = mz.variant(name, **options).action_names[:-1]
    found = set()
    for pattern in patterns(names).split("; "):
        texts = [""]
        for word in pattern.split():
            choices = [f" {one}" for one in word.strip("[]").split("|")] + ([""] if word.startswith("[") else [])
            texts = [text + choice for text in texts for choice in choices]
        found |= {text.strip() for text in texts}
    assert found == set(names)


def test_rules_come_first_once_or_always() -> None:
    rules = rules_in_short(mz.variant("pikit_v0").game)
    assert rules.startswith("# Pikit\n\nThere are kaiju of value 1 to 11")
    assert "## Rulings" not in rules
    for when, wanted in {"once": [True, False], "always": [True, True], "never": [False, False]}.items():
        game = TextGame("pikit_v0", players=2, rules=when)
        turns = [game.reset(seed=1)]
        turns.append(game.say("1"))
        assert [turn.text.startswith(rules) for turn in turns] == wanted
        assert [turn.messages[0] == {"role": "system", "content": rules} for turn in turns] == wanted
        assert all(turn.text.endswith(turn.messages[-1]["content"]) for turn in turns)


def test_events_are_what_happened_and_changed_since_the_last_decision() -> None:
    game = TextGame("pikit_v0", players=2, show="events", rules="never")
    first = game.reset(seed=1)
    assert game.env.text_observation("player_0") in first.text
    before = game.env.text_observation("player_0").splitlines()
    turn = game.say("1")
    told, now = table(turn.text)[0].splitlines(), game.env.text_observation("player_0").splitlines()
    assert told[:2] == ["You play Pikit.", "Since your last action:"]
    events = [line for line in told if line.startswith("- ")]
    assert events[0].startswith("- you: ")
    assert [line for line in told[2:] if line not in events and line] == [line for line in now if line not in before]


def test_messages_continue_a_conversation() -> None:
    game = TextGame("pikit_v0", players=2)
    assert [one["role"] for one in game.reset(seed=1).messages] == ["system", "user"]
    again = game.say("mumble")
    (message,) = again.messages
    assert message["content"].startswith("Your last answer could not be used: it names none of the actions.")
    assert message["content"] in again.text
    assert "You may:" in again.text, "one text is complete in itself"
    assert "You may:" not in message["content"]
    assert [one["role"] for one in game.say("1").messages] == ["user"]
    alone = TextGame("pikit_v0", players=2, rules="always")
    rules = alone.reset(seed=1).messages[0]
    again = alone.say("mumble")
    assert again.messages[0] == rules
    assert "You may:" in again.messages[1]["content"]
    assert again.messages[1]["content"].endswith(message["content"])


# --- Seats, tasks and ends ---


def play(game: TextGame, turn: Turn) -> list[Turn]:
    turns = [turn]
    while not turns[-1].done:
        turns.append(game.say(legal_names(game, turns[-1])[0]))
    return turns


def test_one_seat_several_and_all_are_asked(name: str, options: dict) -> None:
    game = TextGame(name, rules="never", opponents="random", **options)
    last = game.variant.players - 1
    for seat, agents in ((last, {f"player_{last}"}), ([last, 0], {"player_0", f"player_{last}"}), (None, None)):
        turns = play(game, game.reset(seed=3, seat=seat))
        assert {turn.agent for turn in turns[:-1]} == (set(game.variant.agents) if agents is None else agents)
        result = game.result
        for agent in game.variant.agents:
            assert sum(turn.rewards[agent] for turn in turns) == pytest.approx(result.returns[agent], abs=1e-6)
        assert mz.replay(result.record).snapshot()["over"]
        assert sum(result.decisions.values()) == len(result.record["actions"])
        assert sum(result.unusable.values()) == 0
    once, again = (play(game, game.reset(seed=3, seat=last)) for _ in range(2))
    assert [turn.text for turn in again] == [turn.text for turn in once]


def test_the_seed_decides_everything() -> None:
    def record() -> dict:
        game = TextGame("pikit_v0", players=3, opponents=["random", "heuristic"], unusable="random")
        turn = game.reset(seed=5, seat=1)
        while not turn.done:
            turn = game.say("mumble")
        return game.result.record

    assert record() == record()


def test_tasks_are_balanced_reproducible_and_never_measured_on() -> None:
    game = TextGame("pikit_v0", players=3)
    tasks = [game.task(index, group=6, opponents=["random", "heuristic"]) for index in range(36)]
    assert tasks == [game.task(index, group=6, opponents=["random", "heuristic"]) for index in range(36)]
    for first in range(0, 36, 6):
        group = tasks[first : first + 6]
        assert len({(task["seed"], task["opponents"]) for task in group}) == 1
        assert sorted(task["seat"] for task in group) == [0, 0, 1, 1, 2, 2]
    singles = [game.task(index, opponents=["random", "heuristic"]) for index in range(6)]
    assert len({(task["seat"], task["opponents"]) for task in singles}) == 6
    assert len({task["seed"] for task in singles}) == 6
    seeds = {purpose: {game.task(index, purpose)["seed"] for index in range(200)}
             for purpose in ("training", "curve", "choosing", "publishing")}  # fmt: skip
    assert len(set.union(*seeds.values())) == 800
    assert max(seeds["training"]) < 1 << 63 <= min(seeds["curve"] | seeds["choosing"] | seeds["publishing"])
    assert not game.reset(**game.task(10**12, "publishing")).done
    with pytest.raises(ValueError, match="purpose='testing' is not allowed"):
        game.task(0, "testing")


@pytest.mark.parametrize(("players", "others"), [(2, 1.0), (4, 1 / 3)])
def test_too_many_unusable_answers_forfeit_the_game(players: int, others: float) -> None:
    game = TextGame("pikit_v0", players=players, unusable="again:1,forfeit")
    turn = game.reset(seed=1, seat=1)
    assert not game.say("mumble").done
    turn = game.say("mumble")
    assert turn.done
    assert turn.rewards == pytest.approx(dict.fromkeys(game.variant.agents, others) | {"player_1": -1.0})
    result = game.result
    assert (result.forfeited, result.truncated, result.unusable["player_1"]) == ("player_1", False, 2)
    assert "player_1" not in result.winners
    with pytest.raises(ValueError, match=r"there is no question: call reset\(\)"):
        game.say("1")


def test_a_forfeit_costs_the_whole_team() -> None:
    game = TextGame("yokai_septet_v0", players=4, unusable="forfeit")
    game.reset(seed=1, seat=None)
    assert game.say("mumble").rewards == {"player_0": -1, "player_2": -1, "player_1": 1, "player_3": 1}
    assert game.result.winners == ["player_1", "player_3"]


def test_unfinished_games_have_a_return() -> None:
    game = TextGame("pikit_v0", players=2)
    game.reset(seed=1)
    game.say("1")
    assert game.result.returns == {"player_0": 0.0, "player_1": 0.0}
    assert game.result.truncated
    assert game.stop().done
    assert game.result.forfeited is None
    game.reset(seed=1)
    assert game.stop(forfeit=True).rewards["player_0"] == -1


def test_regret_is_search_from_what_the_seat_knows() -> None:
    game = TextGame("pikit_v0", players=2, regret="search:300")
    regrets = [turn.regret for turn in play(game, game.reset(seed=1))]
    assert regrets[0] is None
    assert all(0 <= regret <= 1 for regret in regrets[1:] if regret is not None)
    assert max(regrets[1:]) > 0.02, "always the first action is not always the best"
    luck = streams(3, 1, "search")
    game.reset(seed=1)
    twin = deepcopy(game)
    imagine(twin.env._states, game.env._states, 0, luck[0])
    for action in game.env.infos["player_0"]["action_mask"].nonzero()[0]:
        assert twin._regret("player_0", int(action)) == game._regret("player_0", int(action))
    assert game.say("mumble").regret is None


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"legal": "secret"}, "legal='secret' is not allowed; allowed: 'listed', 'hidden'"),
        ({"answers": "xml"}, "allowed: 'plain', 'marked', 'json'"), ({"rules": True}, "rules=True"),
        ({"show": "all"}, "show='all'"), ({"unusable": "lose"}, "unusable='lose' is not allowed"),
        ({"regret": "heuristic"}, "regret='heuristic' is not allowed"), ({"players": 9}, "players=9"),
    ],
)  # fmt: skip
def test_bad_settings_are_refused(settings: dict, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        TextGame("pikit_v0", **settings)


@pytest.mark.parametrize("seat", [4, -1, [0, 0], [], "0", 1.5])
def test_seats_that_are_none_are_refused(seat: object) -> None:
    with pytest.raises(ValueError, match="is not allowed; seats are 0 to 3, each once"):
        TextGame("pikit_v0").reset(seed=0, seat=seat)  # type: ignore[arg-type]


# --- Playing ---


def first_listed(text: str) -> str:
    return table(text)[1][0]


def last_number(text: str) -> str:
    return f"Hmm. I choose **{len(table(text)[1])}**"


@pytest.mark.parametrize("wrapped", [True, False])
def test_scripted_speakers_play_a_whole_game(wrapped: bool, name: str, options: dict) -> None:
    env = mz.make(name, **options)
    env = env if wrapped else env.unwrapped
    players = [first_listed, last_number] * 2
    result = text_game(env, players[: env.unwrapped.variant.players], seed=4)
    assert sum(result.unusable.values()) == sum(result.random_actions.values()) == 0
    assert sum(result.decisions.values()) == len(result.record["actions"])
    end = mz.replay(result.record)
    assert [f"player_{seat}" for seat in end.snapshot()["winners"]] == result.winners
    assert end.snapshot()["over"]
    assert sum(result.returns.values()) == pytest.approx(0, abs=1e-6)
    assert result.truncated == end.snapshot()["truncated"]


def test_they_play_against_policies_and_by_agents_names() -> None:
    env = mz.make("pikit_v0", players=3)
    mixed = {"player_2": policies.make("heuristic", "pikit_v0", players=3), "player_0": first_listed,
             "player_1": "search:5"}  # fmt: skip
    result = text_game(env, mixed, seed=1)
    assert all(count > 0 for count in result.decisions.values())
    assert text_game(env, mixed, seed=1) == result
    assert text_game(mz.make("pikit_v0", players=3, observation="box"), mixed, seed=1) == result
    alone = text_game(env, first_listed, seed=1)
    assert alone.record != result.record


def test_nonsense_is_asked_again_and_then_replaced_by_a_random_action() -> None:
    asked: list[str] = []

    def mutter(text: str) -> str:
        asked.append(text)
        return "mumble"

    env = mz.make("pikit_v0", players=2, max_turns=4)
    result = text_game(env, [mutter, first_listed], seed=7)
    decisions = result.decisions["player_0"]
    assert decisions > 0
    assert result.random_actions == {"player_0": decisions, "player_1": 0}
    assert result.unusable == {"player_0": 3 * decisions, "player_1": 0}
    assert len(asked) == 3 * decisions
    first, again, third = asked[:3]
    assert first in again
    assert again == third
    assert "Your last answer could not be used: it names none of the actions." in again
    assert text_game(env, [mutter, first_listed], seed=7).record == result.record, "the seed decides those too"


def test_a_second_answer_counts() -> None:
    env = mz.make("pikit_v0", players=2, max_turns=4)

    def slow(text: str) -> str:
        return first_listed(text) if "could not be used" in text else "17 points!"

    result = text_game(env, slow, seed=7)
    assert sum(result.random_actions.values()) == 0
    assert result.unusable == result.decisions


def test_a_game_in_progress_goes_on() -> None:
    env = mz.make("pikit_v0", players=2)
    env.reset(seed=3)
    for _ in range(5):
        env.step(int(env.last()[0]["action_mask"].argmax()))
    begun = env.unwrapped.record()["actions"]
    result = text_game(env, first_listed)
    assert result.record["actions"][:5] == begun
    assert result.record["seed"] == 3
    assert sum(result.decisions.values()) == len(result.record["actions"]) - 5
    assert text_game(env, first_listed).record["actions"], "after its end a new one begins"


@pytest.mark.parametrize(
    ("players", "problem"),
    [
        ([first_listed] * 3, "players: expected one for all seats or one for each of the 2, got 3"),
        ({"player_0": first_listed}, "players are wanted for player_0, player_1, not for player_0"),
        ([first_listed, 3], "player_1: 3 is neither a function str -> str, nor a policy or its name"),
        ([first_listed, "chess"], "there is no policy 'chess'"),
        (None, "player_0: None is neither"),
    ],
)
def test_players_that_are_none_are_refused(players: object, problem: str) -> None:
    env = mz.make("pikit_v0", players=2)
    with pytest.raises(ValueError, match=problem):
        text_game(env, players)  # type: ignore[arg-type]
