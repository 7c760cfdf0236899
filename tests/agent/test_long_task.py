"""A task of thirty steps in a small repository with failing tests, for every dialect."""

import subprocess
import sys
from pathlib import Path

import pytest

from silu import fakes
from silu.fakes import Answer, Call, Say, Think, answer, play
from silu.tools.editing import editing_tools
from silu.tools.sandbox import Sandbox
from silu.tools.shell import shell_tool
from silu.types import facts
from silu.types.levels import Level
from silu.types.parts import Message, ToolResultPart
from tests.agent.bench import Bench, bench, todo
from tests.fakes.places import PLACES, Place

pytestmark = pytest.mark.anyio

SHOP = """\
def total(prices):
    return sum(prices) + 1


def discount(price, percent):
    return price - percent


def slug(title):
    return title.lower()
"""
TESTS = """\
import unittest

from shop import discount, slug, total


class Shop(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_discount(self):
        self.assertEqual(discount(200, 10), 180)

    def test_slug(self):
        self.assertEqual(slug("Red Hat"), "red-hat")


unittest.main()
"""
RUN = Call("shell", {"command": f"{sys.executable} -B test_shop.py"})

FIXES = (
    ("total", "return sum(prices) + 1", "return sum(prices)"),
    ("discount", "return price - percent", "return price * (100 - percent) / 100"),
    ("slug", "return title.lower()", 'return title.lower().replace(" ", "-")'),
)
ITEMS = [("0", "see what fails"), *((str(n), f"mend {f[0]}") for n, f in enumerate(FIXES, 1))]

OF_EACH_DIALECT = [
    next(place for place in PLACES if place.make is make and place.dialect is None)
    for make in (
        fakes.FakeDeepSeek,
        fakes.FakeAnthropic,
        fakes.FakeOpenAI,
        fakes.FakeGemini,
        fakes.FakeOllama,
        fakes.FakeBedrock,
    )
]


def steps() -> list[Answer]:
    """What the model does, a step each: look, plan, then mend one function after the other."""
    read = Call("read_file", {"path": "shop.py"})
    done = [answer(Think("Let me look."), Call("list_files", {}))]
    plan = [(i, text, "in_progress" if i == "0" else "pending") for i, text in ITEMS]
    done += [answer(Think("A list helps."), todo(*plan)), answer(read), answer(RUN)]
    for number, (name, old, new) in enumerate(FIXES, 1):
        moved = todo(
            (str(number - 1), "", "completed"), (str(number), "", "in_progress"), merge=True
        )
        edit = Call("edit_file", {"path": "shop.py", "old": old, "new": new})
        done += [
            answer(Think(f"Now {name}."), moved),
            answer(Call("search_files", {"pattern": f"def {name}"}), read),
            answer(Think("It has to be there."), Call("edit_file", {**edit.args, "old": "absent"})),
            answer(Think("No: this."), edit),
            answer(Say("Is it right?"), read),
            answer(Call("search_files", {"pattern": new})),
            answer(Think("Run them."), RUN),
        ]
    done += [
        answer(
            Think("Write it down."), Call("write_file", {"path": "NOTES.md", "content": "ok\n"})
        ),
        answer(Call("read_file", {"path": "NOTES.md"}), Call("list_files", {})),
        answer(todo((str(len(FIXES)), "", "completed"), merge=True)),
        answer(Call("todo", {})),
        answer(Think("All green."), "All three functions work, the tests pass."),
    ]
    return done


def results(messages: list[Message], name: str) -> list[ToolResultPart]:
    parts = (part for message in messages for part in message.parts)
    return [part for part in parts if isinstance(part, ToolResultPart) and part.name == name]


@pytest.mark.parametrize("place", OF_EACH_DIALECT, ids=lambda place: place.like)
async def test_a_long_task_ends_with_green_tests_and_a_settled_list(
    tmp_path: Path, place: Place
) -> None:
    script = steps()
    assert len(script) == 30
    fake, model = place.make(play(*script)), place.main or place.models[0]
    async with bench(
        fake, tmp_path, like=place.like, dialect=None, model=model, path=place.path
    ) as b:
        (b.session.workspace / "shop.py").write_text(SHOP)
        (b.session.workspace / "test_shop.py").write_text(TESTS)
        b.tools = b.tools.plus([*editing_tools(), shell_tool(Sandbox(program=None, state="off"))])
        outcome = await b.say("Make the tests pass.", level=Level.HIGH)
        assert (fake.refusals, getattr(fake, "complaints", [])) == ([], [])
        assert outcome.status == "completed"
        check(b)


def check(b: Bench) -> None:
    assert len(b.session.calls) == 30
    folder = b.session.workspace
    text = SHOP
    for _, old, new in FIXES:
        text = text.replace(old, new)
    assert (folder / "shop.py").read_text() == text
    assert (folder / "NOTES.md").read_text() == "ok\n"
    green = subprocess.run(
        [sys.executable, "-B", "test_shop.py"], cwd=folder, capture_output=True, check=False
    )
    assert green.returncode == 0
    assert [item.status for item in b.session.todos] == ["completed"] * 4
    assert [r.status for r in results(b.messages, "shell")] == ["error"] * 3 + ["ok"]
    assert [r.status for r in results(b.messages, "edit_file")] == ["error", "ok"] * 3
    last = b.facts("todo_update")[-1]
    assert isinstance(last, facts.TodoUpdate) and last.summary.completed == 4
    assert b.done.usage.api_calls == 30
