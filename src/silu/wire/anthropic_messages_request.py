"""Anthropic Messages, first-party and compatible: writing requests.

Blocks go back in the order they came in, thinking with its signature, unchanged. A thought that
cannot go back takes all thinking of its message with it: a vendor that finds one block gone
refuses its neighbours too (vendors.md §1.3). Vendors that sign nothing and insist on a thought
(DeepSeek, Kimi, MiMo; vendors.md §4.3, §5.3, §8) get a filler where there is none.
"""

from typing import Any, cast

import msgspec

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
from silu.wire.anthropic_messages import CITATIONS, REDACTED, SERVER_TOOL, SIGNATURE
from silu.wire.blocks import NULL, TAGS
from silu.wire.files import file_text
from silu.wire.history import (
    GOES_ON,
    NOT_SENT_IMAGE,
    History,
    IdForm,
    Turn,
    add_blocks,
    choice,
    prepare,
    sampling,
    texts,
    thought_reason,
)
from silu.wire.pieces import arguments, joined, merge_deep
from silu.wire.think_tags import Marks, rebuild

IDS = IdForm(legal=r"[a-zA-Z0-9_-]{1,64}", prefix="toolu_")

_PLAIN_LIMIT = 8192
"""Output limit where neither the person nor the profile sets one; the dialect must have one."""

Block = dict[str, Any]


def encode(request: EncodeInput, rules: EncodeRules) -> Encoded:
    """The body for `/v1/messages`."""
    history = prepare(request, rules, IDS)
    writer = _Writer(history, request, rules)
    messages = writer.messages()
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens or rules.default_max_tokens or _PLAIN_LIMIT,
    }
    system = writer.system()
    if system:
        body["system"] = system
    if request.tools or request.own_tools:
        body["tools"] = [
            *(
                {"name": t.name, "description": t.description, "input_schema": t.parameters}
                for t in request.tools
            ),
            *request.own_tools,
        ]
        chosen = _choice(choice(request, rules, history))
        if chosen:
            body["tool_choice"] = chosen
    body["messages"] = messages
    body |= sampling(request, rules, history)
    body["stream"] = request.stream
    if rules.cache_marks:
        _mark(body)
    return Encoded(
        path="/v1/messages",
        body=merge_deep(body, request.wire),
        dropped=tuple(history.dropped),
        loop_unled=writer.loop_unled,
    )


def _choice(chosen: str) -> dict[str, Any] | None:
    match chosen:
        case "auto":
            return None
        case "none":
            return {"type": "none"}
        case "required":
            return {"type": "any"}
        case name:
            return {"type": "tool", "name": name}


class _Writer:
    def __init__(self, history: History, request: EncodeInput, rules: EncodeRules) -> None:
        self._history = history
        self._rules = rules
        self._thinking_on = request.thinking_on
        self._last = history.turns[-1] if history.turns else None
        self.loop_unled = False

    def system(self) -> list[Block]:
        """The leading system messages."""
        said = (joined([*turn.notices, *texts(turn)]) for turn in self._history.opening())
        return [_text(text) for text in said if text]

    def messages(self) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for turn in self._history.talk():
            role = "assistant" if turn.role == "assistant" else "user"
            blocks = self._assistant(turn) if role == "assistant" else self._user(turn)
            if turn is self._history.open_loop:
                kinds = [block["type"] for block in blocks[:1]]
                self.loop_unled = kinds not in (["thinking"], ["redacted_thinking"])
            add_blocks(out, role, blocks)
        if out and out[0]["role"] == "assistant":
            out.insert(0, {"role": "user", "content": [_text(GOES_ON)]})
        return out

    # -- what people and tools said

    def _user(self, turn: Turn) -> list[Block]:
        if turn.role == "tool":
            return [*(self._result(turn)), *map(_text, turn.notices)]
        blocks = [_text(text) for text in turn.notices if text.strip()]
        for part in turn.parts:
            block = self._user_part(turn, part)
            if block is not None:
                blocks.append(block)
        return blocks

    def _result(self, turn: Turn) -> list[Block]:
        blocks: list[Block] = []
        for result in turn.results:
            block: Block = {
                "type": "tool_result",
                "tool_use_id": result.call_id,
                "content": result.text,
            }
            if not result.ok:
                block["is_error"] = True
            blocks.append(block)
        return blocks

    def _user_part(self, turn: Turn, part: Part) -> Block | None:
        match part:
            case TextPart():
                return _text(part.text) if part.text.strip() else None
            case ImagePart():
                return self._image(turn, part)
            case FilePart():
                return self._file(turn, part)
            case _:
                self._history.drop(turn, part, "part", "this vendor has no place for it")
                return None

    def _image(self, turn: Turn, part: ImagePart) -> Block:
        if part.data is not None:
            source = {"type": "base64", "media_type": part.media_type, "data": part.data}
        elif part.url is not None:
            source = {"type": "url", "url": part.url}
        else:
            self._history.drop(turn, part, "image", "its bytes are not at hand")
            return _text(NOT_SENT_IMAGE)
        return {"type": "image", "source": source}

    def _file(self, turn: Turn, part: FilePart) -> Block:
        text = file_text(part)
        if text is not None:
            return _text(text)
        if part.data is not None and part.media_type == "application/pdf":
            source = {"type": "base64", "media_type": part.media_type, "data": part.data}
            return {"type": "document", "source": source, "title": part.name}
        self._history.drop(turn, part, "file", "this vendor does not take files of this kind")
        return _text(f"(the file {part.name}, which cannot be sent)")

    # -- what the model said

    def _assistant(self, turn: Turn) -> list[Block]:
        thoughts = self._thoughts(turn)
        blocks: list[Block] = []
        for part in turn.parts:
            block = self._block(turn, part, thoughts)
            if block is not None:
                blocks.append(block)
        if all(block["type"] in ("thinking", "redacted_thinking") for block in blocks):
            if turn.parts:
                self._history.drop(turn, None, "message", "it has neither text nor calls")
            return []
        return [*self._filler(blocks), *blocks]

    def _filler(self, blocks: list[Block]) -> list[Block]:
        """A thought that says nothing, for a message without one: foreign, or never thought."""
        rules = self._rules
        kinds = {block["type"] for block in blocks}
        wanted = rules.filler_on == "assistant" or (
            rules.filler_on == "tool_calls" and "tool_use" in kinds
        )
        if not (wanted and rules.unsigned_ok and self._thinking_on) or "thinking" in kinds:
            return []
        return [] if rules.filler is None else [{"type": "thinking", "thinking": rules.filler}]

    def _block(self, turn: Turn, part: Part, thoughts: dict[str, Block]) -> Block | None:
        match part:
            case ThinkingPart():
                return thoughts.get(part.id)
            case TextPart():
                return self._text_block(turn, part)
            case ToolCallPart():
                return {
                    "type": "tool_use",
                    "id": part.call_id,
                    "name": part.name,
                    "input": arguments(part),
                }
            case ServerToolPart() | VendorPart():
                return self._own_block(turn, part)
            case _:
                self._history.drop(turn, part, "part", "this vendor has no place for it")
                return None

    def _text_block(self, turn: Turn, part: TextPart) -> Block | None:
        text = part.text
        marks = turn.kept_of(part.id, TAGS) if self._rules.keep_tags else None
        if marks is not None:
            text = rebuild(text, msgspec.json.decode(marks.data, type=Marks))
        if not text.strip():
            return None
        block = _text(text)
        cited = turn.kept_of(part.id, CITATIONS)
        if cited is not None:
            block["citations"] = msgspec.json.decode(cited.data)
        return block

    def _own_block(self, turn: Turn, part: ServerToolPart | VendorPart) -> Block | None:
        """A block the vendor made and takes back; a tool's use and its result go together."""
        if turn.kept_of(part.id, SERVER_TOOL) is None:
            self._history.drop(turn, part, "server_tool", thought_reason(turn, self._rules))
            return None
        if isinstance(part, ServerToolPart) and part.call_id and turn is not self._last:
            pair = [
                p for p in turn.parts if isinstance(p, ServerToolPart) and p.call_id == part.call_id
            ]
            if len(pair) < 2:
                self._history.drop(turn, part, "server_tool", "its other half is missing")
                return None
        return cast("Block", msgspec.json.decode(part.data))

    # -- thinking

    def _thoughts(self, turn: Turn) -> dict[str, Block]:
        """The thinking blocks of a turn by part, or none: it goes back whole or not at all."""
        parts = [part for part in turn.parts if isinstance(part, ThinkingPart)]
        if not parts:
            return {}
        blocks: dict[str, Block] = {}
        why = "" if self._thinking_on else "thinking is off in this request"
        for part in parts:
            if why:
                break
            block = self._thought(turn, part)
            if block is None:
                why = self._why_not(turn, part)
            else:
                blocks[part.id] = block
        if not why:
            return blocks
        self._history.drop_thoughts(turn, parts, why)
        return {}

    def _thought(self, turn: Turn, part: ThinkingPart) -> Block | None:
        if part.kind == "tagged":
            marks = turn.kept_of(part.id, TAGS)
            if marks is None or not self._rules.keep_tags:
                return None
            return _text(rebuild(part.text, msgspec.json.decode(marks.data, type=Marks)))
        kept = turn.kept_of(part.id, SIGNATURE, REDACTED)
        if kept is None:
            return None
        if kept.kind == REDACTED:
            return {"type": "redacted_thinking", "data": msgspec.json.decode(kept.data)}
        signature = msgspec.json.decode(kept.data)
        block: Block = {"type": "thinking", "thinking": part.text}
        if signature or (self._rules.unsigned_ok and kept.data != NULL):
            block["signature"] = signature
        elif not self._rules.unsigned_ok:
            return None
        return block

    def _why_not(self, turn: Turn, part: ThinkingPart) -> str:
        if turn.kept_of(part.id, SIGNATURE) is not None:
            return "it has no signature, and this vendor takes none without"
        return thought_reason(turn, self._rules)


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


_CACHE = {"type": "ephemeral"}


def _mark(body: dict[str, Any]) -> None:
    """Cache marks: the end of the tools, of the system text, of the last two user messages."""
    for key in ("tools", "system"):
        if body.get(key):
            body[key][-1] = {**body[key][-1], "cache_control": _CACHE}
    users = [m for m in body["messages"] if m["role"] == "user"][-2:]
    for message in users:
        blocks = cast("list[Block]", message["content"])
        blocks[-1] = {**blocks[-1], "cache_control": _CACHE}
