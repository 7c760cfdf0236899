"""What real servers accepted the fakes accept, and what they refused the fakes refuse alike."""

import json
from pathlib import Path
from typing import Any

import pytest

from silu.fakes.anthropic import check_request
from silu.fakes.chat_rules import ChatSchema, ProblemError, check_chat
from silu.fakes.claude_models import MODELS
from silu.fakes.deepseek import FakeDeepSeek
from silu.fakes.http import Incoming
from silu.fakes.openai import FakeOpenAI
from silu.fakes.recordings import load
from silu.fakes.replay import Replay
from silu.fakes.replay_judge import LOOSE
from silu.fakes.responses_rules import check_responses
from silu.fakes.vendor import RefusalError

pytestmark = pytest.mark.anyio


def recorded(shared: Path, dialect: str) -> list[tuple[Path, dict[str, Any], dict[str, Any]]]:
    """(folder, meta, request) of every exchange of a dialect whose request was kept."""
    found: list[Any] = []
    for file in sorted((shared / "wire" / dialect).rglob("request.json")):
        meta = json.loads((file.parent / "meta.json").read_text())
        # Azure names the model in the address.
        body = {"model": meta["model"], **json.loads(file.read_text())}
        found.append((file.parent, meta, body))
    return found


def test_every_recorded_claude_request_passes_the_rules(shared: Path) -> None:
    betas = frozenset({"interleaved-thinking-2025-05-14"})
    passed = 0
    for _, meta, body in recorded(shared, "anthropic-messages"):
        if meta["vendor"] == "anthropic" and body["model"] in MODELS:
            check_request(body, MODELS[body["model"]], betas)
            passed += 1
    assert passed >= 30


def test_every_recorded_chat_request_that_was_answered_passes_the_schema(shared: Path) -> None:
    passed = 0
    for _, meta, body in recorded(shared, "openai-chat"):
        if meta["status"] == 200:
            check_chat(body, ChatSchema(id_limit=None, loose=meta["vendor"] in LOOSE))
            passed += 1
    assert passed >= 80


def test_deepseek_requests_pass_and_its_recorded_refusal_is_given_word_by_word(
    shared: Path,
) -> None:
    checked = 0
    for folder, meta, body in recorded(shared, "openai-chat"):
        if meta["vendor"] != "deepseek" or "v4" not in meta["model"] or meta["turn"] > 1:
            continue
        fake = FakeDeepSeek()
        checked += 1
        if meta["status"] == 200:
            fake.check_chat(body)
            continue
        with pytest.raises(RefusalError) as caught:
            fake.check_chat(body)
        assert caught.value.status == meta["status"]
        assert json.loads(caught.value.body) == json.loads((folder / "response.json").read_text())
    assert checked >= 4


def later_turns(shared: Path, dialect: str) -> list[tuple[Path, dict[str, Any]]]:
    """Cases of several turns with all requests known and the thinking echoed by the client."""
    cases: list[Any] = []
    for first in sorted((shared / "wire" / dialect).rglob("turn-1/meta.json")):
        turns = sorted(first.parent.parent.glob("turn-*"))
        metas = [json.loads((turn / "meta.json").read_text()) for turn in turns]
        echoed = all(m.get("continuity", {}).get("thinking_echoed") is not False for m in metas[1:])
        # These clients sent the thinking back under another name, as text, or on another part.
        odd = ("doubleword", "kimi-k2-thinking", "vertex-gemini-3-flash-preview-with-extended")
        echoed = echoed and not any(word in first.parent.parent.name for word in odd)
        echoed = echoed and all(m["status"] == 200 for m in metas)
        if echoed and all((turn / "request.json").is_file() for turn in turns):
            cases.append((first.parent.parent, metas[0]))
    return cases


DIALECTS = {
    "openai-chat": 34,
    "anthropic-messages": 4,
    "openai-responses": 8,
    "gemini-generate": 3,
    "ollama-chat": 2,
    "mistral-chat": 1,
    "bedrock-converse": 3,
}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_strict_replay_accepts_the_recorded_conversations(shared: Path, dialect: str) -> None:
    refused: list[str] = []
    played = 0
    for case, meta in later_turns(shared, dialect):
        lines: list[str] = []
        replay = Replay(dialect, load(dialect, [case]), strict=True, told=lines.append)
        for turn in sorted(case.glob("turn-*")):
            body = {"model": meta["model"], **json.loads((turn / "request.json").read_text())}
            await replay.handle(posted(json.dumps(body).encode()))
        refused += [f"{case.name}: {line}" for line in lines]
        played += 1
    assert refused == []
    assert played >= DIALECTS[dialect]


def posted(body: bytes) -> Incoming:
    return Incoming(method="POST", path="/v1/messages", query="", headers={}, body=body)


def test_recorded_responses_requests_are_judged_as_the_vendor_judged_them(shared: Path) -> None:
    for folder, meta, body in recorded(shared, "openai-responses"):
        if meta["vendor"] not in ("openai", "azure", "chatgpt"):
            continue
        if meta["status"] == 200:
            check_responses(body)
            continue
        with pytest.raises((RefusalError, ProblemError)) as caught:
            FakeOpenAI().check_responses_body(body)
        told = json.loads((folder / "response.json").read_text())["error"]
        assert told["message"] in str(caught.value)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_a_replay_knows_of_an_answer_is_what_was_said(shared: Path, dialect: str) -> None:
    wrong: list[str] = []
    for file in sorted((shared / "wire" / dialect).rglob("expected.json")):
        wanted = json.loads(file.read_text())
        (exchange,) = load(dialect, [file.parent])
        told = exchange.told
        plain = [name for name in told.fields if told.fields[name]]
        thought = told.fields[plain[0]] if plain else ""
        thought += "".join(b.get("thinking") or "" for b in told.blocks)
        thought += "".join(p.text for p in told.pieces if p.kind == "thinking")
        calls = [(call["name"]) for call in told.calls]
        same = (
            squeezed(told.text) == squeezed(wanted["text"])
            and (squeezed(thought) == squeezed(wanted["thinking_text"]) or told.opaque)
            and calls == [call["name"] for call in wanted["tool_calls"]]
        )
        if not same:
            wrong.append(exchange.label + str(file.parent))
    assert wrong == []


def squeezed(text: str) -> str:
    return "".join(text.split())
