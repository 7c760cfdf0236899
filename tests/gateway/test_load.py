"""Clients that are slow, hostile or many harm nobody else, and memory stays flat."""

import asyncio
import json
import os
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect

from silu.config import Endpoint
from silu.fakes import FakeDeepSeek, answer, serve
from silu.fakes.script import Think
from silu.types.frames import COMMANDS
from tests.gateway.house import TOKEN, Client, Workspace, client, http

pytestmark = pytest.mark.anyio

MODEL = "deepseek-v4-flash"
REF = f"near/{MODEL}"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def near(url: str) -> Endpoint:
    return Endpoint(name="near", url=url, like="deepseek", key_env="NEAR_KEY", models=(MODEL,))


def memory(workspace: Workspace) -> int:
    """Resident bytes of the server."""
    assert workspace.process is not None
    pages = Path(f"/proc/{workspace.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


async def say_hello(page: Client, session_id: str) -> None:
    """One turn, read to its end."""
    await page.ask("subscribe", session_id, since=0)
    ack = await page.ask("send", session_id, client_id=uuid.uuid4().hex, text="Hello")
    done = await page.done(ack["data"]["run_id"], seconds=60)
    assert done["status"] == "completed"


async def test_a_client_that_does_not_read_holds_up_nobody_and_catches_up(
    workspace: Workspace,
) -> None:
    text = "".join(f"{n:07d} words that are many " for n in range(400_000))
    async with serve(FakeDeepSeek(lambda _: answer(text, step=20_000))) as url:
        workspace.add_endpoint(near(url))
        workspace.start()
        async with (
            http(workspace) as web,
            client(workspace) as quick,
            connect(
                workspace.ws_url, additional_headers=BEARER, max_queue=1, max_size=None
            ) as slow_socket,
        ):
            # An answer of this size has many copies for a moment, and the allocator keeps the
            # room: what counts is how much more it is when somebody does not read.
            await say_hello(quick, await web.new_session(model=REF))
            quick.frames.clear()
            quick.blocks.clear()
            before = memory(workspace)
            session_id = await web.new_session(model=REF)
            subscribe = {"type": "subscribe", "frame_id": "s", "session_id": session_id, "data": {}}
            await slow_socket.send(json.dumps(subscribe))
            await say_hello(quick, session_id)
            assert quick.text("content") == text
            assert memory(workspace) - before < 6 * len(text)
            slow = Client(slow_socket)
            await slow.until(
                lambda: (
                    slow.of("done")
                    or [s for s in slow.of("snapshot") if not s["data"]["is_running"]]
                ),
                seconds=60,
            )
            page = await web("GET", f"/sessions/{session_id}/messages")
            assert page["messages"][-1]["content"] == text


def hostile(rng: random.Random, session_id: str) -> Iterator[str | bytes]:
    """Frames that are nearly right, and some that are not at all."""
    words: list[Any] = [None, True, 0, -1, 2**63, 1e308, "", "x", "\u0000", "𝄞" * 50, [], {}, [[]]]
    fields = ["client_id", "text", "level", "mode", "model", "since", "blocks", "message_id"]
    fields += ["todos", "list", "parts", "run_id", "approval_id", "decision", "queue", "\ud800"]
    while True:
        kind = rng.choice([*COMMANDS, "nonsense", ""])
        data = {name: rng.choice([*words, session_id]) for name in rng.sample(fields, 5)}
        frame = {"type": kind, "frame_id": str(rng.random()), "data": data}
        frame["session_id"] = rng.choice([session_id, "none", None, 5, {}])
        text = json.dumps(frame)
        match rng.randrange(8):
            case 0:
                yield text[: rng.randrange(len(text))]
            case 1:
                yield text.encode()
            case 2:
                at = rng.randrange(len(text))
                yield text[:at] + rng.choice('{}[]",:\\0') + text[at + 1 :]
            case _:
                yield text


@pytest.mark.parametrize(
    "frames", [300, pytest.param(20_000, marks=pytest.mark.long)], ids=["short", "long"]
)
async def test_random_frames_break_nothing_and_memory_stays_flat(
    workspace: Workspace, frames: int
) -> None:
    workspace.start()
    async with http(workspace) as web, client(workspace) as page:
        session_id = await web.new_session()
        rng = random.Random(20261130)
        stream = hostile(rng, session_id)
        before = 0
        for number in range(frames):
            await page.socket.send(next(stream))
            if number % 50 == 49:
                assert (await page.ask("ping"))["type"] == "ack"
                page.frames.clear()
            if number == frames // 2:
                before = memory(workspace)
        assert memory(workspace) - before < 40_000_000
        assert (await web("GET", f"/sessions/{session_id}"))["id"] == session_id
    assert "unforeseen" not in workspace.stderr(), workspace.stderr()
    assert "Traceback" not in workspace.stderr(), workspace.stderr()


async def test_a_client_that_never_reads_its_answers_is_not_answered_without_end(
    demo: Workspace,
) -> None:
    before = memory(demo)
    async with connect(
        demo.ws_url, additional_headers=BEARER, max_queue=1, close_timeout=0.1
    ) as deaf:
        ping = json.dumps({"type": "ping", "frame_id": "x" * 200, "pad": "y" * 5_000, "data": {}})

        async def shout() -> None:
            while True:
                await deaf.send(ping)

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(shout(), 3)
        assert memory(demo) - before < 60_000_000
        async with client(demo) as page:
            assert (await page.ask("ping"))["type"] == "ack"
        deaf.transport.abort()


@pytest.mark.parametrize(
    ("sessions", "seconds"),
    [(20, 2), pytest.param(200, 10, marks=pytest.mark.long)],
    ids=["short", "long"],
)
async def test_many_streams_at_once_lose_and_reorder_nothing(
    workspace: Workspace, sessions: int, seconds: int
) -> None:
    deltas = 50 * seconds
    text = "".join(f"{n:09d} " for n in range(deltas))
    async with serve(FakeDeepSeek(lambda _: answer(Think(text), "Done.", step=10), rate=50)) as url:
        workspace.add_endpoint(near(url))
        workspace.start()
        async with http(workspace) as web, client(workspace) as one, client(workspace) as two:
            runs: dict[str, str] = {}
            for number in range(sessions):
                session_id = await web.new_session(model=REF)
                page = one if number % 2 else two
                await page.ask("subscribe", session_id, since=0)
                ack = await page.ask("send", session_id, client_id=uuid.uuid4().hex, text="Go")
                runs[ack["data"]["run_id"]] = session_id
            for number, run_id in enumerate(runs):
                page = one if number % 2 else two
                done = await page.done(run_id, seconds=60 + 10 * seconds)
                assert done["status"] == "completed"
            thoughts = [
                text
                for page in (one, two)
                for key, text in page.blocks.items()
                if page.kinds[key] == "thinking"
            ]
            assert thoughts == [text] * sessions
