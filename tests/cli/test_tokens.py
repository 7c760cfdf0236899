"""`silu tokens`: made, listed without their text, and revoked."""

from pathlib import Path

import pytest

from silu.cli.main import main
from silu.config import Paths
from silu.config.tokens import TokenFile
from tests.gateway.house import clean_env


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in clean_env(tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


def silu(*args: str) -> int:
    return main(["tokens", *args])


def test_a_token_is_printed_once_listed_and_revoked(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert silu("list") == 0
    assert "There are no tokens" in capsys.readouterr().out
    assert silu("create", "editor", "--model", "near/*", "--per-minute", "5", "--days", "2") == 0
    text = capsys.readouterr().out.strip()
    found = TokenFile(Paths.under(home).tokens_file).find(text)
    assert found is not None
    assert (found.models, found.per_minute) == (["near/*"], 5)
    assert silu("list") == 0
    listed = capsys.readouterr().out
    assert found.id in listed
    assert text not in listed
    assert silu("revoke", found.id) == 0
    assert silu("revoke", found.id) == 2
    assert "silu tokens list" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [("--days", "0"), ("--per-minute", "-1")])
def test_a_number_out_of_range_is_told_with_its_option(
    wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert silu("create", "editor", *wrong) == 2
    assert wrong[0] in capsys.readouterr().err
