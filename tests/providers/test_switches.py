"""Every vendor against every other: what one thought never reaches the other, and what a vendor
wants back reaches it in its own field.

An answer with a marker word in its thinking and one tool call is read in each vendor's dialect,
answered, and the conversation is written for the same vendor and for all others.
"""

import json

import pytest

from silu.config import Environment, Paths, Settings
from silu.providers.prepare import prepare
from silu.providers.profile import profile_for
from silu.providers.vendors import vendors
from silu.types.assembly import MessageBuilder
from silu.types.calls import CallRequest, ToolSpec
from silu.types.levels import Level
from silu.types.parts import Message, TextPart, ToolCallPart, ToolResultPart
from silu.wire import decoder

MARKER = "XYLOPHONE"
CALL = {"name": "look", "arguments": '{"at":"x"}'}
CHAT_CALLS = [{"id": "call_1", "type": "function", "function": CALL}]


def chat(**thought):
    message = {"role": "assistant", "content": "ok", "tool_calls": CHAT_CALLS, **thought}
    return {"id": "r", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


# fmt: off
ANSWERS = {
    "openai-chat": chat(reasoning_content=MARKER),
    "mistral-chat": chat(content=[
        {"type": "thinking", "thinking": [{"type": "text", "text": MARKER}]},
        {"type": "text", "text": "ok"}]),
    "anthropic-messages": {"id": "m", "type": "message", "role": "assistant", "content": [
        {"type": "thinking", "thinking": MARKER, "signature": "SIGNED"},
        {"type": "text", "text": "ok"},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "x"}}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}},
    "openai-responses": {"id": "r", "status": "completed", "output": [
        {"type": "reasoning", "id": "rs_1", "encrypted_content": "SEALED",
         "summary": [{"type": "summary_text", "text": MARKER}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", **CALL}]},
    "gemini-generate": {"candidates": [{"finishReason": "STOP", "content": {"role": "model",
        "parts": [{"text": MARKER, "thought": True},
                  {"functionCall": {"name": "look", "args": {"at": "x"}},
                   "thoughtSignature": "U0lHTkVE"}]}}]},
    "ollama-chat": {"model": "m", "done": True, "done_reason": "stop", "message": {
        "role": "assistant", "content": "ok", "thinking": MARKER,
        "tool_calls": [{"function": {"name": "look", "arguments": {"at": "x"}}}]}},
    "bedrock-converse": {"output": {"message": {"role": "assistant", "content": [
        {"reasoningContent": {"reasoningText": {"text": MARKER, "signature": "SIGNED"}}},
        {"text": "ok"},
        {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"at": "x"}}}]}},
        "stopReason": "tool_use", "usage": {"inputTokens": 1, "outputTokens": 1}},
}
# fmt: on

THINKERS = {
    "azure": "gpt-5.6-terra",
    "demo": "thinker",
    "ollama": "qwen3:8b",
    "lmstudio": "qwen3-8b",
    "llamacpp": "qwen3-8b",
    "vllm": "Qwen/Qwen3-8B",
    "sglang": "Qwen/Qwen3-8B",
    "openai-compatible": "some-model",
    "anthropic-compatible": "some-model",
    "openrouter": "deepseek/deepseek-v4-flash",
}
TOOLS = [ToolSpec(name="look", description="d", parameters={"type": "object"})]
DOORS = [
    (vendor.id, THINKERS.get(vendor.id) or vendor.start_models[0], door.dialect)
    for vendor in vendors().values()
    for door in vendor.doors
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    paths = Paths.under(tmp_path_factory.mktemp("home"))
    return Settings(paths=paths, env=Environment({"GOOGLE_CLOUD_PROJECT": "p"}))


def history(door, settings, *, steps=1):
    """A person's message, the vendor's answers as they are kept, each with its tool's result."""
    asked = Message(role="user", id="u1", parts=[TextPart(text="hi")])
    taken = [step(door, settings, number) for number in range(1, steps + 1)]
    return [asked, *(message for pair in taken for message in pair)]


def step(door, settings, number):
    """One answer and its tool's result; from the second on with a number of its own inside."""
    vendor, model, dialect = door
    profile = profile_for(vendor, model, dialect=dialect, settings=settings)
    ids = iter(f"p{n}" for n in range(9))
    builder = MessageBuilder(profile.origin, new_id=lambda: next(ids), clock=lambda: 0)
    reader = decoder(dialect, rules=profile.decode_rules(), streaming=False)
    data = json.dumps(ANSWERS[dialect])
    if number > 1:
        for word in (MARKER, "SIGNED", "SEALED", "U0lHTkVE", "call_1", "toolu_1", "rs_1", "fc_1"):
            data = data.replace(word, f"{word}{number}")
    data = data.encode()
    for event in [*reader.feed(data), *reader.close()]:
        builder.feed(event)
    answer = builder.message()
    answer.id = f"a{number}"
    assert any(MARKER in getattr(part, "text", "") for part in answer.parts), door
    results = [
        ToolResultPart(call_id=part.call_id, name=part.name, status="ok", shown=f"seen {number}")
        for part in answer.parts
        if isinstance(part, ToolCallPart)
    ]
    assert len(results) == 1, door
    return answer, Message(role="tool", id=f"t{number}", parts=results)


def written(door, said, settings, level=Level.HIGH):
    vendor, model, dialect = door
    profile = profile_for(vendor, model, dialect=dialect, settings=settings)
    request = CallRequest(model=f"{vendor}/{model}", messages=said, tools=TOOLS, level=level)
    return prepare(profile, request, settings=settings)


def places(value, inside=()):
    """Where the marker stands: the path of keys to it."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*inside, key))
    elif isinstance(value, list):
        for item in value:
            yield from places(item, inside)
    elif isinstance(value, str) and MARKER in value:
        yield inside


HOMES = {
    "reasoning_content", "reasoning", "reasoning_details", "thinking", "summary",
    "reasoningContent", "reasoningText",
}  # fmt: skip
NO_ECHO = {("openai", "openai-chat"), ("azure", "openai-chat")}


@pytest.mark.parametrize("door", DOORS, ids="/".join)
def test_a_thought_goes_back_in_its_own_field_and_nowhere_else(door, settings):
    prepared = written(door, history(door, settings), settings)
    body = json.loads(prepared.http.body)
    found = list(places(body))
    if (door[0], door[2]) in NO_ECHO:
        assert found == []
    elif door[2] == "gemini-generate":
        # What Gemini wants back is the signature; the summary itself may stay out.
        assert b"U0lHTkVE" in prepared.http.body
    else:
        assert len(found) == 1, found
        assert HOMES & set(found[0]), found
    assert b"<think>" not in prepared.http.body


@pytest.mark.parametrize("door", DOORS, ids="/".join)
def test_a_loop_of_three_steps_brings_back_each_thought_before_its_result(door, settings):
    body = written(door, history(door, settings, steps=3), settings).http.body.decode()
    secret = "U0lHTkVE" if door[2] == "gemini-generate" else MARKER
    told = ["seen 1", "seen 2", "seen 3"]
    if (door[0], door[2]) not in NO_ECHO:
        told = [secret, told[0], f"{secret}2", told[1], f"{secret}3", told[2]]
    places = [body.index(word) for word in told]
    assert places == sorted(places)


@pytest.mark.parametrize("there", DOORS, ids="/".join)
def test_no_thought_of_any_other_vendor_arrives(there, settings):
    for here in DOORS:
        if here == there:
            continue
        said = history(here, settings)
        said.append(Message(role="user", id="u2", parts=[TextPart(text="and now?")]))
        prepared = written(there, said, settings)
        for secret in (MARKER, "SIGNED", "SEALED", "U0lHTkVE"):
            assert secret.encode() not in prepared.http.body, (here, there)
        assert b"seen" in prepared.http.body and b"look" in prepared.http.body, (here, there)
        assert any(dropped.message_id == "a1" for dropped in prepared.dropped), (here, there)


@pytest.mark.parametrize("door", DOORS, ids="/".join)
def test_every_level_can_be_written_for_every_vendor(door, settings):
    for level in (*Level, "default", "unset"):
        prepared = written(door, history(door, settings), settings, level=level)
        assert prepared.resolution.requested == str(level)
        assert json.loads(prepared.http.body)


@pytest.mark.parametrize("vendor", ["deepseek", "kimi", "mimo"])
def test_a_foreign_tool_call_gets_a_filler_on_the_unsigned_anthropic_doors(tmp_path, vendor):
    settings = Settings.load(Paths.under(tmp_path), {})
    foreign = Message(
        role="assistant", parts=[ToolCallPart(call_id="c1", name="look", arguments="{}")], id="a"
    )
    result = ToolResultPart(call_id="c1", name="look", status="ok", shown="seen")
    request = CallRequest(
        model=f"{vendor}/{vendors()[vendor].start_models[0]}",
        messages=[
            Message(role="user", parts=[TextPart(text="q")], id="u"),
            foreign,
            Message(role="tool", parts=[result], id="t"),
        ],
        level=Level.HIGH,
    )
    profile = profile_for(
        vendor, request.model.split("/")[1], dialect="anthropic-messages", settings=settings
    )
    body = json.loads(prepare(profile, request, settings=settings).http.body)
    blocks = body["messages"][1]["content"]
    assert blocks[0] == {"type": "thinking", "thinking": " "}
    assert blocks[1]["type"] == "tool_use"
