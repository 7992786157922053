"""The ladder of every game and variant: random, heuristic, network, search with growing budgets, and both together.

Every rung is a tournament (`training.arena`) of a player on one side against another one on all others, every deal once
with each side. The win rate is to be compared with even play: a half where two sides play, a third or a quarter where
more do. Ratings add up the rungs from the random player at 0. With `--output` each rung takes the place of what was
measured before of the same player, and all others stay. With `--games-folder` finished games are kept: run again with
more of them to go on.
"""

import argparse
import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from time import monotonic
from typing import Any

from monsterzoo.envs.core.catalogue import names
from monsterzoo.policies.base import compiled_form
from monsterzoo.policies.heuristics import has_heuristic
from monsterzoo.training.arena import Tournament, enter
from monsterzoo.training.extras import require
from monsterzoo.training.fingerprints import fingerprint
from monsterzoo.training.interrupts import goes_on_from
from monsterzoo.training.variants import NamedVariant, chosen_variants

from . import ladders
from .ladders import BOTTOM, RUNGS, Rung
from .measuring import machine

BATCH = 16
"""Games of slow players between two looks at the clock. They are finished: else long ones would be left out."""
SILENCE = 60.0
"""Seconds after which a rung tells how far it is."""


def main(arguments: list[str] | None = None) -> int:
    """Play the rungs; with `--output` write ladder.json, ladder.md and ladder.png after each."""
    parsed = _parser().parse_args(arguments)
    if parsed.output is not None:
        require("matplotlib")  # for ladder.png
    made = {"command": command(sys.argv[1:] if arguments is None else arguments), "machine": machine()}
    wanted = [one for one in chosen_variants(parsed.variant or []) if one.game in parsed.game]
    folder = parsed.games_folder
    result = {"made": [], "ladders": []} if parsed.output is None else ladders.read(parsed.output)
    with nullcontext() if folder is None else goes_on_from(folder):
        for one in wanted:
            for player in parsed.rungs:
                rung = climb(one, player, parsed)
                if rung is None:
                    continue
                if parsed.output is not None:  # another process may have written meanwhile
                    result = ladders.read(parsed.output)
                ladders.merge(result, one, rung, made)
                if parsed.output is not None:
                    ladders.write(parsed.output, result)
    if parsed.output is not None and not parsed.rungs:
        ladders.write(parsed.output, result)
    print(ladders.table_of(result["ladders"]))
    return 0


def command(words: list[str]) -> str:
    """The command line, without the folders, which change no result."""
    kept = [word for word, before in zip(words, ["", *words]) if not {word, before} & {"--output", "--games-folder"}]
    return shlex.join(["monsterzoo", "bench", "strength", *kept])


def climb(of: NamedVariant, player: str, parsed: argparse.Namespace) -> Rung | None:
    """One rung of a variant; None if the variant does not have one of the two players."""
    against = parsed.against or RUNGS.get(player, "heuristic")
    if against == "heuristic" and not has_heuristic(of.variant):
        against = BOTTOM
    try:
        return play(of, player, against, parsed)
    except LookupError as error:
        print(f"{of.name}, {player}: left out, {error}", file=sys.stderr)
        return None


def play(of: NamedVariant, player: str, against: str, parsed: argparse.Namespace) -> Rung:
    """A player against another one, as long as there is time; raises `LookupError` if one of them cannot be had."""
    variant = of.variant
    try:
        entrants, policies = enter(variant, [against, player])
    except ValueError as error:
        raise LookupError(error) from error
    network = fingerprint(policies[1]) or fingerprint(policies[0])
    tournament = Tournament(variant, entrants, alone=entrants[1])
    parts = [of.name, f"{player}-against-{against}".replace(":", "-").replace("/", "-"), network]
    title = ".".join(part for part in parts if part is not None)
    record = None if parsed.games_folder is None else parsed.games_folder / f"{title}.npz"
    if record is not None and record.exists():
        tournament.load(record)
    fast = all(compiled_form(policy) is not None for policy in policies)
    goal = parsed.fast_games if fast else parsed.games
    step = goal if fast else BATCH
    stop = float("inf")
    told = monotonic()
    for target in range(step, goal + step, step):
        tournament.play(policies, min(target, goal), batch=BATCH, save=record)
        if stop == float("inf"):  # compiling does not count
            stop = monotonic() + 60 * parsed.minutes
        if monotonic() > told + SILENCE:
            told = monotonic()
            print(f"{title}: {tournament.games} of {goal} games", file=sys.stderr)
        if monotonic() > stop:
            print(f"{title}: stopped after {tournament.games} games", file=sys.stderr)
            break
    return rung_of(tournament.result(), player, against, network)


def rung_of(result: dict[str, Any], player: str, against: str, network: str | None) -> Rung:
    """What a tournament of two tells about the second one."""
    below, above = result["players"]
    low, high = above["rating_interval"]
    # Ratings count from the random player if there is one, and else from the middle, half way between the two.
    width = None if low is None else (high - low) / 2 * (1 if below["name"] == BOTTOM else 2)
    return {
        "player": player,
        "against": against,
        "games": result["games"],
        "win_rate": above["win_rate"],
        "win_rate_interval": above["win_rate_interval"],
        "step": above["rating"] - below["rating"],
        "half_width": width,
        "network": network,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="monsterzoo bench strength", description=__doc__)
    parser.add_argument("--games", type=int, default=400, help="games of a rung with a player that searches")
    parser.add_argument("--fast-games", type=int, default=20_000, help="games between compiled policies")
    parser.add_argument(
        "--rungs",
        "--rung",
        nargs="*",
        default=list(RUNGS),
        metavar="POLICY",
        help=f"players to measure (default: {' '.join(RUNGS)}); none of them: only write table and picture again",
    )
    parser.add_argument("--against", metavar="POLICY", help="whom to measure them against (default: a rung below)")
    parser.add_argument(
        "--game", nargs="+", default=names(), choices=names(), metavar="GAME", help="games to measure (default: all)"
    )
    parser.add_argument("--variant", nargs="+", metavar="NAME", help="such as pikit_v0-2p (default: all)")
    parser.add_argument("--minutes", type=float, default=60.0, help="time for each rung; what is finished counts")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="write ladder.json, .md and .png there")
    parser.add_argument("--games-folder", type=Path, metavar="FOLDER", help="keep finished games there, to go on from")
    return parser


if __name__ == "__main__":
    sys.exit(main())
