"""A chat over real sockets: a turn, a reload, a stop, a second turn, two clients, a queue."""

import asyncio
import uuid

import pytest

from silu.config import Endpoint
from silu.fakes import FakeDeepSeek, answer, play, serve
from silu.fakes.script import Call, Think
from tests.gateway.house import Client, Http, Workspace, client, http

pytestmark = pytest.mark.anyio

LONG_THOUGHT = "".join(f"Thought number {n}: 思路 goes on. " for n in range(60))


def cid() -> str:
    return uuid.uuid4().hex


def slow_vendor(*answers: object, rate: float = 200) -> FakeDeepSeek:
    script = (
        play(*answers)
        if answers
        else play(  # type: ignore[arg-type] - answers of `answer`
            answer(Think(LONG_THOUGHT), "The answer is 42.")
        )
    )
    return FakeDeepSeek(script, rate=rate)


def add(workspace: Workspace, url: str) -> None:
    workspace.add_endpoint(
        Endpoint(name="slow", url=url, like="deepseek", key_env="SLOW_KEY", models=(MODEL,))
    )


MODEL = "deepseek-v4-flash"
REF = f"slow/{MODEL}"


async def begun(page: Client, session_id: str, text: str = "Hello") -> str:
    ack = await page.ask("send", session_id, client_id=cid(), text=text)
    assert ack["type"] == "ack", ack
    return ack["data"]["run_id"]


async def history(web: Http, session_id: str) -> list[dict[str, object]]:
    return (await web("GET", f"/sessions/{session_id}/messages"))["messages"]


async def test_a_whole_turn_streams_and_is_kept(workspace: Workspace) -> None:
    async with serve(slow_vendor(rate=2000)) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            session_id = await web.new_session(model=REF)
            await page.ask("subscribe", session_id, since=0)
            run_id = await begun(page, session_id)
            done = await page.done(run_id)
            assert done["status"] == "completed", done
            assert page.text("thinking") == LONG_THOUGHT
            assert page.text("content") == "The answer is 42."
            kinds = [f["type"] for f in page.frames if f.get("run_id") == run_id]
            assert kinds.index("run_start") < kinds.index("content_done") < kinds.index("done")
            person, reply = await history(web, session_id)
            assert person["content"] == "Hello"
            assert reply["thinking_content"] == LONG_THOUGHT
            assert reply["content"] == "The answer is 42."
            assert [s["type"] for s in reply["segments"]] == ["thinking", "text"]


async def test_a_reload_in_mid_thought_shows_everything_once_and_goes_on(
    workspace: Workspace,
) -> None:
    async with serve(slow_vendor()) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as first:
            session_id = await web.new_session(model=REF)
            await first.ask("subscribe", session_id, since=0)
            run_id = await begun(first, session_id)
            await first.until(lambda: len(first.text("thinking")) > 300)
            async with client(workspace) as fresh:
                await fresh.ask("subscribe", session_id, since=0)
                await fresh.until(lambda: len(fresh.text("thinking")) > 300)
            half = {key: len(text) for key, text in first.blocks.items()}
            head, known = first.numbers[session_id], first.known()
            async with client(workspace) as back:
                back.remember(known)
                await back.ask("subscribe", session_id, since=head, blocks=half)
                await back.done(run_id)
                assert back.text("thinking") == LONG_THOUGHT
                assert back.text("content") == "The answer is 42."
            await first.done(run_id)
            assert first.text("thinking") == LONG_THOUGHT


async def test_stop_keeps_what_was_thought(workspace: Workspace) -> None:
    async with serve(slow_vendor()) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            session_id = await web.new_session(model=REF)
            await page.ask("subscribe", session_id, since=0)
            run_id = await begun(page, session_id)
            await page.until(lambda: len(page.text("thinking")) > 100)
            ack = await page.ask("cancel", session_id, client_id=cid(), run_id=run_id)
            assert ack["data"] == {"cancelled": True}
            done = await page.done(run_id, seconds=5)
            assert done["status"] == "cancelled"
            assert done["reason"] == "person"
            shown = page.text("thinking")
            assert LONG_THOUGHT.startswith(shown)
            reply = (await history(web, session_id))[-1]
            assert reply["thinking_content"] == shown
            again = await begun(page, session_id, "And now?")
            assert (await page.done(again))["status"] == "completed"


async def test_the_second_turn_is_taken_by_a_vendor_that_checks_its_thinking(
    workspace: Workspace,
) -> None:
    vendor = slow_vendor(
        answer(Think("I look at my list."), Call("todo", {})),
        answer(Think("The list is empty."), "Nothing to do."),
        answer(Think("They ask again."), "Still nothing."),
        rate=2000,
    )
    async with serve(vendor) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            session_id = await web.new_session(model=REF)
            await page.ask("subscribe", session_id, since=0)
            for text in ("What is open?", "And now?"):
                done = await page.done(await begun(page, session_id, text))
                assert done["status"] == "completed", (done, vendor.refusals)
            assert vendor.refusals == []
            last = vendor.bodies[-1]["messages"]
            echoed = [m["reasoning_content"] for m in last if m.get("reasoning_content")]
            assert "I look at my list." in echoed
            assert [f["data"]["name"] for f in page.of("tool_result")] == ["todo"]


async def test_two_clients_and_a_latecomer_see_the_same(workspace: Workspace) -> None:
    async with serve(slow_vendor(rate=500)) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as one, client(workspace) as two:
            session_id = await web.new_session(model=REF)
            for page in (one, two):
                await page.ask("subscribe", session_id, since=0)
            run_id = await begun(one, session_id)
            await asyncio.gather(one.done(run_id), two.done(run_id))
            assert one.blocks == two.blocks

            def facts(page: Client) -> list[object]:
                return [(f["n"], f["type"], f["data"]) for f in page.frames if "n" in f]

            assert facts(one) == facts(two)
            async with client(workspace) as late:
                await late.ask("subscribe", session_id, since=0)
                await late.until(lambda: late.of("done") or late.of("snapshot"))


async def test_a_second_message_waits_its_turn_and_can_be_changed_or_taken_back(
    workspace: Workspace,
) -> None:
    vendor = slow_vendor(
        answer(Think(LONG_THOUGHT), "One."), answer(Think("Quick."), "Two."), rate=150
    )
    async with serve(vendor) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            session_id = await web.new_session(model=REF)
            await page.ask("subscribe", session_id, since=0)
            first = await begun(page, session_id)
            second = (await page.ask("send", session_id, client_id=cid(), text="draft"))["data"]
            third = (await page.ask("send", session_id, client_id=cid(), text="never"))["data"]
            assert second["queued"]
            assert third["queued"]
            await page.until(lambda: page.of("queue_update"))
            change = {"message_id": second["message_id"], "text": "final"}
            assert (await page.ask("queue_edit", session_id, client_id=cid(), **change))[
                "type"
            ] == "ack"
            gone = {"message_id": third["message_id"], "remove": True}
            await page.ask("queue_edit", session_id, client_id=cid(), **gone)
            await page.ask("cancel", session_id, client_id=cid(), run_id=first)
            assert (await page.done(second["run_id"]))["status"] == "completed"
            said = [m["content"] for m in await history(web, session_id) if m["role"] == "user"]
            assert said == ["Hello", "final"]


async def test_a_repeated_client_id_sends_once(workspace: Workspace) -> None:
    vendor = slow_vendor(rate=2000)
    async with serve(vendor) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            session_id = await web.new_session(model=REF)
            await page.ask("subscribe", session_id, since=0)
            same = cid()
            first = await page.ask("send", session_id, client_id=same, text="Hello")
            await page.done(first["data"]["run_id"])
        workspace.kill()
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            second = await page.ask("send", session_id, client_id=same, text="Hello")
            assert second["data"]["run_id"] == first["data"]["run_id"]
            assert second["data"]["message_id"] == first["data"]["message_id"]
            said = [m for m in await history(web, session_id) if m["role"] == "user"]
            assert len(said) == 1


async def test_a_killed_server_goes_on_with_the_session_when_it_is_started_again(
    workspace: Workspace,
) -> None:
    vendor = slow_vendor(
        answer(Think(LONG_THOUGHT), "Never finished."),
        answer(Think(LONG_THOUGHT), "Finished after the restart."),
    )
    async with serve(vendor) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            session_id = await web.new_session(model=REF)
            await page.ask("subscribe", session_id, since=0)
            run_id = await begun(page, session_id)
            await page.until(lambda: len(page.text("thinking")) > 300)
            workspace.kill()
            seen = {key: len(text) for key, text in page.blocks.items()}
            head, known = page.numbers[session_id], page.known()
        workspace.start()
        async with http(workspace) as web, client(workspace) as back:
            back.remember(known)
            await back.ask("subscribe", session_id, since=head, blocks=seen)
            done = await back.done(run_id)
            assert done["status"] == "completed", done
            assert back.text("content") == "Finished after the restart."
            reply = (await history(web, session_id))[-1]
            assert reply["content"] == "Finished after the restart."
            assert reply["thinking_content"] == LONG_THOUGHT


async def test_edit_and_regenerate_make_sibling_sessions(workspace: Workspace) -> None:
    vendor = slow_vendor(
        answer(Think("a"), "First."),
        answer(Think("b"), "Second."),
        answer(Think("c"), "Third."),
        rate=2000,
    )
    async with serve(vendor) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            session_id = await web.new_session(model=REF)
            await page.ask("subscribe", session_id, since=0)
            await page.done(await begun(page, session_id, "Original"))
            person, reply = await history(web, session_id)
            edited = await page.ask(
                "edit", session_id, client_id=cid(), message_id=person["id"], text="Changed"
            )
            sibling = edited["data"]["session_id"]
            assert sibling != session_id
            await page.ask("subscribe", sibling, since=0)
            await page.done(edited["data"]["run_id"])
            again = await page.ask(
                "regenerate", session_id, client_id=cid(), message_id=reply["id"], level="off"
            )
            other = again["data"]["session_id"]
            await page.ask("subscribe", other, since=0)
            await page.done(again["data"]["run_id"])
            texts = [[m["content"] for m in await history(web, s)] for s in (session_id, sibling)]
            assert texts == [["Original", "First."], ["Changed", "Second."]]
            assert [m["content"] for m in await history(web, other)] == ["Original", "Third."]
            assert (await web("GET", f"/sessions/{other}"))["parent_id"] == session_id


async def test_level_model_and_mode_are_told_to_every_client(workspace: Workspace) -> None:
    async with serve(slow_vendor(rate=2000)) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            session_id = await web.new_session(model=REF)
            await page.ask("subscribe", session_id, since=0)
            await page.ask("set_thinking_level", session_id, client_id=cid(), level="off")
            level = (await page.until(lambda: page.of("level_update")))[0]["data"]["level"]
            assert level["requested"] == "off"
            assert level["effective"] == "off"
            refused = await page.ask("set_thinking_level", session_id, client_id=cid(), level="x")
            assert refused["type"] == "error"
            assert "adaptive" in refused["data"]["message"]
            unknown = await page.ask("set_model", session_id, client_id=cid(), model="no/model")
            assert unknown["data"]["code"] == "unknown_model"
            await page.ask("set_mode", session_id, client_id=cid(), mode="plan")
            await page.until(lambda: page.of("mode_update"))
            todos = [{"id": "1", "content": "mine", "status": "pending"}]
            await page.ask("todo_edit", session_id, client_id=cid(), todos=todos)
            update = (await page.until(lambda: page.of("todo_update")))[-1]["data"]
            assert update["todos"][0]["origin"] == "person"
            view = await web("GET", f"/sessions/{session_id}")
            assert view["mode"] == "plan"
            assert view["todos"][0]["content"] == "mine"


async def test_heartbeats_tell_how_long_a_silent_run_has_been_on(workspace: Workspace) -> None:
    workspace.env["SILU_HEARTBEAT"] = "0.2"
    async with serve(slow_vendor()) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            session_id = await web.new_session(model=REF)
            run_id = await begun(page, session_id)
            beat = (await page.until(lambda: page.of("heartbeat")))[0]
            assert beat["running"][session_id] >= 0
            await page.ask("cancel", session_id, client_id=cid(), run_id=run_id)


async def test_the_list_shows_running_titles_and_todos(workspace: Workspace) -> None:
    async with serve(slow_vendor()) as url:
        add(workspace, url)
        workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            ack = await page.ask("subscribe", list=True, since=0)
            assert ack["type"] == "ack"
            session_id = await web.new_session(model=REF)

            def line() -> dict[str, object] | None:
                items = [i for f in page.of("sessions") for i in f["data"] if i["id"] == session_id]
                return items[-1] if items else None

            await page.until(line)
            run_id = await begun(page, session_id, "Name me")
            await page.until(lambda: (line() or {}).get("isRunning"))
            await page.until(lambda: "Name me" in str((line() or {}).get("title")))
            await page.ask("cancel", session_id, client_id=cid(), run_id=run_id)
            await page.until(lambda: (line() or {}).get("isRunning") is False)
