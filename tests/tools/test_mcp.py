"""MCP servers that really run, over stdio and HTTP: what a turn gets of them."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from silu.tools import ToolContext, read_arguments
from silu.tools.base import Tool, ToolOutput
from silu.tools.mcp import McpPool
from silu.tools.mcp.convert import checked, without_patterns
from silu.types.errors import ToolError
from silu.types.mcp import McpServer

pytestmark = pytest.mark.anyio

SERVER = str(Path(__file__).with_name("mcp_server.py"))
STDIO = McpServer(name="garden", command=sys.executable, args=(SERVER,))


@asynccontextmanager
async def pool_of(*servers: McpServer, **more: Any) -> AsyncGenerator[McpPool]:
    pool = McpPool(lambda: {server.name: server for server in servers}, **more)
    try:
        yield pool
    finally:
        await pool.aclose()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def garden(anyio_backend: str) -> AsyncGenerator[McpPool]:
    """One server for all tests that leave it as it was: starting it takes a second."""
    async with pool_of(STDIO) as pool:
        yield pool


async def named(pool: McpPool, name: str) -> Tool:
    return next(tool for tool in await pool.tools() if tool.name == f"garden__{name}")


async def use(pool: McpPool, name: str, **args: Any) -> ToolOutput:
    tool = await named(pool, name)
    return await tool.run(args, ToolContext(workspace=Path(), call_id="c1"))


async def until(check: Any, *, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not await check():
        assert time.monotonic() < end, "it did not come about in time"
        await asyncio.sleep(0.02)


# ------------------------------------------------------------------------------- stdio


async def test_tools_of_a_started_server_are_named_after_it_and_can_be_called(
    garden: McpPool,
) -> None:
    names = [tool.name for tool in await garden.tools()]
    assert {"garden__count", "garden__plant"} <= set(names)
    assert (await use(garden, "count", text="rose")).text == "4 letters"
    status = await garden.status("garden")
    assert (status.state, status.label) == ("ready", "garden 1.2")


async def test_effects_come_from_annotations_and_a_tool_without_any_counts_as_execute(
    garden: McpPool,
) -> None:
    assert (await named(garden, "count")).effects == {"read"}
    assert (await named(garden, "look_up")).effects == {"read", "network"}
    assert (await named(garden, "plant")).effects == {"execute"}


async def test_nothing_starts_before_a_turn_asks_for_tools() -> None:
    async with pool_of(STDIO) as pool:
        assert (await pool.status("garden")).state == "idle"


async def test_a_started_server_sees_no_variables_but_the_usual_ones_and_those_it_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    given = msgspec.structs.replace(STDIO, env={"PLOT": "7"}, pass_env=("SEED", "NOT_SET"))
    async with pool_of(given, variable={"SEED": "s", "OPENAI_API_KEY": "x"}.get) as pool:
        seen = set((await use(pool, "variables")).text.split())
    assert {"PLOT", "SEED", "PATH"} <= seen
    assert seen <= {
        *("PLOT", "SEED", "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LC_CTYPE"),
        *("PWD", "SHLVL", "_", "OLDPWD", "COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"),
    }


async def test_a_tool_that_fails_is_an_error_result_with_the_servers_words(
    garden: McpPool,
) -> None:
    output = await use(garden, "refuse")
    assert not output.ok
    assert "no such plant" in output.text


async def test_arguments_are_checked_before_a_server_is_asked(garden: McpPool) -> None:
    tool = await named(garden, "count")
    assert read_arguments(tool, '{"text": "rose"}') == {"text": "rose"}
    with pytest.raises(ToolError, match="`text` must be string, got 4"):
        read_arguments(tool, '{"text": 4}')


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": True}},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?<p>a)$"}}},
        {"type": "object", "properties": {"a": {"minLength": "2"}}},
        {"type": "object", "properties": {"a": {"anyOf": [True, False]}}},
        {"type": "object", "properties": {"a": {"enum": 5}}},
    ],
)
def test_a_schema_that_cannot_be_read_leaves_the_word_to_the_server(schema: Any) -> None:
    assert checked({"a": "rose"}, without_patterns(schema)) == []


async def test_pictures_of_a_result_are_handed_on_beside_its_text(garden: McpPool) -> None:
    output = await use(garden, "picture")
    assert [picture.media_type for picture in output.pictures] == ["image/png"]


async def test_a_slow_call_ends_at_its_time_limit_and_the_server_stays() -> None:
    async with pool_of(msgspec.structs.replace(STDIO, timeout=1.0)) as pool:
        with pytest.raises(ToolError, match="did not answer within 1 seconds"):
            await use(pool, "wait", seconds=30)
        assert (await use(pool, "count", text="abc")).text == "3 letters"


async def test_a_server_that_dies_in_a_call_is_told_of_and_started_anew_by_the_next_call() -> None:
    async with pool_of(STDIO) as pool:
        with pytest.raises(ToolError, match="unknown") as told:
            await use(pool, "fall")
        assert "the pot fell" in str(told.value)
        status = await pool.status("garden")
        assert status.state == "failed"
        assert status.error is not None
        assert (await use(pool, "count", text="abc")).text == "3 letters"
        assert (await pool.status("garden")).error is None


async def test_a_server_that_died_between_calls_is_started_anew() -> None:
    async with pool_of(STDIO) as pool:
        await use(pool, "count", text="abc")
        for pid in children_of(os.getpid()):
            os.kill(pid, signal.SIGKILL)

        async def noticed() -> bool:
            return (await pool.status("garden")).state != "ready"

        await until(noticed)
        assert (await use(pool, "count", text="abcd")).text == "4 letters"


async def test_closing_ends_the_started_servers() -> None:
    before = children_of(os.getpid())
    async with pool_of(STDIO) as pool:
        await pool.tools()
        started = children_of(os.getpid()) - before
        assert started
    assert not started & children_of(os.getpid())


async def test_a_program_that_is_not_there_is_reported_and_leaves_the_other_tools() -> None:
    missing = McpServer(name="gone", command="/no/such/program")
    async with pool_of(missing, STDIO) as pool:
        assert {tool.name.partition("__")[0] for tool in await pool.tools()} == {"garden"}
        status = await pool.status("gone")
        assert status.state == "failed"
        assert "/no/such/program" in (status.error or "")


async def test_a_program_that_ends_at_once_is_reported_with_its_last_words() -> None:
    broken = McpServer(
        name="sour",
        command=sys.executable,
        args=("-c", "import sys; sys.exit('missing token abc')"),
    )
    async with pool_of(broken) as pool:
        assert await pool.tools() == []
        assert "missing token abc" in ((await pool.status("sour")).error or "")


async def test_a_failed_server_is_not_tried_again_by_every_turn(tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    failing = McpServer(name="sour", command="sh", args=("-c", f"echo x >> {tries}; exit 1"))
    async with pool_of(failing) as pool:
        for _ in range(3):
            assert await pool.tools() == []
        assert await asyncio.to_thread(tries.read_text) == "x\n"


async def test_secrets_of_a_server_are_masked_in_its_errors() -> None:
    leaking = McpServer(
        name="leak",
        command=sys.executable,
        args=("-c", "import os, sys; sys.exit('bad token ' + os.environ['TOKEN'])"),
        env={"TOKEN": "very-secret-value"},
    )
    async with pool_of(leaking) as pool:
        await pool.tools()
        error = (await pool.status("leak")).error or ""
    assert "bad token ***" in error
    assert "very-secret-value" not in error


async def test_secrets_of_a_server_are_masked_in_what_it_says_when_it_dies() -> None:
    telling = msgspec.structs.replace(STDIO, env={"POT": "the pot fell"})
    async with pool_of(telling) as pool:
        with pytest.raises(ToolError, match="unknown") as told:
            await use(pool, "fall")
    assert "the pot fell" not in str(told.value)


async def test_a_changed_tool_list_is_what_the_next_turn_gets() -> None:
    async with pool_of(STDIO) as pool:
        assert "garden__harvest" not in [tool.name for tool in await pool.tools()]
        assert (await use(pool, "grow")).text == "grown"

        async def grown() -> bool:
            return "garden__harvest" in [tool.name for tool in await pool.tools()]

        await until(grown)
        assert (await use(pool, "harvest")).text == "apples"


async def test_switching_off_and_removing_follow_the_configuration_at_once() -> None:
    servers = {"garden": STDIO}
    pool = McpPool(lambda: dict(servers))
    try:
        tool = next(iter(await pool.tools()))
        servers["garden"] = msgspec.structs.replace(STDIO, enabled=False)
        assert await pool.tools() == []
        assert (await pool.status("garden")).state == "disabled"
        with pytest.raises(ToolError, match="switched off"):
            await tool.run({"text": "x"}, ToolContext(workspace=Path()))
        servers.clear()
        assert await pool.statuses() == {}
    finally:
        await pool.aclose()


async def test_only_the_chosen_tools_of_a_server_are_offered() -> None:
    async with pool_of(msgspec.structs.replace(STDIO, tools=("count",))) as pool:
        assert [tool.name for tool in await pool.tools()] == ["garden__count"]


# -------------------------------------------------------------------------------- HTTP


@pytest.fixture
def http_server() -> Iterator[McpServer]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, SERVER, "http", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 30
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < end, "the test's MCP server did not start"
            time.sleep(0.05)
        yield McpServer(name="garden", url=f"http://127.0.0.1:{port}/mcp")
    finally:
        process.kill()
        process.wait()


async def test_a_server_over_http_gives_its_tools_and_its_changes(http_server: McpServer) -> None:
    async with pool_of(http_server) as pool:
        assert (await use(pool, "count", text="rose")).text == "4 letters"
        await use(pool, "grow")

        async def grown() -> bool:
            return "garden__harvest" in [tool.name for tool in await pool.tools()]

        await until(grown)


async def test_an_address_where_nobody_answers_is_reported() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    async with pool_of(McpServer(name="far", url=f"http://127.0.0.1:{port}/mcp")) as pool:
        assert await pool.tools() == []
        assert (await pool.status("far")).state == "failed"


def children_of(pid: int) -> set[int]:
    found: set[int] = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue
            if int(stat[1]) == pid and stat[0] != "Z":
                found.add(int(folder.name))
    return found
