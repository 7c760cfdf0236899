"""What all fake vendors share: keys, records, scripts, troubles. Their rules are their own."""

import contextlib
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator
from typing import Any, Literal

import msgspec

from silu.fakes import playing
from silu.fakes.http import Incoming, Reply, listening
from silu.fakes.script import Answer, Asked, Call, Script, Think, Trouble, chatty
from silu.types.events import StreamEvent
from silu.types.parts import ThinkingKind
from silu.types.usage import Usage
from silu.wire.serve import ServeOptions, encode_error, encoder
from silu.wire.serve.errors import dump


class RefusalError(Exception):
    """The vendor refuses the request: the exact status and body it would send.

    `why` is our own sentence for the person who watches the fake; `headers` are added.
    """

    def __init__(
        self,
        status: int,
        body: dict[str, Any] | bytes,
        *,
        why: str = "",
        headers: dict[str, str] | None = None,
        content_type: str = "application/json",
    ) -> None:
        self.status = status
        self.body = body if isinstance(body, bytes) else dump(body)
        self.why = why or self.body.decode(errors="replace")
        self.headers = headers or {}
        self.content_type = content_type
        super().__init__(self.why)


class Plain(msgspec.Struct, frozen=True):
    """An answer that no model gives: a model list, a capability document."""

    body: dict[str, Any]


class Seen(msgspec.Struct, kw_only=True):
    """A request as it came. `body` is its JSON where it was an object; `refused` tells why."""

    request: Incoming
    body: dict[str, Any] | None
    outcome: Literal["answered", "refused", "trouble", "plain"]
    status: int
    refused: str | None = None


class FakeVendor:
    """A vendor on 127.0.0.1 that answers from a script and enforces rules.

    A subclass says what is accepted (`check`), how an answer is sealed and remembered
    (`prepare`, `seal`, `options`). `key` is the only accepted one. `rate` is deltas a second,
    as fast as possible when `None`. `troubles` are used up one a request, `None` is a good one.
    """

    name = "fake"
    base = ""
    thinking_kind: ThinkingKind = "full"

    def __init__(
        self, script: Script = chatty, *, key: str = "test-key", rate: float | None = None
    ) -> None:
        self.script = script
        self.key = key
        self.rate = rate
        self.troubles: deque[Trouble | None] = deque()
        self.seen: list[Seen] = []
        self._made = 0
        self._mark = secrets.token_hex(4)

    # -- what a vendor fills in ------------------------------------------------------------

    def check(self, request: Incoming) -> Asked | Plain:
        """Accept a request or raise `RefusalError`."""
        raise RefusalError(404, {"error": {"message": f"no route {request.path}"}})

    def prepare(self, asked: Asked, answer: Answer) -> Answer:
        """Last changes before the answer goes out: ids, thoughts the model keeps to itself."""
        parts = [p for p in answer.parts if asked.thinking or not isinstance(p, Think)]
        return msgspec.structs.replace(answer, parts=tuple(self._named(p) for p in parts))

    def seal(self, asked: Asked, answer: Answer) -> playing.Seal:
        del asked, answer
        return playing.no_seal

    def answer_events(self, asked: Asked, answer: Answer, usage: Usage) -> Iterator[StreamEvent]:
        """The prepared answer as stream events."""
        return playing.events(
            answer,
            usage=usage,
            show_thinking=asked.show_thinking,
            seal=self.seal(asked, answer),
            kind=self.thinking_kind,
        )

    def options(self, asked: Asked) -> ServeOptions:
        self._made += 1
        return ServeOptions(
            model=asked.model,
            response_id=f"{self.name}-{self._made}",
            created=1_790_000_000,
            include_usage=asked.include_usage,
            raw_finish=True,
        )

    def call_id(self, number: int) -> str:
        """Like a real vendor's, no other vendor gives the same id."""
        return f"call_{self._mark}{number:08d}"

    def usage(self, asked: Asked, answer: Answer) -> Usage:
        return playing.count(answer, playing.tokens(dump(asked.body).decode()))

    # -- the machine -----------------------------------------------------------------------

    async def handle(self, request: Incoming) -> Reply:
        """Answer one HTTP request."""
        body = json_object(request.body)
        trouble = self.troubles.popleft() if self.troubles and request.method == "POST" else None
        if trouble is not None and (trouble.refuse or trouble.body or trouble.hang_up):
            reply = self._misbehave(request, trouble)
            self._note(request, body, "trouble", reply.status)
            return reply
        try:
            asked = self.check(request)
        except RefusalError as refusal:
            self._note(request, body, "refused", refusal.status, refusal.why)
            headers = {"content-type": refusal.content_type, **refusal.headers}
            return Reply(status=refusal.status, headers=headers, body=refusal.body)
        if isinstance(asked, Plain):
            self._note(request, body, "plain", 200)
            return _json(200, dump(asked.body))
        self._note(request, body, "answered" if trouble is None else "trouble", 200)
        return self._answer(asked, trouble)

    @property
    def refusals(self) -> list[str]:
        """Why requests were refused, in order."""
        return [seen.refused for seen in self.seen if seen.refused is not None]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The JSON bodies that came, in order."""
        return [seen.body for seen in self.seen if seen.body is not None]

    def _named(self, part: Any) -> Any:
        if not isinstance(part, Call) or part.id:
            return part
        self._made += 1
        return Call(part.name, part.args, self.call_id(self._made))

    def _note(
        self,
        request: Incoming,
        body: dict[str, Any] | None,
        outcome: Literal["answered", "refused", "trouble", "plain"],
        status: int,
        refused: str | None = None,
    ) -> None:
        seen = Seen(request=request, body=body, outcome=outcome, status=status, refused=refused)
        self.seen.append(seen)

    def _misbehave(self, request: Incoming, trouble: Trouble) -> Reply:
        if trouble.hang_up:
            return Reply(status=0, headers={}, abort=True)
        headers = {"content-type": trouble.content_type, **trouble.headers}
        if trouble.refuse is not None:
            status, body = encode_error(self.dialect_of(request), trouble.refuse)
            return Reply(status=status, headers=headers, body=body)
        return Reply(status=trouble.status, headers=headers, body=(trouble.body or "").encode())

    def dialect_of(self, request: Incoming) -> str:
        """The dialect a path speaks."""
        return "anthropic-messages" if request.path.endswith("/messages") else "openai-chat"

    def _answer(self, asked: Asked, trouble: Trouble | None) -> Reply:
        answer = self.prepare(asked, self.script(asked))
        happenings = self.answer_events(asked, answer, self.usage(asked, answer))
        writer = encoder(asked.dialect, stream=asked.stream, options=self.options(asked))
        if not asked.stream:
            return _json(200, _whole(happenings, writer))
        pieces = playing.stream(
            happenings, writer, rate=self.rate, trouble=trouble or answer.trouble or Trouble()
        )
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        return Reply(status=200, headers=headers, pieces=pieces)


def _whole(happenings: Iterable[StreamEvent], writer: Any) -> bytes:
    for event in happenings:
        writer.feed(event)
    return writer.close()


def _json(status: int, body: bytes) -> Reply:
    return Reply(status=status, headers={"content-type": "application/json"}, body=body)


def json_object(body: bytes) -> dict[str, Any] | None:
    """The body as a JSON object, or `None`."""
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError:
        return None


@contextlib.asynccontextmanager
async def serve(fake: FakeVendor, *, port: int = 0) -> AsyncGenerator[str]:
    """Run a fake on 127.0.0.1; yields its base URL as an endpoint would name it."""
    async with listening(fake.handle, port=port) as url:
        yield url + fake.base
