"""Inspect's tasks, with its mock model: whole games, forfeits, limits, self-play, and the rung that is reached."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai import Task, eval
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from monsterzoo.envs import variant
from monsterzoo.training.evaluation.published import published_ratings
from monsterzoo.training.inspect_task import all_tasks, monsterzoo, rung


def mock(answer: Callable[[str], str], name: str = "model") -> Any:
    """A model that answers the last message; with `usage`, else a tokenizer is downloaded."""

    def reply(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mockllm", answer(messages[-1].text))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)


def first(text: str) -> str:
    return "I choose 1."


def run(made: Task, folder: Path, **given: Any) -> Any:
    (log,) = eval(made, log_dir=str(folder), display="none", log_level="error", **given)
    assert log.status == "success", log.error
    return log


def values(log: Any) -> dict[str, Any]:
    return {name: one.value for score in log.results.scores for name, one in score.metrics.items()}


def test_a_model_plays_every_seat_of_every_deal_and_gets_a_rung(tmp_path: Path) -> None:
    made = monsterzoo("pikit_v0", opponents="random", deals=6, options={"players": 2})
    log = run(made, tmp_path, model=mock(first))
    assert {sample.id for sample in log.samples} == {f"deal {d}, player_{s}" for d in range(6) for s in range(2)}
    found = values(log)
    shares = [sample.scores["share_of_the_win"].value for sample in log.samples]
    assert found["win_rate"] == pytest.approx(sum(shares) / 12)
    assert found["low"] < found["win_rate"] < found["high"]
    assert found["rating_low"] < found["rating"] < found["rating_high"]
    ladder = published_ratings(variant("pikit_v0", players=2))
    assert rung(log) == max((one for one in ladder if ladder[one] <= found["rating"]), key=ladder.get, default="none")
    assert found["forfeited"] == found["unfinished"] == found["unusable_answers"] == 0
    messages = log.samples[0].messages
    assert [message.role for message in messages[:4]] == ["system", "user", "assistant", "user"]
    assert "The game is over" in messages[-1].text


def test_nonsense_forfeits_and_limits_leave_games_unfinished_and_lost(tmp_path: Path) -> None:
    made = monsterzoo("pikit_v0", deals=1, options={"players": 2})
    found = values(run(made, tmp_path, model=mock(lambda text: "mumble")))
    assert (found["win_rate"], found["forfeited"], found["unusable_answers"]) == (0, 2, 6)
    assert found["rungs"] == 0
    made = monsterzoo("pikit_v0", deals=1, options={"players": 2})
    found = values(run(made, tmp_path, model=mock(first), message_limit=9))
    assert (found["win_rate"], found["unfinished"]) == (0, 2)


def test_every_question_can_stand_alone(tmp_path: Path) -> None:
    seen: list[int] = []
    made = monsterzoo("pikit_v0", deals=1, options={"players": 2}, settings={"rules": "always", "answers": "json"})

    def answer(text: str) -> str:
        seen.append(len(text))
        assert "Answer with a JSON object" in text
        return '{"action": 1}'

    log = run(made, tmp_path, model=mock(answer))
    assert max(len(sample.messages) for sample in log.samples) <= 4
    assert len(seen) > 20


def test_self_play_by_model_roles(tmp_path: Path) -> None:
    asked = {"player_0": 0, "player_1": 0}

    def player(agent: str) -> Any:
        def answer(text: str) -> str:
            asked[agent] += 1
            assert f"You are {agent}." in text
            return "1"

        return mock(answer, agent)

    made = monsterzoo("pikit_v0", deals=1, self_play=True, options={"players": 2})
    log = run(made, tmp_path, model=mock(first), model_roles={agent: player(agent) for agent in asked})
    assert min(asked.values()) > 10
    shares = [sample.scores["share_of_the_win"].value for sample in log.samples]
    assert sum(shares) == 1, "both seats of one game between the same players"
    assert "rating" not in values(log)


def test_there_is_a_task_for_every_variant() -> None:
    tasks = all_tasks(deals=1)
    assert len(tasks) == 13
    assert all(task.metadata["ladder"]["random"] == 0 for task in tasks)
