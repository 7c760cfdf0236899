"""Serve recorded answers as a vendor's endpoint, turn by turn; strictly where asked.

Which answer comes next is read from the request: the last assistant message is looked up among the
answers, and the one after it is served. A conversation that begins takes the next recording. After
the last answer the first one follows again.
"""

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

from silu.fakes.http import Incoming, Reply
from silu.fakes.recordings import Exchange
from silu.fakes.replay_convert import convert
from silu.fakes.replay_judge import Judge
from silu.fakes.replay_view import Spoken, spoken
from silu.fakes.vendor import RefusalError, json_object

_FRAME = re.compile(rb"(?:\r\n|\n|\r)(?:\r\n|\n|\r)")
_MODEL_PATH = re.compile(r"/models?/([^/:]+)")


class Replay:
    """The endpoint. `rate` is deltas a second. `told` is called with one line for each refusal."""

    def __init__(
        self,
        dialect: str,
        exchanges: list[Exchange],
        *,
        rate: float | None = None,
        strict: bool = False,
        told: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.dialect = dialect
        self.exchanges = exchanges
        self.rate = rate
        self.strict = strict
        self.told = told
        self._served: list[int] = []
        self._opened = -1
        self._judge = Judge(dialect)

    @property
    def base(self) -> str:
        """What follows the host in an endpoint's base URL."""
        chatty = ("openai-chat", "openai-responses", "mistral-chat")
        return "/v1" if self.dialect in chatty else ""

    async def handle(self, request: Incoming) -> Reply:
        if request.method == "GET":
            return _document(200, self._models())
        body = json_object(request.body)
        if body is None:
            refusal = self._judge.refusal("The request body is no JSON object.")
            return Reply(
                status=400, headers={"content-type": "application/json"}, body=refusal.body
            )
        if named := _MODEL_PATH.search(request.path):
            body.setdefault("model", named[1])
        past = [(said, self._find(said)) for said in spoken(self.dialect, body)]
        last = past[-1][1] if past else -1
        try:
            if self.strict:
                known = [(said, self.exchanges[n] if n >= 0 else None) for said, n in past]
                self._judge.judge(request, body, known, self.exchanges[max(last, 0)])
        except RefusalError as refusal:
            after = self.exchanges[last].label if last >= 0 else "the start"
            self.told(f"refused the request after {after}: {' '.join(refusal.why.split())}")
            return _refused(refusal)
        return self._serve(self._next(last, begun=bool(past)), body, _streams(request, body))

    # -- which answer ----------------------------------------------------------------------

    def _find(self, said: Spoken) -> int:
        unserved = [i for i in range(len(self.exchanges)) if i not in self._served]
        text = _squeezed(said.text)
        for number in [*reversed(self._served), *unserved]:
            told = self.exchanges[number].told
            if said.ids and set(said.ids) & set(told.ids):
                return number
            if not said.ids and not told.ids and text and _squeezed(told.text).endswith(text):
                return number
        return -1

    def _next(self, last: int, *, begun: bool) -> int:
        count = len(self.exchanges)
        if last >= 0:
            return (last + 1) % count
        if begun and self._served:
            return (self._served[-1] + 1) % count
        for step in range(1, count + 1):
            number = (self._opened + step) % count
            if self.exchanges[number].opens:
                self._opened = number
                return number
        return 0

    # -- the answer ------------------------------------------------------------------------

    def _serve(self, number: int, body: dict[str, Any], wanted: bool) -> Reply:
        exchange = self.exchanges[number]
        if number in self._served:
            self._served.remove(number)
        self._served.append(number)
        self._judge.served(exchange, body)
        good = exchange.status == 200 and not exchange.told.error
        if good and wanted == (exchange.form == "json"):
            form, pieces = convert(self.dialect, exchange, stream=wanted)
            if pieces:
                return _streamed(200, form, pieces, self.rate)
        if exchange.form == "json":
            headers = {"content-type": exchange.content_type}
            return Reply(status=exchange.status, headers=headers, body=exchange.body)
        return _streamed(exchange.status, exchange.content_type, frames(exchange), self.rate)

    def _models(self) -> dict[str, Any]:
        names = sorted({exchange.model for exchange in self.exchanges if exchange.model})
        data = [{"id": name, "object": "model", "type": "model"} for name in names]
        listed = [{"name": name, "model": name} for name in names]
        return {"object": "list", "data": data, "models": listed, "has_more": False}


def _streams(request: Incoming, body: dict[str, Any]) -> bool:
    """Whether the client wants a stream: in the address, or in the body (where a local server of
    its own dialect streams unless it is told not to)."""
    if request.path.endswith(("streamGenerateContent", "converse-stream")):
        return True
    if request.path.endswith("/api/chat"):
        return body.get("stream") is not False
    return bool(body.get("stream"))


def frames(exchange: Exchange) -> list[bytes]:
    """The body in the pieces it was streamed in, byte for byte."""
    body = exchange.body
    match exchange.form:
        case "ndjson":
            return body.splitlines(keepends=True)
        case "eventstream":
            return _length_prefixed(body)
        case "sse":
            ends = [found.end() for found in _FRAME.finditer(body)]
            cuts = [0, *ends, len(body)]
            pieces = [body[a:b] for a, b in itertools.pairwise(cuts)]
            return [piece for piece in pieces if piece]
        case "json":
            return [body]


def _length_prefixed(body: bytes) -> list[bytes]:
    """Event-stream messages: each begins with its whole length, four bytes, big-endian."""
    out: list[bytes] = []
    at = 0
    while at < len(body):
        size = max(4, int.from_bytes(body[at : at + 4], "big"))
        out.append(body[at : at + size])
        at += size
    return out


def _streamed(status: int, kind: str, pieces: list[bytes], rate: float | None) -> Reply:
    return Reply(status=status, headers={"content-type": kind}, pieces=_paced(pieces, rate))


async def _paced(pieces: list[bytes], rate: float | None) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
        if rate:
            await asyncio.sleep(1 / rate)


def _refused(refusal: RefusalError) -> Reply:
    headers = {"content-type": refusal.content_type}
    return Reply(status=refusal.status, headers=headers, body=refusal.body)


def _document(status: int, body: dict[str, Any]) -> Reply:
    headers = {"content-type": "application/json"}
    return Reply(status=status, headers=headers, body=msgspec.json.encode(body))


def _squeezed(text: str) -> str:
    return "".join(text.split())
