"""The bytes sent: within an epoch a request begins with all of the one before, for every vendor."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from silu.agent.memory import MemoryRun, Told
from silu.fakes import Think, answer, play
from silu.types import facts
from silu.types.levels import Level
from silu.types.todos import Todo
from tests.agent.bench import LIST, READ, bench, todo
from tests.fakes.places import NAMES, PLACES, Place

pytestmark = pytest.mark.anyio

_CONVERSATION = ("messages", "input", "contents")
_MARKS = ("cache_control", "cachePoint")
"""Where a vendor may cache; they move with the end and are no part of what it reads."""


@pytest.mark.parametrize("place", PLACES, ids=NAMES)
async def test_a_request_begins_with_all_of_the_one_before(tmp_path: Path, place: Place) -> None:
    fake = place.make(
        play(
            answer(Think("a"), todo(("1", "look", "in_progress"), ("2", "tell", "pending"))),
            answer(Think("b"), READ, LIST),
            answer(Think("c"), todo(("1", "", "completed"), ("2", "", "completed"), merge=True)),
            answer("It is 42."),
            answer(Think("d"), "Yes."),
            answer(Think("e"), READ),
            answer("Bye."),
        )
    )
    model = place.main or place.models[0]
    async with bench(
        fake, tmp_path, like=place.like, dialect=place.dialect, model=model, path=place.path
    ) as b:

        def steer(run: MemoryRun, told: Told) -> None:
            if isinstance(told, facts.ToolResult) and told.name == "read_file":
                run.steer("be quick")
                run.set_mode("build" if run.mode() == "plan" else "plan")

        b.watch = steer
        await b.say("What is it?", level=Level.HIGH)
        b.session.todos = [Todo(id="9", content="the person's own", status="pending")]
        await b.say("Sure? <silu-x>", level=Level.HIGH)
        await b.say("再见", level=Level.HIGH)
        assert b.fake.refusals == []
        sent = [call.body.encode() for call in b.session.calls]
        assert len(sent) == 7
        told = sent[-1].decode()
        for words in ("be quick", "The mode is plan.", "The mode is build.", "the person's own"):
            assert words in told
        for before, after in pairwise(sent):
            grows(before, after)
        assert len(b.session.epochs) == 1


def grows(before: bytes, after: bytes) -> None:
    """`after` says all that `before` said, to the byte, and then more."""
    old, new = msgspec.json.decode(before), msgspec.json.decode(after)
    (key,) = [name for name in _CONVERSATION if name in old]
    for name in {*old, *new} - {key}:
        assert unmarked(old.get(name)) == unmarked(new.get(name)), name
        assert encoded(new[name]) in after
    assert encoded(new[key]) in after and encoded(old[key]) in before
    kept = new[key][: len(old[key])]
    assert encoded(unmarked(kept)) == encoded(unmarked(old[key]))
    assert len(new[key]) > len(old[key])


def encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)


def unmarked(value: Any) -> Any:
    match value:
        case Mapping():
            return {k: unmarked(v) for k, v in value.items() if k not in _MARKS}
        case list():
            return [unmarked(v) for v in value if not _is_mark(v)]
        case _:
            return value


def _is_mark(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value) and set(value) <= set(_MARKS)
