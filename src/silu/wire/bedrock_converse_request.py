"""Amazon Bedrock Converse: writing requests."""

from typing import Any, cast
from urllib.parse import quote

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
from silu.wire.bedrock_converse import BLOCK, REDACTED, SIGNATURE
from silu.wire.blocks import NULL
from silu.wire.files import file_text
from silu.wire.history import (
    GOES_ON,
    NOT_SENT_IMAGE,
    History,
    IdForm,
    Turn,
    add_blocks,
    choice,
    opening_text,
    prepare,
    sampling,
    thought_reason,
)
from silu.wire.pieces import arguments, merge_deep

IDS = IdForm(legal=r"[a-zA-Z0-9_.:-]{1,64}", prefix="tooluse_")

Block = dict[str, Any]


def encode(request: EncodeInput, rules: EncodeRules) -> Encoded:
    """The body for `/model/{id}/converse-stream` or `/converse`."""
    history = prepare(request, rules, IDS)
    writer = _Writer(history, request, rules)
    body: dict[str, Any] = {"messages": writer.messages()}
    system = writer.system()
    if system:
        body["system"] = [{"text": system}]
    config: dict[str, Any] = {}
    if request.max_tokens is not None:
        config["maxTokens"] = request.max_tokens
    sampled = sampling(request, rules, history)
    config |= {{"top_p": "topP"}.get(name, name): value for name, value in sampled.items()}
    if config:
        body["inferenceConfig"] = config
    if request.tools:
        body["toolConfig"] = _tools(request, rules, history)
    method = "converse-stream" if request.stream else "converse"
    return Encoded(
        path=f"/model/{quote(request.model, safe='')}/{method}",
        body=merge_deep(body, request.wire),
        dropped=tuple(history.dropped),
        loop_unled=writer.loop_unled,
    )


def _tools(request: EncodeInput, rules: EncodeRules, history: History) -> dict[str, Any]:
    tools: list[Block] = []
    for tool in request.tools:
        spec: Block = {"name": tool.name, "inputSchema": {"json": tool.parameters}}
        if tool.description:
            spec["description"] = tool.description
        tools.append({"toolSpec": spec})
    allowed = tuple(kind for kind in rules.tool_choice_ok if kind != "none")
    narrowed = EncodeRules(origin=rules.origin, tool_choice_ok=allowed)
    config: dict[str, Any] = {"tools": tools}
    match choice(request, narrowed, history):
        case "auto":
            pass
        case "required":
            config["toolChoice"] = {"any": {}}
        case name:
            config["toolChoice"] = {"tool": {"name": name}}
    return config


class _Writer:
    def __init__(self, history: History, request: EncodeInput, rules: EncodeRules) -> None:
        self._history = history
        self._rules = rules
        self._thinking_on = request.thinking_on
        self.loop_unled = False

    def system(self) -> str:
        return opening_text(self._history)

    def messages(self) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for turn in self._history.talk():
            role = "assistant" if turn.role == "assistant" else "user"
            blocks = self._assistant(turn) if role == "assistant" else self._user(turn)
            if turn is self._history.open_loop:
                self.loop_unled = not blocks or "reasoningContent" not in blocks[0]
            add_blocks(out, role, blocks)
        if out and out[0]["role"] == "assistant":
            out.insert(0, {"role": "user", "content": [{"text": GOES_ON}]})
        return out

    def _user(self, turn: Turn) -> list[Block]:
        if turn.role == "tool":
            blocks: list[Block] = [
                {
                    "toolResult": {
                        "toolUseId": result.call_id,
                        "content": [{"text": result.text}],
                        "status": "success" if result.ok else "error",
                    }
                }
                for result in turn.results
            ]
            return [*blocks, *({"text": text} for text in turn.notices)]
        blocks = [{"text": text} for text in turn.notices if text.strip()]
        blocks += [b for part in turn.parts if (b := self._user_part(turn, part))]
        return blocks

    def _user_part(self, turn: Turn, part: Part) -> Block | None:
        match part:
            case TextPart():
                return {"text": part.text} if part.text.strip() else None
            case ImagePart():
                if part.data is None:
                    self._history.drop(turn, part, "image", "its bytes are not at hand")
                    return {"text": NOT_SENT_IMAGE}
                form = part.media_type.rsplit("/", 1)[-1]
                return {"image": {"format": form, "source": {"bytes": part.data}}}
            case FilePart():
                return self._file(turn, part)
            case _:
                self._history.drop(turn, part, "part", "this vendor has no place for it")
                return None

    def _file(self, turn: Turn, part: FilePart) -> Block:
        text = file_text(part)
        if text is not None:
            return {"text": text}
        if part.data is not None and part.media_type == "application/pdf":
            name = "".join(c if c.isalnum() or c in "-() " else "-" for c in part.name)
            document = {"format": "pdf", "name": name, "source": {"bytes": part.data}}
            return {"document": document}
        self._history.drop(turn, part, "file", "this vendor does not take files of this kind")
        return {"text": f"(the file {part.name}, which cannot be sent)"}

    # -- what the model said

    def _assistant(self, turn: Turn) -> list[Block]:
        thoughts = self._thoughts(turn)
        blocks: list[Block] = []
        for part in turn.parts:
            match part:
                case ThinkingPart():
                    block = thoughts.get(part.id)
                case TextPart():
                    block = {"text": part.text} if part.text.strip() else None
                case ToolCallPart():
                    use = {"toolUseId": part.call_id, "name": part.name, "input": arguments(part)}
                    block = {"toolUse": use}
                case _:
                    block = self._own(turn, part)
            if block is not None:
                blocks.append(block)
        if all("reasoningContent" in block for block in blocks):
            if turn.parts:
                self._history.drop(turn, None, "message", "it has neither text nor calls")
            return []
        return blocks

    def _own(self, turn: Turn, part: Part) -> Block | None:
        own = isinstance(part, (ServerToolPart, VendorPart))
        if own and turn.kept_of(part.id, BLOCK) is not None:
            return cast("Block", msgspec.json.decode(part.data))
        what = "server_tool" if own else "part"
        self._history.drop(turn, part, what, "this vendor has no place for it")
        return None

    def _thoughts(self, turn: Turn) -> dict[str, Block]:
        """The reasoning blocks of a turn by part, or none: whole or not at all."""
        parts = [part for part in turn.parts if isinstance(part, ThinkingPart)]
        why = "" if self._thinking_on else "thinking is off in this request"
        blocks: dict[str, Block] = {}
        for part in parts:
            kept = turn.kept_of(part.id, SIGNATURE, REDACTED)
            if kept is None or part.kind == "tagged":
                why = why or thought_reason(turn, self._rules)
                break
            value = msgspec.json.decode(kept.data)
            if kept.kind == REDACTED:
                blocks[part.id] = {"reasoningContent": {"redactedContent": value}}
                continue
            text: Block = {"text": part.text}
            if kept.data != NULL:
                text["signature"] = value
            blocks[part.id] = {"reasoningContent": {"reasoningText": text}}
        if not why:
            return blocks
        self._history.drop_thoughts(turn, parts, why)
        return {}
