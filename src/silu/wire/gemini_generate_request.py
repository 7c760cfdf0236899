"""Gemini `generateContent`: writing requests.

A signature goes back on the part it came with, a call's in the first place (F061–F064); calls of
foreign origin carry the documented placeholder. The results of one answer stand together in the
content behind it.
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
from silu.wire.files import file_text
from silu.wire.gemini_generate import CALL, PART, SIGNATURE
from silu.wire.history import (
    GOES_ON,
    NOT_SENT_IMAGE,
    History,
    IdForm,
    Turn,
    choice,
    opening_text,
    prepare,
    sampling,
    thought_reason,
    told,
)
from silu.wire.pieces import arguments, joined, merge_deep

IDS = IdForm(legal=r"[^\s]{1,128}")

PLACEHOLDER = "skip_thought_signature_validator"
"""Passes the check of signatures where a call has none of its own (vendors.md §3.3)."""

Piece = dict[str, Any]


def encode(request: EncodeInput, rules: EncodeRules) -> Encoded:
    """The body for `models/{model}:generateContent`."""
    history = prepare(request, rules, IDS)
    writer = _Writer(history, rules)
    body: dict[str, Any] = {}
    system = writer.system()
    if system:
        body["systemInstruction"] = {"parts": [{"text": system}]}
    body["contents"] = writer.contents()
    if request.tools:
        schema = rules.extra.get("schema_field", "parametersJsonSchema")
        body["tools"] = [
            {
                "functionDeclarations": [
                    {"name": t.name, "description": t.description, schema: t.parameters}
                    for t in request.tools
                ]
            }
        ]
        chosen = choice(request, rules, history)
        if chosen != "auto":
            body["toolConfig"] = {"functionCallingConfig": _choice(chosen)}
    if request.own_tools:
        body["tools"] = [*body.get("tools", []), *request.own_tools]
        # Beside functions they are taken only when what they did is shown, so that it can go
        # back (ai.google.dev "Combine built-in tools and function calling", 2026-11).
        body.setdefault("toolConfig", {})["includeServerSideToolInvocations"] = True
    config: dict[str, Any] = {}
    if request.max_tokens is not None:
        config["maxOutputTokens"] = request.max_tokens
    sampled = sampling(request, rules, history)
    config |= {{"top_p": "topP"}.get(name, name): value for name, value in sampled.items()}
    if config:
        body["generationConfig"] = config
    method = "streamGenerateContent?alt=sse" if request.stream else "generateContent"
    prefix = rules.extra.get("path_prefix", "/v1beta")
    return Encoded(
        path=f"{prefix}/models/{request.model}:{method}",
        body=merge_deep(body, request.wire),
        dropped=tuple(history.dropped),
    )


def _choice(chosen: str) -> Piece:
    match chosen:
        case "none":
            return {"mode": "NONE"}
        case "required":
            return {"mode": "ANY"}
        case name:
            return {"mode": "ANY", "allowedFunctionNames": [name]}


class _Writer:
    def __init__(self, history: History, rules: EncodeRules) -> None:
        self._history = history
        self._rules = rules
        self._ids: dict[str, str | None] = {}

    def system(self) -> str:
        return opening_text(self._history)

    def contents(self) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for turn in self._history.talk():
            match turn.role:
                case "assistant":
                    parts = self._model(turn)
                case "tool":
                    parts = self._results(turn)
                case _:
                    parts = [{"text": text} for text in turn.notices if text.strip()]
                    parts += [p for part in turn.parts if (p := self._user_part(turn, part))]
            if parts:
                role = "model" if turn.role == "assistant" else "user"
                out.append({"role": role, "parts": parts})
        if out and out[0]["role"] == "model":
            out.insert(0, {"role": "user", "parts": [{"text": GOES_ON}]})
        return out

    # -- what people and tools said

    def _user_part(self, turn: Turn, part: Part) -> Piece | None:
        match part:
            case TextPart():
                return {"text": part.text} if part.text.strip() else None
            case ImagePart() | FilePart():
                return self._file(turn, part)
            case _:
                self._history.drop(turn, part, "part", "this vendor has no place for it")
                return None

    def _file(self, turn: Turn, part: ImagePart | FilePart) -> Piece:
        text = file_text(part) if isinstance(part, FilePart) else None
        if text is not None:
            return {"text": text}
        if part.data is not None:
            return {"inlineData": {"mimeType": part.media_type, "data": part.data}}
        if isinstance(part, ImagePart) and part.url is not None:
            return {"fileData": {"mimeType": part.media_type, "fileUri": part.url}}
        what = "image" if isinstance(part, ImagePart) else "file"
        self._history.drop(turn, part, what, "its bytes are not at hand")
        return {"text": NOT_SENT_IMAGE if what == "image" else "(a file that cannot be sent)"}

    def _results(self, turn: Turn) -> list[Piece]:
        parts: list[Piece] = []
        for result in turn.results:
            response: Piece = {"output" if result.ok else "error": result.text}
            answer: Piece = {"name": result.name, "response": response}
            call_id = self._ids.get(result.call_id)
            if call_id is not None:
                answer = {"id": call_id, **answer}
            parts.append({"functionResponse": answer})
        notice = joined(turn.notices)
        if notice and parts:
            parts[-1]["functionResponse"]["response"]["notice"] = notice
        return parts

    # -- what the model said

    def _model(self, turn: Turn) -> list[Piece]:
        parts: list[Piece] = []
        for part in turn.parts:
            piece = self._piece(turn, part)
            if piece is not None:
                parts.append(piece)
        for kept in turn.kept_whole(SIGNATURE):
            parts.append({"text": "", "thoughtSignature": msgspec.json.decode(kept.data)})
        self._stand_in(turn, parts)
        return parts if any(not piece.get("thought") for piece in parts) else []

    def _piece(self, turn: Turn, part: Part) -> Piece | None:
        match part:
            case ThinkingPart():
                return self._thought(turn, part)
            case TextPart():
                return self._signed(turn, part, {"text": part.text}) if part.text else None
            case ToolCallPart():
                return self._call(turn, part)
            case ServerToolPart() | VendorPart():
                if turn.kept_of(part.id, PART) is None:
                    self._history.drop(turn, part, "server_tool", thought_reason(turn, self._rules))
                    return None
                return self._signed(turn, part, cast("Piece", msgspec.json.decode(part.data)))
            case _:
                self._history.drop(turn, part, "part", "this vendor has no place for it")
                return None

    def _thought(self, turn: Turn, part: ThinkingPart) -> Piece | None:
        """A summary is only worth its signature: without one the vendor has no use for it."""
        if turn.kept_of(part.id, SIGNATURE) is not None:
            return self._signed(turn, part, {"text": part.text, "thought": True})
        if not told(self._history, turn, part):
            own = bool(turn.kept) or bool(turn.message.continuity)
            why = "a summary without a signature is not taken back"
            reason = why if own else thought_reason(turn, self._rules)
            self._history.drop(turn, part, "thinking", reason)
        return None

    def _call(self, turn: Turn, part: ToolCallPart) -> Piece:
        call: Piece = {"name": part.name, "args": arguments(part)}
        kept = turn.kept_of(part.id, CALL)
        given = msgspec.json.decode(kept.data) if kept is not None else None
        if given is not None:
            self._ids[part.call_id] = given
            call = {"id": given, **call}
        return self._signed(turn, part, {"functionCall": call})

    @staticmethod
    def _signed(turn: Turn, part: Part, piece: Piece) -> Piece:
        kept = turn.kept_of(part.id, SIGNATURE)
        if kept is not None:
            piece["thoughtSignature"] = msgspec.json.decode(kept.data)
        return piece

    def _stand_in(self, turn: Turn, parts: list[Piece]) -> None:
        """The first call of an answer that another origin made gets the placeholder."""
        own = any(kept.kind == CALL for kept in turn.kept) and not self._rules.placeholder_own
        stand_in = self._rules.placeholder_signature
        stand_in = PLACEHOLDER if stand_in is None else stand_in
        if own or not stand_in:
            return
        first = next((piece for piece in parts if "functionCall" in piece), None)
        if first is not None:
            first.setdefault("thoughtSignature", stand_in)
