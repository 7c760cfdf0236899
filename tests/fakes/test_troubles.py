"""What a fake does wrong on demand is wrong on the wire in just that way."""

import asyncio
from typing import Any

import pytest

from silu import fakes
from silu.fakes import CompatServer, FakeAnthropic, Think, answer, script
from tests.fakes.rawhttp import Raw, events, post

pytestmark = pytest.mark.anyio

KEY = {"authorization": "Bearer test-key"}
CLAUDE = {"x-api-key": "test-key", "anthropic-version": "2023-06-01"}
TURN = answer(Think("思路清晰，一步一步来。" * 3), "答案是四十二。", step=3)


async def chat(trouble: fakes.Trouble | None, **how: Any) -> Raw:
    fake = CompatServer(fakes.play(TURN), **how)
    fake.troubles.append(trouble)
    body = {"model": "local-model", "stream": True, "messages": [{"role": "user", "content": "?"}]}
    async with fakes.serve(fake) as url:
        return await post(url + "/chat/completions", body, KEY)


def thought(raw: Raw) -> str:
    deltas = [e["choices"][0]["delta"] for e in events(raw) if e.get("choices")]
    return "".join(delta.get("reasoning_content") or "" for delta in deltas)


async def test_without_trouble_the_stream_is_whole() -> None:
    raw = await chat(None)
    assert raw.complete
    assert raw.body.endswith(b"data: [DONE]\n\n")
    assert thought(raw) == TURN.parts[0].text


async def test_a_rate_limit_names_the_wait_and_is_over_after_one_request() -> None:
    fake = CompatServer()
    fake.troubles.append(script.rate_limited(7))
    body = {"model": "local-model", "messages": [{"role": "user", "content": "?"}]}
    async with fakes.serve(fake) as url:
        first = await post(url + "/chat/completions", body, KEY)
        second = await post(url + "/chat/completions", body, KEY)
    assert (first.status, first.headers["retry-after"]) == (429, "7")
    assert first.json()["error"]["type"] == "rate_limit_error"
    assert second.status == 200
    assert [seen.outcome for seen in fake.seen] == ["trouble", "answered"]


async def test_anthropics_overload_has_its_own_body() -> None:
    fake = FakeAnthropic()
    fake.troubles.append(script.overloaded())
    body = {
        "model": "claude-opus-5",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "?"}],
    }
    async with fakes.serve(fake) as url:
        raw = await post(url + "/v1/messages", body, CLAUDE)
    assert raw.status == 529
    assert raw.json()["error"] == {"type": "overloaded_error", "message": "Overloaded"}


async def test_a_cut_stops_in_mid_thought_without_a_closing_chunk() -> None:
    raw = await chat(script.cut(after=3))
    assert not raw.complete
    assert thought(raw) == TURN.parts[0].text[:9]


async def test_a_cut_inside_a_character_leaves_bytes_that_are_no_utf8() -> None:
    raw = await chat(script.cut_in_character(after=2))
    assert not raw.complete
    with pytest.raises(UnicodeDecodeError):
        raw.body.decode()


async def test_an_end_without_a_terminal_event_is_clean_http() -> None:
    raw = await chat(script.ends_early(after=3))
    assert raw.complete
    assert b"[DONE]" not in raw.body
    assert b'"finish_reason":"stop"' not in raw.body


async def test_an_error_inside_the_stream_follows_good_deltas() -> None:
    raw = await chat(script.error_in_stream(after=2))
    assert raw.status == 200
    assert thought(raw) == TURN.parts[0].text[:6]
    assert events(raw)[-1]["error"]["type"] == "overloaded_error"


async def test_an_error_inside_a_claude_stream_is_an_error_event() -> None:
    fake = FakeAnthropic(fakes.play(TURN))
    fake.troubles.append(script.error_in_stream(after=2))
    body = {
        "model": "claude-opus-4-6",
        "max_tokens": 99,
        "stream": True,
        "thinking": {"type": "adaptive"},
        "messages": [{"role": "user", "content": "?"}],
    }
    async with fakes.serve(fake) as url:
        raw = await post(url + "/v1/messages", body, CLAUDE)
    assert raw.body.decode().rstrip().split("\n\n")[-1].startswith("event: error\ndata: ")
    assert events(raw)[-1]["error"]["type"] == "overloaded_error"


async def test_html_comes_with_the_status_that_was_asked_for() -> None:
    for status in (200, 502):
        raw = await chat(script.html(status))
        assert raw.status == status
        assert raw.headers["content-type"].startswith("text/html")
        assert raw.body.startswith(b"<!DOCTYPE html>")


async def test_small_chunks_change_the_framing_and_not_the_bytes() -> None:
    whole, small = await chat(None), await chat(script.chunks_of(3))
    assert small.complete
    assert small.body == whole.body


async def test_bad_framing_promises_more_than_comes() -> None:
    raw = await chat(script.bad_chunk(after=2))
    assert not raw.complete


async def test_keep_alive_comments_stand_between_the_deltas() -> None:
    raw = await chat(script.comments(2))
    assert raw.body.count(b": keep-alive\n\n") == 2 * sum(
        1 for e in events(raw) if e["choices"] and e["choices"][0]["finish_reason"] is None
    )
    assert thought(raw) == TURN.parts[0].text


async def test_silence_holds_the_connection_open() -> None:
    start = asyncio.get_running_loop().time()
    raw = await chat(script.silence(after=1, seconds=0.3))
    assert asyncio.get_running_loop().time() - start >= 0.3
    assert raw.complete


async def test_a_hang_up_sends_nothing_at_all() -> None:
    with pytest.raises(asyncio.IncompleteReadError) as caught:
        await chat(script.hang_up())
    assert caught.value.partial == b""


async def test_a_rate_paces_the_deltas() -> None:
    start = asyncio.get_running_loop().time()
    await chat(None, rate=100)
    assert 0.1 < asyncio.get_running_loop().time() - start < 2
