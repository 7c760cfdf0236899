"""Writing openai-responses, gemini-generate, ollama-chat, mistral-chat and bedrock-converse
requests (F056–F064, F069, F180)."""

import json
from typing import Any

import pytest

from silu.types.parts import (
    BlobRef,
    FilePart,
    ImagePart,
    ServerToolPart,
    UnknownPart,
    VendorPart,
)
from silu.types.rules import Encoded
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
    text,
    thought,
    tool,
    user,
    write,
)

PNG = ImagePart(media_type="image/png", data="AAAA", id="i1")
WEB = ImagePart(media_type="image/png", url="https://e.x/a.png", id="i2")
GONE = ImagePart(media_type="image/png", blob=BlobRef(sha256="0", size=1), id="i3")
PDF = FilePart(media_type="application/pdf", name="a_b.pdf", data="AAAA", id="f1")
NOTES = FilePart(media_type="text/plain", name="n", data="aGk=", id="f2")
LOST = FilePart(media_type="application/zip", name="z", id="f3")
UNKNOWN = UnknownPart(raw={"type": "new"}, id="u")

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


# -- Responses


def item(sealed: str | None = "E", **more: Any) -> str:
    made = {"type": "reasoning", "id": "rs_1", "summary": [], "status": None, **more}
    return json.dumps(made | ({"encrypted_content": sealed} if sealed else {}))


def own(part: str = "k", data: str | None = None) -> Any:
    return kept("reasoning_item", data or item(), "reasoning", part)


FC = kept("call_item", '{"id":"fc_1"}', "function_call", "part-c1")


def inputs(*given: Any, **more: Any) -> list[dict[str, Any]]:
    return write("openai-responses", *given, **more).body["input"]


def test_a_plain_responses_request_stores_nothing_and_asks_for_sealed_reasoning() -> None:
    encoded = write("openai-responses", system("S"), user("q"), max_tokens=5)
    assert encoded.path == "/responses"
    assert encoded.body == {
        "model": "m",
        "instructions": "S",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "q"}]}],
        "max_output_tokens": 16,
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    off = write("openai-responses", user("q"), thinking_on=False).body
    assert off["store"] is False and "include" not in off
    plain = write("openai-responses", user("q"), rules={"extra": {"no_include": True}}).body
    assert "include" not in plain


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ("auto", None),
        ("none", "none"),
        ("required", "required"),
        ("f", {"type": "function", "name": "f"}),
    ],
)
def test_responses_tools_and_their_choice(asked: str, sent: Any) -> None:
    body = write("openai-responses", user("q"), tools=[TOOL], tool_choice=asked).body
    assert body.get("tool_choice") == sent
    assert body["tools"][0]["name"] == "f" and body["tools"][0]["strict"] is False


def test_reasoning_goes_back_whole_directly_before_its_call() -> None:
    said = assistant(thought("", kind="redacted"), call(), keep=[own(), FC])
    sent = inputs(user("q"), said, tool(result()))
    assert sent[1:] == [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "f",
            "arguments": '{"x": 1}',
            "id": "fc_1",
        },
        {"type": "function_call_output", "call_id": "c1", "output": "42"},
    ]


def test_where_reasoning_cannot_go_back_the_ids_of_what_it_led_to_stay_out_too() -> None:
    unsealed = own(data=item(None))
    for keep in ([unsealed, FC], [FC], [kept("reasoning_item", item(None), "reasoning", None), FC]):
        encoded = write("openai-responses", user("q"), assistant(thought("S"), call(), keep=keep))
        call_item = encoded.body["input"][1]
        assert call_item["type"] == "function_call" and "id" not in call_item
        assert ("k", "thinking") in dropped(encoded)
    off = write(
        "openai-responses",
        user("q"),
        assistant(thought("S"), call(), keep=[own(), FC]),
        thinking_on=False,
    )
    assert "id" not in off.body["input"][1]


def test_open_reasoning_goes_back_by_its_text() -> None:
    data = item(None, content=[{"type": "reasoning_text", "text": "R"}])
    said = assistant(thought("R"), call(), keep=[own(data=data)])
    assert inputs(user("q"), said)[1]["content"][0]["text"] == "R"


def test_reasoning_without_a_follower_and_doubled_items_stay_out() -> None:
    two = assistant(
        thought("a", "k1"),
        thought("b", "k2"),
        text("A"),
        keep=[
            own("k1"),
            own("k2", item(id="rs_2")),
            kept("message_item", '{"id":"msg_1"}', "m", "t"),
        ],
    )
    sent = inputs(user("q"), two, user("r"), two)
    assert [i.get("id") for i in sent if i.get("type") == "reasoning"] == ["rs_2"]
    assert [i.get("id") for i in sent if i.get("type") == "message"] == ["msg_1", None]
    alone = write("openai-responses", user("q"), assistant(thought("a"), keep=[own()]))
    assert len(alone.body["input"]) == 1


def test_a_message_keeps_its_id_and_phase() -> None:
    keep = [kept("message_item", '{"id":"msg_1","phase":"final_answer"}', "message", "t")]
    sent = inputs(user("q"), assistant(text("A"), keep=keep))[1]
    assert (sent["id"], sent["phase"]) == ("msg_1", "final_answer")
    assert sent["content"] == [{"type": "output_text", "text": "A"}]


def test_a_custom_call_goes_back_as_one() -> None:
    keep = [kept("call_item", '{"type":"custom_tool_call"}', "x", "part-c1")]
    said = assistant(call(arguments='{"input":"ls"}'), keep=keep)
    sent = inputs(user("q"), said, tool(result()))
    assert (sent[1]["type"], sent[1]["input"]) == ("custom_tool_call", "ls")
    assert sent[2]["type"] == "custom_tool_call_output"


def test_the_vendors_own_items_go_back_to_it() -> None:
    run = ServerToolPart(name="web_search_call", data='{"type":"web_search_call"}', id="s")
    said = assistant(run, "A", keep=[kept("item", "null", "output", "s")])
    assert inputs(user("q"), said)[1] == {"type": "web_search_call"}


def test_responses_notices_and_later_system_texts_are_the_developers() -> None:
    sent = inputs(
        user(notice("N1"), "q"), assistant(call()), tool(result(), notice("N2")), system("S")
    )
    assert [b["text"] for b in sent[0]["content"]] == ["N1", "q"]
    assert [i["content"][0]["text"] for i in sent if i.get("role") == "developer"] == ["N2", "S"]


def test_responses_images_and_files() -> None:
    encoded = write("openai-responses", user(PNG, WEB, GONE, PDF, NOTES, LOST, UNKNOWN))
    blocks = encoded.body["input"][0]["content"]
    assert [b["type"] for b in blocks] == [
        "input_image",
        "input_image",
        "input_text",
        "input_file",
        "input_text",
        "input_text",
    ]
    assert dropped(encoded) == [("i3", "image"), ("f3", "file"), ("u", "part")]


def test_responses_arguments_are_always_an_object() -> None:
    sent = inputs(user("q"), assistant(call("c1", ""), call("c2", "[1]"), call("c3", '{"a')))
    args = [json.loads(i["arguments"]) for i in sent if i.get("type") == "function_call"]
    assert args == [{}, {"value": [1]}, {"not_json": '{"a'}]


# -- Gemini


def contents(*given: Any, **more: Any) -> list[dict[str, Any]]:
    return write("gemini-generate", *given, **more).body["contents"]


def sign(part: str | None, value: str = "S") -> Any:
    return kept("thought_signature", json.dumps(value), "thoughtSignature", part)


def own_call(call_id: str, given: str | None) -> Any:
    return kept("function_call", json.dumps(given), "functionCall", f"part-{call_id}")


def test_a_plain_gemini_request() -> None:
    encoded = write(
        "gemini-generate", system("S"), user("q"), max_tokens=9, temperature=0.5, top_p=0.9
    )
    assert encoded.path == "/v1beta/models/m:streamGenerateContent?alt=sse"
    assert encoded.body == {
        "systemInstruction": {"parts": [{"text": "S"}]},
        "contents": [{"role": "user", "parts": [{"text": "q"}]}],
        "generationConfig": {"maxOutputTokens": 9, "temperature": 0.5, "topP": 0.9},
    }
    assert write("gemini-generate", user("q"), stream=False).path.endswith(":generateContent")


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ("auto", None),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ("f", {"mode": "ANY", "allowedFunctionNames": ["f"]}),
    ],
)
def test_gemini_tools_and_their_choice(asked: str, sent: Any) -> None:
    body = write("gemini-generate", user("q"), tools=[TOOL], tool_choice=asked).body
    assert (body.get("toolConfig") or {}).get("functionCallingConfig") == sent
    [declared] = body["tools"][0]["functionDeclarations"]
    assert declared["parametersJsonSchema"] == {"type": "object"}


def test_signatures_go_back_on_the_part_they_came_with() -> None:
    said = assistant(
        thought("sum"),
        text("A"),
        call("c1"),
        call("c2"),
        keep=[
            sign("t"),
            sign("part-c1", "T"),
            own_call("c1", "g1"),
            own_call("c2", None),
            sign(None, "U"),
        ],
    )
    sent = contents(user("q"), said, tool(result("c1"), result("c2", "no", "error"), notice("N")))
    assert sent[1]["parts"] == [
        {"text": "A", "thoughtSignature": "S"},
        {"functionCall": {"id": "g1", "name": "f", "args": {"x": 1}}, "thoughtSignature": "T"},
        {"functionCall": {"name": "f", "args": {"x": 1}}},
        {"text": "", "thoughtSignature": "U"},
    ]
    assert sent[2] == {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "g1", "name": "f", "response": {"output": "42"}}},
            {"functionResponse": {"name": "f", "response": {"error": "no", "notice": "N"}}},
        ],
    }


def test_a_signed_thought_goes_back_and_an_unsigned_summary_does_not() -> None:
    signed = assistant(thought("sum"), "A", keep=[sign("k")])
    assert contents(user("q"), signed)[1]["parts"][0] == {
        "text": "sum",
        "thought": True,
        "thoughtSignature": "S",
    }
    bare = write(
        "gemini-generate", user("q"), assistant(thought("sum"), text("A"), keep=[sign("t")])
    )
    assert [p for p in bare.body["contents"][1]["parts"] if p.get("thought")] == []
    assert dropped(bare) == [("k", "thinking")]


def test_calls_of_another_origin_carry_the_placeholder() -> None:
    said = assistant(call("c1"), call("c2"))
    [_, model, _] = contents(user("q"), said)
    assert [p.get("thoughtSignature") for p in model["parts"]] == [
        "skip_thought_signature_validator",
        None,
    ]
    other = contents(user("q"), said, rules={"placeholder_signature": "P"})[1]["parts"][0]
    assert other["thoughtSignature"] == "P"
    none = contents(user("q"), said, rules={"placeholder_signature": ""})[1]["parts"][0]
    assert "thoughtSignature" not in none
    own_one = contents(user("q"), assistant(call(), keep=[own_call("c1", None)]))[1]["parts"][0]
    assert "thoughtSignature" not in own_one


def test_the_vendors_own_parts_go_back_to_it() -> None:
    code = ServerToolPart(name="code_execution", data='{"executableCode":{}}', id="s")
    said = assistant(code, "A", keep=[kept("part", "null", "parts", "s"), sign("s")])
    assert contents(user("q"), said)[1]["parts"][0] == {
        "executableCode": {},
        "thoughtSignature": "S",
    }


def test_gemini_images_notices_and_odd_beginnings() -> None:
    encoded = write(
        "gemini-generate", user(notice("N"), PNG, WEB, GONE, PDF, NOTES, LOST, UNKNOWN, " ")
    )
    parts = encoded.body["contents"][0]["parts"]
    assert [next(iter(p)) for p in parts] == [
        "text",
        "inlineData",
        "fileData",
        "text",
        "inlineData",
        "text",
        "text",
    ]
    assert dropped(encoded) == [("i3", "image"), ("f3", "file"), ("u", "part")]
    sent = contents(assistant("A"), user("q"), system("S"))
    assert [c["role"] for c in sent] == ["user", "model", "user", "user"]
    alone = contents(user("q"), assistant(thought("a"), keep=[sign("k")]), user("r"))
    assert [c["role"] for c in alone] == ["user", "user"]


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
