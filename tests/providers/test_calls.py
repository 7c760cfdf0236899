"""A call against a real server: its events, its end, its failures."""

import asyncio
import json

import pytest

from silu.providers.resolve import level_choice
from silu.types.calls import CallEnd, CallRequest, CallStart, CallWait
from silu.types.errors import UserError
from silu.types.events import Keepalive, TextDelta, ThinkingDelta
from silu.types.levels import Level
from silu.types.parts import Message, TextPart, ThinkingPart, text_of, thinking_of
from tests.providers.server import (
    Answer,
    Server,
    chat,
    claude_refusal,
    delta,
    messages,
    refusal,
    sse,
    whole,
)

pytestmark = pytest.mark.anyio


def say(text="hi"):
    return Message(role="user", parts=[TextPart(text=text)])


def ask(model="own/m", *more, **fields):
    return CallRequest(model=model, messages=[say(), *more], **fields)


async def events_of(client, request):
    return [event async for event in client.stream(request)]


async def test_thinking_and_answer_arrive_and_the_end_holds_the_message(house):
    async with Server(chat("yes", "let me see")) as server:
        house.connect("own", server.url + "/v1")
        events = await events_of(house.client(), ask())
    start, end = events[0], events[-1]
    assert isinstance(start, CallStart) and start.attempt == 1
    assert [e.text for e in events if isinstance(e, ThinkingDelta)] == ["let me see"]
    assert isinstance(end, CallEnd) and end.failure is None
    assert (thinking_of(end.message), text_of(end.message)) == ("let me see", "yes")
    assert end.finish.reason == "stop" and end.usage.input_tokens == 10
    assert end.first_byte_ms == 0 and end.duration_ms == 0
    assert not end.message.interrupted
    assert end.message.continuity[0].origin.endpoint == server.url + "/v1"


async def test_the_second_turn_brings_the_thinking_back_to_its_own_vendor(house):
    async with Server(chat("yes", "MARKER"), chat()) as server:
        house.connect("ds", server.url, like="deepseek", key_env="DS")
        house.env["DS"] = "sk-test-0123456789abcdef"
        client = house.client()
        first = await client.complete(ask("ds/deepseek-v4-flash"))
        await client.complete(ask("ds/deepseek-v4-flash", first.message, say("more")))
    body = server.seen[1].json
    assert body["messages"][1]["reasoning_content"] == "MARKER"
    assert server.seen[1].body.count(b"MARKER") == 1


async def test_the_start_shows_the_bytes_as_sent_without_the_key(house):
    key = "sk-secret-0123456789abcdefgh"
    async with Server(chat()) as server:
        house.connect("own", server.url + "/v1", key_env="OWN", headers={"x-team": "blue"})
        house.env["OWN"] = key
        events = await events_of(house.client(), ask())
    sent, shown = server.seen[0], events[0].request
    assert sent.headers["authorization"] == f"Bearer {key}"
    assert shown.headers["authorization"] == "***" and sent.headers["x-team"] == "blue"
    assert shown.body == sent.body and shown.url == server.url + "/v1/chat/completions"
    assert key not in repr(events)


async def test_a_key_in_the_prompt_is_masked_where_the_request_is_shown(house):
    key = "sk-secret-0123456789abcdefgh"
    async with Server(chat()) as server:
        house.connect("own", server.url + "/v1", key_env="OWN")
        house.env["OWN"] = key
        request = CallRequest(model="own/m", messages=[say(f"my key is {key}")])
        events = await events_of(house.client(), request)
    assert key.encode() in server.seen[0].body
    assert key.encode() not in events[0].request.body


async def test_a_whole_answer_gives_the_same_message_as_a_stream(house):
    body = {"id": "r", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {
        "role": "assistant", "content": "yes", "reasoning_content": "hm"}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4}}  # fmt: skip
    async with Server(whole(body), whole(body)) as server:
        house.connect("own", server.url + "/v1")
        client = house.client()
        asked_whole = await client.complete(ask(stream=False))
        asked_stream = await client.complete(ask())
    assert server.seen[0].json["stream"] is False
    for end in (asked_whole, asked_stream):
        assert (thinking_of(end.message), text_of(end.message)) == ("hm", "yes")


async def test_a_stream_cut_in_mid_thought_keeps_the_thought_and_is_tried_again(house):
    cut = sse(delta(reasoning_content="half a"), done=False)
    cut.cut = True
    async with Server(cut, chat("done", "whole")) as server:
        house.connect("own", server.url + "/v1")
        events = await events_of(house.client(), ask())
    starts = [e for e in events if isinstance(e, CallStart)]
    waits = [e for e in events if isinstance(e, CallWait)]
    assert [s.attempt for s in starts] == [1, 2]
    assert waits[0].seconds == 1.0 and waits[0].model is None
    assert thinking_of(events[-1].message) == "whole" and events[-1].attempt == 2


async def test_after_three_cuts_the_call_fails_and_what_had_arrived_is_kept(house):
    cut = sse(delta(reasoning_content="half a"), done=False)
    async with Server(cut) as server:
        house.connect("own", server.url + "/v1")
        end = await house.client().complete(ask())
    assert len(server.seen) == 3 and end.failure.kind == "stream_cut"
    assert thinking_of(end.message) == "half a" and end.message.interrupted
    assert house.clock.slept == [1.0, 2.0]


async def test_after_content_was_shown_nothing_is_tried_again(house):
    cut = sse(delta(reasoning_content="t"), delta(content="Step one"), done=False)
    cut.cut = True
    async with Server(cut) as server:
        house.connect("own", server.url + "/v1")
        end = await house.client().complete(ask())
    assert len(server.seen) == 1
    assert end.failure.kind == "stream_cut" and end.failure.retryable
    assert text_of(end.message) == "Step one"


async def test_a_short_retry_after_is_waited_for(house):
    busy = refusal("slow down", status=429)
    busy.headers["retry-after"] = "7"
    async with Server(busy, chat()) as server:
        house.connect("own", server.url + "/v1")
        events = await events_of(house.client(), ask())
    assert house.clock.slept == [7.0] and events[-1].failure is None
    assert any(isinstance(e, CallWait) and e.seconds == 7.0 for e in events)


async def test_a_long_retry_after_goes_to_the_fallback_at_once(house):
    busy = refusal("slow down", status=429)
    busy.headers["retry-after"] = "7200"
    async with Server(busy) as first, Server(messages("from b")) as second:
        house.connect("a", first.url, like="deepseek")
        house.connect("b", second.url, like="anthropic")
        house.env["SILU_FALLBACK"] = "missing/x, b/claude-opus-4-7"
        request = ask("a/deepseek-v4-flash", level=Level.XHIGH, temperature=0.3)
        events = await events_of(house.client(), request)
    switch = next(e for e in events if isinstance(e, CallWait))
    assert switch.model == "b/claude-opus-4-7" and switch.seconds == 0
    body = second.seen[0].json
    assert body["thinking"]["type"] == "adaptive" and body["output_config"] == {"effort": "xhigh"}
    assert "reasoning_effort" not in body and "temperature" not in body
    assert text_of(events[-1].message) == "from b"
    assert [s.attempt for s in events if isinstance(s, CallStart)] == [1, 2]


async def test_a_long_retry_after_without_a_fallback_ends_the_call(house):
    busy = refusal("slow down", status=429)
    busy.headers["retry-after"] = "7200"
    async with Server(busy) as server:
        house.connect("own", server.url + "/v1")
        end = await house.client().complete(ask())
    assert end.failure.kind == "rate_limit" and end.failure.retry_after == 7200
    assert len(server.seen) == 1 and house.clock.slept == []


async def test_an_account_without_credit_goes_to_the_fallback_without_retries(house):
    empty = refusal("insufficient balance", status=402)
    async with Server(empty) as first, Server(chat("b")) as second:
        house.connect("a", first.url + "/v1")
        house.connect("b", second.url + "/v1")
        house.env["SILU_FALLBACK"] = "b/m"
        end = await house.client().complete(ask("a/m"))
    assert len(first.seen) == 1 and text_of(end.message) == "b"


async def test_a_wrong_key_is_one_message_that_names_the_setting(house):
    key = "sk-wrong-0123456789abcdefgh"
    async with Server(refusal(f"Incorrect API key provided: {key}", status=401)) as server:
        house.connect("own", server.url + "/v1", key_env="OWN_KEY")
        house.env["OWN_KEY"] = key
        end = await house.client().complete(ask())
    assert len(server.seen) == 1
    assert end.failure.kind == "auth" and end.failure.setting == "OWN_KEY"
    assert "OWN_KEY" in end.failure.message and key not in end.failure.message


async def test_a_missing_key_says_which_variable_to_set(house):
    with pytest.raises(UserError) as error:
        await house.client().complete(ask("deepseek/deepseek-v4-pro"))
    assert error.value.code == "no_key" and error.value.setting == "DEEPSEEK_API_KEY"


async def test_an_unknown_vendor_names_the_ones_there_are(house):
    with pytest.raises(UserError, match="deepseek") as error:
        await house.client().complete(ask("nobody/m"))
    assert error.value.code == "unknown_model"
    with pytest.raises(UserError, match="vendor/model-id"):
        house.client().model("no-slash")


async def test_an_unknown_model_is_named(house):
    async with Server(refusal("The model `m` does not exist", status=404)) as server:
        house.connect("own", server.url + "/v1")
        end = await house.client().complete(ask())
    assert end.failure.kind == "unknown_model" and end.failure.setting == "model"
    async with Server(refusal("model_not_found", status=404)) as server:
        house.connect("own", server.url + "/v1")
        end = await house.client().complete(ask("own/gone-9"))
    assert end.failure.kind == "unknown_model" and "gone-9" in end.failure.message


def test_a_word_that_is_no_level_is_refused_with_the_choices():
    assert level_choice("Ultra") is level_choice("max") is Level.MAX
    with pytest.raises(UserError, match="low, medium, high") as error:
        level_choice("a bit")
    assert error.value.setting == "level"


async def test_a_path_nobody_serves_names_the_base_url(house):
    async with Server(Answer(status=404, chunks=[b"404 page not found"])) as server:
        house.connect("own", server.url + "/v1")
        end = await house.client().complete(ask())
    assert end.failure.kind == "not_an_api" and end.failure.setting == "base_url"
    assert server.url in end.failure.message


async def test_a_web_page_is_no_api(house):
    page = Answer(chunks=[b"<!doctype html><title>Welcome</title>"])
    async with Server(page) as server:
        house.connect("own", server.url + "/v1")
        end = await house.client().complete(ask())
    assert end.failure.kind == "not_an_api" and "Welcome" in end.failure.message


async def test_a_redirect_is_not_followed_with_the_key(house):
    moved = Answer(status=307, headers={"location": "https://elsewhere.example/v1?k=secret"})
    async with Server(moved) as server:
        house.connect("own", server.url + "/v1")
        end = await house.client().complete(ask())
    assert end.failure.kind == "not_an_api" and "elsewhere.example" in end.failure.message
    assert "secret" not in end.failure.message


async def test_nobody_at_the_address_is_unreachable_and_named(house):
    async with Server(chat()) as server:
        url = server.url
    house.connect("own", url + "/v1")
    end = await house.client().complete(ask())
    assert end.failure.kind == "unreachable" and end.failure.setting == "base_url"
    assert url.removeprefix("http://") in end.failure.message
    assert house.clock.slept == [1.0, 2.0]


async def test_a_host_that_does_not_exist_is_named(house):
    house.connect("own", "http://no-such-host.invalid/v1")
    end = await house.client().complete(ask())
    assert end.failure.kind == "unreachable" and "no-such-host.invalid" in end.failure.message


async def test_a_server_that_speaks_no_http_is_told_so(house):
    async def garble(reader, writer):
        writer.write(b"\x00\x01\x02 not http\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(garble, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    house.connect("own", f"http://127.0.0.1:{port}/v1")
    end = await house.client().complete(ask())
    server.close()
    assert end.failure.kind == "not_an_api"


async def test_a_server_that_hangs_up_is_unreachable(house):
    async def hang_up(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    house.connect("own", f"http://127.0.0.1:{port}/v1")
    end = await house.client().complete(ask())
    server.close()
    assert end.failure.kind == "unreachable" and end.failure.retryable


async def test_a_silent_server_runs_into_the_idle_limit(house):
    async with Server(Answer(silent=True)) as server:
        house.connect("own", server.url + "/v1", idle_timeout=0.05)
        end = await house.client().complete(ask())
    assert end.failure.kind == "timeout" and end.failure.setting == "idle_timeout"
    assert len(server.seen) == 3


async def test_silence_in_mid_stream_runs_into_the_idle_limit(house):
    stuck = sse(delta(reasoning_content="t"), delta(content="never"), done=False)
    stuck.pause = asyncio.Event()
    async with Server(stuck) as server:
        house.connect("own", server.url + "/v1", idle_timeout=0.05)
        end = await house.client().complete(ask())
    assert end.failure.kind == "timeout" and thinking_of(end.message) == "t"


async def test_a_reader_that_takes_its_time_is_no_silence_of_the_vendor(house):
    slow = chat("there", thought="t")
    slow.gate = asyncio.Semaphore(2)
    async with Server(slow) as server:
        house.connect("own", server.url + "/v1", idle_timeout=0.1)
        async for event in house.client().stream(ask()):
            if isinstance(event, ThinkingDelta):
                await asyncio.sleep(0.25)
                for _ in range(9):
                    slow.gate.release()
            end = event
    assert end.failure is None and text_of(end.message) == "there"


async def test_keepalives_alone_do_not_hold_a_call_for_ever(house):
    def alive():
        answer = sse(done=False)
        answer.chunks = [b": keep-alive\n\n"] * 9
        answer.gate = asyncio.Semaphore(1)
        return answer

    answers = [alive() for _ in range(3)]
    async with Server(*answers) as server:
        house.connect("own", server.url + "/v1")
        attempt = 0
        async for event in house.client().stream(ask()):
            if isinstance(event, CallStart):
                attempt = event.attempt
            elif isinstance(event, Keepalive):
                house.clock.now += 500
                answers[attempt - 1].gate.release()
    assert event.failure.kind == "timeout" and "keep-alive" in event.failure.message
    assert len(server.seen) == 3


async def test_an_endless_answer_runs_into_the_total_limit_and_is_not_tried_again(house):
    endless = chat()
    endless.gate = asyncio.Semaphore(1)
    async with Server(endless) as server:
        house.connect("own", server.url + "/v1", total_timeout=10)
        client = house.client()
        async for event in client.stream(ask()):
            if isinstance(event, ThinkingDelta):
                house.clock.now += 11
                endless.gate.release()
    assert event.failure.kind == "timeout" and event.failure.setting == "total_timeout"
    assert len(server.seen) == 1


async def test_higher_levels_may_be_silent_for_longer(house):
    client = house.client()
    idle = {
        level: client.prepare(ask("deepseek/deepseek-v4-flash", level=level)).idle
        for level in (Level.OFF, Level.LOW, Level.HIGH, Level.MAX)
    }
    connection = [limit.connection for limit in idle.values()]
    assert connection == sorted(set(connection))
    assert idle[Level.HIGH].connection > 150
    assert all(limit.payload > 600 for limit in idle.values())


async def test_stopping_closes_the_connection_at_once(house):
    stuck = sse(delta(reasoning_content="t"), delta(content="never"))
    stuck.pause = asyncio.Event()
    async with Server(stuck) as server:
        house.connect("own", server.url + "/v1")
        stream = house.client().stream(ask())
        async for event in stream:
            if isinstance(event, ThinkingDelta):
                break
        await stream.aclose()
        await asyncio.wait_for(server.seen[0].gone.wait(), 2)


async def test_cancelling_stays_a_cancellation_and_closes_the_connection(house):
    asked = asyncio.Event()
    async with Server(Answer(silent=True)) as server:
        server.on_request = lambda seen: asked.set()
        house.connect("own", server.url + "/v1")
        task = asyncio.create_task(house.client().complete(ask()))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.seen[0].gone.wait(), 2)


async def test_an_error_inside_a_stream_fails_the_call_with_the_vendors_words(house):
    broken = sse(delta(content="Partial"), {"error": {"message": "engine died", "code": 502}})
    async with Server(broken) as server:
        house.connect("own", server.url + "/v1")
        end = await house.client().complete(ask())
    assert "engine died" in end.failure.message and text_of(end.message) == "Partial"


async def test_an_overloaded_vendor_is_tried_again(house):
    busy = claude_refusal("Overloaded", status=529, kind="overloaded_error")
    busy.headers["request-id"] = "req_7"
    async with Server(busy) as server:
        house.connect("c", server.url, like="anthropic")
        end = await house.client().complete(ask("c/claude-opus-5"))
    assert len(server.seen) == 3 and end.failure.kind == "overloaded"
    assert end.failure.request_id in {"req_1", "req_7"}


async def test_the_same_connection_serves_the_next_call(house):
    async with Server(chat(), chat()) as server:
        house.connect("own", server.url + "/v1")
        client = house.client()
        await client.complete(ask())
        await client.complete(ask())
        assert server.connections == 1


async def test_what_comes_behind_an_answer_is_read_off_so_that_its_connection_serves_again(house):
    first = chat()
    first.chunks.append(b": bye\n\n")
    first.pause = asyncio.Event()
    async with Server(first, chat()) as server:
        house.connect("own", server.url + "/v1")
        client = house.client()
        async for event in client.stream(ask()):
            if isinstance(event, TextDelta):
                first.pause.set()
        assert (await client.complete(ask())).failure is None
        assert server.connections == 1


async def test_a_client_can_be_used_again_after_closing(house):
    async with Server(chat(), chat()) as server:
        house.connect("own", server.url + "/v1")
        async with house.client() as client:
            await client.complete(ask())
        assert (await client.complete(ask())).failure is None


async def test_the_cost_follows_from_the_prices_a_person_states(house):
    from silu.config import ModelOverride, Preferences
    from silu.types.capabilities import Prices

    usage = {"prompt_tokens": 1000, "completion_tokens": 100,
             "prompt_tokens_details": {"cached_tokens": 400}}  # fmt: skip
    async with Server(chat(usage=usage)) as server:
        house.connect("own", server.url + "/v1")
        client = house.client()
        prices = Prices(input=2.0, output=10.0, cache_read=0.5)
        client.settings = client.settings.with_preferences(
            Preferences(models={"own/m": ModelOverride(prices=prices)})
        )
        end = await client.complete(ask())
    assert end.cost == pytest.approx((600 * 2.0 + 400 * 0.5 + 100 * 10.0) / 1e6)


async def test_an_unknown_price_gives_no_cost(house):
    async with Server(chat()) as server:
        house.connect("own", server.url + "/v1")
        assert (await house.client().complete(ask())).cost is None


async def test_thinking_of_another_vendor_is_left_out_and_told(house):
    foreign = Message(role="assistant", id="m1", parts=[
        ThinkingPart(text="MARKER", id="p1"), TextPart(text="ok", id="p2")])  # fmt: skip
    async with Server(chat()) as server:
        house.connect("own", server.url + "/v1")
        events = await events_of(house.client(), ask("own/m", foreign, say("and?")))
    assert b"MARKER" not in server.seen[0].body
    assert [d.part for d in events[0].dropped] == ["p1"]


async def test_tool_call_fragments_are_no_bar_to_a_retry(house):
    half = sse(
        delta(tool_calls=[{"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"a'}}]),
        done=False,
    )
    async with Server(half, chat("fine")) as server:
        house.connect("own", server.url + "/v1")
        end = await house.client().complete(ask())
    assert len(server.seen) == 2 and text_of(end.message) == "fine"


async def test_deltas_come_while_the_server_still_sends(house):
    slow = sse(delta(reasoning_content="t"), delta(content="a"), delta("stop"))
    slow.pause = asyncio.Event()
    async with Server(slow) as server:
        house.connect("own", server.url + "/v1")
        texts = []
        async for event in house.client().stream(ask()):
            if isinstance(event, TextDelta):
                texts.append(event.text)
                slow.pause.set()
    assert texts == ["a"]
    assert json.loads(server.seen[0].body)["stream"] is True
