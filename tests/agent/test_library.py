"""silu as a library: a client, an agent in memory, functions as tools, a light import."""

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

import silu
from silu import fakes
from silu.config import Endpoint, Paths, Settings
from silu.fakes import Answer, Asked, Call, Think, answer, play
from silu.providers.client import Client
from silu.tools import Tool, ToolContext, read_arguments
from silu.types import facts
from silu.types.errors import ToolError, UserError
from silu.types.facts import DeltaData
from silu.types.parts import ToolResultPart

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
async def vendor(tmp_path: Path) -> Any:
    fake = fakes.FakeDeepSeek()
    settings = Settings.load(Paths.under(tmp_path / "home"), {"FAKE_KEY": fake.key})
    async with fakes.serve(fake) as url:
        endpoint = Endpoint(name="v", url=url, like="deepseek", key_env="FAKE_KEY")
        settings.endpoints.put(endpoint)
        yield fake, settings


MODEL = "v/deepseek-v4-pro"


async def test_a_client_answers_a_question(vendor: Any) -> None:
    fake, settings = vendor
    fake.script = play(answer(Think("easy"), "Hello."))
    async with silu.Client(settings) as client:
        reply = await client.ask("Hi", model=MODEL, level="high", system="Be brief.")
    assert (reply.text, reply.thinking, reply.failure) == ("Hello.", "easy", None)
    assert reply.usage.input_tokens
    assert fake.bodies[0]["messages"][0] == {"role": "system", "content": "Be brief."}


async def test_an_agent_runs_turns_with_own_functions_as_tools(vendor: Any, tmp_path: Path) -> None:
    fake, settings = vendor

    @silu.tool(effects={"read"})
    def weather(city: str, days: int = 1) -> dict[str, Any]:
        """The weather in a city."""
        return {"city": city, "days": days}

    fake.script = play(
        answer(Think("ask"), Call("weather", {"city": "Zürich"})), answer("Rain."), answer("Yes.")
    )
    async with Client(settings) as client:
        agent = silu.Agent(MODEL, client=client, workspace=tmp_path, tools=[weather])
        reply = await agent.run("Weather?", level="high")
        assert (reply.text, reply.status, reply.thinking) == ("Rain.", "completed", "ask")
        assert reply.usage.api_calls == 2
        again = await agent.run("Really?")
    assert again.text == "Yes."
    assert fake.refusals == []
    results = [p for m in agent.session.messages.values() for p in m.parts]
    shown = [p.shown for p in results if isinstance(p, ToolResultPart)]
    assert shown == ['{"city":"Zürich","days":1}']


async def test_a_stream_tells_facts_and_deltas_and_can_be_stopped(vendor: Any) -> None:
    fake, settings = vendor
    fake.script = play(answer("word " * 400), answer("ok"))
    fake.rate = 300
    async with Client(settings) as client:
        agent = silu.Agent(MODEL, client=client)
        seen: list[str] = []
        async for told in agent.stream("go"):
            seen.append(type(told).__name__)
            if isinstance(told, DeltaData) and told.offset > 20:
                agent.cancel()
            if isinstance(told, facts.Done):
                assert told.status == "cancelled"
        assert seen[0] == "RunStart"
        assert seen[-1] == "Done"
        stream = agent.stream("again")
        await anext(stream)
        await stream.aclose()
        agent.steer("nobody listens")
        agent.set_level("low")
        assert agent.session.level == "low"
        assert agent.todos == []


async def test_an_agent_has_a_prompt_sampling_and_a_thinking_limit(vendor: Any) -> None:
    fake, settings = vendor

    def script(asked: Asked) -> Answer:
        return answer(Think("hm " * 400), "Late.") if asked.thinking else answer("In time.")

    fake.script, fake.rate = script, 200
    async with Client(settings) as client:
        agent = silu.Agent(
            MODEL,
            client=client,
            prompt="Answer in rhymes.",
            max_tokens=900,
            thinking_tokens=30,
            level="high",
        )
        reply = await asyncio.wait_for(agent.run("Why?"), 5)
    assert (reply.text, reply.status) == ("In time.", "completed")
    assert reply.thinking.startswith("hm hm")
    body = fake.bodies[0]
    assert "Answer in rhymes." in body["messages"][0]["content"]
    assert body["max_tokens"] == 900


async def test_answer_now_ends_the_thinking_of_an_agents_turn(vendor: Any) -> None:
    fake, settings = vendor

    def script(asked: Asked) -> Answer:
        return answer(Think("hm " * 400), "Late.") if asked.thinking else answer("In time.")

    fake.script, fake.rate = script, 200
    async with Client(settings) as client:
        agent = silu.Agent(MODEL, client=client, level="high")
        agent.answer_now()
        async with asyncio.timeout(5):
            async for told in agent.stream("Why?"):
                if isinstance(told, DeltaData) and told.offset > 20:
                    agent.answer_now()
                if isinstance(told, facts.Done):
                    assert told.status == "completed"
    assert any("In time." in str(m.parts) for m in agent.session.messages.values())


async def test_a_failed_turn_is_told_in_the_reply(vendor: Any) -> None:
    fake, settings = vendor
    fake.key = "another"
    async with Client(settings) as client:
        reply = await silu.Agent(MODEL, client=client).run("go")
    assert reply.status == "failed"
    assert reply.error is not None
    assert reply.error.kind == "auth"
    assert reply.text == ""


# -------------------------------------------------------------------- functions as tools


@dataclass
class Place:
    name: str
    height: float = 0.0


@silu.tool
async def visit(place: Place, how: Literal["walk", "ride"], context: ToolContext) -> str:
    """Go somewhere."""
    return f"{how} to {place.name} from {context.workspace.name}"


async def test_the_signature_becomes_the_schema() -> None:
    schema = visit.spec.parameters
    assert visit.effects == {"execute"}
    assert visit.spec.description == "Go somewhere."
    assert schema["required"] == ["place", "how"]
    assert schema["properties"]["how"] == {"enum": ["ride", "walk"]}
    assert "context" not in schema["properties"]
    assert schema["properties"]["place"]["required"] == ["name"]
    args = read_arguments(visit, '{"place": {"name": "Bern"}, "how": "walk"}')
    output = await visit.run(args, ToolContext(workspace=Path("/tmp/home")))
    assert output.text == "walk to Bern from home"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ('{"place": {"name": 3}, "how": "walk"}', "`place.name`"),
        ('{"place": {"name": "x"}, "how": "fly"}', "`how`"),
        ('{"how": "walk"}', "`place`"),
        ('{"place": {"name": "x"}, "how": "walk", "extra": 1}', "`extra`"),
    ],
)
def test_arguments_that_do_not_fit_the_signature_are_explained(arguments: str, word: str) -> None:
    with pytest.raises(ToolError) as caught:
        read_arguments(visit, arguments)
    assert word in str(caught.value)


def test_a_function_without_hints_or_with_stars_is_no_tool() -> None:
    def bare(x) -> str:  # type: ignore[no-untyped-def]  # the fault that is tested
        return ""

    def starred(*x: int) -> str:
        return ""

    for function in (bare, starred):
        with pytest.raises(UserError):
            silu.tool(function)


async def test_a_result_that_cannot_be_shown_is_an_error_for_the_model() -> None:
    @silu.tool(name="strange", idempotent=True)
    def odd() -> object:
        return object()

    assert isinstance(odd, Tool)
    assert odd.name == "strange"
    with pytest.raises(ToolError, match="cannot be shown"):
        await odd.run({}, ToolContext(workspace=Path()))


# ------------------------------------------------------------------------------- import


def test_every_public_name_can_be_had() -> None:
    for name in silu.__all__:
        assert getattr(silu, name) is not None
    assert set(dir(silu)) == set(silu.__all__)
    with pytest.raises(AttributeError):
        _ = silu.nothing  # pyright: ignore


def loaded(code: str) -> list[str]:
    """The modules that a fresh Python has loaded after this code."""
    code = f"import sys; old = set(sys.modules); {code}; print(*set(sys.modules) - old)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_silu_loads_nothing_else() -> None:
    assert loaded("import silu") == ["silu"]


def test_the_library_needs_no_database_and_no_server() -> None:
    heavy = {"sqlalchemy", "starlette", "uvicorn", "silu.store", "silu.engine", "silu.gateway"}
    assert not heavy & set(loaded("import silu; silu.Agent"))


@pytest.mark.parametrize("name", ["ask.py", "agent.py"])
async def test_the_examples_run_on_the_demo(name: str, tmp_path: Path) -> None:
    home = str(tmp_path)
    env = {"PATH": os.environ["PATH"], "HOME": home, "SILU_HOME": home, "SILU_DEMO_RATE": "0"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "examples" / name),
        env=env,
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err.decode()
    assert out.strip()


async def test_an_agent_in_memory_has_sub_agents_in_memory(vendor: Any, tmp_path: Path) -> None:
    fake, settings = vendor

    def script(asked: fakes.Asked) -> fakes.Answer:
        if "sub-agent: another agent" in str(asked.body["messages"][0]):
            return answer(f"Counted {asked.user.splitlines()[-1]}.")
        if asked.results:
            return answer(" ".join(asked.results))
        return answer(*[Call("task", {"title": it, "prompt": it}) for it in ("apples", "pears")])

    fake.script = script
    async with Client(settings) as client:
        agent = silu.Agent(MODEL, client=client, workspace=tmp_path)
        reply = await agent.run("Count fruit")
    assert (reply.text, reply.status) == ("Counted apples. Counted pears.", "completed")
    assert fake.refusals == []
