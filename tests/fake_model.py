"""An OpenAI-compatible server on loopback, whose model is a function from messages to an answer."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Model = Callable[[list[dict[str, str]]], Any]


def listed(messages: list[dict[str, str]]) -> list[str]:
    """The actions that a conversation lists."""
    text = next(one["content"] for one in reversed(messages) if "You may:\n" in one["content"])
    lines = text.split("You may:\n")[1].split("\n\n")[0].splitlines()
    return [line.partition(". ")[2] for line in lines]


def first_listed(messages: list[dict[str, str]]) -> str:
    return f"<think>Hm.</think>I choose **{listed(messages)[0]}**."


@contextmanager
def served(model: Model) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The base address, and all requests with their headers.

    A model answers with a text, or with an integer, the HTTP status of a failure, or with (status, headers).
    """
    seen: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({**body, "path": self.path, "headers": dict(self.headers)})
            answer = model(body["messages"])
            status, headers = answer if isinstance(answer, tuple) else (200, {})
            if isinstance(answer, int):
                status = answer
            reply: dict[str, Any] = {"error": {"message": "no"}}
            if status == 200:
                message = {"role": "assistant", "content": answer}
                usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                reply = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"],
                         "choices": [choice], "usage": usage}  # fmt: skip
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()
