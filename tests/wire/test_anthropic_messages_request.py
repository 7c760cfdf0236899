"""Writing anthropic-messages requests (F048–F055, F065–F075)."""

import json
from typing import Any

import pytest

from silu.types.parts import BlobRef, FilePart, ImagePart, ServerToolPart, UnknownPart, VendorPart
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

DIALECT = "anthropic-messages"


def signed(part: str = "k", value: str = "S", **more: Any) -> Any:
    return kept("signature", json.dumps(value), "signature", part, **more)


def messages(*given: Any, **more: Any) -> list[dict[str, Any]]:
    return write(DIALECT, *given, **more).body["messages"]


def test_a_plain_request() -> None:
    encoded = write(DIALECT, system("S"), user("Hi"))
    assert encoded.path == "/v1/messages"
    assert encoded.body == {
        "model": "m",
        "max_tokens": 8192,
        "system": [{"type": "text", "text": "S"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        "stream": True,
    }


def test_limits_sampling_and_the_level() -> None:
    body = write(
        DIALECT,
        user("Hi"),
        max_tokens=99,
        temperature=1.0,
        wire={"thinking": {"type": "adaptive"}},
        stream=False,
    ).body
    assert (body["max_tokens"], body["temperature"], body["stream"]) == (99, 1.0, False)
    assert body["thinking"] == {"type": "adaptive"}
    assert write(DIALECT, user("Hi"), rules={"default_max_tokens": 7}).body["max_tokens"] == 7


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ("auto", None),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ("f", {"type": "tool", "name": "f"}),
    ],
)
def test_tools_and_their_choice(asked: str, sent: Any) -> None:
    body = write(DIALECT, user("Hi"), tools=[TOOL], tool_choice=asked).body
    assert body.get("tool_choice") == sent
    assert body["tools"] == [
        {"name": "f", "description": "does f", "input_schema": {"type": "object"}}
    ]


def test_signed_thinking_goes_back_first_unchanged_and_in_order() -> None:
    said = assistant(
        thought("one", "k1"),
        call("c1"),
        thought("", "k2"),
        call("c2"),
        keep=[signed("k1", "S1"), signed("k2", "S2")],
    )
    [_, answer, results] = messages(user("q"), said, tool(result("c1"), result("c2")))
    assert answer["content"] == [
        {"type": "thinking", "thinking": "one", "signature": "S1"},
        {"type": "tool_use", "id": "c1", "name": "f", "input": {"x": 1}},
        {"type": "thinking", "thinking": "", "signature": "S2"},
        {"type": "tool_use", "id": "c2", "name": "f", "input": {"x": 1}},
    ]
    assert [b["tool_use_id"] for b in results["content"]] == ["c1", "c2"]


def test_redacted_thinking_goes_back() -> None:
    keep = [kept("redacted_thinking", '"D"', "data")]
    said = assistant(thought("", kind="redacted"), "A", keep=keep)
    assert messages(user("q"), said)[1]["content"][0] == {"type": "redacted_thinking", "data": "D"}


@pytest.mark.parametrize(
    ("data", "block"),
    [
        ("null", {"type": "thinking", "thinking": "x"}),
        ('""', {"type": "thinking", "thinking": "x", "signature": ""}),
    ],
)
def test_unsigned_thinking_goes_back_only_where_the_vendor_signs_nothing(
    data: str, block: dict[str, Any]
) -> None:
    said = assistant(thought("x"), call(), keep=[kept("signature", data, "thinking")])
    assert messages(user("q"), said, rules={"unsigned_ok": True})[1]["content"][0] == block
    encoded = write(DIALECT, user("q"), said)
    assert encoded.body["messages"][1]["content"][0]["type"] == "tool_use"
    assert "no signature" in encoded.dropped[0].why


@pytest.mark.parametrize(
    ("where", "has_calls", "filled"),
    [
        ("nowhere", True, False),
        ("tool_calls", True, True),
        ("tool_calls", False, False),
        ("assistant", False, True),
    ],
)
def test_an_unsigned_filler_leads_where_the_vendor_insists_on_a_thought(
    where: str, has_calls: bool, filled: bool
) -> None:
    rules = {"filler": " ", "filler_on": where, "unsigned_ok": True}
    foreign = assistant(thought("R"), "A", *([call()] if has_calls else []))
    first = messages(user("q"), foreign, rules=rules)[1]["content"][0]
    assert (first == {"type": "thinking", "thinking": " "}) is filled
    assert "R" not in str(first)
    own = assistant(thought("R"), call(), keep=[kept("signature", "null", "thinking")])
    blocks = messages(user("q"), own, rules=rules)[1]["content"]
    assert [block["type"] for block in blocks] == ["thinking", "tool_use"]
    assert blocks[0]["thinking"] == "R"


@pytest.mark.parametrize("more", [{"thinking_on": False}, {"rules": {"unsigned_ok": False}}])
def test_no_filler_without_thinking_or_where_thoughts_are_signed(more: dict[str, Any]) -> None:
    given = {"filler": " ", "filler_on": "assistant", "unsigned_ok": True, **more.pop("rules", {})}
    sent = messages(user("q"), assistant("A", call()), rules=given, **more)
    assert [block["type"] for block in sent[1]["content"]] == ["text", "tool_use"]


def test_one_thought_that_cannot_go_back_takes_its_neighbours_along() -> None:
    said = assistant(
        thought("a", "k1"), call("c1"), thought("b", "k2"), call("c2"), keep=[signed("k1")]
    )
    encoded = write(DIALECT, user("q"), said)
    assert [b["type"] for b in encoded.body["messages"][1]["content"]] == ["tool_use", "tool_use"]
    assert dropped(encoded) == [("k1", "thinking"), ("k2", "thinking")]


def test_foreign_thinking_stays_out() -> None:
    said = assistant(thought("SECRET"), "A", keep=[signed(base=ELSEWHERE)])
    encoded = write(DIALECT, user("q"), said)
    assert "SECRET" not in json.dumps(encoded.body) and '"S"' not in json.dumps(encoded.body)
    assert "another origin" in encoded.dropped[0].why


def test_with_thinking_off_no_thought_is_sent() -> None:
    said = assistant(thought("a"), "A", keep=[signed()])
    encoded = write(DIALECT, user("q"), said, user("r"), thinking_on=False)
    assert "thinking" not in json.dumps(encoded.body)
    assert dropped(encoded) == [("k", "thinking")]


def test_an_open_loop_without_its_leading_thought_is_told() -> None:
    def unled(*parts: Any, keep: Any = None) -> bool:
        given = (user("q"), assistant(*parts, keep=keep), tool(result()))
        return write(DIALECT, *given).loop_unled

    assert unled(call())
    assert unled(thought("a"), call(), keep=[signed(base=ELSEWHERE)])
    assert not unled(thought("a"), call(), keep=[signed()])
    assert not write(DIALECT, user("q"), assistant(call()), tool(result()), user("r")).loop_unled


def test_an_answer_of_thinking_alone_is_left_out() -> None:
    encoded = write(DIALECT, user("q"), assistant(thought("a"), keep=[signed()]), user("r"))
    [only] = encoded.body["messages"]
    assert [b["text"] for b in only["content"]] == ["q", "r"]
    assert (None, "message") in dropped(encoded)


def test_no_empty_text_block_is_sent() -> None:
    sent = messages(user("q", " "), assistant(text(""), text("\n", "t2"), call()), tool(result()))
    assert all(b.get("text", "x").strip() for m in sent for b in m["content"])


def test_results_stand_before_notices_and_the_next_message() -> None:
    sent = messages(
        user("q"),
        assistant(call("c1"), call("c2")),
        tool(result("c1", "", "error"), notice("N")),
        user("and?"),
    )
    assert sent[2]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": "(no output)",
            "is_error": True,
        },
        {
            "type": "tool_result",
            "tool_use_id": "c2",
            "content": "(This tool was not run: the request ended before it could be.)",
            "is_error": True,
        },
        {"type": "text", "text": "N"},
        {"type": "text", "text": "and?"},
    ]


def test_a_notice_rides_at_the_head_of_a_message() -> None:
    assert [b["text"] for b in messages(user(notice("N"), "q"))[0]["content"]] == ["N", "q"]


def test_ids_are_made_legal_on_both_sides() -> None:
    sent = messages(user("q"), assistant(call("functions.f:0")), tool(result("functions.f:0")))
    made = sent[1]["content"][0]["id"]
    assert made.startswith("toolu_") and sent[2]["content"][0]["tool_use_id"] == made


def test_a_conversation_that_begins_with_an_answer_gets_a_beginning() -> None:
    assert [m["role"] for m in messages(assistant("A"), user("q"))] == ["user", "assistant", "user"]


def test_a_later_system_text_is_said_as_the_persons() -> None:
    sent = write(DIALECT, system("S"), user("q"), system("T")).body
    assert sent["system"] == [{"type": "text", "text": "S"}]
    assert sent["messages"][0]["content"][-1]["text"] == "T"


def test_images_and_files() -> None:
    png = ImagePart(media_type="image/png", data="AAAA", id="i1")
    web = ImagePart(media_type="image/png", url="https://e.x/a.png", id="i2")
    gone = ImagePart(media_type="image/png", blob=BlobRef(sha256="0", size=1), id="i3")
    pdf = FilePart(media_type="application/pdf", name="a.pdf", data="AAAA", id="f1")
    notes = FilePart(media_type="text/plain", name="n", data="aGk=", id="f2")
    other = FilePart(media_type="application/zip", name="z", data="AAAA", id="f3")
    encoded = write(DIALECT, user(png, web, gone, pdf, notes, other))
    blocks = encoded.body["messages"][0]["content"]
    assert blocks[0]["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert blocks[1]["source"] == {"type": "url", "url": "https://e.x/a.png"}
    assert (blocks[3]["type"], blocks[3]["title"]) == ("document", "a.pdf")
    assert "hi" in blocks[4]["text"]
    assert dropped(encoded) == [("i3", "image"), ("f3", "file")]


def test_the_vendors_own_blocks_go_back_to_it_in_pairs() -> None:
    use = ServerToolPart(name="bash", call_id="s1", data='{"type":"server_tool_use"}', id="a")
    got = ServerToolPart(name="", call_id="s1", data='{"type":"bash_result"}', id="b")
    other = VendorPart(kind="x", data='{"type":"x"}', id="c")
    own = [kept("server_tool", "null", "content", part) for part in "abc"]
    sent = messages(user("q"), assistant(use, got, other, "A", keep=own), user("r"))
    assert [b["type"] for b in sent[1]["content"]] == [
        "server_tool_use",
        "bash_result",
        "x",
        "text",
    ]
    half = write(DIALECT, user("q"), assistant(use, "A", keep=own), user("r"))
    assert dropped(half) == [("a", "server_tool")]
    paused = messages(user("q"), assistant(use, keep=own))
    assert paused[1]["content"] == [{"type": "server_tool_use"}]
    foreign = write(DIALECT, user("q"), assistant(use, got, "A"))
    assert dropped(foreign) == [("a", "server_tool"), ("b", "server_tool")]


def test_sources_go_back_with_their_text_to_the_same_vendor() -> None:
    said = assistant(text("A"), keep=[kept("citations", '[{"url":"u"}]', "citations", "t")])
    assert messages(user("q"), said)[1]["content"][0]["citations"] == [{"url": "u"}]


def test_tagged_thinking_goes_back_in_its_tags_only_where_a_profile_wants_them() -> None:
    marks = [
        kept("tags", '[[0,"<think>"],[1,"</think>"]]', "content"),
        kept("tags", '[[0,"<x>"]]', "content", "t"),
    ]
    said = assistant(thought("a", kind="tagged"), text("c"), keep=marks)
    sent = messages(user("q"), said, rules={"keep_tags": True})
    assert [b["text"] for b in sent[1]["content"]] == ["<think>a</think>", "<x>c"]
    plain = write(DIALECT, user("q"), said)
    assert [b["text"] for b in plain.body["messages"][1]["content"]] == ["c"]
    assert dropped(plain) == [("k", "thinking")]


def test_cache_marks_stand_at_the_stable_ends() -> None:
    body = write(
        DIALECT,
        system("S"),
        user("q"),
        assistant(call()),
        tool(result()),
        tools=[TOOL],
        rules={"cache_marks": True},
    ).body
    mark = {"type": "ephemeral"}
    assert (
        body["tools"][-1]["cache_control"] == mark and body["system"][-1]["cache_control"] == mark
    )
    assert [m["content"][-1].get("cache_control") for m in body["messages"]] == [mark, None, mark]
    bare = write(DIALECT, user("q"), rules={"cache_marks": True}).body
    assert "tools" not in bare


def test_parts_without_a_place_are_left_out_and_told() -> None:
    image = ImagePart(media_type="image/png", data="AAAA", id="i")
    unknown = UnknownPart(raw={"type": "new"}, id="u")
    encoded = write(DIALECT, user(unknown, "q"), assistant(image, "A"))
    assert dropped(encoded) == [("u", "part"), ("i", "part")]
