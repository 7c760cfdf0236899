"""Error bodies of the served dialects."""

from typing import Any

import msgspec

from silu.types.errors import Failure, FailureKind

# (HTTP status, OpenAI error type, Anthropic error type) of each kind of failure.
_KINDS: dict[FailureKind, tuple[int, str, str]] = {
    "auth": (401, "authentication_error", "authentication_error"),
    "unknown_model": (404, "invalid_request_error", "not_found_error"),
    "unreachable": (502, "upstream_error", "api_error"),
    "not_an_api": (502, "upstream_error", "api_error"),
    "rate_limit": (429, "rate_limit_error", "rate_limit_error"),
    "quota": (429, "insufficient_quota", "rate_limit_error"),
    "overloaded": (503, "overloaded_error", "overloaded_error"),
    "bad_request": (400, "invalid_request_error", "invalid_request_error"),
    "context_overflow": (400, "invalid_request_error", "invalid_request_error"),
    "refusal": (400, "invalid_request_error", "invalid_request_error"),
    "stream_cut": (502, "upstream_error", "api_error"),
    "bad_data": (502, "upstream_error", "api_error"),
    "timeout": (504, "timeout_error", "timeout_error"),
    "server": (500, "server_error", "api_error"),
    "unknown": (500, "server_error", "api_error"),
}
_CODES: dict[FailureKind, str] = {
    "auth": "invalid_api_key",
    "unknown_model": "model_not_found",
    "rate_limit": "rate_limit_exceeded",
    "quota": "insufficient_quota",
    "context_overflow": "context_length_exceeded",
}


def chat_error(failure: Failure) -> dict[str, Any]:
    """The openai-chat error object."""
    kind = _KINDS[failure.kind][1]
    code = failure.code or _CODES.get(failure.kind)
    body = {"message": failure.message, "type": kind, "param": failure.param, "code": code}
    return {"error": body}


def messages_error(failure: Failure, request_id: str | None = None) -> dict[str, Any]:
    """The anthropic-messages error object."""
    kind = _KINDS[failure.kind][2]
    return {
        "type": "error",
        "error": {"type": kind, "message": failure.message},
        "request_id": failure.request_id or request_id,
    }


def status_of(failure: Failure, dialect: str = "openai-chat") -> int:
    """The HTTP status of a request that failed before its answer began."""
    if failure.kind == "overloaded" and dialect == "anthropic-messages":
        return 529
    return _KINDS[failure.kind][0]


def dump(value: Any) -> bytes:
    return msgspec.json.encode(value)
