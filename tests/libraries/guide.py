"""The code of `docs/libraries.md`, and checks that the tests of all libraries share."""

import re
from pathlib import Path
from typing import Any

import monsterzoo.envs as mz
import numpy as np
import torch
from monsterzoo import policies
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.training.evaluation import win_rate as evaluation

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
    """Counts steps and illegal actions of one-seat batches, and keeps the last observations of their games."""

    def __init__(self, monkeypatch: Any) -> None:
        self.steps = self.illegal = 0
        self.ends: set[bytes] = set()
        """Every seat's last observation of every game that has ended."""
        step, audit = SeatVectorEnv.step, self

        def watched(games: SeatVectorEnv, actions: Any) -> Any:
            result = step(games, actions)
            audit.steps += games.num_envs
            infos = result[4]
            audit.illegal += int(np.sum(infos.get("illegal", infos.get("final_info", {}).get("illegal", 0))))
            for i in np.flatnonzero(result[2] | result[3]):
                seats = range(games.variant.players)
                rows = (games.variant.observation(games.final_states, i, seat).tobytes() for seat in seats)
                audit.ends.update(rows)
            return result

        monkeypatch.setattr(SeatVectorEnv, "step", watched)

    def check(self) -> None:
        """At least 10,000 steps and 100 ends of games, and no illegal action."""
        assert self.steps >= 10_000
        assert len(self.ends) > 100
        assert self.illegal == 0

    def knows(self, rows: Any) -> bool:
        """Whether these observations (B, n) are all the ends of games."""
        return all(row.tobytes() in self.ends for row in np.asarray(rows).astype(np.int8))


def win_rate(logits: Any, games: int = 400) -> float:
    """Win rate of the best legal action by logits, (B, n) -> (B, A), against random players of Pikit for two."""

    def act(observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            found = logits(torch.as_tensor(observations.astype(np.float32)))
        return np.where(action_masks != 0, np.asarray(found), -np.inf).argmax(axis=1)

    variant = mz.variant("pikit_v0", players=2)
    opponent = policies.make("random", "pikit_v0", players=2)
    return evaluation.win_rate(variant, policies.from_function(act), opponent, games, 1).win_rate
