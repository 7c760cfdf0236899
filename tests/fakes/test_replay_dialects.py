"""Strict replay of written answers in the other dialects: right echoes pass, wrong ones do not."""

import json
from pathlib import Path
from typing import Any

import pytest

from silu.fakes.answers import Told
from silu.fakes.http import Incoming, Reply
from silu.fakes.recordings import load
from silu.fakes.replay import Replay
from silu.types import events as ev
from silu.wire.serve import ServeOptions, encode_events

pytestmark = pytest.mark.anyio

SUFFIX = {"ollama-chat": "ndjson", "bedrock-converse": "eventstream"}
FIELD = {"openai-responses": "encrypted_content", "gemini-generate": "thoughtSignature"}
PATH = {
    "openai-responses": "/v1/responses",
    "gemini-generate": "/v1beta/models/m:streamGenerateContent",
    "ollama-chat": "/api/chat",
    "mistral-chat": "/v1/chat/completions",
    "bedrock-converse": "/model/m/converse-stream",
}


def chunk(text: str) -> dict[str, Any]:
    return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}


def written(dialect: str, folder: Path) -> Path:
    """A turn with a thought, sealed where the dialect seals, and a call."""
    field = FIELD.get(dialect, "signature")
    seal = [ev.ContinuityData(0, field, '"c2VhbA=="', field)]
    if dialect in ("ollama-chat", "mistral-chat"):
        seal = []
    on_call = dialect == "gemini-generate"
    happenings: list[ev.StreamEvent] = [
        ev.BlockStart(0, "thinking", "summary"),
        ev.ThinkingDelta(0, "Let me look."),
        *([] if on_call else seal),
        ev.BlockEnd(0),
        ev.BlockStart(1, "tool_call"),
        *(seal if on_call else []),
        ev.ToolCallDelta(1, "abcDEF123", "look", '{"a":1}'),
        ev.BlockEnd(1),
        ev.Finish("tool_calls", None),
    ]
    options = ServeOptions(
        model="m",
        response_id="r1",
        shape_thinking=chunk if dialect == "mistral-chat" else None,
    )
    file = folder / f"1.{SUFFIX.get(dialect, 'sse')}"
    file.write_bytes(b"".join(encode_events(dialect, happenings, stream=True, options=options)))
    return file


def request(dialect: str, thought: str | None, seal: str | None) -> tuple[dict[str, Any], ...]:
    """The first request, and the second with the answer sent back; `None` leaves a part out."""
    match dialect:
        case "openai-responses":
            summary = [] if thought is None else [{"type": "summary_text", "text": thought}]
            item = {"type": "reasoning", "id": "rs_r1_0", "summary": summary}
            item |= {} if seal is None else {"encrypted_content": seal}
            call = {"type": "function_call", "call_id": "abcDEF123", "name": "look"}
            done = {"type": "function_call_output", "call_id": "abcDEF123", "output": "x"}
            ask = {"role": "user", "content": "?"}
            back = [ask, *([item] if thought or seal else []), {**call, "arguments": '{"a":1}'}]
            return {"model": "m", "input": [ask]}, {"model": "m", "input": [*back, done]}
        case "gemini-generate":
            ask = {"role": "user", "parts": [{"text": "?"}]}
            part: dict[str, Any] = {"functionCall": {"name": "look", "args": {"a": 1}}}
            part |= {} if seal is None else {"thoughtSignature": seal}
            done = {"functionResponse": {"name": "look", "response": {"r": 1}}}
            said = {"role": "model", "parts": [part]}
            turn = [ask, said, {"role": "user", "parts": [done]}]
            return {"contents": [ask]}, {"contents": turn}
        case "bedrock-converse":
            ask = {"role": "user", "content": [{"text": "?"}]}
            told = {"text": thought, "signature": seal}
            inner = {k: v for k, v in told.items() if v is not None}
            use = {"toolUse": {"toolUseId": "abcDEF123", "name": "look", "input": {"a": 1}}}
            blocks = [{"reasoningContent": {"reasoningText": inner}}, use] if inner else [use]
            result = {"toolUseId": "abcDEF123", "content": [{"text": "x"}]}
            turn = [ask, {"role": "assistant", "content": blocks}]
            more = {"additionalModelRequestFields": {"thinking": {"type": "adaptive"}}}
            done = {"role": "user", "content": [{"toolResult": result}]}
            return {"messages": [ask], **more}, {"messages": [*turn, done], **more}
        case "ollama-chat":
            ask = {"role": "user", "content": "?"}
            call = {"function": {"name": "look", "arguments": {"a": 1}}}
            said = {"role": "assistant", "content": "", "tool_calls": [call]}
            said |= {} if thought is None else {"thinking": thought}
            turn = [ask, said, {"role": "tool", "content": "x", "tool_name": "look"}]
            return {"model": "m", "messages": [ask]}, {"model": "m", "messages": turn}
        case _:
            ask = {"role": "user", "content": "?"}
            call = {"id": "abcDEF123", "type": "function"}
            call |= {"function": {"name": "look", "arguments": '{"a":1}'}}
            content = "" if thought is None else chunk(thought)["content"]
            said = {"role": "assistant", "content": content, "tool_calls": [call]}
            done = {"role": "tool", "tool_call_id": "abcDEF123", "content": "x"}
            return {"model": "m", "messages": [ask]}, {"model": "m", "messages": [ask, said, done]}


async def post(replay: Replay, dialect: str, body: dict[str, Any]) -> Reply:

    return await replay.handle(
        Incoming(
            method="POST",
            path=PATH[dialect],
            query="alt=sse",
            headers={},
            body=json.dumps(body).encode(),
        )
    )


GOOD, SEAL = "Let me look.", "c2VhbA=="


@pytest.mark.parametrize(
    ("dialect", "thought", "seal", "why"),
    [
        ("openai-responses", GOOD, SEAL, None),
        ("openai-responses", GOOD, "b3RoZXI=", "not what was sent"),
        ("openai-responses", None, None, "1 of 1 thoughts are missing"),
        ("gemini-generate", None, SEAL, None),
        ("gemini-generate", None, "b3RoZXI=", "not what was sent"),
        ("gemini-generate", None, None, "1 of 1 thoughts are missing"),
        ("bedrock-converse", GOOD, SEAL, None),
        ("bedrock-converse", GOOD, "b3RoZXI=", "not what was sent"),
        ("bedrock-converse", None, None, "1 of 1 thoughts are missing"),
        ("ollama-chat", GOOD, None, None),
        ("ollama-chat", "Let me", None, "not what was sent"),
        ("ollama-chat", None, None, None),
        ("mistral-chat", GOOD, None, None),
        ("mistral-chat", "Let me", None, "not what was sent"),
        ("mistral-chat", None, None, None),
    ],
)
async def test_the_echo_has_to_be_what_was_sent(
    tmp_path: Path, dialect: str, thought: str | None, seal: str | None, why: str | None
) -> None:
    lines: list[str] = []
    answers = load(dialect, [written(dialect, tmp_path)])
    replay = Replay(dialect, answers, strict=True, told=lines.append)
    first, second = request(dialect, thought, seal)
    assert (await post(replay, dialect, first)).status == 200
    reply = await post(replay, dialect, second)
    assert reply.status == (200 if why is None else 400), lines
    assert lines == [] if why is None else why in lines[0]


@pytest.mark.parametrize("dialect", PATH)
async def test_a_written_stream_is_read_as_it_was_written(tmp_path: Path, dialect: str) -> None:
    (exchange,) = load(dialect, [written(dialect, tmp_path)])
    told = exchange.told
    assert [piece.kind for piece in told.pieces] == ["thinking", "call"]
    assert told.pieces[0].text == GOOD
    assert (told.calls[0]["name"], told.calls[0]["args"]) == ("look", '{"a":1}')
    assert told.complete
    sealed = [piece.data for piece in told.pieces if piece.data]
    assert sealed == ([] if dialect in ("ollama-chat", "mistral-chat") else [SEAL])


@pytest.mark.parametrize("dialect", PATH)
async def test_a_stream_becomes_a_document_for_a_client_that_does_not_stream(
    tmp_path: Path, dialect: str
) -> None:
    answers = load(dialect, [written(dialect, tmp_path)])
    replay = Replay(dialect, answers)
    first, _ = request(dialect, GOOD, SEAL)
    path = PATH[dialect].replace("streamG", "g").replace("-stream", "")
    body = {**first, "stream": False} if "model" in first else first

    reply = await replay.handle(
        Incoming(method="POST", path=path, query="", headers={}, body=json.dumps(body).encode())
    )
    assert reply.headers["content-type"] == "application/json"
    assert reply.pieces is not None
    data = b"".join([piece async for piece in reply.pieces])
    (tmp_path / "2.json").write_bytes(data)
    (again,) = load(dialect, [tmp_path / "2.json"])
    assert said(again.told) == said(answers[0].told)


def said(told: Told) -> list[tuple[str, str, str | None]]:
    return [(piece.kind, piece.text, piece.data) for piece in told.pieces]
