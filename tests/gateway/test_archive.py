"""Sessions are found again, put away and brought back, carried out and in: over HTTP."""

import json
from pathlib import Path

import aiohttp
import pytest

from tests.gateway.house import TOKEN, Http, Workspace, client, http

pytestmark = pytest.mark.anyio


async def _talk(workspace: Workspace, web: Http, text: str) -> str:
    session = await web.new_session(model="demo/thinker")
    async with client(workspace) as page:
        await page.ask("subscribe", session)
        sent = await page.ask("send", session, client_id=text, text=text)
        await page.done(sent["data"]["run_id"])
    return session


async def test_answers_and_thoughts_are_found_and_narrowed(demo: Workspace) -> None:
    async with http(demo) as web:
        session = await _talk(demo, web, "Tell me about a zeppelin, please")
        found = await web("GET", "/search?q=zeppelin")
        hit = next(hit for hit in found["hits"] if hit["role"] == "user")
        assert hit["session_id"] == session
        ((start, end),) = hit["marks"]
        assert hit["snippet"][start:end] == "zeppelin"
        said = await web("GET", f"/search?q=the&scope=answer&session_id={session}")
        thought = await web("GET", f"/search?q=the&scope=thought&session_id={session}")
        assert {hit["scope"] for hit in said["hits"]} == {"answer"}
        assert {hit["scope"] for hit in thought["hits"]} == {"thought"}
        one = await web("GET", f"/search?q=the&session_id={session}&limit=1")
        assert (len(one["hits"]), one["more"]) == (1, True)
        by_model = await web("GET", f"/search?q=the&session_id={session}&model=demo/thinker")
        assert {hit["role"] for hit in by_model["hits"]} >= {"assistant"}
        for none in ("model=demo/nobody", "since=253402300799000", "until=1000"):
            assert (await web("GET", f"/search?q=zeppelin&{none}"))["hits"] == []
        for wrong in ("", "?q=%20", "?q=a&scope=dream", "?q=a&limit=-1", "?q=a&since=x"):
            refused = await web("GET", f"/search{wrong}", status=400)
            assert refused["error"]["code"] == "bad_argument"


async def test_a_session_goes_out_as_a_file_and_comes_in_as_another(demo: Workspace) -> None:
    async with http(demo) as web:
        session = await _talk(demo, web, "<script>alert(1)</script> hello")
        url = f"{web.base}/sessions/{session}/export"
        async with web.session.get(url) as answer:
            data = await answer.read()
            assert answer.headers["content-disposition"].startswith("attachment")
            assert answer.headers["x-content-type-options"] == "nosniff"
        async with web.session.get(f"{url}?format=markdown&thoughts=full") as answer:
            text = await answer.text()
            assert answer.headers["content-disposition"].startswith("attachment")
            assert "> **Thinking**" in text
        async with web.session.get(f"{url}?format=markdown") as answer:
            assert "Thinking" not in await answer.text()
        made = []
        for _ in range(2):
            post = web.session.post(f"{web.base}/sessions/import?client_id=in-{session}", data=data)
            async with post as answer:
                assert answer.status == 201
                made.append(await answer.json())
        assert made[0]["id"] == made[1]["id"] != session
        assert made[0]["workspace"].endswith(made[0]["id"])
        before = (await web("GET", f"/sessions/{session}/messages"))["messages"]
        after = (await web("GET", f"/sessions/{made[0]['id']}/messages"))["messages"]
        assert [(m["content"], m["thinking_content"]) for m in before] == [
            (m["content"], m["thinking_content"]) for m in after
        ]
        async with client(demo) as page:
            await page.ask("subscribe", made[0]["id"])
            sent = await page.ask("send", made[0]["id"], client_id=f"on-{session}", text="And now?")
            assert (await page.done(sent["data"]["run_id"]))["status"] == "completed"


async def test_what_is_no_export_is_refused_in_a_sentence(demo: Workspace) -> None:
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session:
        for body in (b"", b"PK\x03\x04", b"[" * 100_000, b"{}", json.dumps([1]).encode()):
            async with session.post(f"{demo.url}api/v1/sessions/import", data=body) as answer:
                assert answer.status == 400
                assert (await answer.json())["error"]["code"] == "bad_import"


async def test_a_session_in_the_bin_is_gone_until_it_is_restored(demo: Workspace) -> None:
    async with http(demo) as web, client(demo) as page:
        session = await web.new_session(title="precious")
        await page.ask("subscribe", None, list=True)
        await web("POST", f"/sessions/{session}/trash")
        listed = {item["id"] for item in (await web("GET", "/sessions"))["sessions"]}
        binned = {item["id"] for item in (await web("GET", "/sessions?trashed=true"))["sessions"]}
        assert session not in listed
        assert session in binned
        refused = await page.ask("send", session, client_id="x", text="there?")
        assert refused["data"]["code"] == "unknown_session"
        assert (await web("POST", f"/sessions/{session}/restore"))["title"] == "precious"
        listed = {item["id"] for item in (await web("GET", "/sessions"))["sessions"]}
        assert session in listed


async def test_deleting_takes_the_sessions_own_folder_unless_a_sibling_works_there(
    demo: Workspace,
) -> None:
    async with http(demo) as web:
        made = await web("POST", "/sessions", {})
        session, folder = made["id"], Path(made["workspace"])
        (folder / "note.txt").write_text("kept")
        sibling = (await web("POST", f"/sessions/{session}/fork", {}))["id"]
        await web("DELETE", f"/sessions/{session}")
        assert (folder / "note.txt").read_text() == "kept"
        await web("DELETE", f"/sessions/{sibling}")
        assert not folder.exists()  # noqa: ASYNC240 - a look at the local disk
