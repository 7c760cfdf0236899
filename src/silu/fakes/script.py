"""What a fake answers: scripted turns, or a simple rule, and how it misbehaves."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from silu.types.errors import Failure
from silu.types.events import FinishReason
from silu.types.usage import Usage


class Think(msgspec.Struct, frozen=True):
    """A thought. `redacted`: sent as opaque data where the vendor has such a block."""

    text: str
    redacted: bool = False


class Say(msgspec.Struct, frozen=True):
    text: str


class Call(msgspec.Struct, frozen=True):
    """A tool call; `args` given as text goes out as it is. `id` is made where none is given."""

    name: str
    args: dict[str, Any] | str = {}
    id: str | None = None


class Own(msgspec.Struct, frozen=True):
    """A block of a tool that the vendor ran itself within its answer, as a raw object."""

    block: dict[str, Any]


Piece = Think | Say | Call | Own
"""One part of an answer."""


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """One misbehaviour. With `refuse`, `body` or `hang_up` no answer begins.

    `after` deltas of thinking, text or arguments go out before `then` happens: `cut` (the
    connection drops between two events), `cut_in_character` (inside a UTF-8 character),
    `silence` (nothing for `seconds`, then it goes on), `error` (`failure` inside the stream),
    `end` (the answer stops without a terminal event), `bad_chunk` (HTTP framing that promises
    more bytes than come). `comments` keep-alives go out before every delta; `chunk` is the size
    in bytes of the HTTP chunks.
    """

    refuse: Failure | None = None
    status: int = 200
    body: str | None = None
    content_type: str = "application/json"
    headers: dict[str, str] = {}
    hang_up: bool = False
    after: int = 0
    then: Literal["cut", "cut_in_character", "silence", "error", "end", "bad_chunk"] | None = None
    seconds: float = 30.0
    failure: Failure | None = None
    comments: int = 0
    chunk: int | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One model turn: `parts` in order. `finish` follows from the parts where it is not given.

    `step` is how many characters a delta carries; `usage` replaces the fake's own count.
    """

    parts: tuple[Piece, ...]
    finish: FinishReason | None = None
    raw_finish: str | None = None
    usage: Usage | None = None
    step: int = 12
    trouble: Trouble | None = None


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request that passed the rules, as a script sees it.

    `endpoint` tells two dialects of one vendor apart. `results` are the tool results since the
    last answer; `turn` counts the assistant messages of the history.
    """

    model: str
    dialect: str
    body: dict[str, Any]
    stream: bool
    thinking: bool
    effort: str | None
    user: str
    results: tuple[str, ...] = ()
    turn: int = 0
    endpoint: str = ""
    include_usage: bool = True
    show_thinking: bool = True
    notes: tuple[dict[str, Any], ...] = ()


Script = Callable[[Asked], Answer]


def answer(*parts: Piece | str, **settings: Any) -> Answer:
    """An answer from parts; a plain string is answer text."""
    return Answer(
        parts=tuple(Say(part) if isinstance(part, str) else part for part in parts), **settings
    )


def play(*answers: Answer, then: Script | None = None) -> Script:
    """Give the answers in order, whatever is asked; afterwards follow `then` (`chatty`)."""
    waiting = deque(answers)
    after = then or chatty

    def script(asked: Asked) -> Answer:
        return waiting.popleft() if waiting else after(asked)

    return script


def chatty(asked: Asked) -> Answer:
    """A simple rule: think aloud, then repeat what was said.

    A message `use NAME {json}` leads to that tool call; its result is quoted in the answer.
    """
    if asked.results:
        quoted = "; ".join(asked.results)
        return answer(
            Think("The tool has answered; I can pass that on."), f"The tool says: {quoted}"
        )
    words = asked.user.strip().split(maxsplit=2)
    if len(words) >= 2 and words[0] == "use":
        args = words[2] if len(words) > 2 else "{}"
        return answer(Think(f"They want me to use {words[1]}."), Call(words[1], args))
    return answer(Think(f"They wrote: {asked.user}"), f"You said: {asked.user}")


def in_turn(*answers: Answer) -> Script:
    """Give the answer that belongs to the conversation's turn (a retry gets the same again)."""

    def script(asked: Asked) -> Answer:
        return answers[min(asked.turn, len(answers) - 1)]

    return script


def rate_limited(retry_after: float | None = 1) -> Trouble:
    """429; `retry_after` seconds stand in the header."""
    failure = Failure(kind="rate_limit", message="Rate limit reached, please slow down.")
    headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    return Trouble(refuse=failure, headers=headers)


def overloaded() -> Trouble:
    return Trouble(refuse=Failure(kind="overloaded", message="Overloaded"))


def html(status: int = 200) -> Trouble:
    """A proxy's page instead of an answer."""
    page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Hello</body></html>"
    return Trouble(status=status, body=page, content_type="text/html; charset=utf-8")


def cut(after: int = 3) -> Trouble:
    return Trouble(after=after, then="cut")


def cut_in_character(after: int = 0) -> Trouble:
    return Trouble(after=after, then="cut_in_character")


def ends_early(after: int = 3) -> Trouble:
    return Trouble(after=after, then="end")


def silence(after: int = 1, seconds: float = 30.0) -> Trouble:
    return Trouble(after=after, then="silence", seconds=seconds)


def error_in_stream(after: int = 2, message: str = "Overloaded") -> Trouble:
    failure = Failure(kind="overloaded", message=message)
    return Trouble(after=after, then="error", failure=failure)


def bad_chunk(after: int = 2) -> Trouble:
    return Trouble(after=after, then="bad_chunk")


def hang_up() -> Trouble:
    return Trouble(hang_up=True)


def chunks_of(size: int) -> Trouble:
    return Trouble(chunk=size)


def comments(count: int = 1) -> Trouble:
    return Trouble(comments=count)


def one_after_another(troubles: Sequence[Trouble | None]) -> Callable[[], Trouble | None]:
    """Hand out the troubles in order, then none."""
    waiting = deque(troubles)
    return lambda: waiting.popleft() if waiting else None
