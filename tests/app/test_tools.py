"""Tools from outside in the wired house: MCP servers, packages, hooks, the web."""

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from silu.app import App
from silu.fakes import Call, FakeAnthropic, Own, Think, answer, play, serve
from silu.store.api import Session
from silu.tools import Tool, ToolContext
from silu.tools.functions import tool
from silu.types import api, mcp
from silu.types.errors import ToolError, UserError
from tests.app.acting import GARDEN, house, results, say

pytestmark = pytest.mark.anyio


async def told(app: App, kind: str) -> list[str]:
    found = await app.tools()
    return [view.name for view in found.tools if view.source == kind]


async def test_a_turn_uses_a_tool_of_an_mcp_server_that_was_added(tmp_path: Path) -> None:
    turns = (answer(Call("garden__count", {"text": "rose"})), answer("Four."))
    async with house(tmp_path, *turns) as (app, vendor):
        await app.add_mcp_server(GARDEN)
        assert await told(app, "mcp:garden") == []
        await say(app, "How many letters has rose?")
        names = await told(app, "mcp:garden")
        view = await app.mcp_server("garden")
    assert "garden__count" in names
    assert view.state == "ready"
    assert "4 letters" in str(vendor.bodies[-1])


async def test_a_long_result_of_an_mcp_server_is_kept_whole_and_can_be_read_on(
    tmp_path: Path,
) -> None:
    long = Call("garden__long", {"lines": 9_000})
    async with house(tmp_path, answer(long), answer("Read.")) as (app, _):
        await app.add_mcp_server(GARDEN)
        session = await say(app, "Tell much.")
        (result,) = await results(app, session)
        assert result.full is not None
        _, data = await app.blob(result.full.sha256)
    assert data.decode().split("\n")[-1] == "line 9000"
    assert f"result:{result.id}" in result.shown


async def test_pictures_of_a_result_are_kept_for_the_person(tmp_path: Path) -> None:
    async with house(tmp_path, answer(Call("garden__picture", {})), answer("Seen.")) as (app, _):
        await app.add_mcp_server(GARDEN)
        session = await say(app, "Show it.")
        (result,) = await results(app, session)
        ref, data = await app.blob(result.pictures[0].sha256)
        page = await app.messages(session)
    assert result.shown == "[a picture, image/png: the person sees it, you do not]"
    assert ref.media_type == "image/png"
    assert data.startswith(b"\x89PNG")
    told = [segment.pictures for message in page.messages for segment in message.segments]
    assert [ref.sha256] in told


async def test_a_hook_refuses_a_call_and_the_model_is_told_why(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('not today'); sys.exit(2)"
    hook = {"event": "before", "tools": "write_*", "command": [sys.executable, "-c", code]}
    write = Call("write_file", {"path": "a.txt", "content": "hello"})
    async with house(tmp_path, answer(write), answer("Refused.")) as (app, _):
        app.hook_file.path.write_text(json.dumps({"hooks": [hook]}))
        session = await say(app, "Write.")
        (result,) = await results(app, session)
        workspace = Path((await app.session(session)).workspace)
    assert result.status == "denied"
    assert "not today" in result.shown
    assert not (workspace / "a.txt").exists()


async def test_hooks_that_cannot_be_read_stop_the_run_before_anything_is_done(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, answer("Hello.")) as (app, vendor):
        app.hook_file.path.write_text("{")
        session = await say(app, "Hello")
        problems = (await app.tools()).problems
    assert vendor.bodies == []
    assert any("hooks.json" in problem for problem in problems)
    assert session


async def test_the_list_of_tools_says_where_each_is_from_and_what_it_may_do(tmp_path: Path) -> None:
    async with house(tmp_path) as (app, _):
        found = {view.name: view for view in (await app.tools()).tools}
    assert found["read_document"].effects == ["read"]
    assert found["web_fetch"].effects == ["network"]
    assert found["shell"].effects == ["execute", "read", "write"]
    assert {view.source for view in found.values()} == {"built in"}
    assert "web_search" not in found


async def test_a_tool_whose_name_is_taken_is_left_out_and_told(tmp_path: Path) -> None:
    @tool(name="shell", effects=["read"])
    def other_shell() -> str:
        """Another one."""
        return ""

    @tool(name="todo", effects=["execute"])
    def other_todo() -> str:
        """One that would be allowed always, by its name."""
        return ""

    async def source(session: Session | None) -> list[Tool]:
        return [other_shell, other_todo]

    async with house(tmp_path) as (app, _):
        app.toolset.add(source)
        found = await app.tools()
    assert [view.effects for view in found.tools if view.name == "shell"] == [
        ["execute", "read", "write"]
    ]
    assert "todo" not in [view.name for view in found.tools]
    assert len([problem for problem in found.problems if "its name is taken" in problem]) == 2


@pytest.mark.parametrize(
    ("env", "chosen", "used"),
    [
        ({"SILU_SEARXNG_URL": "http://127.0.0.1:9"}, None, "searxng"),
        ({"BRAVE_API_KEY": "k", "TAVILY_API_KEY": "k"}, None, "brave"),
        ({"BRAVE_API_KEY": "k", "TAVILY_API_KEY": "k"}, "tavily", "tavily"),
        ({"BRAVE_API_KEY": "k"}, "vendor", "vendor"),
        ({"BRAVE_API_KEY": "k"}, "none", None),
        ({"BRAVE_API_KEY": "k"}, "searxng", None),
        ({}, None, None),
    ],
)
async def test_who_searches_is_chosen_and_else_the_first_that_can(
    tmp_path: Path, env: dict[str, str], chosen: Any, used: str | None
) -> None:
    async with house(tmp_path, **env) as (app, _):
        view = await app.patch_settings(api.SettingsPatch(search_engine=chosen))
        names = [view.name for view in (await app.tools()).tools]
    assert view.search_in_use == used
    assert ("web_search" in names) == (used is not None)


async def test_a_saved_key_opens_its_search_engine(tmp_path: Path) -> None:
    async with house(tmp_path) as (app, _):
        await app.save_key("tavily", "tvly-0123456789abcdef")
        assert app.search_in_use() == "tavily"


async def test_hosts_of_ones_own_network_are_reached_once_they_are_named(tmp_path: Path) -> None:
    async with house(tmp_path) as (app, _):
        await app.patch_settings(api.SettingsPatch(web_hosts=["127.0.0.1:9"]))
        assert app.settings.preferences.web_hosts == ("127.0.0.1:9",)
        fetch = (await app.toolset.offer(None)).box.find("web_fetch")
        for url, why in {
            "http://127.0.0.1:9/": "nothing answers",
            "http://127.0.0.1:10/": "private network",
        }.items():
            with pytest.raises(ToolError, match=why):
                await fetch.run({"url": url}, ToolContext(workspace=tmp_path))


# ---------------------------------------------------------------------------- MCP servers


async def test_a_server_that_cannot_be_reached_is_not_kept_when_it_is_tested(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as (app, _):
        wish = mcp.McpServerCreate(name="gone", command="/no/such/program", test=True)
        report = await app.add_mcp_server(wish)
        assert not report.ok
        assert "/no/such/program" in report.message
        assert (await app.mcp_servers()).servers == []


async def test_a_tested_server_is_kept_and_its_tools_are_listed_with_effects(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as (app, _):
        report = await app.add_mcp_server(msgspec.structs.replace(GARDEN, test=True))
        (view,) = (await app.mcp_servers()).servers
    assert report.ok
    assert view.transport == "stdio"
    effects = {tool.title: tool.effects for tool in view.tools}
    assert effects["count"] == ["read"]
    assert effects["plant"] == ["execute"]


async def test_a_server_is_switched_off_limited_and_removed(tmp_path: Path) -> None:
    async with house(tmp_path) as (app, _):
        await app.add_mcp_server(GARDEN)
        limited = await app.patch_mcp_server("garden", mcp.McpServerPatch(tools=["count"]))
        assert limited.only_tools == ["count"]
        await app.test_mcp_server("garden")
        assert await told(app, "mcp:garden") == ["garden__count"]
        off = await app.patch_mcp_server("garden", mcp.McpServerPatch(enabled=False))
        assert off.state == "disabled"
        assert await told(app, "mcp:garden") == []
        assert (await app.test_mcp_server("garden")).ok
        await app.remove_mcp_server("garden")
        for work in (app.mcp_server("garden"), app.remove_mcp_server("garden")):
            with pytest.raises(UserError) as unknown:
                await work
            assert unknown.value.code == "unknown_mcp_server"


async def test_values_of_variables_and_headers_never_come_out(tmp_path: Path) -> None:
    async with house(tmp_path) as (app, _):
        await app.add_mcp_server(
            mcp.McpServerCreate(
                name="far",
                url="http://127.0.0.1:9/mcp",
                headers={"Authorization": "Bearer very-secret"},
            )
        )
        (view,) = (await app.mcp_servers()).servers
        report = await app.test_mcp_server("far")
    assert view.header_names == ["Authorization"]
    assert "very-secret" not in str(view) + str(report)


async def test_one_bad_entry_of_the_file_is_told_and_leaves_the_others(tmp_path: Path) -> None:
    async with house(tmp_path) as (app, _):
        entries = {"a__b": {"command": "x"}, "good": {"command": "x"}, "none": {}}
        app.mcp_file.path.write_text(json.dumps({"mcpServers": entries}))
        found = await app.mcp_servers()
        assert [server.name for server in found.servers] == ["good"]
        assert found.error is not None
        assert "a__b" in found.error
        app.mcp_file.path.write_text("{")
        assert (await app.mcp_servers()).error is not None


async def test_tools_that_come_later_are_told_and_taken_up_on_reload(tmp_path: Path) -> None:
    turns = [answer(word) for word in ("One.", "Two.", "Three.")]
    async with house(tmp_path, *turns) as (app, vendor):
        session = await say(app, "Hello")
        await app.add_mcp_server(GARDEN)
        await say(app, "And now?", session)
        facts = await app.store.facts(session, 0)
        notices = [bytes(fact.data).decode() for fact in facts if fact.type == "notice"]
        await app.reload_session(session)
        await say(app, "And now?", session)
    assert "tools_changed" in notices[-1]
    assert "garden__count" in notices[-1]
    names = [{tool["function"]["name"] for tool in body["tools"]} for body in vendor.bodies]
    assert names[0] == names[1]
    assert "garden__count" in names[2] - names[1]


CLAUDE = "claude-sonnet-4-6"
ASKED = {"query": "when roses bloom"}
FOUND = (
    Own({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": ASKED}),
    Own(
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": [
                {
                    "type": "web_search_result",
                    "url": "https://rose.example",
                    "title": "Roses",
                    "encrypted_content": "c2VhbGVk",
                }
            ],
        }
    ),
)


async def test_the_models_vendor_searches_where_that_was_chosen_and_what_it_found_goes_back(
    tmp_path: Path,
) -> None:
    said = answer(Think("I look it up."), *FOUND, "Roses bloom in June.")
    vendor = FakeAnthropic(play(said, answer("In June, as I said.")))
    async with serve(vendor) as url, house(tmp_path) as (app, deepseek):
        await app.add_endpoint(
            api.EndpointCreate(
                name="claude", url=url, key="test-key", like="anthropic", models=[CLAUDE]
            )
        )
        await app.patch_settings(api.SettingsPatch(search_engine="vendor"))
        wish = api.SessionCreate(model=f"claude/{CLAUDE}", level="high")
        session = (await app.create_session(wish)).id
        await say(app, "When do roses bloom?", session)
        await say(app, "When?", session)
        await say(app, "And here?")
        page = await app.messages(session)
    first, second = vendor.bodies
    asked = [tool for tool in first["tools"] if tool["name"] == "web_search"]
    assert [tool["type"] for tool in asked] == ["web_search_20250305"]
    back = [block for message in second["messages"] for block in message["content"]]
    assert [one.block for one in FOUND] == [b for b in back if "srvtoolu_1" in json.dumps(b)]
    shown = [segment for message in page.messages for segment in message.segments]
    own = [segment for segment in shown if segment.type == "server_tool" and segment.name]
    assert [(segment.name, segment.summary) for segment in own] == [
        ("web_search", "when roses bloom")
    ]
    assert deepseek.bodies and "web_search" not in str(deepseek.bodies[-1]["tools"])
