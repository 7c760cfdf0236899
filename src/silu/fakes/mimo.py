"""Xiaomi MiMo (vendors.md §8): a switch, and refusals that tell their reason in `error.param`."""

from typing import Any

from silu.fakes.chat_vendor import ChatVendor, Ruling, switch_of
from silu.fakes.vendor import RefusalError
from silu.wire.serve.errors import dump

MISSING = "The reasoning_content in the thinking mode must be passed back to the API."


class FakeMiMo(ChatVendor):
    name = "mimo"
    models = (
        "mimo-v2-flash",
        "mimo-v2-pro",
        "mimo-v2-omni",
        "mimo-v2.5",
        "mimo-v2.5-pro",
        "mimo-v2.6-pro",
        "mimo-v2.6-flash",
        "mimo-v2.6-pro-ultraspeed",
    )
    has_messages = True

    def rule(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        thinking = _thinks(body)
        for i, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            needed = thinking and bool(message.get("tool_calls"))
            wrong = self.echo(message, body["model"], needed=needed)
            if wrong:
                refusal = _param_incorrect(MISSING, body)
                raise RefusalError(400, refusal.body, why=f"messages[{i}]: {wrong}")
        return Ruling(thinking=thinking)

    def rule_messages(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        thinking = _thinks(body)
        for i, message in enumerate(messages):
            if not thinking or message["role"] != "assistant":
                continue
            wrong = self.echo_blocks(message, body["model"])
            if wrong:
                refusal = _param_incorrect(MISSING, body)
                raise RefusalError(400, refusal.body, why=f"messages[{i}]: {wrong}")
        return Ruling(thinking=thinking)


def _thinks(body: dict[str, Any]) -> bool:
    word = switch_of(body)
    if word not in (None, "enabled", "disabled"):
        raise _param_incorrect(f"thinking.type {word} is not supported", body)
    return word == "enabled" or (word is None and body["model"] != "mimo-v2-flash")


def _param_incorrect(reason: str, body: dict[str, Any]) -> RefusalError:
    error = {"code": "400", "message": "Param Incorrect", "param": reason, "type": ""}
    data = dump({"error": error})
    # For a streaming request the error body itself is written as an event's data.
    prefix = b"data:" if body.get("stream") else b""
    return RefusalError(400, prefix + data, why=reason)
