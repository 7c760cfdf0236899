"""Google Gemini, strict: thinking levels and budgets by model, and thought signatures (§3)."""

from collections.abc import Iterator
from typing import Any

import msgspec

from silu.fakes import playing, seals
from silu.fakes.gemini_rules import BadContentError, check_contents, current_turn
from silu.fakes.http import Incoming
from silu.fakes.raw import is_int, obj
from silu.fakes.script import Answer, Asked, Call, Piece, Say, Script, chatty
from silu.fakes.vendor import FakeVendor, Plain, RefusalError, json_object
from silu.types.events import BlockEnd, BlockStart, ContinuityData, StreamEvent
from silu.types.usage import Usage
from silu.wire.serve import ServeOptions

PLACEHOLDER = "skip_thought_signature_validator"


class Gemini(msgspec.Struct, frozen=True, kw_only=True):
    """One model: `levels` of `thinkingLevel`, or the range of `thinkingBudget` (`zero`: 0 switches
    off). `signs`: calls of the current turn must bring their signature back."""

    levels: tuple[str, ...] = ()
    default: str | None = None
    budget: tuple[int, int] | None = None
    zero: bool = False
    default_on: bool = True
    signs: bool = True
    output: int = 65_536


_LOW_HIGH, _MIN = ("low", "medium", "high"), ("minimal", "low", "medium", "high")
MODELS: dict[str, Gemini] = {
    "gemini-2.5-pro": Gemini(budget=(128, 32_768), signs=False),
    "gemini-2.5-flash": Gemini(budget=(1, 24_576), zero=True, signs=False),
    "gemini-2.5-flash-lite": Gemini(budget=(512, 24_576), zero=True, default_on=False, signs=False),
    "gemini-3-flash-preview": Gemini(levels=_MIN, default="high"),
    "gemini-3.1-pro-preview": Gemini(levels=_LOW_HIGH, default="high"),
    "gemini-3.1-flash-lite": Gemini(levels=_MIN, default="minimal"),
    "gemini-3.5-flash": Gemini(levels=_MIN, default="medium"),
    "gemini-3.6-flash": Gemini(levels=_MIN, default="medium"),
    "gemini-3.7-flash": Gemini(levels=_LOW_HIGH, default="medium"),
    "gemini-3.8-flash": Gemini(levels=_LOW_HIGH, default="medium"),
    "gemini-4-argon": Gemini(levels=_LOW_HIGH, default="medium"),
    "gemini-4-carbon": Gemini(levels=_LOW_HIGH, default="medium", output=32_768),
    "gemini-4-hydrogen": Gemini(levels=(*_LOW_HIGH, "xhigh"), default="high"),
    "gemini-4-neon": Gemini(levels=(*_LOW_HIGH, "xhigh"), default="high"),
}


def refuse(message: str, *, code: int = 400, status: str = "INVALID_ARGUMENT") -> RefusalError:
    """Google's error body."""
    body = {"error": {"code": code, "message": message, "status": status}}
    return RefusalError(code, body, why=message)


class FakeGemini(FakeVendor):
    """Both methods of `/v1beta/models/{model}`; a stream only with `alt=sse`."""

    name = "gem"

    def __init__(
        self, script: Script = chatty, *, key: str = "test-key", rate: float | None = None
    ) -> None:
        super().__init__(script, key=key, rate=rate)
        self.secret = "fake-gemini"

    def dialect_of(self, request: Incoming) -> str:
        del request
        return "gemini-generate"

    def check(self, request: Incoming) -> Asked | Plain:
        if request.headers.get("x-goog-api-key") != self.key:
            message = "API key not valid. Please pass a valid API key."
            raise refuse(message)
        head, _, rest = request.path.partition("/v1beta/models")
        if head or (request.method == "GET" and rest.strip("/") == ""):
            return Plain({"models": [_listed(name) for name in MODELS]})
        name, _, method = rest.strip("/").partition(":")
        if name not in MODELS:
            message = (
                f"models/{name} is not found for API version v1beta, or is not supported for "
                "generateContent. Call ModelService.ListModels to see the list of available models."
            )
            raise refuse(message, code=404, status="NOT_FOUND")
        if request.method == "GET":
            return Plain(_listed(name))
        if method not in ("generateContent", "streamGenerateContent"):
            raise refuse(f"no method {method}", code=404, status="NOT_FOUND")
        body = json_object(request.body)
        if body is None:
            raise refuse("Invalid JSON payload received. Expected an object.")
        stream = method == "streamGenerateContent"
        if stream and "alt=sse" not in request.query:
            raise refuse("this fake streams with alt=sse only")
        return self.check_body(body, name, stream=stream)

    def check_body(self, body: dict[str, Any], name: str, *, stream: bool) -> Asked:
        """Judge a request body for a model; raises `RefusalError`."""
        model = MODELS[name]
        try:
            contents = check_contents(body)
        except BadContentError as breach:
            raise refuse(str(breach)) from breach
        config = obj(body.get("generationConfig")) or {}
        limit = config.get("maxOutputTokens")
        if limit is not None and not (is_int(limit) and 1 <= limit <= model.output):
            raise refuse(
                f"Unable to submit request because it has a maxOutputTokens value of {limit} but "
                f"the supported range is from 1 (inclusive) to {model.output + 1} (exclusive)."
            )
        thinking, effort, shown = self._thinking(config, name)
        self._check_signatures(contents, name)
        asked = _asked(body, contents, name)
        return msgspec.structs.replace(
            asked, stream=stream, thinking=thinking, effort=effort, show_thinking=shown
        )

    def _thinking(self, config: dict[str, Any], name: str) -> tuple[bool, str | None, bool]:
        model, asked = MODELS[name], obj(config.get("thinkingConfig")) or {}
        for field in asked:
            if field not in ("includeThoughts", "thinkingBudget", "thinkingLevel"):
                raise refuse(
                    f'Invalid JSON payload received. Unknown name "{field}" at '
                    "'generation_config.thinking_config': Cannot find field."
                )
        level, budget = asked.get("thinkingLevel"), asked.get("thinkingBudget")
        if level is not None and budget is not None:
            raise refuse("You can only set one of thinking budget and thinking level.")
        shown = asked.get("includeThoughts") is True
        if level is not None:
            return True, self._level(level, name), shown
        if budget is not None:
            return self._budget(budget, name), None, shown
        return model.default_on, model.default, shown

    def _level(self, level: object, name: str) -> str:
        model = MODELS[name]
        if not model.levels:
            raise refuse("Thinking level is not supported for this model.")
        word = str(level).lower()
        if word not in model.levels:
            words = ", ".join(model.levels)
            raise refuse(
                f"Thinking level {str(level).upper()} is not supported for this model. Supported "
                f"values are: {words}."
            )
        return word

    def _budget(self, budget: object, name: str) -> bool:
        model = MODELS[name]
        if model.budget is None:
            raise refuse("Thinking budget is not supported for this model. Use thinking level.")
        if not is_int(budget):
            raise refuse("Invalid value at 'generation_config.thinking_config.thinking_budget'")
        low, high = model.budget
        if budget == 0 and not model.zero:
            raise refuse("Budget 0 is invalid. This model only works in thinking mode.")
        if budget not in (0, -1) and not low <= int(str(budget)) <= high:
            raise refuse(
                f"The thinking budget {budget} is invalid. Please choose a value between {low} "
                f"and {high}."
            )
        return budget != 0

    # -- signatures ------------------------------------------------------------------------

    def _check_signatures(self, contents: list[dict[str, Any]], name: str) -> None:
        turn = current_turn(contents)
        for i, content in enumerate(contents):
            if content["role"] != "model":
                continue
            first = True
            for j, part in enumerate(content["parts"]):
                call, value = obj(part.get("functionCall")), part.get("thoughtSignature")
                if value is not None:
                    self._check_signature(value, part, name)
                if call is not None and first:
                    first = False
                    if value is None and i >= turn and MODELS[name].signs:
                        raise refuse(
                            "Function call is missing a thought_signature in functionCall parts. "
                            "This is required for tools to work correctly, and missing "
                            "thought_signature may lead to degraded model performance. Additional "
                            f"data, function call `default_api:{call.get('name')}`, position "
                            f"{i + 1}. (part {j})"
                        )

    def _check_signature(self, value: object, part: dict[str, Any], name: str) -> None:
        if value == PLACEHOLDER or not MODELS[name].signs:
            return
        if value != self._make(name, _content_of(part)):
            text = str(value)
            known = any(text == self._make(other, _content_of(part)) for other in MODELS)
            raise refuse("Invalid thought signature." if known else "Corrupted thought signature.")

    def _make(self, name: str, text: str) -> str:
        return seals.make(self.secret, scope=name, text=text, place=0, prefix=bytes(12))

    def answer_events(self, asked: Asked, answer: Answer, usage: Usage) -> Iterator[StreamEvent]:
        """The first call of the answer is signed, else its last text; thoughts are not."""
        signed = next((i for i, p in enumerate(answer.parts) if isinstance(p, Call)), None)
        if signed is None:
            said = [i for i, part in enumerate(answer.parts) if isinstance(part, Say)]
            signed = said[-1] if said and asked.thinking else None
        happenings = playing.events(answer, usage=usage, show_thinking=asked.show_thinking)
        for event in happenings:
            index = getattr(event, "index", None)
            part = None if signed is None else answer.parts[signed]
            if part is not None and index == signed:
                value = self._make(asked.model, _content_of_part(part))
                text = msgspec.json.encode(value).decode()
                data = ContinuityData(index, "thoughtSignature", text, "thoughtSignature")
                # A call carries it itself; a text gets an empty part at its end.
                if isinstance(event, BlockStart) and isinstance(part, Call):
                    yield event
                    yield data
                    continue
                if isinstance(event, BlockEnd) and isinstance(part, Say):
                    yield data
            yield event

    def options(self, asked: Asked) -> ServeOptions:
        return msgspec.structs.replace(super().options(asked), raw_finish=False)


def _content_of(part: dict[str, Any]) -> str:
    """What a signature of ours covers: the call, or nothing for a text (its parts may split)."""
    call = obj(part.get("functionCall"))
    if call is None:
        return ""
    return f"{call.get('name')}:{seals.digest(call.get('args') or {}).hex()}"


def _content_of_part(part: Piece) -> str:
    if not isinstance(part, Call):
        return ""
    args = msgspec.json.decode(playing.args_of(part) or "{}")
    return f"{part.name}:{seals.digest(args).hex()}"


def _asked(body: dict[str, Any], contents: list[dict[str, Any]], name: str) -> Asked:
    last: list[dict[str, Any]] = contents[-1]["parts"] if contents[-1]["role"] == "user" else []
    results = [obj(part.get("functionResponse")) for part in last]
    said = [
        "".join(str(part.get("text", "")) for part in content["parts"])
        for content in contents
        if content["role"] == "user"
    ]
    users = [text for text in said if text]
    return Asked(
        model=name,
        dialect="gemini-generate",
        body=body,
        stream=False,
        thinking=True,
        effort=None,
        user=users[-1] if users else "",
        results=tuple(
            msgspec.json.encode(r.get("response")).decode() for r in results if r is not None
        ),
        turn=sum(1 for content in contents if content["role"] == "model"),
    )


def _listed(name: str) -> dict[str, Any]:
    return {
        "name": f"models/{name}",
        "displayName": name,
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": MODELS[name].output,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
        "thinking": True,
    }
