"""What exploiters find of what there is to find, in games so small that best responses are computed exactly.

For every player on a small Yokai Septet and a small Pikit for two: the win rate of the best response, and of exploiters
(`monsterzoo exploit`) with several budgets, all exact, as means over both seats. The share of the gap is what an
exploiter wins beyond one half, of what the best response does. `python -m tools.small_games` renews
benchmarks/results/small_games.json and .png.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from monsterzoo.benchmarks.measuring import COLOURS, machine
from monsterzoo.envs.core.registry import find_variant
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies.networks.policy import NeuralPolicy
from monsterzoo.training.evaluation.exploitability import GameTree
from monsterzoo.training.evaluation.exploiter import find_exploiter
from monsterzoo.training.evaluation.report import markdown
from monsterzoo.training.runs.config import METHODS, PPOConfig
from monsterzoo.training.runs.files import read_json, write_json

Row = dict[str, Any]
RESULTS = Path(__file__).resolve().parents[1] / "benchmarks/results/small_games.json"
NETWORK = "network"
PLAYERS = ("random", "heuristic", "search:100", NETWORK)
GAMES: dict[str, dict[str, Any]] = {
    "yokai_septet_v0": {
        "players": 2, "deck": [f"{suit}{rank}" for suit in "CLD" for rank in (6, 7, 8)], "straw": 0, "episode": "round",
    },
    "pikit_v0": {"players": 2, "deck": {1: 2, 3: 1, 5: 2}, "centre": 1, "start": 1, "faces": 2, "max_turns": 4},
}  # fmt: skip
BUDGETS = (5, 20, 80)  # updates of an exploiter
TRAINING = 20  # updates of the network's self-play
QUIETLY: dict[str, Any] = {
    "log": "none",
    "threads": 1,
    "evaluate_every": 1e9,
    "evaluate_games": 2,
    "checkpoint_every": 1e9,
}
SEARCHES = 24  # questions are answered so often to learn how a player mixes its actions


def main(arguments: Sequence[str]) -> int:
    """Measure all players, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", nargs="+", choices=GAMES, default=list(GAMES), help="(default: both)")
    parser.add_argument("--policies", nargs="+", default=list(PLAYERS), metavar="POLICY", help="(default: all four)")
    parser.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS), metavar="N", help="updates")
    parser.add_argument("--method", choices=METHODS, help="of the exploiters (default: the usual one)")
    parser.add_argument("--num-envs", type=int, metavar="N", help="games at once while learning; few for searches")
    chosen = parser.parse_args(arguments)
    rows = read_json(RESULTS, "a file of small games")["players"]
    for game in chosen.game:
        tree = GameTree(find_variant(game, GAMES[game]), limit=1_000_000)
        print(f"{tree.variant}: {tree.size}", flush=True)
        for spec in chosen.policies:
            row = measure(tree, spec, chosen)
            rows = [*(other for other in rows if (other["game"], other["policy"]) != (game, spec)), row]
            print(table([row]), flush=True)
            write_json(RESULTS, {"machine": machine(), "players": rows})
            draw(rows, RESULTS.with_suffix(".png"))
    return 0


def measure(tree: GameTree, spec: str, chosen: argparse.Namespace) -> Row:
    """The best response to a player, and its exploiters of each budget."""
    variant = tree.variant
    row: Row = {"game": variant.game.name, "options": variant.options, "size": tree.size, "policy": spec}
    with TemporaryDirectory() as folder:
        if spec == NETWORK:
            from monsterzoo.training.runs.run import train  # imports torch, which the tables can do without

            options = {key: value for key, value in variant.options.items() if key != "players"}
            learning = PPOConfig(variant.game.name, 2, options, f"{folder}/network", updates=TRAINING, **QUIETLY)
            train(learning)
            spec = f"net:{folder}/network"
        player = make_player(variant, spec)
        played = tree.frequencies(player, 1 if isinstance(player, NeuralPolicy) or spec == "heuristic" else SEARCHES)
        if spec == "random":
            played = tree.action_masks / tree.action_masks.sum(1, keepdims=True)
        row["best_response"] = wins(tree.measure(played).exploitability)
        if isinstance(player, NeuralPolicy):
            sampled = player.opinion(tree.observations, tree.action_masks)[0]
            row["best_response_if_sampled"] = wins(tree.measure(sampled).exploitability)
        row["exploiters"] = []
        for updates in chosen.budgets:
            config: dict[str, Any] = {"updates": updates, "out": f"{folder}/{updates}", **QUIETLY}
            config |= {key: value for key in ("num_envs", "method") if (value := getattr(chosen, key)) is not None}
            start = time.process_time()
            found = find_exploiter(variant, spec, config, games=2)
            seconds = round(time.process_time() - start, 1)
            best = tree.frequencies(make_player(variant, f"net:{found['out']}"))
            won = wins((tree.value(best, played) - tree.value(played, best)) / 2)
            facts = {key: found[key] for key in ("method", "updates", "steps")}
            row["exploiters"].append({**facts, "processor_seconds": seconds, "win_rate": won})
            print(f"{spec}: {updates} updates by {found['method']}, {seconds} s: {won:.1%}", flush=True)
    return row


def wins(result: float) -> float:
    """An expected return as a win rate."""
    return (1 + result) / 2


def share(row: Row, exploiter: Row) -> float:
    """What an exploiter found of the gap."""
    return float((exploiter["win_rate"] - 0.5) / (row["best_response"] - 0.5))


def table(rows: list[Row]) -> str:
    """The results in Markdown."""
    lines = []
    for row in rows:
        if not row["exploiters"]:
            lines.append([row["game"], row["policy"], f"{row['best_response']:.1%}", *["–"] * 6])
        for one in row["exploiters"]:
            steps, cost = f"{one['steps'] / 1e6:.2f} M", f"{one['processor_seconds']:.0f} s"
            found = [f"{one['win_rate']:.1%}", f"{share(row, one):.0%}", one["method"], one["updates"], steps, cost]
            lines.append([row["game"], row["policy"], f"{row['best_response']:.1%}", *found])
    head = ["small game", "player", "best response wins", "exploiter wins", "share of the gap"]
    return markdown([*head, "method", "updates", "steps", "processor time"], lines)


def draw(rows: list[Row], path: Path) -> None:
    """Share of the gap over steps, one panel a game."""
    from matplotlib.figure import Figure

    games = [game for game in GAMES if any(row["game"] == game for row in rows)]
    figure = Figure(figsize=(5 * len(games), 4), layout="constrained")
    panels = figure.subplots(1, len(games), squeeze=False, sharey=True)[0]
    for axes, game in zip(panels, games):
        for row in rows:
            if row["game"] == game:
                alike = [one for one in row["exploiters"] if one["method"] == row["exploiters"][-1]["method"]]
                steps, shares = [one["steps"] for one in alike], [100 * share(row, one) for one in alike]
                colour = COLOURS[PLAYERS.index(row["policy"]) % len(COLOURS)] if row["policy"] in PLAYERS else None
                label = f"{row['policy']} (best response {row['best_response']:.0%})"
                axes.plot(steps, shares, "o-", color=colour, label=label)
        axes.axhline(100, color="grey", linestyle=":")
        axes.set(title=f"small {game}", xlabel="environment steps of the exploiter", xscale="log", ylim=(-110, 110))
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="lower right")
    panels[0].set_ylabel("found of the exact gap (%)")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
