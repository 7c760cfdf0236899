"""The wired house, without a server: services over one data folder."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from silu.app import App
from silu.config import Endpoint, EndpointFile, Paths
from silu.fakes import FakeDeepSeek, answer, play, serve
from silu.fakes.script import Think
from silu.types import api
from silu.types import frames as f
from silu.types.errors import UserError
from tests.gateway.house import clean_env

pytestmark = pytest.mark.anyio

MODEL = "deepseek-v4-flash"
REF = f"near/{MODEL}"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    opened = await App.open(clean_env(tmp_path))
    yield opened
    await opened.close(grace=0.1)


def cid() -> str:
    return uuid.uuid4().hex


async def test_a_folder_has_one_owner_and_is_free_again_after_the_end(
    app: App, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as owned:
        await App.open(clean_env(tmp_path))
    assert owned.value.code == "owned"
    await app.close()
    again = await App.open(clean_env(tmp_path))
    await again.close()


async def test_a_failed_opening_leaves_nothing_locked(tmp_path: Path) -> None:
    (tmp_path / "silu.db").write_bytes(b"this is no database " * 100)
    for _ in range(2):
        with pytest.raises(UserError) as wrong:
            await App.open(clean_env(tmp_path))
        assert wrong.value.code != "owned"


async def test_without_anything_the_demo_is_the_model(app: App) -> None:
    models = await app.models()
    assert models.demo_only
    assert models.default.startswith("demo/")
    session = await app.create_session(api.SessionCreate())
    assert session.model == models.default
    assert session.level.effective in {"off", "low", "medium", "high"}
    folder = Path(session.workspace)
    assert folder.is_relative_to(app.settings.paths.data)
    assert await asyncio.to_thread(folder.is_dir)


async def test_what_is_not_known_is_refused_before_anything_is_kept(app: App) -> None:
    wishes: list[dict[str, Any]] = [
        {"model": "no/model"},
        {"level": "enormous"},
        {"workspace": "/no/such/folder"},
        {"workspace": "/etc"},
        {"workspace": str(app.settings.paths.data)},
        {"workspace": str(app.settings.paths.data.parent)},
    ]
    for wish in wishes:
        with pytest.raises(UserError):
            await app.create_session(api.SessionCreate(**wish))
    assert (await app.list_sessions()).sessions == []


async def test_attachments_must_be_kept_before(app: App) -> None:
    session = await app.create_session(api.SessionCreate())
    ref = await app.put_blob(b"png", media_type="image/png", name=None)
    for part in (
        {"type": "text", "text": "x"},
        {"type": "image", "media_type": "image/png", "data": "QUJD"},
        {"type": "image"},
        {"type": "nonsense"},
    ):
        with pytest.raises(UserError):
            await app.send(session.id, f.Send(client_id=cid(), text="", parts=[part]))
    with pytest.raises(UserError):
        await app.send(session.id, f.Send(client_id=cid(), text="  "))
    blob = {"sha256": ref.sha256, "size": ref.size, "media_type": ref.media_type}
    image = {"type": "image", "media_type": "image/png", "blob": blob}
    sent = await app.send(session.id, f.Send(client_id=cid(), text="Look", parts=[image]))
    assert sent.run_id
    await app.cancel(session.id, f.Cancel(client_id=cid()))


async def test_a_removed_endpoint_is_told_beside_the_level(app: App) -> None:
    await app.add_endpoint(
        api.EndpointCreate(name="mine", url="http://127.0.0.1:1/v1", models=["m"], key="k" * 20)
    )
    session = await app.create_session(api.SessionCreate(model="mine/m", level="low"))
    await app.remove_endpoint("mine")
    assert app.settings.keys.get("mine") is None
    view = await app.session(session.id)
    assert view.level.effective == "unset"
    assert "mine" in view.level.notes[0]


async def test_words_for_a_running_turn_reach_its_next_call(tmp_path: Path) -> None:
    vendor = FakeDeepSeek(
        play(answer(Think("Slow. " * 400), "First."), answer(Think("b"), "Second.")), rate=300
    )
    async with serve(vendor) as url:
        paths = Paths.under(tmp_path)
        paths.config.mkdir(parents=True)
        EndpointFile(paths.endpoints_file).put(
            Endpoint(name="near", url=url, like="deepseek", key_env="NEAR_KEY", models=(MODEL,))
        )
        app = await App.open(clean_env(tmp_path, NEAR_KEY="test-key"))
        session = await app.create_session(api.SessionCreate(model=REF))
        steer = f.Steer(client_id=cid(), text="Use metric units.")
        assert not await app.steer(session.id, steer)
        sent = await app.send(session.id, f.Send(client_id=cid(), text="Hello"))
        async with asyncio.timeout(10):
            while not vendor.bodies:  # noqa: ASYNC110 - the fake tells nobody when it is asked
                await asyncio.sleep(0.01)
        assert await app.steer(session.id, f.Steer(client_id=cid(), text="Use metric units."))
        await app.engine.wait(sent.run_id)
        page = await app.messages(session.id)
        await app.close()
    assert "Use metric units." in str(vendor.bodies[-1])
    assert page.messages[-1].content == "Second."


async def test_a_folder_can_be_chosen_until_a_tool_has_used_it(app: App, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "inner").mkdir(parents=True)
    await app.patch_settings(api.SettingsPatch(workspace_roots=[str(root)]))
    session = await app.create_session(api.SessionCreate())
    changed = await app.patch_session(
        session.id, api.SessionPatch(workspace=str(root / "inner"), title="Moved")
    )
    assert changed.workspace == str((root / "inner").resolve())
    assert changed.title == "Moved"
    sent = await app.send(session.id, f.Send(client_id=cid(), text="Hello"))
    await app.engine.wait(sent.run_id)
    assert (await app.session(session.id)).workspace_locked
    with pytest.raises(UserError) as locked:
        await app.patch_session(session.id, api.SessionPatch(workspace=str(root)))
    assert locked.value.code == "workspace_locked"


async def test_a_workspace_that_stops_is_not_ready_for_a_turn(app: App) -> None:
    assert (await app.ready()).ready
    await app.engine.stop(grace=0.1)
    told = await app.ready()
    assert (told.ready, told.checks["engine"]) == (False, "stopping")
