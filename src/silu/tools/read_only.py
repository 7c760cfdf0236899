"""Which shell commands are known to change nothing, with their flags and redirections.

A list of what is proven, not of what is forbidden: a command, a flag or a piece of shell that is
not known here counts as one that writes (F123, F124).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass


class UnprovenError(Exception):
    """The command is not known to change nothing."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command; `bare` is false when any of it was quoted."""

    text: str
    bare: bool


Words = list[Word]

_SAFE = re.compile(r"[^\s'\"\\$`;&|<>(){}\[\]*?!~#]+")
_INTO_NOTHING = re.compile(r"(?:[12]?>\s*/dev/null|2>&1|&>\s*/dev/null)(?=\s|$|[;|&])")
_SEPARATOR = re.compile(r"&&|\|\||[;|]")


def proves_read_only(command: str) -> bool:
    """True when every part of the command line is known to change nothing."""
    try:
        return all(_is_harmless(words) for words in _commands(command))
    except UnprovenError:
        return False


def simple_commands(command: str) -> list[list[str]]:
    """The words of each simple command of a line made of words, pipes and lists alone.

    Raises `UnprovenError` for any other shell: what such a line does cannot be told from it.
    """
    return [[word.text for word in words] for words in _commands(command)]


# --------------------------------------------------------------------------------- shell


def _commands(line: str) -> list[Words]:
    """A line cut into simple commands; everything but words, pipes and lists is unproven."""
    commands: list[Words] = [[]]
    at = 0
    while at < len(line):
        if line[at] in " \t":
            at += 1
        elif match := _INTO_NOTHING.match(line, at):
            at = match.end()
        elif match := _SEPARATOR.match(line, at):
            commands.append([])
            at = match.end()
        else:
            word, at = _word(line, at)
            commands[-1].append(word)
    if any(not words for words in commands):
        raise UnprovenError
    return commands


def _word(line: str, at: int) -> tuple[Word, int]:
    text: list[str] = []
    start = at
    bare = True
    while at < len(line) and line[at] not in " \t;|&<>":
        char = line[at]
        if char in "'\"":
            end = line.find(char, at + 1)
            inner = line[at + 1 : end]
            if end < 0 or (char == '"' and re.search(r"[$`\\!]", inner)):
                raise UnprovenError
            text.append(inner)
            bare, at = False, end + 1
        elif match := _SAFE.match(line, at):
            text.append(match.group())
            at = match.end()
        elif char in "*?[]~#" and at > start:
            # At the start of a word a pattern could match a file named like an option, and ~
            # and # mean something else.
            text.append(char)
            at += 1
        else:
            raise UnprovenError
    if at == start:
        raise UnprovenError
    return Word("".join(text), bare), at


# ------------------------------------------------------------------------------- commands

Check = Callable[[list[str]], bool]


def _any(args: list[str]) -> bool:
    return True


def _without(*flags: str) -> Check:
    """No argument that is, or begins like, one of these flags (also joined short ones)."""
    longs = tuple(flag for flag in flags if flag.startswith("--"))
    shorts = {flag[1] for flag in flags if not flag.startswith("--")}

    def check(args: list[str]) -> bool:
        for arg in args:
            if arg.startswith("--"):
                name = arg.split("=", 1)[0]
                # Long options may be shortened: --out means --output.
                if any(long.startswith(name) for long in longs) and name != "--":
                    return False
            elif arg.startswith("-") and shorts & set(arg[1:]):
                return False
        return True

    return check


def _at_most(count: int) -> Check:
    """No more than `count` operands; `-` is one, and behind `--` everything is."""

    def check(args: list[str]) -> bool:
        end = args.index("--") if "--" in args else len(args)
        operands = [arg for arg in args[:end] if arg == "-" or not arg.startswith("-")]
        return len(operands) + len(args[end + 1 :]) <= count

    return check


def _only(*words: str) -> Check:
    """No argument but these."""
    known = frozenset(words)
    return known.issuperset


_DATE_VALUES = frozenset({"-d", "--date", "-r", "--reference"})


def _date(args: list[str]) -> bool:
    """An operand that is no format, and no value of an option, sets the clock."""
    operands = [
        arg
        for before, arg in zip(["", *args], args, strict=False)
        if not arg.startswith(("-", "+")) and before not in _DATE_VALUES
    ]
    return not operands and _DATE_FLAGS(args)


_FIND_FORBIDDEN = re.compile(r"-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)$")


def _find(args: list[str]) -> bool:
    return not any(_FIND_FORBIDDEN.match(arg) for arg in args)


_SED_PRINT = re.compile(r"(?:\d+|\$)(?:,(?:\d+|\$))?p")


def _sed(args: list[str]) -> bool:
    return (
        len(args) >= 2
        and args[0] in {"-n", "--quiet", "--silent"}
        and _SED_PRINT.fullmatch(args[1]) is not None
        and not any(arg.startswith("-") for arg in args[2:])
    )


_GIT_FLAGS = _without(
    *("--output", "--ext-diff", "--textconv", "--filters", "--open-files-in-pager"),
    *("--exec", "--upload-pack", "-O"),
)
_GIT_FREE = frozenset(
    {
        "blame",
        "cat-file",
        "describe",
        "diff",
        "log",
        "ls-files",
        "ls-tree",
        "merge-base",
        "name-rev",
        "rev-list",
        "rev-parse",
        "shortlog",
        "show",
        "status",
    }
)
_GIT_ONLY: dict[str, frozenset[str]] = {
    "branch": frozenset(
        {"-a", "--all", "-r", "--remotes", "-v", "-vv", "--list", "--show-current"}
    ),
    "tag": frozenset({"-l", "--list", "-n"}),
    "remote": frozenset({"-v", "--verbose"}),
    "stash": frozenset({"list", "show"}),
    "worktree": frozenset({"list"}),
}
"""Subcommands that change something as soon as they are given a name: only these words."""


def _git(args: list[str]) -> bool:
    if args[:1] == ["--no-pager"]:
        args = args[1:]
    if not args:
        return False
    command, rest = args[0], args[1:]
    if command in _GIT_ONLY:
        known = _GIT_ONLY[command]
        needs_one = command in {"stash", "worktree"}
        return all(arg in known for arg in rest) and not (needs_one and not rest)
    # Short flags of `-O` style are looked at as words: `-O` runs a program.
    return command in _GIT_FREE and _GIT_FLAGS(rest)


_SORT = _without("-o", "--output", "--compress-program", "-T", "--temporary-directory")
_RG = _without("--pre", "--pre-glob", "--hostname-bin", "-z", "--search-zip")
_FD = _without("-x", "-X", "--exec", "--exec-batch")
_DATE_FLAGS = _without("-s", "--set")
_TREE = _without("-o", "-R", "--output")
_TAIL = _without("-f", "-F", "--follow", "--retry")
_FILE = _without("-C", "--compile", "-m", "--magic-file", "-z", "--uncompress")
_JQ = _without("-f", "--from-file", "-L")
_HOSTNAME = _only("-f", "--fqdn", "-s", "--short", "-d", "-i", "-I")

_PLAIN = """
basename cat cksum cmp comm cut df diff dirname du echo egrep expand false fgrep fold grep head id
join ls md5sum nl nproc od paste printf pwd readlink realpath rev seq sha1sum sha256sum sha512sum
stat strings tac test tr true type uname wc which whoami
"""
"""Commands that write nothing, whatever their flags."""

_KNOWN: dict[str, Check] = {
    **dict.fromkeys(_PLAIN.split(), _any),
    "column": _any,
    "date": _date,
    "fd": _FD,
    "file": _FILE,
    "find": _find,
    "git": _git,
    "hostname": _HOSTNAME,
    "jq": _JQ,
    "rg": _RG,
    "sed": _sed,
    "sort": _SORT,
    "tail": _TAIL,
    "tree": _TREE,
    # Its second operand is a file it writes.
    "uniq": _at_most(1),
}


def _is_harmless(words: Words) -> bool:
    first, args = words[0], [word.text for word in words[1:]]
    if not first.bare:
        return False
    if first.text == "cd" and len(args) <= 1:
        return True
    check = _KNOWN.get(first.text)
    return check is not None and check(args)
