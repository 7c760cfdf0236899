"""Bedrock's Converse, strict (vendors.md §13): Claude's rules behind another form, and others'."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import msgspec

from silu.fakes import playing, seals
from silu.fakes.anthropic import check_request
from silu.fakes.claude_models import MODELS as CLAUDES
from silu.fakes.http import Incoming
from silu.fakes.messages_rules import BadMessageError
from silu.fakes.messages_view import asked_of_messages
from silu.fakes.raw import obj, seq
from silu.fakes.script import Answer, Asked, Script, Think, chatty
from silu.fakes.vendor import FakeVendor, Plain, RefusalError, json_object
from silu.types.events import ContinuityData, StreamEvent

_EFFORTS: dict[str, tuple[str, ...]] = {
    "openai.gpt-oss-120b-1:0": ("low", "medium", "high"),
    "zai.glm-5.3": ("low", "medium", "high", "xhigh", "max"),
    "qwen.qwen3-next": ("none", "low", "medium", "high"),
}
_CLAUDES = {
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude-sonnet-4-5-20250929",
    "us.anthropic.claude-sonnet-4-6": "claude-sonnet-4-6",
    "us.anthropic.claude-sonnet-5": "claude-sonnet-5",
    "us.anthropic.claude-opus-5-5": "claude-opus-5-5",
}
MODELS = (*_CLAUDES, *_EFFORTS)
_FIELDS = frozenset(
    {
        "messages", "system", "inferenceConfig", "toolConfig", "additionalModelRequestFields",
        "additionalModelResponseFieldPaths", "guardrailConfig", "performanceConfig",
        "promptVariables", "requestMetadata", "serviceTier", "outputConfig",
    }
)  # fmt: skip
_BLOCKS = ("text", "toolUse", "toolResult", "reasoningContent", "image", "document", "cachePoint")
SIGNATURE = (
    "This model doesn't support the reasoningContent.reasoningText.signature field. Remove "
    "reasoningContent.reasoningText.signature and try again."
)


def refuse(message: str, *, status: int = 400, kind: str = "ValidationException") -> RefusalError:
    headers = {"x-amzn-errortype": kind}
    return RefusalError(status, {"message": message}, why=message, headers=headers)


class FakeBedrock(FakeVendor):
    """`/model/{id}/converse` and `/converse-stream`; a bearer key or a signed request."""

    name = "bedrock"

    def __init__(
        self, script: Script = chatty, *, key: str = "test-key", rate: float | None = None
    ) -> None:
        super().__init__(script, key=key, rate=rate)
        self.secret = "fake-bedrock"

    def dialect_of(self, request: Incoming) -> str:
        del request
        return "bedrock-converse"

    def call_id(self, number: int) -> str:
        return f"tooluse_{number:014d}"

    def check(self, request: Incoming) -> Asked | Plain:
        given = request.headers.get("authorization", "")
        if not given.startswith("AWS4-HMAC-SHA256 ") and given != f"Bearer {self.key}":
            kind = "UnrecognizedClientException"
            message = "The security token included in the request is invalid."
            raise refuse(message, status=403, kind=kind)
        _, _, rest = request.path.partition("/model/")
        name, _, method = rest.rpartition("/")
        name = unquote(name)
        if method not in ("converse", "converse-stream") or request.method != "POST":
            raise refuse("no such operation", status=404, kind="UnknownOperationException")
        if name not in MODELS:
            raise refuse("The provided model identifier is invalid.")
        body = json_object(request.body)
        if body is None:
            raise refuse("The request body is not JSON.", kind="SerializationException")
        return self.check_body(body, name, stream=method == "converse-stream")

    def check_body(self, body: dict[str, Any], name: str, *, stream: bool) -> Asked:
        """Judge a request for a model; raises `RefusalError`."""
        for field in body:
            if field not in _FIELDS:
                raise refuse(f"Malformed input request: extraneous key [{field}] is not permitted")
        claude = _CLAUDES.get(name)
        plain = self._translated(body, name, signed=claude is not None)
        try:
            if claude is not None:
                # Beta features ride in the body here.
                betas = frozenset(map(str, seq(plain.pop("anthropic_beta", None)) or []))
                messages, mode = check_request(plain, CLAUDES[claude], betas)
                thinking, effort, shown = mode.on, mode.effort, mode.display != "omitted"
            else:
                messages, effort = plain["messages"], self._effort(body, name)
                thinking, shown = effort != "none", True
        except BadMessageError as breach:
            raise refuse(f"The model returned the following errors: {breach}") from breach
        asked = asked_of_messages(
            plain, messages, thinking=thinking, effort=effort, show_thinking=shown
        )
        return msgspec.structs.replace(
            asked, model=name, dialect="bedrock-converse", body=body, stream=stream
        )

    def _effort(self, body: dict[str, Any], name: str) -> str | None:
        extra = obj(body.get("additionalModelRequestFields")) or {}
        for field in extra:
            if field not in ("reasoning_effort", "reasoning_config"):
                raise refuse(
                    f"The model returned the following errors: {field}: Extra inputs are not "
                    "permitted"
                )
        effort = extra.get("reasoning_effort", extra.get("reasoning_config"))
        if effort is not None and effort not in _EFFORTS[name]:
            words = ", ".join(_EFFORTS[name])
            raise refuse(
                f"The model returned the following errors: reasoning_effort {effort!r} is not "
                f"supported. Supported values are: {words}"
            )
        return effort

    # -- into Claude's own form ------------------------------------------------------------

    def _translated(self, body: dict[str, Any], name: str, *, signed: bool) -> dict[str, Any]:
        config = obj(body.get("inferenceConfig")) or {}
        extra = obj(body.get("additionalModelRequestFields")) or {}
        plain: dict[str, Any] = {"model": name, "max_tokens": config.get("maxTokens", 8192)}
        plain["messages"] = [
            self._message(obj(m) or {}, i, name, signed=signed)
            for i, m in enumerate(seq(body.get("messages")) or [])
        ]
        for ours, theirs in (("temperature", "temperature"), ("topP", "top_p")):
            if config.get(ours) is not None:
                plain[theirs] = config[ours]
        if signed:
            plain |= {k: v for k, v in extra.items() if k != "reasoning_config"}
            if "reasoning_config" in extra:
                plain["thinking"] = extra["reasoning_config"]
        return plain | self._tools(obj(body.get("toolConfig")) or {})

    def _tools(self, config: dict[str, Any]) -> dict[str, Any]:
        if not config:
            return {}
        specs = [obj((obj(t) or {}).get("toolSpec")) or {} for t in seq(config.get("tools")) or []]
        tools = [
            {"name": s.get("name"), "input_schema": (obj(s.get("inputSchema")) or {}).get("json")}
            for s in specs
        ]
        choice = obj(config.get("toolChoice")) or {}
        named = obj(choice.get("tool"))
        out: dict[str, Any] = {"tools": tools}
        if named is not None:
            out["tool_choice"] = {"type": "tool", "name": named.get("name")}
        elif choice:
            out["tool_choice"] = {"type": next(iter(choice))}
        return out

    def _message(
        self, message: dict[str, Any], position: int, name: str, *, signed: bool
    ) -> dict[str, Any]:
        if message.get("role") not in ("user", "assistant"):
            raise refuse(
                f"1 validation error detected: Value '{message.get('role')}' at 'messages."
                f"{position + 1}.member.role' failed to satisfy constraint: Member must satisfy "
                "enum value set: [user, assistant]"
            )
        blocks = [
            self._block(obj(block) or {}, f"messages.{position}.content.{j}", name, signed=signed)
            for j, block in enumerate(seq(message.get("content")) or [])
        ]
        return {"role": message["role"], "content": [b for b in blocks if b is not None]}

    def _block(
        self, block: dict[str, Any], where: str, name: str, *, signed: bool
    ) -> dict[str, Any] | None:
        kinds = [key for key in block if key in _BLOCKS]
        if len(kinds) != 1 or len(block) != 1:
            raise refuse(f"{where}: a content block has exactly one of {', '.join(_BLOCKS)}")
        inner: Any = block[kinds[0]]
        match kinds[0]:
            case "text":
                return {"type": "text", "text": inner}
            case "toolUse":
                return {
                    "type": "tool_use",
                    "id": inner.get("toolUseId"),
                    "name": inner.get("name"),
                    "input": inner.get("input"),
                }
            case "toolResult":
                texts = [obj(c) or {} for c in seq(inner.get("content")) or []]
                shown = "".join(str(c.get("text", c.get("json", ""))) for c in texts)
                return {
                    "type": "tool_result",
                    "tool_use_id": inner.get("toolUseId"),
                    "content": shown or "-",
                }
            case "reasoningContent":
                return self._thought(inner, where, name, signed=signed)
            case _:
                return None

    def _thought(
        self, inner: dict[str, Any], where: str, name: str, *, signed: bool
    ) -> dict[str, Any]:
        redacted = inner.get("redactedContent")
        if redacted is not None:
            if not signed or redacted != self._seal(name, ""):
                raise refuse(f"{where}: Invalid `data` in `redacted_thinking` block")
            return {"type": "redacted_thinking", "data": redacted}
        told = obj(inner.get("reasoningText")) or {}
        text, signature = str(told.get("text", "")), told.get("signature")
        if not signed:
            if signature is not None:
                raise refuse(SIGNATURE)
            return {"type": "thinking", "thinking": text, "signature": ""}
        if signature is None:
            raise refuse(
                f"The model returned the following errors: {where}.thinking.signature: Field "
                "required"
            )
        if signature != self._seal(name, text):
            raise refuse(
                f"The model returned the following errors: {where}: Invalid `signature` in "
                "`thinking` block"
            )
        return {"type": "thinking", "thinking": text, "signature": signature}

    def _seal(self, name: str, text: str) -> str:
        return seals.make(self.secret, scope=name, text=text, place=0, prefix=bytes(12))

    def seal(self, asked: Asked, answer: Answer) -> playing.Seal:
        del answer
        if asked.model not in _CLAUDES:
            return playing.no_seal

        def seal(index: int, thought: Think) -> Iterator[StreamEvent]:
            text = thought.text if asked.show_thinking and not thought.redacted else ""
            field = "data" if thought.redacted else "signature"
            value = msgspec.json.encode(self._seal(asked.model, text)).decode()
            yield ContinuityData(index, field, value, field)

        return seal
