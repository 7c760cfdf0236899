"""Refusals that can be mended (vendors.md §19): each class once, learned, told, forgettable."""

import pytest
from msgspec.structs import replace

from silu.fakes import Call, FakeAnthropic, FakeGemini, FakeOpenAI, answer, play, serve
from silu.fakes.script import Think
from silu.providers.learned import FileLearned, MemoryLearned
from silu.types.calls import CallEnd, CallRequest, CallStart, LearnedFact, Refused, ToolSpec
from silu.types.events import VendorNote
from silu.types.levels import Level
from silu.types.parts import Message, TextPart, ToolCallPart, ToolResultPart, text_of
from tests.providers.server import (
    Answer,
    Server,
    chat,
    claude_refusal,
    delta,
    messages,
    refusal,
    sse,
)

pytestmark = pytest.mark.anyio


def say(text="hi"):
    return Message(role="user", id="u", parts=[TextPart(text=text, id="t")])


async def mended(house, first, *, ref, like, good=None, request=None, answers=()):
    """One refusal, then a good answer: (events, bodies, learned facts)."""
    learned = MemoryLearned()
    good = good or (messages() if like == "anthropic" else chat())
    async with Server(first, *answers, good) as server:
        dialect = "openai-chat" if like == "ollama" else None
        house.connect("v", server.url, like=like, dialect=dialect)
        client = house.client(learned=learned)
        asked = request or CallRequest(model=f"v/{ref}", messages=[say()], level=Level.HIGH)
        events = [event async for event in client.stream(asked)]
        bodies = [seen.json for seen in server.seen]
        assert len({seen.body for seen in server.seen}) == len(server.seen), "a body was resent"
    return events, bodies, {fact.fact: fact.value for fact in learned.all()}


async def test_an_unsupported_effort_teaches_the_list_and_the_nearest_is_sent(house):
    said = refusal(
        "Unsupported value: 'max' is not supported with this model. "
        "Supported values are: 'none', 'low', 'medium', and 'high'.",
        param="reasoning_effort",
        code="unsupported_value",
    )
    request = CallRequest(model="v/thing", messages=[say()], level=Level.MAX)
    events, bodies, learned = await mended(
        house, said, ref="thing", like="llamacpp", request=request
    )
    assert [body["reasoning_effort"] for body in bodies] == ["max", "high"]
    assert learned == {"levels": ["none", "low", "medium", "high"]}
    facts = [event.learned for event in events if isinstance(event, LearnedFact)]
    assert facts[0].fact == "levels" and "Supported values" in facts[0].evidence
    assert text_of(events[-1].message) == "hello"


async def test_what_a_failing_answer_seems_to_confirm_is_not_learned_yet(house):
    said = refusal("Unsupported value: 'high'. Supported values are: 'low'.", param="effort")
    broken = [delta(role="assistant"), {"error": {"message": "overloaded", "code": 503}}]
    failing = Answer(chunks=[b"".join(sse(*broken, done=False).chunks)])
    async with Server(said, failing, chat()) as server:
        house.connect("v", server.url, like="llamacpp")
        request = CallRequest(model="v/thing", messages=[say()], level=Level.HIGH)
        events = [event async for event in house.client().stream(request)]
    told = [type(e).__name__ for e in events if isinstance(e, CallStart | LearnedFact)]
    assert told == ["CallStart"] * 3 + ["LearnedFact"]
    assert events[-1].failure is None


async def test_a_model_that_does_not_think_is_asked_once_more_without_the_field(house):
    said = refusal('"thing" does not support thinking')
    events, bodies, learned = await mended(house, said, ref="thing", like="ollama")
    assert [("reasoning_effort" in body) for body in bodies] == [True, False]
    assert learned == {"no_thinking": "model"}
    assert events[-1].failure is None


async def test_what_was_learned_spares_the_next_call_the_refusal_until_it_is_forgotten(house):
    said = refusal('"thing" does not support thinking')
    store = MemoryLearned()
    async with Server(said, chat(), chat(), said, chat()) as server:
        house.connect("v", server.url, like="ollama", dialect="openai-chat")
        client = house.client(learned=store)
        request = CallRequest(model="v/thing", messages=[say()], level=Level.HIGH)
        await client.complete(request)
        assert client.model("v/thing").capability.thinking == "unsupported"
        assert client.model("v/thing").capability.sources["thinking"] == "learned"
        await client.complete(request)
        assert len(server.seen) == 3
        assert store.forget(server.url + "/v1", "thing") == 1
        await client.complete(request)
        assert len(server.seen) == 5


async def test_a_server_that_does_not_know_the_field_leaves_the_level_to_its_default(house):
    said = refusal("Unknown parameter: 'reasoning_effort'.", code="unknown_parameter")
    request = CallRequest(model="v/thing", messages=[say()], level=Level.HIGH)
    events, bodies, learned = await mended(
        house, said, ref="thing", like="openai-compatible", request=request
    )
    assert learned == {"no_thinking": "field"} and "reasoning_effort" not in bodies[1]
    starts = [event for event in events if isinstance(event, CallStart)]
    assert starts[1].resolution.effective == "unset" and starts[1].resolution.notes


async def test_a_newer_claude_that_refuses_budgets_gets_adaptive(house):
    said = claude_refusal(
        '"thinking.type.enabled" is not supported for this model. '
        'Use "thinking.type.adaptive" and "output_config.effort"'
    )
    _, bodies, learned = await mended(house, said, ref="claude-opus-4-5", like="anthropic")
    assert bodies[0]["thinking"]["type"] == "enabled"
    assert bodies[1]["thinking"]["type"] == "adaptive"
    assert bodies[1]["output_config"] == {"effort": "high"}
    assert learned == {"adaptive_only": True}


async def test_a_model_that_cannot_be_switched_off_gets_its_lowest_level(house):
    said = refusal(
        "This model always engages in thinking and cannot be disabled; "
        "please use low, high, or max",
        code="1210",
    )
    request = CallRequest(model="v/deepseek-v4-flash", messages=[say()], level=Level.OFF)
    _, bodies, learned = await mended(
        house, said, ref="deepseek-v4-flash", like="deepseek", request=request
    )
    assert bodies[0]["thinking"] == {"type": "disabled"}
    assert bodies[1]["reasoning_effort"] == "low"
    assert learned == {"forced": True, "levels": ["low", "high", "max"]}


async def test_a_budget_out_of_range_is_clamped_to_what_the_refusal_names(house):
    said = claude_refusal("thinking.budget_tokens must be less than or equal to 6000")
    _, bodies, learned = await mended(house, said, ref="claude-opus-4-5", like="anthropic")
    assert [body["thinking"]["budget_tokens"] for body in bodies] == [16000, 6000]
    assert learned == {"budget_max": 6000}


async def test_an_output_limit_above_the_models_own_is_lowered(house):
    said = claude_refusal(
        "max_tokens: 20096 > 8192, which is the maximum allowed number of output tokens"
    )
    _, bodies, learned = await mended(house, said, ref="claude-opus-4-5", like="anthropic")
    assert bodies[1]["max_tokens"] == 8192 > bodies[1]["thinking"]["budget_tokens"]
    assert learned == {"max_output": 8192}


async def test_a_budget_refused_without_a_number_is_halved_as_long_as_it_stays_one(house):
    said = claude_refusal("`max_tokens` must be greater than `thinking.budget_tokens`.")
    _, bodies, learned = await mended(house, said, ref="claude-opus-4-5", like="anthropic")
    assert [body["thinking"]["budget_tokens"] for body in bodies] == [16_000, 8_000]
    assert learned == {"budget_max": 8_000}
    async with Server(said) as server:
        house.connect("w", server.url, like="anthropic")
        least = CallRequest(model="w/claude-opus-4-5", messages=[say()], level=Level.MINIMAL)
        end = await house.client().complete(least)
    assert end.failure.kind == "bad_request" and len(server.seen) == 1


async def test_a_refused_temperature_is_left_out(house):
    said = refusal("invalid temperature: only 1 is allowed for this model")
    request = CallRequest(model="v/thing", messages=[say()], temperature=0.2, top_p=0.5)
    events, bodies, learned = await mended(
        house, said, ref="thing", like="openai-compatible", request=request
    )
    assert "temperature" in bodies[0] and not {"temperature", "top_p"} & set(bodies[1])
    assert learned == {"no_sampling": True}
    second = [event for event in events if isinstance(event, CallStart)][1]
    assert "temperature" in second.resolution.notes[-1]


async def test_a_refused_tool_choice_becomes_auto(house):
    from silu.types.calls import ToolSpec

    tools = [ToolSpec(name="f", description="d", parameters={"type": "object"})]
    said = refusal("Thinking mode does not support this tool_choice", param="tool_choice")
    request = CallRequest(
        model="v/thing", messages=[say()], tools=tools, tool_choice="required", level=Level.HIGH
    )
    _, bodies, learned = await mended(
        house, said, ref="thing", like="openai-compatible", request=request
    )
    assert bodies[0]["tool_choice"] == "required" and bodies[1].get("tool_choice", "auto") == "auto"
    assert learned == {"tool_choice": "thinking"}


async def test_a_model_that_only_streams_is_streamed_and_collected(house):
    said = refusal("parameter.enable_thinking must be set to false for non-streaming calls")
    request = CallRequest(model="v/thing", messages=[say()], stream=False)
    events, bodies, learned = await mended(
        house, said, ref="thing", like="openai-compatible", request=request
    )
    assert [body["stream"] for body in bodies] == [False, True]
    assert text_of(events[-1].message) == "hello" and learned == {"stream_only": True}


def tool_turn():
    return [
        Message(role="assistant", id="a", parts=[
            ToolCallPart(call_id="c1", name="f", arguments="{}", id="p")]),
        Message(role="tool", id="r", parts=[
            ToolResultPart(call_id="c1", status="ok", shown="done", id="q")]),
    ]  # fmt: skip


async def test_a_missing_echo_is_filled_with_a_blank_then_with_nothing(house):
    said = refusal(
        "Param Incorrect",
        param="The reasoning_content in the thinking mode must be passed back to the API.",
    )
    request = CallRequest(model="v/thing", messages=[say(), *tool_turn()])
    _, bodies, learned = await mended(
        house, said, ref="thing", like="openai-compatible", request=request, answers=[said]
    )
    echoes = [body["messages"][1].get("reasoning_content") for body in bodies]
    assert echoes == [None, " ", ""] and learned == {"filler": ""}


async def test_a_host_that_takes_no_thinking_in_the_history_gets_none(house):
    said = refusal("messages.1: property 'reasoning_content' is unsupported", status=422)
    store = MemoryLearned()
    async with Server(chat(thought="hm"), said, chat()) as server:
        house.connect("v", server.url)
        client = house.client(learned=store)
        first = await client.complete(CallRequest(model="v/thing", messages=[say()]))
        history = [say(), first.message, say("more")]
        end = await client.complete(CallRequest(model="v/thing", messages=history))
    assert end.failure is None
    assert "reasoning_content" in server.seen[1].json["messages"][1]
    assert "reasoning_content" not in server.seen[2].json["messages"][1]
    assert [fact.fact for fact in store.all()] == ["no_echo"]


@pytest.mark.parametrize(
    "words",
    [
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "messages.1.content.0: The block is bound to a different conversation. Remove the block",
        "messages.1.content.0.thinking.signature: Field required",
    ],
)
async def test_a_refused_signature_is_marked_and_the_same_turn_succeeds(house, words):
    async with Server(messages("one", "MARKER"), claude_refusal(words), messages("two")) as server:
        house.connect("v", server.url, like="anthropic")
        client = house.client()
        ref = "v/claude-opus-5"
        first = await client.complete(CallRequest(model=ref, messages=[say()]))
        first.message.id = "m1"
        history = [say(), first.message, say("more")]
        request = CallRequest(model=ref, messages=history)
        events = [event async for event in client.stream(request)]
        again = [event async for event in client.stream(request)]
    assert b"MARKER" in server.seen[1].body and b"MARKER" not in server.seen[2].body
    refused = [event for event in events if isinstance(event, Refused)]
    assert [(r.message_id, r.endpoint) for r in refused] == [("m1", server.url)]
    assert refused[0].part == first.message.parts[0].id
    assert events[-1].failure is None and text_of(events[-1].message) == "two"
    # The client writes nothing into the history it was given.
    assert first.message.continuity[0].refused_by == []
    assert isinstance(again[-1], CallEnd)


async def test_a_budget_tool_loop_without_its_thought_is_asked_with_thinking_off(house):
    async with Server(messages()) as server:
        house.connect("v", server.url, like="anthropic")
        request = CallRequest(
            model="v/claude-opus-4-5", messages=[say(), *tool_turn()], level=Level.HIGH
        )
        events = [event async for event in house.client().stream(request)]
    assert server.seen[0].json["thinking"] == {"type": "disabled"}
    told = events[0].resolution
    assert (told.requested, told.effective) == ("high", "off") and "elsewhere" in told.notes[-1]


async def test_a_budget_loop_whose_thought_is_refused_goes_on_without_thinking(house):
    refused = claude_refusal(
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, "
        "but found `tool_use`"
    )
    thought = messages("", "MARKER")
    async with Server(thought, refused, messages("on we go")) as server:
        house.connect("v", server.url, like="anthropic")
        client = house.client()
        ref = "v/claude-opus-4-5"
        first = await client.complete(CallRequest(model=ref, messages=[say()], level=Level.HIGH))
        answer = first.message
        answer.id = "m1"
        answer.parts.append(ToolCallPart(call_id="c1", name="f", arguments="{}", id="p9"))
        history = [say(), answer, tool_turn()[1]]
        end = await client.complete(CallRequest(model=ref, messages=history, level=Level.HIGH))
    assert b"MARKER" in server.seen[1].body and b"MARKER" not in server.seen[2].body
    assert server.seen[2].json["thinking"] == {"type": "disabled"}
    assert end.failure is None


async def test_the_name_of_the_output_limit_is_learned(house):
    said = refusal(
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        param="max_tokens",
        code="unsupported_parameter",
    )
    request = CallRequest(model="v/deepseek-v4-pro", messages=[say()], max_tokens=99)
    _, bodies, learned = await mended(
        house, said, ref="deepseek-v4-pro", like="deepseek", request=request
    )
    assert bodies[0]["max_tokens"] == 99 and bodies[1]["max_completion_tokens"] == 99
    assert "max_tokens" not in bodies[1]
    assert learned == {"max_tokens_field": "max_completion_tokens"}


async def test_a_server_without_stream_options_is_asked_without(house):
    said = refusal("Unrecognized request argument supplied: stream_options")
    _, bodies, learned = await mended(house, said, ref="thing", like="openai-compatible")
    assert "stream_options" in bodies[0] and "stream_options" not in bodies[1]
    assert learned == {"no_usage_option": True}


async def test_a_refusal_nobody_understands_is_not_tried_again(house):
    async with Server(refusal("I am in a mood")) as server:
        house.connect("v", server.url)
        end = await house.client().complete(CallRequest(model="v/thing", messages=[say()]))
    assert len(server.seen) == 1 and end.failure.kind == "bad_request"
    assert "I am in a mood" in end.failure.message


async def test_a_remedy_is_used_once_and_nothing_is_learned_from_one_that_did_not_help(house):
    said = refusal('"thing" does not support thinking')
    store = MemoryLearned()
    async with Server(said) as server:
        house.connect("v", server.url, like="ollama", dialect="openai-chat")
        request = CallRequest(model="v/thing", messages=[say()], level=Level.HIGH)
        end = await house.client(learned=store).complete(request)
    assert len(server.seen) == 2 and end.failure is not None and store.all() == []


async def test_a_remedy_that_changes_nothing_is_not_sent(house):
    said = refusal("temperature is not supported")
    async with Server(said) as server:
        house.connect("v", server.url)
        end = await house.client().complete(CallRequest(model="v/thing", messages=[say()]))
    assert len(server.seen) == 1 and end.failure is not None


async def test_a_too_long_conversation_is_told_and_left_to_the_caller(house):
    async with Server(claude_refusal("prompt is too long: 210000 tokens > 200000")) as server:
        house.connect("v", server.url, like="anthropic")
        request = CallRequest(model="v/claude-opus-5", messages=[say()])
        end = await house.client().complete(request)
    assert len(server.seen) == 1 and end.failure.kind == "context_overflow"


class TestFileLearned:
    def test_facts_survive_the_process_and_are_forgotten_by_name(self, tmp_path):
        from silu.types.capabilities import Learned

        path = tmp_path / "data" / "learned.json"
        fact = Learned(
            endpoint="http://x", model="m", fact="forced", value=True, evidence="e", ts=1
        )
        first = FileLearned(path)
        first.learn(fact)
        first.learn(fact)
        second = FileLearned(path)
        assert second.of("http://x", "m") == [fact] and second.all() == [fact]
        assert second.of("http://x", "other") == []
        assert second.forget("http://x", "m", "levels") == 0
        assert second.forget("http://x") == 1
        assert first.all() == []


async def test_a_moved_prefix_costs_only_the_thinking_that_no_longer_fits(house):
    """Claude 5.5 binds thinking to all before it; told so, it drops just what was moved."""
    vendor = FakeAnthropic(play(answer(Think("MARKER one"), "a"), *[answer("b")] * 3))
    learned = MemoryLearned()
    async with serve(vendor) as url:
        house.env["V"] = "test-key"
        house.connect("v", url, like="anthropic", key_env="V")
        client = house.client(learned=learned)
        system = Message(role="system", id="s", parts=[TextPart(text="Be kind.", id="st")])
        other = Message(role="system", id="s", parts=[TextPart(text="Be brief.", id="st")])
        ref = "v/claude-opus-5-5"
        first = await client.complete(CallRequest(model=ref, messages=[system, say()]))
        history = [other, say(), first.message, say("more")]
        moved = CallRequest(model=ref, messages=history)
        events = [event async for event in client.stream(moved)]
        again = [event async for event in client.stream(moved)]
    assert events[-1].failure is None
    assert not [event for event in events if isinstance(event, Refused)]
    notes = [event.kind for event in events if isinstance(event, VendorNote)]
    assert notes == ["thinking_dropped"]
    assert [fact.fact for fact in learned.all()] == ["drop_block"]
    refused, taken, later = vendor.bodies[1:]
    assert "block_binding" not in refused["thinking"]
    for body in (taken, later):
        assert body["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
        assert body["messages"][1] == refused["messages"][1], "the thinking still goes back"
    assert len([event for event in again if isinstance(event, CallStart)]) == 1


async def test_where_dropping_is_no_way_out_the_thinking_is_left_out(house):
    words = (
        "messages.1.content.0: The block is bound to a different conversation. Remove the block, "
        'or set thinking.block_binding.prefix_mismatch_behavior to "drop_block".'
    )
    refused = claude_refusal(words)
    async with Server(messages("one", "MARKER"), refused, refused, messages("two")) as server:
        house.connect("v", server.url, like="anthropic")
        client = house.client()
        ref = "v/claude-opus-5-5"
        first = await client.complete(CallRequest(model=ref, messages=[say()]))
        end = await client.complete(
            CallRequest(model=ref, messages=[say(), first.message, say("more")])
        )
    assert end.failure is None
    assert [b"MARKER" in seen.body for seen in server.seen[1:]] == [True, True, False]


async def answered(client, ref):
    """A first step with a call, and the request that brings the call's result."""
    tools = [ToolSpec(name="f", description="d", parameters={"type": "object"})]
    request = CallRequest(model=ref, messages=[say()], tools=tools, level=Level.HIGH)
    first = (await client.complete(request)).message
    first.id = "m1"
    call = next(part for part in first.parts if isinstance(part, ToolCallPart))
    result = ToolResultPart(call_id=call.call_id, name="f", status="ok", shown="x", id="r")
    said = Message(role="tool", id="t", parts=[result])
    return first, replace(request, messages=[say(), first, said])


@pytest.mark.parametrize("damage", ["lost", "corrupted"])
async def test_a_call_whose_signature_is_lost_or_damaged_goes_back_with_the_word_that_passes(
    house, damage
):
    learned = MemoryLearned()
    script = play(answer(Think("hm"), Call("f", {})), answer("one"))
    async with serve(FakeGemini(script)) as url:
        house.env["FAKE_KEY"] = "test-key"
        house.connect("v", url, like="gemini", key_env="FAKE_KEY")
        client = house.client(learned=learned)
        first, later = await answered(client, "v/gemini-3.8-flash")
        signed = [c.kind == "thought_signature" for c in first.continuity]
        first.continuity = [
            replace(c, data='"bm9uZQ=="') if is_signed else c
            for c, is_signed in zip(first.continuity, signed, strict=True)
            if damage == "corrupted" or not is_signed
        ]
        events = [event async for event in client.stream(later)]
    assert events[-1].failure is None and text_of(events[-1].message) == "one"
    assert [e.attempt for e in events if isinstance(e, CallStart)] == [1, 2]
    facts = [fact.fact for fact in learned.all()]
    assert facts == (["signature_filler"] if damage == "lost" else [])
    assert any(isinstance(e, Refused) for e in events) is (damage == "corrupted")


async def test_sealed_reasoning_of_another_account_is_left_out_and_the_turn_succeeds(house):
    vendor = FakeOpenAI(play(answer(Think("hm"), Call("f", {})), answer("one")))
    async with serve(vendor) as url:
        house.env["FAKE_KEY"] = "test-key"
        house.connect("v", url, like="openai", key_env="FAKE_KEY")
        client = house.client()
        _, later = await answered(client, "v/gpt-5.6-sol")
        vendor.secret = "another"
        events = [event async for event in client.stream(later)]
    assert events[-1].failure is None and text_of(events[-1].message) == "one"
    assert {e.message_id for e in events if isinstance(e, Refused)} == {"m1"}
    kinds = [[item.get("type") for item in body["input"]] for body in vendor.bodies[1:]]
    assert ["reasoning" in sent for sent in kinds] == [True, False]
