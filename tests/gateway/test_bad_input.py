"""Whatever goes wrong ends in one clear message, what had arrived is kept, the session goes on."""

import json
import sqlite3
import uuid
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest

from silu.config import Endpoint
from silu.fakes import FakeDeepSeek, Trouble, answer, play, serve
from silu.fakes.script import Think
from silu.types.errors import Failure
from tests.gateway.house import Client, Http, Workspace, client, http
from tests.gateway.test_door import serve_once

pytestmark = pytest.mark.anyio

MODEL = "deepseek-v4-flash"
REF = f"near/{MODEL}"
HTML = "<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>"


class Setup(NamedTuple):
    """A running workspace, its vendor, and a page on a session."""

    fake: FakeDeepSeek
    workspace: Workspace
    web: Http
    page: Client
    session_id: str

    async def turn(self, text: str = "Hello") -> dict[str, Any]:
        ack = await self.page.ask("send", self.session_id, client_id=uuid.uuid4().hex, text=text)
        assert ack["type"] == "ack", ack
        return await self.page.done(ack["data"]["run_id"], seconds=40)

    async def goes_on(self) -> None:
        """The next turn of the same session works."""
        self.fake.troubles.clear()
        self.fake.script = play(answer(Think("Again."), "Here I am."))
        self.fake.key = "test-key"
        assert (await self.turn("Still there?"))["status"] == "completed"
        messages = (await self.web("GET", f"/sessions/{self.session_id}/messages"))["messages"]
        assert messages[-1]["content"] == "Here I am."


@pytest.fixture
async def near(workspace: Workspace) -> AsyncIterator[Setup]:
    fake = FakeDeepSeek()
    async with serve(fake) as url:
        workspace.add_endpoint(
            Endpoint(name="near", url=url, like="deepseek", key_env="NEAR_KEY", models=(MODEL,))
        )
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            session_id = await web.new_session(model=REF)
            await page.ask("subscribe", session_id, since=0)
            yield Setup(fake, workspace, web, page, session_id)


def error_of(done: dict[str, Any]) -> dict[str, Any]:
    error = done["error"]
    assert error["message"]
    assert "\n" not in error["message"]
    assert "Traceback" not in json.dumps(done)
    assert "test-key" not in json.dumps(done)
    return error


async def test_a_wrong_key_names_the_variable(near: Setup) -> None:
    near.fake.key = "another-key"
    done = await near.turn()
    assert done["status"] == "failed"
    error = error_of(done)
    assert error["kind"] == "auth"
    assert "NEAR_KEY" in json.dumps(error)
    await near.goes_on()


async def test_an_unknown_model_is_told_as_the_vendors_word(near: Setup) -> None:
    refuse = Failure(kind="unknown_model", message="Model Not Exist", status=404)
    near.fake.troubles.append(Trouble(refuse=refuse, status=404))
    done = await near.turn()
    assert done["status"] == "failed"
    assert MODEL in error_of(done)["message"]
    await near.goes_on()


async def test_an_unreachable_endpoint_names_its_address(near: Setup) -> None:
    near.workspace.add_endpoint(
        Endpoint(name="gone", url="http://127.0.0.1:1/v1", key_env="NEAR_KEY", models=("m",))
    )
    ack = await near.page.ask(
        "set_model", near.session_id, client_id=uuid.uuid4().hex, model="gone/m"
    )
    assert ack["type"] == "ack"
    done = await near.turn()
    assert done["status"] == "failed"
    assert "127.0.0.1:1" in error_of(done)["message"]
    await near.page.ask("set_model", near.session_id, client_id=uuid.uuid4().hex, model=REF)
    await near.goes_on()


async def test_html_instead_of_json_is_said_to_be_no_api(near: Setup) -> None:
    trouble = Trouble(body=HTML, status=200, content_type="text/html")
    near.fake.troubles.extend([trouble] * 5)
    done = await near.turn()
    assert done["status"] in ("failed", "incomplete")
    error = error_of(done)
    assert error["kind"] == "not_an_api"
    assert "<html" not in error["message"]
    await near.goes_on()


@pytest.mark.parametrize("then", ["cut", "cut_in_character", "end", "bad_chunk"])
async def test_a_stream_that_stops_in_mid_thought_keeps_the_thought(near: Setup, then: Any) -> None:
    thought = "思路在这里慢慢展开，一步一步。" * 20
    near.fake.script = lambda _asked: answer(Think(thought), "Never.", step=5)
    near.fake.troubles.extend([Trouble(after=20, then=then, chunk=7)] * 9)
    done = await near.turn()
    assert done["status"] in ("failed", "incomplete"), done
    error_of(done)
    shown = near.page.text("thinking")
    assert len(shown) >= 80
    assert thought.startswith(shown)
    messages = (await near.web("GET", f"/sessions/{near.session_id}/messages"))["messages"]
    assert messages[-1]["thinking_content"] == shown
    await near.goes_on()


async def test_an_error_inside_a_good_stream_is_told_and_the_text_kept(near: Setup) -> None:
    failure = Failure(kind="overloaded", message="the engine is overloaded", status=503)
    near.fake.script = lambda _asked: answer("One two three four five six seven eight.", step=4)
    near.fake.troubles.extend([Trouble(after=5, then="error", failure=failure)] * 9)
    done = await near.turn()
    assert done["status"] in ("failed", "incomplete")
    assert "overloaded" in json.dumps(error_of(done))
    assert near.page.text("content").startswith("One two")
    await near.goes_on()


async def test_a_missing_key_is_told_before_anything_is_sent(near: Setup) -> None:
    near.workspace.add_endpoint(
        Endpoint(name="keyless", url="http://127.0.0.1:1/v1", key_env="NO_KEY", models=("m",)),
        key=None,
    )
    session_id = await near.web.new_session(model="keyless/m")
    await near.page.ask("subscribe", session_id, since=0)
    ack = await near.page.ask("send", session_id, client_id="k", text="Hello")
    done = await near.page.done(ack["data"]["run_id"])
    assert done["status"] == "failed"
    assert "NO_KEY" in error_of(done)["message"]


async def test_a_newer_database_is_refused_untouched(workspace: Workspace) -> None:
    workspace.start()
    workspace.stop()
    file = workspace.home / "silu.db"
    with sqlite3.connect(file) as database:
        database.execute("update alembic_version set version_num = '9999'")
    database.close()
    before = file.read_bytes()
    done = serve_once(workspace)
    assert done.returncode == 2
    assert "newer" in done.stderr
    assert "Traceback" not in done.stderr
    assert file.read_bytes() == before


async def test_the_test_of_an_endpoint_explains_what_is_wrong(near: Setup) -> None:
    body = {"name": "try", "url": "http://127.0.0.1:1/v1", "models": ["m"]}
    dead = await near.web("POST", "/endpoints/test", body)
    assert not dead["ok"]
    assert "127.0.0.1:1" in dead["message"]
    url = near.workspace.env["NEAR_KEY"] and (await near.web("GET", "/endpoints"))["endpoints"]
    near_url = next(e["url"] for e in url if e["name"] == "near")
    wrong = {"name": "try", "url": near_url, "like": "deepseek", "key": "bad", "models": [MODEL]}
    refused = await near.web("POST", "/endpoints/test", wrong)
    assert not refused["ok"]
    assert refused["error"]["kind"] == "auth"
    good = {**wrong, "name": "mine", "key": "test-key", "test": True}
    added = await near.web("POST", "/endpoints", good)
    assert added["ok"], added
    names = [e["name"] for e in (await near.web("GET", "/endpoints"))["endpoints"]]
    assert "mine" in names
    listed = json.dumps(await near.web("GET", "/endpoints"))
    assert "test-key" not in listed
    refs = [m["ref"] for m in (await near.web("GET", "/models"))["models"]]
    assert f"mine/{MODEL}" in refs
    await near.web("DELETE", "/endpoints/mine")
    await near.web("DELETE", "/endpoints/mine", status=404)
