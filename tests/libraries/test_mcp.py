"""`monsterzoo mcp` as assistants see it, through the official client; the same with either major version of mcp."""

import json
import re
import sys
from collections.abc import Awaitable, Callable

import pytest

pytest.importorskip("mcp")

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

Call = Callable[..., Awaitable[tuple[bool, str]]]


def with_server(work: Callable[[ClientSession, Call], Awaitable[None]]) -> None:
    """Do some work with a client of a server in a process of its own."""

    async def run() -> None:
        server = StdioServerParameters(command=sys.executable, args=["-m", "monsterzoo.cli", "mcp"])
        with anyio.fail_after(240):
            async with stdio_client(server) as pipes, ClientSession(*pipes) as session:
                await session.initialize()

                async def call(tool: str, **arguments: object) -> tuple[bool, str]:
                    result = await session.call_tool(tool, arguments)
                    failed = result.isError if hasattr(result, "isError") else result.is_error
                    return failed, "".join(part.text for part in result.content)

                await work(session, call)

    anyio.run(run)


def first_listed(text: str) -> str:
    return re.search(r"You may:\n1\. (.+)", text)[1]  # type: ignore[index]


def test_tools_play_whole_games_at_once_and_answer_mistakes_in_words() -> None:
    async def work(session: ClientSession, call: Call) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert set(tools) == {"list_games", "rules", "new_game", "see", "act", "analyse", "undo"}
        assert all(tool.description for tool in tools.values())
        failed, games = await call("list_games")
        assert not failed
        assert "pikit_v0: players=4" in games
        assert (await call("rules", game="pikit_v0"))[1].startswith("# Pikit")

        boards = {}
        for key, options, seat in (("game1", {"players": 2}, 1), ("game2", {"players": 3}, 2)):
            failed, text = await call(
                "new_game", game="pikit_v0", options=options, seat=seat, seed=3, opponents="random"
            )
            assert not failed
            assert text.startswith(f"This is {key}.")
            assert f"You are player_{seat}." in text
            boards[key] = text
        failed, again = await call("see", game_id="game1")
        assert boards["game1"].endswith(again)

        failed, text = await call("act", game_id="game1", action="fly away")
        assert failed
        assert "it names none of the actions" in text
        assert (await call("see", game_id="game1")) == (False, again), "nothing has changed"
        chosen = first_listed(again)
        failed, text = await call("act", game_id="game1", action=f"I choose **{chosen}**!")
        assert not failed
        assert text.startswith("you: ")
        failed, text = await call("undo", game_id="game1")
        assert not failed
        assert text == again
        failed, text = await call("undo", game_id="game1")
        assert failed
        assert "there is nothing to take back" in text
        failed, text = await call("analyse", game_id="game1")
        assert not failed
        assert "player_1 decides; search:2000 chooses" in text

        while boards:  # moves of both games in turn
            for key in list(boards):
                failed, text = await call("act", game_id=key, action=first_listed(boards[key]))
                assert not failed
                boards[key] = text
                if "The game is over." in text:
                    del boards[key]
        for tool in ("act", "analyse"):
            failed, text = await call(tool, game_id="game2", **({"action": "1"} if tool == "act" else {}))
            assert failed
            assert "the game is over" in text

    with_server(work)


def test_no_message_names_what_is_not_there_or_imports_a_module() -> None:
    async def work(session: ClientSession, call: Call) -> None:
        for arguments, problem in (
            ({"game": "chess_v0"}, "there is no game 'chess_v0'"),
            ({"game": "pikit_v0", "options": {"players": 9}}, "players=9 is not allowed"),
            ({"game": "pikit_v0", "seat": 7}, "there is no seat 7"),
            ({"game": "pikit_v0", "seed": -1}, "seed=-1 is not allowed"),
            *(
                ({"game": "pikit_v0", "opponents": spec}, f"opponents: {spec!r:.40} is not allowed")
                for spec in ("antigravity:x", "search:10,net=antigravity:x", "net:/etc/passwd", "lm:http://localhost/v1,model=x",
                             "search:5,net=lm:http://localhost/v1")
            ),
        ):  # fmt: skip
            failed, text = await call("new_game", **arguments)
            assert failed
            assert problem in text
        failed, text = await call("see", game_id="game9")
        assert failed
        assert "there is no game 'game9'; games are none yet" in text
        failed, text = await call("act", game_id=json.dumps({"a": 1}), action="1")
        assert failed

    with_server(work)


def test_rooms_for_games_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    from monsterzoo.cli import mcp

    monkeypatch.setattr(mcp, "MOST_GAMES", 2)
    desk = mcp.Desk()
    for _ in range(3):
        desk.new_game("pikit_v0", {"players": 2}, seed=1)
    with pytest.raises(ValueError, match="there is no game 'game1'; games are game2, game3"):
        desk.see("game1")
