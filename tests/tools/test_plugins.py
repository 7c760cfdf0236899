"""Tools of installed packages: what an entry point may name, and what a bad one leads to."""

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from silu.tools import ToolContext, read_arguments
from silu.tools.plugins import GROUP, load_plugins
from silu.types.errors import ToolError

MODULE = '''
from dataclasses import replace

from silu.tools import Tool, ToolContext, ToolOutput
from silu.tools.functions import tool
from silu.types.errors import UserError

@tool(effects=["read"])
def weigh(grams: int) -> str:
    """Say the weight."""
    return f"{grams} g"

@tool
def pour(litres: float) -> str:
    """Pour it."""
    return "poured"

def both() -> list[Tool]:
    return [weigh, pour]

def broken() -> Tool:
    raise ZeroDivisionError("sk-secret")

def unset() -> Tool:
    raise UserError("Set KITCHEN_URL.", code="bad_config")

def breaks(*args):
    raise KeyError("secret")

async def breaks_later(args, context):
    breaks()

brittle = replace(
    weigh, check=breaks, proves_read_only=breaks, preview=breaks_later, prepare=breaks_later
)

nothing = 7
'''


@pytest.fixture
def kitchen(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "kitchen_tools.py").write_text(MODULE)
    sys.path.insert(0, str(tmp_path))
    try:
        yield
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("kitchen_tools", None)


def point(name: str, place: str | None = None) -> EntryPoint:
    return EntryPoint(name=name, value=f"kitchen_tools:{place or name}", group=GROUP)


@pytest.mark.usefixtures("kitchen")
def test_an_entry_point_names_a_tool_or_a_function_that_gives_several() -> None:
    assert [tool.name for tool in load_plugins([point("weigh")]).tools] == ["weigh"]
    found = load_plugins([point("both")])
    assert [tool.name for tool in found.tools] == ["weigh", "pour"]
    assert {tool.source for tool in found.tools} == {"package:both"}
    assert found.problems == ()


@pytest.mark.usefixtures("kitchen")
def test_a_package_that_fails_is_reported_without_its_values_and_the_others_work() -> None:
    points = [point(name) for name in ("broken", "missing", "nothing", "unset", "weigh")]
    found = load_plugins(points)
    assert [tool.name for tool in found.tools] == ["weigh"]
    assert len(found.problems) == 4
    told = " ".join(found.problems)
    assert "ZeroDivisionError" in told
    assert "sk-secret" not in told
    assert "Set KITCHEN_URL." in told


@pytest.mark.usefixtures("kitchen")
def test_a_second_tool_of_a_name_is_left_out_and_reported() -> None:
    found = load_plugins([point("both"), point("weigh")])
    assert [tool.name for tool in found.tools] == ["weigh", "pour"]
    assert "second tool 'weigh'" in found.problems[0]


@pytest.mark.usefixtures("kitchen")
def test_an_installed_package_is_found_by_its_entry_point(tmp_path: Path) -> None:
    info = tmp_path / "kitchen_tools-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kitchen-tools\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nall = kitchen_tools:both\n")
    found = load_plugins()
    assert [(tool.name, tool.source) for tool in found.tools] == [
        ("weigh", "package:kitchen-tools"),
        ("pour", "package:kitchen-tools"),
    ]


@pytest.mark.anyio
@pytest.mark.usefixtures("kitchen")
async def test_a_tools_own_checks_that_break_refuse_the_call_and_prove_nothing() -> None:
    (brittle,) = load_plugins([point("brittle")]).tools
    with pytest.raises(ToolError, match=r"internal error \(KeyError\)"):
        read_arguments(brittle, '{"grams": 1}')
    assert brittle.proves_read_only is not None
    assert not brittle.proves_read_only({})
    assert brittle.preview is not None
    with pytest.raises(ToolError, match="internal error") as told:
        await brittle.preview({}, ToolContext(workspace=Path()))
    assert "secret" not in str(told.value)


def test_without_such_packages_there_is_nothing() -> None:
    assert load_plugins().problems == ()
