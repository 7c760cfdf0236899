"""A process that runs turns until it is killed: `tests.engine.kill_child PLACE FOLDER SESSIONS`.

Prints a line for every fact a client was sent: `session n`.
"""

import asyncio
import sys
from pathlib import Path

import msgspec

from silu.engine import Hub, LocalEngine
from silu.store import NewSession, Store
from tests.engine.story import Story


async def main(place: str, folder: Path, count: int) -> None:
    store = await Store.open(place, blobs=folder / "blobs", backups=folder / "backups")
    hub = Hub(store)
    client = hub.client()
    engine = LocalEngine(store, hub, execute=Story(folder), most_stalls=1000)
    known = [item.id for item in (await store.list_sessions()).sessions]
    while len(known) < count:
        known.append((await store.create_session(NewSession(model="demo/m"))).item.id)
    for session in known:
        await client.subscribe(session, since=(await store.session(session)).item.head)
    print("ready", flush=True)
    await engine.start()
    keeper = asyncio.create_task(keep_busy(engine, known))
    while outs := await client.take():
        for out in outs:
            if out.n is not None:
                print(msgspec.json.decode(out.data)["session_id"], out.n, flush=True)
    await keeper


async def keep_busy(engine: LocalEngine, sessions: list[str]) -> None:
    while True:
        for session in sessions:
            if not await engine.list(session):
                await engine.send(session, "go on")
        await asyncio.sleep(0.02)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
