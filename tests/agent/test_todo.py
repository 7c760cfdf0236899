"""The todo contract, by the letter: every repair, merge, text, and the shape of results."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from silu.agent.todo import TodoStore, todo_tool, touched_ids
from silu.tools import ToolContext, read_arguments
from silu.types.errors import ToolError
from silu.types.parts import Message, Part, ToolCallPart, ToolResultPart
from silu.types.todos import Todo

pytestmark = pytest.mark.anyio


def item(id: str, content: str = "x", status: str = "pending") -> dict[str, Any]:
    return {"id": id, "content": content, "status": status}


def filled(*items: dict[str, Any], language: str = "en") -> TodoStore:
    store = TodoStore(language=language)
    store.write(list(items))
    return store


# ------------------------------------------------------------------------------ the store


def test_a_write_replaces_and_gives_the_full_list_back() -> None:
    store = filled(item("1"))
    assert store.write([item("2", "b"), item("3", "c", "in_progress")]) == [
        item("2", "b"),
        item("3", "c", "in_progress"),
    ]
    assert store.has_items()
    assert store.get_summary() == {
        "total": 2,
        "pending": 1,
        "in_progress": 1,
        "completed": 0,
        "cancelled": 0,
    }


def test_read_gives_a_copy() -> None:
    store = filled(item("1"))
    store.read()[0]["content"] = "changed"
    store.read().clear()
    assert store.read() == [item("1")]


def test_merge_changes_by_id_and_appends_the_rest() -> None:
    store = filled(item("1", "a"), item("2", "b"))
    result = store.write(
        [item("3", "c"), {"id": "1", "status": "completed"}, {"id": "2", "content": "B"}],
        merge=True,
    )
    assert result == [item("1", "a", "completed"), item("2", "B"), item("3", "c")]
    assert store.report.repaired == []


@pytest.mark.parametrize(
    ("language", "text"), [("zh-CN", "(无描述)"), ("zh", "(无描述)"), ("en", "(no description)")]
)
def test_no_content_is_filled_in(language: str, text: str) -> None:
    store = TodoStore(language=language)
    for empty in ({}, {"content": ""}, {"content": "  "}, {"content": None}):
        assert store.write([{"id": "1", "status": "pending", **empty}])[0]["content"] == text
    assert store.report.repaired


@pytest.mark.parametrize("status", ["done", "", None, 3, "blocked", ["pending"]])
def test_an_unknown_status_becomes_pending(status: Any) -> None:
    store = TodoStore()
    assert store.write([{"id": "1", "content": "x", "status": status}])[0]["status"] == "pending"
    assert "unknown status" in store.report.repaired[0]


def test_missing_ids_are_made_so_that_no_item_is_lost() -> None:
    store = TodoStore()
    written = store.write(
        [{"content": "a"}, {"content": "b", "id": ""}, {"content": "c", "id": None}]
    )
    assert [entry["id"] for entry in written] == ["?", "?2", "?3"]
    assert [entry["id"] for entry in store.write([{"content": "d"}], merge=True)][-1] == "?4"
    assert store.read()[0]["content"] == "a"


def test_a_given_question_mark_id_is_kept_apart_from_made_ones() -> None:
    store = TodoStore()
    written = store.write([{"content": "made"}, item("?", "given")])
    assert {entry["id"]: entry["content"] for entry in written} == {"?2": "made", "?": "given"}


def test_of_equal_ids_the_last_wins() -> None:
    store = TodoStore()
    assert store.write([item("1", "a"), item("2", "b"), item("1", "c")]) == [
        item("2", "b"),
        item("1", "c"),
    ]
    assert store.report.repaired == ["id 1 came twice; the last one counts"]


def test_ids_that_are_numbers_become_text() -> None:
    store = TodoStore()
    store.write([{"id": 1, "content": "a", "status": "pending"}])
    store.write([{"id": "1", "status": "completed"}], merge=True)
    assert store.read() == [item("1", "a", "completed")]


def test_a_second_in_progress_becomes_pending() -> None:
    store = TodoStore()
    written = store.write([item(n, n, "in_progress") for n in "123"])
    assert [entry["status"] for entry in written] == ["in_progress", "pending", "pending"]
    assert len(store.report.repaired) == 2


def test_todos_as_json_text_are_parsed() -> None:
    store = TodoStore()
    assert store.write(msgspec.json.encode([item("1")]).decode()) == [item("1")]


@pytest.mark.parametrize("bad", ["[", '{"id": "1"}', '"x"', 3, None, {"id": "1"}, ["a", 3, None]])
def test_what_is_no_list_of_objects_refuses_the_whole_write(bad: Any) -> None:
    store = filled(item("1"))
    with pytest.raises(ToolError):
        store.write(bad)
    assert store.read() == [item("1")]


def test_entries_that_are_no_objects_are_named_and_nothing_changes() -> None:
    store = filled(item("1"))
    with pytest.raises(ToolError) as caught:
        store.write([item("2"), "a", 3, None], merge=True)
    assert '[1] "a", [2] 3, [3] null' in str(caught.value)
    assert store.read() == [item("1")]


def test_a_replace_that_drops_open_items_tells_which() -> None:
    store = filled(item("1"), item("2", "y", "completed"), item("3", "z", "in_progress"))
    store.write([item("9")])
    assert store.report.dropped_open == [item("1"), item("3", "z", "in_progress")]
    store.write([item("1")], merge=True)
    assert store.report.dropped_open == []


def test_an_empty_list_clears() -> None:
    store = filled(item("1"))
    assert store.write([]) == []
    assert not store.has_items()


@pytest.mark.parametrize(
    ("language", "header"),
    [
        ("zh-CN", "[你的活跃任务列表在上下文压缩后被保留]"),
        ("en", "[Your active task list was kept through context compaction]"),
        ("de", "[Your active task list was kept through context compaction]"),
    ],
)
def test_the_injection_lists_only_active_items(language: str, header: str) -> None:
    store = filled(
        item("1", "a", "completed"),
        item("2", "b", "in_progress"),
        item("3", "c"),
        item("4", "d", "cancelled"),
        language=language,
    )
    assert store.format_for_injection() == (
        f"{header}\n- [>] 2. b (in_progress)\n- [ ] 3. c (pending)"
    )
    store.write([item("1", "a", "completed")])
    assert store.format_for_injection() is None
    assert TodoStore().format_for_injection() is None


def test_items_keep_their_origin_and_the_reason_they_are_given() -> None:
    store = TodoStore([Todo(id="1", content="a", status="pending", origin="person")])
    store.write([{"id": "1", "status": "cancelled", "reason": "not needed"}], merge=True)
    kept = store.todos()[0]
    assert (kept.origin, kept.reason, kept.content) == ("person", "not needed", "a")
    assert store.read()[0] == {
        **item("1", "a", "cancelled"),
        "origin": "person",
        "reason": "not needed",
    }


# --------------------------------------------------------------------- hydrate_from_history


def result(todos: Any, name: str | None = "todo", call_id: str = "c") -> Message:
    shown = todos if isinstance(todos, str) else msgspec.json.encode({"todos": todos}).decode()
    parts: list[Part] = [ToolResultPart(call_id=call_id, status="ok", shown=shown, name=name)]
    return Message(role="tool", parts=parts)


def test_the_newest_todo_result_decides() -> None:
    history = [result([item("1")]), result([item("2")]), result([item("3")], name="other")]
    assert TodoStore.hydrate_from_history(history).read() == [item("2")]


def test_an_unnamed_result_is_known_by_its_call() -> None:
    parts: list[Part] = [ToolCallPart(call_id="c", name="todo", arguments="{}")]
    history = [Message(role="assistant", parts=parts), result([item("1")], name=None)]
    assert TodoStore.hydrate_from_history(history).read() == [item("1")]


@pytest.mark.parametrize("shown", ["", "no json", "[]", '{"todos": 3}', '{"other": 1}'])
def test_an_unreadable_result_means_an_empty_list(shown: str) -> None:
    history = [result([item("1")]), result(shown)]
    assert not TodoStore.hydrate_from_history(history).has_items()


def test_plain_messages_of_an_import_are_read_too() -> None:
    history = [
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "todo"}}]},
        {
            "role": "tool",
            "tool_call_id": "c",
            "content": '{"todos": [{"id": "1", "content": "a"}]}',
        },
        {"role": "tool", "name": "other", "content": '{"todos": []}'},
    ]
    store = TodoStore.hydrate_from_history(history)
    assert store.read() == [item("1", "a")]
    assert store.touched == set()
    assert not TodoStore.hydrate_from_history([]).has_items()


# -------------------------------------------------------------------------------- the tool


async def call(store: TodoStore, arguments: str) -> dict[str, Any]:
    async def changed() -> None:
        pass

    tool = todo_tool(store, changed=changed)
    args = read_arguments(tool, arguments)
    output = await tool.run(args, ToolContext(workspace=Path()))
    return msgspec.json.decode(output.text)


async def test_the_tool_reads_without_arguments_and_writes_with_todos() -> None:
    store = TodoStore()
    body = await call(store, '{"todos": [{"id": "1", "content": "a", "status": "pending"}]}')
    assert body == {"todos": [item("1", "a")], "summary": store.get_summary()}
    assert await call(store, "") == body
    assert await call(store, '{"todos": null}') == body


async def test_the_result_reports_repairs_and_dropped_items() -> None:
    store = filled(item("1", "open"))
    body = await call(store, '{"todos": "[{\\"content\\": \\"b\\"}]"}')
    assert body["todos"] == [item("?", "b")]
    assert body["repaired"] == [
        "entry 1 had no id and became ?",
        "? had the unknown status null: pending",
    ]
    assert body["dropped_open"] == [item("1", "open")]
    assert "write them again" in body["note"]


async def test_bad_arguments_come_back_as_an_error_and_change_nothing() -> None:
    store = filled(item("1"))
    for arguments in ('{"todo": []}', '{"merge": "yes"}', '{"todos": ["a"]}', "[]"):
        with pytest.raises(ToolError):
            await call(store, arguments)
    assert store.read() == [item("1")]


def test_the_schema_is_the_agreed_one() -> None:
    async def changed() -> None:
        pass

    spec = todo_tool(TodoStore(), changed=changed).spec
    properties = spec.parameters["properties"]
    assert spec.name == "todo"
    assert spec.parameters["required"] == []
    assert properties["todos"]["items"]["required"] == ["id", "content", "status"]
    assert properties["merge"]["default"] is False
    for word in (
        "three or more",
        "priority",
        "one item is `in_progress`",
        "cancelled",
        "full list",
    ):
        assert word in spec.description


def test_what_a_run_touched_is_known_from_its_calls() -> None:
    def asked(arguments: str) -> Message:
        parts: list[Part] = [ToolCallPart(call_id="c", name="todo", arguments=arguments)]
        return Message(role="assistant", parts=parts)

    messages = [asked('{"todos": [{"id": 1}, {"id": "b"}]}'), asked("{"), asked("")]
    assert touched_ids(messages) == {"1", "b"}
