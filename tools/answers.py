"""Scripted players that answer in a dozen styles, and lengths of prompts: `python -m tools.answers`.

Every answer comes with what a person would understand: an action, or nothing where it is ambiguous. Counted are answers
that were read otherwise, asked again though they were clear, or guessed at though they were not.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from monsterzoo.envs.api.prompts import legal_actions
from monsterzoo.envs.api.text import TextGame
from monsterzoo.training.evaluation.report import markdown
from monsterzoo.training.runs.files import write_json

from .variants import NamedVariant, all_variants

Style = Callable[[list[str], int, Random], tuple[str, int | None]]
"""Names of the legal actions, the one that is meant, random generator -> answer, what a person would understand."""
WIDE = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(33, 127)} | {" ": "　"})
LANGUAGES = ("Ich wähle Nummer {n}.", "Ich spiele {name}, das ist am besten.", "Je choisis {name}.",
             "Elijo la opción {n}.", "我选择 {n}。", "Я выбираю {n}.", "Scelgo {name}!")  # fmt: skip


def _several(names: list[str], k: int, random: Random) -> tuple[str, int | None]:
    other = random.randrange(len(names))
    return f"I would play {names[k]} or {names[other]}.", k if other == k else None


def _off_by_one(names: list[str], k: int, random: Random) -> tuple[str, int | None]:
    if random.random() < 0.5:
        return f"{k}. {names[k]}", None  # counted from 0: number and name contradict
    return str(k), k - 1 if k else None  # a number alone is taken as it is


def _apology(names: list[str], k: int, random: Random) -> tuple[str, int | None]:
    if random.random() < 0.5:
        return "I apologise, but as an AI I cannot take part in this.", None
    return f"I'm sorry for the confusion! My move: {names[k]}.", k


STYLES: dict[str, Style] = {
    "number": lambda names, k, _: (str(k + 1), k),
    "name": lambda names, k, _: (names[k], k),
    "bold, in a sentence": lambda names, k, _: (f"After some thought, my choice is **{names[k]}**.", k),
    "JSON with prose around it": lambda names, k, r: (
        f'{r.choice(names)} looks weak.\n```json\n{{"reason": "better", "action": "{names[k]}"}}\n```\nSo be it!', k),
    "other case": lambda names, k, r: (r.choice((str.upper, str.lower, str.title))(names[k]), k),
    "quotes": lambda names, k, r: (r.choice(('"{}"', "'{}'", "“{}”", "«{}»", "`{}`")).format(names[k]), k),
    "thinking tags": lambda names, k, r: (
        f"<think>{r.choice(names)}? Or {r.randrange(9)}? {r.choice(names)} loses.</think>\n{names[k]}", k),
    "full-width characters": lambda names, k, r: (f"{k + 1}. {names[k]}".translate(WIDE), k),
    "several actions named": _several,
    "counted from 0": _off_by_one,
    "an apology": _apology,
    "another language": lambda names, k, r: (r.choice(LANGUAGES).format(n=k + 1, name=names[k]), k),
}  # fmt: skip

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks/results/answers.json"
GAMES = 1000  # over all styles and variants
WRONG = {"unfair": "asked again though clear", "guessed": "guessed", "misread": "misread", "forfeits": "forfeits"}
"""What went wrong, as the results and the table call it."""
SETTINGS: dict[str, dict[str, Any]] = {"view": {}, "events": {"show": "events"}, "hidden": {"legal": "hidden"}}
"""Of the prompts whose lengths are measured."""


def play(of: NamedVariant, style: str, seed: int) -> Counter[str]:
    """One game of a scripted player on one seat against random ones."""
    game = TextGame(of.game, opponents="random", rules="never", **of.options)
    random, counts = Random(seed), Counter(games=1)
    turn = game.reset(**game.task(seed, "curve"))
    again = False
    while not turn.done:
        legal = legal_actions(game.env, turn.agent)
        names, meant = [game.env.action_name(action) for action in legal], random.randrange(len(legal))
        # Who has been told what was wrong answers plainly.
        answer, understood = (names[meant], meant) if again else STYLES[style](names, meant, random)
        seat, before = game.variant.agents.index(turn.agent), len(game.env.moves)
        unusable = game.result.unusable[turn.agent]
        turn = game.say(answer)
        again = game.result.unusable[game.variant.agents[seat]] > unusable
        counts["answers"] += 1
        counts["asked_again"] += again
        counts["unclear"] += understood is None
        counts["unfair"] += again and understood is not None
        counts["guessed"] += not again and understood is None
        counts["misread"] += (
            not again and understood is not None and game.env.moves[before] != (seat, legal[understood])
        )
    counts["forfeits"] += game.result.forfeited is not None
    return counts


def lengths(of: NamedVariant, games: int = 3) -> dict[str, int]:
    """Characters of the rules, and of questions on average and at most."""
    found: dict[str, int] = {}
    for name, settings in SETTINGS.items():
        asked: list[int] = []
        for seed in range(games):
            game, random = TextGame(of.game, opponents="random", **settings, **of.options), Random(seed)
            turn = game.reset(**game.task(seed, "curve"))
            found[f"{name}_system"] = len(turn.messages[0]["content"])
            while not turn.done:
                asked.append(len(turn.messages[-1]["content"]))
                turn = game.say(game.env.action_name(random.choice(legal_actions(game.env, turn.agent))))
        found |= {f"{name}_mean": round(sum(asked) / len(asked)), f"{name}_most": max(asked)}
        found["questions"] = round(len(asked) / games)
    return found


def tables(result: dict[str, Any]) -> str:
    """The tables of docs/language_models.md."""
    rows = []
    for style, one in result["styles"].items():
        at_once = f"{1 - one['asked_again'] / one['answers']:.1%}"
        unclear = f"{one['unclear'] / one['answers']:.1%}"
        rows.append([style, one["games"], f"{one['answers']:,}", at_once, unclear, *(one[name] for name in WRONG)])
    head = ["style", "games", "answers", "read at once", "ambiguous", *WRONG.values()]
    sizes = []
    for name, one in result["lengths"].items():
        view, events, hidden = (f"{one[f'{show}_mean']} ({one[f'{show}_most']})" for show in SETTINGS)
        sizes.append([f"`{name}`", one["questions"], one["view_system"], view, events, one["hidden_system"], hidden])
    columns = ["variant", "questions a game", "rules", "view: mean (most)", "events", "rules, hidden", "view, hidden"]
    about = "Characters of prompts, with legal actions listed or hidden:"
    return f"{markdown(head, rows)}\n\n{about}\n\n{markdown(columns, sizes)}"


def main() -> None:
    """Play, measure, and write the numbers."""
    variants = all_variants()
    styles = {style: Counter[str]() for style in STYLES}
    for seed in range(GAMES):
        style = list(STYLES)[seed % len(STYLES)]
        styles[style].update(play(list(variants.values())[seed // len(STYLES) % len(variants)], style, seed))
    result = {
        "made": "python -m tools.answers",
        "styles": {style: {**dict.fromkeys(WRONG, 0), **counts} for style, counts in styles.items()},
        "lengths": {name: lengths(one) for name, one in variants.items()},
    }
    write_json(RESULTS, result)


if __name__ == "__main__":
    main()
