"""OpenAI Responses, first-party and compatible: writing requests.

Nothing is stored at the vendor: `store` is false and said so in every request (F180), reasoning
comes sealed and goes back as the whole item, directly before the item it led to. A call's or a
message's own id goes back only together with the reasoning of its answer (F056–F060).
"""

from typing import Any, cast

import msgspec

from silu.types.calls import ToolSpec
from silu.types.parts import (
    FilePart,
    ImagePart,
    Part,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    VendorPart,
)
from silu.types.rules import Encoded, EncodeInput, EncodeRules
from silu.wire.blocks import json_text
from silu.wire.files import file_text
from silu.wire.history import (
    NOT_SENT_IMAGE,
    History,
    IdForm,
    Turn,
    choice,
    opening_text,
    prepare,
    sampling,
    texts,
    thought_reason,
)
from silu.wire.openai_responses import CALL_ITEM, ITEM, MESSAGE_ITEM, REASONING_ITEM
from silu.wire.pieces import arguments, data_url, joined, merge_deep

IDS = IdForm(legal=r"[^\s]{1,64}", prefix="call_")

_LEAST = 16
"""The smallest `max_output_tokens` the API takes."""

Item = dict[str, Any]


def encode(request: EncodeInput, rules: EncodeRules) -> Encoded:
    """The body for `/responses`."""
    history = prepare(request, rules, IDS)
    writer = _Writer(history, request, rules)
    items = writer.items()
    body: dict[str, Any] = {"model": request.model}
    instructions = writer.instructions()
    if instructions:
        body["instructions"] = instructions
    body["input"] = items
    if request.tools or request.own_tools:
        body["tools"] = [*map(_tool, request.tools), *request.own_tools]
        chosen = choice(request, rules, history)
        if chosen in ("none", "required"):
            body["tool_choice"] = chosen
        elif chosen != "auto":
            body["tool_choice"] = {"type": "function", "name": chosen}
    if request.max_tokens is not None:
        body[rules.max_tokens_field or "max_output_tokens"] = max(request.max_tokens, _LEAST)
    body |= sampling(request, rules, history)
    body["stream"] = request.stream
    body["store"] = False
    if request.thinking_on and not rules.extra.get("no_include"):
        body["include"] = ["reasoning.encrypted_content"]
    return Encoded(
        path="/responses",
        body=merge_deep(body, request.wire),
        dropped=tuple(history.dropped),
    )


def _tool(tool: ToolSpec) -> Item:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        # The default is strict, which refuses schemas with optional fields.
        "strict": False,
    }


class _Writer:
    def __init__(self, history: History, request: EncodeInput, rules: EncodeRules) -> None:
        self._history = history
        self._rules = rules
        self._sent: set[str] = set()
        self._custom: set[str] = set()

    def instructions(self) -> str:
        """The leading system messages."""
        return opening_text(self._history)

    def items(self) -> list[Item]:
        out: list[Item] = []
        for turn in self._history.talk():
            match turn.role:
                case "system":
                    out += _developer(joined([*turn.notices, *texts(turn)]))
                case "user":
                    content = [_input(text) for text in turn.notices]
                    content += [b for p in turn.parts if (b := self._user_part(turn, p))]
                    if content:
                        out.append({"role": "user", "content": content})
                case "assistant":
                    out += self._assistant(turn)
                case "tool":
                    out += self._results(turn)
                    out += _developer(joined(turn.notices))
        return out

    # -- what people and tools said

    def _user_part(self, turn: Turn, part: Part) -> Item | None:
        match part:
            case TextPart():
                return _input(part.text) if part.text.strip() else None
            case ImagePart():
                url = data_url(part)
                if url is None:
                    self._history.drop(turn, part, "image", "its bytes are not at hand")
                    return _input(NOT_SENT_IMAGE)
                return {"type": "input_image", "image_url": url}
            case FilePart():
                return self._file(turn, part)
            case _:
                self._history.drop(turn, part, "part", "this vendor has no place for it")
                return None

    def _file(self, turn: Turn, part: FilePart) -> Item:
        text = file_text(part)
        if text is not None:
            return _input(text)
        if part.data is not None:
            data = f"data:{part.media_type};base64,{part.data}"
            return {"type": "input_file", "filename": part.name, "file_data": data}
        self._history.drop(turn, part, "file", "its bytes are not at hand")
        return _input(f"(the file {part.name}, which cannot be sent)")

    def _results(self, turn: Turn) -> list[Item]:
        items: list[Item] = []
        for result in turn.results:
            kind = "custom_tool_call" if result.call_id in self._custom else "function_call"
            output = {"type": f"{kind}_output", "call_id": result.call_id, "output": result.text}
            items.append(output)
        return items

    # -- what the model said

    def _assistant(self, turn: Turn) -> list[Item]:
        reasoning = self._reasoning(turn)
        linked = reasoning is not None
        items: list[Item] = []
        for part in turn.parts:
            match part:
                case ThinkingPart():
                    item = (reasoning or {}).get(part.id)
                    if item is not None:
                        items.append(item)
                case TextPart():
                    if part.text.strip():
                        items.append(self._message(turn, part, linked=linked))
                case ToolCallPart():
                    items.append(self._call(turn, part, linked=linked))
                case ServerToolPart() | VendorPart():
                    items += self._own(turn, part)
                case _:
                    self._history.drop(turn, part, "part", "this vendor has no place for it")
        return self._paired(turn, items)

    def _message(self, turn: Turn, part: TextPart, *, linked: bool) -> Item:
        item: Item = {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": part.text}],
        }
        kept = turn.kept_of(part.id, MESSAGE_ITEM)
        if kept is not None and linked:
            item |= self._once(cast("Item", msgspec.json.decode(kept.data)))
        return item

    def _call(self, turn: Turn, part: ToolCallPart, *, linked: bool) -> Item:
        kept = turn.kept_of(part.id, CALL_ITEM)
        more = cast("Item", msgspec.json.decode(kept.data)) if kept is not None else {}
        kind = more.pop("type", "function_call")
        item: Item = {"type": kind, "call_id": part.call_id, "name": part.name}
        given = arguments(part)
        if kind == "function_call":
            plain = part.arguments.strip().startswith("{") and "not_json" not in given
            item["arguments"] = part.arguments if plain else json_text(given)
        else:
            item["input"] = given.get("input", part.arguments)
            self._custom.add(part.call_id)
        if not linked:
            more.pop("id", None)
        return item | self._once(more)

    def _once(self, named: Item) -> Item:
        """An item's id, unless an earlier item of this request has it."""
        name = named.get("id")
        if name in self._sent:
            return {key: value for key, value in named.items() if key != "id"}
        if isinstance(name, str):
            self._sent.add(name)
        return named

    def _own(self, turn: Turn, part: ServerToolPart | VendorPart) -> list[Item]:
        if turn.kept_of(part.id, ITEM) is None:
            self._history.drop(turn, part, "server_tool", thought_reason(turn, self._rules))
            return []
        return [cast("Item", msgspec.json.decode(part.data))]

    # -- reasoning

    def _reasoning(self, turn: Turn) -> dict[str, Item] | None:
        """The reasoning items of a turn by part; `None` when one of them cannot go back, and so
        none does, nor the ids of what they led to."""
        parts = [part for part in turn.parts if isinstance(part, ThinkingPart)]
        # With an effort of none too: nothing is stored, so a tool loop needs its items (vendors.md
        # §2.3), and what was sent once stays where it is.
        why = ""
        if turn.kept_whole(REASONING_ITEM):
            why = "the vendor sent a part of it without anything that could go back"
        items: dict[str, Item] = {}
        for part in parts:
            if why:
                break
            item = self._item(turn, part)
            if item is None:
                why = thought_reason(turn, self._rules)
            else:
                items[part.id] = item
        if not why:
            return items
        self._history.drop_thoughts(turn, parts, why)
        return None

    def _item(self, turn: Turn, part: ThinkingPart) -> Item | None:
        kept = turn.kept_of(part.id, REASONING_ITEM)
        if kept is None:
            return None
        item = cast("Item", msgspec.json.decode(kept.data))
        if not item.get("encrypted_content") and not item.get("content"):
            return None  # a bare reference finds nothing where nothing is stored (F059)
        item.pop("status", None)
        return {key: value for key, value in item.items() if value is not None}

    def _paired(self, turn: Turn, items: list[Item]) -> list[Item]:
        """Reasoning only directly before the item it led to, and each only once."""
        out: list[Item] = []
        for place, item in enumerate(items):
            if item["type"] == "reasoning":
                after = items[place + 1]["type"] if place + 1 < len(items) else "reasoning"
                if after == "reasoning" or item.get("id") in self._sent:
                    why = "nothing follows it, or it is there already"
                    self._history.drop(turn, None, "thinking", why)
                    continue
                if item.get("id"):
                    self._sent.add(item["id"])
            out.append(item)
        return out


def _input(text: str) -> Item:
    return {"type": "input_text", "text": text}


def _developer(text: str) -> list[Item]:
    return [{"role": "developer", "content": [_input(text)]}] if text else []
