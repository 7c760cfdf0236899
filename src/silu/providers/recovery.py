"""Which refusals can be mended, and how (vendors.md §19).

A remedy is what a refusal teaches (facts to learn) or what this one request must leave out. Each
class is used at most once in a call, and the caller never sends the same body twice.
"""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from silu.providers.prepare import Prepared
from silu.types.errors import Failure
from silu.types.levels import ORDER

HOPELESS = frozenset(
    {"auth", "rate_limit", "quota", "overloaded", "context_overflow", "timeout", "unreachable"}
)
"""Kinds that no change of the request mends."""


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """One way out. `learn` maps a fact to its value; `strip` leaves all earlier thinking out of
    this request and marks it refused; `thinking_off` asks for none in this request."""

    name: str
    learn: dict[str, Any] = {}
    strip: bool = False
    thinking_off: bool = False


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """A refusal, ready to be matched: `text` is everything the vendor said."""

    text: str
    param: str
    code: str
    prepared: Prepared

    @property
    def about_level(self) -> bool:
        return _LEVEL_NAMES.search(f"{self.param} {self.text}") is not None


Remedies = Callable[[Refusal], Remedy | None]


def remedy_for(failure: Failure, prepared: Prepared, used: set[str]) -> Remedy | None:
    """The first remedy for a failure that this call has not used yet."""
    if failure.kind in HOPELESS or (failure.status or 400) >= 500:
        return None
    refusal = Refusal(
        text=failure.message,
        param=failure.param or "",
        code=failure.code or "",
        prepared=prepared,
    )
    for match in _IN_ORDER:
        remedy = match(refusal)
        if remedy is not None and remedy.name not in used:
            return remedy
    return None


_LEVEL_NAMES = re.compile(
    r"effort|thinking|reasoning(?!_content)|\bthink\b|enable_thinking|chat_template|output_config",
    re.I,
)
_UNKNOWN_FIELD = re.compile(
    r"unsupported[_ ]parameter|unknown (?:parameter|field|name)|unrecognized|unexpected"
    r"|extra inputs are not permitted|extra[_ ]forbidden|does not support|not supported"
    r"|not permitted|is not allowed|additional propert|invalid field|no such field|is unsupported",
    re.I,
)
_ACCEPTED = re.compile(
    r"supported values|accepted values|valid values|allowed values|must be one of"
    r"|should be (?:one of|'|\")|expected one of|please use|only supports|input should be"
    r"|permitted values|choose from",
    re.I,
)
_WORD = re.compile(r"\b(none|" + "|".join(level.value for level in ORDER[1:]) + r")\b")
_FORCED = re.compile(
    r"cannot be disabled|can ?not be turned off|always engages in thinking"
    r"|only works in thinking mode|reasoning is mandatory|restricted to true"
    r"|budget 0 is invalid|does not support setting thinking_budget to 0"
    r"|thinking(?:\.type)?[^.]{0,40}disabled[^.]{0,30}not (?:supported|allowed)",
    re.I,
)
_NUMBER = re.compile(
    r"(?:not greater than|less than or equal to|at most|maximum(?: of)?|<=|≤|between \d+ and"
    r"|range of? ?[\[(]\d+,)\s*(\d{3,7})",
    re.I,
)
_TOO_LONG = re.compile(r"max_(?:completion_)?tokens: (\d+) > (\d+)", re.I)
_SAMPLING_NAME = re.compile(r"temperature|top_p|top_k|topP|topK")
_SAMPLING_REFUSED = re.compile(
    r"not supported|unsupported|only 1 is allowed|may only be set|only the default"
    r"|cannot both|deprecated|not permitted|must be (?:set to )?1",
    re.I,
)
_STREAM_ONLY = re.compile(
    r"must be set to false for non-streaming|only supports? stream|stream=False", re.I
)
_MISSING_ECHO = re.compile(
    r"reasoning_content.{0,80}(?:must be passed back|is missing|is required|cannot be empty)"
    r"|missing.{0,20}reasoning_content",
    re.I,
)
_DAMAGED_ECHO = re.compile(
    r"invalid .{0,3}signature|signature: field required|expected .{0,3}thinking"
    r"|thinking.{0,60}(?:cannot be modified|must remain as they were)"
    r"|bound to a different conversation|when thinking is disabled, an .{0,3}assistant"
    r"|(?:invalid|corrupted) thought signature|invalid_encrypted_content"
    r"|could not be verified|was not issued to this caller"
    r"|without its required following item|reasoningText\.signature",
    re.I,
)
_ECHO_FIELD = re.compile(
    r"messages?[\[.].{0,40}reasoning|reasoning_content|reasoning_details|reasoning_text"
)
_NEWER_MODE = re.compile(r"thinking\.type\.enabled.{0,40}not supported|use .{0,20}adaptive", re.I)


def _mode(refusal: Refusal) -> Remedy | None:
    """A newer Claude: budgets are gone, adaptive with an effort is the way."""
    if _NEWER_MODE.search(refusal.text):
        return Remedy(name="mode", learn={"adaptive_only": True})
    return None


def _forced(refusal: Refusal) -> Remedy | None:
    if not _FORCED.search(refusal.text):
        return None
    learn: dict[str, Any] = {"forced": True}
    words = _words(refusal.text)
    if words:
        learn["levels"] = words
    return Remedy(name="forced", learn=learn)


def _levels(refusal: Refusal) -> Remedy | None:
    """A level the model lacks; the refusal lists those it has."""
    listed = refusal.code == "unsupported_value" or _ACCEPTED.search(refusal.text)
    if not listed or not refusal.about_level:
        return None
    words = _words(refusal.text)
    return Remedy(name="levels", learn={"levels": words}) if words else None


def _words(text: str) -> list[str]:
    """The accepted words of a refusal, those after "supported values" and the like."""
    start = _ACCEPTED.search(text)
    tail = text[start.end() :] if start else ""
    return list(dict.fromkeys(found.group(1) for found in _WORD.finditer(tail)))


def _budget(refusal: Refusal) -> Remedy | None:
    text = refusal.text
    if found := _TOO_LONG.search(text):
        return Remedy(name="max_output", learn={"max_output": int(found.group(2))})
    if not re.search(r"thinking_?budget|budget_tokens", f"{text} {refusal.param}", re.I):
        return None
    found = _NUMBER.search(text)
    most = int(found.group(1)) if found else _half_the_budget(refusal.prepared)
    return Remedy(name="budget", learn={"budget_max": most}) if most else None


def _half_the_budget(prepared: Prepared) -> int:
    """What to try where the refusal names no number; 0 where that is no budget any more."""
    wire = prepared.resolution.wire
    thinking: dict[str, Any] = wire.get("thinking") or {}
    half = int(thinking.get("budget_tokens") or wire.get("thinking_budget") or 0) // 2
    return half if half >= prepared.profile.facts.budget_min else 0


def _sampling(refusal: Refusal) -> Remedy | None:
    named = _SAMPLING_NAME.search(f"{refusal.param} {refusal.text}")
    refused = _SAMPLING_REFUSED.search(f"{refusal.code} {refusal.text}")
    return Remedy(name="sampling", learn={"no_sampling": True}) if named and refused else None


def _tool_choice(refusal: Refusal) -> Remedy | None:
    text = f"{refusal.param} {refusal.text}"
    if not re.search(r"tool_?choice", text, re.I):
        return None
    thinking = refusal.prepared.thinking_on and re.search(r"think|reason", text, re.I)
    return Remedy(name="tool_choice", learn={"tool_choice": "thinking" if thinking else "always"})


def _stream_only(refusal: Refusal) -> Remedy | None:
    said = _STREAM_ONLY.search(refusal.text)
    return Remedy(name="stream_only", learn={"stream_only": True}) if said else None


def _missing_echo(refusal: Refusal) -> Remedy | None:
    """A thought is missing in the history: a blank one, then an empty one stands in."""
    if not _MISSING_ECHO.search(f"{refusal.param} {refusal.text}"):
        return None
    if refusal.prepared.profile.facts.filler == " ":
        return Remedy(name="filler:empty", learn={"filler": ""})
    return Remedy(name="filler:blank", learn={"filler": " "})


def _missing_signature(refusal: Refusal) -> Remedy | None:
    """Gemini: a call of its own came without a signature; the documented word stands in."""
    if not re.search(r"missing an? .{0,3}thought_?signature", refusal.text, re.I):
        return None
    return Remedy(name="signature_filler", learn={"signature_filler": True})


def _moved_echo(refusal: Refusal) -> Remedy | None:
    """Claude's thinking under another prefix: the vendor lets go of just what does not fit, when
    this and every later request says so. The rest of the thinking stays in force."""
    offered = "bound to a different conversation" in refusal.text and "drop_block" in refusal.text
    if offered and refusal.prepared.profile.facts.adaptive and refusal.prepared.thinking_on:
        return Remedy(name="drop_block", learn={"drop_block": True})
    return None


def _damaged_echo(refusal: Refusal) -> Remedy | None:
    """A signed or sealed thought the vendor does not take: none of them goes back."""
    said = _DAMAGED_ECHO.search(f"{refusal.code} {refusal.text}")
    if not said:
        return None
    # Budget mode wants a thought at the head of an open tool loop: without one, none is asked.
    in_budget_loop = bool(refusal.prepared.profile.facts.budgets) and "xpected" in said.group(0)
    return Remedy(name="strip", strip=True, thinking_off=in_budget_loop)


def _unwanted_echo(refusal: Refusal) -> Remedy | None:
    """A host that takes no thinking in the history (F050; Mistral, Cerebras, Groq seen)."""
    text = f"{refusal.param} {refusal.text}"
    if _ECHO_FIELD.search(text) and _UNKNOWN_FIELD.search(f"{refusal.code} {text}"):
        return Remedy(name="no_echo", learn={"no_echo": True})
    return None


def _request_fields(refusal: Refusal) -> Remedy | None:
    """Fields beside the thinking that a server does not know."""
    text = f"{refusal.param} {refusal.code} {refusal.text}"
    if "max_tokens" in text and "max_completion_tokens" in text and _UNKNOWN_FIELD.search(text):
        asked = b'"max_tokens"' in refusal.prepared.http.body
        name = "max_completion_tokens" if asked else "max_tokens"
        return Remedy(name="max_tokens_field", learn={"max_tokens_field": name})
    if "stream_options" in text:
        return Remedy(name="stream_options", learn={"no_usage_option": True})
    return None


def _no_summary(refusal: Refusal) -> Remedy | None:
    """Summaries may need a verified organisation (OpenAI, F006): asked again without."""
    if b'"summary"' not in refusal.prepared.http.body:
        return None
    named = "summary" in refusal.param or re.search(
        r"reasoning.{0,3}summar|organi[sz]ation must be verified", refusal.text, re.I
    )
    return Remedy(name="no_summary", learn={"no_summary": True}) if named else None


def _no_thinking(refusal: Refusal) -> Remedy | None:
    """The model does not think, or the server takes no field for it."""
    if not refusal.prepared.resolution.wire or not refusal.about_level:
        return None
    text = f"{refusal.code} {refusal.text}"
    if re.search(r"(?:does not|doesn't) support (?:thinking|reasoning)", text, re.I):
        return Remedy(name="no_thinking", learn={"no_thinking": "model"})
    known = _UNKNOWN_FIELD.search(text) or re.search(r"invalid think value|unsupported", text, re.I)
    return Remedy(name="no_thinking", learn={"no_thinking": "field"}) if known else None


_IN_ORDER: tuple[Remedies, ...] = (
    _stream_only,
    _mode,
    _no_summary,
    _moved_echo,
    _damaged_echo,
    _missing_echo,
    _missing_signature,
    _unwanted_echo,
    _forced,
    _tool_choice,
    _sampling,
    _levels,
    _budget,
    _request_fields,
    _no_thinking,
)
