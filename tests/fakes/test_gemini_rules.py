"""Hand-written requests against the fake Gemini."""

from pathlib import Path
from typing import Any

import pytest

from silu import fakes
from silu.fakes import Call, FakeGemini, Think, answer, play
from silu.fakes.gemini import MODELS, PLACEHOLDER
from silu.fakes.gemini_rules import check_contents
from tests.fakes.rawhttp import Raw, events, get, post
from tests.fakes.test_recorded_requests import recorded

pytestmark = pytest.mark.anyio

KEY = {"x-goog-api-key": "test-key"}
ASK = {"role": "user", "parts": [{"text": "hi"}]}
CALL = {"functionCall": {"id": "c1", "name": "look", "args": {"a": 1}}}
DONE = {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"r": 1}}}]}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def config(**thinking: Any) -> dict[str, Any]:
    return {"generationConfig": {"thinkingConfig": thinking}}


LEVEL, BUDGET = "Thinking level is not supported", "Thinking budget is not supported"
RULES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    (
        "gemini-2.5-pro",
        config(thinkingBudget=0),
        "Budget 0 is invalid. This model only works in thinking mode.",
        config(thinkingBudget=128),
    ),
    ("gemini-2.5-pro", config(thinkingBudget=127), "between 128", config(thinkingBudget=-1)),
    ("gemini-2.5-flash", config(thinkingBudget=24_577), "24576", config(thinkingBudget=0)),
    ("gemini-2.5-flash-lite", config(thinkingBudget=511), "512", config(thinkingBudget=512)),
    ("gemini-2.5-flash", config(thinkingLevel="low"), LEVEL, config(thinkingBudget=1024)),
    ("gemini-4-argon", config(thinkingBudget=1024), BUDGET, config(thinkingLevel="LOW")),
    ("gemini-4-argon", config(thinkingLevel="minimal"), "MINIMAL", config(thinkingLevel="low")),
    ("gemini-4-argon", config(thinkingLevel="xhigh"), "XHIGH", config(thinkingLevel="high")),
    ("gemini-4-neon", config(thinkingLevel="max"), "low, medium", config(thinkingLevel="xhigh")),
    (
        "gemini-3.6-flash",
        config(thinkingLevel="low", thinkingBudget=9),
        "only set one of",
        config(thinkingLevel="minimal"),
    ),
    ("gemini-3.6-flash", config(effort="low"), 'Unknown name "effort"', {}),
    (
        "gemini-4-carbon",
        {"generationConfig": {"maxOutputTokens": 32_769}},
        "supported range is from 1 (inclusive) to 32769",
        {"generationConfig": {"maxOutputTokens": 32_768}},
    ),
    (
        "gemini-3.6-flash",
        {"tools": [{"functionDeclarations": [{"name": "look"}]}, {"googleSearch": {}}]},
        "include_server_side_tool_invocations",
        {"tools": [{"googleSearch": {}}]},
    ),
    ("gemini-3.6-flash", {"contents": []}, "contents is not specified", {}),
    ("gemini-3.6-flash", {"messages": []}, 'Unknown name "messages"', {}),
    ("gemini-3.6-flash", {"contents": [{"role": "assistant", "parts": []}]}, "valid role", {}),
    ("gemini-3.6-flash", {"contents": [{"role": "user", "parts": []}]}, "must not be empty", {}),
    (
        "gemini-3.6-flash",
        {"contents": [{"role": "user", "parts": [{"thoughtSignature": "x"}]}]},
        "required oneof field 'data'",
        {},
    ),
    (
        "gemini-2.5-flash",
        {"contents": [ASK, model(CALL, CALL), DONE]},
        "number of function response parts is equal",
        {"contents": [ASK, model(CALL), DONE]},
    ),
    ("gemini-2.5-flash", {"contents": [ASK, DONE]}, "number of function response parts", {}),
    (
        "gemini-2.5-flash",
        {"contents": [ASK, model({"text": "a"}), model(CALL), DONE]},
        "function call turn comes immediately after a user turn",
        {},
    ),
    (
        "gemini-3.6-flash",
        {"contents": [ASK, model(CALL), DONE]},
        "Function call is missing a thought_signature in functionCall parts",
        {"contents": [ASK, model({**CALL, "thoughtSignature": PLACEHOLDER}), DONE]},
    ),
    (
        "gemini-3.6-flash",
        {"contents": [ASK, model({**CALL, "thoughtSignature": "Zm9yZWlnbg=="}), DONE]},
        "Corrupted thought signature",
        {"contents": [ASK, model(CALL), DONE, model({"text": "x"}), ASK]},
    ),
]


def where(name: str, *, stream: bool = False) -> str:
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return f"/v1beta/models/{name}:{method}"


async def send(fake: FakeGemini, name: str, fields: dict[str, Any], **how: Any) -> Raw:
    async with fakes.serve(fake) as url:
        return await post(url + where(name, **how), {"contents": [ASK], **fields}, KEY)


@pytest.mark.parametrize(("name", "bad", "words", "good"), RULES)
async def test_a_rule_refuses_the_bad_request_and_passes_the_good_one(
    name: str, bad: dict[str, Any], words: str, good: dict[str, Any]
) -> None:
    refused = await send(FakeGemini(), name, bad)
    error = refused.json()["error"]
    assert (refused.status, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert words in error["message"]
    passed = await send(FakeGemini(), name, good)
    assert passed.status == 200, passed.body


async def test_keys_and_models_are_checked() -> None:
    async with fakes.serve(FakeGemini()) as url:
        key = await post(url + where("gemini-2.5-pro"), {"contents": [ASK]})
        name = await post(url + where("gemini-9"), {"contents": [ASK]}, KEY)
        listed = await get(url + "/v1beta/models", KEY)
    assert "API key not valid" in key.json()["error"]["message"]
    assert (name.status, name.json()["error"]["status"]) == (404, "NOT_FOUND")
    assert f"models/{next(iter(MODELS))}" in [m["name"] for m in listed.json()["models"]]


LOOP = (
    answer(Think("Look twice."), Call("look", {"a": 1}), Call("look", {"a": 2})),
    answer(Think("Ok."), "Done."),
)


@pytest.mark.parametrize("stream", [True, False])
async def test_only_the_first_of_parallel_calls_is_signed_and_it_has_to_come_back(
    stream: bool,
) -> None:
    fake = FakeGemini(play(*LOOP, LOOP[1], LOOP[1]))
    name = "gemini-3.8-flash"
    async with fakes.serve(fake) as url:
        body: dict[str, Any] = {"contents": [ASK], **config(includeThoughts=True)}
        raw = await post(url + where(name, stream=stream), body, KEY)
        found = events(raw) if stream else [raw.json()]
        parts = [p for e in found for p in e["candidates"][0]["content"]["parts"]]
        calls = [part for part in parts if "functionCall" in part]
        assert "".join(p["text"] for p in parts if p.get("thought")) == "Look twice."
        assert ["thoughtSignature" in call for call in calls] == [True, False]
        results = {"role": "user", "parts": DONE["parts"] * 2}
        body["contents"] = [ASK, model(*calls), results]
        assert (await post(url + where(name), body, KEY)).status == 200
        body["contents"] = [ASK, model(calls[1], calls[0]), results]
        swapped = await post(url + where(name), body, KEY)
        assert "missing a thought_signature" in swapped.json()["error"]["message"]
        body["contents"] = [ASK, model(*calls), results]
        other = await post(url + where("gemini-4-neon"), body, KEY)
    assert other.status == 400
    assert "thought signature" in other.json()["error"]["message"].lower()


async def test_a_text_answer_is_signed_on_an_empty_part_at_its_end() -> None:
    raw = await send(FakeGemini(play(LOOP[1])), "gemini-3.8-flash", {}, stream=True)
    parts = [p for e in events(raw) for p in e["candidates"][0]["content"]["parts"]]
    assert "".join(part["text"] for part in parts) == "Done."
    signed = [part for part in parts if "thoughtSignature" in part]
    assert [part["text"] for part in signed] == [""]
    assert events(raw)[-1]["candidates"][0]["finishReason"] == "STOP"


async def test_thoughts_are_shown_only_where_asked_and_counted_apart() -> None:
    raw = await send(FakeGemini(play(LOOP[1])), "gemini-2.5-flash", {})
    body = raw.json()
    assert not any(p.get("thought") for p in body["candidates"][0]["content"]["parts"])
    usage = body["usageMetadata"]
    assert (usage["thoughtsTokenCount"], usage["candidatesTokenCount"]) == (1, 2)
    assert usage["totalTokenCount"] == usage["promptTokenCount"] + 3


def test_every_recorded_request_passes_the_schema(shared: Path) -> None:
    passed = 0
    for _, meta, body in recorded(shared, "gemini-generate"):
        if meta["status"] == 200:
            body.pop("model", None)
            check_contents({k: v for k, v in body.items() if v is not None})
            passed += 1
    assert passed >= 20
