"""An answer as a value, from vendors that refuse a forced call while they think and from others."""

import asyncio
import dataclasses
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import pytest

import silu
from silu import fakes
from silu.config.endpoints import Endpoint
from silu.fakes import Answer, Call, FakeAnthropic, FakeDeepSeek, FakeOpenAI, Think, answer, play
from tests.library.test_client import settings

pytestmark = pytest.mark.anyio


class Bread(msgspec.Struct):
    name: str
    hours: int


class Loaf(TypedDict):
    name: str
    hours: int


@dataclasses.dataclass
class Bun:
    name: str
    hours: int


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "hours": {"type": "integer"}},
    "required": ["name", "hours"],
}
RYE = {"name": "Rye", "hours": 12}
GIVEN = Call("give_answer", RYE)
FAKES = {
    "deepseek-v4-pro": (FakeDeepSeek, "deepseek"),
    "claude-opus-4-5": (FakeAnthropic, "anthropic"),
    "claude-opus-4-8": (FakeAnthropic, "anthropic"),
    "gpt-5.4": (FakeOpenAI, "openai"),
}


@asynccontextmanager
async def at(
    folder: Path, model: str, *answers: Answer
) -> AsyncIterator[tuple[silu.Client, fakes.FakeVendor]]:
    kind, like = FAKES[model]
    fake = kind(play(*answers))
    own = settings(folder)
    async with fakes.serve(fake) as url:
        own.endpoints.put(Endpoint(name="v", url=url, like=like, key_env="FAKE_KEY", models=()))
        async with silu.Client(own) as client:
            yield client, fake


def choice(body: dict[str, Any]) -> Any:
    return body.get("tool_choice", "auto")


@pytest.mark.parametrize("model", FAKES)
async def test_a_model_that_calls_the_tool_gives_the_value_at_once(
    tmp_path: Path, model: str
) -> None:
    async with at(tmp_path, model, answer(Think("bread"), GIVEN)) as (client, fake):
        found = await client.structured(f"v/{model}", "A bread?", output=Bread, level="medium")
    assert found.value == Bread("Rye", 12)
    assert [reply.thinking for reply in found.replies][:1] != [None]
    assert len(found.replies) == 1
    assert fake.refusals == []


@pytest.mark.parametrize("model", FAKES)
async def test_prose_is_repaired_by_one_forced_call_without_thinking(
    tmp_path: Path, model: str
) -> None:
    prose = answer(Think("hm"), "Rye, for about twelve hours.")
    async with at(tmp_path, model, prose, answer(GIVEN)) as (client, fake):
        found = await client.structured(f"v/{model}", "A bread?", output=Bread, level="medium")
    assert found.value == Bread("Rye", 12)
    assert len(found.replies) == 2
    assert fake.refusals == []
    assert "give_answer" in str(choice(fake.bodies[-1]))
    assert "give_answer was not called" in str(fake.bodies[-1])


async def test_deepseek_is_not_forced_while_it_thinks(tmp_path: Path) -> None:
    async with at(tmp_path, "deepseek-v4-pro", answer(Think("hm"), GIVEN)) as (client, fake):
        await client.structured("v/deepseek-v4-pro", "A bread?", output=Bread, level="high")
    (body,) = fake.bodies
    assert choice(body) == "auto"
    assert body["thinking"]["type"] == "enabled"
    assert "calling the tool `give_answer`" in str(body["messages"][0])


@pytest.mark.parametrize("model", FAKES)
async def test_a_call_of_the_wrong_shape_is_told_what_is_wrong(tmp_path: Path, model: str) -> None:
    wrong = answer(Think("hm"), Call("give_answer", {"name": "Rye", "hours": "many"}))
    async with at(tmp_path, model, wrong, answer(GIVEN)) as (client, fake):
        found = await client.structured(f"v/{model}", "A bread?", output=Bread, level="medium")
    assert found.value == Bread("Rye", 12)
    assert fake.refusals == []
    assert "Expected `int`, got `str`" in str(fake.bodies[-1])


@pytest.mark.parametrize(
    "text", ['{"name":"Rye","hours":12}', '```json\n{"name": "Rye", "hours": 12}\n```']
)
async def test_json_that_was_written_out_is_taken(tmp_path: Path, text: str) -> None:
    said = answer(Think("{no} json"), text)
    async with at(tmp_path, "deepseek-v4-pro", said) as (client, _):
        found = await client.structured("v/deepseek-v4-pro", "A bread?", output=Bread)
    assert found.value == Bread("Rye", 12)
    assert len(found.replies) == 1


@pytest.mark.parametrize(
    ("output", "value"), [(Bun, Bun("Rye", 12)), (Loaf, RYE), (SCHEMA, RYE)], ids=str
)
async def test_the_shape_may_be_a_dataclass_a_typed_dict_or_a_schema(
    tmp_path: Path, output: Any, value: Any
) -> None:
    wrong = answer(Call("give_answer", {"name": "Rye"}))
    async with at(tmp_path, "deepseek-v4-pro", wrong, answer(GIVEN)) as (client, _):
        found = await client.structured("v/deepseek-v4-pro", "A bread?", output=output)
    assert found.value == value
    assert len(found.replies) == 2


async def test_a_model_that_never_gives_it_is_a_failure_of_the_vendor(tmp_path: Path) -> None:
    said = [answer("No."), answer("Never.")]
    async with at(tmp_path, "deepseek-v4-pro", *said) as (client, fake):
        with pytest.raises(silu.VendorError, match="asked twice") as caught:
            await client.structured("v/deepseek-v4-pro", "A bread?", output=Bread)
    assert caught.value.failure.kind == "bad_data"
    assert len(fake.bodies) == 2


async def test_an_empty_answer_is_asked_for_again(tmp_path: Path) -> None:
    async with at(tmp_path, "deepseek-v4-pro", answer(), answer(GIVEN)) as (client, fake):
        found = await client.structured("v/deepseek-v4-pro", "A bread?", output=Bread)
    assert found.value.hours == 12
    assert fake.refusals == []


async def test_a_failed_call_is_told_as_it_is(tmp_path: Path) -> None:
    own = settings(tmp_path)
    own.endpoints.put(Endpoint(name="v", url="http://127.0.0.1:9", models=("m",)))
    async with silu.Client(own) as client:
        with pytest.raises(silu.VendorError) as caught:
            await client.structured("v/m", "A bread?", output=Bread)
    assert caught.value.failure.kind == "unreachable"


async def test_a_refused_call_is_told_as_it_is_and_not_repaired(tmp_path: Path) -> None:
    async with at(tmp_path, "deepseek-v4-pro", answer("prose")) as (client, fake):
        fake.key = "another-key"
        with pytest.raises(silu.VendorError) as caught:
            await client.structured("v/deepseek-v4-pro", "A bread?", output=Bread)
    assert caught.value.failure.kind == "auth"
    assert len(fake.bodies) == 1


@pytest.mark.parametrize("output", [int, list[int], {"type": "array"}], ids=str)
async def test_a_shape_that_is_no_object_is_refused_before_any_call(
    tmp_path: Path, output: Any
) -> None:
    async with at(tmp_path, "deepseek-v4-pro") as (client, fake):
        with pytest.raises(silu.UserError, match="object"):
            await client.structured("v/deepseek-v4-pro", "A bread?", output=output)
        with pytest.raises(silu.UserError, match="tool call of its own"):
            await client.structured("v/deepseek-v4-pro", "?", output=Bread, tools=[])
    assert fake.bodies == []


async def test_the_example_prints_the_value(tmp_path: Path) -> None:
    given = {"name": "Rye", "hours": 12, "steps": ["Mix.", "Wait."]}
    example = Path(__file__).parents[2] / "examples" / "structured.py"
    async with at(tmp_path, "deepseek-v4-pro", answer(Call("give_answer", given))):
        env = {**os.environ, "SILU_HOME": str(tmp_path), "FAKE_KEY": "test-key"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(example), "v/deepseek-v4-pro"),
            env={**env, "NO_PROXY": "127.0.0.1"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err.decode()
    assert out.decode().splitlines() == ["Rye: 12 hours", "- Mix.", "- Wait."]
