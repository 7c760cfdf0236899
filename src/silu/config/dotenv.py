"""`.env` files: `NAME=value` lines, with comments and quotes as shells write them."""

from pathlib import Path

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "$": "$"}


def read_dotenv(path: Path) -> dict[str, str]:
    """The variables of a `.env` file; empty when there is no such file."""
    if not path.is_file():
        return {}
    return parse_dotenv(path.read_text(encoding="utf-8"))


def parse_dotenv(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for raw in text.splitlines():
        line = raw.strip().removeprefix("export ").lstrip()
        name, sign, value = line.partition("=")
        if not sign or line.startswith("#") or not name.strip().isidentifier():
            continue
        found[name.strip()] = _value(value.strip())
    return found


def _value(word: str) -> str:
    if word[:1] == "'" and "'" in word[1:]:
        return word[1 : word.index("'", 1)]
    if word[:1] == '"':
        return _quoted(word)
    # A comment begins with a hash after white space only: keys may contain one.
    return word.split(" #", 1)[0].split("\t#", 1)[0].rstrip()


def _quoted(word: str) -> str:
    out: list[str] = []
    escaped = False
    for char in word[1:]:
        if escaped:
            out.append(_ESCAPES.get(char, "\\" + char))
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == '"':
            break
        else:
            out.append(char)
    return "".join(out)
