"""`monsterzoo analyse`: what a policy thinks of a position."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.players import make_player
from monsterzoo.policies.analysis import analyse
from monsterzoo.training.files import read_json
from monsterzoo.training.game_options import add_game_arguments, game_options, parse
from monsterzoo.training.specs import about_policies


def main(words: Sequence[str]) -> int:
    """Read a position, ask, print. Raises `ValueError` for a position or policy that is none."""
    parser = argparse.ArgumentParser(
        "monsterzoo analyse",
        description="Ask a policy about a position.",
        epilog=about_policies(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_game_arguments(parser)
    parser.add_argument(
        "--snapshot",
        type=Path,
        required=True,
        metavar="FILE",
        help="the position, as env.unwrapped.snapshot() gives it",
    )
    parser.add_argument("--policy", default="search:1000", help="whom to ask (default: %(default)s)")
    parser.add_argument("--seat", type=int, help="whose decision, where several seats decide at once")
    parser.add_argument("--seed", type=int, default=0, help="of the policy's luck (default: 0)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parsed = parse(parser, words)
    snapshot = read_json(parsed.snapshot, "a position")
    game = find_game(parsed.game)
    told = snapshot.get("options")
    known = {key: value for key, value in told.items() if key in game.options} if isinstance(told, dict) else {}
    variant = game.variant(**{**known, **game_options(parsed)})
    states = variant.load(snapshot, parsed.seed)
    found = analyse(make_player(variant, parsed.policy, parsed.seed), variant, states, seat=parsed.seat)
    if parsed.json:
        print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        return 0
    print(variant.describe(variant.look(states, 0, found.seat)[0], found.seat))
    print()
    print(found)
    return 0
