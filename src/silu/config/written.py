"""Agents and commands as Markdown files of a folder, with their settings at the head."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from silu.types import front_matter
from silu.types.agents import BUILT_IN, Agent, Command, Sampling, ThinkingLimit
from silu.types.errors import UserError
from silu.types.front_matter import Field
from silu.types.levels import parse_level

T = TypeVar("T")

MOST_BYTES = 200_000
MOST_FILES = 500

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SAMPLING = ("max_tokens", "temperature", "top_p")


class Written(msgspec.Struct, Generic[T], kw_only=True):
    """What a folder's files say, by name, and what is wrong with the others."""

    found: dict[str, T]
    problems: list[str]


def read_agents(folder: Path) -> Written[Agent]:
    """`*.md`: the text is the agent's prompt, the head may have `description`, `model`, `level`,
    `tools`, `max_tokens`, `temperature`, `top_p`, `thinking_seconds`, `thinking_tokens`."""
    return _read(folder, _agent)


def read_commands(folder: Path) -> Written[Command]:
    """`*.md`: the text is what is sent, the head may have `description`, `arguments`, `level`,
    `mode`. Other fields are other programs' and mean nothing here."""
    return _read(folder, _command)


def _read(folder: Path, make: Callable[[str, Mapping[str, Field], str], T]) -> Written[T]:
    """Blocking. A file that is a link out of the folder is passed over: whoever trusts a folder
    trusts what lies in it."""
    written: Written[T] = Written(found={}, problems=[])
    try:
        files = sorted(folder.glob("*.md"))[:MOST_FILES]
        home = folder.resolve()
    except OSError:
        # Not there, or not for us to see: there are none.
        return written
    for file in files:
        name = file.stem.lower()
        try:
            fields, body = front_matter.read(_text(file, name, home))
            written.found[name] = make(name, fields, body)
        except (OSError, ValueError, UserError) as exc:
            written.problems.append(f"{file.name} cannot be used: {_sentence(exc)}")
    return written


def _text(file: Path, name: str, home: Path) -> str:
    if not file.resolve().is_relative_to(home):
        raise UserError("It is a link to another place.", code="bad_file")
    if not _NAME.fullmatch(name):
        raise UserError("A name has letters, digits, `-` and `_`.", code="bad_name")
    with file.open("rb") as opened:
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UserError(f"It is larger than {MOST_BYTES} bytes.", code="too_large")
    return data.decode("utf-8")


def _sentence(exc: Exception) -> str:
    match exc:
        case UserError():
            return str(exc)
        case UnicodeDecodeError():
            return "It is not text in UTF-8."
        case OSError():
            return f"{exc.strerror or 'it cannot be read'}."
        case _:
            return f"{exc}."


def _agent(name: str, fields: Mapping[str, Field], body: str) -> Agent:
    if name == BUILT_IN.name:
        raise UserError(f"{name} is the built-in agent; give yours another name.", code="bad_name")
    rest = _only(fields, "description", "model", "level", "tools", *_SAMPLING, *_LIMITS)
    tools = rest.get("tools")
    limits = {short: rest.get(long) for long, short in _LIMITS.items()}
    return Agent(
        name=name,
        description=_words(rest, "description"),
        prompt=body.strip(),
        model=_words(rest, "model") or None,
        level=_level(rest),
        tools=None if tools is None else tuple(_list(tools)),
        sampling=_numbers({key: rest.get(key) for key in _SAMPLING}, Sampling),
        thinking_limit=_numbers(limits, ThinkingLimit) if any(limits.values()) else None,
    )


_LIMITS = {"thinking_seconds": "seconds", "thinking_tokens": "tokens"}


def _command(name: str, fields: Mapping[str, Field], body: str) -> Command:
    if not body.strip():
        raise UserError("It says nothing to send.", code="bad_file")
    # Only the person leaves plan mode.
    if _words(fields, "mode") not in {"", "plan"}:
        raise UserError("`mode` can only be `plan`.", code="bad_mode")
    return Command(
        name=name,
        text=body.strip(),
        description=_words(fields, "description"),
        # `argument-hint` is what other programs call the same field.
        arguments=_words(fields, "arguments") or _words(fields, "argument_hint"),
        level=_level(fields),
        mode="plan" if _words(fields, "mode") else None,
    )


def _only(fields: Mapping[str, Field], *known: str) -> Mapping[str, Field]:
    if unknown := sorted(fields.keys() - set(known)):
        raise UserError(
            f"`{unknown[0]}` is no field here; there are {', '.join(known)}.", code="bad_field"
        )
    return fields


def _words(fields: Mapping[str, Field], name: str) -> str:
    value = fields.get(name, "")
    return value if isinstance(value, str) else " ".join(f"[{item}]" for item in value)


def _list(value: Field) -> list[str]:
    items = value.split(",") if isinstance(value, str) else value
    return [item.strip() for item in items if item.strip()]


def _level(fields: Mapping[str, Field]) -> str | None:
    word = _words(fields, "level")
    if word:
        parse_level(word)
    return word or None


def _numbers(values: Mapping[str, Field | None], shape: type[T]) -> T:
    given = {key: value for key, value in values.items() if value is not None}
    try:
        return msgspec.convert(given, type=shape, strict=False)
    except msgspec.ValidationError as exc:
        raise UserError(f"A number cannot be used: {exc}.", code="bad_number") from exc
