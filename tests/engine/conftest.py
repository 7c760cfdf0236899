"""A workspace for each test, and the databases of the store's tests."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "store")]

from databases import cluster, place  # noqa: E402 - found by the line above
from workspace import House  # noqa: E402

__all__ = ["cluster", "place"]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    made = House(tmp_path)
    await made.open()
    yield made
    await made.close()
