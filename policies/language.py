"""Language models as players: "lm:URL,model=NAME" asks an endpoint that speaks OpenAI's chat protocol.

Every decision is a conversation of its own: the rules, what the seat knows and its legal actions. The key is read from
an environment variable and sent by https or to this machine only; it is kept in no file, message or result.
"""

import json
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from threading import Lock
from typing import Annotated, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np
from monsterzoo.envs.api.answers import FORMS, read_choice
from monsterzoo.envs.api.prompts import question, rules_in_short
from monsterzoo.envs.core.options import Checked, Choice, Integer, Number, Text, read_settings
from monsterzoo.envs.core.variant import Variant
from monsterzoo.envs.match.decisions import Decisions

from .base import Named, legal_masks

COUNTED = ("decisions", "requests", "failed", "unusable", "random_actions", "input_tokens", "output_tokens")
LONGEST_WAIT = 60.0
"""Seconds that a server can ask us to wait for."""


@dataclass(frozen=True)
class Endpoint(Checked):
    """Settings of "lm:URL,name=value,…"; raises `ValueError` for those that make no sense."""

    url: Annotated[str, "such as http://127.0.0.1:8000/v1", Text("URL")]
    model: Annotated[str, "the model's name there", Text("NAME")]
    key: Annotated[str, "environment variable with the key, if there is one", Text("VARIABLE")] = "OPENAI_API_KEY"
    answers: Annotated[str, "form of answers", Choice(*FORMS)] = "plain"
    again: Annotated[int, "times to ask again after an unusable answer; then a random action", Integer(0, 10)] = 2
    at_once: Annotated[int, "requests at the same time", Integer(1, 256)] = 8
    rate: Annotated[float, "most requests a minute, 0: any number", Number(0, 1e6)] = 0
    timeout: Annotated[float, "seconds to wait for an answer", Number(0, 3600, above=True)] = 120
    retries: Annotated[int, "tries after a request that failed", Integer(0, 100)] = 4
    backoff: Annotated[float, "seconds before the first of them, twice as long each time", Number(0, 600)] = 1
    temperature: Annotated[float | None, "of sampling (default: the server's)", Number(0, 10)] = None
    max_tokens: Annotated[int | None, "longest answer (default: the server's)", Integer(1)] = None
    input_price: Annotated[float, "dollars per million tokens asked", Number(0, 1e6)] = 0
    output_price: Annotated[float, "dollars per million tokens answered", Number(0, 1e6)] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        address = urlsplit(self.url)
        if address.scheme not in ("http", "https") or not address.hostname or address.username or address.password:
            raise ValueError("the address reads like https://HOST/v1, without a name or password in it")

    def headers(self) -> dict[str, str]:
        """Headers of a request, with the key where it is safe to send it."""
        address, key = urlsplit(self.url), os.environ.get(self.key, "")
        safe = address.scheme == "https" or address.hostname in ("localhost", "127.0.0.1", "::1")
        return {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key and safe else {})


class _NoRedirects(HTTPRedirectHandler):
    """An answer from elsewhere would have been given our key."""

    def redirect_request(self, *_: Any) -> None:
        return None


class LanguageModelPolicy(Named):
    """A language model behind an endpoint; counts what it costs in `usage`.

    An answer that names no legal action is asked again, with the reason; after `again` times a random legal action is
    taken and counted. A request that fails is tried again; if no try succeeds `act` raises `ConnectionError`.
    """

    def __init__(self, variant: Variant, endpoint: Endpoint, seed: int = 0) -> None:
        self.variant, self.endpoint, self.seed = variant, endpoint, seed
        self.name = f"lm:{endpoint.model}"
        self._counts = Counter(dict.fromkeys(COUNTED, 0))
        self._lock, self._free = Lock(), 0.0
        self._opener = build_opener(_NoRedirects)

    @property
    def usage(self) -> dict[str, float]:
        """Decisions, requests, failed requests, unusable answers, random actions, tokens and dollars so far."""
        counts, one = self._counts, self.endpoint
        cost = counts["input_tokens"] * one.input_price + counts["output_tokens"] * one.output_price
        return {**counts, "dollars": cost / 1e6}

    def act(self, decisions: Decisions) -> np.ndarray:
        """One legal action per row, int64 (B,); raises `ConnectionError` if the endpoint does not answer."""
        masks, views = legal_masks(self, decisions), decisions.views()
        pool = ThreadPoolExecutor(self.endpoint.at_once)
        try:
            rows = [(mask, view, int(seat)) for mask, view, seat in zip(masks, views, decisions.seats)]
            return np.array(list(pool.map(self._decide, rows)), np.int64)
        finally:
            pool.shutdown(cancel_futures=True)

    def _decide(self, row: tuple[np.ndarray, Any, int]) -> int:
        mask, view, seat = row
        legal, told = np.flatnonzero(mask).tolist(), self.variant.describe(view, seat)
        names = [self.variant.action_names[action] for action in legal]
        request = FORMS[self.endpoint.answers].format("the number or the name")
        asked = question(self.variant.game, told, names, request)
        messages = [
            {"role": "system", "content": rules_in_short(self.variant.game, self.variant.options)},
            {"role": "user", "content": asked},
        ]
        self._count(decisions=1)
        for _ in range(self.endpoint.again + 1):
            answer = self._complete(messages)
            try:
                return legal[read_choice(answer, names, self.endpoint.answers, others=self.variant.action_names)]
            except ValueError as error:
                self._count(unusable=1)
                complaint = f"Your last answer could not be used: {error}. {request}"
                messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": complaint}]
        self._count(random_actions=1)
        digest = blake2b(asked.encode(), digest_size=8).digest()
        return Random(int.from_bytes(digest, "little") ^ self.seed).choice(legal)

    def _count(self, **more: int) -> None:
        with self._lock:
            self._counts.update(more)

    # --- Requests ---

    def _complete(self, messages: list[dict[str, str]]) -> str:
        """The model's answer to a conversation."""
        one = self.endpoint
        options = {"temperature": one.temperature, "max_tokens": one.max_tokens}
        body = {"model": one.model, "messages": messages} | {k: v for k, v in options.items() if v is not None}
        for attempt in range(one.retries + 1):
            self._wait_for_turn()
            self._count(requests=1)
            try:
                return self._post(json.dumps(body).encode())
            except HTTPError as error:
                problem, asked_for = f"HTTP {error.code} {error.reason}", error.headers.get("Retry-After", "")
                if error.code < 500 and error.code not in (408, 409, 429):
                    attempt = one.retries  # it would fail again
            except (OSError, ValueError, LookupError, TypeError) as error:
                problem, asked_for = f"{type(error).__name__}: {error}", ""
            self._count(failed=1)
            if attempt == one.retries:
                break
            pause = float(asked_for) if asked_for.isdecimal() else one.backoff * 2**attempt
            time.sleep(min(pause, LONGEST_WAIT))
        raise ConnectionError(f"{self.name} does not answer ({problem:.200})")

    def _wait_for_turn(self) -> None:
        """Keep to the most requests a minute."""
        if not self.endpoint.rate:
            return
        with self._lock:
            begin = max(self._free, time.monotonic())
            self._free = begin + 60 / self.endpoint.rate
        time.sleep(max(begin - time.monotonic(), 0))

    def _post(self, body: bytes) -> str:
        url = self.endpoint.url.rstrip("/")
        url = url if url.endswith("/chat/completions") else f"{url}/chat/completions"
        with self._opener.open(Request(url, body, self.endpoint.headers()), timeout=self.endpoint.timeout) as response:
            found = json.loads(response.read())
        usage = found.get("usage") or {}
        self._count(
            input_tokens=int(usage.get("prompt_tokens") or 0), output_tokens=int(usage.get("completion_tokens") or 0)
        )
        return str(found["choices"][0]["message"]["content"] or "")


def make(variant: Variant, argument: str | None, seed: int) -> LanguageModelPolicy:
    """The maker behind the spec "lm:URL,model=NAME"."""
    url, *rest = (argument or "").split(",")
    try:
        return LanguageModelPolicy(variant, read_settings(Endpoint, rest, url=url), seed)
    except (ValueError, TypeError) as error:
        raise ValueError(f"this is not a language model ({error}); it reads like 'lm:URL,model=NAME'") from None
