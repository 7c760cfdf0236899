"""SIGKILL at any moment: what was told is there, exact, once; runs go on in the next process."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from silu.store import Store
from silu.types.frames import MessageView
from tests.engine.story import STEPS, Story, text
from tests.engine.workspace import House
from tests.store.databases import Cluster

pytestmark = pytest.mark.anyio

_CHECKOUT = Path(__file__).resolve().parents[2]


class Victim:
    """The process that is killed; `told` is the newest fact each session's client was sent."""

    def __init__(self, place: str, folder: Path, sessions: int) -> None:
        self.told: dict[str, int] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.engine.kill_child", place, str(folder), str(sessions)],
            cwd=_CHECKOUT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line == "ready\n", self._process.stderr and self._process.stderr.read()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill_after(self, seconds: float) -> None:
        time.sleep(seconds)
        self._process.send_signal(signal.SIGKILL)
        out, err = self._process.communicate()
        assert not err, err
        for line in out.splitlines():
            words = line.split()
            if len(words) == 2 and words[1].isdigit():
                self.told[words[0]] = int(words[1])


async def check(store: Store, told: dict[str, int]) -> None:
    """What must hold in every moment between two processes."""
    for item in (await store.list_sessions()).sessions:
        facts = await store.facts(item.id, 0, limit=100_000)
        assert [fact.n for fact in facts] == list(range(1, item.head + 1))
        assert item.head >= told.get(item.id, 0), "a fact that was sent is gone"
        page = await store.messages(item.id, limit=10_000)
        assert len({m.id for m in page.messages}) == len(page.messages)
        for message in page.messages:
            if message.role == "assistant":
                _check_prefix(message)
        for block in (await store.snapshot(item.id)).blocks:
            kind = "thinking" if block.kind == "thinking" else "content"
            step = int(block.message_id.rpartition(".")[2])
            if block.kind != "tool_call":
                assert text(step, kind).startswith(block.text)


def _check_prefix(message: MessageView) -> None:
    step = int(message.id.rpartition(".")[2])
    assert text(step, "content").startswith(message.content)
    if message.thinking_content is not None:
        assert text(step, "thinking").startswith(message.thinking_content)


def check_whole(messages: list[MessageView]) -> None:
    for message in messages:
        if message.role != "assistant":
            continue
        step = int(message.id.rpartition(".")[2])
        assert "interrupted" not in message.metadata
        assert message.content == text(step, "content")
        if step < STEPS:
            assert message.thinking_content == text(step, "thinking")
            assert message.segments[-1].status in {"ok", "unknown"}


def check_tools(folder: Path, messages: list[MessageView]) -> None:
    """No tool ran twice, and one that was cut short is reported as unknown."""
    lines = (folder / "tools").read_text().splitlines()
    begun = Counter(line.removeprefix("begin ") for line in lines if line.startswith("begin"))
    ended = {line.removeprefix("end ") for line in lines if line.startswith("end")}
    assert set(begun.values()) <= {1}
    for message in messages:
        for segment in message.segments:
            if segment.type == "tool":
                name = f"{message.run_id} {segment.call_id}"
                if segment.status == "ok":
                    assert name in ended
                elif name in begun:
                    assert segment.status == "unknown"


async def _survive(place: str, folder: Path, *, kills: int, seed: int, sessions: int) -> None:
    dice = random.Random(seed)
    for _ in range(kills):
        victim = Victim(place, folder, sessions)
        victim.kill_after(dice.uniform(0.0, 0.35))
        store = await Store.open(place, blobs=folder / "blobs", backups=folder / "backups")
        await check(store, victim.told)
        await store.close()
    house = House(folder)
    house.turn = Story(folder, pause=0.0)
    await house.open(place)
    for run in await house.engine.list():
        await house.engine.wait(run.run_id)
    await check(house.store, {})
    for item in (await house.store.list_sessions()).sessions:
        messages = (await house.store.messages(item.id, limit=10_000)).messages
        assert not item.is_running
        check_whole(messages)
        check_tools(folder, messages)
        ends = [f for f in await house.store.facts(item.id, 0, limit=100_000) if f.type == "done"]
        statuses = {msgspec.json.decode(end.data)["status"] for end in ends}
        assert statuses <= {"completed"}
    await house.close()


async def test_twenty_kills_lose_nothing_on_sqlite(tmp_path: Path) -> None:
    await _survive(str(tmp_path / "silu.db"), tmp_path, kills=20, seed=1, sessions=3)


async def test_some_kills_lose_nothing_on_postgresql(cluster: Cluster, tmp_path: Path) -> None:
    await _survive(cluster.new_database(), tmp_path, kills=5, seed=2, sessions=3)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3, 7))
async def test_two_hundred_kills_lose_nothing(place: str, tmp_path: Path, seed: int) -> None:
    await _survive(place, tmp_path, kills=50, seed=seed, sessions=4)
