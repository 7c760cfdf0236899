"""Fields at the head of a Markdown file, between two lines `---`: the little of YAML that people
write there (`name: value`, lists, quoted and folded text), read without a YAML reader."""

import re

from silu.types.errors import UserError

Field = str | list[str]

_FENCE = "---"
_NAME = re.compile(r"([A-Za-z][\w-]*)\s*:(?:\s+(.*))?$")


def read(text: str) -> tuple[dict[str, Field], str]:
    """The fields (names in lower case, `-` as `_`) and what comes after them.

    A file without such a head has no fields. `UserError` code `bad_front_matter` names the line
    that cannot be read.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].strip() != _FENCE:
        return {}, text
    end = next((at for at, line in enumerate(lines[1:], 1) if line.strip() == _FENCE), None)
    if end is None:
        raise _bad(1, "the line `---` that ends the head is missing")
    fields: dict[str, Field] = {}
    at = 1
    while at < end:
        line = lines[at]
        if not line.strip() or line.lstrip().startswith("#"):
            at += 1
            continue
        found = _NAME.match(line)
        if found is None:
            raise _bad(at + 1, "it is no `name: value`")
        at += 1
        block: list[str] = []
        while at < end and (not lines[at].strip() or lines[at][:1].isspace() or _item(lines[at])):
            block.append(lines[at])
            at += 1
        fields[found[1].lower().replace("-", "_")] = _value((found[2] or "").strip(), block)
    return fields, "\n".join(lines[end + 1 :]).strip()


def _item(line: str) -> bool:
    return line.startswith("- ")


def _value(first: str, block: list[str]) -> Field:
    kept = [line.strip() for line in block if line.strip()]
    match first:
        case "" if kept and all(line.startswith("- ") for line in kept):
            return [_plain(line[2:]) for line in kept]
        case "|" | "|-":
            return "\n".join(line.strip() for line in block).strip()
        case ">" | ">-" | "":
            return " ".join(kept)
        case _ if first.startswith("[") and first.endswith("]"):
            return [_plain(item) for item in first[1:-1].split(",") if item.strip()]
        case _:
            return _plain(" ".join([first, *kept]))


def _plain(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text.partition(" #")[0].rstrip()


def _bad(line: int, why: str) -> UserError:
    return UserError(f"Line {line} of the head cannot be read: {why}.", code="bad_front_matter")
