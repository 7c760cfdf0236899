"""Hand-written requests against the fakes of Ollama, Mistral and Bedrock."""

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from silu import fakes
from silu.fakes import Call, FakeBedrock, FakeMistral, FakeOllama, Think, answer, play, script
from silu.fakes.bedrock import SIGNATURE
from silu.fakes.bedrock import refuse as bedrock_refuse
from silu.fakes.ollama import MODELS as LOCALS
from silu.fakes.vendor import FakeVendor
from tests.fakes.rawhttp import Raw, events, get, post
from tests.fakes.test_recorded_requests import recorded

pytestmark = pytest.mark.anyio

ASK = {"role": "user", "content": "hi"}
KEY = {"authorization": "Bearer test-key"}
LOOP = (answer(Think("Look. 看"), Call("look", {"a": 1})), answer(Think("Ok."), "Done. 好"))
TURN = LOOP[1]

# ---------------------------------------------------------------------------- Ollama


def called(arguments: Any) -> dict[str, Any]:
    call = {"function": {"name": "look", "arguments": arguments}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


OLLAMA: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("llama3.2:3b", {"think": True}, '"llama3.2:3b" does not support thinking', {"think": False}),
    ("llama3.2:3b", {"think": "low"}, "does not support thinking", {}),
    ("qwen3:4b", {"think": "minimal"}, 'invalid think value: "minimal"', {"think": "max"}),
    ("gemma2:2b", {"tools": [{}]}, "does not support tools", {}),
    (
        "qwen3:4b",
        {"messages": [ASK, called("{}")]},
        "cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function",
        {"messages": [ASK, called({}), {"role": "tool", "content": "x", "tool_name": "look"}]},
    ),
    (
        "qwen3:4b",
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]},
        "cannot unmarshal array into Go struct field ChatRequest.messages.content",
        {},
    ),
    (
        "qwen3:4b",
        {"messages": [{"role": "assistant", "content": "x", "thinking": ["y"]}]},
        "messages.thinking",
        {"messages": [{"role": "assistant", "content": "x", "thinking": "y"}, ASK]},
    ),
    ("qwen3:4b", {"messages": [{"role": "developer", "content": "x"}]}, "invalid role", {}),
    ("qwen9", {}, "model 'qwen9' not found", {"model": "gpt-oss:20b"}),
]


@pytest.mark.parametrize(("name", "bad", "words", "good"), OLLAMA)
async def test_ollama_refuses_the_bad_request_and_passes_the_good_one(
    name: str, bad: dict[str, Any], words: str, good: dict[str, Any]
) -> None:
    body = {"model": name, "messages": [ASK], "stream": False}
    async with fakes.serve(FakeOllama()) as url:
        refused = await post(url + "/api/chat", {**body, **bad})
        passed = await post(url + "/api/chat", {**body, **good})
    assert refused.status in (400, 404)
    assert words in refused.json()["error"]
    assert passed.status == 200, passed.body


async def test_ollama_streams_lines_and_gives_arguments_as_an_object() -> None:
    body = {"model": "qwen3:4b", "messages": [ASK]}
    async with fakes.serve(FakeOllama(play(*LOOP))) as url:
        first = await post(url + "/api/chat", body)
        second = await post(url + "/api/chat", {**body, "think": False})
    lines = [json.loads(line) for line in first.body.decode().splitlines()]
    assert "".join(line["message"].get("thinking", "") for line in lines) == "Look. 看"
    calls = [c for line in lines for c in line["message"].get("tool_calls", [])]
    assert calls == [{"function": {"name": "look", "arguments": {"a": 1}}}]
    assert (lines[-1]["done"], lines[-1]["done_reason"]) == (True, "stop")
    assert "thinking" not in second.body.decode()


async def test_ollama_says_what_a_model_can_do() -> None:
    async with fakes.serve(FakeOllama()) as url:
        shown = (await post(url + "/api/show", {"model": "qwen3:4b"})).json()
        tags = (await get(url + "/api/tags")).json()
    assert "thinking" in shown["capabilities"]
    assert shown["model_info"]["qwen3.context_length"] == 262_144
    assert [m["name"] for m in tags["models"]] == list(LOCALS)


async def test_ollamas_error_inside_a_stream_is_a_line() -> None:
    fake = FakeOllama(play(TURN))
    fake.troubles.append(script.error_in_stream(after=1, message="out of memory"))
    async with fakes.serve(fake) as url:
        raw = await post(url + "/api/chat", {"model": "qwen3:4b", "messages": [ASK]})
    assert json.loads(raw.body.decode().splitlines()[-1]) == {"error": "out of memory"}


# ---------------------------------------------------------------------------- Mistral

MCALL = {"id": "abcDEF123", "type": "function", "function": {"name": "look", "arguments": "{}"}}
MDONE = {"role": "tool", "tool_call_id": "abcDEF123", "content": "x"}


def chunks(*kinds: str) -> dict[str, Any]:
    made = {
        "thinking": {"type": "thinking", "thinking": [{"type": "text", "text": "a"}]},
        "text": {"type": "text", "text": "b"},
    }
    return {"role": "assistant", "content": [made[kind] for kind in kinds]}


def masked(**more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": [{**MCALL, **more}]}


MISTRAL: list[tuple[str, dict[str, Any], int, str, dict[str, Any]]] = [
    (
        "mistral-small-latest",
        {"reasoning_effort": "low"},
        400,
        "none, high",
        {"reasoning_effort": "high"},
    ),
    (
        "mistral-large-4",
        {"reasoning_effort": "none"},
        400,
        "low, medium, high",
        {"reasoning_effort": "low"},
    ),
    (
        "magistral-medium-2509",
        {"reasoning_effort": "high"},
        400,
        "not supported",
        {"prompt_mode": "reasoning"},
    ),
    ("mistral-large-4", {"thinking": {"type": "enabled"}}, 422, "extra_forbidden", {}),
    ("mistral-large-4", {"max_completion_tokens": 9}, 422, "extra_forbidden", {"max_tokens": 9}),
    (
        "mistral-large-4",
        {"messages": [ASK, {"role": "assistant", "content": "a", "reasoning_content": "b"}, ASK]},
        422,
        '"loc":["body","messages",1,"assistant","reasoning_content"]',
        {"messages": [ASK, chunks("thinking", "text"), ASK]},
    ),
    (
        "mistral-large-4",
        {"messages": [ASK, chunks("thinking", "thinking", "text"), ASK]},
        400,
        "must be merged into one",
        {"messages": [ASK, chunks("thinking", "text", "thinking"), ASK]},
    ),
    (
        "mistral-large-4",
        {"messages": [ASK, masked(id="call_1"), {**MDONE, "tool_call_id": "call_1"}]},
        400,
        "must be a-z, A-Z, 0-9, with a length of 9",
        {"messages": [ASK, masked(), MDONE]},
    ),
    ("mistral-large-4", {"messages": [ASK, masked(), ASK]}, 400, "Not the same number", {}),
    ("mistral-large-4", {"messages": [ASK, MDONE]}, 400, "Not the same number", {}),
    (
        "mistral-large-4",
        {"messages": [ASK, {"role": "assistant", "content": "a"}]},
        400,
        "Expected last role User or Tool",
        {"messages": [ASK, {"role": "assistant", "content": "a", "prefix": True}]},
    ),
    (
        "mistral-large-4",
        {"messages": [{"role": "developer", "content": "x"}]},
        422,
        "developer",
        {},
    ),
    ("mistral-9", {}, 400, "Invalid model: mistral-9", {"model": "mistral-large-4"}),
]


@pytest.mark.parametrize(("name", "bad", "status", "words", "good"), MISTRAL)
async def test_mistral_refuses_the_bad_request_and_passes_the_good_one(
    name: str, bad: dict[str, Any], status: int, words: str, good: dict[str, Any]
) -> None:
    body = {"model": name, "messages": [ASK]}
    async with fakes.serve(FakeMistral()) as url:
        refused = await post(url + "/chat/completions", {**body, **bad}, KEY)
        passed = await post(url + "/chat/completions", {**body, **good}, KEY)
    assert refused.status == status
    assert words in refused.body.decode()
    assert passed.status == 200, passed.body


@pytest.mark.parametrize("stream", [True, False])
async def test_mistrals_thinking_is_a_content_chunk(stream: bool) -> None:
    body = {"model": "mistral-large-4", "messages": [ASK], "stream": stream}
    async with fakes.serve(FakeMistral(play(TURN))) as url:
        raw = await post(url + "/chat/completions", body, KEY)
    found = events(raw) if stream else [raw.json()]
    contents = [
        choice.get("delta", choice.get("message"))["content"]
        for event in found
        for choice in event["choices"]
        if choice.get("delta", choice.get("message")).get("content")
    ]
    flat = [
        c for content in contents for c in (content if isinstance(content, list) else [content])
    ]
    thought = [t["text"] for c in flat if isinstance(c, dict) for t in c.get("thinking", [])]
    assert "".join(thought) == "Ok."
    text = [c if isinstance(c, str) else c.get("text", "") for c in flat]
    assert "".join(text) == "Done. 好"


# ---------------------------------------------------------------------------- Bedrock

SONNET, OSS = "us.anthropic.claude-sonnet-4-6", "openai.gpt-oss-120b-1:0"
BASK = {"role": "user", "content": [{"text": "hi"}]}
USE = {"toolUse": {"toolUseId": "t1", "name": "look", "input": {}}}
RESULT = {
    "role": "user",
    "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "x"}]}}],
}


def extra(**fields: Any) -> dict[str, Any]:
    return {"additionalModelRequestFields": fields}


def thought(**inner: Any) -> dict[str, Any]:
    return {"reasoningContent": {"reasoningText": inner}}


def spoken(*blocks: Any) -> dict[str, Any]:
    return {"messages": [BASK, {"role": "assistant", "content": list(blocks)}, BASK]}


BUDGET = {"type": "enabled", "budget_tokens": 1024}
BEDROCK: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    (SONNET, extra(thinking={"type": "on"}), "expected tags", extra(thinking=BUDGET)),
    (
        SONNET,
        extra(thinking={"type": "enabled"}),
        "budget_tokens: Field required",
        extra(reasoning_config=BUDGET),
    ),
    (
        SONNET,
        {**extra(thinking=BUDGET), "inferenceConfig": {"maxTokens": 1024}},
        "must be greater than",
        {**extra(thinking=BUDGET), "inferenceConfig": {"maxTokens": 1025}},
    ),
    (
        SONNET,
        {**extra(thinking=BUDGET), "inferenceConfig": {"temperature": 0.5}},
        "may only be set to 1",
        {**extra(thinking=BUDGET), "inferenceConfig": {"temperature": 1}},
    ),
    (SONNET, {"thinking": BUDGET}, "extraneous key [thinking] is not permitted", {}),
    (
        SONNET,
        spoken(thought(text="a"), {"text": "b"}),
        "thinking.signature: Field required",
        spoken({"text": "b"}),
    ),
    (SONNET, spoken(thought(text="a", signature="x"), {"text": "b"}), "Invalid `signature`", {}),
    (
        SONNET,
        spoken(USE),
        "without `tool_result` blocks",
        {"messages": [BASK, {"role": "assistant", "content": [USE]}, RESULT]},
    ),
    (SONNET, {"messages": [{"role": "system", "content": [{"text": "x"}]}]}, "enum value set", {}),
    (
        SONNET,
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]},
        "exactly one of",
        {},
    ),
    (
        OSS,
        spoken(thought(text="a", signature="x"), {"text": "b"}),
        SIGNATURE,
        spoken(thought(text="a"), {"text": "b"}),
    ),
    (OSS, extra(reasoning_effort="none"), "low, medium, high", extra(reasoning_effort="low")),
    (OSS, extra(thinking=BUDGET), "thinking: Extra inputs are not permitted", {}),
]


async def converse(
    fake: FakeVendor, name: str, fields: dict[str, Any], method: str = "converse"
) -> Raw:
    async with fakes.serve(fake) as url:
        return await post(f"{url}/model/{name}/{method}", {"messages": [BASK], **fields}, KEY)


@pytest.mark.parametrize(("name", "bad", "words", "good"), BEDROCK)
async def test_bedrock_refuses_the_bad_request_and_passes_the_good_one(
    name: str, bad: dict[str, Any], words: str, good: dict[str, Any]
) -> None:
    refused = await converse(FakeBedrock(), name, bad)
    assert (refused.status, refused.headers["x-amzn-errortype"]) == (400, "ValidationException")
    assert words in refused.json()["message"]
    passed = await converse(FakeBedrock(), name, good)
    assert passed.status == 200, passed.body


async def test_bedrock_checks_who_asks_and_for_what() -> None:
    async with fakes.serve(FakeBedrock()) as url:
        nobody = await post(f"{url}/model/{SONNET}/converse", {"messages": [BASK]})
        signed = {"authorization": "AWS4-HMAC-SHA256 Credential=x"}
        someone = await post(f"{url}/model/{SONNET}/converse", {"messages": [BASK]}, signed)
        what = await post(f"{url}/model/made.up/converse", {"messages": [BASK]}, KEY)
    assert (nobody.status, someone.status, what.status) == (403, 200, 400)
    assert bedrock_refuse("x").headers == {"x-amzn-errortype": "ValidationException"}


def frames(data: bytes) -> list[tuple[str, dict[str, Any]]]:
    """Event-stream messages with both checksums verified."""
    out: list[tuple[str, dict[str, Any]]] = []
    while data:
        size, heads = struct.unpack(">II", data[:8])
        whole, data = data[:size], data[size:]
        assert zlib.crc32(whole[:8]) == struct.unpack(">I", whole[8:12])[0]
        assert zlib.crc32(whole[:-4]) == struct.unpack(">I", whole[-4:])[0]
        header = whole[12 : 12 + heads].decode("latin-1")
        name = header.split("\x07")[1][2:].split(chr(13), maxsplit=1)[0]
        out.append((name, json.loads(whole[12 + heads : -4])))
    return out


async def test_bedrock_streams_checked_frames_and_takes_its_own_signature_back() -> None:
    fake = FakeBedrock(play(*LOOP, TURN))
    fields = {**extra(thinking={"type": "adaptive"})}
    async with fakes.serve(fake) as url:
        where = f"{url}/model/{SONNET}/"
        raw = await post(where + "converse-stream", {"messages": [BASK], **fields}, KEY)
        found = frames(raw.body)
        deltas = [body["delta"] for name, body in found if name == "contentBlockDelta"]
        inner = [delta["reasoningContent"] for delta in deltas if "reasoningContent" in delta]
        text = "".join(piece.get("text", "") for piece in inner)
        signature = next(piece["signature"] for piece in inner if "signature" in piece)
        use = next(body["start"]["toolUse"] for name, body in found if name == "contentBlockStart")
        said = [thought(text=text, signature=signature), {"toolUse": {**use, "input": {"a": 1}}}]
        result = {"toolUseId": use["toolUseId"], "content": [{"text": "x"}]}
        history = [
            BASK,
            {"role": "assistant", "content": said},
            {"role": "user", "content": [{"toolResult": result}]},
        ]
        second = await post(where + "converse", {"messages": history, **fields}, KEY)
    assert text == "Look. 看"
    assert found[0][0] == "messageStart"
    assert [name for name, _ in found][-2:] == ["messageStop", "metadata"]
    content = second.json()["output"]["message"]["content"]
    assert content[-1] == {"text": "Done. 好"}
    assert content[0]["reasoningContent"]["reasoningText"]["signature"]


# ---------------------------------------------------------------------------- recordings


def test_recorded_requests_pass(shared: Path) -> None:
    for _, meta, body in recorded(shared, "ollama-chat"):
        FakeOllama().check_body(body, meta["model"])
    for _, _, body in recorded(shared, "mistral-chat"):
        fake = FakeMistral()
        fake.rule(body, fake.check_shape(body))
