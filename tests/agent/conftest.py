"""Benches for whole turns."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agent.bench import DIALECTS, Bench, bench


@pytest.fixture(params=DIALECTS, ids=[d[0] for d in DIALECTS])
async def b(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    """Each dialect's strict vendor."""
    dialect, like, model, fake = request.param
    async with bench(fake(), tmp_path, like=like, dialect=dialect, model=model) as made:
        yield made


@pytest.fixture
async def one(tmp_path: Path) -> AsyncIterator[Bench]:
    """For what does not depend on the dialect."""
    dialect, like, model, fake = DIALECTS[0]
    async with bench(fake(), tmp_path, like=like, dialect=dialect, model=model) as made:
        yield made
