"""Who may do what from outside, and what a person decided about the agent's calls."""

from typing import Annotated, Literal

import msgspec

TokenName = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
ModelPattern = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class TokenCreate(msgspec.Struct, kw_only=True):
    """A token for the compatible routes, `/v1/…`, and nothing else.

    `models` are patterns of model references (`deepseek/*`), all when empty; `per_minute` limits
    its calls, `null` is no limit; `days` is how long it holds, `null` for good.
    """

    name: TokenName
    models: list[ModelPattern] = []
    per_minute: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = 60
    days: Annotated[int, msgspec.Meta(ge=1, le=3650)] | None = None


class TokenView(msgspec.Struct, kw_only=True):
    """A token without its text, which is known only to whoever it was given to. Times are
    milliseconds since 1970 UTC."""

    id: str
    name: str
    models: list[str]
    per_minute: int | None
    created_at: int
    expires_at: int | None


class TokenCreated(msgspec.Struct, kw_only=True):
    """`text` is shown this once: only its digest is kept."""

    token: TokenView
    text: str


class TokenList(msgspec.Struct, kw_only=True):
    tokens: list[TokenView]


class ApprovalRecord(msgspec.Struct, kw_only=True):
    """What the agent asked to do, and who decided what about it, when and for how long.

    `decision` is null while it waits, and when its run ended without an answer. `by` is who
    decided and over what: `owner (cookie)` is the page, `owner (bearer)` a program, `terminal`
    the command.
    """

    id: str
    session_id: str
    run_id: str | None
    call_id: str | None
    tool: str
    arguments: str
    asked_at: int
    decision: Literal["allow", "deny"] | None
    scope: Literal["once", "session", "always"] | None
    pattern: str | None
    reason: str | None
    by: str | None
    decided_at: int | None


class ApprovalList(msgspec.Struct, kw_only=True):
    """Newest first."""

    approvals: list[ApprovalRecord]
