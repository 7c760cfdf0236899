"""silu as a library: single calls against a strict fake, and what a script sees of mistakes."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import silu
from silu import fakes
from silu.config import Paths, Settings
from silu.config.endpoints import Endpoint
from silu.fakes import Call, FakeDeepSeek, Think, answer, play
from silu.types.calls import CallEnd, CallRequest, CallStart, ToolSpec
from silu.types.events import TextDelta, ThinkingDelta
from silu.types.parts import TextPart, ToolCallPart, ToolResultPart

REF = "vendor/deepseek-v4-pro"
LOOK = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}


@silu.tool(effects={"read"})
def look() -> str:
    """Look."""
    return "seen"


def settings(folder: Path, **env: str) -> Settings:
    given = {"FAKE_KEY": "test-key", "NO_PROXY": "127.0.0.1", "SILU_DEMO_RATE": "0", **env}
    return Settings.load(Paths.under(folder), given)


@asynccontextmanager
async def at_deepseek(
    folder: Path, *answers: fakes.Answer
) -> AsyncIterator[tuple[silu.Client, FakeDeepSeek]]:
    fake = FakeDeepSeek(play(*answers))
    own = settings(folder)
    async with fakes.serve(fake) as url:
        own.endpoints.put(
            Endpoint(name="vendor", url=url, like="deepseek", key_env="FAKE_KEY", models=())
        )
        async with silu.Client(own) as client:
            yield client, fake


@pytest.mark.anyio
async def test_a_stream_shows_thinking_then_text_and_ends_with_the_whole_message(
    tmp_path: Path,
) -> None:
    async with at_deepseek(tmp_path, answer(Think("hm, tea"), "Tea.")) as (client, fake):
        events = [event async for event in client.stream(REF, "Tea or coffee?", level="HIGH")]
    assert isinstance(events[0], CallStart)
    assert "".join(e.text for e in events if isinstance(e, ThinkingDelta)) == "hm, tea"
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Tea."
    assert isinstance(events[-1], CallEnd) and events[-1].failure is None
    assert events[0].resolution.effective == "high"
    assert fake.refusals == []


@pytest.mark.anyio
@pytest.mark.parametrize("tool", [LOOK, ToolSpec(**LOOK), look], ids=["mapping", "spec", "tool"])  # type: ignore[arg-type] # LOOK's values are of the fields' types
async def test_a_tool_loop_by_hand_sends_the_thinking_back(tmp_path: Path, tool: Any) -> None:
    first, second = answer(Think("look first"), Call("look", {})), answer(Think("seen"), "Done.")
    async with at_deepseek(tmp_path, first, second) as (client, fake):
        said: list[Any] = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Look."},
        ]
        reply = await client.complete(REF, said, level="high", tools=[tool])
        [call] = [part for part in reply.message.parts if isinstance(part, ToolCallPart)]
        result = ToolResultPart(call_id=call.call_id, name=call.name, status="ok", shown="seen")
        said += [reply.message, silu.Message(role="tool", parts=[result])]
        last = await client.complete(REF, said, level="high", tools=[tool])
    assert (reply.thinking, last.thinking, last.text) == ("look first", "seen", "Done.")
    assert fake.refusals == []
    assert last.usage.output_tokens


@pytest.mark.anyio
async def test_a_whole_request_takes_words_for_levels_and_gives_the_bare_end(
    tmp_path: Path,
) -> None:
    async with at_deepseek(tmp_path, answer(Think("a"), "B")) as (client, _):
        user = silu.Message(role="user", parts=[TextPart(text="q")])
        request = CallRequest(model=REF, messages=[user], level="none")  # type: ignore[arg-type] # a word, as scripts write it
        end = await client.complete(request)
        auto = client.resolve(REF, "auto", source="turn")
    assert isinstance(end, CallEnd)
    assert not any(part for part in end.message.parts if not isinstance(part, TextPart))
    assert auto.requested == "adaptive"


@pytest.mark.anyio
async def test_a_call_the_vendor_refuses_ends_with_its_failure(tmp_path: Path) -> None:
    async with at_deepseek(tmp_path) as (client, _):
        reply = await client.complete("vendor/no-such-model", "q")
    assert reply.failure is not None
    assert reply.failure.status == 400


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("how", "word"),
    [
        ({"level": "hihg"}, "xhigh"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "role"),
        ({"messages": [{"role": "user", "content": 3}]}, "content"),
        ({"tools": [{"name": "look"}]}, "description"),
    ],
)
async def test_what_a_caller_got_wrong_is_told_before_anything_is_sent(
    tmp_path: Path, how: dict[str, Any], word: str
) -> None:
    async with at_deepseek(tmp_path) as (client, fake):
        with pytest.raises(silu.UserError, match=word) as caught:
            await client.complete(REF, how.pop("messages", "q"), **how)
    assert caught.value.code == "bad_argument"
    assert fake.seen == []


@pytest.mark.anyio
async def test_a_wrong_word_for_a_level_names_the_choices_everywhere(tmp_path: Path) -> None:
    async with silu.Client(settings(tmp_path)) as client:
        with pytest.raises(silu.UserError, match="adaptive"):
            client.resolve("demo/thinker", "much", source="turn")
        assert client.resolve("demo/thinker", "Auto", source="turn").effective == "medium"


def test_the_models_that_can_be_used_are_listed_in_a_plain_script(tmp_path: Path) -> None:
    found = {model.ref: model.capability for model in silu.models(settings=settings(tmp_path))}
    assert found["demo/thinker"].thinking == "supported"


@pytest.mark.anyio
async def test_the_models_are_listed_under_a_running_loop_too(tmp_path: Path) -> None:
    assert "demo/thinker" in [model.ref for model in silu.models(settings=settings(tmp_path))]


def test_a_script_asks_without_asyncio(tmp_path: Path) -> None:
    reply = silu.ask("Hi", model="demo/thinker", level="low", settings=settings(tmp_path))
    assert "demo" in reply.text
    assert reply.thinking


def test_a_script_gets_the_vendors_failure_as_an_error(tmp_path: Path) -> None:
    own = settings(tmp_path)
    own.endpoints.put(Endpoint(name="gone", url="http://127.0.0.1:9/v1", key_env="FAKE_KEY"))
    with pytest.raises(silu.VendorError) as caught:
        silu.ask("Hi", model="gone/m", settings=own)
    assert caught.value.failure.kind == "unreachable"


def test_inside_an_event_loop_the_script_form_says_what_to_use(tmp_path: Path) -> None:
    async def inside() -> None:
        silu.ask("Hi", model="demo/thinker", settings=settings(tmp_path))

    with pytest.raises(silu.UserError, match=r"await client\.ask"):
        asyncio.run(inside())


def test_the_import_loads_nothing_until_a_name_is_used() -> None:
    code = "import sys, silu; print(sorted(m for m in sys.modules if m.startswith('silu')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['silu']"


@pytest.mark.parametrize("name", ["stream.py", "script.py"])
def test_the_examples_run_on_the_demo(tmp_path: Path, name: str) -> None:
    example = Path(__file__).parents[2] / "examples" / name
    env = {**os.environ, "SILU_HOME": str(tmp_path), "SILU_DEMO_RATE": "0"}
    done = subprocess.run(
        [sys.executable, str(example)],
        capture_output=True,
        text=True,
        check=False,
        env=env,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout


@pytest.mark.anyio
async def test_the_step_by_step_example_runs_against_a_vendor_that_wants_its_thinking_back(
    tmp_path: Path,
) -> None:
    example = Path(__file__).parents[2] / "examples" / "stream.py"
    async with at_deepseek(
        tmp_path,
        answer(Think("look first"), Call("list_files", {})),
        answer(Think("one file"), "There is tea.txt."),
    ) as (_, fake):
        env = {
            **os.environ,
            "SILU_HOME": str(tmp_path),
            "FAKE_KEY": "test-key",
            "NO_PROXY": "127.0.0.1",
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(example), REF),
            env=env,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err.decode()
    assert (out.decode().strip(), err.decode()) == ("There is tea.txt.", "look firstone file")
    assert [seen.status for seen in fake.seen] == [200, 200]
    assert fake.seen[1].body["messages"][2]["reasoning_content"] == "look first"
