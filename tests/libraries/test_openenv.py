"""The server on loopback with its own client: whole games, isolated and limited sessions, tasks, bad answers."""

import socket
import sys
from collections.abc import Iterator
from threading import Thread
from time import monotonic, sleep

import pytest
from needs import ROOT

pytest.importorskip("openenv")
sys.path.insert(0, str(ROOT / "examples" / "openenv"))

import uvicorn
from monsterzoo_env import MonsterZooClient, Say, main, make_app


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = make_app("pikit_v0", sessions=2, players=2, opponents="random", rules="never")
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    end = monotonic() + 60
    while not server.started and monotonic() < end:
        sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(20)


def test_two_sessions_play_games_of_their_own_and_a_third_is_refused(address: str) -> None:
    with MonsterZooClient(address).sync() as one, MonsterZooClient(address).sync() as other:
        first, second = one.reset(split="test", index=0), other.reset(split="test", index=1)
        assert "You are player_0." in first.observation.text
        assert "You are player_1." in second.observation.text
        returns = steps = 0
        result = first
        while not result.done:
            result = one.step(Say(text="I choose 1."))
            returns += result.reward
            steps += 1
        assert returns in (1, -1)
        assert one.state().step_count == steps > 10
        assert other.state().step_count == 0
        assert other.step(Say(text="1")).observation.text != result.observation.text
        assert one.reset(split="test", index=0).observation.text == first.observation.text, "a task is reproducible"
        assert one.reset(split="train", index=0).observation.text != first.observation.text
        with pytest.raises(Exception, match=r"(?i)capacity|sessions"), MonsterZooClient(address).sync() as third:
            third.reset()


def test_unusable_answers_are_told_why_and_forfeit(address: str) -> None:
    with MonsterZooClient(address).sync() as env:
        env.reset(seed=1)
        for _ in range(2):
            result = env.step(Say(text="mumble"))
            assert "it names none of the actions" in result.observation.text
            assert not result.done
        result = env.step(Say(text="mumble"))
        assert (result.done, result.reward) == (True, -1)
        assert env.state().unusable == 3


def test_it_listens_on_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {}
    monkeypatch.setattr(uvicorn, "run", lambda app, **settings: given.update(settings))
    monkeypatch.setattr(sys, "argv", ["monsterzoo_env.py"])
    main()
    assert given["host"] == "127.0.0.1"
