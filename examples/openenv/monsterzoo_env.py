"""MonsterZoo as an OpenEnv environment: a server for one seat against policies, and its client.

    python monsterzoo_env.py --game pikit_v0 --players 2        # serves on 127.0.0.1:8000

A session is a game of its own; tasks are an index, with splits that never share a deal.
"""

import argparse
from functools import partial
from typing import Any

from monsterzoo import TextGame
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app

SPLITS = {"train": "training", "validation": "curve", "test": "publishing"}


class Say(Action):
    """An answer in words."""

    text: str


class Question(Observation):
    """What a seat is asked; the reward is its own, since its last answer."""

    text: str = ""
    messages: list[dict[str, str]] = []


class Seat(State):
    """Where a game stands; nothing that the seat does not know."""

    seat: int = 0
    unusable: int = 0


class MonsterZooEnvironment(Environment[Say, Question, Seat]):
    """One seat of a game against policies."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str = "pikit_v0", **settings: Any) -> None:
        super().__init__()
        self.game, self._agent = TextGame(game, **settings), ""
        self._state = Seat()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str = "train",
        index: int | None = None,
        **_: Any,
    ) -> Question:
        """Begin the task of an index, or a game of a seed."""
        task = self.game.task(index, SPLITS[split]) if index is not None else {"seed": seed, "seat": 0}
        self._agent = self.game.variant.agents[task["seat"]]
        self._state = Seat(episode_id=episode_id, step_count=0, seat=task["seat"])
        return self._question(self.game.reset(**task))

    def step(self, action: Say, timeout_s: float | None = None, **_: Any) -> Question:
        """Answer; unusable answers are told why, and forfeit the game in the end."""
        question = self._question(self.game.say(action.text))
        self._state.step_count += 1
        self._state.unusable = self.game.result.unusable[self._agent]
        return question

    def _question(self, turn: Any) -> Question:
        return Question(text=turn.text, messages=turn.messages, done=turn.done, reward=turn.rewards[self._agent])

    @property
    def state(self) -> Seat:
        """Where the game stands."""
        return self._state


class MonsterZooClient(EnvClient[Say, Question, Seat]):
    """The client, with types."""

    def _step_payload(self, action: Say) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Question]:
        found = payload["observation"]
        question = Question(text=found["text"], messages=found["messages"])
        return StepResult(observation=question, reward=payload.get("reward"), done=payload.get("done", False))

    def _parse_state(self, payload: dict[str, Any]) -> Seat:
        return Seat(**payload)


def make_app(game: str, sessions: int = 64, **settings: Any) -> Any:
    """The application; more sessions than this are refused."""
    make = partial(MonsterZooEnvironment, game, **settings)
    return create_fastapi_app(make, Say, Question, max_concurrent_envs=sessions, state_cls=Seat)


def main() -> None:
    """Serve on this machine only, unless told otherwise."""
    import uvicorn

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="pikit_v0")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--opponents", default="heuristic")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--sessions", type=int, default=64)
    given = parser.parse_args()
    app = make_app(given.game, given.sessions, players=given.players, opponents=given.opponents)
    uvicorn.run(app, host=given.host, port=given.port)


if __name__ == "__main__":
    main()
