"""A new store for each test, on both databases."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from silu.store import Store
from tests.store.databases import cluster, place

__all__ = ["cluster", "place"]


@pytest.fixture
async def store(place: str, tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(place, blobs=tmp_path / "blobs", backups=tmp_path / "backups")
    yield opened
    await opened.close()
