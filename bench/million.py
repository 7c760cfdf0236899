"""Searching one million messages. The database is built once, under build/bench, and kept."""

import asyncio
import itertools
import random
import time
from collections.abc import Iterator
from pathlib import Path

from bench import house, measure
from bench.processes import ROOT
from silu.store import Store, messages, search
from silu.store.api import NewSession
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.parts import Message, Part, TextPart, ThinkingPart

COUNT = 1_000_000
A_SESSION = 1_000
A_JOB = 500
PLACE = ROOT / "build" / "bench" / "million"

_CHINESE = "思路如水长流不断前行灯火雨夜无人问起谁点亮它山高月小云深何处是归途"
_SEED = 20261201


def vocabulary(rng: random.Random) -> list[str]:
    """Words by rank: a few are everywhere, most are rare."""
    letters = "abcdefghijklmnoprstuvw"
    return ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(30_000)]


def texts(rng: random.Random, words: list[str]) -> Iterator[str]:
    """Sentences of a dozen words or so, every eighth of them Chinese."""
    while True:
        if rng.random() < 0.125:
            yield "".join(rng.choices(_CHINESE, k=rng.randint(8, 30)))
            continue
        # Zipf's law, about: the rank is drawn evenly on a logarithmic scale.
        ranks = (int(len(words) ** rng.random()) - 1 for _ in range(rng.randint(6, 18)))
        yield " ".join(words[rank] for rank in ranks)


def message(number: int, said: Iterator[str]) -> Message:
    parts: list[Part] = [TextPart(id="t", text=next(said))]
    if number % 4 == 3:
        parts.insert(0, ThinkingPart(id="h", text=next(said)))
    return Message(id=new_id("m"), role="assistant" if number % 2 else "user", parts=parts)


async def build(place: Path, count: int, said: Iterator[str]) -> None:
    """Through the store's own doors, so that it is what years of use would leave."""
    store = await Store.open(place / "silu.db")
    # A new store looks once for messages without an index; what is written meanwhile it would
    # index twice.
    await asyncio.sleep(0.5)
    try:
        for first in range(0, count, A_SESSION):
            session = await store.create_session(NewSession(workspace="/"))
            for start in range(first, min(first + A_SESSION, count), A_JOB):
                batch = [message(n, said) for n in range(start, min(start + A_JOB, count))]

                def work(
                    tx: Tx, batch: list[Message] = batch, session_id: str = session.item.id
                ) -> None:
                    for one in batch:
                        messages.put(tx, session_id, one)
                    while search.catch_up(tx, most=A_JOB):
                        pass

                await store.write(work)
            if first % 50_000 == 0:
                measure.say(f"built {first} of {count}")
    finally:
        await store.close()


async def main(*, times: int, tiny: bool) -> None:
    count, place = (2_000, house.home()) if tiny else (COUNT, PLACE)
    rng = random.Random(_SEED)
    words = vocabulary(rng)
    if not (place / "ready").exists():
        place.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        await build(place, count, texts(rng, words))
        (place / "ready").touch()
        measure.say(f"built in {time.monotonic() - began:.0f} s")
    store = await Store.open(place / "silu.db")
    try:
        await _ask(store, words, times=times, count=count)
    finally:
        await store.close()


async def _ask(store: Store, words: list[str], *, times: int, count: int) -> None:
    queries = {
        "the commonest word": words[0],
        "a common word": words[60],
        "a rare word": words[-5],
        "two common words": f"{words[0]} {words[3]}",
        "a common and a rare word": f"{words[0]} {words[9000]}",
        "the beginning of a word": words[200][:3],
        "two Chinese characters": "灯火",
        "a Chinese phrase": "灯火雨",
        "nothing that occurs": "zzyzx",
    }
    measure.title(f"    search in {count} messages, the slowest of the medians counts")
    slowest = 0.0
    for what, query in queries.items():
        waits: list[float] = []
        found = 0
        for _ in itertools.repeat(None, 4 * times):
            at = time.perf_counter()
            found = len(await store.search(query))
            waits.append(time.perf_counter() - at)
        waited = measure.median(waits) * 1e3
        slowest = max(slowest, waited)
        measure.print_rows([measure.Row(f"{what} ({found} hits)", waited, "ms")])
    measure.print_rows([measure.Row("slowest", slowest, "ms", None, 100.0)])
