"""`monsterzoo analyse`: ask a policy about a position."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from monsterzoo.envs.core.catalogue import find_game
from monsterzoo.envs.core.options import LARGEST_SEED, Checked, Integer, Switch, Text
from monsterzoo.envs.match.players import make_player
from monsterzoo.policies.analysis import analyse
from monsterzoo.training.files import read_json

from .options import Parser, game_name, game_options, given


@dataclass(frozen=True)
class Options(Checked):
    """Flags of the command."""

    snapshot: Annotated[str, "the position, as env.unwrapped.snapshot() gives it, in JSON", Text("FILE")]
    policy: Annotated[str, "the policy to ask", Text("POLICY")] = "search:1000"
    seat: Annotated[int | None, "whose decision, where several seats decide at once", Integer(0)] = None
    seed: Annotated[int, "random seed of the policy", Integer(0, LARGEST_SEED)] = 0
    json: Annotated[bool, "print JSON", Switch()] = False


def main(words: Sequence[str]) -> int:
    """Read a position, ask, print; raises `ValueError` for a bad position or policy."""
    parsed = Parser("analyse", "Ask a policy about a position.", Options, policies=True).read(words)
    options = Options(**given(parsed, Options))
    game = find_game(game_name(parsed))
    snapshot = read_json(Path(options.snapshot), "a position")
    written = snapshot.get("options")
    known = {key: value for key, value in written.items() if key in game.options} if isinstance(written, dict) else {}
    variant = game.variant(**{**known, **game_options(parsed)})
    states = variant.load(snapshot, options.seed)
    found = analyse(make_player(variant, options.policy, options.seed), variant, states, seat=options.seat)
    if options.json:
        print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        return 0
    print(variant.describe(variant.look(states, 0, found.seat)[0], found.seat))
    print()
    print(found)
    return 0
