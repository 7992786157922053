"""The local server: one page, one socket, several games. Everything is behind a random token, for this machine only.

A browser sends JSON objects with `do` and gets JSON objects with `say`. What is wrong with a message is said in an
"error"; a bad message never disturbs a game.
"""

import asyncio
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from monsterzoo.envs import names
from monsterzoo.envs.api.prompts import rules_in_short
from monsterzoo.envs.compiling.threads import ThreadPool
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.players import HARMLESS
from monsterzoo.envs.match.seating import default_spec
from monsterzoo.envs.render.svg import part_svg
from monsterzoo.training.runs.files import write_json

from .played import Plan, PlayedGame, variant_name
from .watched import WatchedGame, watch_record

STATIC = Path(__file__).parent / "static"
THREADS = ThreadPool(17)
"""Sixteen threads in which policies think; the end of the server does not wait for them."""
LONGEST_MESSAGE = 4096
"""Characters of a message from the browser; the socket itself refuses what is much longer."""
MOST_GAMES = 64
"""Games kept at once; the one that nobody has touched for the longest time makes room."""
MOST_PAGES = 64
"""Open pages of this server."""
MOST_CONNECTIONS = 60
"""Connections that are no open pages: the oldest makes room, so that silent ones, which need no token, block nobody."""
MOST_AT_ONCE = 8
"""Messages of one page that are being answered."""
SLOWEST = 5.0
"""Seconds for a page to take a message; then the others at its table go on without it."""
SPECS = ("heuristic", "random", "search:200", "search:2000", "pretrained")
"""Policies that the page suggests."""
SAFETY = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Table:
    """A game with the browsers that look at it."""

    def __init__(self, game: PlayedGame | WatchedGame, output: Path | None = None) -> None:
        self.game, self.output = game, output
        self.id = secrets.token_urlsafe(9)
        self.lock = asyncio.Lock()
        self.browsers: set[Browser] = set()

    async def play_on(self) -> None:
        """Let the policies decide, off the event loop, and show everybody at this table what there is to see."""
        assert isinstance(self.game, PlayedGame)
        steps = self.game.play_on()
        while (message := await _in_thread(next, steps, None)) is not None:
            await asyncio.gather(*(browser.say({**message, "game": self.id}) for browser in self.browsers))
        if self.game.over and self.output is not None:
            await _in_thread(write_json, self.output, self.game.record())


class Browser:
    """One open page and the game it shows."""

    def __init__(self, socket: WebSocket, room: "Room") -> None:
        self._socket, self._room = socket, room
        self._table: Table | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def say(self, message: dict[str, Any]) -> None:
        """Send a message, unless the page is gone; one that does not take it in time leaves its table."""
        try:
            async with asyncio.timeout(SLOWEST):
                await self._socket.send_text(json.dumps(message))
        except TimeoutError:
            self._leave()
        except (RuntimeError, WebSocketDisconnect):
            pass

    async def serve(self) -> None:
        """Answer messages until the page is closed."""
        await self.say({"say": "welcome", **self._room.welcome()})
        try:
            while (message := await self._socket.receive())["type"] != "websocket.disconnect":
                if (text := message.get("text")) is None:
                    await self._socket.close(1003, "messages are text, not bytes")
                    return
                if len(self._tasks) >= MOST_AT_ONCE:
                    await self.say({"say": "error", "problem": f"more than {MOST_AT_ONCE} messages at once"})
                    continue
                task = asyncio.create_task(self._answer(text))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
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
        table = self._table
        if message["do"] in ("new", "join"):
            await self._sit_down(await self._room.find(message))
        elif table is None:
            raise ValueError("join a game first")
        elif table.lock.locked() and not table.game.ready:
            raise ValueError("the others are still deciding")
        else:
            async with table.lock:
                await self._answer_at(table, message)

    async def _answer_at(self, table: Table, message: dict[str, Any]) -> None:
        said: dict[str, Any] | None = None
        match message["do"], table.game:
            case "rules", game:
                said = rules_of(game.variant)
            case "record", game:
                said = {"say": "record", "record": game.record()}
            case "hint", PlayedGame() as game:
                said = await _in_thread(game.hint)
            case "show", WatchedGame() as game:
                said = await _in_thread(game.show, message.get("place", 0), message.get("view", "all"))
            case "opinion", WatchedGame() as game:
                said = await _in_thread(game.opinion, message.get("move"), message.get("view", "all"))
            case "act", PlayedGame() as game:
                game.act(message.get("decision"), message.get("action"))
                await table.play_on()
            case "review", PlayedGame() as game:
                await self._sit_down(self._room.add(watch_record(game.record(), game.names)))
            case "undo", PlayedGame() as game:  # all pages of this game go on with the one that undo makes
                again = self._room.add(game.undo())
                for browser in list(table.browsers):
                    browser.move_to(again)
                async with again.lock:
                    await again.play_on()
            case what, game:
                kinds = ("watched", "played") if isinstance(game, PlayedGame) else ("played", "watched")
                raise ValueError(f"{what!r} is for games that are {kinds[0]}, this one is {kinds[1]}")
        if said is not None:
            await self.say({**said, "game": table.id})

    def move_to(self, table: Table) -> None:
        """Look at another game from now on."""
        self._leave()
        self._table = table
        table.browsers.add(self)

    async def _sit_down(self, table: Table) -> None:
        self.move_to(table)
        self._room.touch(table)
        async with table.lock:
            if table.game.ready:
                await self.say({**await _in_thread(table.game.show), "game": table.id})
            else:
                await table.play_on()

    def _leave(self) -> None:
        if self._table is not None:
            self._table.browsers.discard(self)
            self._table = None


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, off the event loop."""
    return await asyncio.shield(asyncio.wrap_future(THREADS.submit(function, arguments)))


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
    allowed = ("join", "new", "act", "undo", "hint", "show", "opinion", "rules", "record", "review")
    if message.get("do") not in allowed:
        raise ValueError(f"do is one of {', '.join(allowed)}, not {message.get('do')!r:.40}")
    return message


def read_plan(message: dict[str, Any], usual: Plan) -> Plan:
    """The game that a message "new" asks for; raises `ValueError` for policies that may not be chosen on a page."""
    given = {key: message[key] for key in ("options", "opponents", "seat") if key in message}
    plan = Plan(message.get("game", usual.game), **given)
    for spec in plan.opponents or ():
        if spec not in (usual.opponents or ()) and not HARMLESS.fullmatch(spec):
            allowed = "random, heuristic, pretrained and search; policies of your own are given when the server starts"
            raise ValueError(f"opponents: {spec!r:.40} cannot be chosen here, only {allowed}")
    return plan


class Room:
    """All tables of one server."""

    def __init__(self, plan: Plan, watched: WatchedGame | None = None, output: Path | None = None) -> None:
        self.plan, self.output = plan, output
        self.tables: dict[str, Table] = {}
        self.pages = 0
        self.watched: Table | None = None
        self.watched = None if watched is None else self.add(watched)

    async def find(self, message: dict[str, Any]) -> Table:
        """The table that a message "new" or "join" asks for; raises `ValueError` if there is none."""
        name = message.get("game")
        if message["do"] == "new":
            return self.add(await _in_thread(read_plan(message, self.plan).start))
        if name is None:  # the game that the command line asked for
            return self.watched or self.add(await _in_thread(self.plan.start))
        if name not in list(self.tables):
            raise ValueError("there is no such game on this server any more")
        return self.tables[name]

    def add(self, game: PlayedGame | WatchedGame) -> Table:
        """A table for a game."""
        table = Table(game, self.output)
        kept = [old for old in self.tables.values() if old.browsers or old.lock.locked() or old is self.watched]
        if len(kept) >= MOST_GAMES:
            raise ValueError(f"there are {MOST_GAMES} games already, and somebody is at each of them")
        if len(self.tables) >= MOST_GAMES:
            del self.tables[next(old.id for old in self.tables.values() if old not in kept)]
        self.tables[table.id] = table
        return table

    def touch(self, table: Table) -> None:
        """Somebody looks at a table: it is the last one to be forgotten."""
        self.tables[table.id] = self.tables.pop(table.id, table)

    def welcome(self) -> dict[str, Any]:
        """What can be played here."""
        variants = [
            {"game": game.name, "options": options, "name": f"{game.title}, {variant_name(game, options)}"}
            for game in map(find_game, names())
            for options in game.variants
        ]
        usual = default_spec(find_game(self.plan.game).variant(**self.plan.options))
        opponents = self.plan.opponents or [usual]
        return {"variants": variants, "opponents": opponents, "policies": SPECS}


def rules_of(variant: Variant) -> dict[str, Any]:
    """The rules of a variant in short, as Markdown, and its cards: a drawing with its size, a name, what it does."""
    cards = variant.game.looks.cards(dict(variant.options)) if variant.game.looks.cards is not None else []
    drawn = [{"svg": part_svg(c.shapes), "box": c.box, "label": c.label, "help": c.help} for c in cards]
    text = rules_in_short(variant.game, variant.options) or "This game's package has no rules in short."
    return {"say": "rules", "text": text, "variant": variant_name(variant.game, variant.options), "cards": drawn}


def problem_of(scope: Scope, token: str) -> tuple[int, str] | None:
    """Why a request does not come from a page of this server, with an HTTP status: wrong `Host`, `Origin` or token."""
    headers = Headers(scope=scope)
    port = (scope.get("server") or ("", 0))[1]
    hosts = [f"127.0.0.1:{port}", f"localhost:{port}"]
    if headers.get("host") not in hosts:
        return 421, "this server is for this machine only"
    origin = headers.get("origin")
    if origin not in [f"http://{host}" for host in hosts] and (origin is not None or scope["type"] == "websocket"):
        return 403, "this page belongs to another server"
    given = scope["path"].removeprefix("/").partition("/")[0]
    if not secrets.compare_digest(given.encode(errors="replace"), token.encode()):
        return 404, "the address is not complete: take the one that the command printed"
    return None


def make_app(room: Room, token: str) -> ASGIApp:
    """The application: the page, its files and its socket, all below /token/, and only for pages of this server."""
    files = {path.name: path for path in STATIC.iterdir() if path.is_file()}

    async def file(request: Any) -> Response:
        path = files.get(request.path_params["name"] or "index.html")
        return PlainTextResponse("there is no such file", 404) if path is None else FileResponse(path)

    async def socket(connection: WebSocket) -> None:
        with suppress(RuntimeError, WebSocketDisconnect):  # gone before it was accepted, or while it is told something
            await connection.accept()
            if room.pages >= MOST_PAGES:
                await connection.close(1013, f"{MOST_PAGES} pages of this server are open; close one")
                return
            room.pages += 1
            try:
                await Browser(connection, room).serve()
            finally:
                room.pages -= 1

    app = Starlette(routes=[WebSocketRoute("/{token}/socket", socket), Route("/{token}/{name:path}", file)])

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SAFETY)
            await send(message)

        problem = None if scope["type"] == "lifespan" else problem_of(scope, token)
        if problem is None:
            await app(scope, receive, send_safely)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": problem[1]})
        else:
            await PlainTextResponse(problem[1], problem[0])(scope, receive, send_safely)

    return guarded


def serve(room: Room, port: int, announce: Callable[[str], None]) -> None:
    """Serve on 127.0.0.1 until interrupted; `announce` gets the address once the server listens."""
    from socket import create_server

    import uvicorn

    token = secrets.token_urlsafe(16)
    try:
        listener = create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise ValueError(f"port {port} cannot be used: {error}") from None
    config = uvicorn.Config(
        make_app(room, token),
        log_level="warning",
        http=_connections(),
        ws="websockets-sansio",
        ws_max_size=4 * LONGEST_MESSAGE,
        timeout_graceful_shutdown=1,
        backlog=16,  # as many are accepted before the oldest make room: there may be no more than 256 open files
    )
    announce(f"http://127.0.0.1:{listener.getsockname()[1]}/{token}/")
    uvicorn.Server(config).run(sockets=[listener])


def _connections() -> Any:
    """A class of HTTP connections, of which the server keeps `MOST_CONNECTIONS`."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Connection(H11Protocol):
        opened: dict["Connection", None] = {}  # in the order in which they were made

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.opened[self] = None
            if len(self.opened) > MOST_CONNECTIONS:
                oldest = next(iter(self.opened))
                del self.opened[oldest]
                oldest.transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            self.opened.pop(self, None)
            super().connection_lost(exc)

        def handle_websocket_upgrade(self, event: Any) -> None:
            self.opened.pop(self, None)
            super().handle_websocket_upgrade(event)

    return Connection
