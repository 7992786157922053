"""Tasks for Inspect (`inspect_ai`): which rung of the ladder does a language model reach?

```python
from inspect_ai import eval
from monsterzoo.training.inspect_task import monsterzoo

eval(monsterzoo("pikit_v0", deals=50, options={"players": 2}), model="openai/…")
```

A sample is a deal and a seat; every deal is played from every seat, on deals that nothing was trained on. `rung(log)`
is the answer. On the command line: `inspect eval monsterzoo/monsterzoo -T game=pikit_v0`.
"""

from math import isfinite
from typing import Any

import numpy as np
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from monsterzoo.envs.api.prompts import TextResult, Turn
from monsterzoo.envs.api.text import TextGame
from monsterzoo.envs.core.registry import find_game, names

from .evaluation.published import published_ratings, rating_from
from .evaluation.ratings import win_rates

RESULT = "monsterzoo_result"


@task
def monsterzoo(
    game: str = "pikit_v0",
    opponents: str = "heuristic",
    deals: int = 50,
    seed: int = 0,
    self_play: bool = False,
    settings: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
) -> Task:
    """A model on one seat against a policy on all others.

    Args:
        game: its name.
        opponents: the policy's spec; the rating needs one of the ladder: random, heuristic, pretrained, search:100, …
        deals: each is played from every seat.
        seed: of the deals.
        self_play: all seats are asked; the models of roles "player_0", … (`model_roles`), or the task's own, have them.
            The score is that of the sample's seat.
        settings: of `TextGame`.
        options: of the game.
    """
    make = {**(settings or {}), **(options or {}), "game": game, "opponents": opponents}
    text = TextGame(**make)
    tasks = [text.task(k, "publishing", seed, text.variant.players) for k in range(deals * text.variant.players)]
    samples = []
    for k, one in enumerate(tasks):
        deal, agent = k // text.variant.players, text.variant.agents[one["seat"]]
        asked = f"{agent} of {game}" if self_play else _messages(text.reset(**one))
        metadata = {**one, "deal": deal, "agent": agent, "teams": list(map(list, text.variant.teams.values()))}
        samples.append(Sample(asked, id=f"deal {deal}, {agent}", metadata=metadata))
    ratings = {} if self_play else published_ratings(text.variant)
    ladder = dict(sorted(ratings.items(), key=lambda one: one[1]))
    metrics, player = [standing(text.variant.sides, ladder, opponents)], play(make, self_play)
    return Task(samples, solver=player, scorer=share_of_the_win(), metrics=metrics, metadata={"ladder": ladder})


def all_tasks(**given: Any) -> list[Task]:
    """`monsterzoo` for every game and variant."""
    return [monsterzoo(name, options=dict(one), **given) for name in names() for one in find_game(name).variants]


# --- Playing ---


@solver
def play(make: dict[str, Any], self_play: bool) -> Solver:
    """A conversation for every agent that is asked, with the model of its role.

    With rules="always" every question is a conversation of its own.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        game, sample = TextGame(**make), state.metadata
        seat, opponents = (None, None) if self_play else (sample["seat"], sample["opponents"])
        turn = game.reset(sample["seed"], seat, opponents)
        talks: dict[str, list[ChatMessage]] = {agent: [] for agent in game.variant.agents}
        while not turn.done:
            agent = turn.agent
            alone = game.settings["rules"] == "always"
            talks[agent] = [*([] if alone else talks[agent]), *_messages(turn)]
            output = await get_model(role=agent).generate(talks[agent])
            talks[agent].append(output.message)
            turn = game.say(output.completion)
            state.messages = [*talks[sample["agent"]], *(_messages(turn) if turn.done else [])]
            _keep(state, game.result, finished=turn.done)
        return state

    return solve


def _messages(turn: Turn) -> list[ChatMessage]:
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser}
    return [kinds[one["role"]](content=one["content"]) for one in turn.messages]


def _keep(state: TaskState, result: TextResult, finished: bool) -> None:
    """Keep a result for the scorer, also of a game that a limit of Inspect's ends."""
    kept = {name: getattr(result, name) for name in ("returns", "winners", "decisions", "unusable", "forfeited")}
    state.store.set(RESULT, {**kept, "finished": finished, "record": result.record})


# --- Scoring ---


@scorer(metrics=[mean()])
def share_of_the_win() -> Scorer:
    """A seat's share of the win, shared by all if nobody wins; an unfinished game is lost."""

    async def score(state: TaskState, target: Target) -> Score:
        kept, teams = state.store.get(RESULT, {}), state.metadata["teams"]
        winners = kept.get("winners", [])
        won = [team for team in teams if set(team) & set(winners)] or teams
        shares = kept.get("finished") and any(state.metadata["agent"] in team for team in won)
        return Score(value=1 / len(won) if shares else 0.0, answer=", ".join(winners), metadata=kept)

    return score


@metric
def standing(sides: int, ladder: dict[str, float], opponent: str) -> Metric:
    """Win rate with its interval clustered by deal, rating, number of rungs reached, and how games were lost else."""

    def compute(scores: list[SampleScore]) -> dict[str, Any]:
        deals = [(one.sample_metadata or {})["deal"] for one in scores]
        rows = {deal: row for row, deal in enumerate(dict.fromkeys(deals))}
        won, played = np.zeros((len(rows), 1)), np.zeros((len(rows), 1))
        kept = [one.score.metadata or {} for one in scores]
        for deal, one in zip(deals, scores):
            won[rows[deal]] += one.score.as_float()
            played[rows[deal]] += 1
        (rate,), (interval,) = win_rates(won, played)
        found: dict[str, Any] = {"win_rate": float(rate), "low": float(interval[0]), "high": float(interval[1])}
        if opponent in ladder:
            rating, *ends = (rating_from(one, sides, ladder[opponent]) for one in found.values())
            known = (one if isfinite(one) else None for one in (rating, *ends))  # JSON has no infinity
            found |= {
                **dict(zip(("rating", "rating_low", "rating_high"), known)),
                "rungs": sum(one <= rating for one in ladder.values()),
            }
        lost = {"forfeited": sum(bool(one.get("forfeited")) for one in kept),
                "unfinished": sum(not one.get("finished") for one in kept),
                "unusable_answers": sum(sum(one.get("unusable", {}).values()) for one in kept)}  # fmt: skip
        return found | lost

    return compute


def rung(log: EvalLog) -> str:
    """The strongest player of the ladder that a model reaches; "none" below all, "unknown" without a rating."""
    found = {
        name: one.value for score in (log.results.scores if log.results else []) for name, one in score.metrics.items()
    }
    if "rungs" not in found:
        return "unknown"
    return ["none", *(log.eval.metadata or {})["ladder"]][int(found["rungs"])]
