"""Writing gemini-generate requests (F061–F064, F069)."""

import json
from typing import Any

import pytest

from silu.types.parts import (
    ServerToolPart,
)
from tests.wire.attachments import GONE, LOST, NOTES, PDF, PNG, UNKNOWN, WEB
from tests.wire.writing import (
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
