"""Writing openai-chat requests."""

import base64
import json
import time
from typing import Any

import pytest

from silu.types.parts import (
    BlobRef,
    FilePart,
    ImagePart,
    ServerToolPart,
    ToolCallPart,
    UnknownPart,
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

DIALECT = "openai-chat"
PLAIN = kept("reasoning", "null", "reasoning_content")


def messages(*given: Any, **more: Any) -> list[dict[str, Any]]:
    return write(DIALECT, *given, **more).body["messages"]


def test_a_plain_request() -> None:
    encoded = write(DIALECT, system("S"), user("Hi"))
    assert encoded.path == "/chat/completions"
    assert encoded.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_what_a_profile_may_change() -> None:
    rules = {
        "system_role": "developer",
        "include_usage": False,
        "max_tokens_field": "max_completion_tokens",
    }
    body = write(DIALECT, system("S"), user("Hi"), rules=rules, max_tokens=9).body
    assert body["messages"][0]["role"] == "developer"
    assert "stream_options" not in body and body["max_completion_tokens"] == 9
    whole = write(DIALECT, user("Hi"), stream=False, max_tokens=9).body
    assert (whole["stream"], whole["max_tokens"]) == (False, 9)


def test_the_level_and_other_wire_fields_are_laid_over_the_body() -> None:
    body = write(
        DIALECT, user("Hi"), wire={"thinking": {"type": "enabled"}, "stream_options": {"x": 1}}
    ).body
    assert body["thinking"] == {"type": "enabled"}
    assert body["stream_options"] == {"include_usage": True, "x": 1}


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ("auto", None),
        ("none", "none"),
        ("required", "required"),
        ("f", {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_tools_and_their_choice(asked: str, sent: Any) -> None:
    body = write(DIALECT, user("Hi"), tools=[TOOL], tool_choice=asked).body
    assert body.get("tool_choice") == sent
    assert body["tools"][0]["function"]["parameters"] == {"type": "object"}
    assert "tool_choice" not in write(DIALECT, user("Hi"), tool_choice=asked).body


def test_a_choice_and_sampling_that_are_refused_are_left_out_and_told() -> None:
    encoded = write(
        DIALECT,
        user("Hi"),
        tools=[TOOL],
        tool_choice="f",
        temperature=0.2,
        rules={"tool_choice_ok": ("auto",), "sampling_ok": False},
    )
    assert not {"tool_choice", "temperature"} & set(encoded.body)
    assert dropped(encoded) == [(None, "tool_choice"), (None, "temperature")]
    assert write(DIALECT, user("Hi"), temperature=0.2, top_p=0.9).body["top_p"] == 0.9


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
def test_thinking_goes_back_in_the_field_it_came_in(field: str) -> None:
    said = assistant(thought("R1"), call(), keep=[kept("reasoning", "null", field)])
    [_, answer, _] = messages(user("q"), said, tool(result()))
    assert answer == {
        "role": "assistant",
        "content": None,
        field: "R1",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
        ],
    }


def test_a_profile_may_name_the_field() -> None:
    said = assistant(thought("R1"), "A", keep=[kept("reasoning", "null", "reasoning")])
    [_, answer] = messages(user("q"), said, rules={"echo_field": "reasoning_content"})
    assert answer["reasoning_content"] == "R1" and "reasoning" not in answer


def test_an_empty_thought_goes_back_as_empty_unless_the_vendor_refuses_that() -> None:
    keep = [kept("reasoning", '""', "reasoning_content", None)]
    said = assistant("A", keep=keep)
    assert messages(user("q"), said)[1]["reasoning_content"] == ""
    strict = {"extra": {"echo_not_empty": True}}
    assert messages(user("q"), said, rules=strict)[1]["reasoning_content"] == " "


def test_thinking_of_another_origin_or_of_none_stays_out_and_is_told() -> None:
    foreign = assistant(
        thought("SECRET"),
        "A",
        keep=[kept("reasoning", "null", "reasoning_content", base=ELSEWHERE)],
    )
    unknown = assistant(thought("SECRET", "k2"), "B")
    odd = assistant(
        thought("SECRET", "k3"), "C", keep=[kept("signature", '"S"', "signature", "k3")]
    )
    encoded = write(DIALECT, user("q"), foreign, user("r"), unknown, user("s"), odd)
    assert "SECRET" not in json.dumps(encoded.body)
    assert dropped(encoded) == [("k", "thinking"), ("k2", "thinking"), ("k3", "thinking")]
    assert "w/n" in encoded.dropped[0].why


def test_half_a_thought_does_not_go_back() -> None:
    said = assistant(thought("R1"), thought("R2", "k2"), "A", keep=[PLAIN])
    encoded = write(DIALECT, user("q"), said)
    assert "reasoning_content" not in encoded.body["messages"][1]
    assert dropped(encoded) == [("k", "thinking"), ("k2", "thinking")]


@pytest.mark.parametrize(
    ("where", "has_calls", "filled"),
    [
        ("nowhere", True, False),
        ("tool_calls", True, True),
        ("tool_calls", False, False),
        ("assistant", False, True),
    ],
)
def test_a_filler_stands_in_where_the_vendor_insists(
    where: str, has_calls: bool, filled: bool
) -> None:
    said = assistant("A", *([call()] if has_calls else []))
    sent = messages(user("q"), said, rules={"filler": " ", "filler_on": where})
    assert (sent[1].get("reasoning_content") == " ") is filled
    kept_one = assistant(thought("R"), call(), keep=[PLAIN])
    sent = messages(user("q"), kept_one, rules={"filler": " ", "filler_on": where})
    assert sent[1]["reasoning_content"] == "R"


def test_details_go_back_unmodified_and_alone() -> None:
    array = '[{"type":"reasoning.text","text":"R","signature":"S"},{"data":"D"}]'
    said = assistant(
        thought("R"),
        "A",
        keep=[
            kept("reasoning", "null", "reasoning"),
            kept("reasoning_details", array, "reasoning_details", None),
        ],
    )
    answer = messages(user("q"), said)[1]
    assert answer["reasoning_details"] == json.loads(array) and "reasoning" not in answer


def test_details_that_only_mirror_the_hosts_own_field_do_not() -> None:
    keep = [PLAIN, kept("reasoning_details", '[{"text":"R"}]', "reasoning_details", None)]
    said = assistant(thought("R"), "A", keep=keep)
    assert messages(user("q"), said)[1]["reasoning_content"] == "R"
    rules = {"echo_field": "reasoning_details"}
    assert "reasoning_details" in messages(user("q"), said, rules=rules)[1]


def test_sealed_reasoning_goes_back_with_its_summary() -> None:
    keep = [PLAIN, kept("encrypted_content", '"E"', "encrypted_content", None)]
    answer = messages(user("q"), assistant(thought("sum"), "A", keep=keep))[1]
    assert (answer["reasoning_content"], answer["encrypted_content"]) == ("sum", "E")


def test_tagged_thinking_goes_back_in_its_tags_only_where_a_profile_wants_them() -> None:
    marks = kept("tags", '[[0,"<think>\\n"],[2,"</think>\\n\\n"]]', "content")
    lead = kept("tags", '[[0,"<think></think>"]]', "content", "t")
    said = assistant(thought("ab", kind="tagged"), text("c"), keep=[marks])
    assert messages(user("q"), said, rules={"keep_tags": True})[1]["content"] == (
        "<think>\nab</think>\n\nc"
    )
    empty = assistant(text("c"), keep=[lead])
    assert messages(user("q"), empty, rules={"keep_tags": True})[1]["content"] == (
        "<think></think>c"
    )
    plain = write(DIALECT, user("q"), said)
    assert plain.body["messages"][1] == {"role": "assistant", "content": "c"}
    assert dropped(plain) == [("k", "thinking")]
    foreign = assistant(thought("ab", kind="tagged"), text("c"))
    encoded = write(DIALECT, user("q"), foreign, rules={"keep_tags": True})
    assert dropped(encoded) == [("k", "thinking")]


def test_an_answer_of_thinking_alone_is_left_out() -> None:
    encoded = write(DIALECT, user("q"), assistant(thought("abc"), keep=[PLAIN]), user("r"))
    assert [m["role"] for m in encoded.body["messages"]] == ["user", "user"]
    assert (None, "message") in dropped(encoded)


def test_texts_around_a_call_do_not_run_together() -> None:
    said = assistant("Let me see.", call(), "Done.")
    assert messages(user("q"), said)[1]["content"] == "Let me see.\n\nDone."


def test_arguments_go_back_as_they_came_and_always_as_an_object() -> None:
    def sent(arguments: str) -> str:
        said = assistant(call(arguments=arguments))
        return messages(user("q"), said)[1]["tool_calls"][0]["function"]["arguments"]

    assert sent('{"a":  1.0}') == '{"a":  1.0}'
    assert sent("") == "{}"
    assert sent("null") == "{}"
    assert json.loads(sent("[1]")) == {"value": [1]}
    assert json.loads(sent('{"a": "he')) == {"not_json": '{"a": "he'}


def test_an_overlong_id_is_shortened_on_both_sides() -> None:
    long = "call_" + "x" * 60
    sent = messages(user("q"), assistant(call(long)), tool(result(long)))
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"]
    assert len(sent[2]["tool_call_id"]) <= 40


def test_notices_ride_with_a_message_or_a_result() -> None:
    sent = messages(
        user(notice("N1"), "q"), assistant(call()), tool(result(), notice("N2")), user(notice("N3"))
    )
    assert sent[0]["content"] == "N1\n\nq"
    assert sent[2] == {"role": "tool", "tool_call_id": "c1", "content": "42\n\nN2"}
    assert sent[3]["content"] == "N3"


def test_images_and_files() -> None:
    png = ImagePart(media_type="image/png", data="AAAA", id="i1")
    web = ImagePart(media_type="image/png", url="https://e.x/a.png", id="i2")
    blob = BlobRef(sha256="0", size=1)
    gone = ImagePart(media_type="image/png", blob=blob, id="i3")
    code = FilePart(
        media_type="text/x-python", name="a.py", data=base64.b64encode(b"x = 1").decode(), id="f1"
    )
    pdf = FilePart(media_type="application/pdf", name="a.pdf", data="AAAA", id="f2")
    bad = FilePart(media_type="text/plain", name="b", data="/w==", id="f3")
    encoded = write(DIALECT, user(png, web, gone, code, pdf, bad, "q"))
    blocks = encoded.body["messages"][0]["content"]
    assert [b["image_url"]["url"] for b in blocks if b["type"] == "image_url"] == [
        "data:image/png;base64,AAAA",
        "https://e.x/a.png",
    ]
    assert "x = 1" in blocks[3]["text"]
    assert dropped(encoded) == [("i3", "image"), ("f2", "file"), ("f3", "file")]
    files = write(DIALECT, user(pdf), rules={"extra": {"files": True}}).body["messages"][0]
    assert files["content"][0]["file"]["filename"] == "a.pdf"
    plain = write(DIALECT, user(png, "q"), rules={"plain_content": True}).body["messages"][0]
    assert isinstance(plain["content"], str)


def test_empty_messages_are_not_sent() -> None:
    assert messages(system(" "), user(" "), user("q")) == [{"role": "user", "content": "q"}]


def test_parts_without_a_place_are_left_out_and_told() -> None:
    server = ServerToolPart(name="search", data="{}", id="s")
    unknown = UnknownPart(raw={"type": "new"}, id="u")
    encoded = write(DIALECT, user(unknown, "q"), assistant(server, "A"))
    assert dropped(encoded) == [("u", "part"), ("s", "part")]


def test_the_prefix_stays_the_same_byte_for_byte_as_a_conversation_grows() -> None:
    history = [
        user("q"),
        assistant(thought("R"), call("c1"), keep=[PLAIN]),
        tool(result("c1")),
        assistant(thought("S", "k"), "A", keep=[PLAIN]),
        user("r"),
    ]

    def bodies(n: int) -> list[str]:
        return [json.dumps(m) for m in messages(*history[:n], tools=[TOOL])]

    longest = bodies(5)
    for n in (1, 3, 4):
        assert bodies(n) == longest[:n]


def test_a_history_ten_times_as_long_takes_about_ten_times_as_long() -> None:
    def seconds(calls: int) -> float:
        history = [user("q")]
        for n in range(calls):
            made: ToolCallPart = call(f"c{n}")
            foreign = assistant(thought("S", f"s{n}"), text("A", f"t{n}"))
            history += [assistant(thought("R" * 500), made, keep=[PLAIN]), tool(result(f"c{n}"))]
            history.append(foreign)
        best = 1e9
        for _ in range(3):
            begun = time.process_time()
            encoded: Encoded = write(DIALECT, *history)
            best = min(best, time.process_time() - begun)
            assert len(encoded.body["messages"]) == 1 + 3 * calls
        return best

    assert seconds(1000) < 30 * seconds(100)
