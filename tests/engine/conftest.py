"""A workspace for each test, and the databases of the store's tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.workspace import House
from tests.store.databases import cluster, place

__all__ = ["cluster", "place"]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path)
    await made.open()
    yield made
    await made.close()
