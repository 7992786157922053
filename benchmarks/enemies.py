"""What an enemy wins against each player: `monsterzoo exploit` for all networks that are shipped, and for others.

Against every player a network is trained that knows it: it starts as the network that is shipped, and learns to beat
that player on all other sides. What it wins in the end is a lower bound of what can be won. Enemies stay in a folder of
runs; the same command goes on with them, and one with more updates trains them further. With `--output` what is found
goes into enemies.json and enemies.md, and replaces what was found before of the same player.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from monsterzoo.cli.exploit import find_exploiter, usual_method
from monsterzoo.cli.options import read_flag
from monsterzoo.envs.core.options import options_of
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies.networks import NeuralPolicy
from monsterzoo.training.arena import ArenaOptions
from monsterzoo.training.config import PPOConfig, RolloutConfig
from monsterzoo.training.files import read_json, replacing, write_json
from monsterzoo.training.fingerprints import fingerprint, shipped_networks
from monsterzoo.training.interrupts import goes_on_from
from monsterzoo.training.models_page import rate, table
from monsterzoo.training.variants import NamedVariant, all_variants, chosen_variants

RUNS = Path("runs/enemies")
UPDATES = {RolloutConfig.method: 100, PPOConfig.method: 150}
"""The usual budget of an enemy: some minutes on one core."""
MOST = 0.65
"""A player that loses more games than this to one enemy, where two sides play, is marked."""
TITLE = """# Enemies

How often an enemy wins that was trained against one player, and plays one side while that player has all others:
`monsterzoo exploit`. The enemy starts as the network that is shipped: as a copy of "pretrained", which wins as often as
even, and against the others as what has beaten them already. Its win rate is a lower bound: a better enemy, or one that
has learned for longer, may win more; one that wins less than even has found nothing. Steps of games are what it has
learned from; by rollouts every decision of its side is played on with several actions, which tells more and takes
longer. Intervals are 95 %; "even" is what an equal player would win. Marked: more than 65 % where two sides play.
"""


def main(arguments: list[str] | None = None) -> int:
    """Train and measure the enemies; with `--output` write what was found after each."""
    parsed = _parser().parse_args(arguments)
    chosen: dict[str, Any] = {"tensorboard": False, "evaluate_every": 120.0}
    for name in ("updates", "seed", "num_envs"):
        if getattr(parsed, name) is not None:
            chosen[name] = read_flag(name, getattr(parsed, name), options_of(PPOConfig)[name].values)
    if chosen.get("updates") == 0:
        raise ValueError("--updates 0 is no budget")
    games = read_flag("games", parsed.games, options_of(ArenaOptions)["games"].values)
    rows = []
    with goes_on_from(parsed.runs):
        for one in chosen_variants(parsed.variant or []):
            for spec in parsed.policies:
                row = measured(one, spec, chosen, games, parsed.runs, parsed.output)
                if row is not None:
                    rows.append(row)
    if parsed.output is not None:
        write(parsed.output, read(parsed.output), parsed.forget)
        rows = read(parsed.output)
    print(table_of(rows, shipped_networks()))
    return 0


def measured(
    one: NamedVariant, spec: str, chosen: dict[str, Any], games: int, runs: Path, output: Path | None
) -> dict[str, Any] | None:
    """What an enemy wins against a player, from the file if that was found before; None if nobody plays by the spec."""
    try:
        player = make_player(one.variant, spec)
    except ValueError as error:
        print(f"{one.name}, {spec}: left out, {error}", file=sys.stderr)
        return None
    network, method = fingerprint(player), usual_method(one.variant, player)
    chosen = {"updates": UPDATES[method], **chosen}
    if not isinstance(player, NeuralPolicy) and one.name in shipped_networks():
        chosen["start"] = "pretrained"
    known = [] if output is None else read(output)
    for row in known:
        enough = row["updates"] >= chosen["updates"] and row["games"] >= games // one.variant.sides * one.variant.sides
        if enough and _key(row) == (one.name, spec, network) and row["seed"] == chosen.get("seed", PPOConfig.seed):
            return row
    seed = f"seed-{chosen['seed']}" if chosen.get("seed") else None
    parts = [spec.replace("/", "-").replace(":", "-"), network, seed]
    folder = runs / one.name / "-".join(part for part in parts if part is not None)
    print(f"{one.name}: an enemy of {spec}, {chosen['updates']} updates, into {folder}", flush=True)
    found = find_exploiter(one.variant, spec, {**chosen, "out": str(folder)}, games)
    kept = ("method", "even", "win_rate", "interval", "games", "updates", "steps", "minutes", "seed")
    row = {"variant": one.name, "policy": spec, "network": network, **{key: found[key] for key in kept}}
    if output is not None:
        write(output, [*(other for other in read(output) if _key(other) != _key(row)), row])
    return row


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    """Whom a row is about."""
    return row["variant"], row["policy"], row["network"]


def read(folder: Path) -> list[dict[str, Any]]:
    """What was found so far."""
    path = folder / "enemies.json"
    rows: list[dict[str, Any]] = read_json(path, "a file of enemies")["enemies"] if path.exists() else []
    return rows


def write(folder: Path, rows: list[dict[str, Any]], forget: bool = False) -> None:
    """Write both files, variants in their order; what was found of earlier networks stays unless it is forgotten."""
    now, order = shipped_networks(), list(all_variants())
    rows = [row for row in rows if not (forget and _earlier(row, now))]
    rows.sort(key=lambda row: (order.index(row["variant"]), row["policy"], not _earlier(row, now)))
    write_json(folder / "enemies.json", {"enemies": rows})
    with replacing(folder / "enemies.md") as part:
        part.write_text(f"{TITLE}\n{table_of(rows, now)}\n")


def table_of(rows: list[dict[str, Any]], now: dict[str, str | None]) -> str:
    """The enemies as a Markdown table; `now` are the networks that are shipped."""
    lines = []
    for row in rows:
        player = "an earlier network" if _earlier(row, now) else row["policy"]
        wins = f"**{rate(row)}** (marked)" if row["even"] == 0.5 and row["win_rate"] > MOST else rate(row)
        steps = f"{row['steps'] / 1e6:.1f} M"
        budget = [row["method"], f"{row['updates']:,}", steps, f"{row['minutes']:.1f}", str(row["seed"])]
        lines.append([row["variant"], player, f"{row['even']:.0%}", wins, f"{row['games']:,}", *budget])
    head = ["variant", "player", "even", "its enemy wins", "games", "method", "updates", "steps", "minutes", "seed"]
    return table(head, lines)


def _earlier(row: dict[str, Any], now: dict[str, str | None]) -> bool:
    """Whether another network is shipped now than the one that a row is about."""
    return bool(row["policy"] == "pretrained" and row["network"] != now.get(row["variant"]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="monsterzoo bench enemies", description=__doc__)
    parser.add_argument("--variant", nargs="+", metavar="NAME", help="such as pikit_v0-2p (default: all)")
    parser.add_argument(
        "--policies",
        nargs="*",
        default=["pretrained"],
        metavar="POLICY",
        help="whom to find enemies of (default: pretrained); none of them: only write the table again",
    )
    usual = " and ".join(f"{updates} of {method}" for method, updates in UPDATES.items())
    parser.add_argument("--updates", metavar="N", help=f"budget of each enemy (default: {usual})")
    parser.add_argument("--games", default="4000", metavar="N", help="to measure each by (default: %(default)s)")
    parser.add_argument("--num-envs", metavar="N", help="games at once while learning; few of them for searches")
    parser.add_argument("--seed", metavar="N", help="of the enemies (default: 0)")
    parser.add_argument(
        "--runs", type=Path, default=RUNS, metavar="FOLDER", help="of the enemies (default: %(default)s)"
    )
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="write enemies.json and enemies.md there")
    parser.add_argument(
        "--forget", action="store_true", help="drop what was found of networks that are not shipped now"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
