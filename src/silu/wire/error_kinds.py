"""Which of our kinds of failure a refusal is (vendors.md §19).

Status, code and type decide; phrases only where these leave it open.
"""

import re

import msgspec

from silu.types.errors import FailureKind


class Words(msgspec.Struct):
    """What an error body says: `status` where the body names one, `hay` all its other words."""

    message: str = ""
    vendor_type: str | None = None
    code: str | None = None
    param: str | None = None
    status: int | None = None
    retry_after: float | None = None
    request_id: str | None = None
    hay: str = ""


_OVERFLOW = re.compile(
    r"prompt is too long|context_length_exceeded|maximum context length|maximum prompt length"
    r"|exceeds? the (?:context window|available context size|maximum.{0,20}context)"
    r"|context (?:is )?too long|context window exceeds|range of input length"
    r"|input (?:token count|length|is too long).{0,60}(?:exceed|too long|maximum)"
    r"|input is too long|too many input tokens|context length.{0,20}(?:exceeded|too long)"
    r"|request_too_large|token limit exceeded|reduce the length of the (?:messages|prompt|input)"
    r"|prompt (?:token count.{0,40} )?exceeds (?:the limit|max length)|exceed max message tokens"
    r"|(?:greater|longer) than the (?:model's )?context length|exceeded (?:model )?token limit"
    r"|too many tokens|input tokens exceed the|request too large for model",
    re.I,
)
_NOT_OVERFLOW = re.compile(r"rate limit|too many requests|tokens per (?:minute|min|day)", re.I)
_AUTH = re.compile(
    r"invalid.{0,12}api.?key|incorrect api.?key|api.?key (?:not valid|is invalid|not found|expired)"
    r"|authentication|unauthori[sz]ed|invalid (?:bearer )?token|invalid x-api-key|no api.?key",
    re.I,
)
_MODEL = re.compile(
    r"model_not_found|not_found_error.{0,80}model|unknown model|invalid model|no such model"
    r"|model.{0,80}(?:does not exist|not exist|not found|is not available|has been deprecated"
    r"|not supported when using|is retired|not a valid model)"
    r"|no (?:allowed )?(?:providers|endpoints).{0,30}(?:available|found)"
    r"|model identifier is invalid",
    re.I | re.S,
)
_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|balance|credits|funds)|exceeded[_ ]current[_ ]quota"
    r"|billing[_ ](?:error|details|account|hard)|credit balance|payment required|no balance"
    r"|arrear|out of credits|quota exhausted"
    r"|\b1113\b|余额不足|欠费",
    re.I,
)
_OVERLOADED = re.compile(
    r"overloaded|over capacity|capacity exceeded|server is busy|insufficient_system_resource"
    r"|temporarily unavailable|engine_overloaded|no healthy upstream",
    re.I,
)
_RATE = re.compile(r"rate.?limit|too many requests|resource_exhausted|throttl", re.I)
_REFUSAL = re.compile(
    r"content[_ ](?:policy|filter)|moderation|flagged|sensitive content|\b1301\b"
    r"|data_inspection_failed|responsible.?ai",
    re.I,
)

_WORDS: dict[str, FailureKind] = {
    "authentication_error": "auth",
    "permission_error": "auth",
    "invalid_api_key": "auth",
    "invalid_authentication_error": "auth",
    "permission_denied": "auth",
    "unauthenticated": "auth",
    "accessdeniedexception": "auth",
    "unrecognizedclientexception": "auth",
    "model_not_found": "unknown_model",
    "model_not_found_error": "unknown_model",
    "1211": "unknown_model",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "rate_limit_reached_error": "rate_limit",
    "resource_exhausted": "rate_limit",
    "throttlingexception": "rate_limit",
    "insufficient_quota": "quota",
    "exceeded_current_quota_error": "quota",
    "billing_error": "quota",
    "insufficient_balance": "quota",
    "overloaded_error": "overloaded",
    "engine_overloaded_error": "overloaded",
    "insufficient_system_resource": "overloaded",
    "serviceunavailableexception": "overloaded",
    "modelnotreadyexception": "overloaded",
    "unavailable": "overloaded",
    "context_length_exceeded": "context_overflow",
    "1261": "context_overflow",
    "request_too_large": "context_overflow",
    "content_policy_violation": "refusal",
    "content_filter": "refusal",
    "data_inspection_failed": "refusal",
    "timeout_error": "timeout",
    "deadline_exceeded": "timeout",
    "modeltimeoutexception": "timeout",
    "api_error": "server",
    "server_error": "server",
    "internal_error": "server",
    "internal": "server",
    "internalserverexception": "server",
    "modelstreamerrorexception": "server",
    "network_error": "server",
}

RETRYABLE: frozenset[FailureKind] = frozenset(
    {"rate_limit", "overloaded", "server", "timeout", "unreachable", "stream_cut"}
)


def kind_of(status: int | None, words: Words) -> FailureKind:
    """The kind of a failure, from its HTTP status and what its body says."""
    for word in (words.code, words.vendor_type):
        hit = _WORDS.get(word.lower()) if word else None
        if hit is not None and hit != "server" and not (hit == "rate_limit" and _quota(words)):
            return hit
    number = status if status is not None and status >= 400 else words.status
    hay = f"{words.message} {words.code} {words.vendor_type} {words.param} {words.hay}"
    by_words = _by_words(number, hay)
    if by_words is not None:
        return by_words
    if number == 404 and re.search("model|deployment", hay, re.I):
        return "unknown_model"
    if number is not None:
        return _by_status(number)
    if words.vendor_type and words.vendor_type.lower() in _WORDS:
        return _WORDS[words.vendor_type.lower()]
    if words.code and words.code.lower() in _WORDS:
        return _WORDS[words.code.lower()]
    refused = (words.vendor_type or "").lower() in ("invalid_request_error", "invalid_argument")
    return "bad_request" if refused else "unknown"


def _quota(words: Words) -> bool:
    """No credit; Gemini says so of its rates too, but then names when to come back."""
    if words.retry_after is not None:
        return False
    return _QUOTA.search(f"{words.message} {words.code} {words.vendor_type}") is not None


def _by_words(status: int | None, hay: str) -> FailureKind | None:
    if status in (401, 402, 408, 504):
        return None
    if status in (429, 403, 400, None) and _QUOTA.search(hay):
        return "quota"
    if status != 429 and _OVERFLOW.search(hay) and not _NOT_OVERFLOW.search(hay):
        return "context_overflow"
    if status == 429:
        return "overloaded" if _OVERLOADED.search(hay) else None
    if status in (403, 404, 400, 422, None):
        for pattern, kind in _PHRASES:
            if pattern.search(hay):
                return kind
    if status is None or status >= 500:
        return "overloaded" if _OVERLOADED.search(hay) else None
    return None


_PHRASES: tuple[tuple[re.Pattern[str], FailureKind], ...] = (
    (_REFUSAL, "refusal"),
    (_MODEL, "unknown_model"),
    (_AUTH, "auth"),
    (_RATE, "rate_limit"),
)


def _by_status(status: int) -> FailureKind:
    match status:
        case 401 | 403:
            return "auth"
        case 402:
            return "quota"
        case 404 | 405:
            return "not_an_api"  # nothing there, and no word of a model: a wrong address
        case 408 | 504 | 524:
            return "timeout"
        case 413:
            return "context_overflow"
        case 429:
            return "rate_limit"
        case 503 | 529:
            return "overloaded"
        case _:
            return "server" if status >= 500 else "bad_request"
