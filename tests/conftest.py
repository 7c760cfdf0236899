"""What every test may ask for."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, the only loop silu runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded vendor transcripts beside the checkout; skips where it is absent."""
    folder = ROOT.parent / "shared"
    if not (folder / "wire" / "index.json").is_file():
        pytest.skip("the recorded transcripts (../shared/wire) are not beside this checkout")
    return folder
