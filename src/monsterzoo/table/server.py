"""The local server: one page, one socket, several games. Everything is behind a random token, for this machine only.

A browser sends JSON objects with `do` and gets JSON objects with `say`. What is wrong with a message is said in an
"error"; a bad message never disturbs a game.
"""

import asyncio
import json
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from monsterzoo.envs import names
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.match.players import kinds
from monsterzoo.envs.match.seating import default_spec, seat_around

from .played import PlayedGame, UnreadyError
from .watched import WatchedGame

STATIC = Path(__file__).parent / "static"
LONGEST_MESSAGE = 4096
"""Characters of a message from the browser; the socket itself refuses what is much longer."""
MOST_GAMES = 64
"""Games kept at once; the one that nobody has touched for the longest time makes room."""
SPECS = ("heuristic", "random", "search:200", "search:2000", "pretrained")
"""Policies that the page suggests."""
SAFETY = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


@dataclass
class Plan:
    """What a new game is to be: the choices of the command line, and then of the page."""

    game: str
    options: dict[str, Any] = field(default_factory=dict)
    opponents: list[str] | None = None
    """One spec for all other seats, or one each clockwise; None for the game's default."""
    seat: int = 0
    seed: int | None = None

    def start(self) -> PlayedGame:
        """The game; raises `ValueError` for options, policies or a seat that cannot be."""
        variant = find_game(self.game).variant(**self.options)
        seed = secrets.randbits(32) if self.seed is None else self.seed
        return PlayedGame(variant, self.seat, seat_around(variant, self.seat, self.opponents, seed), seed)


class Table:
    """A game with the browsers that look at it."""

    def __init__(self, game: PlayedGame | WatchedGame) -> None:
        self.game = game
        self.id = secrets.token_urlsafe(9)
        self.lock = asyncio.Lock()
        self.browsers: set[Browser] = set()

    async def play_on(self) -> None:
        """Let the policies decide, off the event loop, and show everybody at this table what there is to see."""
        assert isinstance(self.game, PlayedGame)
        steps = self.game.play_on()
        while (message := await asyncio.to_thread(next, steps, None)) is not None:
            for browser in list(self.browsers):
                await browser.say({**message, "game": self.id})


class Browser:
    """One open page and the game it shows."""

    def __init__(self, socket: WebSocket, room: "Room") -> None:
        self._socket, self._room = socket, room
        self._table: Table | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def say(self, message: dict[str, Any]) -> None:
        """Send a message, unless the page is gone."""
        with suppress(RuntimeError, WebSocketDisconnect):
            await self._socket.send_text(json.dumps(message))

    async def serve(self) -> None:
        """Answer messages until the page is closed."""
        await self.say({"say": "welcome", **self._room.welcome()})
        try:
            while True:
                task = asyncio.create_task(self._answer(await self._socket.receive_text()))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        except (WebSocketDisconnect, KeyError):  # KeyError: bytes instead of text
            pass
        finally:
            self._leave()

    async def _answer(self, text: str) -> None:
        try:
            await self._obey(read(text))
        except ValueError as problem:
            await self.say({"say": "error", "problem": str(problem)})
        except Exception as problem:  # a policy may fail in any way; the game is as it was before its decision
            await self.say({"say": "error", "problem": f"{type(problem).__name__}: {problem}"})

    async def _obey(self, message: dict[str, Any]) -> None:
        room, table = self._room, self._table
        if message["do"] == "new":
            await self._sit_down(room.add(await asyncio.to_thread(read_plan(message, room.plan).start)))
        elif message["do"] == "join" and message.get("game") is None:  # the game that the command line asked for
            await self._sit_down(room.first() or room.add(await asyncio.to_thread(room.plan.start)))
        elif message["do"] == "join":
            if message["game"] not in list(room.tables):
                raise ValueError("there is no such game on this server any more")
            await self._sit_down(room.tables[message["game"]])
        elif table is None:
            raise UnreadyError("join a game first")
        elif table.lock.locked() and not table.game.ready:
            raise UnreadyError("the others are still deciding")
        else:
            async with table.lock:
                await self._move(table, table.game, message)

    async def _move(self, table: Table, game: PlayedGame | WatchedGame, message: dict[str, Any]) -> None:
        what, watched = message["do"], isinstance(game, WatchedGame)
        if watched != (what == "show"):
            kinds = ("played", "watched") if watched else ("watched", "played")
            raise ValueError(f"{what!r} is for games that are {kinds[0]}, this one is {kinds[1]}")
        if isinstance(game, WatchedGame):
            shown = await asyncio.to_thread(game.show, message.get("place", 0), message.get("view", "all"))
            await self.say({**shown, "game": table.id})
        elif what == "act":
            game.act(message.get("decision"), message.get("action"))
            await table.play_on()
        elif what == "hint":
            await self.say({**await asyncio.to_thread(game.hint), "game": table.id})
        else:
            await self._sit_down(self._room.add(game.undo()))

    async def _sit_down(self, table: Table) -> None:
        self._leave()
        self._table = table
        table.browsers.add(self)
        self._room.touch(table)
        async with table.lock:
            if table.game.ready:
                await self.say({**await asyncio.to_thread(table.game.show), "game": table.id})
            else:
                await table.play_on()

    def _leave(self) -> None:
        if self._table is not None:
            self._table.browsers.discard(self)
            self._table = None


def read(text: str) -> dict[str, Any]:
    """A browser's message; raises `ValueError` saying what is wrong with it."""
    if len(text) > LONGEST_MESSAGE:
        raise ValueError(f"a message has at most {LONGEST_MESSAGE} characters, not {len(text)}")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise ValueError("a message is a JSON object")
    allowed = ("join", "new", "act", "undo", "hint", "show")
    if message.get("do") not in allowed:
        raise ValueError(f"do is one of {', '.join(allowed)}, not {message.get('do')!r:.40}")
    return message


def read_plan(message: dict[str, Any], usual: Plan) -> Plan:
    """The game that a message "new" asks for; what it leaves out is as on the command line."""
    if "game" not in message:
        return Plan(usual.game, usual.options, usual.opponents, usual.seat)
    kinds: dict[str, tuple[type, str]] = {
        "game": (str, "the name of a game"),
        "options": (dict, "an object"),
        "opponents": (list, "a list of policies"),
        "seat": (int, "a number"),
    }
    for key, (kind, words) in kinds.items():
        if key in message and (not isinstance(message[key], kind) or isinstance(message[key], bool)):
            raise ValueError(f"{key} is {words}, not {message[key]!r:.40}")
    for spec in message.get("opponents") or ():
        if spec not in (usual.opponents or ()) and imports_code(spec):
            raise ValueError(f"opponents: {spec!r:.40}: policies of your own are given when the server starts")
    return Plan(message["game"], message.get("options", {}), message.get("opponents"), message.get("seat", 0))


def imports_code(spec: Any) -> bool:
    """Whether a policy's spec, or one inside of it ("search:10,net=…"), names a module instead of a known kind."""
    parts = re.split("[,=]", spec) if isinstance(spec, str) else []
    return any(":" in part and part.partition(":")[0] not in kinds() for part in parts)


class Room:
    """All tables of one server."""

    def __init__(self, plan: Plan, watched: WatchedGame | None = None) -> None:
        self.plan = plan
        self.tables: dict[str, Table] = {}
        self._watched = watched

    def first(self) -> Table | None:
        """The game that the server was started to show, if it was."""
        if self._watched is None:
            return None
        found = (table for table in self.tables.values() if table.game is self._watched)
        return next(found, None) or self.add(self._watched)

    def add(self, game: PlayedGame | WatchedGame) -> Table:
        """A table for a game."""
        table = Table(game)
        idle = [old for old in self.tables.values() if not old.browsers and not old.lock.locked()]
        if len(self.tables) >= MOST_GAMES:
            if not idle:
                raise ValueError(f"there are {MOST_GAMES} games already, and somebody is at each of them")
            del self.tables[idle[0].id]
        self.tables[table.id] = table
        return table

    def touch(self, table: Table) -> None:
        """Somebody looks at a table: it is the last one to be forgotten."""
        self.tables[table.id] = self.tables.pop(table.id, table)

    def welcome(self) -> dict[str, Any]:
        """What can be played here."""
        games = [
            {"name": name, "title": find_game(name).title, "variants": list(find_game(name).variants)}
            for name in names()
        ]
        usual = default_spec(find_game(self.plan.game).variant(**self.plan.options))
        opponents = self.plan.opponents or [usual]
        plan = {"game": self.plan.game, "options": self.plan.options, "opponents": opponents}
        return {"games": games, "plan": plan, "policies": list(SPECS), "watching": self._watched is not None}


class Guard:
    """Lets nobody in but pages of this server: checks `Host`, `Origin` and the token; adds headers for safety."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem is None:
            await self._app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": problem[1]})
        else:
            await PlainTextResponse(problem[1], problem[0])(scope, receive, send)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        port = (scope.get("server") or ("", 0))[1]
        hosts = [f"127.0.0.1:{port}", f"localhost:{port}"]
        if headers.get("host") not in hosts:
            return 421, "this server is for this machine only"
        origin = headers.get("origin")
        if origin not in [f"http://{host}" for host in hosts] and (origin is not None or scope["type"] == "websocket"):
            return 403, "this page belongs to another server"
        given = scope["path"].split("/")[1]
        if not secrets.compare_digest(given.encode(), self._token.encode()):
            return 404, "the address is not complete: take the one that the command printed"
        return None


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(SAFETY)
        await send(message)

    return sending


def make_app(room: Room, token: str) -> ASGIApp:
    """The application: the page, its files and its socket, all below /token/."""
    files = {path.name: path for path in STATIC.iterdir() if path.is_file()}

    async def file(request: Any) -> Response:
        path = files.get(request.path_params["name"] or "index.html")
        return PlainTextResponse("there is no such file", 404) if path is None else FileResponse(path)

    async def socket(connection: WebSocket) -> None:
        await connection.accept()
        await Browser(connection, room).serve()

    routes = [WebSocketRoute("/{token}/socket", socket), Route("/{token}/{name:path}", file)]
    return Guard(Starlette(routes=routes), token)


def serve(room: Room, port: int, announce: Callable[[str], None]) -> None:
    """Serve on 127.0.0.1 until interrupted; `announce` gets the address once the server listens."""
    import socket as sockets

    import uvicorn

    token = secrets.token_urlsafe(16)
    listener = sockets.socket()
    listener.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise ValueError(f"port {port} cannot be used: {error}") from None
    listener.listen()
    config = uvicorn.Config(
        make_app(room, token),
        log_level="warning",
        ws="websockets-sansio",
        ws_max_size=4 * LONGEST_MESSAGE,
        timeout_graceful_shutdown=1,
    )
    announce(f"http://127.0.0.1:{listener.getsockname()[1]}/{token}/")
    uvicorn.Server(config).run(sockets=[listener])
