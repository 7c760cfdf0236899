"""What answers taught us about (base URL, model): kept, shown, forgotten on request.

A fact's name is one of `FACTS`; it is applied on top of the family's facts, so that the same
refusal does not come twice.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from silu.config.files import SharedFile
from silu.providers.facts import Facts
from silu.types.capabilities import Learned
from silu.types.levels import ORDER, Level

FACTS: dict[str, str] = {
    "levels": "accepts only these efforts (a list of the vendor's words)",
    "no_thinking": "does not think (`model`), or takes no field for it (`field`)",
    "adaptive_only": "takes `adaptive` with an effort instead of a budget",
    "forced": "always thinks",
    "budget_max": "the largest thinking budget in tokens",
    "no_summary": "gives no summaries of its thinking to this account",
    "no_sampling": "takes no temperature and no top_p",
    "tool_choice": "takes no forced tool choice (`thinking`: not while thinking)",
    "stream_only": "answers only as a stream",
    "filler": "wants this filler where a message has no thinking",
    "signature_filler": "wants a signature on calls of its own that came without one",
    "drop_block": "lets go of thinking that belongs to another conversation when told to",
    "no_echo": "refuses thinking in the history",
    "max_tokens_field": "the name of the output limit",
    "max_output": "the largest output limit in tokens",
    "no_usage_option": "takes no stream_options",
}


class LearnedStore(Protocol):
    """Where learned facts are kept; a newer fact of the same name replaces the older one."""

    def of(self, endpoint: str, model: str) -> list[Learned]: ...

    def learn(self, fact: Learned) -> None: ...

    def forget(self, endpoint: str, model: str | None = None, fact: str | None = None) -> int:
        """Forget what matches; gives how many facts that were."""
        ...

    def all(self) -> list[Learned]: ...


class MemoryLearned:
    """Learned facts of this process only."""

    def __init__(self, facts: Iterable[Learned] = ()) -> None:
        self._facts = list(facts)

    def of(self, endpoint: str, model: str) -> list[Learned]:
        return [x for x in self._facts if (x.endpoint, x.model) == (endpoint, model)]

    def learn(self, fact: Learned) -> None:
        self._facts = _with(self._facts, fact)

    def forget(self, endpoint: str, model: str | None = None, fact: str | None = None) -> int:
        kept = [x for x in self._facts if not _matches(x, endpoint, model, fact)]
        gone = len(self._facts) - len(kept)
        self._facts = kept
        return gone

    def all(self) -> list[Learned]:
        return list(self._facts)


class FileLearned:
    """Learned facts in a JSON file that all processes of a data folder share."""

    def __init__(self, path: Path) -> None:
        self._file: SharedFile[list[Learned]] = SharedFile(path, list[Learned], empty=list[Learned])

    def of(self, endpoint: str, model: str) -> list[Learned]:
        return [x for x in self._file.read() if (x.endpoint, x.model) == (endpoint, model)]

    def learn(self, fact: Learned) -> None:
        self._file.change(lambda facts: _with(facts, fact))

    def forget(self, endpoint: str, model: str | None = None, fact: str | None = None) -> int:
        before = len(self._file.read())
        kept = self._file.change(
            lambda facts: [x for x in facts if not _matches(x, endpoint, model, fact)]
        )
        return before - len(kept)

    def all(self) -> list[Learned]:
        return list(self._file.read())


def _with(facts: list[Learned], new: Learned) -> list[Learned]:
    key = (new.endpoint, new.model, new.fact)
    return [x for x in facts if (x.endpoint, x.model, x.fact) != key] + [new]


def _matches(x: Learned, endpoint: str, model: str | None, fact: str | None) -> bool:
    return x.endpoint == endpoint and model in {None, x.model} and fact in {None, x.fact}


def apply(facts: Facts, learned: Sequence[Learned], *, off_is_effort: bool = False) -> Facts:
    """The family's facts as corrected by what was learned, oldest first.

    `off_is_effort` says that off is one of the vendor's effort words, so that a list of accepted
    efforts also tells whether there is an off.
    """
    for item in learned:
        if item.fact == "levels":
            words = [str(word) for word in item.value]
            facts = only_efforts(facts, words, off_is_effort=off_is_effort)
        else:
            facts = _apply_one(facts, item.fact, item.value)
    return facts


def _apply_one(facts: Facts, fact: str, value: Any) -> Facts:
    changes: dict[str, Any]
    match fact:
        case "no_thinking":
            if value == "model":
                changes = {"thinking": "unsupported"}
            else:
                # The server takes no such field; whether the model thinks stays its own affair.
                changes = {"thinking": "unknown", "levels": (), "default": None}
        case "adaptive_only":
            levels = tuple(x for x in facts.levels if x is not Level.MINIMAL)
            changes = {"levels": levels, "budgets": {}, "adaptive": True}
        case "forced":
            levels = tuple(x for x in facts.levels if x is not Level.OFF)
            changes = {"thinking": "supported", "levels": levels}
        case "budget_max":
            changes = {"budget_max": int(value)}
        case "no_summary":
            changes = {"extra": {**facts.extra, "no_summary": True}}
        case "drop_block":
            changes = {"extra": {**facts.extra, "drop_block": True}}
        case "no_sampling":
            changes = {"sampling": "never"}
        case "tool_choice":
            name = "tool_choice_thinking" if value == "thinking" else "tool_choice"
            changes = {name: ("auto", "none")}
        case "filler":
            changes = {"filler": str(value), "filler_on": "assistant", "echo": "all"}
        case "no_echo":
            changes = {"echo": "never", "filler": None, "filler_on": "nowhere"}
        case _:
            # The others concern the request, not the thinking; `profile` reads them.
            changes = {}
    return replace(facts, **changes)


def only_efforts(facts: Facts, words: Sequence[str], *, off_is_effort: bool = False) -> Facts:
    """Keep the levels whose word the vendor accepts; a list of strange words changes nothing."""
    known = {level.value: level for level in ORDER if level is not Level.OFF}
    known |= {own: level for level, own in facts.efforts.items()}
    accepted = {known[word] for word in words if word in known}
    if off_is_effort:
        off = facts.efforts.get(Level.OFF, "none") in words
    else:
        off = Level.OFF in facts.levels
    thinking = tuple(x for x in ORDER if x in accepted and x is not Level.OFF)
    if not thinking:
        return facts
    return replace(
        facts,
        thinking="supported",
        levels=(Level.OFF, *thinking) if off else thinking,
        default=facts.default if facts.default in accepted else None,
        switch_only=False,
    )
