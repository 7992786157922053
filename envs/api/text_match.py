"""`text_game`: functions `str -> str`, such as language models, and policies play a whole game."""

from collections.abc import Mapping
from typing import Any

from ..match.driver import is_over
from ..match.seating import make_players, one_each
from .prompts import TextResult
from .text import TextGame


def text_game(env: Any, players: Any, *, seed: int | None = None, rules: bool = False) -> TextResult:
    """Play a game to its end between functions `str -> str` and policies.

    Args:
        env: an AEC environment of ours, wrapped or not. A game in progress goes on; with a seed, and where there is
            none in progress, one is begun.
        players: one for each seat, in order or by agent's name, or one for all: a function that answers a question, a
            policy, or a policy's spec such as "heuristic".
        seed: of the game, and of the actions drawn in place of unusable answers.
        rules: whether questions begin with the game's rules in short, where its package has them.

    After three unusable answers a random legal action is taken. Raises `ValueError` for anything else as a player.
    """
    raw = env.unwrapped
    game = TextGame(raw, unusable="again:2,random", rules="always" if rules else "never")
    seated = _seated(raw, players)
    if seed is not None or not raw.agents or is_over(raw):
        env.reset(seed=seed)
    turn = game.begin({agent: one for agent, one in seated.items() if hasattr(one, "act")}, seed)
    while not turn.done:
        turn = game.say(seated[turn.agent](turn.text))
    return game.result


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
