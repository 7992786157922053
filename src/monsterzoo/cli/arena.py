"""`monsterzoo arena`: a tournament on the command line, with its tables, files and picture."""

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import MISSING
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Any

from monsterzoo.envs.core.options import Choice, Option, Specs, Switch, Text, label
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.players import make_player
from monsterzoo.envs.match.seating import default_spec
from monsterzoo.training.arena import ArenaOptions, Tournament, enter
from monsterzoo.training.evaluation import report
from monsterzoo.training.evaluation.cross_play import cross_play, cross_play_result
from monsterzoo.training.evaluation.tournament import MOST_GAMES, USUAL_GAMES
from monsterzoo.training.runs.files import replacing, write_json

from .options import RAY, Parser, chosen_variant, flags_of, on_ray

LIVE_SECONDS, PLAIN_SECONDS = 0.5, 10.0
STANDARD, STANDARD_DEALS = ("random", "heuristic", "pretrained"), 2000  # the protocol of docs/evaluation.md

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
    stem = None if parsed.output is None else Path(parsed.output).with_suffix("")
    record = stem and stem.with_name(f"{stem.name}.npz")
    if record is not None and record.exists():
        tournament.load(record)
        print(f"{tournament.games} finished games taken over from {record}", file=sys.stderr)
    usual = USUAL_GAMES if options.until_interval is None else MOST_GAMES
    games = options.games or (STANDARD_DEALS * len(tournament.seatings) if parsed.protocol else usual)
    interruption: BaseException | None = None
    total = tournament.whole_deals(games) * len(tournament.seatings)
    settings: dict[str, Any] = {name: getattr(options, name) for name in ("until_interval", "batch", "threads")}
    settings |= {"progress": None if parsed.quiet else _progress(total), "save": record}
    with on_ray(parsed) as remote:
        if remote:
            from monsterzoo.training.distributed.arena import play_on_ray

            settings["spread"] = play_on_ray(specs, options.batch, parsed.workers)
        try:
            tournament.play(policies, games, **settings)
        except (KeyboardInterrupt, ConnectionError) as error:  # of a language model's endpoint
            interruption = error
    usage = {name: policy.usage for name, policy in zip(names, policies) if hasattr(policy, "usage")}
    for name, counts in usage.items():
        print(f"{name}: {label(counts)}", file=sys.stderr)
    if tournament.games:
        _publish(tournament, names, parsed, stem, usage)
    if interruption is None:
        return 0
    kept = "nothing is kept without --output" if record is None else f"saved in {record}, the same command goes on"
    why = f"{interruption}: ended" if isinstance(interruption, ConnectionError) else "interrupted"
    print(f"{why} after {tournament.games} games; {kept}", file=sys.stderr)
    return 2 if isinstance(interruption, ConnectionError) else int(getattr(interruption, "code", 130))


def _entrants(variant: Variant, parsed: Namespace, options: ArenaOptions) -> tuple[list[str], list[str]]:
    """Specs of all policies that play, and of the opponents; raises `ValueError` for options that contradict."""
    policies, against = list(parsed.policies), list(parsed.against)
    if parsed.protocol:
        if parsed.cross_play or against or options.until_interval is not None:
            raise ValueError("--protocol says whom to play and how long: not with --against, --cross-play and so on")
        against = [spec for spec in STANDARD if can_play(variant, spec)]
    if parsed.cross_play:
        if len(against) > 1:
            raise ValueError(f"--cross-play is against one policy, not {len(against)}")
        against = against or [default_spec(variant)]
        return [*policies, *against], against
    return [*policies, *(spec for spec in against if spec not in policies)], against


def can_play(variant: Variant, spec: str) -> bool:
    """Whether a spec names a policy that plays a variant."""
    try:
        make_player(variant, spec)
    except ValueError:
        return False
    return True


def _publish(
    tournament: Tournament, names: list[str], parsed: Namespace, stem: Path | None, usage: dict[str, Any]
) -> None:
    """Print the result, and write it with --output; `usage` is what language models cost."""
    result: dict[str, Any]
    if parsed.cross_play:
        result, draw = cross_play_result(tournament, names), report.heat_map
        print(report.partners_text(result))
    else:
        result, draw = tournament.result(), report.plot
        print(report.as_text(result))
    result |= {"usage": usage} if usage else {}
    texts = {}
    if parsed.protocol:
        result |= {"protocol": parsed.protocol, "version": version("monsterzoo")}
        texts = {"md": report.protocol_text(result, report.markdown), "tex": report.protocol_text(result, report.latex)}
        print("\n" + texts["md"], end="")
    if stem is not None:
        write_json(stem.with_name(f"{stem.name}.json"), result)
        draw(result, stem.with_name(f"{stem.name}.png"))
        for end, text in texts.items():
            with replacing(stem.with_name(f"{stem.name}.{end}")) as part:
                part.write_text(text, encoding="utf-8")


def _progress(total: int) -> Callable[[Tournament], None]:
    """Print how many games there are so far: in one line on a terminal, else a new line now and then."""
    live, printed = sys.stderr.isatty(), monotonic()

    def show(tournament: Tournament) -> None:
        nonlocal printed
        if monotonic() - printed >= (LIVE_SECONDS if live else PLAIN_SECONDS):
            printed = monotonic()
            text = f"{tournament.games} of {total} games"
            print(text, end="\r" if live else "\n", file=sys.stderr, flush=True)

    return show
