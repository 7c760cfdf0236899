"""What a session's system text says beside silu's own words: the persona of an agent, the
person's prompt, AGENTS.md, the list of skills. Read once, at the start of an epoch."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import msgspec

AGENTS_FILE = "AGENTS.md"

MOST_BYTES = 32_000
"""Of a longer AGENTS.md only the beginning goes into the system text, and it says so."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a system text was made from; `path` is shown to the person."""

    path: str
    sha256: str


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """An AGENTS.md: its path as the model is told, its text, and its digest."""

    path: str
    text: str
    sha256: str


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a system text that are not silu's own; empty ones are left out.

    `persona` replaces the identity (an agent's file), `prompt` is the person's own for this
    session, `skills` the list of skills as it is told.
    """

    persona: str = ""
    prompt: str = ""
    rules: tuple[Rules, ...] = ()
    skills: str = ""
    sources: tuple[Source, ...] = ()

    def all_sources(self) -> list[Source]:
        """Everything that was read for it."""
        own = [Source(path=rules.path, sha256=rules.sha256) for rules in self.rules]
        return [*own, *self.sources]


BriefOf = Callable[[], Brief]
"""Reads a brief anew; blocking."""


def subagent_persona() -> str:
    """Who a sub-agent is told to be."""
    return (Path(__file__).parent / "prompts" / "subagent.md").read_text(encoding="utf-8")


def subagent_brief() -> Brief:
    """The brief of a sub-agent that has nothing of its own."""
    return Brief(persona=subagent_persona())


def no_brief() -> Brief:
    return Brief()


def read_rules(workspace: Path, *, user: Path | None = None) -> tuple[Rules, ...]:
    """The person's own AGENTS.md (`user`, a folder) and the workspace's, in this order.

    One that is a link out of its folder, no regular file or no text is passed over: rules come
    from the place they are said to come from.
    """
    found = [_read(folder, shown) for folder, shown in _places(workspace, user)]
    return tuple(rules for rules in found if rules is not None)


def _places(workspace: Path, user: Path | None) -> list[tuple[Path, str]]:
    own = [] if user is None else [(user, f"{AGENTS_FILE} of the person")]
    return [*own, (workspace, AGENTS_FILE)]


def _read(folder: Path, shown: str) -> Rules | None:
    file = folder / AGENTS_FILE
    try:
        if not file.resolve().is_relative_to(folder.resolve()) or not file.is_file():
            return None
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
        text = data[:MOST_BYTES].decode("utf-8", errors="replace").strip()
    except OSError:
        # Not readable for us: as if it were not there.
        return None
    if not text or "\0" in text:
        return None
    if len(data) > MOST_BYTES:
        text += f"\n\n[{AGENTS_FILE} is longer; read the rest with read_file when you need it]"
    return Rules(path=shown, text=text, sha256=hashlib.sha256(data).hexdigest())
