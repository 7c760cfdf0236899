"""The HTTP interface: sessions from beginning to end, the inspector, settings, blobs, learned."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from silu.config import Endpoint
from silu.fakes import CompatServer, FakeDeepSeek, answer, play, serve
from silu.fakes.script import Call, Think
from tests.gateway.house import Http, Workspace, client, http

pytestmark = pytest.mark.anyio

MODEL = "deepseek-v4-flash"
REF = f"near/{MODEL}"


def near(url: str) -> Endpoint:
    return Endpoint(name="near", url=url, like="deepseek", key_env="NEAR_KEY", models=(MODEL,))


async def turn(workspace: Workspace, session_id: str, text: str) -> dict[str, Any]:
    async with client(workspace) as page:
        await page.ask("subscribe", session_id, since=0)
        ack = await page.ask("send", session_id, client_id=uuid.uuid4().hex, text=text)
        return await page.done(ack["data"]["run_id"])


async def test_a_session_is_made_renamed_archived_forked_and_deleted(workspace: Workspace) -> None:
    async with serve(FakeDeepSeek()) as url:
        workspace.add_endpoint(near(url))
        workspace.start()
        async with http(workspace) as web:
            same = {"model": REF, "level": "high", "client_id": "once"}
            made = await web("POST", "/sessions", same)
            assert (await web("POST", "/sessions", same))["id"] == made["id"]
            assert made["level"]["requested"] == "high"
            session_id = made["id"]
            await turn(workspace, session_id, "Hello")
            renamed = await web("PATCH", f"/sessions/{session_id}", {"title": "Greetings"})
            assert renamed["title"] == "Greetings"
            fork = await web("POST", f"/sessions/{session_id}/fork", {}, status=201)
            assert fork["parent_id"] == session_id
            assert len((await web("GET", f"/sessions/{fork['id']}/messages"))["messages"]) == 2
            await web("PATCH", f"/sessions/{fork['id']}", {"archived": True})
            listed = [s["id"] for s in (await web("GET", "/sessions"))["sessions"]]
            assert listed == [session_id]
            kept = [s["id"] for s in (await web("GET", "/sessions?archived=true"))["sessions"]]
            assert kept == [fork["id"]]
            await web("DELETE", f"/sessions/{session_id}")
            for path in ("", "/messages", "/calls", "/events"):
                await web("GET", f"/sessions/{session_id}{path}", status=404)
            assert len((await web("GET", f"/sessions/{fork['id']}/messages"))["messages"]) == 2


async def test_a_running_session_is_stopped_and_deleted(workspace: Workspace) -> None:
    async with serve(FakeDeepSeek(lambda _: answer(Think("Long. " * 900)), rate=30)) as url:
        workspace.add_endpoint(near(url))
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            session_id = await web.new_session(model=REF)
            await page.ask("subscribe", session_id, since=0)
            await page.ask("send", session_id, client_id="a", text="Hello")
            await page.until(lambda: page.text("thinking"))
            await web("DELETE", f"/sessions/{session_id}")
            await web("GET", f"/sessions/{session_id}", status=404)


async def test_the_inspector_shows_the_bytes_sent_without_the_key(workspace: Workspace) -> None:
    async with serve(FakeDeepSeek()) as url:
        workspace.add_endpoint(near(url))
        workspace.start()
        async with http(workspace) as web:
            session_id = await web.new_session(model=REF, level="max")
            await turn(workspace, session_id, "Look inside")
            calls = (await web("GET", f"/sessions/{session_id}/calls"))["calls"]
            assert len(calls) == 1
            call = calls[0]
            assert "Look inside" in call["body"]
            assert call["resolution"]["requested"] == "max"
            assert call["usage"]["output_tokens"] > 0
            assert call["first_byte_ms"] is not None
            assert "test-key" not in json.dumps(calls)
            none = await web("GET", f"/sessions/{session_id}/calls?run_id=none")
            assert none == {"calls": []}


async def test_a_long_result_is_cut_for_the_card_and_whole_as_a_blob(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    text = "".join(f"line {n} of a long file {'x' * 60}\n" for n in range(900))
    (tmp_path / "work" / "long.txt").write_text(text)
    vendor = FakeDeepSeek(
        play(
            answer(Think("Search."), Call("search_files", {"pattern": "long file"})),
            answer(Think("Read it."), "Done."),
        )
    )
    async with serve(vendor) as url:
        workspace.add_endpoint(near(url))
        workspace.start()
        async with http(workspace) as web:
            session_id = await web.new_session(model=REF, workspace=str(tmp_path / "work"))
            assert (await turn(workspace, session_id, "Read it"))["status"] == "completed"
            messages = (await web("GET", f"/sessions/{session_id}/messages"))["messages"]
            tool = next(s for m in messages for s in m["segments"] if s["type"] == "tool")
            assert tool["status"] == "ok"
            assert len(tool["summary"]) < 40_000
            blob = f"{web.base}/blobs/{tool['result_ref']}"
            async with web.session.get(blob) as got:
                assert got.status == 200
                assert "sandbox" in got.headers["content-security-policy"]
                assert "line 899 " in await got.text()
            for wrong in ("x", "0" * 64):
                await web("GET", f"/blobs/{wrong}", status=404)


async def upload(web: Http, data: bytes, media_type: str, name: str = "") -> dict[str, Any]:
    headers = {"content-type": media_type}
    url = f"{web.base}/blobs?name={name}"
    async with web.session.post(url, data=data, headers=headers) as answered:
        assert answered.status == 201, await answered.text()
        return await answered.json()


async def test_an_uploaded_file_comes_back_and_never_as_a_page(demo: Workspace) -> None:
    page = b"<script>alert(1)</script>"
    async with http(demo) as web:
        ref = await upload(web, page, "text/html", "evil.html")
        assert ref["size"] == len(page)
        async with web.session.get(f"{web.base}/blobs/{ref['sha256']}") as got:
            assert await got.read() == page
            assert got.headers["content-type"].startswith("text/plain")
            assert got.headers["x-content-type-options"] == "nosniff"
        ref = await upload(web, b"<svg onload=alert(1)>", "image/svg+xml")
        async with web.session.get(f"{web.base}/blobs/{ref['sha256']}") as got:
            assert got.headers["content-type"] == "application/octet-stream"
            assert got.headers["content-disposition"] == "attachment"
        big = b"x" * (33 * 1024 * 1024)
        async with web.session.post(f"{web.base}/blobs", data=big) as got:
            assert got.status == 413


async def test_settings_are_kept_and_in_force_at_once(workspace: Workspace) -> None:
    async with serve(FakeDeepSeek()) as url:
        workspace.add_endpoint(near(url))
        workspace.start()
        async with http(workspace) as web:
            await web("PATCH", "/settings", {"default_model": "no/model"}, status=404)
            await web("PATCH", "/settings", {"workspace_roots": ["/no/such"]}, status=400)
            await web("PATCH", "/settings", {"default_model": REF, "thinking_enabled": False})
            session = await web("POST", "/sessions", {"level": "high"})
            assert session["model"] == REF
            assert session["level"]["source"] == "switch"
            assert session["level"]["effective"] == "off"
        workspace.stop()
        workspace.start()
        async with http(workspace) as web:
            view = await web("GET", "/settings")
            assert view["default_model"] == REF
            assert not view["thinking_enabled"]
            await web("PATCH", "/settings", {"default_model": None, "thinking_enabled": True})
            assert (await web("GET", "/settings"))["default_model"] is None


async def test_what_was_learned_is_shown_and_forgotten(workspace: Workspace) -> None:
    """A plain server refuses `reasoning_effort`: learned once, and not asked again."""
    vendor = CompatServer(thinking="refuse")
    async with serve(vendor) as url:
        workspace.add_endpoint(
            Endpoint(name="plain", url=url, key_env="PLAIN_KEY", models=("local-model",))
        )
        workspace.start()
        async with http(workspace) as web:
            session_id = await web.new_session(model="plain/local-model", level="high")
            assert (await turn(workspace, session_id, "Hello"))["status"] == "completed"
            learned = (await web("GET", "/learned"))["learned"]
            assert learned
            assert len(vendor.refusals) == 1
            await turn(workspace, session_id, "Again")
            assert len(vendor.refusals) == 1
            await web("DELETE", "/learned", status=400)
            await web("DELETE", f"/learned?endpoint={learned[0]['endpoint']}")
            assert (await web("GET", "/learned"))["learned"] == []


async def test_a_saved_key_opens_its_vendor_and_is_never_shown(workspace: Workspace) -> None:
    workspace.start()
    async with http(workspace) as web:
        vendors = (await web("GET", "/endpoints"))["vendors"]
        name = vendors[0]["id"]
        await web("PUT", f"/keys/{name}", {"key": "sk-saved-key-1234567890"})
        view = await web("GET", "/endpoints")
        found = next(v for v in view["vendors"] if v["id"] == name)
        assert found["has_key"]
        assert "saved-key" not in json.dumps(view)
        kept = workspace.home / "config" / "keys.json"
        assert kept.stat().st_mode & 0o077 == 0
        await web("PUT", f"/keys/{name}", {"key": ""})
        view = await web("GET", "/endpoints")
        assert not next(v for v in view["vendors"] if v["id"] == name)["has_key"]


async def test_health_and_readiness_are_told(demo: Workspace) -> None:
    async with http(demo) as web:
        assert (await web("GET", "/health"))["status"] == "ok"
        ready = await web("GET", "/ready")
        assert ready["ready"]
        assert ready["checks"] == {"store": "ok", "models": "ok", "engine": "ok"}


async def test_pages_of_messages_join_without_gap_or_repeat(workspace: Workspace) -> None:
    async with serve(FakeDeepSeek()) as url:
        workspace.add_endpoint(near(url))
        workspace.start()
        async with http(workspace) as web:
            session_id = await web.new_session(model=REF)
            for n in range(4):
                await turn(workspace, session_id, f"Message {n}")
            everything = await web("GET", f"/sessions/{session_id}/messages?limit=500")
            got: list[str] = []
            before = ""
            while True:
                path = f"/sessions/{session_id}/messages?limit=3{before}"
                page = await web("GET", path)
                got = [m["id"] for m in page["messages"]] + got
                if page["before"] is None:
                    break
                before = f"&before={page['before']}"
            assert got == [m["id"] for m in everything["messages"]]
