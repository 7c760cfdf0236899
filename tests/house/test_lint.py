"""Form and types: the rules are in pyproject.toml, here they are only run."""

import pytest

from tests.house.tree import run


def test_ruff_finds_nothing_to_say() -> None:
    run("ruff", "check", "--quiet", ".")


def test_every_file_is_formatted() -> None:
    run("ruff", "format", "--check", "--quiet", ".")


@pytest.mark.slow_rule
def test_pyright_strict_finds_no_error_in_src() -> None:
    run("pyright", "--warnings")
