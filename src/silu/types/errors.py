"""The error tree. Three families, and nothing else, reach a person.

SiluError
├── UserError        the person can mend it; `setting` and `fix` say how
├── VendorError      the vendor failed; `retryable`, `status`, `request_id`
└── ToolError        a tool failed; the text goes to the model

Cancellation is none of them: it stays `asyncio.CancelledError`.
No error text holds a key, a request body or a thought.
"""

from typing import Literal

import msgspec


class SiluError(Exception):
    """The common root, so that a caller can catch all three families at once."""


class UserError(SiluError):
    """Something the person can mend: `setting` names it, `fix` says what to do.

    `code` is a stable word for programs: `no_key`, `unknown_model`, `port_in_use`,
    `owned`, `newer_database`, `not_a_database`, `bad_argument`, …
    """

    def __init__(self, message: str, *, code: str, setting: str = "", fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.setting = setting
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message} {self.fix}".strip()


def place_of(exc: BaseException) -> str:
    """Type and place of an exception nobody foresaw, for the log: never its values, which may
    hold what people wrote."""
    trace, names = exc.__traceback__, list[str]()
    while trace is not None:
        code = trace.tb_frame.f_code
        names.append(f"{code.co_filename.rsplit('/', 2)[-1]}:{trace.tb_lineno}:{code.co_name}")
        trace = trace.tb_next
    return f"{type(exc).__name__} at {' > '.join(names[-5:])}"


class VendorError(SiluError):
    """The vendor, or the way to it, failed.

    `kind` is our classification (see `FailureKind`), `status` the HTTP status or `None` when
    no answer came, `code` the vendor's own word.
    """

    def __init__(self, failure: "Failure") -> None:
        super().__init__(failure.message)
        self.failure = failure

    @property
    def retryable(self) -> bool:
        return self.failure.retryable


class ToolError(SiluError):
    """A tool failed; the message is written for the model that called it."""


FailureKind = Literal[
    "auth",
    "unknown_model",
    "unreachable",
    "not_an_api",
    "rate_limit",
    "quota",
    "overloaded",
    "bad_request",
    "context_overflow",
    "refusal",
    "stream_cut",
    "bad_data",
    "timeout",
    "server",
    "unknown",
]


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One failed call, told in a sentence that a person can act on.

    `message` says what happened and whose fault it is; `setting` names the setting to change
    where there is one; `param` is the request field a refusal names; `retry_after` is seconds.
    """

    kind: FailureKind
    message: str
    retryable: bool = False
    status: int | None = None
    code: str | None = None
    param: str | None = None
    vendor_type: str | None = None
    request_id: str | None = None
    setting: str | None = None
    retry_after: float | None = None
