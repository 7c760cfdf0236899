"""Workspaces for the tests: one on the demo vendor for all, others for one test each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.house import Workspace, ended


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A running workspace with nothing but the demo."""
    with ended(Workspace(tmp_path_factory.mktemp("demo")).start()) as workspace:
        yield workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace that the test starts itself."""
    with ended(Workspace(tmp_path)) as made:
        yield made
