"""The code of `docs/libraries.md`, and checks that the tests of all libraries share."""

import re
from pathlib import Path
from typing import Any

import monsterzoo.envs as mz
import numpy as np
import torch
from monsterzoo import policies
from monsterzoo.envs.match.loop import ACT
from monsterzoo.envs.match.match import Match
from monsterzoo.policies import Policy
from monsterzoo.training.evaluation.win_rate import win_rate

PAGE = Path(__file__).resolve().parents[2] / "docs" / "libraries.md"


def code_of(library: str, language: str = "python") -> str:
    """The code of a library's section."""
    pattern = rf"^\*\*{library}\*\*\n\n```{language}\n(.*?)^```"
    code = "\n".join(re.findall(pattern, PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))
    assert code, f"there is no code for {library}"
    return code


def run_guide(library: str, stop: str | None = None, into: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run the code of a library's section, or what comes before (after, if `into` is given) a line of it."""
    code = code_of(library)
    if stop is not None:
        before, line, after = code.partition(stop)
        assert line, f"the code for {library} has no line {stop!r}"
        code = before if into is None else line + after
    names: dict[str, Any] = {} if into is None else into
    exec(compile(code, str(PAGE), "exec"), names)
    return names


def patched(source: str, changes: str) -> str:
    """A file with a unified diff applied."""
    for hunk in re.split(r"^@@.*\n", changes, flags=re.MULTILINE)[1:]:
        lines = [line or " " for line in hunk.splitlines()]
        before, after = ("".join(f"{line[1:]}\n" for line in lines if line[0] in kept) for kept in (" -", " +"))
        assert source.count(before) == 1, f"this is not there, or not once:\n{before}"
        source = source.replace(before, after)
    return source


class Audit:
    """Counts actions from outside at the gate of all batches, and those that are not legal; keeps the ends of games.

    Every adapter's actions go through `Match.run`; policies that play other seats, in win rates too, are not counted.
    """

    def __init__(self, monkeypatch: Any) -> None:
        self.steps = self.illegal = 0
        self.ends: set[bytes] = set()
        """Every seat's last observation of every game that has ended."""
        run, audit = Match.run, self

        def watched(match: Match, *args: Any) -> Any:
            asked = np.flatnonzero(match.arrays["orders"] == ACT)
            chosen = match.action_masks[asked, match.arrays["choices"][asked]]
            audit.steps += len(asked)
            audit.illegal += int(np.count_nonzero(chosen == 0))
            result = run(match, *args)
            over = match.arrays["terminated"] | match.arrays["truncated"]
            for i in np.flatnonzero(over) if len(asked) else ():
                seats = range(match.variant.players)
                rows = (match.variant.observation(match.arrays["finals"], i, seat).tobytes() for seat in seats)
                audit.ends.update(rows)
            return result

        monkeypatch.setattr(Match, "run", watched)

    def check(self, least: int = 10_000) -> None:
        """So many steps and the ends of 50 games at least, and no illegal action."""
        assert self.steps >= least
        assert len(self.ends) > 100
        assert self.illegal == 0

    def knows(self, rows: Any) -> bool:
        """Whether these observations (B, n) are all the ends of games."""
        return all(row.tobytes() in self.ends for row in np.asarray(rows).astype(np.int8))


def best_of(logits: Any) -> Policy:
    """The policy that takes the best legal action by logits, (B, n) -> (B, A)."""

    def act(observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            found = logits(torch.as_tensor(observations.astype(np.float32)))
        return np.where(action_masks != 0, np.asarray(found), -np.inf).argmax(axis=1)

    return policies.from_function(act)


def check_beats_random(policy: Policy, games: int = 400) -> None:
    """The 95 % interval of the win rate against random players of Pikit for two, chance level 0.5, is above 0.6."""
    variant = mz.variant("pikit_v0", players=2)
    rate = win_rate(variant, policy, policies.make("random", "pikit_v0", players=2), games, 1)
    print(f"win rate {rate.win_rate:.3f}, 95 % interval {rate.interval}")
    assert rate.interval[0] > 0.6
