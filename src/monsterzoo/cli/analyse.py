"""`monsterzoo analyse`: ask a policy about a position."""

from collections.abc import Sequence
from dataclasses import MISSING
from pathlib import Path

from monsterzoo.envs.core.options import LARGEST_SEED, Integer, Option, Text
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies.analysis import analyse
from monsterzoo.training.runs.files import read_json

from .options import Parser, game_name, game_options

OPTIONS = {
    "snapshot": Option(MISSING, Text("FILE"), "the position, as env.unwrapped.snapshot() gives it, in JSON"),
    "policy": Option("search:1000", Text("POLICY"), "the policy to ask"),
    "seat": Option(None, Integer(0), "whose decision, where several seats decide at once"),
    "seed": Option(0, Integer(0, LARGEST_SEED), "random seed of the policy"),
}


def main(words: Sequence[str]) -> int:
    """Read a position, ask, print; raises `ValueError` for a bad position or policy."""
    parsed = Parser("analyse", "Ask a policy about a position.", OPTIONS, policies=True).read(words)
    game = find_game(game_name(parsed))
    snapshot = read_json(Path(parsed.snapshot), "a position")
    written = snapshot.get("options")
    known = {key: value for key, value in written.items() if key in game.options} if isinstance(written, dict) else {}
    variant = game.variant(**{**known, **game_options(parsed)})
    states = variant.load(snapshot, parsed.seed)
    found = analyse(make_player(variant, parsed.policy, parsed.seed), variant, states, seat=parsed.seat)
    print(variant.describe(variant.look(states, 0, found.seat)[0], found.seat), found, sep="\n\n")
    return 0
