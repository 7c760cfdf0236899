"""llama.cpp's server: thinking that can be ended early (vendors.md §16)."""

from collections.abc import Iterator

import msgspec

from silu.fakes.compat import CompatServer, openai_error
from silu.fakes.http import Incoming
from silu.fakes.script import Answer, Asked, Script, chatty
from silu.fakes.vendor import Plain, RefusalError, json_object
from silu.types.events import StreamEvent, TextDelta, ThinkingDelta
from silu.types.usage import Usage
from silu.wire.serve import ServeOptions


class FakeLlamaCpp(CompatServer):
    """`reasoning_control: true` lets a later call end the thought: the answer follows in the same
    stream. `ended` are the ids that were named by such calls and were thinking."""

    name = "chatcmpl"

    def __init__(self, script: Script = chatty, *, rate: float | None = None) -> None:
        super().__init__(script, key=None, thinking="effort", rate=rate)
        self._schema = msgspec.structs.replace(
            self._schema, fields=(self._schema.fields or set()) | {"reasoning_control"}
        )
        self.ended: list[str] = []
        self._thinking: set[str] = set()
        self._current = ""

    def forget(self) -> None:
        """As after a restart: no running answer is known by its id."""
        self._thinking.clear()

    def check(self, request: Incoming) -> Asked | Plain:
        if request.path == "/v1/chat/completions/control" and request.method == "POST":
            return Plain(self._control(request))
        asked = super().check(request)
        if isinstance(asked, Asked) and not isinstance(
            asked.body.get("reasoning_control", False), bool
        ):
            message = "reasoning_control must be a boolean"
            raise RefusalError(400, openai_error(message, param="reasoning_control"))
        return asked

    def options(self, asked: Asked) -> ServeOptions:
        made = super().options(asked)
        self._current = made.response_id
        if asked.thinking and asked.body.get("reasoning_control") is True:
            self._thinking.add(self._current)
        return made

    def answer_events(self, asked: Asked, answer: Answer, usage: Usage) -> Iterator[StreamEvent]:
        """A thought that was ended says nothing more."""
        mine = ""
        for event in super().answer_events(asked, answer, usage):
            mine = mine or self._current
            if isinstance(event, ThinkingDelta) and mine in self.ended:
                continue
            if isinstance(event, TextDelta):
                self._thinking.discard(mine)
            yield event

    def _control(self, request: Incoming) -> dict[str, object]:
        body = json_object(request.body) or {}
        if body.get("action") != "reasoning_end" or not isinstance(body.get("id"), str):
            message = "`id` and the action `reasoning_end` are needed"
            raise RefusalError(400, openai_error(message))
        if body["id"] not in self._thinking:
            return {"success": False, "message": "no such completion is thinking"}
        self._thinking.discard(body["id"])
        self.ended.append(body["id"])
        return {"success": True}
