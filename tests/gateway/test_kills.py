"""`silu serve` killed in the middle of real turns: thinking, a shell command, an answer, a
question to the person, a compaction. A page that comes back has every word once; no command that
finished runs again, and one that was cut is told to the model."""

import asyncio
import json
import random
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from silu.config import Endpoint
from silu.fakes import Answer, FakeDeepSeek, answer, serve
from silu.fakes.script import Asked, Call, Think
from tests.gateway.house import Client, Http, Workspace, client, http

pytestmark = pytest.mark.anyio

MODEL = "deepseek-v4-flash"
REF = f"near/{MODEL}"
THOUGHT = "".join(f"Thought {n}: 思路 goes on. " for n in range(20))
TEXT = "".join(f"Word {n} of the 答案. " for n in range(20))
COMMAND = "echo begun >> ledger; sleep 0.15; echo ended >> ledger"


def story(asked: Asked) -> Answer:
    """Three answers a turn: a command, a look at what it left, and a text."""
    match asked.turn % 3:
        case 0:
            return answer(Think(THOUGHT), Call("shell", {"command": COMMAND}))
        case 1:
            return answer(Think(THOUGHT), Call("read_file", {"path": "ledger"}))
        case _:
            return answer(Think(THOUGHT), TEXT)


async def ready(workspace: Workspace, url: str) -> tuple[str, Path]:
    """A session in which commands run unasked, and its folder."""
    workspace.add_endpoint(
        Endpoint(name="near", url=url, like="deepseek", key_env="NEAR_KEY", models=(MODEL,))
    )
    workspace.start()
    allow = [{"tool": "shell", "action": "allow"}]
    async with http(workspace) as web:
        # Not the sandbox is on trial: it cannot be had on every machine of the tests.
        await web("PATCH", "/settings", {"sandbox": False})
        made = await web("POST", "/sessions", {"model": REF, "approvals": allow})
    return made["id"], Path(made["workspace"])


class Page:
    """A page that is closed with the server and knows what it had when it comes back."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._known: Any = None
        self._since = 0

    async def back(self, page: Client) -> None:
        if self._known is not None:
            page.remember(self._known)
            page.numbers[self.session_id] = self._since  # the next fact must be the next number
        blocks = {key: len(text) for key, text in page.blocks.items()}
        await page.ask("subscribe", self.session_id, since=self._since, blocks=blocks)

    def leave(self, page: Client) -> None:
        self._known = page.known()
        self._since = page.numbers.get(self.session_id, self._since)


async def idle(web: Http, session_id: str) -> bool:
    return not (await web("GET", f"/sessions/{session_id}"))["isRunning"]


async def quiet(web: Http, session_id: str) -> None:
    async with asyncio.timeout(30):
        while not await idle(web, session_id):  # noqa: ASYNC110 - over HTTP there is no event
            await asyncio.sleep(0.05)


def exact(page: Client, messages: list[dict[str, Any]]) -> None:
    """The page has what is kept, and what is kept is what the vendor said."""
    for message in messages:
        if message["role"] != "assistant":
            continue
        assert "interrupted" not in message["metadata"]
        assert message["thinking_content"] == THOUGHT
        assert message["content"] in ("", TEXT)
        shown = [key for key, owner in page.owners.items() if owner == message["id"]]
        for kind, kept in (("thinking", THOUGHT), ("content", message["content"])):
            text = "".join(page.blocks[key] for key in shown if page.kinds[key] == kind)
            assert text == kept


def counted(folder: Path, messages: list[dict[str, Any]], told: str) -> None:
    """No command twice; a cut one is reported."""
    lines = (folder / "ledger").read_text().split() if (folder / "ledger").exists() else []
    calls = [s for m in messages for s in m["segments"] if s.get("name") == "shell"]
    statuses = [call["status"] for call in calls]
    assert set(statuses) <= {"ok", "unknown"}
    assert statuses.count("ok") <= lines.count("ended") <= lines.count("begun") <= len(calls)
    assert ("what it did is unknown" in told) == ("unknown" in statuses)


@pytest.mark.parametrize(
    ("kills", "seed"),
    [(3, 1), *(pytest.param(50, seed, marks=pytest.mark.long) for seed in range(2, 6))],
)
async def test_kills_at_any_moment_lose_and_repeat_nothing(
    workspace: Workspace, kills: int, seed: int
) -> None:
    dice = random.Random(seed)
    vendor = FakeDeepSeek(story, rate=400)
    async with serve(vendor) as url:
        session_id, folder = await ready(workspace, url)
        seen = Page(session_id)
        for _ in range(kills):
            async with http(workspace) as web, client(workspace) as page:
                await seen.back(page)
                if await idle(web, session_id):
                    await page.ask("send", session_id, client_id=uuid.uuid4().hex, text="Go on")
                await asyncio.sleep(dice.uniform(0.0, 0.9))
                workspace.kill()
                seen.leave(page)
            workspace.start()
        async with http(workspace) as web, client(workspace) as page:
            await seen.back(page)
            await quiet(web, session_id)
            kept = (await web("GET", f"/sessions/{session_id}/messages?limit=500"))["messages"]
            head = (await web("GET", f"/sessions/{session_id}"))["head"]
            await page.until(lambda: page.numbers.get(session_id, 0) >= head)
            exact(page, kept)
            counted(folder, kept, json.dumps(vendor.bodies))
        assert vendor.refusals == []


async def _killed_when(
    workspace: Workspace, session_id: str, begin: Callable[[Client], Any], kind: str
) -> None:
    """Kill the server once a fact of that kind was told."""
    async with client(workspace) as page:
        await page.ask("subscribe", session_id, since=0)
        await begin(page)
        await page.until(lambda: page.of(kind))
        workspace.kill()
    workspace.start()


async def test_a_question_to_the_person_outlives_the_server(workspace: Workspace) -> None:
    def asking(asked: Asked) -> Answer:
        if asked.results:
            return answer("Written.")
        return answer(Think("hm"), Call("write_file", {"path": "a.txt", "content": "one\n"}))

    async with serve(FakeDeepSeek(asking)) as url:
        session_id, folder = await ready(workspace, url)

        async def begin(page: Client) -> None:
            await page.ask("send", session_id, client_id="w", text="Write")

        await _killed_when(workspace, session_id, begin, "approval_request")
        async with http(workspace) as web, client(workspace) as page:
            view = await web("GET", f"/sessions/{session_id}")
            (wait,) = view["waits"]
            assert not (folder / "a.txt").exists()
            await page.ask("subscribe", session_id, since=0)
            yes = {"approval_id": wait["data"]["approval_id"], "decision": "allow"}
            assert (await page.ask("approve", session_id, client_id="y", **yes))["type"] == "ack"
            assert (await page.done(view["run_id"]))["status"] == "completed"
            assert (folder / "a.txt").read_text() == "one\n"
            (record,) = (await web("GET", "/approvals"))["approvals"]
            assert (record["tool"], record["decision"], record["by"]) == (
                "write_file",
                "allow",
                "owner (bearer)",
            )


async def test_a_compaction_that_was_cut_loses_nothing(workspace: Workspace) -> None:
    def talker(asked: Asked) -> Answer:
        if "as a transcript" in str(asked.body["messages"][0]):
            return answer("NOTES: the person likes blue. " * 40)
        return answer(Think("Let me think."), TEXT * 5)

    vendor = FakeDeepSeek(talker)
    async with serve(vendor) as url:
        session_id, _ = await ready(workspace, url)
        async with client(workspace) as page:
            await page.ask("subscribe", session_id, since=0)
            for word in "abcdefgh":
                sent = await page.ask("send", session_id, client_id=word, text=f"{word}, please")
                await page.done(sent["data"]["run_id"])
        vendor.rate = 50

        async def begin(page: Client) -> None:
            told = await page.ask("compact", session_id, client_id="compact")
            assert told["type"] == "ack", told

        await _killed_when(workspace, session_id, begin, "compaction_start")
        vendor.rate = None
        async with http(workspace) as web, client(workspace) as page:
            await quiet(web, session_id)
            await page.ask("subscribe", session_id, since=0)
            sent = await page.ask("send", session_id, client_id="after", text="And now?")
            assert (await page.done(sent["data"]["run_id"]))["status"] == "completed"
            kept = (await web("GET", f"/sessions/{session_id}/messages"))["messages"]
            assert [m["role"] for m in kept] == ["user", "assistant"] * 9
            assert {m["content"] for m in kept if m["role"] == "assistant"} == {TEXT * 5}
        assert vendor.refusals == []
