"""Tool calls that a model wrote as markup into its thinking or text (field case F030).

Servers without the right parser leave them there and report no call: such a turn is not
finished. Whoever runs a recovered call treats it like any other, permissions included.
"""

import re

import msgspec

from silu.wire.blocks import json_text
from silu.wire.tool_calls import is_json

_MARK = re.compile(
    r"<tool_call>|<function=|<\|tool_call_begin\|>|<function_calls?>|\bto=functions\.[\w.-]+[ <]"
)
_HERMES = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.S)
_XML = re.compile(r"<function=([\w.-]+)>(.*?)</function>", re.S)
_BEGIN_END = re.compile(
    r"<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(?::\d+)?\s*"
    r"<\|tool_call_argument_begin\|>(.*?)<\|tool_call_end\|>",
    re.S,
)
_HARMONY = re.compile(
    # gpt-oss: the recipient stands before or behind the channel's name, and the call ends with
    # its own mark or with the text.
    r"\bto=functions\.([\w.-]+)[^{}]*?<\|message\|>(.*?)(?:<\|call\|>|<\|end\|>|\Z)",
    re.S,
)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.S)


class StrayCall(msgspec.Struct, frozen=True, kw_only=True):
    """A whole call found in text; `arguments` is JSON text of an object."""

    name: str
    arguments: str


class _Hermes(msgspec.Struct):
    name: str
    arguments: dict[str, object] | str = {}


_hermes = msgspec.json.Decoder(_Hermes).decode


def speaks_of_a_call(text: str) -> bool:
    """Is there call markup in the text, whole or not?"""
    return _MARK.search(text) is not None


def stray_calls(text: str) -> list[StrayCall]:
    """The whole calls in the text, in order; half ones are left alone."""
    found = [(m.start(), call) for m in _HERMES.finditer(text) if (call := _from_json(m[1]))]
    for match in _XML.finditer(text):
        values = {name: _value(given) for name, given in _PARAMETER.findall(match[2])}
        found.append((match.start(), StrayCall(name=match[1], arguments=json_text(values))))
    for form in (_BEGIN_END, _HARMONY):
        found += [
            (match.start(), StrayCall(name=match[1], arguments=match[2].strip()))
            for match in form.finditer(text)
            if is_json(match[2].strip())
        ]
    return [call for _, call in sorted(found, key=lambda pair: pair[0])]


def _from_json(text: str) -> StrayCall | None:
    try:
        call = _hermes(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    given = call.arguments
    if isinstance(given, str):
        return StrayCall(name=call.name, arguments=given) if is_json(given) else None
    return StrayCall(name=call.name, arguments=json_text(given))


def _value(text: str) -> object:
    """A parameter as JSON where it is one, else as text."""
    return msgspec.json.decode(text) if is_json(text) else text
