"""The code of `docs/libraries.md`, and what every library's test asks of it."""

import re
from pathlib import Path
from typing import Any

import monsterzoo.envs as mz
import numpy as np
import torch
from monsterzoo import policies
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.training.evaluation.win_rate import win_rate as evaluation

PAGE = Path(__file__).resolve().parents[2] / "docs" / "libraries.md"


def run_guide(library: str, stop: str | None = None, into: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run the code of a library's section, or what comes before (after, if `into` is given) a line of it."""
    blocks = re.findall(rf"^\*\*{library}\*\*\n\n```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    code = "\n".join(blocks)
    assert code, f"there is no code for {library}"
    if stop is not None:
        before, line, after = code.partition(stop)
        assert line, f"the code for {library} has no line {stop!r}"
        code = before if into is None else line + after
    names: dict[str, Any] = {} if into is None else into
    exec(compile(code, str(PAGE), "exec"), names)
    return names


class Audit:
    """Watches the gate of one-seat batches: steps, illegal actions, and how games end for their learners."""

    def __init__(self, monkeypatch: Any) -> None:
        self.steps = self.illegal = 0
        self.ends: set[bytes] = set()
        """The learner's last observation of every game that has ended."""
        step, audit = SeatVectorEnv.step, self

        def watched(games: SeatVectorEnv, actions: Any) -> Any:
            result = step(games, actions)
            audit.steps += games.num_envs
            audit.illegal += int(games._illegal.sum())
            for i in np.flatnonzero(result[2] | result[3]):
                seats = range(games.variant.players)
                rows = (games.variant.observation(games.final_states, i, seat).tobytes() for seat in seats)
                audit.ends.update(rows)
            return result

        monkeypatch.setattr(SeatVectorEnv, "step", watched)

    def check(self) -> None:
        """At least 10,000 steps and some games, none of them illegal."""
        assert self.steps >= 10_000
        assert len(self.ends) > 100
        assert self.illegal == 0

    def knows(self, rows: Any) -> bool:
        """Whether these observations (B, n) are all the ends of games."""
        return all(row.tobytes() in self.ends for row in np.asarray(rows).astype(np.int8))


class Learned:
    """A player by its logits, (B, n) -> (B, A): the best legal action."""

    name = "learned"

    def __init__(self, logits: Any) -> None:
        self._logits = logits

    def act(self, decisions: Any) -> np.ndarray:
        """One legal action per row."""
        with torch.no_grad():
            logits = self._logits(torch.as_tensor(decisions.observations.astype(np.float32)))
        return np.where(decisions.action_masks != 0, np.asarray(logits), -np.inf).argmax(axis=1)


def win_rate(logits: Any, games: int = 400) -> float:
    """How often it beats random play in Pikit with two players."""
    variant = mz.variant("pikit_v0", players=2)
    opponent = policies.make("random", "pikit_v0", players=2)
    return evaluation.win_rate(variant, Learned(logits), opponent, games, 1).rate
