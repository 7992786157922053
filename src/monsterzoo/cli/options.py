"""What commands share: the game and its options, flags made from dataclasses of options, and help."""

import argparse
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, replace
from types import MappingProxyType
from typing import Any

from monsterzoo.envs.core.options import (
    Allowed,
    Integer,
    Number,
    Option,
    Specs,
    Switch,
    Text,
    as_flag,
    flag,
    options_of,
    read_options,
    refusal,
)
from monsterzoo.envs.core.registry import find_game, names
from monsterzoo.envs.core.variant import Variant

Table = Mapping[str, Option]
WIDTH = 79
SPECS = {
    "random": ("random", "a random legal action"),
    "heuristic": ("heuristic", "rules of thumb, where the game has them"),
    "search": ("search:BUDGET[,SETTING=VALUE…]", "search over what the hidden cards could be, see below"),
    "net": ("net:FOLDER", "the network of a training run, or net:FILE"),
    "pretrained": ("pretrained", "the network that ships with the package, where there is one"),
    "lm": ("lm:URL,model=NAME[,…]", "a language model behind an OpenAI-compatible endpoint"),
}
"""How the specs of a policy are written, and what they mean."""
OWN = ("MODULE:NAME", "a policy of your own: a class or object with `act`, or a function")
BUDGETS = ("simulations", "milliseconds")  # settings of search that BUDGET sets


class Parser(argparse.ArgumentParser):
    """The parser of a command: its game, its options and its help.

    Args:
        command: its name, without "monsterzoo".
        description: what it does.
        tables: options by name; each is a flag.
        game: whether it takes a game and its options; "name" is the name alone, "several" are names, without any all.
        policies: whether the help explains how policies are written.
        groups: headings of the help, each by the first option below it.
    """

    def __init__(
        self,
        command: str,
        description: str,
        *tables: Table,
        game: bool | str = True,
        policies: bool = False,
        groups: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(
            f"monsterzoo {command}",
            usage=f"monsterzoo {command} GAME [options]" if groups else None,  # there are too many to list
            description=textwrap.fill(" ".join(description.split()), WIDTH),
            epilog=about_policies() if policies else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.several = game == "several"
        if game:
            about = f"default: all, {', '.join(names())}" if self.several else "such as pikit_v0, or --game GAME"
            self.add_argument("named", nargs="*" if self.several else "?", metavar="GAME", help=about)
            self.add_argument("--game", action="append", default=[], help=argparse.SUPPRESS)
        if game is True:
            about = "another option of the game, repeatable; VALUE is JSON, as in 'deck={\"1\": 9}', or None, or text"
            self.add_argument("--players", metavar="N", help="number of players (default: the game's own)")
            self.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help=about)
        self.table = {name: option for table in tables for name, option in table.items()}
        group: Any = self
        for name, option in self.table.items():
            group = self.add_argument_group(groups[name]) if name in groups else group
            self._add_flag(group, name, option)

    def _add_flag(self, group: Any, name: str, option: Option) -> None:
        more: dict[str, Any] = {"metavar": option.values.metavar, "required": option.default is MISSING}
        if isinstance(option.values, Switch):
            more = {"action": argparse.BooleanOptionalAction if option.default else "store_true"}
        elif isinstance(option.values, Specs):
            more["nargs"] = "*"
        notes = [str(option.values)] if isinstance(option.values, Integer | Number) else []
        default = " ".join(option.default) if isinstance(option.default, tuple) else option.default
        if option.shown or not any(default is one for one in (None, MISSING, True, False)):
            notes.append(f"default: {option.shown or default}")
        text = f"{option.meaning} ({'; '.join(notes)})" if notes else option.meaning
        flags = [flag(name), *(["--output"] if name == "out" else [])]
        group.add_argument(*flags, dest=name, default=None, help=text.replace("%", "%%"), **more)

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """The values of all options, `given` those that were given; a game may stand anywhere among the flags.

        Raises `ValueError` for values that are not allowed.
        """
        parsed = self.parse_intermixed_args(list(words))
        found = {name: getattr(parsed, name) for name in self.table}
        texts = {name: text for name, text in found.items() if text is not None}
        parsed.given = {name: read_flag(name, text, self.table[name].values) for name, text in texts.items()}
        for name, option in self.table.items():
            setattr(parsed, name, parsed.given.get(name, option.default))
        if hasattr(parsed, "named"):
            named = [*parsed.game, *(parsed.named if self.several else filter(None, [parsed.named]))]
            parsed.game = named[0] if named else None
            if self.several:
                parsed.games = [find_game(name).name for name in named or names()]
            elif len(set(named)) > 1:
                self.error(f"{' or '.join(named)}? Only one game can be chosen")
        return parsed


# --- The game ---


def game_name(parsed: argparse.Namespace) -> str:
    """The game of a command line; raises `ValueError` if none is named."""
    if parsed.game is None:
        raise ValueError(f"which game? GAME is one of {', '.join(names())}")
    return str(parsed.game)


def game_options(parsed: argparse.Namespace) -> dict[str, Any]:
    """The game's options on a command line; raises `ValueError` for text that is none."""
    players = None if parsed.players is None else read_flag("players", parsed.players, Integer(1))
    return read_options(players, parsed.option)


def chosen_variant(parsed: argparse.Namespace) -> Variant:
    """The game of a command line with its options; raises `ValueError` for what is missing or not allowed."""
    return find_game(game_name(parsed)).variant(**game_options(parsed))


# --- Other options ---


def flags_of(kind: type, only: Collection[str] | None = None, **defaults: str) -> dict[str, Option]:
    """The options of a dataclass, or some of them, but for the game's; `defaults` are in words, for the help."""
    table = {name: one for name, one in options_of(kind).items() if only is None or name in only}
    for name in ("game", "players", "options"):
        table.pop(name, None)
    return {name: replace(one, shown=defaults.get(name)) for name, one in table.items()}


def read_flag(name: str, text: Any, allowed: Allowed) -> Any:
    """The value of a flag; raises `ValueError` saying what is allowed."""
    try:
        return allowed.read(text)
    except (ValueError, TypeError, OverflowError):
        raise refusal(as_flag(name, text), allowed) from None


RAY = {
    "ray": Option(None, Text("ADDRESS"), "play on Ray: 'local' starts it here, 'auto' or HOST:PORT joins a cluster"),
    "workers": Option(None, Integer(1, 100_000), "with --ray: number of actors (default: one per core)"),
}


@contextmanager
def on_ray(parsed: argparse.Namespace) -> Iterator[bool]:
    """Join Ray, if that is wanted, and tell whether; raises `ValueError` for a number of workers without it."""
    if parsed.ray is not None:
        from monsterzoo.training.distributed.cluster import joined

        with joined(parsed.ray, parsed.workers):
            yield True
    elif parsed.workers is not None:
        raise ValueError("--workers has no effect without --ray")
    else:
        yield False


# --- Help ---


def about_policies() -> str:
    """How policies are written, and all settings of search, for the end of a help."""
    from monsterzoo.envs.match.players import kinds
    from monsterzoo.policies.search import Settings

    specs = SPECS | {kind: (kind, f"of {point.value}") for kind, point in kinds().items() if kind not in SPECS}
    budget = "1000 (simulations a decision) or 50ms (time a decision)"
    others = [(name, option) for name, option in options_of(Settings).items() if name not in BUDGETS]
    settings = [(f"{name}={option.default}", option.meaning) for name, option in others]
    formatter = argparse.HelpFormatter("", width=WIDTH)
    for heading, rows in {"policies": [*specs.values(), OWN], "search": [("BUDGET", budget), *settings]}.items():
        formatter.start_section(heading)
        formatter.add_arguments(argparse.Action((), name, metavar=name, help=meaning) for name, meaning in rows)
        formatter.end_section()
    return formatter.format_help()
