"""Which files of a workspace are passed over: `.gitignore` rules and folders nobody reads.

Follows git's rules for patterns: the last match wins, `!` takes back, a slash inside anchors,
a slash at the end means folders only. Not covered: git's own exclude files outside the tree.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ALWAYS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache"}
)
_MAX_IGNORE_FILE = 100_000


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    keep: bool
    folders_only: bool
    base: str


class Ignore:
    """Grows as a walk goes down: `enter` reads a folder's rules, `ignored` asks."""

    def __init__(self, rules: tuple[_Rule, ...] = ()) -> None:
        self._rules = rules

    def enter(self, folder: Path, base: str) -> "Ignore":
        """The rules inside `folder`, which is `base` (posix, no slash at the end) in the walk."""
        try:
            with (folder / ".gitignore").open("rb") as file:
                text = file.read(_MAX_IGNORE_FILE).decode("utf-8", errors="replace")
        except OSError:
            # No rules file here, or not a readable one: the outer rules go on.
            return self
        return self.plus(text, base)

    def plus(self, text: str, base: str) -> "Ignore":
        """With the rules of a `.gitignore` of the folder `base`."""
        rules = [rule for line in text.splitlines() if (rule := _rule(line, base)) is not None]
        return Ignore((*self._rules, *rules))

    def ignored(self, path: str, *, is_folder: bool) -> bool:
        if is_folder and path.rpartition("/")[2] in ALWAYS:
            return True
        for rule in reversed(self._rules):
            if rule.folders_only and not is_folder:
                continue
            inner = path[len(rule.base) + 1 :] if rule.base else path
            if rule.pattern.fullmatch(inner):
                return not rule.keep
        return False


def _rule(line: str, base: str) -> _Rule | None:
    text = line.rstrip()
    if not text or text.startswith("#"):
        return None
    keep = text.startswith("!")
    text = text[1:] if keep else text
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    if not text:
        return None
    anchored = "/" in text
    body = glob_regex(text.lstrip("/"))
    return _Rule(re.compile(body if anchored else f"(?:.*/)?{body}"), keep, folders_only, base)


def glob_regex(glob: str) -> str:
    """A glob as a regular expression: `**` crosses folders, `*` and `?` do not."""
    out: list[str] = []
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at):
            out.append("(?:.*/)?")
            at += 3
        elif glob.startswith("**", at):
            out.append(".*")
            at += 2
        else:
            piece, at = _one(glob, at)
            out.append(piece)
    return "".join(out)


def _one(glob: str, at: int) -> tuple[str, int]:
    char = glob[at]
    match char:
        case "*":
            return "[^/]*", at + 1
        case "?":
            return "[^/]", at + 1
        case "[":
            end = glob.find("]", at + 2)
            if end < 0:
                return re.escape(char), at + 1
            inner = glob[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            inner = f"^{inner[1:]}" if inner.startswith("!") else inner
            return f"[{inner}]", end + 1
        case "{":
            end = glob.find("}", at)
            if end < 0:
                return re.escape(char), at + 1
            choices = "|".join(glob_regex(choice) for choice in glob[at + 1 : end].split(","))
            return f"(?:{choices})", end + 1
        case "\\" if at + 1 < len(glob):
            return re.escape(glob[at + 1]), at + 2
        case _:
            return re.escape(char), at + 1
