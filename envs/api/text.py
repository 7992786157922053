"""Games in text: any function `str -> str`, such as a language model, plays a seat.

A prompt is what the seat knows (`text_observation`) and its legal actions, numbered; nothing else goes into it, so
nothing can leak. Answers are parsed leniently: a number of the list or an action's name, in any case, with markdown or
prose around it.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from random import Random
from typing import Any

from ..core.game import Game
from ..match.driver import is_over, moves
from ..match.players import act_in
from ..match.seating import make_players, one_each

ATTEMPTS = 3
"""Unusable answers to one question after which a random legal action is taken."""
Speaker = Callable[[str], str]

_EMPHASIS = re.compile(r"(\*\*|__|``|[*_`\"“”])(\S(?:.*?\S)?)(\1|”)")
_LABEL = re.compile(
    r"^(?:so,? |thus,? |therefore,? )?(?:(?:my|the|final|chosen|best) )*(?:answer|action|choice|move|decision|number|"
    r"option|i (?:will )?(?:choose|play|pick|take|lay|go with|select))\b(?: is)?\s*[:=-]?\s*"
)
_POINTED_AT = re.compile(
    r"(?:(?:answer|action|choice|move|number|option|choose|play|pick|select|go with)(?: is)?[: ]*#?|#|\()"
    r"(\d+)(?!\.?\d|\w)"
    r"|(?:\*\*|__|`)(\d+)(?:\*\*|__|`)",
    re.IGNORECASE,
)
"""A number in the middle of a text that is meant as an answer: numbers in prose can be anything."""


@dataclass(frozen=True)
class TextResult:
    """Result of a text game; everything by agent's name."""

    returns: dict[str, float]
    """Rewards of the whole game (of the part that was played here)."""
    winners: list[str]
    decisions: dict[str, int]
    """Questions each agent was asked, or decisions its policy made."""
    unusable: dict[str, int]
    """Answers that named no legal action."""
    random_actions: dict[str, int]
    """Decisions that were made at random, after too many of those."""
    truncated: bool
    record: dict[str, Any]
    """The game as `monsterzoo.envs.replay` and `monsterzoo replay` take it."""


def text_game(
    env: Any,
    players: Mapping[str, Any] | Sequence[Any] | Speaker | str,
    *,
    seed: int | None = None,
    rules: bool = False,
) -> TextResult:
    """Play a game to its end between functions `str -> str` and policies.

    Args:
        env: an AEC environment of ours, wrapped or not. A game in progress goes on; with a seed, and where there is
            none in progress, one is begun.
        players: one for each seat, in order or by agent's name, or one for all: a function that answers a prompt, a
            policy, or a policy's spec such as "heuristic".
        seed: of the game, and of the actions drawn in place of unusable answers.
        rules: whether prompts begin with the game's rules in short, where its package has them.

    A function is asked again, with what was wrong with its answer, until an answer names a legal action. After three
    unusable answers a random legal action is taken. Raises `ValueError` for anything else as a player.
    """
    raw = env.unwrapped
    seats = _seated(raw, players)
    if seed is not None or not raw.agents or is_over(raw):
        env.reset(seed=seed)
    random = Random(seed)
    agents = raw.possible_agents
    counts = {name: dict.fromkeys(agents, 0) for name in ("decisions", "unusable", "random_actions")}
    returns = dict.fromkeys(agents, 0.0)

    def choose(agent: str) -> int:
        counts["decisions"][agent] += 1
        if hasattr(seats[agent], "act"):
            return act_in(seats[agent], raw)
        action, failed = _ask(raw, agent, seats[agent], rules)
        counts["unusable"][agent] += failed
        if action is None:
            action = random.choice(legal_actions(raw, agent))
            counts["random_actions"][agent] += 1
        return action

    for _ in moves(raw, choose):
        for agent in agents:
            returns[agent] += raw.rewards[agent]
    winners = [agents[seat] for seat in raw.snapshot()["winners"]]
    truncated = any(raw.truncations.values())
    return TextResult(returns, winners, truncated=truncated, record=raw.record(), **counts)


def _seated(raw: Any, players: Any) -> dict[str, Any]:
    """Who plays for each agent; policies are made from their specs."""
    agents = raw.possible_agents
    if isinstance(players, Mapping):
        if set(players) != set(agents):
            raise ValueError(f"players are wanted for {', '.join(agents)}, not for {', '.join(map(str, players))}")
        players = [players[agent] for agent in agents]
    seated = {}
    for agent, one in zip(agents, one_each(players, len(agents), "players")):
        is_policy = isinstance(one, str) or hasattr(one, "act")
        if isinstance(one, type) or not (is_policy or callable(one)):
            raise ValueError(f"{agent}: {one!r:.80} is neither a function str -> str, nor a policy or its name")
        seated[agent] = make_players(raw.variant, [one])[0] if is_policy else one
    return seated


def _ask(raw: Any, agent: str, player: Speaker, rules: bool) -> tuple[int | None, int]:
    """The action a function chooses, None if it never did, and how many answers were unusable."""
    legal = legal_actions(raw, agent)
    names = [raw.action_name(action) for action in legal]
    question = text = prompt(raw, agent, rules=rules)
    for failed in range(ATTEMPTS):
        try:
            return legal[read_choice(player(text), names)], failed
        except ValueError as error:
            text = f"{question}\nYour last answer could not be used: {error}. {_REQUEST}\n"
    return None, ATTEMPTS


def legal_actions(raw: Any, agent: str) -> list[int]:
    """The numbers of an agent's legal actions."""
    return [int(action) for action in raw.infos[agent]["action_mask"].nonzero()[0]]


_REQUEST = "Answer with the number or the name of one action."


def prompt(env: Any, agent: str | None = None, *, rules: bool = False) -> str:
    """What an agent that must decide now is asked: what it knows, and what it may do."""
    raw = env.unwrapped
    agent = raw.agent_selection if agent is None else agent
    names = (raw.action_name(action) for action in legal_actions(raw, agent))
    listed = "\n".join(f"{number}. {name}" for number, name in enumerate(names, 1))
    game = raw.variant.game
    head = f"{rules_in_short(game)}\n\n" if rules and rules_in_short(game) else ""
    return f"{head}You play {game.title}.\n{raw.text_observation(agent)}\n\nYou may:\n{listed}\n\n{_REQUEST}\n"


def rules_in_short(game: Game) -> str:
    """The section "The game in short" of the README.md in the game's package; empty where there is none."""
    package = getattr(sys.modules.get(game.rules.configure.__module__), "__package__", None)
    if not package:
        return ""
    page = files(package) / "README.md"
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    section = re.search(r"^## The game in short\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return f"# {game.title}\n\n{section[1].strip()}" if section else ""


# --- Reading answers ---


def read_choice(answer: Any, names: Sequence[str]) -> int:
    """Which of some actions an answer means: an index into `names`; raises `ValueError` saying what is wrong with it.

    Looked for, in this order: a line (the last or the first one) that is a name, a number from 1 to the number of
    names, both, or a part of one name alone; a line, then the whole answer, in which just one of the names occurs; an
    answer in which one number is pointed at ("option 3", "**3**").
    """
    if not isinstance(answer, str):
        raise ValueError(f"an answer is a text, not {type(answer).__name__}")
    known = [_plain(name) for name in names]
    lines = [line for line in map(_plain, answer.splitlines()) if line]
    if not lines:
        raise ValueError("it is empty")
    whole = " ".join(lines)
    for line in (lines[-1], lines[0]):
        for text in (line, _bare(line), _bare(_LABEL.sub("", _bare(line)))):
            choice = _said(text, known)
            if choice is not None:
                return choice
    for text in (lines[-1], lines[0], whole):
        named = _named(text, known)
        if len(named) == 1:
            return named.pop()
    if _named(whole, known):
        raise ValueError("it names several actions")
    numbers = {int(one or other) for one, other in _POINTED_AT.findall(answer)}
    numbers |= {int(line) for line in (_bare(lines[-1]), _bare(lines[0])) if line.isdecimal()}
    if len(numbers) > 1:
        raise ValueError("it names several actions")
    for number in numbers:
        if 1 <= number <= len(names):
            return number - 1
        raise ValueError(f"there is no action {number}, the numbers are 1 to {len(names)}")
    raise ValueError("it names none of the actions")


def _plain(text: str) -> str:
    """Small letters, single spaces, no markdown around words."""
    text = text.casefold().replace("’", "'").strip()
    text = re.sub(r"^(?:#+ |> ?|[-*] )+", "", text)
    for _ in range(3):  # bold and italic and code, one inside of the other
        text = _EMPHASIS.sub(r"\2", text)
    return " ".join(text.split())


def _bare(text: str) -> str:
    return text.strip(" .,;:!?'\"()[]{}")


def _said(text: str, names: list[str]) -> int | None:
    """What a text that is nothing but a choice means."""
    if text in names:
        return names.index(text)
    number = re.fullmatch(r"[(#]*(\d+)\s*(?:[.):]|[.):–-]+ *(?P<name>.+))?", text)
    if number is not None:
        if number["name"] is not None:
            return names.index(number["name"]) if number["name"] in names else None
        return int(number[1]) - 1 if 1 <= int(number[1]) <= len(names) else None
    part = re.compile(rf"(?<!\w){re.escape(text)}") if text else None
    having = [choice for choice, name in enumerate(names) if part is not None and part.search(name)]
    return having[0] if len(having) == 1 else None


def _named(text: str, names: list[str]) -> set[int]:
    """The names that occur in a text, without those that are only part of a longer one."""
    found: set[int] = set()
    for choice in sorted(range(len(names)), key=lambda one: -len(names[one])):
        pattern = rf"(?<![\w+]){re.escape(names[choice])}(?![\w*+])"
        if re.search(pattern, text):
            found.add(choice)
            text = re.sub(pattern, "\n", text)
    return found
