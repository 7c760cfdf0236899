"""Writing openai-responses requests (F056–F060, F180)."""

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


def test_reasoning_goes_back_with_an_effort_of_none_too() -> None:
    said = assistant(thought("S"), call(), keep=[own(), FC])
    on, off = (
        write("openai-responses", user("q"), said, tool(result()), thinking_on=on).body["input"]
        for on in (True, False)
    )
    assert on == off and on[1]["encrypted_content"] == "E"


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


def test_a_choice_of_a_tool_that_is_not_there_is_told() -> None:
    rules = {"tool_choice_ok": ("auto", "none", "required", "named")}
    encoded = write("openai-responses", user("q"), tools=[TOOL], tool_choice="gone", rules=rules)
    assert "tool_choice" not in encoded.body
    assert [item.what for item in encoded.dropped] == ["tool_choice"]
