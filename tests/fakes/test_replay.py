"""`silu wire replay`: recordings served turn by turn, in both forms, strictly where asked."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from silu.cli.replay import main as replay_main
from silu.fakes.http import listening
from silu.fakes.recordings import load
from silu.fakes.replay import Replay
from silu.types.errors import UserError
from tests.fakes.rawhttp import Raw, events, get, post

pytestmark = pytest.mark.anyio

ASK = {"role": "user", "content": "weather?"}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


def sse(*values: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(v).encode() + b"\n\n" for v in values)


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
FIRST = (
    sse(
        chunk(role="assistant", reasoning_content="Let me "),
        chunk(reasoning_content="look.  "),
        chunk(tool_calls=[CALL]),
        chunk("tool_calls"),
    )
    + b"data: [DONE]\n\n"
)
SECOND = sse(chunk(content="It rains."), chunk("stop")) + b"data: [DONE]\n\n"
CLAUDE_FIRST = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-5",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 3, "output_tokens": 4},
}


@asynccontextmanager
async def replaying(dialect: str, *paths: Path, **how: Any) -> AsyncIterator[tuple[str, list[str]]]:
    lines: list[str] = []
    replay = Replay(dialect, load(dialect, list(paths)), told=lines.append, **how)
    async with listening(replay.handle) as url:
        yield url + replay.base, lines


@pytest.fixture
def turns(tmp_path: Path) -> list[Path]:
    (tmp_path / "1.sse").write_bytes(FIRST)
    (tmp_path / "2.sse").write_bytes(SECOND)
    return [tmp_path / "1.sse", tmp_path / "2.sse"]


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    (tmp_path / "claude.json").write_text(json.dumps(CLAUDE_FIRST))
    return tmp_path / "claude.json"


def echoed(**more: Any) -> list[Any]:
    call = {k: v for k, v in CALL.items() if k != "index"}
    message = {"role": "assistant", "content": None, "tool_calls": [call], **more}
    return [ASK, message, {"role": "tool", "tool_call_id": "c1", "content": "rain"}]


async def chat(url: str, messages: list[Any], **fields: Any) -> Raw:
    body = {"model": "any", "messages": messages, "tools": [TOOL], "stream": True, **fields}
    return await post(url + "/chat/completions", body)


async def test_bytes_are_served_as_they_were_recorded_one_turn_after_the_other(
    turns: list[Path],
) -> None:
    async with replaying("openai-chat", *turns) as (url, _):
        first = await chat(url, [ASK])
        second = await chat(url, echoed(reasoning_content="Let me look.  "))
        again = await chat(url, echoed(reasoning_content="Let me look.  "))
    assert first.body == FIRST
    assert second.body == again.body == SECOND


async def test_a_new_conversation_takes_the_next_recording_and_then_the_first_again(
    turns: list[Path],
) -> None:
    async with replaying("openai-chat", *turns) as (url, _):
        bodies = [(await chat(url, [ASK])).body for _ in range(3)]
    assert bodies == [FIRST, SECOND, FIRST]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"reasoning_content": "Let me look."}, "not byte for byte what was sent"),
        ({}, "the thinking is missing; it came in `reasoning_content`"),
        ({"reasoning": "Let me look.  "}, "stands in `reasoning`, it came in `reasoning_content`"),
        ({"reasoning_content": "Let me look.  "}, None),
    ],
)
async def test_strict_replay_wants_the_thinking_back_byte_for_byte_and_in_its_field(
    turns: list[Path], given: dict[str, str], why: str | None
) -> None:
    async with replaying("openai-chat", *turns, strict=True) as (url, lines):
        await chat(url, [ASK])
        raw = await chat(url, echoed(**given))
    if why is None:
        assert (raw.status, lines) == (200, [])
        return
    assert raw.status == 400
    assert len(lines) == 1
    assert why in lines[0]
    assert "\n" not in lines[0]


async def test_strict_replay_refuses_the_thinking_of_another_model(turns: list[Path]) -> None:
    async with replaying("openai-chat", *turns, strict=True) as (url, lines):
        await chat(url, [ASK])
        thought = echoed(reasoning_content="Let me look.  ")
        raw = await chat(url, thought, model="other")
        left_out = await chat(url, echoed(), model="other")
    assert (raw.status, left_out.status) == (400, 200)
    assert "another model's answer" in lines[0]


async def test_strict_replay_refuses_thinking_pasted_as_text(tmp_path: Path) -> None:
    thought = "A long enough thought that nobody would write twice by accident."
    (tmp_path / "1.sse").write_bytes(
        sse(chunk(reasoning_content=thought), chunk(content="ok"), chunk("stop"))
    )
    async with replaying("openai-chat", tmp_path / "1.sse", strict=True) as (url, lines):
        await chat(url, [ASK])
        pasted = {"role": "assistant", "content": f"{thought}\nok"}
        raw = await chat(url, [ASK, pasted, ASK])
    assert raw.status == 400
    assert "plain text" in lines[0]


async def test_strict_replay_checks_the_schema_and_lenient_replay_does_not(
    turns: list[Path],
) -> None:
    bad = [ASK, {"role": "tool", "tool_call_id": "nobody", "content": "x"}]
    async with replaying("openai-chat", *turns, strict=True) as (url, lines):
        assert (await chat(url, bad)).status == 400
        assert len(lines) == 1
    async with replaying("openai-chat", *turns) as (url, lines):
        assert (await chat(url, bad)).status == 200


async def test_thinking_of_a_cut_answer_must_not_come_back(tmp_path: Path) -> None:
    (tmp_path / "1.sse").write_bytes(sse(chunk(reasoning_content="half a th"), chunk(content="o")))
    async with replaying("openai-chat", tmp_path / "1.sse", strict=True) as (url, lines):
        await chat(url, [ASK])
        back = {"role": "assistant", "content": "o", "reasoning_content": "half a th"}
        raw = await chat(url, [ASK, back, ASK])
    assert raw.status == 400
    assert "an answer that was cut" in lines[0]


async def test_a_recorded_document_is_streamed_to_a_client_that_streams(claude: Path) -> None:
    body = {
        "model": "claude-opus-5",
        "max_tokens": 99,
        "messages": [{"role": "user", "content": "?"}],
    }
    async with replaying("anthropic-messages", claude) as (url, _):
        whole = await post(url + "/v1/messages", body)
        stream = await post(url + "/v1/messages", {**body, "stream": True})
    assert whole.json() == CLAUDE_FIRST
    kinds = [event["type"] for event in events(stream)]
    assert kinds.count("content_block_start") == 3
    signatures = [
        e["delta"]["signature"] for e in events(stream) if "signature" in e.get("delta", {})
    ]
    assert signatures == ["c2ln"]
    assert events(stream)[-2]["delta"]["stop_reason"] == "tool_use"


async def test_a_recorded_stream_is_collected_for_a_client_that_does_not(
    turns: list[Path],
) -> None:
    async with replaying("openai-chat", *turns) as (url, _):
        raw = await chat(url, [ASK], stream=False)
    message = raw.json()["choices"][0]["message"]
    assert message["reasoning_content"] == "Let me look.  "
    assert message["tool_calls"][0]["id"] == "c1"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (None, None),
        ("missing", "the thinking is missing"),
        ("signature", "not byte for byte the one sent"),
        ("place", "out of place"),
        ("twice", "not byte for byte the one sent"),
    ],
)
async def test_strict_replay_wants_signed_blocks_unchanged_and_in_place(
    claude: Path, change: str | None, why: str | None
) -> None:
    blocks: list[Any] = json.loads(json.dumps(CLAUDE_FIRST["content"]))
    match change:
        case "missing":
            del blocks[0]
        case "signature":
            blocks[0]["signature"] = "b3RoZXI="
        case "place":
            blocks[0], blocks[1] = blocks[1], blocks[0]
        case "twice":
            blocks.insert(0, blocks[0])
        case _:
            pass
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "rain"}
    body = {
        "model": "claude-opus-5",
        "max_tokens": 99,
        "messages": [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": blocks},
            {"role": "user", "content": [result]},
        ],
    }
    async with replaying("anthropic-messages", claude, strict=True) as (url, lines):
        await post(url + "/v1/messages", {**body, "messages": body["messages"][:1]})
        raw = await post(url + "/v1/messages", body)
    assert raw.status == (200 if why is None else 400)
    assert lines == [] if why is None else why in lines[0]


async def test_strict_replay_has_the_rules_of_the_recorded_model(claude: Path) -> None:
    ask = {"model": "mine", "max_tokens": 99, "messages": [{"role": "user", "content": "?"}]}
    async with replaying("anthropic-messages", claude, strict=True) as (url, lines):
        raw = await post(url + "/v1/messages", {**ask, "temperature": 0.5})
    assert raw.status == 400
    assert "`temperature` is not supported" in lines[0]


async def test_the_models_of_the_recordings_are_listed(claude: Path) -> None:
    async with replaying("anthropic-messages", claude) as (url, _):
        raw = await get(url + "/v1/models")
    assert [model["id"] for model in raw.json()["data"]] == ["claude-opus-5"]


async def test_a_rate_paces_the_events(turns: list[Path]) -> None:
    start = asyncio.get_running_loop().time()
    async with replaying("openai-chat", *turns, rate=50) as (url, _):
        await chat(url, [ASK])
    assert asyncio.get_running_loop().time() - start > 0.08


def test_a_folder_of_another_dialect_is_refused_with_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text('{"dialect": "ollama-chat"}')
    (tmp_path / "response.ndjson").write_text("{}\n")
    with pytest.raises(UserError, match="--dialect ollama-chat"):
        load("openai-chat", [tmp_path])


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.sse"):
        load("openai-chat", [tmp_path / "gone.sse"])
    with pytest.raises(UserError, match="No openai-chat answers"):
        load("openai-chat", [tmp_path])


def test_every_recording_can_be_loaded_and_read(shared: Path) -> None:
    for dialect in ("openai-chat", "anthropic-messages"):
        for exchange in load(dialect, [shared / "wire" / dialect]):
            told = exchange.told
            assert told.complete or told.error or exchange.status != 200, exchange.label


async def test_the_command_prints_one_line_with_its_url_and_refusals_on_stderr(
    turns: list[Path],
) -> None:
    command = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "silu.cli.main", "wire", "replay", "--dialect", "openai-chat",
        "--strict", *map(str, turns),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert command.stdout is not None
    url = (await command.stdout.readline()).decode().strip()
    assert url.startswith("http://127.0.0.1:")
    await chat(url, [ASK])
    assert (await chat(url, echoed(reasoning_content="other"))).status == 400
    command.terminate()
    out, err = await command.communicate()
    assert out == b""
    assert command.returncode == 0
    lines = err.decode().strip().split("\n")
    assert len(lines) == 1
    assert lines[0].startswith("replay: refused the request after 1.sse: messages[1]")


async def test_a_port_in_use_is_told_with_the_setting(turns: list[Path]) -> None:
    async with replaying("openai-chat", *turns) as (url, _):
        port = url.rsplit(":", 1)[1].split("/", maxsplit=1)[0]
        command = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "silu.cli.main", "wire", "replay", "--dialect", "openai-chat",
            "--port", port, str(turns[0]),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _, err = await command.communicate()
    assert command.returncode == 2
    assert f"Port {port} cannot be used" in err.decode()


def test_an_unknown_dialect_is_told_with_the_known_ones(turns: list[Path]) -> None:
    with pytest.raises(UserError, match=r"no dialect 'morse'.*openai-chat"):
        replay_main(["--dialect", "morse", str(turns[0])])
    with pytest.raises(UserError, match="--rate"):
        replay_main(["--dialect", "openai-chat", "--rate", "-1", str(turns[0])])
