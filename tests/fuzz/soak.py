"""Play batches for a long time and look for what only shows then: `python tests/fuzz/soak.py --steps 1e9`.

All variants take turns, with resets and restores in between. Checked on the way: no mask is empty, returns add up to
zero, sampled positions come back from their snapshots (so no card gets lost), a restored batch plays the same again,
and memory does not grow.
"""

import argparse
import os
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from monsterzoo.envs import VectorGame, make_vec, names
from monsterzoo.envs.core.options import label
from monsterzoo.envs.core.registry import find_game

NUM_ENVS = 4096
TURN = 200  # batch steps of a variant between two checks of everything
MOST_GROWTH = 0.05


@dataclass
class Soaked:
    """One variant, and what it has been through."""

    title: str
    games: VectorGame
    steps: int = 0
    finished: int = 0
    seconds: float = 0.0
    positions: int = 0
    restores: int = 0
    resets: int = 0


def _everything(num_envs: int, threads: int) -> list[Soaked]:
    return [
        Soaked(f"{name} {label(options)}", make_vec(name, num_envs, threads, seed=1, **options))
        for name in names()
        for options in find_game(name).variants
    ]


def memory() -> int:
    """Bytes of memory in use now (where the system does not tell, the most there ever were)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def soak(one: Soaked, turns: int) -> None:
    """Let a variant play on."""
    games = one.games
    start = time.perf_counter()
    for _ in range(turns):
        games.step(games.sample_actions())
        over = games.terminated | games.truncated
        if over.any():
            one.finished += int(over.sum())
            gap = float(np.abs(games.final_returns[over].sum(axis=1)).max())
            assert gap < 1e-3, f"{one.title}: returns add up to {gap}, not to zero"
    one.seconds += time.perf_counter() - start
    one.steps += turns * games.num_envs


def check(one: Soaked, random: np.random.Generator) -> None:
    """Masks, positions, and that a restored batch plays the same again; sometimes begin anew."""
    games = one.games
    assert games.action_masks.any(axis=1).all(), f"{one.title}: a seat has nothing to choose from"
    for index in random.integers(games.num_envs, size=2):
        position = games.variant.snapshot(games.states[index])
        again = games.variant.load(position, 0)
        assert games.variant.snapshot(again[0]) == position, f"{one.title}: a position does not come back"
        one.positions += 1
    if random.random() < 0.2:
        kept = games.save()
        games.step(games.sample_actions())
        after = games.states.tobytes()
        games.restore(kept)
        games.step(games.sample_actions())
        assert games.states.tobytes() == after, f"{one.title}: a restored batch plays another game"
        one.restores += 1
    if random.random() < 0.05:
        games.reset(int(random.integers(1 << 30)))
        one.resets += 1


def main(arguments: list[str] | None = None) -> int:
    """Soak every variant, print a table; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":")[0])
    parser.add_argument("--steps", type=float, default=1e9, help="steps of single games, all variants together")
    parser.add_argument("--minutes", type=float, default=1e9, help="time at most")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table here")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--num-envs", type=int, default=NUM_ENVS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    random = np.random.default_rng(options.seed)
    everything = _everything(options.num_envs, options.threads)
    for one in everything:  # once around: compiled, and every buffer touched
        soak(one, 2)
        games = one.games
        games.restore(games.save())
        check(one, random)
    before, end = memory(), time.monotonic() + 60 * options.minutes
    while sum(one.steps for one in everything) < options.steps and time.monotonic() < end:
        for one in everything:
            soak(one, TURN)
            check(one, random)
    growth = memory() / before - 1
    text = report(everything, options.threads, before, growth)
    print(text)
    if options.write is not None:
        options.write.write_text(f"# Soak\n\n{(__doc__ or '').split(chr(10), 2)[2].strip()}\n\n{text}\n")
    if growth > MOST_GROWTH:
        print(f"memory has grown by more than {MOST_GROWTH:.0%}")
        return 1
    return 0


def report(everything: list[Soaked], threads: int, before: int, growth: float) -> str:
    """What was played and found, as a table."""
    lines = ["| variant | steps | games | M steps/s | positions | restores | resets |", "|---|---|---|---|---|---|---|"]
    for one in everything:
        numbers = (f"{number:,}" for number in (one.positions, one.restores, one.resets))
        speed = one.steps / one.seconds / 1e6
        lines.append(f"| {one.title} | {one.steps:,} | {one.finished:,} | {speed:.1f} | {' | '.join(numbers)} |")
    steps, finished = sum(one.steps for one in everything), sum(one.finished for one in everything)
    memory_now = f"memory {before / 2**20:.0f} MB, growth {growth:+.1%}"
    lines += ["", f"{steps:,} steps with {threads} threads, {finished:,} games, every check passed; {memory_now}."]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
