"""The task list of a session: `TodoStore` and the tool `todo`.

Names, texts and repairs are fixed by the seed contract. What a model sends is mended wherever it
can be, and each repair is reported; entries that are no objects refuse the whole write.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict, cast, get_args

import msgspec

from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.tools.schema import echo
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError
from silu.types.parts import Message, ToolCallPart, ToolResultPart
from silu.types.todos import Todo, TodoStatus, TodoSummary, summarise

NAME = "todo"
STATUSES: tuple[TodoStatus, ...] = get_args(TodoStatus)
OPEN: frozenset[TodoStatus] = frozenset({"pending", "in_progress"})

_NO_CONTENT = {"zh": "(无描述)", "en": "(no description)"}
_KEPT = {
    "zh": "[你的活跃任务列表在上下文压缩后被保留]",
    "en": "[Your active task list was kept through context compaction]",
}
_MARKS: dict[TodoStatus, str] = {"pending": "[ ]", "in_progress": "[>]"}


class TodoItem(TypedDict):
    """An item as models and callers see it; the later fields only where they say something."""

    id: str
    content: str
    status: TodoStatus
    origin: NotRequired[str]
    plan_revision: NotRequired[int]
    reason: NotRequired[str]


@dataclass(slots=True)
class WriteReport:
    """What a write had to mend, and which unfinished items it dropped."""

    repaired: list[str] = field(default_factory=list[str])
    dropped_open: list[TodoItem] = field(default_factory=list[TodoItem])


class TodoStore:
    """One session's list. `language` picks the texts: any `zh…` is Chinese, all else English."""

    def __init__(self, todos: Iterable[Todo] = (), *, language: str = "en") -> None:
        self._todos = [msgspec.structs.replace(todo) for todo in todos]
        self._texts = "zh" if language.lower().startswith("zh") else "en"
        self.report = WriteReport()
        self.touched: set[str] = set()

    def write(self, todos: Any, *, merge: bool = False) -> list[TodoItem]:
        """Replace the list, or change items by id and append the rest; gives the list back.

        `todos` is a list of objects or the JSON text of one. Raises `ToolError`, with the list
        unchanged, when it is neither or holds entries that are no objects. `report` then tells
        what was mended; `touched` gathers the ids ever written.
        """
        entries = _entries(todos)
        report = WriteReport()
        before = self._todos
        if merge:
            after = self._merged(entries, report)
        else:
            after = self._replaced(entries, report)
            kept = {todo.id for todo in after}
            report.dropped_open = [
                _item(todo) for todo in before if todo.status in OPEN and todo.id not in kept
            ]
        _one_in_progress(after, report)
        self._todos, self.report = after, report
        return self.read()

    def read(self) -> list[TodoItem]:
        """The list, as a copy."""
        return [_item(todo) for todo in self._todos]

    def todos(self) -> list[Todo]:
        """The list as it is kept, as a copy."""
        return [msgspec.structs.replace(todo) for todo in self._todos]

    def replace(self, todos: Iterable[Todo]) -> None:
        """Take over a list that was changed elsewhere, as it is."""
        self._todos = [msgspec.structs.replace(todo) for todo in todos]

    def has_items(self) -> bool:
        return bool(self._todos)

    def get_summary(self) -> dict[str, int]:
        """`{total, pending, in_progress, completed, cancelled}`."""
        return msgspec.structs.asdict(summarise(self._todos))

    def summary(self) -> TodoSummary:
        """The same as a struct."""
        return summarise(self._todos)

    def open_items(self, ids: Iterable[str] | None = None) -> list[Todo]:
        """Unfinished items, all of them or only those with these ids."""
        wanted = None if ids is None else set(ids)
        return [
            todo
            for todo in self._todos
            if todo.status in OPEN and (wanted is None or todo.id in wanted)
        ]

    def format_for_injection(self) -> str | None:
        """The active items as text for the request after a compaction; `None` without any."""
        active = self.open_items()
        if not active:
            return None
        lines = [
            f"- {_MARKS[todo.status]} {todo.id}. {todo.content} ({todo.status})" for todo in active
        ]
        return "\n".join([_KEPT[self._texts], *lines])

    @classmethod
    def hydrate_from_history(
        cls, messages: Sequence[Message | Mapping[str, Any]], *, language: str = "en"
    ) -> "TodoStore":
        """The list of an imported session: its newest `todo` result decides; unreadable = empty.

        Messages are silu's, or plain objects with `role`, `content` and `name`.
        """
        store = cls(language=language)
        shown = _newest_result(messages)
        if shown is not None:
            try:
                value = msgspec.json.decode(shown, type=dict[str, Any])
                store.write(value.get("todos", []))
            except (msgspec.MsgspecError, ToolError):
                # The contract: what cannot be read counts as an empty list.
                return cls(language=language)
        store.touched.clear()
        return store

    def _replaced(self, entries: list[dict[str, Any]], report: WriteReport) -> list[Todo]:
        known = {todo.id: todo for todo in self._todos}
        named = self._named(entries, set(), report)
        return [self._todo(item_id, _whole(entry), known, report) for item_id, entry in named]

    def _merged(self, entries: list[dict[str, Any]], report: WriteReport) -> list[Todo]:
        known = {todo.id: todo for todo in self._todos}
        changed = {
            item_id: self._todo(item_id, entry, known, report)
            for item_id, entry in self._named(entries, set(known), report)
        }
        kept = [changed.pop(todo.id, todo) for todo in self._todos]
        return [*kept, *changed.values()]

    def _named(
        self, entries: list[dict[str, Any]], taken: set[str], report: WriteReport
    ) -> list[tuple[str, dict[str, Any]]]:
        """Entries with their ids: missing ones invented, of equal ones the last kept."""
        given = {_id_of(entry) for entry in entries} | taken
        named: dict[str, dict[str, Any]] = {}
        for position, entry in enumerate(entries, start=1):
            item_id = _id_of(entry)
            if item_id is None:
                item_id = _free_id(given)
                given.add(item_id)
                report.repaired.append(f"entry {position} had no id and became {item_id}")
            elif named.pop(item_id, None) is not None:
                report.repaired.append(f"id {item_id} came twice; the last one counts")
            named[item_id] = entry
        self.touched |= named.keys()
        return list(named.items())

    def _todo(
        self, item_id: str, entry: dict[str, Any], known: dict[str, Todo], report: WriteReport
    ) -> Todo:
        old = known.get(item_id)
        content = str(entry.get("content") or "").strip()
        if not content and "content" not in entry and old is not None:
            content = old.content
        if not content:
            content = _NO_CONTENT[self._texts]
            report.repaired.append(f"{item_id} had no content")
        return Todo(
            id=item_id,
            content=content,
            status=_status(item_id, entry, old, report),
            origin=old.origin if old else "agent",
            plan_revision=old.plan_revision if old else None,
            reason=str(entry["reason"]) if entry.get("reason") else None,
        )


def _entries(todos: Any) -> list[dict[str, Any]]:
    if isinstance(todos, str):
        try:
            todos = msgspec.json.decode(todos)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ToolError(f"`todos` is text but not JSON ({error}); send a list") from error
    if not isinstance(todos, list | tuple):
        raise ToolError(f"`todos` must be a list of objects, got {echo(todos)}; nothing changed")
    entries = list(cast("Sequence[Any]", todos))
    bad = [f"[{i}] {echo(e, limit=40)}" for i, e in enumerate(entries) if not isinstance(e, dict)]
    if bad:
        named = ", ".join(bad[:8]) + (f" and {len(bad) - 8} more" if len(bad) > 8 else "")
        raise ToolError(f"these entries of `todos` are no objects: {named}; nothing changed")
    return entries


def _whole(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of a full list: what it leaves out is missing, not as it was before."""
    return {"content": None, "status": None, **entry}


def _id_of(entry: dict[str, Any]) -> str | None:
    value = entry.get("id")
    text = "" if value is None else str(value).strip()
    return text or None


def _free_id(taken: set[str | None] | set[str]) -> str:
    number = 1
    while (candidate := "?" if number == 1 else f"?{number}") in taken:
        number += 1
    return candidate


def _status(
    item_id: str, entry: dict[str, Any], old: Todo | None, report: WriteReport
) -> TodoStatus:
    value = entry.get("status")
    if "status" not in entry and old is not None:
        return old.status
    word = str(value).strip().lower() if value is not None else ""
    for status in STATUSES:
        if word == status:
            return status
    report.repaired.append(f"{item_id} had the unknown status {echo(value, limit=40)}: pending")
    return "pending"


def _one_in_progress(todos: list[Todo], report: WriteReport) -> None:
    active = [todo for todo in todos if todo.status == "in_progress"]
    for todo in active[1:]:
        todo.status = "pending"
        report.repaired.append(
            f"{todo.id} became pending: {active[0].id} is in_progress already, one at a time"
        )


def _item(todo: Todo) -> TodoItem:
    item: TodoItem = {"id": todo.id, "content": todo.content, "status": todo.status}
    if todo.origin != "agent":
        item["origin"] = todo.origin
    if todo.plan_revision is not None:
        item["plan_revision"] = todo.plan_revision
    if todo.reason is not None:
        item["reason"] = todo.reason
    return item


def _newest_result(messages: Sequence[Message | Mapping[str, Any]]) -> str | None:
    names = _call_names(messages)
    for message in reversed(messages):
        if isinstance(message, Message):
            for part in reversed(message.parts):
                if isinstance(part, ToolResultPart) and _is_ours(part, names):
                    return part.shown
        elif message.get("role") == "tool" and _is_todo(message, names):
            return str(message.get("content", ""))
    return None


def _is_ours(part: ToolResultPart, names: dict[str, str]) -> bool:
    return part.status == "ok" and (part.name or names.get(part.call_id)) == NAME


def _is_todo(message: Mapping[str, Any], names: dict[str, str]) -> bool:
    name = message.get("name") or names.get(str(message.get("tool_call_id")))
    return name == NAME or (name is None and '"todos"' in str(message.get("content")))


def _call_names(messages: Sequence[Message | Mapping[str, Any]]) -> dict[str, str]:
    names: dict[str, str] = {}
    for message in messages:
        if isinstance(message, Message):
            calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
            names |= {call.call_id: call.name for call in calls}
        else:
            for call in message.get("tool_calls") or ():
                names[str(call.get("id"))] = str(call.get("function", {}).get("name"))
    return names


def touched_ids(messages: Iterable[Message]) -> set[str]:
    """The ids that the `todo` calls of these messages wrote (for a run taken up again)."""
    ids: set[str] = set()
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart) and part.name == NAME:
                ids |= _ids_in(part.arguments)
    return ids


def _ids_in(arguments: str) -> set[str]:
    try:
        args = msgspec.json.decode(arguments or "{}", type=dict[str, Any])
        entries = _entries(args.get("todos") or [])
    except (msgspec.MsgspecError, RecursionError, ToolError):
        # Such a call was refused when it was made: it touched nothing.
        return set()
    return {item_id for entry in entries if (item_id := _id_of(entry)) is not None}


# ------------------------------------------------------------------------------ the tool


def todo_tool(store: TodoStore, *, changed: Callable[[], Awaitable[None]]) -> Tool:
    """The tool on one session's list; `changed` is awaited after every write that counted."""

    async def run(args: Args, context: ToolContext) -> ToolOutput:
        if "todos" not in args or args["todos"] is None:
            return _output(store, {})
        store.write(args["todos"], merge=bool(args.get("merge", False)))
        await changed()
        return _output(store, _reported(store.report))

    return Tool(spec=_SPEC, effects=frozenset(), run=run, idempotent=True, check=_check)


def _output(store: TodoStore, extra: dict[str, Any]) -> ToolOutput:
    body = {"todos": store.read(), "summary": store.get_summary(), **extra}
    return ToolOutput(
        text=msgspec.json.encode(body).decode(), whole=True, media_type="application/json"
    )


def _reported(report: WriteReport) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if report.repaired:
        told["repaired"] = report.repaired
    if report.dropped_open:
        told["dropped_open"] = report.dropped_open
        told["note"] = (
            "Unfinished items are no longer in the list. If they still matter, write them again."
        )
    return told


def _check(args: Args) -> list[str]:
    """Only what the store cannot mend: it reads `todos` itself, also as JSON text."""
    found = [
        f"`{name}` is not a parameter; the parameters are: todos, merge"
        for name in args
        if name not in {"todos", "merge"}
    ]
    if not isinstance(args.get("merge", False), bool):
        found.append(f"`merge` must be boolean, got {echo(args['merge'])}")
    return found


_SPEC = ToolSpec(
    name=NAME,
    description=describe(__file__),
    parameters=object_schema(
        {
            "todos": {
                "type": "array",
                "description": "The items to write. Leave it out to read the list.",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "content": {"type": "string"},
                        "status": {"type": "string", "enum": list(STATUSES)},
                    },
                    "required": ["id", "content", "status"],
                },
            },
            "merge": {
                "type": "boolean",
                "default": False,
                "description": "Change items by id and add the rest, instead of replacing all.",
            },
        }
    ),
)
