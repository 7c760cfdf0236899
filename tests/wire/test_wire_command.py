"""`silu wire decode` and `encode`, as a person runs them (design §9)."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from silu.cli.wire import main
from tests.wire.reading import chunk, event_stream, sse


class Run:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def silu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Any:
    monkeypatch.setenv("SILU_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-secret-secret-secret")

    def run(*args: str | Path, stdin: Any = None) -> Run:
        given = b""
        if stdin is not None:
            given = b"".join(json.dumps(line).encode() + b"\n" for line in stdin)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        try:
            code = main([str(arg) for arg in args])
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capfdbinary.readouterr()
        return Run(code, out.decode(), err.decode())

    return run


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    call = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": '{"x": 1}'}}
    usage = {"prompt_tokens": 4, "completion_tokens": 9}
    body = sse(
        chunk({"reasoning_content": "hm"}),
        chunk({"content": "hi"}),
        chunk({"tool_calls": [call]}),
        chunk(finish="tool_calls", usage=usage),
    )
    file = tmp_path / "body.sse"
    file.write_bytes(body)
    return file


def test_decode_prints_all_that_was_read(silu: Any, recorded: Path) -> None:
    ran = silu(
        "decode", "--dialect", "openai-chat", "--vendor", "deepseek", "--model", "x", recorded
    )
    assert ran.code == 0
    told = ran.json
    message = told.pop("message")
    parts = told.pop("parts")
    assert told == {
        "thinking": ["hm"],
        "text": "hi",
        "tool_calls": [{"id": "c1", "name": "f", "arguments": '{"x": 1}'}],
        "server_tools": [],
        "finish_reason": "tool_calls",
        "raw_finish_reason": "tool_calls",
        "usage": {
            "input_tokens": 4,
            "output_tokens": 9,
            "reasoning_tokens": None,
            "cache_read_tokens": None,
            "cache_write_tokens": None,
        },
        "continuity": [{"part": "part-1", "kind": "reasoning", "sha256": None}],
        "error": None,
    }
    assert message["parts"] == parts and message["role"] == "assistant"
    assert message["continuity"][0]["origin"]["field"] == "reasoning_content"
    assert message["interrupted"] is False


def test_what_decode_gives_can_be_encoded(silu: Any, recorded: Path, tmp_path: Path) -> None:
    message = silu(
        "decode", "--dialect", "openai-chat", "--vendor", "own", recorded, "--model", "m"
    ).json["message"]
    results = {"type": "tool_result", "call_id": "c1", "status": "ok", "shown": "42"}
    history = [
        {"role": "user", "parts": [{"type": "text", "text": "q"}]},
        message,
        {"role": "tool", "parts": [results]},
    ]
    file = tmp_path / "messages.json"
    file.write_text(json.dumps(history))
    args = ("--level", "medium", "--messages", file, "--stream", "--dialect", "openai-chat")
    ran = silu("encode", "--model", "own/m", *args)
    assert ran.code == 0
    assert ran.json["body"]["messages"][1]["reasoning_content"] == "hm"
    assert ran.json["body"]["stream"] is True and ran.json["dropped"] == []
    other = silu("encode", "--model", "other/m", *args).json
    assert "hm" not in json.dumps(other["body"])
    assert [d["what"] for d in other["dropped"]] == ["thinking"]


def test_encode_masks_the_key_and_shows_how_the_level_was_resolved(silu: Any) -> None:
    ran = silu("encode", "--model", "deepseek/deepseek-v4-flash", "--level", "off")
    told = ran.json
    assert told["method"] == "POST" and told["url"].endswith("/chat/completions")
    assert "secret" not in ran.out
    assert told["resolution"]["requested"] == "off"
    assert told["body"]["thinking"] == {"type": "disabled"}
    assert told["body"]["messages"] == [{"role": "user", "content": "Hello"}]


def test_encode_takes_tools_a_choice_and_limits(silu: Any, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text('[{"name":"f","description":"d","parameters":{"type":"object"}}]')
    body = silu(
        *("encode", "--model", "own/m", "--dialect", "anthropic-messages", "--level", "unset"),
        *("--tools", tools, "--tool-choice", "f", "--max-tokens", "77", "--temperature", "0.5"),
    ).json["body"]
    assert body["tool_choice"] == {"type": "tool", "name": "f"}
    assert (body["max_tokens"], body["temperature"]) == (77, 0.5)


def test_both_take_many_at_once_and_answer_in_order(silu: Any, recorded: Path) -> None:
    job = {"dialect": "openai-chat", "vendor": "v", "model": "m", "streaming": True, "status": 200}
    ran = silu("decode", "--batch", stdin=[{**job, "path": str(recorded)}] * 2)
    assert [line["text"] for line in ran.lines] == ["hi", "hi"] and ran.code == 0
    asked = {
        "model": "v/m",
        "level": "low",
        "dialect": "openai-chat",
        "vendor": "v",
        "stream": True,
    }
    message = {"role": "user", "parts": [{"type": "text", "text": "q"}]}
    ran = silu("encode", "--batch", stdin=[{**asked, "messages": [message], "tools": []}])
    assert ran.lines[0]["body"]["messages"] == [{"role": "user", "content": "q"}]


def test_a_bad_line_of_a_batch_is_told_in_its_place(silu: Any, recorded: Path) -> None:
    good = {"dialect": "openai-chat", "path": str(recorded)}
    ran = silu("decode", "--batch", stdin=[good, {"dialect": "x", "path": str(recorded)}, 7, good])
    assert ran.code == 2
    assert [line.get("text") for line in ran.lines] == ["hi", None, None, "hi"]
    assert "dialect" in ran.lines[1]["error"]["message"]


def test_signatures_are_told_by_their_hash(silu: Any, tmp_path: Path) -> None:
    def sha(value: str) -> str:
        return hashlib.sha256(value.encode()).hexdigest()

    start = {"type": "thinking", "thinking": "x", "signature": "SIG"}
    file = tmp_path / "a.sse"
    file.write_bytes(
        event_stream(
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        )
    )
    told = silu("decode", "--dialect", "anthropic-messages", "--vendor", "v", file).json
    assert told["continuity"] == [{"part": "part-1", "kind": "signature", "sha256": sha("SIG")}]
    details = [{"type": "reasoning.text", "text": "r", "signature": "A"}, {"data": "B"}]
    body = {"choices": [{"message": {"content": "x", "reasoning_details": details}}]}
    whole = tmp_path / "b.json"
    whole.write_text(json.dumps(body))
    told = silu("decode", "--dialect", "openai-chat", "--vendor", "v", "--no-stream", whole).json
    assert [c["sha256"] for c in told["continuity"]] == [None, sha("A"), sha("B")]
    tagged = {"choices": [{"message": {"content": "<think>a</think>b"}, "finish_reason": "stop"}]}
    whole.write_text(json.dumps(tagged))
    told = silu("decode", "--dialect", "openai-chat", "--vendor", "v", "--no-stream", whole).json
    assert told["continuity"] == [{"part": "part-1", "kind": "tags", "sha256": None}]


def test_an_error_body_is_told_as_an_error(silu: Any, tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    file.write_text('{"error":{"message":"no","type":"invalid_request_error","code":"c"}}')
    told = silu("decode", "--dialect", "openai-chat", "--status", "400", file).json
    assert told["error"]["type"] == "invalid_request_error" and told["error"]["code"] == "c"
    assert "no" in told["error"]["message"]
    assert told["finish_reason"] == "error" and told["message"]["interrupted"] is True


@pytest.mark.parametrize(
    "args",
    [
        ("decode",),
        ("decode", "--dialect", "openai-chat"),
        ("decode", "--dialect", "openai-chat", "/no/such/file"),
        ("decode", "--dialect", "morse", "--vendor", "v", __file__),
        ("encode",),
        ("encode", "--model", "nothing"),
        ("encode", "--model", "nobody-knows/m"),
        ("encode", "--model", "deepseek/m", "--level", "loud"),
        ("encode", "--model", "deepseek/m", "--messages", "/no/such/file"),
        ("encode", "--model", "deepseek/m", "--messages", __file__),
        ("encode", "--model", "deepseek/m", "--tools", __file__),
        ("encode", "--model", "deepseek/m", "--max-tokens", "0"),
        ("encode", "--model", "deepseek/m", "--temperature", "-1"),
        ("encode", "--model", "deepseek/m", "--temperature", "nan"),
        ("juggle",),
        (),
    ],
)
def test_bad_input_ends_in_one_line_and_exit_code_2(silu: Any, args: tuple[str, ...]) -> None:
    ran = silu(*args)
    assert ran.code == 2 and ran.out == ""
    assert ran.err.strip() and "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("messages", "tools"),
    [
        ([{"role": "robot", "parts": []}], []),
        ([{"role": "user", "parts": [{"type": "text"}]}], []),
        ({"role": "user"}, []),
        ([], [{"name": 5}]),
        ([], {}),
    ],
)
def test_messages_and_tools_that_are_none_are_told(silu: Any, messages: Any, tools: Any) -> None:
    job = {"model": "v/m", "dialect": "openai-chat", "messages": messages, "tools": tools}
    ran = silu("encode", "--batch", stdin=[job])
    assert ran.code == 2 and ran.lines[0]["error"]["type"] == "bad_input"


def test_a_vendor_may_be_told_apart_from_the_model(silu: Any) -> None:
    job = {"model": "org/m", "vendor": "own", "dialect": "openai-chat"}
    assert silu("encode", "--batch", stdin=[job]).lines[0]["body"]["model"] == "org/m"


def test_replay_has_its_own_command(silu: Any) -> None:
    ran = silu("replay", "--help")
    assert ran.code == 0 and "replay" in ran.out
