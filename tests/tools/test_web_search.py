"""`web_search` against servers that speak like each engine."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from silu.tools import ToolContext
from silu.tools.web.addresses import Hosts
from silu.tools.web.engines import Engine, brave, searxng, tavily
from silu.tools.web.http import Web
from silu.tools.web_search import web_search_tool
from silu.types.errors import ToolError

pytestmark = pytest.mark.anyio

Asked = list[dict[str, Any]]


@asynccontextmanager
async def engine_of(answer: Any, *, status: int = 200) -> AsyncGenerator[tuple[str, Asked]]:
    """A server that answers like this, its address and what it was asked."""
    asked: Asked = []

    async def serve(request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else None
        asked.append(
            {"query": dict(request.query), "headers": request.headers, "body": body}
            | {"path": request.path}
        )
        return web.json_response(answer, status=status)

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", asked
    finally:
        await runner.cleanup()


async def search(engine: Engine, **args: Any) -> str:
    tool = web_search_tool(engine, Web(hosts=Hosts(("127.0.0.1",))))
    return (await tool.run(args, ToolContext(workspace=Path()))).text


HIT = {"title": "Roses &amp; <strong>thorns</strong>", "url": "https://rose.example/"}


@pytest.mark.parametrize(
    ("make", "answer"),
    [
        (searxng, {"results": [{**HIT, "content": "They\nbloom."}]}),
        (
            lambda url: brave("k", url),
            {"web": {"results": [{**HIT, "description": "They <em>bloom</em>."}]}},
        ),
        (lambda url: tavily("k", url), {"results": [{**HIT, "content": "They bloom."}]}),
    ],
)
async def test_hits_are_listed_and_marked_as_words_of_strangers(
    make: Callable[[str], Engine], answer: Any
) -> None:
    async with engine_of(answer) as (url, _):
        text = await search(make(url), query="roses")
    assert "1. Roses & thorns\n   https://rose.example/\n   They bloom." in text
    assert "was written by strangers" in text


async def test_each_engine_is_asked_its_own_way() -> None:
    async with engine_of({"results": [], "web": None}) as (url, asked):
        for engine in (searxng(f"{url}/"), brave("kb", f"{url}/b"), tavily("kt", f"{url}/t")):
            assert "found nothing" in await search(engine, query="玫瑰 roses", count=3)
    first, second, third = asked
    assert (first["path"], first["query"]) == ("/search", {"q": "玫瑰 roses", "format": "json"})
    assert second["query"] == {"q": "玫瑰 roses", "count": "3"}
    assert second["headers"]["X-Subscription-Token"] == "kb"
    assert third["body"] == {"query": "玫瑰 roses", "max_results": 3}
    assert third["headers"]["Authorization"] == "Bearer kt"


async def test_no_more_hits_are_shown_than_were_asked_for() -> None:
    async with engine_of({"results": [HIT] * 30}) as (url, _):
        text = await search(searxng(url), query="roses", count=2)
    assert "2. Roses" in text
    assert "3. Roses" not in text


@pytest.mark.parametrize(
    ("status", "answer", "why"),
    [
        (401, {}, "does not accept the key"),
        (403, {}, "`json` among its search formats"),
        (429, {}, "too many searches"),
        (500, {}, "status 500"),
        (200, {"results": "none"}, "cannot be read"),
        (200, [1], "cannot be read"),
    ],
)
async def test_a_refusal_is_told_without_the_key(status: int, answer: Any, why: str) -> None:
    async with engine_of(answer, status=status) as (url, _):
        with pytest.raises(ToolError, match=why) as told:
            await search(tavily("secret-key", url), query="roses")
    assert "secret-key" not in str(told.value)
