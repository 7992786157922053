"""The table in the browser: messages on the socket, who is let in, and what never leaves the server."""

import asyncio
import json
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from monsterzoo.cli import play as play_cli
from monsterzoo.cli import watch as watch_cli
from monsterzoo.envs import replay
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.registry import find_game
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.pikit.text import cards_of
from monsterzoo.policies import from_function
from needs import needs

needs("starlette")
needs("httpx2")
uvicorn, websockets = needs("uvicorn"), needs("websockets")

from monsterzoo.envs.match.driver import Move
from monsterzoo.envs.match.players import HARMLESS, act_in, make_player
from monsterzoo.envs.match.seating import seat_around
from monsterzoo.envs.render.scene import Event
from monsterzoo.table import played, server
from monsterzoo.table.played import HINT, LITTLE, PlayedGame, _why, describe, variant_name
from monsterzoo.table.server import (
    LONGEST_MESSAGE,
    MOST_GAMES,
    Browser,
    Plan,
    Room,
    Table,
    make_app,
    read,
    read_plan,
    rules_of,
    serve,
)
from monsterzoo.table.watched import JUDGE, LONGEST, _opinion, watch_policies, watch_record
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

TOKEN = "a-token"
BASE = "http://127.0.0.1:8000"
SOCKET = f"ws://127.0.0.1:8000/{TOKEN}/socket"
HERE = {"origin": BASE}
PLAN = Plan("pikit_v0", {"players": 2}, ["random"], seed=1)


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(make_app(Room(PLAN), TOKEN), base_url=BASE) as started:
        yield started


class Line:
    """A socket to the server, as the page uses it."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.welcome = json.loads(socket.receive_text())

    def send(self, **message: Any) -> None:
        self.socket.send_text(json.dumps(message))

    def hear(self, what: str) -> dict[str, Any]:
        """The next message of a kind."""
        while True:
            message: dict[str, Any] = json.loads(self.socket.receive_text())
            if message["say"] == what:
                return message
            assert message["say"] != "error", message["problem"]

    def turn(self) -> dict[str, Any]:
        """The table when it is one's own turn, or at the end."""
        while True:
            message = self.hear("table")
            if message["decision"] is not None or message["over"]:
                return message


@pytest.fixture
def dial(client: TestClient) -> Iterator[Callable[[], Line]]:
    opened = []

    def start() -> Line:
        session = client.websocket_connect(SOCKET, headers=HERE)
        opened.append(session)
        return Line(session.__enter__())

    yield start
    for session in opened:
        session.__exit__(None, None, None)


def choices(message: dict[str, Any]) -> list[int]:
    return [action for part in message["scene"]["parts"] for action, _ in part.get("actions", [])]


# --- Who is let in ---


def test_the_page_and_its_files_are_served_behind_the_token(client: TestClient) -> None:
    page = client.get(f"/{TOKEN}/")
    assert page.status_code == 200
    assert "<title>MonsterZoo</title>" in page.text
    files = {
        "table.js": "javascript",
        "drawing.js": "javascript",
        "text.js": "javascript",
        "table.css": "css",
        "icon.svg": "svg",
    }
    for name, kind in files.items():
        answer = client.get(f"/{TOKEN}/{name}")
        assert answer.status_code == 200
        assert kind in answer.headers["content-type"]
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    for answer in (page, client.get("/wrong/"), client.get(f"/{TOKEN}/nothing.js")):
        assert answer.headers["referrer-policy"] == "no-referrer", "the token is in the address"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "http:" not in page.text.replace("http://www.w3.org", "")
    assert "https:" not in page.text


@pytest.mark.parametrize("path", ["/", "/a-toke/", "/other/socket", f"/{TOKEN}/../server.py", f"/{TOKEN}/nothing.js"])
def test_other_addresses_lead_nowhere(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:9", "evil.example:8000"])
def test_other_hosts_are_refused(client: TestClient, host: str) -> None:
    assert client.get(f"/{TOKEN}/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers", [{}, {"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:9"}]
)
def test_pages_of_other_origins_get_no_socket(client: TestClient, headers: dict[str, str]) -> None:
    if headers:
        assert client.get(f"/{TOKEN}/", headers=headers).status_code == 403
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(SOCKET, headers=headers):
        pass


def test_a_socket_needs_the_token(client: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("ws://127.0.0.1:8000/wrong/socket", headers=HERE):
        pass


def test_bytes_are_refused_with_their_status(dial: Callable[[], Line]) -> None:
    line = dial()
    line.socket.send_bytes(b'{"do": "join"}')
    with pytest.raises(WebSocketDisconnect) as closed:
        line.socket.receive_text()
    assert (closed.value.code, closed.value.reason) == (1003, "messages are text, not bytes")
    again = dial()
    again.send(do="join", game=None)
    assert again.turn()["decision"] == 0, "others are served"


def test_only_so_many_pages_are_open(dial: Callable[[], Line], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monsterzoo.table.server.MOST_PAGES", 2)
    first, _ = dial(), dial()
    with pytest.raises(WebSocketDisconnect) as closed:
        dial()
    assert (closed.value.code, closed.value.reason) == (1013, "2 pages of this server are open; close one")
    first.socket.close()
    for _ in range(100):  # until the server has noticed
        with suppress(WebSocketDisconnect):
            third = dial()
            break
    third.send(do="join", game=None)
    assert third.turn()["decision"] == 0


def test_a_page_that_floods_the_server_is_told(dial: Callable[[], Line], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monsterzoo.table.server.MOST_AT_ONCE", 1)
    release = threading.Event()
    start = Plan.start
    monkeypatch.setattr(Plan, "start", lambda plan: [release.wait(20), start(plan)][1])
    line = dial()
    line.send(do="join", game=None)
    line.send(do="hint")
    assert json.loads(line.socket.receive_text())["problem"] == "more than 1 messages at once"
    release.set()
    assert line.turn()["decision"] == 0


def test_a_page_that_takes_no_message_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monsterzoo.table.server.SLOWEST", 0.05)
    table, said = Table(PLAN.start()), []

    class Stuck:
        async def send_text(self, text: str) -> None:
            await asyncio.Event().wait()

    class Quick:
        async def send_text(self, text: str) -> None:
            said.append(json.loads(text))

    async def play() -> None:
        for page in (Stuck(), Quick()):
            Browser(page, Room(PLAN)).move_to(table)
        await asyncio.wait_for(table.play_on(), 20)

    asyncio.run(play())
    assert said[-1]["decision"] == 0
    assert len(table.browsers) == 1, "the other page has left the table"


def test_the_real_server_answers_odd_requests_without_a_traceback(tmp_path: Path) -> None:
    """Requests that no client library sends, byte by byte."""
    needs("uvicorn")
    command = [sys.executable, "-m", "monsterzoo.cli", "play", "pikit_v0", "--opponents", "random", "--no-browser"]
    with (tmp_path / "errors").open("w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert process.stdout is not None
    address = urlsplit(process.stdout.readline().split()[-1])
    assert address.port is not None
    upgrade = (
        f"Host: {address.netloc}\r\nOrigin: http://{address.netloc}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )

    def ask(request: str, listen: bool = True) -> str:
        with socket.create_connection((address.hostname, address.port), timeout=20) as line:
            line.sendall(request.encode())
            return line.recv(4096).decode(errors="replace") if listen else ""

    try:
        host = f"Host: {address.netloc}\r\nConnection: close\r\n\r\n"
        assert " 404 " in ask(f"GET * HTTP/1.1\r\n{host}")
        assert " 404 " in ask(f"OPTIONS nothing HTTP/1.1\r\n{host}")
        assert " 404 " in ask(f"GET /%ff%00/ HTTP/1.1\r\n{host}")
        assert " 403 " in ask(f"GET /wrong/socket HTTP/1.1\r\n{upgrade}")
        assert " 403 " in ask(f"GET {address.path}other HTTP/1.1\r\n{upgrade}")
        for _ in range(20):  # gone before, while or after it is accepted
            ask(f"GET {address.path}socket HTTP/1.1\r\n{upgrade}", listen=False)
        assert " 101 " in ask(f"GET {address.path}socket HTTP/1.1\r\n{upgrade}"), "it still serves"
    finally:
        process.terminate()
        process.wait(20)
    said = (tmp_path / "errors").read_text()
    assert "Traceback" not in said, said


# --- Playing ---


def test_a_whole_game_is_played_over_the_socket(dial: Callable[[], Line]) -> None:
    line = dial()
    line.send(do="join", game=None)
    table, random = line.turn(), np.random.default_rng(2)
    decisions = 0
    while not table["over"]:
        assert table["decision"] == decisions
        line.send(do="act", decision=decisions, action=int(random.choice(choices(table))))
        table = line.turn()
        decisions += 1
    assert decisions > 5
    assert choices(table) == []
    assert "The game is over" in table["scene"]["prompt"]
    assert any("took" in text or "take" in text for text, _ in table["events"])
    assert table["result"] in ("You win!", "You lose: player_1 won.", "You win, with player_1.")
    line.send(do="record")
    record = line.hear("record")["record"]
    assert replay(record).snapshot()["over"]
    line.send(do="review")
    review = line.hear("watch")
    assert (review["moves"], review["players"]) == (len(record["actions"]), ["you", "random"])
    assert watch_record(record).show()["players"] == ["you", "random"], "names are in the record"
    assert [row[0] for row in table["scene"]["scores"]] == ["player", "you", "player_1"]
    for _, kaiju, mechas, ones, wounds, points in table["scene"]["scores"][1:]:
        assert int(kaiju) + int(mechas) + int(ones) + int(wounds) == int(points), "the score is broken down"


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("not JSON", "a message is a JSON object"),
        ("[1, 2]", "a message is a JSON object"),
        ('{"do": "dance"}', "do is one of join, new, act, undo, hint, show, opinion, rules, record, review, not"),
        ("[" * 3000, "a message is a JSON object"),
        ('{"do": "act", "decision": 0}', "action=None is not allowed; allowed: an integer from 0"),
        ('{"do": "act", "decision": 0, "action": true}', "action=True is not allowed"),
        ('{"do": "act", "decision": 0, "action": 1e99}', "action=1e+99 is not allowed"),
        ('{"do": "act", "decision": 0, "action": -1}', "action=-1 is not allowed"),
        ('{"do": "act", "decision": 0, "action": 90}', "'no-op' (90) is illegal"),
        ('{"do": "act", "decision": 7, "action": 80}', "this is decision 0, not 7"),
        ('{"do": "undo"}', "there is nothing to take back"),
        ('{"do": "show", "place": 1}', "'show' is for games that are watched"),
        ('{"do": "opinion", "move": 1}', "'opinion' is for games that are watched"),
        ('{"do": "join", "game": "none"}', "there is no such game"),
        ('{"do": "join", "game": ["x"]}', "there is no such game"),
        ('{"do": "new", "game": "chess_v0"}', "there is no game 'chess_v0'"),
        ('{"do": "new", "game": "pikit_v0", "options": {"players": 9}}', "players=9 is not allowed"),
        ('{"do": "new", "game": "pikit_v0", "opponents": "random"}', "opponents='random' is not allowed"),
        ('{"do": "new", "game": "pikit_v0", "opponents": ["nobody"]}', "'nobody' cannot be chosen here"),
        ('{"do": "new", "game": "pikit_v0", "opponents": []}', "one for each of the 3, got 0"),
        ('{"do": "new", "game": "pikit_v0", "seat": 4}', "there is no seat 4"),
        ('{"do": "new", "game": "pikit_v0", "seat": true}', "seat=True is not allowed; allowed: an integer from 0"),
        ('{"do": "record"}', "the record can be saved when the game is over"),
        ('{"do": "review"}', "the record can be saved when the game is over"),
        (json.dumps({"do": "x" * LONGEST_MESSAGE}), f"a message has at most {LONGEST_MESSAGE} characters"),
    ],
)  # fmt: skip
def test_bad_messages_are_answered_and_disturb_nothing(dial: Callable[[], Line], message: str, problem: str) -> None:
    line = dial()
    line.send(do="join", game=None)
    before = line.turn()
    line.socket.send_text(message)
    answer = json.loads(line.socket.receive_text())
    assert answer["say"] == "error"
    assert problem in answer["problem"]
    line.send(do="join", game=before["game"])
    assert line.turn() == before


@pytest.mark.parametrize(
    "spec", ["antigravity:x", "search:10,net=antigravity:x", "antigravity:x,net=pretrained", "search:1000000000"]
)
def test_messages_cannot_import_modules_or_ask_for_endless_searches(dial: Callable[[], Line], spec: str) -> None:
    line = dial()
    line.send(do="new", game="pikit_v0", opponents=[spec])
    answer = json.loads(line.socket.receive_text())
    assert answer["say"] == "error"
    assert "policies of your own are given when the server starts" in answer["problem"]
    assert "antigravity" not in sys.modules


def test_policies_of_the_command_line_may_be_named_in_messages() -> None:
    usual = Plan("pikit_v0", opponents=["my_module:MyPlayer"])
    message = {"do": "new", "game": "pikit_v0", "opponents": ["my_module:MyPlayer", "search:10,net=pretrained"]}
    assert read_plan(message, usual).opponents == tuple(message["opponents"])
    with pytest.raises(ValueError, match="my_module:Other"):
        read_plan({**message, "opponents": ["my_module:Other"]}, usual)


def test_a_closed_page_comes_back_to_its_game_and_others_are_separate(dial: Callable[[], Line]) -> None:
    first, second = dial(), dial()
    for line in (first, second):
        line.send(do="join", game=None)
    tables = [first.turn(), second.turn()]
    assert tables[0]["game"] != tables[1]["game"]
    first.send(do="act", decision=0, action=choices(tables[0])[0])
    moved = first.turn()
    first.socket.close()
    again = dial()
    again.send(do="join", game=tables[0]["game"])
    assert again.turn() == moved
    second.send(do="join", game=tables[1]["game"])
    assert second.turn() == tables[1]


def test_pages_that_are_closed_leave_their_tables() -> None:
    room = Room(PLAN)
    with TestClient(make_app(room, TOKEN), base_url=BASE) as own:
        for pages in (1, 1, 2):
            with ExitStack() as opened:
                lines = [Line(opened.enter_context(own.websocket_connect(SOCKET, headers=HERE))) for _ in range(pages)]
                assert room.pages == pages
                for line in lines:
                    line.send(do="join", game=None)
                    line.turn()
                assert len([table for table in room.tables.values() if table.browsers]) == pages
            assert room.pages == 0
            assert not any(table.browsers for table in room.tables.values())


def test_two_pages_of_one_game_see_the_same(dial: Callable[[], Line]) -> None:
    one, other = dial(), dial()
    one.send(do="join", game=None)
    table = one.turn()
    other.send(do="join", game=table["game"])
    assert other.turn() == table
    one.send(do="act", decision=0, action=choices(table)[0])
    assert one.turn() == other.turn()
    other.send(do="act", decision=0, action=choices(table)[0])
    assert "the table has moved on" in json.loads(other.socket.receive_text())["problem"]


def test_undo_is_a_new_game_from_the_position_before(dial: Callable[[], Line]) -> None:
    line = dial()
    line.send(do="join", game=None)
    start = line.turn()
    assert not start["undo"]
    line.send(do="act", decision=0, action=choices(start)[0])
    after = line.turn()
    assert after["undo"]
    line.send(do="undo")
    back = line.turn()
    assert back["game"] != start["game"]
    assert {**back, "game": 0} == {**start, "game": 0}
    line.send(do="join", game=start["game"])
    assert line.turn() == after, "the game that was undone is still there"


def test_all_pages_of_a_game_hear_of_an_undo(dial: Callable[[], Line]) -> None:
    one, other = dial(), dial()
    one.send(do="join", game=None)
    start = one.turn()
    other.send(do="join", game=start["game"])
    other.turn()
    one.send(do="act", decision=0, action=choices(start)[0])
    assert one.turn() == other.turn()
    other.send(do="undo")
    back = one.turn()
    assert back["decision"] == 0
    assert other.turn() == back
    one.send(do="act", decision=0, action=choices(start)[0])
    assert one.turn() == other.turn(), "both go on with the same game"


def test_nothing_can_be_done_without_a_game_but_to_join_one(dial: Callable[[], Line]) -> None:
    line = dial()
    for what in ("act", "undo", "hint", "show", "opinion", "rules", "record", "review"):
        line.send(do=what)
        assert json.loads(line.socket.receive_text()) == {"say": "error", "problem": "join a game first"}
    line.send(do="join", game=None)
    assert line.turn()["decision"] == 0


def test_hints_are_for_ones_own_turn() -> None:
    variant = find_game("pikit_v0").variant(players=2)
    game = PlayedGame(variant, 1, [make_player(variant, "random"), None], 1)
    for ask in (game.hint, game.analyse):
        with pytest.raises(ValueError, match="hints are for your own turn"):
            ask()
    with pytest.raises(ValueError, match="it is not your turn"):
        game.act(0, 80)
    with pytest.raises(ValueError, match="the game is not over"):
        game.result()


def test_hints_are_given_one_at_a_time(dial: Callable[[], Line], monkeypatch: pytest.MonkeyPatch) -> None:
    release, asked, hint = threading.Event(), [], PlayedGame.hint

    def slow(game: PlayedGame) -> dict[str, Any]:
        asked.append(game)
        assert release.wait(20)
        return hint(game)

    monkeypatch.setattr(PlayedGame, "hint", slow)
    line = dial()
    line.send(do="join", game=None)
    line.turn()
    for _ in range(3):
        line.send(do="hint")
    while not asked:
        time.sleep(0.01)
    time.sleep(0.2)
    assert len(asked) == 1, "the others wait for it"
    release.set()
    hints = [line.hear("hint") for _ in range(3)]
    assert hints == [hints[0]] * 3


def test_hints_come_for_every_legal_action(dial: Callable[[], Line]) -> None:
    line = dial()
    line.send(do="join", game=None)
    table = line.turn()
    line.send(do="hint")
    hint = line.hear("hint")
    assert hint["decision"] == table["decision"]
    assert sorted(one["action"] for one in hint["actions"]) == sorted(choices(table))
    assert all(one["chance"] is None or 0 <= one["chance"] <= 1 for one in hint["actions"])
    assert [one["chosen"] for one in hint["actions"]] == [True] + [False] * (len(hint["actions"]) - 1), "best first"
    variant = find_game("pikit_v0").variant(players=2)
    truth = PLAN.start()
    list(truth.play_on())
    assert hint["actions"][0]["action"] == act_in(make_player(variant, HINT), truth.env), "what search would do"
    assert all(one["words"] for one in hint["actions"])


def test_policies_think_while_other_games_go_on(dial: Callable[[], Line], monkeypatch: pytest.MonkeyPatch) -> None:
    release, thinking = threading.Event(), threading.Event()

    def slow(rows: np.ndarray, masks: np.ndarray) -> np.ndarray:
        thinking.set()
        assert release.wait(20)
        return masks.argmax(axis=1)

    variant = find_game("pikit_v0").variant(players=2)
    monkeypatch.setattr(Plan, "start", lambda plan: PlayedGame(variant, 1, [from_function(slow, "slow"), None], 1))
    waits = dial()
    waits.send(do="join", game=None)
    assert thinking.wait(20)
    waits.send(do="undo")
    while (answer := json.loads(waits.socket.receive_text()))["say"] != "error":
        pass
    assert answer["problem"] == "the others are still deciding"
    monkeypatch.undo()
    other = dial()
    other.send(do="join", game=None)
    assert other.turn()["decision"] == 0, "one game waits for its policy, the other does not"
    release.set()
    assert waits.turn()["decision"] == 0


def test_a_policy_that_fails_is_named_and_the_game_is_still_there(
    dial: Callable[[], Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    variant = find_game("pikit_v0").variant(players=2)
    failing = [True]

    def player(rows: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return np.array([0]) - 1 if failing[0] else masks.argmax(axis=1)

    game = PlayedGame(variant, 1, [from_function(player, "broken"), None], 1)
    monkeypatch.setattr(Plan, "start", lambda plan: game)
    line = dial()
    line.send(do="join", game=None)
    while (message := json.loads(line.socket.receive_text()))["say"] != "error":
        name = message["game"]
    assert "broken" in message["problem"]
    failing[0] = False
    line.send(do="join", game=name)
    assert line.turn()["decision"] == 0


def test_the_oldest_game_that_nobody_looks_at_makes_room() -> None:
    room = Room(PLAN)
    game = PLAN.start()
    tables = [room.add(game) for _ in range(MOST_GAMES)]
    room.touch(tables[0])
    room.add(game)
    assert len(room.tables) == MOST_GAMES
    assert tables[0].id in room.tables
    assert tables[1].id not in room.tables
    for table in tables[2:]:
        table.browsers.add(object())  # type: ignore[arg-type]
    room.add(game)
    assert tables[0].id not in room.tables, "somebody looks at all that are older"
    for table in room.tables.values():
        table.browsers.add(object())  # type: ignore[arg-type]
    before = list(room.tables)
    with pytest.raises(ValueError, match="somebody is at each of them"):
        room.add(game)
    assert list(room.tables) == before


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of the real server, in a thread."""
    servers, addresses = [], queue.Queue[str]()
    run = uvicorn.Server.run
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: (servers.append(server), run(server, sockets)))
    thread = threading.Thread(target=serve, args=(Room(PLAN), 0, addresses.put), daemon=True)
    thread.start()
    try:
        yield addresses.get(timeout=60)
    finally:
        for server in servers:
            server.should_exit = True
        thread.join(30)
    assert not thread.is_alive()


def test_the_server_itself_ends_connections_with_messages_that_are_far_too_long(address: str) -> None:
    client = needs("websockets.sync.client")
    with client.connect(f"ws{address[4:]}socket", origin=address[:-1].rpartition("/")[0]) as line:
        line.recv()  # the welcome
        line.send("x" * (LONGEST_MESSAGE + 1))
        assert "at most" in json.loads(line.recv())["problem"]
        line.send("x" * (4 * LONGEST_MESSAGE + 1))
        with pytest.raises(websockets.ConnectionClosedError) as ended:
            line.recv()
    assert ended.value.rcvd.code == 1009  # too big


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nX-Slow: "], ids=["silent", "slow"])
def test_connections_that_ask_for_nothing_keep_no_page_out(
    said: bytes, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They need no token; the oldest make room."""
    monkeypatch.setattr("monsterzoo.table.server.MOST_CONNECTIONS", 5)
    place = urlsplit(address)
    with ExitStack() as lines:
        silent = [lines.enter_context(socket.create_connection((place.hostname, place.port), 20)) for _ in range(15)]
        for line in silent:
            with suppress(OSError):
                line.sendall(said)
        for line in silent[:10]:
            with suppress(ConnectionResetError):
                assert line.recv(1) == b"", "closed"
        page = lines.enter_context(closing(HTTPConnection(place.hostname or "", place.port, timeout=20)))
        page.request("GET", place.path)
        assert page.getresponse().status == 200
        client = needs("websockets.sync.client")
        with client.connect(f"ws{address[4:]}socket", origin=address[:-1].rpartition("/")[0]) as open_page:
            for _ in range(10):
                lines.enter_context(socket.create_connection((place.hostname, place.port), 20))
            open_page.recv()
            open_page.send('{"do": "join", "game": null}')
            assert json.loads(open_page.recv())["say"] == "table", "pages that are open stay open"


def test_the_server_ends_while_a_policy_thinks(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import asyncio, sys, threading\n"
        "from monsterzoo.table.server import _in_thread\n"
        "async def serve():\n"
        "    task = asyncio.create_task(_in_thread(threading.Event().wait))\n"
        "    await asyncio.sleep(0.1)\n"
        "    task.cancel()\n"
        "asyncio.run(serve())\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_hints_of_two_games_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search is one thread's at a time; every hint has its own."""
    monkeypatch.setattr("monsterzoo.table.played.HINT", "search:50")
    games = [PLAN.start() for _ in range(5)]
    for game in games:
        list(game.play_on())
    alone = games.pop().hint()
    with ThreadPoolExecutor(4) as pool:
        assert [found["actions"] for found in pool.map(PlayedGame.hint, games)] == [alone["actions"]] * 4


@pytest.mark.parametrize("seat", [0, 1])
def test_the_message_names_the_running_variant(seat: int) -> None:
    options = {"players": 4, "variant": "seven_suitors"}
    game = Plan("yokai_septet_v0", options, ["random"], seat, seed=1).start()
    *_, message = game.play_on()
    assert message["setup"] == {"game": "yokai_septet_v0", "options": game.variant.options, "seat": seat}
    assert options.items() <= message["setup"]["options"].items()


# --- What never leaves the server ---


def test_messages_do_not_change_when_the_hidden_part_is_resampled(
    name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the person has to decide: table, history and hint are the same bytes in any world it thinks possible."""
    monkeypatch.setattr("monsterzoo.table.played.HINT", "search:20")
    variant = find_game(name).variant(**options)
    seat, luck, random = 1, streams(5, 1, "search"), np.random.default_rng(3)
    game = PlayedGame(variant, seat, seat_around(variant, seat, ["random"], 1), seed=6)
    world, resampled = variant.new_states(1), 0
    for _ in range(24):
        list(game.play_on())
        if game.over:
            break
        truth = game.env._states.copy()
        said = json.dumps([game.show(), game.hint(), game.breakdown()])
        imagine(world, truth, seat, luck[0])
        resampled += world.tobytes() != truth.tobytes()
        game.env._states, game._hint = world.copy(), None
        assert json.dumps([game.show(), game.hint(), game.breakdown()]) == said, "texts, tooltips, lessons, summaries"
        game.env._states = truth
        game.act(len(game.decisions) - 1, int(random.choice(choices(game.show()))))
    assert resampled > 5


def test_that_others_are_asked_to_cancel_is_not_shown() -> None:
    """Whether somebody could have cancelled a discard, and did not, changes no message to a third player."""
    variant = find_game("pikit_v0").variant(players=3)
    truth, luck = _a_seven_to_discard(variant), streams(3, 1, "search")
    said: dict[bool, list[str]] = {}
    for _ in range(60):
        world = variant.new_states(1)
        imagine(world, truth, 1, luck[0])
        game = PlayedGame(variant, 1, [_Discards(variant), None, _Discards(variant)], 1)
        game.env._states = world
        game.env._begin()
        could = bool(set(CANCELLING) & set(game.env.snapshot()["hands"][2]["kaiju"]))
        messages: list[str] = []
        with suppress(_DoneError):
            messages.extend(json.dumps(message) for message in game.play_on())
        said.setdefault(could, messages)
        assert messages == said[could]
    assert len(said[True]) > 1, "the discard was seen"
    assert said[True] == said[False]


CANCELLING = (6, 9, 10, 11)


class _DoneError(Exception):
    """The discard is settled."""


class _Discards:
    """Turns a die with a 7, accepts everything, and then wants no more."""

    name = "discards"

    def __init__(self, variant: Variant) -> None:
        self._names, self._done = variant.action_names, False

    def act(self, decisions: Any) -> Any:
        legal = [self._names[action] for action in np.flatnonzero(decisions.action_masks[0])]
        wanted = [name for name in legal if name == "accept" or (name.startswith("7: turn") and not self._done)]
        if not wanted:
            raise _DoneError
        self._done = True
        return np.array([self._names.index(wanted[0])])


def _a_seven_to_discard(variant: Variant) -> np.ndarray:
    """Seat 0 may discard a 7, seat 1 cannot cancel, and nobody else knows a card of seat 2."""
    for seed in range(300):
        env, random = GameEnv(variant.game, **variant.options), np.random.default_rng(seed)
        env.reset(seed=seed)
        while int(env._states["acting"][0]):
            view = env.snapshot()
            hands = [hand["kaiju"] for hand in view["hands"]]
            turn = view["phase"] == "discard" and view["turn_player"] == 0
            secret = int(variant.look(env._states, 0, 1)["unknown"][0, 1])
            if turn and 7 in hands[0] and not set(CANCELLING) & set(hands[1]) and secret:
                known = cards_of(variant.look(env._states, 0, 1)["known"][0, 1])
                if not set(CANCELLING) & set(known):
                    return env._states.copy()
            env.step(int(random.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"]))))
    raise AssertionError("no such position")


def test_a_person_hears_of_the_others_what_its_seat_may_know() -> None:
    """Three players pass three cards each, unseen; told again from the moves, not from what was kept."""
    game = Plan("yokai_septet_v0", {"players": 3}, ["random"], seat=1, seed=1).start()
    for _ in range(3):
        list(game.play_on())
        game.act(len(game.decisions) - 1, choices(game.show())[0])
    list(game.play_on())
    texts = [event.text for event in game.events]
    passed = [text for text in texts if ": pass " in text]
    assert len(passed) == 3
    assert all(text.startswith("you: pass ") for text in passed), "only its own"
    assert len([text for text in texts if text.startswith("received from player_0: ")]) == 1
    watched = watch_policies(game.variant, ["random"], seed=1)
    for view, seen in (("player_1", ["you"] * 3), ("all", ["player_0"] * 3 + ["player_1"] * 3 + ["player_2"] * 3)):
        told = [text for text, *_ in watched.show(12, view)["events"] if ": pass " in text]
        assert [text.partition(":")[0] for text in told] == seen


# --- Watching ---


def test_policies_are_watched_forward_and_back_with_anybodys_eyes() -> None:
    game = watch_policies(find_game("pikit_v0").variant(players=3), ["random"], seed=2)
    first = game.show(0)
    later = game.show(9)
    assert (first["place"], later["place"]) == (0, 9)
    assert game.show(0) == {**first, "moves": 9, "movers": later["movers"]}
    assert [game.show(9, view)["scene"] == later["scene"] for view in later["views"]] == [True, False, False, False]
    end = game.show(-1)
    assert end["complete"]
    assert end["place"] == end["moves"] > 9
    assert game.show(9)["scene"] == later["scene"]
    assert not any("actions" in part for part in later["scene"]["parts"])
    for bad in ({"place": "x"}, {"place": -2}, {"place": True}, {"view": "player_9"}, {"view": ["all"]}):
        with pytest.raises(ValueError):
            game.show(**bad)


def test_a_record_is_watched_to_its_end() -> None:
    game = watch_policies(find_game("bite_night_v0").variant(players=3, laps=1), ["random"], seed=2)
    game.show(-1)
    record = json.loads(json.dumps(game.env.record()))
    again = watch_record(record)
    assert again.complete
    assert again.show(-1)["scene"] == game.show(-1)["scene"]
    assert again.show(7)["scene"] == game.show(7)["scene"]
    assert replay(record).snapshot() == game.env.snapshot()
    with pytest.raises(ValueError, match="the record has no 'game'"):
        watch_record({"options": {}})


def test_watching_over_the_socket() -> None:
    game = watch_policies(find_game("pikit_v0").variant(players=2), ["random"], seed=2)
    with (
        TestClient(make_app(Room(PLAN, game), TOKEN), base_url=BASE) as client,
        client.websocket_connect(SOCKET, headers=HERE) as socket,
    ):
        line = Line(socket)
        line.send(do="join", game=None)
        assert line.hear("watch")["place"] == 0
        line.send(do="show", place=3, view="player_1")
        shown = line.hear("watch")
        assert (shown["place"], shown["view"]) == (3, "player_1")
        line.send(do="act", decision=0, action=1)
        assert "this one is watched" in json.loads(socket.receive_text())["problem"]


def test_opinions_of_moves_name_choices_chances_and_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monsterzoo.table.watched.JUDGE", "search:500")
    game = watch_policies(find_game("yokai_septet_v0").variant(players=2, episode="round"), ["random"], seed=2)
    game.show(-1)
    names, losses = game.variant.action_names, 0
    for number, move in enumerate(game.moves, 1):
        opinion = game.opinion(number)
        assert (opinion["move"], opinion["seat"], opinion["played"]) == (number, move.seat, names[move.action])
        assert {opinion["search"], opinion["network"]} <= set(names)
        assert 0 <= opinion["chance"] <= 1
        losses += (opinion["loss"] or 0) > 0.1
        if opinion["search"] == opinion["played"]:
            assert not opinion["loss"]
    assert losses > 1, "random moves lose something"
    for bad in (0, 9999, True, "1", None):
        with pytest.raises(ValueError, match="is not allowed; allowed: an integer from 1 to "):
            game.opinion(bad)


def test_opinions_of_others_moves_are_not_for_a_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chance tells of the cards of who moves: a seat's view has those of its own moves alone."""
    monkeypatch.setattr("monsterzoo.table.watched.JUDGE", "search:20")
    game = watch_policies(find_game("yokai_septet_v0").variant(), ["random"], seed=2)
    game.show(20)
    for number, move in enumerate(game.moves, 1):
        if move.seat == 1:
            assert game.opinion(number, "player_1")["seat"] == 1
        else:
            with pytest.raises(ValueError, match=f"move {number} is of player_{move.seat}: player_1 cannot know"):
                game.opinion(number, "player_1")


def test_opinions_depend_on_nothing_but_what_the_mover_knew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monsterzoo.table.watched.JUDGE", "search:100")
    game = watch_policies(find_game("yokai_septet_v0").variant(), ["random"], seed=2)
    game.show(30)
    luck, world = streams(5, 1, "search"), game.variant.new_states(1)
    for number in (3, 15, 30):
        truth, move = game.opinion(number), game.moves[number - 1]
        imagine(world, move.before, move.seat, luck[0])
        assert world.tobytes() != move.before.tobytes()
        game.moves[number - 1] = move._replace(before=world.copy())
        game._opinions.clear()
        assert game.opinion(number) == truth


def test_a_records_players_are_checked() -> None:
    record = {"game": "pikit_v0", "options": {"players": 2}, "seed": 1, "actions": []}
    assert watch_record({**record, "players": ["Ada", "search:50"]}).show()["players"] == [
        "Ada",
        "search:50",
    ]
    for bad in ("Ada", ["Ada"], [1, 2, 3]):
        with pytest.raises(ValueError, match="'players' of the record are 2 names"):
            watch_record({**record, "players": bad})


# --- Rules, summaries, names ---


def test_rules_are_of_the_variant_alone_with_its_cards(dial: Callable[[], Line]) -> None:
    line = dial()
    for options, there, missing in (
        ({"players": 2}, "**Two players**", ("**Four players**", "**Three players**", "**Seven Suitors**")),
        ({"players": 4, "variant": "seven_suitors"}, "**Seven Suitors**", ("**Four players**", "**Two players**")),
    ):
        line.send(do="new", game="yokai_septet_v0", options=options, opponents=["random"], seat=0)
        line.turn()
        line.send(do="rules")
        rules = line.hear("rules")
        assert there in rules["text"]
        assert not [words for words in missing if words in rules["text"]]
        assert "<!--" not in rules["text"]
        assert all(card["svg"].startswith("<rect") and card["help"] for card in rules["cards"])
    assert rules["variant"] == "4 players, Seven Suitors"
    texts = {advanced: rules_of(find_game("bite_night_v0").variant(advanced=advanced)) for advanced in (False, True)}
    assert "resurrection" not in json.dumps(texts[False])
    assert "resurrection" in texts[True]["text"]
    assert len(texts[True]["cards"]) == len(texts[False]["cards"]) + 9


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan("yokai_septet_v0", {"players": 3}, ["random"], seed=1), "wins the round"),
        (Plan("bite_night_v0", {"players": 3, "laps": 2}, ["random"], seed=1), ", laid by "),
    ],
)
def test_the_end_of_a_round_is_summed_up_until_the_next_decision(plan: Plan, words: str) -> None:
    game, random, summaries, seen = plan.start(), np.random.default_rng(1), 0, []
    while True:
        *_, message = game.play_on()
        new = bool(message["summary"]) and message["summary"] != seen
        summaries += new
        if new:
            assert any(words in line or "loses the round" in line for line in message["summary"])
            assert set(message["summary"]) <= {text for text, _ in message["events"]}, "nothing but events"
        seen = message["summary"]
        if game.over:
            break
        game.act(len(game.decisions) - 1, int(random.choice(choices(message))))
    assert summaries >= 2
    head, *rows = game.breakdown()
    assert len(rows) == 3
    assert [int(row[-1]) for row in rows] == game.env.snapshot()["scores"]
    assert all(len(row) == len(head) == len(game.chapters) + 1 for row in rows)
    assert message["breakdown"] == [head, *rows]


@pytest.mark.parametrize(
    ("winners", "words"),
    [
        ([0], "You win!"),
        ([0, 2], "You win, with player_2."),
        ([1, 3], "You lose: player_1 and player_3 won."),
        ([], "The game was truncated: nobody wins."),
    ],
)
def test_the_result_names_all_winners(winners: list[int], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = Plan("pikit_v0", {}, ["random"], seed=1).start()
    with pytest.raises(match="the game is not over"):
        game.result()
    monkeypatch.setattr(PlayedGame, "over", True)
    monkeypatch.setattr(game.env, "snapshot", lambda: {"winners": winners})
    assert game.result() == words


def test_a_page_is_told_what_can_be_played_here() -> None:
    welcome = Room(Plan("pikit_v0")).welcome()
    assert {one["game"] for one in welcome["variants"]} == {"bite_night_v0", "pikit_v0", "yokai_septet_v0"}
    assert {"game": "pikit_v0", "options": {"players": 4}, "name": "Pikit, 4 players"} in welcome["variants"]
    assert welcome["opponents"] == ["heuristic"]
    assert "search:200" in welcome["policies"]
    assert Room(PLAN).welcome()["opponents"] == ("random",)


@pytest.mark.parametrize(
    ("chances", "words"),
    [
        ([0.5], "It wins 50% of the games that search imagines from here."),
        ([None], "Search sees no clear difference."),
        ([None, 0.5], "Search sees no clear difference."),
        ([0.514, None, None], "It wins 51% of the games that search imagines from here."),
        ([0.5, 0.25, 0.4], "It wins 50% of the games that search imagines from here; “action 2” wins 40%."),
        ([0.5, 0.2, 0.6, None], "It wins 50% of the games that search imagines from here; “action 2” wins 60%."),
    ],
)
def test_hints_say_why(chances: list[float | None], words: str) -> None:
    assert words == _why([{"chance": chance, "words": f"action {k}"} for k, chance in enumerate(chances)])


def test_hints_have_chances_where_there_are_enough_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    game = PLAN.start()
    list(game.play_on())
    tried = zip(choices(game.show()), (1 / 3, 0.5, None), (LITTLE, LITTLE - 1, None))
    thoughts = [SimpleNamespace(action=action, value=value, visits=visits) for action, value, visits in tried]
    found = SimpleNamespace(thoughts=thoughts, choice=thoughts[0].action)
    monkeypatch.setattr("monsterzoo.table.played.analyse", lambda *_, seat: found)
    actions = game.hint()["actions"]
    assert [one["action"] for one in actions] == [one.action for one in thoughts]
    assert [(one["chance"], one["chosen"]) for one in actions[:1]] == [(0.333, True)]
    assert not any(one["chance"] or one["chosen"] for one in actions[1:])
    assert game.hint() is game.hint(), "made once"


def test_opinions_are_of_chances_and_what_a_move_has_lost_at_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thoughts are (action, chance, simulations); the move is action 1, with a standard error of 0.1 more."""
    move = Move(np.zeros(1), np.zeros(1), 0, 1)
    variant = find_game("pikit_v0").variant(players=2)
    monkeypatch.setattr("monsterzoo.table.watched.make_player", lambda variant, spec: spec)
    for choice, tried, chance, loss in (
        (0, [(0, 0.6, 100), (1, 0.2, 25)], 0.2, 0.3),
        (0, [(0, 0.6, 100), (1, 0.55, 25)], 0.55, 0.0),
        (1, [(0, 0.7, 10), (1, 0.6, 100)], 0.6, 0.0),
        (0, [(0, 0.6, 100), (1, None, 0)], 0.6, 0.0),
        (0, [(0, None, 0), (1, 0.2, 25)], 0.2, 0.2),
        (0, [], 0.5, 0.0),
    ):
        thoughts = [SimpleNamespace(action=action, value=value, visits=visits) for action, value, visits in tried]
        found = SimpleNamespace(thoughts=thoughts, choice=choice, value=0.5)
        monkeypatch.setattr(
            "monsterzoo.table.watched.analyse",
            lambda player, *_, seat, found=found: found if player == JUDGE else SimpleNamespace(choice=2),
        )
        opinion = _opinion(variant, move)
        assert (opinion["chance"], opinion["loss"]) == (chance, pytest.approx(loss))
        names = [opinion[key] for key in ("played", "search", "network")]
        assert names == [variant.action_names[action] for action in (1, choice, 2)]


def test_two_pages_watch_the_same_game() -> None:
    room = Room(PLAN, watch_policies(find_game("pikit_v0").variant(players=2), ["random"], seed=2))
    watched = asyncio.run(room.find({"do": "join"}))
    for _ in range(MOST_GAMES):
        room.add(PLAN.start())
    assert asyncio.run(room.find({"do": "join"})) is watched
    assert room.tables[watched.id] is watched, "others make room"


def test_variants_have_names_for_people() -> None:
    yokai, bite = find_game("yokai_septet_v0"), find_game("bite_night_v0")
    assert (
        variant_name(yokai, {"players": 4, "variant": "seven_suitors_short"}) == "4 players, Seven Suitors, short form"
    )
    assert variant_name(yokai, dict(yokai.variant(players=2).options)) == "2 players"
    assert variant_name(bite, {"players": 3, "advanced": True, "laps": 1}) == "3 players, advanced cards, laps 1"
    assert (
        variant_name(yokai, {"players": 2, "straw_reveal": "trick_end", "first_lead": "held"})
        == "2 players, straw reveal trick end, first lead held"
    )
    assert variant_name(bite, {"players": 3, "advanced": True, "laps": None}) == "3 players, advanced cards"


def test_a_finished_game_is_written_where_the_command_line_said(tmp_path: Path) -> None:
    plan, path = Plan("pikit_v0", {"players": 2, "max_turns": 2}, ["random"], seed=1), tmp_path / "game.json"
    table = Room(plan, output=path).add(plan.start())
    while True:
        asyncio.run(table.play_on())
        assert isinstance(table.game, PlayedGame)
        if table.game.over:
            break
        assert not path.exists()
        table.game.act(len(table.game.decisions) - 1, choices(table.game.show())[-1])
    record = json.loads(path.read_text())
    assert record["players"] == ["you", "random"]
    assert replay(record).snapshot()["over"]


# --- The commands ---


def test_play_and_watch_complain_before_they_serve(tmp_path: Any) -> None:
    (tmp_path / "broken.json").write_text("{")
    for command, words, problem in (
        (play_cli, ["pikit_v0", "--players", "9"], "players=9 is not allowed"),
        (play_cli, ["pikit_v0", "--opponents", "nobody"], "there is no policy 'nobody'"),
        (play_cli, ["pikit_v0", "--opponents", "random", "random"], "one for each of the 3, got 2"),
        (
            play_cli,
            ["pikit_v0", "--opponents", "random", "--port", "99999"],
            "--port 99999 is not allowed",
        ),
        (watch_cli, [], "either a GAME or --record"),
        (watch_cli, ["pikit_v0", "--record", "x"], "either a GAME or --record"),
        (watch_cli, ["--record", str(tmp_path / "none.json")], "there is no file"),
        (watch_cli, ["--record", str(tmp_path / "broken.json")], "is not the record of a game"),
        (
            watch_cli,
            ["pikit_v0", "--policies", "random", "random"],
            "policies: expected one for all",
        ),
    ):
        with pytest.raises(ValueError, match=problem):
            command.main(words)


def test_the_game_cannot_be_moved_while_others_decide() -> None:
    variant = find_game("pikit_v0").variant(players=2)
    game = PlayedGame(variant, 0, seat_around(variant, 0, ["random"], 0), 1)
    with pytest.raises(match="it is not your turn"):
        game.act(0, 80)
    list(game.play_on())
    game.act(0, 80)
    with pytest.raises(ValueError):
        game.act(0, 80)


# --- Limits and small things ---


def test_suggested_policies_can_be_played_against_and_need_nothing_of_ones_own() -> None:
    variant = find_game("pikit_v0").variant(players=2)
    specs = Room(PLAN).welcome()["policies"]
    assert len(specs) == 5
    for spec in specs:
        assert HARMLESS.fullmatch(spec)
        assert make_player(variant, spec).name == spec


def test_a_game_without_a_seed_has_one_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(played.secrets, "randbits", lambda bits: asked.append(bits) or 5)
    drawn, given = (Plan("pikit_v0", {"players": 2}, ["random"], seed=seed).start() for seed in (None, 5))
    assert asked == [32]
    assert drawn.env.save() == given.env.save()
    assert Plan("pikit_v0", {"players": 2}, ["random"], seed=0).start().env.save() != given.env.save()


@pytest.mark.parametrize("length", [LONGEST_MESSAGE, LONGEST_MESSAGE + 1])
def test_the_longest_message_is_read(length: int) -> None:
    text = json.dumps({"do": "join", "x": ""})
    text = text.replace('""', f'"{"x" * (length - len(text))}"')
    if length > LONGEST_MESSAGE:
        with pytest.raises(ValueError, match=f"at most {LONGEST_MESSAGE} characters, not {length}"):
            read(text)
    else:
        assert read(text)["do"] == "join"


def test_a_new_game_is_the_usual_one_where_nothing_else_is_said() -> None:
    usual = Plan("pikit_v0", {"players": 2}, ["my:Own"], 1, 7)
    assert read_plan({"do": "new", "game": "bite_night_v0", "seat": 2}, usual) == Plan("bite_night_v0", seat=2)


def test_a_game_is_ready_once_the_others_have_decided_and_until_somebody_acts() -> None:
    game = PLAN.start()
    assert not game.ready
    for _ in game.advance():
        assert not game.ready
    assert (game.ready, game.waiting, game.over) == (True, True, False)
    decision, legal = len(game.decisions) - 1, game.legal()
    for bad in (True, 1.0, None, "1"):
        with pytest.raises(ValueError, match=r"action=.* is not allowed"):
            game.act(decision, bad)
    for bad in (decision - 1, decision + 1, None):
        with pytest.raises(ValueError, match=f"this is decision {decision}, not {bad}: the table has moved on"):
            game.act(bad, min(legal))
    game.act(decision, min(legal))
    assert not game.ready


def test_an_undo_forgets_what_came_after_and_parts_that_had_not_ended() -> None:
    game = PLAN.start()
    for _ in range(3):
        list(game.play_on())
        game.act(len(game.decisions) - 1, min(game.legal()))
    list(game.play_on())
    saved = list(game.decisions)
    kept = saved[2][1]
    game.chapters = [(0, kept, [1, 2]), (kept, kept + 1, [3, 4])]
    back = game.undo()
    assert (back.env.save(), len(back.events)) == saved[2]
    assert (back.decisions, back.chapters) == (saved[:2], [(0, kept, [1, 2])])
    assert back.events == game.events[:kept]
    list(back.play_on())
    assert back.decisions == saved[:3]
    for left in (1, 0):
        back = back.undo()
        list(back.play_on())
        assert len(back.decisions) == left + 1
    with pytest.raises(ValueError, match="there is nothing to take back"):
        back.undo()


def test_a_watched_game_ends_for_those_who_ask_for_a_place_behind_its_end() -> None:
    game = watch_policies(find_game("pikit_v0").variant(players=2, max_turns=2), ["random"], seed=2)
    assert not game.complete
    end = game.show(LONGEST, "player_1")
    assert (end["complete"], end["place"]) == (True, len(game.moves))
    assert end["movers"] == [move.seat for move in game.moves]
    assert end["views"] == ["all", "player_0", "player_1"]
    assert [number for *_, number in end["events"]] == sorted(number for *_, number in end["events"])
    for bad in (LONGEST + 1, -2, True, "1", None):
        with pytest.raises(ValueError, match=r"place=.* is not allowed; allowed: an integer from -1 to 100000"):
            game.show(bad)
    assert game.show(1)["place"] == 1
    assert {*(number for *_, number in game.show(1)["events"])} <= {1}


def test_events_name_the_seat_at_the_table_or_nobody() -> None:
    events = [Event("a", 0, 0), Event("b", 2, 0), Event("c", -1, 0)]
    variant = find_game("pikit_v0").variant(players=4)
    assert describe(variant, 3, variant.agents, events)["events"] == [["a", 3], ["b", 1], ["c", -1]]


def test_connections_are_counted_until_they_close_or_become_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    from uvicorn.protocols.http.h11_impl import H11Protocol

    told: list[str] = []
    monkeypatch.setattr(H11Protocol, "connection_made", lambda self, transport: setattr(self, "transport", transport))
    monkeypatch.setattr(H11Protocol, "connection_lost", lambda self, exc: told.append("lost"))
    monkeypatch.setattr(H11Protocol, "handle_websocket_upgrade", lambda self, event: told.append("page"))
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 2)
    kind, aborted = server._connections(), list[int]()
    lines = [kind.__new__(kind) for _ in range(6)]

    def made(number: int) -> None:
        lines[number].connection_made(SimpleNamespace(abort=lambda: aborted.append(number)))

    made(0)
    made(1)
    lines[0].connection_lost(None)
    made(2)
    lines[1].handle_websocket_upgrade(None)
    made(3)
    assert (list(kind.opened), aborted, told) == ([lines[2], lines[3]], [], ["lost", "page"])
    made(4)
    assert (list(kind.opened), aborted) == ([lines[3], lines[4]], [2])
    lines[0].connection_lost(None)
    made(5)
    assert (list(kind.opened), aborted) == ([lines[4], lines[5]], [2, 3])
