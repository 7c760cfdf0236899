"""The demo's turns, played by a small loop of our own with real tools on a real folder."""

import asyncio
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from silu.providers.vendors import demo_turns
from silu.providers.vendors.demo_play import DemoTransport, pieces
from silu.tools.base import ToolContext
from silu.tools.list_files import LIST_FILES
from silu.tools.read_file import READ_FILE
from silu.tools.search_files import SEARCH_FILES
from silu.types.calls import HttpRequest
from silu.types.errors import ToolError

pytestmark = pytest.mark.anyio

TOOLS = {tool.name: tool for tool in (LIST_FILES, READ_FILE, SEARCH_FILES)}
NAMES = [*TOOLS, "todo"]


async def call(messages: list[Any], *, level: str | None = None, names: list[str] = NAMES) -> Any:
    """One chat completion of the demo, not streamed."""
    body: dict[str, Any] = {"model": "thinker", "messages": messages}
    body["tools"] = [{"type": "function", "function": {"name": name}} for name in names]
    if level:
        body["reasoning_effort"] = level
    request = HttpRequest(
        method="POST",
        url="demo://silu/v1/chat/completions",
        headers={},
        body=json.dumps(body).encode(),
    )
    async with DemoTransport(rate=None).open(request, idle_timeout=5) as response:
        data = b"".join([piece async for piece in response.chunks()])
        assert response.status == 200, data
    return json.loads(data)["choices"][0]


async def turn(messages: list[Any], workspace: Path, **how: Any) -> list[Any]:
    """Run one turn to its end; gives the assistant messages, `messages` grows."""
    made: list[Any] = []
    for _ in range(8):
        choice = await call(messages, **how)
        messages.append(choice["message"])
        made.append(choice["message"])
        if choice["finish_reason"] == "stop":
            return made
        for one in choice["message"]["tool_calls"]:
            shown = await run_tool(one["function"], workspace)
            messages.append({"role": "tool", "tool_call_id": one["id"], "content": shown})
    raise AssertionError("the demo does not come to an end")


async def run_tool(function: dict[str, str], workspace: Path) -> str:
    args = json.loads(function["arguments"])
    if function["name"] == "todo":
        return json.dumps({"todos": args["todos"]})
    try:
        output = await TOOLS[function["name"]].run(args, ToolContext(workspace=workspace))
    except ToolError as error:
        return f"Error: {error}"
    return output.text


def called(made: list[Any]) -> list[str]:
    return [c["function"]["name"] for m in made for c in m.get("tool_calls", [])]


def last_todos(made: list[Any]) -> list[str]:
    args = [
        json.loads(c["function"]["arguments"])
        for m in made
        for c in m.get("tool_calls", [])
        if c["function"]["name"] == "todo"
    ]
    return [todo["status"] for todo in args[-1]["todos"]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text("# Tide tables\n\nWhen the water comes.\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "moon.py").write_text("PHASE = 4\n")
    return tmp_path


async def test_the_first_message_gives_thinking_a_plan_real_tools_and_an_honest_answer(
    workspace: Path,
) -> None:
    made = await turn([{"role": "user", "content": "What is in here?"}], workspace)
    assert called(made) == ["todo", "list_files", "todo", "read_file", "todo"]
    assert all(m["reasoning_content"] for m in made)
    assert last_todos(made) == ["completed"] * 3
    answer = made[-1]["content"]
    assert "demo" in answer
    assert "silu connect" in answer
    assert "DEEPSEEK_API_KEY" in answer
    assert '"Tide tables"' in answer
    assert "**2 entries**" in answer


async def test_every_list_has_one_item_in_progress_until_it_is_settled(workspace: Path) -> None:
    made = await turn([{"role": "user", "content": "Hi"}], workspace)
    lists = [
        [t["status"] for t in json.loads(c["function"]["arguments"])["todos"]]
        for m in made
        for c in m.get("tool_calls", [])
        if c["function"]["name"] == "todo"
    ]
    assert [states.count("in_progress") for states in lists] == [1, 1, 0]


@pytest.mark.parametrize(
    ("asked", "told", "reason"),
    [
        ("What is in here?", "The workspace is empty: it holds no files yet.", "is empty"),
        ("这里有什么？", "工作区是空的，里面还没有任何文件。", "工作区是空的"),
    ],
)
async def test_an_empty_workspace_is_told_in_a_sentence_and_leaves_no_open_todo(
    tmp_path: Path, asked: str, told: str, reason: str
) -> None:
    made = await turn([{"role": "user", "content": asked}], tmp_path)
    assert called(made) == ["todo", "list_files", "todo"]
    assert last_todos(made) == ["completed", "cancelled", "completed"]
    settled = json.loads(made[-2]["tool_calls"][0]["function"]["arguments"])["todos"][1]
    assert reason in settled["reason"]
    assert told in made[-1]["content"]
    assert not any("nothing found" in str(message) for message in made)


async def test_a_workspace_without_text_says_so_and_quotes_no_listing(tmp_path: Path) -> None:
    (tmp_path / "picture.bin").write_bytes(b"\0\1")
    made = await turn([{"role": "user", "content": "What is in here?"}], tmp_path)
    assert last_todos(made) == ["completed", "cancelled", "completed"]
    assert "there is no text file among the entries." in made[-1]["content"]


async def test_a_file_that_no_tool_can_open_is_not_denied(workspace: Path) -> None:
    made = await turn([{"role": "user", "content": "?"}], workspace, names=["list_files"])
    assert "I was given no tool for opening files." in made[-1]["content"]


async def test_a_listing_that_was_refused_is_told_in_the_tools_own_words(workspace: Path) -> None:
    asked: list[Any] = [{"role": "user", "content": "What is in here?"}]
    made = await turn(asked, workspace / "src" / "moon.py")
    assert last_todos(made) == ["completed", "cancelled", "completed"]
    assert "Error: " in made[-1]["content"]


async def test_a_chinese_question_gets_a_chinese_turn(workspace: Path) -> None:
    made = await turn([{"role": "user", "content": "这里有什么？"}], workspace)
    assert "演示" in made[-1]["content"]
    assert "Tide tables" in made[-1]["content"]
    assert "看一眼很便宜" in made[0]["reasoning_content"]


async def test_levels_change_how_much_it_thinks() -> None:
    said = [{"role": "user", "content": "Hello there"}]
    lengths = [
        len((await call(said, level=level))["message"].get("reasoning_content", ""))
        for level in ("none", "low", "medium", "high")
    ]
    assert lengths[0] == 0
    assert lengths == sorted(set(lengths))


async def test_without_tools_it_answers_at_once_and_claims_nothing() -> None:
    choice = await call([{"role": "user", "content": "What is in here?"}], names=[])
    assert choice["finish_reason"] == "stop"
    said = choice["message"]["reasoning_content"] + choice["message"]["content"]
    assert "without tools" in said
    assert "did run" not in said
    assert "What I found" not in said
    assert "$" not in said


async def test_think_about_gives_a_long_thought_even_as_first_message() -> None:
    choice = await call([{"role": "user", "content": "Think about tides"}])
    assert len(pieces(choice["message"]["reasoning_content"])) > 1000
    assert "89" in choice["message"]["content"]


async def test_a_search_in_a_later_turn_quotes_the_real_hit(workspace: Path) -> None:
    messages: list[Any] = [{"role": "user", "content": "Hi"}]
    await turn(messages, workspace)
    messages.append({"role": "user", "content": "search for PHASE"})
    made = await turn(messages, workspace)
    assert called(made) == ["search_files"]
    assert "src/moon.py:1:PHASE = 4" in made[-1]["content"]
    assert "1 hit" in made[-1]["content"]


async def test_a_file_named_in_a_later_turn_is_read(workspace: Path) -> None:
    messages: list[Any] = [{"role": "user", "content": "Hi"}]
    await turn(messages, workspace)
    messages.append({"role": "user", "content": "open src/moon.py please"})
    made = await turn(messages, workspace)
    assert "PHASE = 4" in made[-1]["content"]


async def test_other_questions_are_declined_with_what_was_really_sent(workspace: Path) -> None:
    messages: list[Any] = [{"role": "user", "content": "Hi"}]
    await turn(messages, workspace, level="low")
    messages.append({"role": "user", "content": "Will it rain tomorrow?"})
    made = await turn(messages, workspace, level="low")
    assert "I cannot answer that" in made[-1]["content"]
    assert '`reasoning_effort: "low"`' in made[-1]["content"]


async def test_a_reminder_of_open_todos_settles_the_list(workspace: Path) -> None:
    messages: list[Any] = [{"role": "user", "content": "Hi"}]
    messages.append((await call(messages))["message"])
    for one in messages[-1]["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": one["id"], "content": "ok"})
    messages.append({"role": "user", "content": "how does thinking continuity work?"})
    messages.append((await call(messages))["message"])
    notice = "<silu-12ab34cd>\nTodos are open.\n</silu-12ab34cd>"
    messages.append({"role": "user", "content": notice})
    made = await turn(messages, workspace)
    assert last_todos(made) == ["cancelled"] * 3
    assert made[-1]["content"]


async def test_a_notice_before_the_persons_words_does_not_hide_them(workspace: Path) -> None:
    text = "<silu-12ab34cd>\nMode is build.\n</silu-12ab34cd>\n这里有什么？"
    made = await turn([{"role": "user", "content": text}], workspace)
    assert "演示" in made[-1]["content"]


async def test_it_is_paced_like_a_model_and_can_be_left_at_any_time() -> None:
    body = {"model": "thinker", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    request = HttpRequest(
        method="POST",
        url="demo://silu/v1/chat/completions",
        headers={},
        body=json.dumps(body).encode(),
    )
    loop = asyncio.get_running_loop()
    start = loop.time()
    async with DemoTransport(rate=200).open(request, idle_timeout=5) as response:
        seen = 0
        async for _ in response.chunks():
            seen += 1
            if seen == 40:
                break
    assert 0.2 < loop.time() - start < 2.0


def test_both_languages_hold_the_same_turns_and_no_text_is_lost_in_pieces() -> None:
    folder = Path(demo_turns.__file__).with_name("demo_data")
    english, chinese = (
        tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
        for name in ("en", "zh")
    )
    assert shape(english) == shape(chinese)
    for text in leaves([english, chinese]):
        assert "".join(pieces(text)) == text


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value)


def leaves(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value
    return [text for item in items for text in leaves(item)]


async def test_without_the_tool_it_says_what_it_would_do() -> None:
    said: list[Any] = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "x"}]
    for words in ("search for PHASE", "open src/moon.py"):
        choice = await call([*said, {"role": "user", "content": words}], names=["todo"])
        assert "came without tools" in choice["message"]["content"]


async def test_without_a_todo_tool_the_tour_needs_none(workspace: Path) -> None:
    made = await turn([{"role": "user", "content": "?"}], workspace, names=list(TOOLS))
    assert called(made) == ["list_files", "read_file"]
    assert "Tide tables" in made[-1]["content"]


async def test_a_request_that_is_malformed_is_refused_in_its_dialect() -> None:
    request = HttpRequest(
        method="POST", url="demo://silu/v1/messages", headers={}, body=b'{"model": "switch"}'
    )
    async with DemoTransport(rate=None).open(request, idle_timeout=5) as response:
        data = b"".join([piece async for piece in response.chunks()])
    assert response.status == 400
    assert json.loads(data)["error"]["type"] == "invalid_request_error"
