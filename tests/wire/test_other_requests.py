"""Writing ollama-chat, mistral-chat and bedrock-converse requests, and what holds for all."""

import json
from typing import Any

import pytest

from silu.types.parts import (
    ServerToolPart,
    VendorPart,
)
from silu.types.rules import Encoded
from tests.wire.attachments import GONE, LOST, NOTES, PDF, PNG, UNKNOWN
from tests.wire.writing import (
    ELSEWHERE,
    TOOL,
    assistant,
    call,
    dropped,
    kept,
    notice,
    result,
    system,
    thought,
    tool,
    user,
    write,
)

OTHERS = ["openai-responses", "gemini-generate", "ollama-chat", "mistral-chat", "bedrock-converse"]


@pytest.mark.parametrize("dialect", OTHERS)
def test_foreign_thinking_and_foreign_blocks_go_nowhere(dialect: str) -> None:
    block = ServerToolPart(name="s", data='{"SECRET":1}', id="s")
    other = VendorPart(kind="v", data='{"SECRET":1}', id="v")
    said = assistant(
        thought("SECRET"),
        block,
        other,
        UNKNOWN,
        "A",
        call(),
        keep=[kept("signature", '"SECRET"', "signature", base=ELSEWHERE)],
    )
    encoded = write(dialect, user("q"), said, tool(result()), user("r"))
    assert "SECRET" not in json.dumps(encoded.body)
    assert {"k", "s", "v", "u"} <= {d.part for d in encoded.dropped}


@pytest.mark.parametrize("dialect", OTHERS)
def test_the_levels_fields_are_laid_over_the_body(dialect: str) -> None:
    body = write(dialect, user("q"), wire={"reasoning": {"effort": "low"}}).body
    assert body["reasoning"] == {"effort": "low"}


# -- Ollama


def test_ollama_messages() -> None:
    said = assistant(thought("R"), call(), keep=[kept("reasoning", "null", "thinking")])
    encoded = write(
        "ollama-chat",
        system("S"),
        user(notice("N"), PNG, GONE, "q"),
        said,
        tool(result()),
        tools=[TOOL],
        tool_choice="required",
        max_tokens=9,
        temperature=0.5,
    )
    assert encoded.path == "/api/chat"
    body = encoded.body
    assert body["messages"][1:] == [
        {"role": "user", "content": "N\n\n(an image that cannot be sent)\n\nq", "images": ["AAAA"]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "R",
            "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {"x": 1}}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "42", "tool_name": "f"},
    ]
    assert body["options"] == {"temperature": 0.5, "num_predict": 9}
    assert dropped(encoded) == [("i3", "image"), (None, "tool_choice")]
    assert write("ollama-chat", user(" "), user("q")).body["messages"] == [
        {"role": "user", "content": "q"}
    ]


# -- Mistral


def mistral(*given: Any, **more: Any) -> list[dict[str, Any]]:
    return write("mistral-chat", *given, **more).body["messages"]


def test_mistral_thinking_goes_back_as_one_chunk() -> None:
    keep = [
        kept("thinking_chunk", '{"signature":"S","closed":true}', "content", "k1"),
        kept("thinking_chunk", "{}", "content", "k2"),
    ]
    said = assistant(thought("a", "k1"), thought("b", "k2"), "A", keep=keep)
    chunk = {
        "type": "thinking",
        "thinking": [{"type": "text", "text": "ab"}],
        "signature": "S",
        "closed": True,
    }
    assert mistral(user("q"), said)[1] == {
        "role": "assistant",
        "content": [chunk, {"type": "text", "text": "A"}],
    }
    working = assistant(thought("a", "k1"), call(), keep=keep)
    assert mistral(user("q"), working)[1]["content"] == [
        chunk | {"thinking": [{"type": "text", "text": "a"}]}
    ]
    half = write(
        "mistral-chat", user("q"), assistant(thought("a", "k1"), thought("b", "k9"), "A", keep=keep)
    )
    assert half.body["messages"][1]["content"] == "A"
    assert dropped(half) == [("k1", "thinking"), ("k9", "thinking")]


def test_mistral_ids_names_choice_and_order() -> None:
    encoded = write(
        "mistral-chat",
        user("q"),
        assistant(call("call_long_id")),
        tool(result("call_long_id")),
        user("r"),
        tools=[TOOL],
        tool_choice="required",
    )
    sent = encoded.body["messages"]
    made = sent[1]["tool_calls"][0]["id"]
    assert len(made) == 9 and made.isalnum()
    assert sent[2] == {"role": "tool", "tool_call_id": made, "content": "42", "name": "f"}
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "assistant", "user"]
    assert encoded.body["tool_choice"] == "any" and "stream_options" not in encoded.body


# -- Bedrock


def test_a_plain_bedrock_request() -> None:
    encoded = write("bedrock-converse", system("S"), user("q"), max_tokens=9, top_p=0.9)
    assert encoded.path == "/model/m/converse-stream"
    assert encoded.body == {
        "messages": [{"role": "user", "content": [{"text": "q"}]}],
        "system": [{"text": "S"}],
        "inferenceConfig": {"maxTokens": 9, "topP": 0.9},
    }
    assert write("bedrock-converse", user("q"), stream=False).path.endswith("/converse")


@pytest.mark.parametrize(
    ("asked", "sent"),
    [("auto", None), ("none", None), ("required", {"any": {}}), ("f", {"tool": {"name": "f"}})],
)
def test_bedrock_tools_and_their_choice(asked: str, sent: Any) -> None:
    encoded: Encoded = write("bedrock-converse", user("q"), tools=[TOOL], tool_choice=asked)
    assert encoded.body["toolConfig"].get("toolChoice") == sent
    assert bool(encoded.dropped) == (asked == "none")


def test_bedrock_reasoning_goes_back_in_order() -> None:
    said = assistant(
        thought("a", "k1"),
        thought("", "k2", "redacted"),
        thought("b", "k3"),
        call(),
        keep=[
            kept("signature", '"S"', "reasoningContent", "k1"),
            kept("redacted_content", '"R"', "redactedContent", "k2"),
            kept("signature", "null", "reasoningContent", "k3"),
        ],
    )
    encoded = write("bedrock-converse", user("q"), said, tool(result(), notice("N")), user("r"))
    sent = encoded.body["messages"]
    assert sent[1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "a", "signature": "S"}}},
        {"reasoningContent": {"redactedContent": "R"}},
        {"reasoningContent": {"reasoningText": {"text": "b"}}},
        {"toolUse": {"toolUseId": "c1", "name": "f", "input": {"x": 1}}},
    ]
    assert sent[2]["content"] == [
        {"toolResult": {"toolUseId": "c1", "content": [{"text": "42"}], "status": "success"}},
        {"text": "N"},
        {"text": "r"},
    ]
    off = write("bedrock-converse", user("q"), said, tool(result()), thinking_on=False)
    assert "reasoningContent" not in json.dumps(off.body) and off.loop_unled
    assert not write("bedrock-converse", user("q"), said, tool(result())).loop_unled


def test_bedrock_images_files_and_odd_beginnings() -> None:
    encoded = write("bedrock-converse", user(notice("N"), PNG, GONE, PDF, NOTES, LOST, UNKNOWN))
    blocks = encoded.body["messages"][0]["content"]
    assert [next(iter(b)) for b in blocks] == ["text", "image", "text", "document", "text", "text"]
    assert blocks[3]["document"]["name"] == "a-b-pdf"
    assert dropped(encoded) == [("i3", "image"), ("f3", "file"), ("u", "part")]
    own_block = VendorPart(kind="image", data='{"image":{}}', id="v")
    said = assistant(own_block, "A", keep=[kept("block", "null", "content", "v")])
    sent = write("bedrock-converse", said, assistant("B"), user("q"), system("S")).body["messages"]
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert sent[1]["content"] == [{"image": {}}, {"text": "A"}, {"text": "B"}]
    keep = [kept("signature", '"S"', "reasoningContent")]
    alone = write("bedrock-converse", user("q"), assistant(thought("a"), keep=keep), user("r"))
    assert len(alone.body["messages"]) == 1 and (None, "message") in dropped(alone)
    assert described()["toolSpec"] == {"name": "f", "inputSchema": {"json": {"type": "object"}}}


def described() -> dict[str, Any]:
    from silu.types.calls import ToolSpec

    bare = ToolSpec(name="f", description="", parameters={"type": "object"})
    body = write("bedrock-converse", user("q"), tools=[bare]).body
    return body["toolConfig"]["tools"][0]
