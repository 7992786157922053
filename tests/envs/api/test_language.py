"""Games in words: functions `str -> str` at the table, prompts without secrets, and answers read forgivingly."""

import monsterzoo.envs as mz
import pytest
from monsterzoo import policies
from monsterzoo.envs.api.text import ATTEMPTS, prompt, read_choice, rules_in_short, text_game
from monsterzoo.envs.core.variant import Variant

NAMES = ["W7", "W7*", "take sum", "take low", "2: reroll low", "7: turn low to 5", "7: turn low to 6", "vampire's bite",
         "steal +1", "steal +2", "combination vampire+monk"]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        # a name
        ("take sum", "take sum"), ("  Take SUM.\n", "take sum"), ("'take sum'", "take sum"), ("W7", "W7"),
        ("w7*", "W7*"), ("VAMPIRE’S BITE", "vampire's bite"), ("steal +1", "steal +1"), ("steal  +2!", "steal +2"),
        ("combination Vampire+Monk", "combination vampire+monk"), ("2: reroll low", "2: reroll low"),
        # a number, both, or a part that only one name has
        ("3", "take sum"), ("3.", "take sum"), ("#3", "take sum"), ("(3)", "take sum"), ("3. take sum", "take sum"),
        ("5) 2: reroll low", "2: reroll low"), ("bite", "vampire's bite"), ("take s", "take sum"),
        ("turn low to 5", "7: turn low to 5"),
        # markdown
        ("**take low**", "take low"), ("`take low`", "take low"), ("*W7*", "W7"), ("**W7***", "W7*"),
        ("> 4", "take low"),
        ("# Take low", "take low"), ("- take low", "take low"), ('{"action": "take low"}', "take low"),
        ("***take low***", "take low"), ("```\ntake low\n```", "take low"),
        # prose
        ("I take low because it is worth 9 points.", "take low"), ("My answer is **Take Sum**.", "take sum"),
        ("Final answer: 4", "take low"), ("The best choice is option 4.", "take low"), ("I choose #4 now", "take low"),
        ("take sum\nIt is worth 2 points more than 4.", "take sum"), ("I think **4** is best", "take low"),
        ("Option 1 is bad, option 3 is better.\n\nAnswer: take low", "take low"),
        ("I could take sum or take low.\nI choose: take low", "take low"), ("Let us play W7* here.", "W7*"),
    ],
)  # fmt: skip
def test_answers_are_read_forgivingly(answer: str, meant: str) -> None:
    assert NAMES[read_choice(answer, NAMES)] == meant


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "it is empty"), (" \n\t", "it is empty"), ("**", "it names none"), ("no idea", "it names none"),
        ("take", "it names none"), ("0", "there is no action 0, the numbers are 1 to 11"),
        ("12", "there is no action 12"), ("take sum or take low", "it names several actions"),
        ("option 1 or option 2", "it names several actions"), ("it is worth 9 points", "it names none"),
        ("turn low to", "it names none"), ("-3", "it names none"), ("3.5", "it names none"),
        (None, "a text, not NoneType"),
        (3, "a text, not int"), ("9" * 50, "there is no action 999"),
    ],
)  # fmt: skip
def test_unusable_answers_say_why(answer: object, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_choice(answer, NAMES)


def test_every_action_of_every_game_is_read_by_name_and_number(name: str, options: dict) -> None:
    names = mz.variant(name, **options).action_names[:-1]
    for number, one in enumerate(names):
        assert read_choice(one, names) == number
        assert read_choice(f"I would say:\n**{one}**", names) == number
        assert read_choice(f"{number + 1}", names) == number


# --- Prompts ---


def table(prompted: str) -> tuple[str, list[str]]:
    """What a prompt tells, and the actions it lists."""
    told, listed = prompted.split("\nYou may:\n")
    return told, [line.partition(". ")[2] for line in listed.split("\n\n")[0].splitlines()]


def test_a_prompt_is_the_view_and_what_is_legal(name: str, options: dict) -> None:
    env = mz.make(name, **options).unwrapped
    env.reset(seed=2)
    for _ in range(60):
        if not env.agents or env.terminations[env.agents[0]] or env.truncations[env.agents[0]]:
            break
        agent = env.agent_selection
        told, listed = table(prompt(env))
        assert env.text_observation(agent) in told
        legal = env.infos[agent]["action_mask"].nonzero()[0]
        assert listed == [env.action_name(action) for action in legal]
        assert prompt(env).count("\n") < 30 + len(legal), "it is short"
        env.step(int(legal[-1]))


def imagined(variant: Variant, env: object, seat: int, seed: int) -> object:
    """The environment in a world that the seat cannot tell from the true one."""
    states = env.states  # type: ignore[attr-defined]
    states["rng"] = seed
    variant.game.rules.determinize(states[0], seat)
    other = mz.make(variant.game.name, **variant.options).unwrapped
    other.reset(options={"snapshot": variant.snapshot(states[0])})
    return other


def test_a_prompt_does_not_depend_on_what_the_seat_cannot_know(name: str, options: dict) -> None:
    variant = mz.variant(name, **options)
    env = mz.make(name, **options).unwrapped
    env.reset(seed=6)
    compared = changed = 0
    for step in range(40):
        if env.terminations["player_0"] or env.truncations["player_0"]:
            break
        agent = env.agent_selection
        if step % 5 == 0:
            other = imagined(variant, env, env.possible_agents.index(agent), step)
            assert prompt(other, agent) == prompt(env, agent)
            changed += other.snapshot() != {**env.snapshot(), "generator": other.snapshot()["generator"]}  # type: ignore[attr-defined]
            compared += 1
        legal = env.infos[agent]["action_mask"].nonzero()[0]
        env.step(int(legal[step % len(legal)]))
    assert compared >= 3
    assert changed, "some of the imagined worlds were different ones"


def test_rules_come_first_where_they_are_wanted() -> None:
    env = mz.make("pikit_v0", players=2).unwrapped
    env.reset(seed=1)
    rules = rules_in_short(env.variant.game)
    assert rules.startswith("# Pikit\n\nThere are kaiju of value 1 to 11")
    assert "## Rulings" not in rules
    assert prompt(env, rules=True) == f"{rules}\n\n{prompt(env)}"


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
    assert result.unusable == {"player_0": ATTEMPTS * decisions, "player_1": 0}
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
