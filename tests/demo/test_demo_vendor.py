"""The demo as an ordinary vendor: through the client, the codecs and both of its dialects."""

from pathlib import Path

import pytest

from silu.config import Paths, Settings
from silu.providers.client import Client
from silu.types.calls import CallEnd, CallRequest
from silu.types.errors import UserError
from silu.types.levels import Level
from silu.types.parts import Message, TextPart, ThinkingPart, text_of, thinking_of

pytestmark = pytest.mark.anyio


def settings(home: Path, **env: str) -> Settings:
    return Settings.load(Paths.under(home), {"SILU_DEMO_RATE": "0", **env})


async def ask(home: Path, model: str, *said: Message, level: Level | str = "default") -> CallEnd:
    request = CallRequest(model=model, messages=list(said), level=level)  # type: ignore[arg-type] # words are levels
    async with Client(settings(home)) as client:
        return await client.complete(request)


def person(text: str) -> Message:
    return Message(role="user", parts=[TextPart(text=text)])


async def test_it_is_offered_and_labelled_and_needs_no_key(tmp_path: Path) -> None:
    async with Client(settings(tmp_path)) as client:
        models = {model.ref: model for model in await client.models()}
    thinker, switch = models["demo/thinker"], models["demo/switch"]
    assert thinker.demo and switch.demo
    assert thinker.capability.thinking_levels == (Level.OFF, Level.LOW, Level.MEDIUM, Level.HIGH)
    assert switch.capability.switch_only
    assert {m.capability.context_window for m in (thinker, switch)} == {131_072}


@pytest.mark.parametrize("model", ["demo/thinker", "demo/switch"])
async def test_both_dialects_give_the_same_turn_through_the_real_decoders(
    tmp_path: Path, model: str
) -> None:
    end = await ask(tmp_path, model, person("hi"))
    assert end.failure is None
    assert [type(part) for part in end.message.parts] == [ThinkingPart, TextPart]
    assert "built-in demo" in text_of(end.message)
    assert end.usage.reasoning_tokens


@pytest.mark.parametrize("model", ["demo/thinker", "demo/switch"])
async def test_off_gives_no_thought_and_a_second_turn_follows_the_first(
    tmp_path: Path, model: str
) -> None:
    first = await ask(tmp_path, model, person("hi"), level=Level.OFF)
    assert thinking_of(first.message) == ""
    second = await ask(tmp_path, model, person("hi"), first.message, person("hello"))
    assert "Hello!" in text_of(second.message)


async def test_a_pace_that_is_no_number_is_told_with_its_setting(tmp_path: Path) -> None:
    odd = Settings.load(Paths.under(tmp_path), {"SILU_DEMO_RATE": "fast"})
    with pytest.raises(UserError, match="SILU_DEMO_RATE is 'fast'"):
        async with Client(odd) as client:
            await client.complete(CallRequest(model="demo/thinker", messages=[person("hi")]))
