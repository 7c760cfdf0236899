"""Hooks that really run: what they may refuse, change and see, and what happens when they fail."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from silu.config.hooks import HookFile
from silu.tools import Tool, ToolContext, ToolOutput, object_schema
from silu.tools.hooks import Hooks
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError, UserError
from silu.types.hooks import Hook

pytestmark = pytest.mark.anyio

READS = "import json, os, sys; told = json.load(sys.stdin); "


class Guarded:
    """A tool that repeats its word, with hooks around it, in a folder of its own."""

    def __init__(self, folder: Path, *hooks: Hook, **env: str) -> None:
        self.context = ToolContext(workspace=folder, call_id="c1", session_id="s1", run_id="r1")
        self.reports: list[str] = []
        made = Hooks(
            hooks=hooks, variable=env.get, report=lambda words, _: self.reports.append(words)
        )
        self.plain = plain()
        self.tool = made.around(self.plain)

    async def prepare(self, **args: Any) -> dict[str, Any]:
        assert self.tool.prepare is not None
        return await self.tool.prepare(args, self.context)


def no_variable(name: str) -> str | None:
    return None


def plain() -> Tool:
    async def run(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        if args["word"] == "bad":
            raise ToolError("no such word")
        return ToolOutput(text=args["word"])

    parameters = object_schema({"word": {"type": "string"}})
    spec = ToolSpec(name="say", description="", parameters=parameters)
    return Tool(spec=spec, effects=frozenset({"read"}), run=run)


def before(code: str, **more: Any) -> Hook:
    return Hook(event="before", command=(sys.executable, "-c", READS + code), **more)


def after(code: str, **more: Any) -> Hook:
    return Hook(event="after", command=(sys.executable, "-c", READS + code), **more)


def keep(name: str) -> str:
    return f"open({name!r}, 'w').write(json.dumps(told))"


async def test_a_hook_is_told_the_call_and_where_it_happens(tmp_path: Path) -> None:
    guarded = Guarded(tmp_path, before(keep("told.json")))
    assert await guarded.prepare(word="hello") == {"word": "hello"}
    told = msgspec.json.decode((tmp_path / "told.json").read_bytes())
    assert told == {
        "event": "before",
        "tool": "say",
        "arguments": {"word": "hello"},
        "effects": ["read"],
        "call_id": "c1",
        "session_id": "s1",
        "run_id": "r1",
        "mode": "build",
        "workspace": str(tmp_path),
    }


@pytest.mark.parametrize(
    "code",
    [
        "print(json.dumps({'decision': 'deny', 'reason': 'not on a Sunday'}))",
        "sys.stderr.write('not on a Sunday'); sys.exit(2)",
    ],
)
async def test_a_hook_refuses_by_its_answer_or_by_exit_code_2_with_its_reason(
    tmp_path: Path, code: str
) -> None:
    guarded = Guarded(tmp_path, before(code))
    with pytest.raises(ToolError, match=r"refused it\. not on a Sunday"):
        await guarded.prepare(word="hello")
    assert guarded.reports == []


async def test_changed_arguments_reach_the_next_hook_and_the_call(tmp_path: Path) -> None:
    louder = "print(json.dumps({'arguments': {'word': told['arguments']['word'] + '!'}}))"
    guarded = Guarded(tmp_path, before(louder), before(louder))
    assert await guarded.prepare(word="hello") == {"word": "hello!!"}


@pytest.mark.parametrize(
    ("hook", "why"),
    [
        (before("sys.exit('out of order')"), "ended with code 1: out of order"),
        (before("print('yes')"), "its answer cannot be read"),
        (before("import time; time.sleep(9)", seconds=0.2), r"took more than 0\.2 seconds"),
        (Hook(event="before", command=("/no/such/guard",)), "could not be started"),
    ],
)
async def test_a_guard_that_fails_refuses_the_call_and_the_person_is_told(
    tmp_path: Path, hook: Hook, why: str
) -> None:
    guarded = Guarded(tmp_path, hook)
    with pytest.raises(ToolError, match=why):
        await guarded.prepare(word="hello")
    assert len(guarded.reports) == 1


async def test_a_failing_guard_lets_the_call_pass_only_where_the_person_said_so(
    tmp_path: Path,
) -> None:
    guarded = Guarded(tmp_path, before("sys.exit(1)", on_failure="allow"))
    assert await guarded.prepare(word="hello") == {"word": "hello"}
    assert guarded.reports == ["A hook before say failed: it ended with code 1."]


@pytest.mark.parametrize(("word", "status"), [("hello", "ok"), ("bad", "error")])
async def test_an_after_hook_sees_the_result_also_of_a_failed_call(
    tmp_path: Path, word: str, status: str
) -> None:
    guarded = Guarded(tmp_path, after(keep("seen.json")))
    try:
        await guarded.tool.run({"word": word}, guarded.context)
    except ToolError:
        assert word == "bad"
    seen = msgspec.json.decode((tmp_path / "seen.json").read_bytes())
    assert (seen["event"], seen["status"]) == ("after", status)
    assert seen["result"] == ("hello" if status == "ok" else "no such word")


async def test_an_after_hook_that_fails_changes_nothing_but_is_reported(tmp_path: Path) -> None:
    guarded = Guarded(tmp_path, after("sys.exit(4)"))
    assert (await guarded.tool.run({"word": "hello"}, guarded.context)).text == "hello"
    assert guarded.reports == ["A hook after say failed: it ended with code 4."]


async def test_hooks_are_for_the_tools_their_pattern_names(tmp_path: Path) -> None:
    guarded = Guarded(tmp_path, before("sys.exit(2)", tools="s?y*"), after("", tools="shell"))
    assert guarded.tool.prepare is not None
    assert guarded.tool.run is guarded.plain.run


async def test_a_hook_sees_of_our_variables_only_those_it_was_given(tmp_path: Path) -> None:
    shown = "open('env', 'w').write(' '.join(sorted(os.environ)))"
    env = {"API_KEY": "sk-1", "PAGER_TOKEN": "t", "PATH": "/usr/bin:/bin"}
    guarded = Guarded(tmp_path, before(shown, pass_env=("PAGER_TOKEN",)), **env)
    await guarded.prepare(word="hello")
    seen = (tmp_path / "env").read_text().split()
    assert "PAGER_TOKEN" in seen
    assert "API_KEY" not in seen


async def test_a_tools_own_preparation_comes_before_the_hooks(tmp_path: Path) -> None:
    async def doubled(args: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        return {"word": args["word"] * 2}

    louder = "print(json.dumps({'arguments': {'word': told['arguments']['word'] + '!'}}))"
    guarded = Guarded(tmp_path, before(louder))
    hooks = Hooks(hooks=[before(louder)], variable=no_variable, report=lambda words, context: None)
    tool = hooks.around(replace(guarded.plain, prepare=doubled))
    assert tool.prepare is not None
    assert await tool.prepare({"word": "ha"}, guarded.context) == {"word": "haha!"}


def test_hooks_are_read_from_their_file_in_order(tmp_path: Path) -> None:
    file = tmp_path / "hooks.json"
    assert HookFile(file).all() == ()
    file.write_text('{"hooks": [{"event": "before", "command": ["guard"], "tools": "shell"}]}')
    assert HookFile(file).all() == (Hook(event="before", command=("guard",), tools="shell"),)


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks": [{"event": "before", "command": []}]}',
        '{"hooks": [{"event": "before", "command": [" "]}]}',
        '{"hooks": [{"event": "before", "command": ["x"], "seconds": 0}]}',
        '{"hooks": [{"event": "sometimes", "command": ["x"]}]}',
        "{",
    ],
)
def test_a_guard_that_is_written_wrongly_is_an_error_that_names_the_file(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "hooks.json"
    file.write_text(text)
    with pytest.raises(UserError, match=r"hooks\.json"):
        HookFile(file).all()
