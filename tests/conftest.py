"""What all tests share: the async backend and the way to the contract documents."""

from pathlib import Path

import pytest

_CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the checkout: recordings, judges, contract texts."""
    folder = _CHECKOUT.parent / "shared"
    if not (folder / "wire").is_dir():
        pytest.skip("the folder ../shared with the recordings is not beside this checkout")
    return folder
