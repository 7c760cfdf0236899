"""Refusals: what a vendor's error body says, and which of our kinds of failure it is.

Bodies differ (vendors.md §19): `error` is an object, a string (xAI, Ollama) or sits as JSON text
in `error.metadata.raw` (OpenRouter); the telling words may stand in `error.param` (MiMo), and a
body may begin with `data:` (MiMo) or be no JSON at all. All of it is read here and nowhere else.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from silu.types.errors import Failure, FailureKind
from silu.wire.error_kinds import RETRYABLE, Words, kind_of

_LONGEST = 600
"""Characters of a vendor's message that are passed on."""

_SECRET = re.compile(
    r"\b(?:sk|pk|rk|ak|key|gsk|xai|csk|nvapi|hf|tp|ghp|eyJ)[-_][A-Za-z0-9_\-.]{8,}"
    r"|\bAIza[A-Za-z0-9_\-]{20,}"
    r"|\beyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-.]+"
    r"|(?<=[Bb]earer )[A-Za-z0-9_\-.=+/]{8,}"
    r"|(?<=api[-_ ]key[:=] )[A-Za-z0-9_\-.]{6,}"
    r"|(?<=x-api-key: )\S+"
)

_LEAD: dict[FailureKind, str] = {
    "auth": "The vendor refused the key",
    "unknown_model": "The vendor does not know this model",
    "not_an_api": "There is no such API at this address",
    "rate_limit": "The vendor asks to slow down",
    "quota": "The account with the vendor has no credit left",
    "overloaded": "The vendor is overloaded",
    "bad_request": "The vendor refused the request",
    "context_overflow": "The conversation is too long for the model",
    "refusal": "The vendor refused the content",
    "timeout": "The vendor took too long",
    "server": "The vendor failed",
    "unknown": "The vendor reported an error",
}
_FIX: dict[FailureKind, str] = {
    "auth": "Check the API key of this endpoint.",
    "unknown_model": "Choose another model.",
    "quota": "Check the balance or plan of the account.",
    "not_an_api": "Check the base URL of this endpoint.",
}
_SETTING: dict[FailureKind, str] = {
    "auth": "api_key",
    "unknown_model": "model",
    "not_an_api": "base_url",
}


_GATEWAY: dict[int, FailureKind] = {
    502: "overloaded",
    503: "overloaded",
    504: "timeout",
    524: "timeout",
}
"""What a gateway's error page means, by its status."""


def mask(text: str) -> str:
    """The text without anything that looks like a key."""
    return _SECRET.sub("[key]", text)


def failure_from_body(status: int, body: bytes) -> Failure:
    """Read the body of an answer that is not what was asked for; it may be anything."""
    text = body.decode("utf-8", "replace").strip()
    while text.startswith(("data:", "event:", ":")):
        text = _without_prefix(text)
    found = _json_start(text)
    if found is not None:
        return failure_from_object(found, status)
    if text.startswith("<"):
        return _html(status, text)
    return _told(status, Words(message=text[:_LONGEST]))


def failure_from_object(found: object, status: int | None) -> Failure:
    """Read a decoded error body or an error inside a 200 stream (`status` is then 200)."""
    return _told(status, _words(found))


def bad_data(what: str) -> Failure:
    """The vendor sent something that is not in its own dialect."""
    return Failure(
        kind="bad_data",
        message=f"The vendor sent data that cannot be read: {what}.",
    )


def cut(what: str = "the stream ended before the answer was complete") -> Failure:
    """The answer stopped without the vendor's terminal event."""
    return Failure(
        kind="stream_cut",
        message=f"The answer was cut off: {what}. What had arrived is kept.",
        retryable=True,
    )


def _words(found: object) -> Words:
    if isinstance(found, list):
        found = next(iter(cast("list[Any]", found)), None)
    if not isinstance(found, Mapping):
        return Words(message="" if found is None else str(found)[:_LONGEST])
    outer = cast("Mapping[str, Any]", found)
    error = outer.get("error", outer.get("errors"))
    if isinstance(error, list):
        error = next(iter(cast("list[Any]", error)), None)
    if not isinstance(error, Mapping):
        # xAI and Ollama: {"code": …, "error": "text"}; Bedrock: {"message": …}
        inner: dict[str, Any] = dict(outer)
        if isinstance(error, str):
            inner["message"] = error
    else:
        inner = dict(cast("Mapping[str, Any]", error))
    words = Words(
        message=_text(inner, "message", "msg", "detail", "error_description", "error"),
        vendor_type=_word(inner, "type", "status", "__type"),
        code=_word(inner, "code", "status_code"),
        param=_word(inner, "param"),
        request_id=_word(outer, "request_id", "requestId")
        or _word(inner, "request_id", "requestId"),
        retry_after=_retry_after(inner),
        hay=_flat(inner, 0),
    )
    _read_raw(inner, words)
    number = words.code or ""
    if number.isdigit() and 400 <= int(number) <= 599:
        words.status = int(number)
    return words


def _read_raw(inner: Mapping[str, Any], words: Words) -> None:
    """OpenRouter: the vendor behind it speaks in `metadata.raw`, as JSON in a string."""
    meta = inner.get("metadata")
    raw = cast("Mapping[str, Any]", meta).get("raw") if isinstance(meta, Mapping) else None
    if not isinstance(raw, str) or not raw.strip():
        return
    found = _json_start(raw.strip())
    deeper = _words(found) if found is not None else Words(message=raw[:_LONGEST])
    words.hay += " " + deeper.hay
    words.param = words.param or deeper.param
    if deeper.message and deeper.message not in words.message:
        words.message = f"{words.message}: {deeper.message}" if words.message else deeper.message


def _told(status: int | None, words: Words) -> Failure:
    kind = kind_of(status, words)
    param = words.param
    said = words.message.strip()
    if param and " " in param and param not in said:
        said = f"{said}: {param}" if said else param  # MiMo puts the sentence into `param`
    said = mask(" ".join(said.split()))[:_LONGEST]
    return Failure(
        kind=kind,
        message=_sentence(kind, status, said),
        retryable=kind in RETRYABLE,
        status=status if status is None or status >= 400 else words.status,
        code=words.code,
        param=param,
        vendor_type=words.vendor_type,
        request_id=words.request_id,
        setting=_SETTING.get(kind),
        retry_after=words.retry_after,
    )


def _sentence(kind: FailureKind, status: int | None, said: str) -> str:
    number = f" (HTTP {status})" if status is not None and status >= 400 else ""
    lead = f"{_LEAD.get(kind, _LEAD['unknown'])}{number}"
    text = f"{lead}: {said}" if said else lead
    if not text.endswith((".", "!", "?", "。")):
        text += "."
    return f"{text} {_FIX[kind]}" if kind in _FIX else text


def _html(status: int, text: str) -> Failure:
    """A web page where JSON was due: mostly a wrong address, with 5xx a gateway in trouble."""
    title = re.search(r"<title[^>]*>([^<]{1,120})", text, re.I)
    named = f" It is titled “{' '.join(title.group(1).split())}”." if title else ""
    if status >= 500:
        return Failure(
            kind=_GATEWAY.get(status, "server"),
            message=f"A gateway in front of the vendor answered with an error page"
            f" (HTTP {status}).{named}",
            retryable=True,
            status=status,
        )
    return Failure(
        kind="not_an_api",
        message=f"The answer is a web page, not an API answer (HTTP {status}).{named}"
        " Check the base URL of this endpoint.",
        status=status,
        setting="base_url",
    )


def _without_prefix(text: str) -> str:
    """An SSE line turned into what it carries."""
    line, _, rest = text.partition("\n")
    if line.startswith("data:"):
        return f"{line[5:]}\n{rest}".strip()
    return rest.strip()


def _json_start(text: str) -> object | None:
    """The JSON value a text begins with; what follows it (a blank line, `data: [DONE]`) is let
    go. `None` when there is none."""
    if not text.startswith(("{", "[", '"')):
        return None
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        return None
    except msgspec.DecodeError:
        pass
    import json  # only here: raw_decode stops after the first value

    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _text(obj: Mapping[str, Any], *keys: str) -> str:
    for key in keys:
        value = obj.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, (list, dict)) and value:
            return msgspec.json.encode(value).decode()[:_LONGEST]
    return ""


def _word(obj: Mapping[str, Any], *keys: str) -> str | None:
    for key in keys:
        value = obj.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def _retry_after(inner: Mapping[str, Any]) -> float | None:
    """Gemini: `details[].retryDelay` such as "13s"; others: `retry_after` in seconds."""
    plain = inner.get("retry_after")
    if isinstance(plain, (int, float)) and not isinstance(plain, bool):
        return float(plain)
    details = inner.get("details")
    for item in cast("list[Any]", details) if isinstance(details, list) else ():
        delay = cast("dict[str, Any]", item).get("retryDelay") if isinstance(item, dict) else None
        if isinstance(delay, str) and re.fullmatch(r"\d+(\.\d+)?s", delay):
            return float(delay[:-1])
    return None


def _flat(value: object, depth: int) -> str:
    """All strings inside, run together, so that phrases are found wherever they stand."""
    if isinstance(value, str):
        return value[:2000]
    if depth > 4:
        return ""
    if isinstance(value, Mapping):
        inner = cast("Mapping[str, Any]", value).values()
    elif isinstance(value, list):
        inner = cast("list[Any]", value)
    else:
        return ""
    return " ".join(filter(None, (_flat(item, depth + 1) for item in inner)))
