"""OpenAI chat completions and its many relatives: writing requests.

Thinking goes back only in the field it came in (`reasoning_content`, `reasoning`, …), as the
unmodified `reasoning_details` array, or inside its tags where a profile wants them; never as
text of ours.
"""

from typing import Any, cast

import msgspec

from silu.types.parts import (
    FilePart,
    ImagePart,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from silu.types.rules import Encoded, EncodeInput, EncodeRules
from silu.wire.blocks import NULL, TAGS, json_text
from silu.wire.files import file_text
from silu.wire.history import (
    NOT_SENT_IMAGE,
    History,
    IdForm,
    Turn,
    choice,
    prepare,
    sampling,
    texts,
    thought_reason,
    told,
)
from silu.wire.openai_chat import ENCRYPTED, REASONING
from silu.wire.pieces import arguments, data_url, joined, merge_deep
from silu.wire.reasoning_details import DETAILS, opaque_values
from silu.wire.think_tags import Marks, rebuild

IDS = IdForm(legal=r"[^\s]{1,40}")


def encode(request: EncodeInput, rules: EncodeRules) -> Encoded:
    """The body for `/chat/completions`."""
    history = prepare(request, rules, IDS)
    body = chat_body(request, rules, history, ChatWriter(history, rules).messages())
    return Encoded(path="/chat/completions", body=body, dropped=tuple(history.dropped))


def chat_body(
    request: EncodeInput,
    rules: EncodeRules,
    history: History,
    messages: list[dict[str, Any]],
    *,
    required: str = "required",
) -> dict[str, Any]:
    """The body around the messages; `required` is the dialect's word for "some tool"."""
    body: dict[str, Any] = {"model": request.model, "messages": messages}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
        chosen = choice(request, rules, history)
        if chosen in ("none", "required"):
            body["tool_choice"] = required if chosen == "required" else chosen
        elif chosen != "auto":
            body["tool_choice"] = {"type": "function", "function": {"name": chosen}}
    if request.max_tokens is not None:
        body[rules.max_tokens_field or "max_tokens"] = request.max_tokens
    body |= sampling(request, rules, history)
    body["stream"] = request.stream
    if request.stream and rules.include_usage:
        body["stream_options"] = {"include_usage": True}
    return merge_deep(body, request.wire)


class ChatWriter:
    """Writes the messages; relatives of the dialect override what differs there."""

    echo_default = "reasoning_content"
    """The field a filler goes into where the profile names none."""

    def __init__(self, history: History, rules: EncodeRules) -> None:
        self.history = history
        self.rules = rules

    def messages(self) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for turn in self.history.turns:
            match turn.role:
                case "system":
                    text = joined([*turn.notices, *texts(turn)])
                    message = {"role": self.rules.system_role, "content": text} if text else None
                case "user":
                    message = self.user(turn)
                case "assistant":
                    message = self.assistant(turn)
                case "tool":
                    message = None
                    out += self.results(turn)
            if message is not None:
                out.append(message)
        return out

    # -- what people and tools said

    def user(self, turn: Turn) -> dict[str, Any] | None:
        blocks: list[dict[str, Any]] = [_text(text) for text in turn.notices]
        for part in turn.parts:
            block = self.user_part(turn, part)
            if block is not None:
                blocks.append(block)
        if not blocks:
            return None
        if all(block["type"] == "text" for block in blocks):
            return {"role": "user", "content": joined(block["text"] for block in blocks)}
        return {"role": "user", "content": blocks}

    def user_part(self, turn: Turn, part: Part) -> dict[str, Any] | None:
        match part:
            case TextPart():
                return _text(part.text) if part.text.strip() else None
            case ImagePart():
                url = data_url(part)
                if url is None or self.rules.plain_content:
                    self.history.drop(turn, part, "image", "it cannot be sent to this vendor")
                    return _text(NOT_SENT_IMAGE)
                return {"type": "image_url", "image_url": {"url": url}}
            case FilePart():
                return self._file(turn, part)
            case _:
                self.history.drop(turn, part, "part", "this vendor has no place for it")
                return None

    def _file(self, turn: Turn, part: FilePart) -> dict[str, Any]:
        text = file_text(part)
        if text is not None:
            return _text(text)
        if part.data is not None and self.rules.extra.get("files"):
            data = f"data:{part.media_type};base64,{part.data}"
            return {"type": "file", "file": {"filename": part.name, "file_data": data}}
        self.history.drop(turn, part, "file", "this vendor does not take files of this kind")
        return _text(f"(the file {part.name}, which cannot be sent)")

    def results(self, turn: Turn) -> list[dict[str, Any]]:
        contents = [result.text for result in turn.results]
        if turn.notices and contents:
            contents[-1] = joined([contents[-1], *turn.notices])
        return [
            {"role": "tool", "tool_call_id": result.call_id, "content": content}
            for result, content in zip(turn.results, contents, strict=True)
        ]

    # -- what the model said

    def assistant(self, turn: Turn) -> dict[str, Any] | None:
        text = self._answer(turn)
        calls = self.calls(turn)
        echo = self.echo(turn)
        if not calls and not text.strip():
            # A thought alone: an empty answer is refused by several vendors (F055).
            self.history.drop(turn, None, "message", "it has neither text nor calls")
            return None
        if not echo:
            echo = self._filler(bool(calls))
        content = self.content(text, turn, echo)
        message: dict[str, Any] = {"role": "assistant", "content": content, **echo}
        if calls:
            message["tool_calls"] = calls
        return message

    def content(self, text: str, turn: Turn, echo: dict[str, Any]) -> Any:
        """The `content` of an answer; `echo` are the fields that carry its thinking."""
        return text or None

    def calls(self, turn: Turn) -> list[dict[str, Any]]:
        return [_call(part) for part in turn.calls]

    def _filler(self, has_calls: bool) -> dict[str, Any]:
        """What stands in for a thought that does not exist, where the vendor insists on one."""
        rules = self.rules
        wanted = rules.filler_on == "assistant" or (has_calls and rules.filler_on == "tool_calls")
        if rules.filler is None or not wanted:
            return {}
        return {rules.echo_field or self.echo_default: rules.filler}

    def _answer(self, turn: Turn) -> str:
        """The answer's text; tagged thinking is put back where the profile wants its tags."""
        pieces: list[str] = []
        apart = False
        for part in turn.parts:
            match part:
                case TextPart():
                    text = self._with_marks(turn, part) or part.text
                    if apart and pieces and text.strip():
                        pieces.append("\n\n")
                    pieces.append(text)
                    apart = False
                case ThinkingPart(kind="tagged"):
                    pieces.append(self._tagged(turn, part))
                case ThinkingPart():
                    pass
                case ToolCallPart():
                    apart = True
                case _:
                    apart = True
                    self.history.drop(turn, part, "part", "this vendor has no place for it")
        return "".join(pieces)

    def _with_marks(self, turn: Turn, part: TextPart | ThinkingPart) -> str | None:
        if not self.rules.keep_tags:
            return None
        kept = turn.kept_of(part.id, TAGS)
        if kept is None:
            return None
        return rebuild(part.text, msgspec.json.decode(kept.data, type=Marks))

    def _tagged(self, turn: Turn, part: ThinkingPart) -> str:
        whole = self._with_marks(turn, part)
        if whole is not None:
            return whole
        if not told(self.history, turn, part):
            own = turn.kept_of(part.id, TAGS) is not None
            why = "the vendor does not want its tags back" if own else ""
            self.history.drop(turn, part, "thinking", why or thought_reason(turn, self.rules))
        return ""

    # -- thinking in the vendor's own field

    def echo(self, turn: Turn) -> dict[str, Any]:
        thoughts = [
            part for part in turn.parts if isinstance(part, ThinkingPart) and part.kind != "tagged"
        ]
        field, text = self._plain(turn, thoughts)
        details = next(iter(turn.kept_whole(DETAILS)), None)
        echo: dict[str, Any] = {}
        if details is not None and self._prefers_details(field, details.data):
            echo[DETAILS] = msgspec.json.decode(details.data)
        elif text is not None:
            echo[self.rules.echo_field or field] = self._never_empty(text)
        for sealed in turn.kept_whole(ENCRYPTED):
            echo[ENCRYPTED] = msgspec.json.decode(sealed.data)
        if not echo:
            self.history.drop_thoughts(turn, thoughts, thought_reason(turn, self.rules))
        return echo

    def _plain(self, turn: Turn, thoughts: list[ThinkingPart]) -> tuple[str, str | None]:
        """The field thinking came in and all its text, or `None` when it does not go back."""
        field = ""
        pieces: list[str] = []
        for part in thoughts:
            kept = turn.kept_of(part.id, REASONING)
            if kept is not None and kept.data == NULL:
                field = field or kept.origin.field
                pieces.append(part.text)
            elif part.text:
                return "", None
        if field:
            return field, "".join(pieces)
        empty = next(iter(turn.kept_whole(REASONING)), None)
        if empty is not None:
            return empty.origin.field, cast("str", msgspec.json.decode(empty.data) or "")
        return "", None

    def _prefers_details(self, field: str, data: str) -> bool:
        """The array goes back instead of the text (OpenRouter wants it unmodified, and not both),
        unless it only mirrors `reasoning_content`, which then is the host's own field."""
        if self.rules.echo_field is not None:
            return self.rules.echo_field == DETAILS
        return field != "reasoning_content" or bool(opaque_values(data))

    def _never_empty(self, text: str) -> str:
        """Kimi refuses an empty echo where it checks for one; DeepSeek wants it back as it was."""
        if text or not self.rules.extra.get("echo_not_empty"):
            return text
        return self.rules.filler or " "


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _call(part: ToolCallPart) -> dict[str, Any]:
    """A call; its arguments go back as they came where they are an object."""
    try:
        plain = isinstance(msgspec.json.decode(part.arguments), dict)
    except (msgspec.DecodeError, RecursionError):
        plain = False
    text = part.arguments if plain else json_text(arguments(part))
    return {
        "id": part.call_id,
        "type": "function",
        "function": {"name": part.name, "arguments": text},
    }
