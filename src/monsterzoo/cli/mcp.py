"""`monsterzoo mcp`: a server of the Model Context Protocol on stdio, so that assistants play, look and analyse."""

from collections.abc import Callable, Sequence
from functools import wraps
from threading import Lock
from typing import Any

from monsterzoo.envs.api.answers import read_choice
from monsterzoo.envs.api.prompts import question, rules_in_short
from monsterzoo.envs.core.registry import find_game, names
from monsterzoo.envs.match.players import HARMLESS
from monsterzoo.table.played import Plan, PlayedGame

from .options import Parser

MOST_GAMES = 100
"""Games a server keeps; the oldest is dropped."""
REQUEST = "Call act with the number or the name of one action."


class Desk:
    """The games of one server. Every public method is a tool; what it raises as `ValueError` is answered in words."""

    def __init__(self) -> None:
        self._games: dict[str, PlayedGame] = {}
        self._count = 0

    def list_games(self) -> str:
        """The games, and the options of each with their defaults."""
        lines = []
        for name in names():
            options = find_game(name).options
            listed = ", ".join(f"{key}={option.default!r} ({option.allowed})" for key, option in options.items())
            lines.append(f"{name}: {listed}")
        return "\n".join(lines)

    def rules(self, game: str) -> str:
        """The rules of a game in short."""
        return rules_in_short(find_game(game)) or "The game's package has no rules in short."

    def new_game(
        self,
        game: str,
        options: dict[str, Any] | None = None,
        seat: int = 0,
        opponents: str = "heuristic",
        seed: int | None = None,
    ) -> str:
        """Begin a game against policies: random, heuristic, pretrained, or search:N with N simulations a decision."""
        if not HARMLESS.fullmatch(opponents):
            raise ValueError(
                f"opponents: {opponents!r:.40} is not allowed; random, heuristic, pretrained, search:N are"
            )
        played = Plan(game, options or {}, [opponents], seat, seed).start()
        self._count += 1
        self._games[key := f"game{self._count}"] = played
        if len(self._games) > MOST_GAMES:
            del self._games[next(iter(self._games))]
        return f"This is {key}.\n{self._go_on(played, 0)}"

    def see(self, game_id: str) -> str:
        """What you know of a game, and your legal actions."""
        return self._shown(self._find(game_id))

    def act(self, game_id: str, action: str) -> str:
        """Choose a legal action by its number or name; answers with what happened and your next decision."""
        game = self._find(game_id)
        if game.over:
            raise ValueError("the game is over")
        legal, told = game.legal(), len(game.events)
        chosen = read_choice(action, list(legal.values()), others=game.variant.action_names)
        game.act(len(game.decisions) - 1, list(legal)[chosen])
        return self._go_on(game, told)

    def analyse(self, game_id: str) -> str:
        """What a search thinks of your legal actions; it knows what you know."""
        return str(self._find(game_id).analyse())

    def undo(self, game_id: str) -> str:
        """Take your last action back."""
        game = self._find(game_id).undo()
        self._games[game_id] = game
        return self._go_on(game, len(game.events))

    # --- What tools share ---

    def _find(self, game_id: str) -> PlayedGame:
        if game_id not in self._games:
            raise ValueError(f"there is no game {game_id!r:.40}; games are {', '.join(self._games) or 'none yet'}")
        return self._games[game_id]

    def _go_on(self, game: PlayedGame, told: int) -> str:
        """Let the others decide; what has happened, and the next decision."""
        for _ in game.advance():
            pass
        return "\n".join([*(event.text for event in game.events[told:]), self._shown(game)])

    def _shown(self, game: PlayedGame) -> str:
        agent = game.variant.agents[game.seat]
        listed = [] if game.over else list(game.legal().values())
        end = f"The game is over. {game.result()}" if game.over else REQUEST
        return question(game.variant.game, game.env.text_observation(agent), listed, end)


def make_server() -> Any:
    """A server with the tools of a `Desk`; works with versions 1 and 2 of the package mcp."""
    try:
        from mcp.server.mcpserver import MCPServer as Server
        from mcp.server.mcpserver.exceptions import ToolError
    except ModuleNotFoundError:  # version 1
        from mcp.server.fastmcp import FastMCP as Server
        from mcp.server.fastmcp.exceptions import ToolError

    desk, lock, server = Desk(), Lock(), Server("monsterzoo")

    def tool(method: Callable[..., str]) -> Callable[..., str]:
        @wraps(method)
        def answer(*given: Any, **named: Any) -> str:
            try:
                with lock:  # version 2 calls tools in threads
                    return method(*given, **named)
            except (ValueError, TypeError) as error:
                raise ToolError(str(error)) from error

        return answer

    for method in (desk.list_games, desk.rules, desk.new_game, desk.see, desk.act, desk.analyse, desk.undo):
        server.tool()(tool(method))
    return server


def main(words: Sequence[str]) -> int:
    """Serve until the input ends."""
    about = "Serve the games to an assistant by the Model Context Protocol, on standard input and output."
    Parser("mcp", about, game=False).read(words)
    make_server().run("stdio")
    return 0
