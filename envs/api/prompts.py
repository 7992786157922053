"""Questions, turns and results of text games, and the rules in short."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ..core.game import Game


@dataclass(frozen=True)
class TextResult:
    """Result of a text game, also of an unfinished one; everything by agent's name."""

    returns: dict[str, float]
    """Rewards of the whole game (of the part that was played here)."""
    winners: list[str]
    decisions: dict[str, int]
    """Questions each agent was asked, or decisions its policy made."""
    unusable: dict[str, int]
    """Answers that named no legal action."""
    random_actions: dict[str, int]
    """Decisions that were made at random, after too many of those."""
    forfeited: str | None
    """Who lost the game by them, or by `stop`."""
    truncated: bool
    """Whether the game was broken off by its own limits or is unfinished."""
    record: dict[str, Any]
    """The game as `monsterzoo.envs.replay` and `monsterzoo replay` take it."""


@dataclass(frozen=True)
class Turn:
    """A question of a `TextGame`, or its end."""

    agent: str
    """Who is asked; empty when the game is over."""
    text: str
    """The question as one text, complete in itself."""
    messages: list[dict[str, str]]
    """The same as chat messages that continue the agent's conversation (roles "system" and "user")."""
    rewards: dict[str, float]
    """Since the last turn, by agent."""
    regret: float | None = None
    """Of the last answer, see `TextGame`; None without one."""

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return not self.agent


def question(game: Game, told: str, listed: Sequence[str], request: str) -> str:
    """A question: what a seat knows, what it may do, and how to answer."""
    lines = "\n".join(["You may:", *(f"{number}. {name}" for number, name in enumerate(listed, 1))])
    return f"You play {game.title}.\n{told}\n\n{f'{lines}{chr(10)}{chr(10)}' if listed else ''}{request}\n"


def patterns(names: Sequence[str]) -> str:
    """Names in short: "take low", "take high" and "take high card" are "take low|high [card]"."""
    rows = [tuple(name.split()) for name in names]
    for place in reversed(range(max(map(len, rows)))):
        groups: dict[Any, list[str]] = {}
        for row in rows:
            groups.setdefault((row[:place], row[place + 1 :]), []).append("".join(row[place : place + 1]))
        rows = []
        for (head, tail), words in groups.items():
            text = "|".join(filter(None, words))
            rows.append((*head, *filter(None, [f"[{text}]" if text and "" in words else text]), *tail))
    return "; ".join(map(" ".join, rows))


def legal_actions(raw: Any, agent: str) -> list[int]:
    """The numbers of an agent's legal actions."""
    return [int(action) for action in raw.infos[agent]["action_mask"].nonzero()[0]]


def rules_in_short(game: Game, options: Mapping[str, Any] | None = None) -> str:
    """The section "The game in short" of the README.md in the game's package; empty where there is none.

    With options it is about this variant alone: left out are paragraphs and tables below a line such as
    `<!-- only players=2|3, variant=base -->` that speak of others.
    """
    package = getattr(sys.modules.get(game.rules.configure.__module__), "__package__", None)
    if not package:
        return ""
    page = files(package) / "README.md"
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    section = re.search(r"^## The game in short\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if section is None:
        return ""
    blocks = (_ONLY.fullmatch(block) for block in re.split(r"\n\s*\n", section[1].strip()))
    kept = [block["text"] for block in blocks if block is not None and _fits(options, block["only"])]
    return "\n\n".join([f"# {game.title}", *kept])


_ONLY = re.compile(r"(?:<!-- only (?P<only>.*?) -->\n)?(?P<text>.*)", re.DOTALL)


def _fits(options: Mapping[str, Any] | None, only: str | None) -> bool:
    if options is None or only is None:
        return True
    wanted = (condition.partition("=") for condition in only.split(", "))
    return all(str(options[key]) in values.split("|") for key, _, values in wanted)
