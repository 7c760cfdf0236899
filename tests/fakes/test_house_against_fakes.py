"""The whole client side against every strict fake: tool loops, levels, switches of vendor.

Nothing here knows how a request is written: the fakes refuse what the vendors would.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from silu import fakes
from silu.config import Paths, Settings
from silu.config.endpoints import Endpoint
from silu.fakes import Call, FakeVendor, Think, answer, play
from silu.providers.client import Client
from silu.types.calls import CallEnd, CallRequest, ToolSpec
from silu.types.levels import Level
from silu.types.parts import Message, TextPart, ToolCallPart, ToolResultPart, text_of
from tests.fakes.places import NAMES, PLACES, Place, name_of, ref_of

pytestmark = pytest.mark.anyio

MARKER = "a thought that nobody else may see"
LEVELS = ("default", Level.OFF, Level.LOW, Level.HIGH, Level.MAX, Level.ADAPTIVE)
TOOL = ToolSpec(name="look", description="Looks.", parameters={"type": "object", "properties": {}})


def person(text: str) -> Message:
    return Message(role="user", parts=[TextPart(text=text)], id=f"u-{text}")


class House:
    """A client with all fakes connected, each under a name of its own."""

    def __init__(self, client: Client, running: dict[str, FakeVendor]) -> None:
        self.client = client
        self.fakes = running
        self.messages: list[Message] = [
            Message(role="system", parts=[TextPart(text="You are silu.")], id="s"),
            person("one"),
        ]

    async def step(self, ref: str, level: Any) -> Message:
        """One model call and the results of the calls it led to."""
        request = CallRequest(model=ref, messages=self.messages, tools=[TOOL], level=level)
        end: CallEnd = await self.client.complete(request)
        assert end.failure is None, f"{ref} at {level}: {end.failure}"
        message = end.message
        message.id = f"a{len(self.messages)}"
        self.messages = [*self.messages, message]
        calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
        if calls:
            results = [
                ToolResultPart(call_id=call.call_id, name=call.name, status="ok", shown="seen")
                for call in calls
            ]
            tool = Message(role="tool", parts=list(results), id=f"t{len(self.messages)}")
            self.messages = [*self.messages, tool]
        return message

    async def turn(self, ref: str, level: Any) -> str:
        for _ in range(5):
            message = await self.step(ref, level)
            if not any(isinstance(part, ToolCallPart) for part in message.parts):
                return text_of(message)
        raise AssertionError("the turn does not end")

    def say(self, text: str) -> None:
        self.messages = [*self.messages, person(text)]

    def refusals(self) -> list[str]:
        return [f"{name}: {why}" for name, fake in self.fakes.items() for why in fake.refusals]

    def complaints(self) -> list[str]:
        return [w for fake in self.fakes.values() for w in getattr(fake, "complaints", [])]


def looped(name: str) -> fakes.Script:
    """Three steps with two calls at once in the first, then further answers. The texts are the
    fake's own: it knows its answers by them."""
    return play(
        answer(Think(f"{MARKER} 一"), Call("look", {"a": 1}), Call("look", {"a": 2})),
        answer(Think(f"{MARKER} 二"), Call("look", {"a": 3})),
        answer(Think(f"{MARKER} 三"), f"Done by {name}."),
        then=lambda asked: answer(Think(f"{MARKER} 四"), f"Again by {name}."),
    )


@asynccontextmanager
async def house(
    folder: Path, *places: Place, script: Callable[[str], fakes.Script] = looped
) -> AsyncIterator[House]:
    settings = Settings.load(Paths.under(folder), {"FAKE_KEY": "test-key", "NO_PROXY": "127.0.0.1"})
    running: dict[str, FakeVendor] = {}
    async with AsyncExitStack() as stack:
        for place in places:
            name = name_of(place)
            fake = place.make(script(name))
            running[name] = fake
            url = await stack.enter_async_context(fakes.serve(fake))
            settings.endpoints.put(
                Endpoint(
                    name=name,
                    url=url.removesuffix(fake.base) + place.path,
                    like=place.like,
                    key_env="FAKE_KEY",
                    models=place.models,
                    dialect=place.dialect,
                )
            )
        yield House(await stack.enter_async_context(Client(settings)), running)


@pytest.mark.parametrize("place", PLACES, ids=NAMES)
async def test_every_level_of_a_main_model_takes_a_tool_loop_and_a_second_turn(
    tmp_path: Path, place: Place
) -> None:
    for level in LEVELS:
        async with house(tmp_path, place) as at:
            assert await at.turn(ref_of(place), level) == f"Done by {name_of(place)}."
            at.say("two")
            assert await at.turn(ref_of(place), level) == f"Again by {name_of(place)}."
            assert (at.refusals(), at.complaints()) == ([], []), level


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES, ids=NAMES)
async def test_every_model_at_every_level_takes_a_tool_loop_and_a_second_turn(
    tmp_path: Path, place: Place
) -> None:
    for model in place.models:
        for level in LEVELS:
            async with house(tmp_path, place) as at:
                assert await at.turn(ref_of(place, model), level) == f"Done by {name_of(place)}."
                at.say("two")
                assert await at.turn(ref_of(place, model), level) == f"Again by {name_of(place)}."
                assert (at.refusals(), at.complaints()) == ([], []), (model, level)


TWO_CALLS = answer(Think("hm"), Call("look", {"a": 1}), Call("look", {"a": 2}))
ODD_TURNS = {
    "only a thought": answer(Think("hm")),
    "only white space": answer(Think("hm"), " "),
    "no result for the second call": TWO_CALLS,
    "empty results": TWO_CALLS,
    "denied calls": TWO_CALLS,
    "stopped in mid answer": TWO_CALLS,
}


def results(turn: str, message: Message) -> list[Message]:
    """What follows an odd answer."""
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    match turn:
        case "no result for the second call":
            calls = calls[:1]
        case "stopped in mid answer":
            message.interrupted = True
            return []
        case _:
            pass
    shown = "" if turn == "empty results" else "seen"
    status = "denied" if turn == "denied calls" else "ok"
    parts = [
        ToolResultPart(call_id=call.call_id, name=call.name, status=status, shown=shown)
        for call in calls
    ]
    return [Message(role="tool", parts=list(parts), id="t")] if parts else []


@pytest.mark.parametrize("place", PLACES, ids=NAMES)
async def test_odd_turns_in_the_history_are_written_so_that_the_vendor_takes_them(
    tmp_path: Path, place: Place
) -> None:
    answers = [part for odd in ODD_TURNS.values() for part in (odd, answer(Think("so"), "Fine."))]
    async with house(tmp_path, place, script=lambda _: play(*answers)) as at:
        for turn in ODD_TURNS:
            request = CallRequest(
                model=ref_of(place), messages=at.messages, tools=[TOOL], level=Level.HIGH
            )
            odd = (await at.client.complete(request)).message
            odd.id = "a"
            history = [*at.messages, odd, *results(turn, odd), person("more")]
            end = await at.client.complete(replace(request, messages=history))
            assert (end.failure, at.refusals()) == (None, []), turn
            assert text_of(end.message) == "Fine."


async def switched(folder: Path, first: Place, second: Place, *, open_loop: bool) -> None:
    """Begin with one vendor, go on with another, and come back."""
    async with house(folder, first, second) as at:
        if open_loop:
            await at.step(ref_of(first), Level.HIGH)
        else:
            await at.turn(ref_of(first), Level.HIGH)
            at.say("two")
        await at.turn(ref_of(second), Level.HIGH)
        new = at.fakes[name_of(second)]
        assert MARKER not in new.seen[0].request.body.decode()
        at.say("back")
        await at.turn(ref_of(first), Level.HIGH)
        assert at.refusals() == []


RING = [
    pytest.param(first, second, id=f"{name_of(first)}-to-{name_of(second)}")
    for first, second in pairwise([*PLACES, PLACES[0]])
]


@pytest.mark.parametrize("open_loop", [True, False], ids=["open", "closed"])
@pytest.mark.parametrize(("first", "second"), RING)
async def test_a_switch_to_the_next_vendor_and_back_is_taken_by_both(
    tmp_path: Path, first: Place, second: Place, open_loop: bool
) -> None:
    await switched(tmp_path, first, second, open_loop=open_loop)


@pytest.mark.long
@pytest.mark.parametrize("open_loop", [True, False], ids=["open", "closed"])
@pytest.mark.parametrize("first", PLACES, ids=NAMES)
async def test_every_vendor_can_follow_every_other(
    tmp_path: Path, first: Place, open_loop: bool
) -> None:
    for second in PLACES:
        if second is not first:
            await switched(tmp_path, first, second, open_loop=open_loop)
