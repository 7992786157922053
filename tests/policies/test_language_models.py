"""Language models as players, with an OpenAI-compatible server on loopback that plays whole games."""

import json
from dataclasses import replace
from email.message import Message
from io import BytesIO
from pathlib import Path
from threading import Barrier
from typing import Any
from urllib.error import HTTPError

import monsterzoo.envs as mz
import numpy as np
import pytest
from fake_model import first_listed, listed, served
from monsterzoo import policies
from monsterzoo.cli import main
from monsterzoo.envs.core.contract import imagine
from monsterzoo.envs.core.rng import streams
from monsterzoo.envs.match.decisions import Decisions
from monsterzoo.policies import language

PIKIT = ["arena", "pikit_v0", "--players", "2", "--quiet"]


def decide(spec: str) -> tuple[Any, str]:
    """The player of a spec, and the name of the action it chooses at the beginning of a game."""
    env = mz.make_raw("pikit_v0", players=2)
    env.reset(seed=1)
    player = policies.make(spec, "pikit_v0", players=2)
    return player, env.action_name(policies.act_in(player, env))


def test_a_model_plays_a_tournament_and_its_tokens_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", "sesame-1234")
    with served(first_listed) as (url, seen):
        spec = f"lm:{url},model=tiny,key=MY_KEY,input_price=2,output_price=10"
        assert main([*PIKIT, "--policies", spec, "heuristic", "--games", "4", "--output", str(tmp_path / "out")]) == 0
    result = json.loads((tmp_path / "out.json").read_text())
    assert [player["name"] for player in result["players"]] == ["lm:tiny", "heuristic"]
    assert result["games"] == 4
    usage = result["usage"]["lm:tiny"]
    assert usage["decisions"] == usage["requests"] == len(seen) > 40
    assert (usage["input_tokens"], usage["output_tokens"]) == (100 * len(seen), 7 * len(seen))
    assert usage["dollars"] == pytest.approx(len(seen) * (100 * 2 + 7 * 10) / 1e6)
    assert usage["failed"] == usage["unusable"] == usage["random_actions"] == 0
    for request in seen:
        assert request["path"] == "/v1/chat/completions"
        assert request["headers"]["Authorization"] == "Bearer sesame-1234"
        assert request["model"] == "tiny"
        assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert request["messages"][0]["content"].startswith("# Pikit")
    written = [path.read_bytes() for path in tmp_path.iterdir()] + ["".join(capsys.readouterr()).encode()]
    assert not any(b"sesame" in one for one in written), "the key is written nowhere"


def test_a_broken_endpoint_loses_no_finished_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answered = 0

    def breaks(messages: list[dict[str, str]]) -> Any:
        nonlocal answered
        answered += 1
        return first_listed(messages) if answered < 150 else 503

    words = ["heuristic", "--games", "40", "--batch", "2", "--output", str(tmp_path / "out")]
    with served(breaks) as (url, _):
        assert main([*PIKIT, "--policies", f"lm:{url},model=tiny,retries=1,backoff=0", *words]) == 2
    said = capsys.readouterr()
    assert "lm:tiny does not answer (HTTP 503 Service Unavailable): ended after" in said.err
    kept = json.loads((tmp_path / "out.json").read_text())["games"]
    assert 1 <= kept < 40
    with served(first_listed) as (url, _):
        assert main([*PIKIT, "--policies", f"lm:{url},model=tiny", *words]) == 0
    assert f"{kept} finished games taken over" in capsys.readouterr().err
    assert json.loads((tmp_path / "out.json").read_text())["games"] == 40


def test_failed_requests_are_tried_again() -> None:
    answers: list[Any] = [500, (429, {"Retry-After": "0"}), "1"]
    with served(lambda messages: answers.pop(0)) as (url, seen):
        player, _ = decide(f"lm:{url},model=tiny,backoff=0")
    assert len(seen) == 3
    assert player.usage["failed"] == 2


@pytest.mark.parametrize("status", [400, 401, 404])
def test_requests_that_would_fail_again_are_not(status: int) -> None:
    with served(lambda messages: status) as (url, seen):
        with pytest.raises(ConnectionError, match=f"lm:tiny does not answer \\(HTTP {status}"):
            decide(f"lm:{url},model=tiny")
        assert len(seen) == 1


def test_redirects_are_not_followed_and_keys_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    with served(first_listed) as (elsewhere, met), served(lambda _: (302, {"Location": elsewhere})) as (url, _):
        with pytest.raises(ConnectionError):
            decide(f"lm:{url},model=tiny")
        assert not met

    def headers(url: str) -> dict[str, str]:
        return language.Endpoint(url, "tiny").headers()

    assert "Authorization" in headers("https://models.example/v1")
    assert "Authorization" in headers("http://localhost:8000/v1")
    assert "Authorization" not in headers("http://models.example/v1"), "anybody on the way could read it"


def refused(status: int, **headers: str) -> HTTPError:
    told = Message()
    for name, value in headers.items():
        told[name.replace("_", "-")] = value
    return HTTPError("http://localhost", status, "no", told, None)


def pauses(settings: str, errors: list[Exception], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[float], Any]:
    """The player of a spec, how long it pauses where its requests fail so, and its answer in the end."""
    player, slept = policies.make(f"lm:http://localhost/v1,model=tiny{settings}", "pikit_v0", players=2), []

    def post(body: bytes) -> str:
        if errors:
            raise errors.pop(0)
        return "1"

    monkeypatch.setattr(language.time, "sleep", slept.append)
    monkeypatch.setattr(player, "_post", post)
    try:
        return player, slept, player._complete([])
    except ConnectionError as error:
        return player, slept, str(error)


def test_pauses_double_unless_the_server_asks_for_another_and_are_a_minute_at_most(monkeypatch) -> None:
    for settings, errors, slept, answer in (
        ("", [OSError("gone")] * 4, [1, 2, 4, 8], "1"),
        ("", [OSError("gone")] * 5, [1, 2, 4, 8], "lm:tiny does not answer (OSError: gone)"),
        (",backoff=0.5,retries=2", [refused(503), refused(500)], [0.5, 1], "1"),
        ("", [refused(429, Retry_After="7"), refused(429, Retry_After="soon"), KeyError("choices")], [7, 2, 4], "1"),
        ("", [refused(503, Retry_After="3600")], [60], "1"),
        (",backoff=40", [TypeError("odd"), ValueError("odd")], [40, 60], "1"),
        (",retries=0", [OSError("gone")], [], "lm:tiny does not answer (OSError: gone)"),
    ):
        count = len(errors)
        player, found, said = pauses(settings, list(errors), monkeypatch)
        assert (found, said) == (slept, answer), settings
        assert player.usage["failed"] == count
        assert player.usage["requests"] == count + (said == "1")


def test_what_may_work_later_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for status in (408, 409, 429, 500, 599):
        assert pauses("", [refused(status)], monkeypatch)[1:] == ([1], "1"), status
    for status in (400, 403, 410, 422, 499):
        player, slept, said = pauses("", [refused(status)], monkeypatch)
        assert (slept, said) == ([], f"lm:tiny does not answer (HTTP {status} no)")
        assert player.usage["requests"] == 1


def test_a_request_has_the_settings_that_were_chosen_and_an_answer_may_be_empty(monkeypatch) -> None:
    asked: list[Any] = []

    def opened(content: dict[str, Any]) -> Any:
        def open_request(request: Any, timeout: float) -> BytesIO:
            asked.append((request.full_url, request.data, timeout))
            return BytesIO(json.dumps(content).encode())

        return open_request

    for address, settings, body, timeout in (
        ("http://localhost/v1", "", {}, 120),
        ("http://localhost/v1/", ",temperature=0,timeout=3", {"temperature": 0}, 3),
        ("http://localhost/v1/chat/completions", ",max_tokens=9,temperature=0.5",
         {"max_tokens": 9, "temperature": 0.5}, 120),
    ):  # fmt: skip
        player = policies.make(f"lm:{address},model=tiny{settings}", "pikit_v0", players=2)
        monkeypatch.setattr(player._opener, "open", opened({"choices": [{"message": {"content": None}}]}))
        assert player._complete([{"role": "user", "content": "?"}]) == ""
        url, data, waited = asked.pop()
        assert url == "http://localhost/v1/chat/completions"
        assert json.loads(data) == {"model": "tiny", "messages": [{"role": "user", "content": "?"}], **body}
        assert waited == timeout
        assert (player.usage["input_tokens"], player.usage["output_tokens"]) == (0, 0), "it does not say"


def test_decisions_of_a_batch_are_asked_at_once_and_answered_in_order() -> None:
    games, waiting = mz.make_vec("pikit_v0", 32, seed=4, players=2), Barrier(3)
    for _ in range(11):
        games.step(games.sample_actions())
    first, rows = np.unique(games.action_masks.argmax(axis=1), return_index=True)
    assert len(first) >= 3

    def wait_for_all(messages: list[dict[str, str]]) -> str:
        waiting.wait(20)  # none is answered before all three have come
        return first_listed(messages)

    with served(wait_for_all) as (url, _):
        player = policies.make(f"lm:{url},model=tiny,at_once=3", "pikit_v0", players=2)
        assert player.act(games.decisions()[rows[:3]]).tolist() == first[:3].tolist()


def test_settings_of_an_endpoint_have_defaults_and_limits() -> None:
    usual = language.Endpoint("http://localhost/v1", "tiny")
    assert (usual.key, usual.answers, usual.again, usual.at_once, usual.rate) == ("OPENAI_API_KEY", "plain", 2, 8, 0)
    assert (usual.temperature, usual.max_tokens, usual.input_price, usual.output_price) == (None, None, 0, 0)
    for name, least, most in (
        ("again", 0, 10), ("at_once", 1, 256), ("rate", 0, 1e6), ("retries", 0, 100), ("backoff", 0, 600),
        ("temperature", 0, 10), ("input_price", 0, 1e6), ("output_price", 0, 1e6), ("max_tokens", 1, None),
        ("timeout", None, 3600),
    ):  # fmt: skip
        for value, step in ((least, -1), (most, 1)):
            if value is not None:
                assert getattr(replace(usual, **{name: value}), name) == value
                with pytest.raises(ValueError, match=f"{name}=.* is not allowed"):
                    replace(usual, **{name: value + step})
    for address in ("https://me@localhost/v1", "https://:secret@localhost/v1", "http:///v1", "ftp://localhost/v1"):
        with pytest.raises(ValueError, match="the address reads like"):
            language.Endpoint(address, "tiny")


def test_no_answer_in_time_is_a_failure() -> None:
    import time

    def slow(messages: list[dict[str, str]]) -> str:
        time.sleep(1)
        return "1"

    with served(slow) as (url, _), pytest.raises(ConnectionError, match="timed out"):
        decide(f"lm:{url},model=tiny,timeout=0.1,retries=0")


def test_the_rate_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(language.time, "monotonic", lambda: 100.0 + sum(slept))
    monkeypatch.setattr(language.time, "sleep", slept.append)
    player = policies.make("lm:http://localhost/v1,model=tiny,rate=30", "pikit_v0", players=2)
    for _ in range(4):
        player._wait_for_turn()
    assert slept == [0, 2, 2, 2]


def test_unusable_answers_are_asked_again_and_then_replaced() -> None:
    answers = ["I am sorry.", "1 or 2?", "1"]
    with served(lambda messages: answers.pop(0)) as (url, seen):
        player, chosen = decide(f"lm:{url},model=tiny")
    last = seen[-1]["messages"]
    assert [message["role"] for message in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert last[2]["content"] == "I am sorry."
    assert "it names none of the actions" in last[3]["content"]
    assert chosen == listed(last)[0]
    assert (player.usage["unusable"], player.usage["random_actions"]) == (2, 0)
    with served(lambda messages: "I am sorry.") as (url, seen):
        player, chosen = decide(f"lm:{url},model=tiny,again=1")
        assert decide(f"lm:{url},model=tiny,again=1")[1] == chosen, "the seed decides"
    assert chosen in listed(seen[0]["messages"])
    assert (player.usage["unusable"], player.usage["random_actions"]) == (2, 1)


def test_what_is_asked_does_not_depend_on_what_the_seat_cannot_know() -> None:
    env = mz.make_raw("yokai_septet_v0", players=3)
    env.reset(seed=1)
    worlds = np.concatenate([env.states] * 4)
    for k in range(1, 4):
        imagine(worlds[k : k + 1], env.states, 0, streams(k, 1, "search")[0])
    assert len({world.tobytes() for world in worlds}) == 4
    with served(first_listed) as (url, seen):
        player = policies.make(f"lm:{url},model=tiny", "yokai_septet_v0", players=3)
        player.act(Decisions.from_states(env.variant, worlds, [0] * 4))
    assert len({json.dumps(request["messages"]) for request in seen}) == 1


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("lm", "it reads like 'lm:URL,model=NAME'"), ("lm:http://localhost/v1", "model"),
        ("lm:file:///etc/passwd,model=x", "the address reads like https://HOST/v1"),
        ("lm:http://me:secret@localhost/v1,model=x", "without a name or password"),
        ("lm:http://localhost/v1,model=x,colour=red", "unknown setting 'colour'"),
        ("lm:http://localhost/v1,model=x,timeout=0", "timeout"),
    ],
)  # fmt: skip
def test_specs_that_make_no_sense_are_refused(spec: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        policies.make(spec, "pikit_v0", players=2)
