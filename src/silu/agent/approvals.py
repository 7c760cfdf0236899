"""What a call may do without asking: rules by tool and pattern, the last match wins.

The mode stands above all of this. A dangerous command is allowed only by a rule that spells it
out; a command line of several parts is as strict as its strictest part.
"""

import glob
import posixpath
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import msgspec

from silu.agent.planning import is_control
from silu.tools.base import Args, Tool
from silu.tools.paths import inside
from silu.tools.read_only import UnprovenError, simple_commands
from silu.types.errors import ToolError
from silu.types.policy import Action, Rule, Scope

_STRICTNESS: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 2}
_SUBJECTS = ("command", "path", "url")
_PLACE = re.compile(r"https?://[^/?#\\@\s*\[]+(?=/)")
"""Scheme and host of a URL: all that a pattern for a site may begin with."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Rules in order, later ones win. Without a matching rule a call that only reads is allowed
    and every other one is asked about."""

    rules: tuple[Rule, ...] = ()


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A person's word on one call. `pattern` widens it for `session` and `always`; `reason` is
    told to the model."""

    decision: Literal["allow", "deny"]
    scope: Scope = "once"
    pattern: str | None = None
    reason: str | None = None


def judge(policy: Policy, tool: Tool, args: Args, more: Sequence[Rule] = ()) -> Action:
    """What the policy says of a call; `more` are rules behind its own (session, always)."""
    if is_control(tool):
        return "allow"
    rules = [rule for rule in (*policy.rules, *more) if fnmatchcase(tool.name, rule.tool)]
    plain: Action = "allow" if _only_reads(tool, args) else "ask"
    subject = subject_of(args)
    if "command" not in args:
        winner = _winner(rules, subject, subject)
        return plain if winner is None else winner.action
    return _strictest(_command(rules, subject, part, plain) for part in _parts(subject))


def placed(args: Args, workspace: Path) -> Args:
    """The arguments with the path that is meant, however it was spelled: rules name files, and
    `src/../x` is none of `src/*`."""
    path = args.get("path")
    if not isinstance(path, str):
        return args
    try:
        meant = inside(workspace, path).as_posix()
    except ToolError:
        # Outside: the file tools refuse it, another tool may have places of its own.
        meant = posixpath.normpath(path.strip())
    return {**args, "path": meant}


def subject_of(args: Args) -> str:
    """What rules are matched against: the command, path or URL, else the arguments as JSON."""
    for name in _SUBJECTS:
        if isinstance(args.get(name), str):
            return str(args[name]).strip()
    return msgspec.json.encode(args).decode()


def suggestions(tool: Tool, args: Args) -> list[str]:
    """Patterns a person may allow with one click: the call itself first, then wider ones."""
    subject = subject_of(args)
    found = [subject]
    if "command" in args:
        parts = _parts(subject)
        if len(parts) == 1 and not is_dangerous(subject) and not is_dangerous(parts[0]):
            words = subject.split()
            found += [f"{' '.join(words[:2])} *"] if len(words) > 2 else []
    elif "path" in args and "/" in subject:
        found.append(f"{subject.rpartition('/')[0]}/*")
    elif "url" in args and (place := _PLACE.match(subject)):
        found.append(f"{place[0]}/*")
    elif not {"path", "url"} & args.keys():
        found.append("*")
    return list(dict.fromkeys(found))


def rule_of(tool: Tool, args: Args, approval: Approval) -> Rule | None:
    """The rule that a person's word leaves behind; `None` for this once."""
    if approval.scope == "once":
        return None
    subject, pattern = subject_of(args), approval.pattern
    if pattern is None or pattern == subject:
        # This very call: a `*` that stands in it is its own and no wider word of the person.
        pattern = glob.escape(subject)
    return Rule(tool=tool.name, action=approval.decision, pattern=pattern)


# ------------------------------------------------------------------------------- commands

_DANGEROUS = re.compile(
    r"""
    \b(?:sudo|doas|su|mkfs\S*|fdisk|parted|shutdown|reboot|halt|poweroff|crontab|systemctl|iptables
      |eval|chroot|mount|umount|ssh|scp|sftp|nc|ncat|telnet|docker|podman|kubectl)\b
    | \brm\b.*\s-\S*[rRf] | \brm\b.*--(?:recursive|force|no-preserve-root)
    | \bdd\b.*\bof= | \bfind\b.*-(?:delete|exec|execdir|ok|okdir)\b
    | \bch(?:mod|own|grp)\b.*\s(?:-\S*R|--recursive)
    | \bgit\b.*\b(?:push|clean|filter-branch|update-ref)\b | \bgit\b.*\breset\b.*--hard
    | \bgit\b.*\bcheckout\b.*\s(?:\.|--)(?:\s|$) | \bgit\b.*\brestore\b
    | \bgit\b.*\b(?:branch|tag)\b.*\s-\S*[dD]
    | \b(?:npm|yarn|pnpm|cargo|twine|gem)\b.*\bpublish\b | \btwine\b.*\bupload\b
    | \b(?:curl|wget)\b.*\|\s*\S*sh\b | >\s*/dev/(?!null\b) | :\(\)\s*\{ | \bkill(?:all)?\b\s+-9
    | \bshred\b | \btruncate\b
    """,
    re.VERBOSE | re.DOTALL,
)


def is_dangerous(command: str) -> bool:
    """True for commands that destroy, leave the machine, or run what cannot be seen."""
    return _DANGEROUS.search(command) is not None


def _parts(command: str) -> list[str]:
    """The simple commands of a line; the line itself when it holds more than words and lists."""
    try:
        return [" ".join(words) for words in simple_commands(command)]
    except UnprovenError:
        return [command]


def _command(rules: list[Rule], whole: str, part: str, plain: Action) -> Action:
    winner = _winner(rules, whole, part)
    if winner is None:
        return plain
    if winner.action != "allow" or _spells_out(winner, whole):
        return winner.action
    # Behind `git *` anything could follow in a line that cannot be taken apart.
    hidden = winner.pattern != "*" and _is_opaque(part)
    # Both as it was written and as the shell reads it: quotes can hide a word.
    too_broad = hidden or is_dangerous(whole) or is_dangerous(part)
    return plain if too_broad else "allow"


def _spells_out(rule: Rule, whole: str) -> bool:
    return rule.pattern in {whole, glob.escape(whole)}


def _is_opaque(part: str) -> bool:
    try:
        simple_commands(part)
    except UnprovenError:
        return True
    return False


def _winner(rules: list[Rule], whole: str, part: str) -> Rule | None:
    """The last rule that names the whole call or matches this part of it."""
    for rule in reversed(rules):
        if _spells_out(rule, whole) or fnmatchcase(part, rule.pattern):
            return rule
    return None


def _strictest(actions: Iterable[Action]) -> Action:
    return max(actions, key=lambda action: _STRICTNESS[action])


def _only_reads(tool: Tool, args: Args) -> bool:
    if tool.proves_read_only is not None and tool.proves_read_only(args):
        return True
    return bool(tool.effects) and tool.effects <= {"read", "interact"}
