"""`monsterzoo arena`: a tournament on the command line, with its tables, files and picture."""

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any

from monsterzoo.envs.core.options import Choice, Option, Specs, Switch, Text
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.players import make_player
from monsterzoo.envs.match.seating import default_spec
from monsterzoo.training.arena import ArenaOptions, Tournament, enter
from monsterzoo.training.evaluation import report
from monsterzoo.training.evaluation.cross_play import cross_play, cross_play_result
from monsterzoo.training.evaluation.tournament import MOST_GAMES, USUAL_GAMES, Spread
from monsterzoo.training.runs.files import replacing, write_json

from .options import RAY, Parser, chosen_variant, flags_of, uses_ray

LIVE_SECONDS, PLAIN_SECONDS = 0.5, 10.0
STANDARD, STANDARD_DEALS = ("random", "heuristic", "pretrained"), 2000
"""The protocol of docs/evaluation.md."""

OPTIONS = {
    "policies": Option(MISSING, Specs(), "who plays, see below"),
    "against": Option((), Specs(), "each policy has one side and one of these all others (default: all mixtures)"),
    "cross_play": Option(False, Switch(), "score every pair of policies as partners, against --against"),
    "protocol": Option(None, Choice("standard"), "as docs/evaluation.md says, 2000 deals; also PATH.md and PATH.tex"),
    "output": Option(None, Text("PATH"), "PATH.json the result, PATH.png a plot, PATH.npz all games; resumes"),
    "quiet": Option(False, Switch(), "no progress"),
}


def main(words: Sequence[str]) -> int:
    """Play, print, write; 130 or 143 after an interruption, with what was finished printed and written all the same."""
    about = "Let policies play against each other and rank them."
    tournament_flags = flags_of(ArenaOptions, games=f"{USUAL_GAMES}, or at most {MOST_GAMES} with --until-interval")
    parsed = Parser("arena", about, OPTIONS, tournament_flags, RAY, policies=True).read(words)
    options = ArenaOptions(**{name: value for name, value in parsed.given.items() if name in tournament_flags})
    variant = chosen_variant(parsed)
    specs, against = _entrants(variant, parsed, options)
    names, policies = enter(variant, specs, options.seed)
    if parsed.cross_play:
        *names, opposing = names
        tournament = cross_play(variant, names, opposing.partition("#")[0], options.seed)
    else:
        opponents = [names[specs.index(spec)] for spec in against]
        purpose = "publishing" if parsed.protocol else "choosing"
        tournament = Tournament(variant, names, options.seed, opponents, purpose)
    files = {} if parsed.output is None else _files(Path(parsed.output).with_suffix(""))
    record = files.get("npz")
    if record is not None and record.exists():
        tournament.load(record)
        print(f"{tournament.games} finished games taken over from {record}", file=sys.stderr)
    games = options.most_games
    if parsed.protocol and options.games is None:
        games = STANDARD_DEALS * len(tournament.seatings)
    interruption: KeyboardInterrupt | None = None
    with _spread(parsed, specs, options.batch) as spread:
        try:
            tournament.play(
                policies,
                games,
                until_interval=options.until_interval,
                batch=options.batch,
                threads=options.threads,
                progress=_Progress(tournament.whole_deals(games) * len(tournament.seatings), parsed.quiet),
                save=record,
                spread=spread,
            )
        except KeyboardInterrupt as error:
            interruption = error
    if tournament.games:
        _publish(tournament, names, parsed, files)
    if interruption is None:
        return 0
    kept = "nothing is kept without --output" if record is None else f"saved in {record}, the same command goes on"
    print(f"interrupted after {tournament.games} games; {kept}", file=sys.stderr)
    return int(getattr(interruption, "code", 130))


def _entrants(variant: Variant, parsed: Namespace, options: ArenaOptions) -> tuple[list[str], list[str]]:
    """Specs of all policies that play, and of the opponents; raises `ValueError` for options that contradict."""
    policies, against = list(parsed.policies), list(parsed.against)
    if parsed.protocol:
        if parsed.cross_play or against or options.until_interval is not None:
            raise ValueError("--protocol says whom to play and how long: not with --against, --cross-play and so on")
        against = [spec for spec in STANDARD if _can_play(variant, spec)]
    if parsed.cross_play:
        if len(against) > 1:
            raise ValueError(f"--cross-play is against one policy, not {len(against)}")
        against = against or [default_spec(variant)]
        return [*policies, *against], against
    return [*policies, *(spec for spec in against if spec not in policies)], against


def _can_play(variant: Variant, spec: str) -> bool:
    try:
        make_player(variant, spec)
    except ValueError:
        return False
    return True


def _files(stem: Path) -> dict[str, Path]:
    return {end: stem.with_name(f"{stem.name}.{end}") for end in ("npz", "json", "png", "md", "tex")}


def _publish(tournament: Tournament, names: list[str], parsed: Namespace, files: dict[str, Path]) -> None:
    """Print the result, and write it with --output."""
    result: dict[str, Any]
    if parsed.cross_play:
        result, draw = cross_play_result(tournament, names), report.heat_map
        print(report.partners_text(result))
    else:
        result, draw = tournament.result(), report.plot
        print(report.as_text(result))
    texts = {}
    if parsed.protocol:
        result |= {"protocol": parsed.protocol, "version": version("monsterzoo")}
        texts = {"md": report.protocol_text(result, report.markdown), "tex": report.protocol_text(result, report.latex)}
        print("\n" + texts["md"], end="")
    if files:
        write_json(files["json"], result)
        draw(result, files["png"])
        for end, text in texts.items():
            with replacing(files[end]) as part:
                part.write_text(text, encoding="utf-8")


@contextmanager
def _spread(parsed: Namespace, specs: Sequence[str], batch: int) -> Iterator[Spread | None]:
    """What plays the games on Ray, if that is wanted."""
    if not uses_ray(parsed):
        yield None
        return
    from monsterzoo.training.distributed.arena import play_on_ray
    from monsterzoo.training.distributed.cluster import joined

    with joined(parsed.ray, parsed.workers):
        yield play_on_ray(specs, batch, parsed.workers)


class _Progress:
    """A line about the games so far: rewritten on a terminal, else a new one now and then."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._total, self._quiet = total, quiet
        self._live = sys.stderr.isatty()
        self._printed = monotonic()

    def __call__(self, tournament: Tournament) -> None:
        if self._quiet or monotonic() - self._printed < (LIVE_SECONDS if self._live else PLAIN_SECONDS):
            return
        self._printed = monotonic()
        end = "\r" if self._live else "\n"
        print(f"{tournament.games} of {self._total} games", end=end, file=sys.stderr, flush=True)
