"""The workspace tools through their public face: what a model sends, what it reads."""

import asyncio
import io
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silu.tools import Tool, ToolContext, workspace_tools
from silu.tools.search_files import search_tool
from silu.types.errors import ToolError

pytestmark = pytest.mark.anyio


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").write_text("import os\n\n\ndef main():\n    return os.name\n")
    (root / "src" / "util.py").write_text("VALUE = 1\n")
    (root / "readme.md").write_text("# Title\nmain text\n")
    (root / ".gitignore").write_text("*.log\nbuild/\n!keep.log\n/top.txt\n")
    (root / "noise.log").write_text("main\n")
    (root / "keep.log").write_text("main\n")
    (root / "top.txt").write_text("main\n")
    (root / "src" / "top.txt").write_text("main\n")
    (root / "build").mkdir()
    (root / "build" / "out.py").write_text("def main(): ...\n")
    (root / "node_modules" / "x").mkdir(parents=True)
    (root / "node_modules" / "x" / "index.js").write_text("main\n")
    (tmp_path / "secret.txt").write_text("secret main\n")
    return root


async def use(name: str, workspace: Path, **args: Any) -> str:
    tool = workspace_tools().find(name)
    return (await tool.run(args, ToolContext(workspace=workspace))).text


# ----------------------------------------------------------------------------- read_file


async def test_lines_come_numbered_with_the_range_in_the_head(workspace: Path) -> None:
    text = await use("read_file", workspace, path="src/app.py")
    assert text.splitlines()[0] == "src/app.py, lines 1-5 of 5"
    assert text.splitlines()[4] == "     4\tdef main():"


async def test_a_range_says_how_to_read_on(workspace: Path) -> None:
    text = await use("read_file", workspace, path="src/app.py", start_line=2, max_lines=2)
    assert "lines 2-3 of 5" in text
    assert text.endswith("[2 more lines; read on with start_line 4]")


async def test_a_start_behind_the_end_is_an_error_that_tells_the_length(workspace: Path) -> None:
    with pytest.raises(ToolError, match="has 5 lines"):
        await use("read_file", workspace, path="src/app.py", start_line=9)


async def test_a_long_file_and_a_long_line_are_cut_and_counted(workspace: Path) -> None:
    (workspace / "long.txt").write_text("\n".join("x" * 100 for _ in range(3_000)))
    (workspace / "wide.txt").write_text("y" * 300_000 + "\nend")
    text = await use("read_file", workspace, path="long.txt")
    assert len(text) < 26_000
    assert "of 3000" in text
    wide = await use("read_file", workspace, path="wide.txt")
    assert "(line of 300000 characters; start_char 2001 reads on)" in wide
    assert wide.endswith("     2\tend")


async def test_a_long_line_is_read_on_from_a_character(workspace: Path) -> None:
    (workspace / "wide.txt").write_text(f"one\n{'y' * 70_000}ß{'z' * 40_000}\nend")
    text = await use("read_file", workspace, path="wide.txt", start_line=2, start_char=70_000)
    head, body, note = text.split("\n")
    assert head == "wide.txt, line 2, characters 70000-93999 of 110001"
    assert body.startswith("yßzz")
    assert note == "[read on with start_line 2, start_char 94000]"
    rest = await use("read_file", workspace, path="wide.txt", start_line=2, start_char=109_000)
    assert rest.endswith("z" * 1_002)
    with pytest.raises(ToolError, match="has no line 4"):
        await use("read_file", workspace, path="wide.txt", start_line=4, start_char=1)
    with pytest.raises(ToolError, match=r"line 3 of wide\.txt has 3 characters"):
        await use("read_file", workspace, path="wide.txt", start_line=3, start_char=4)
    (workspace / "u16.txt").write_bytes("a\n思路".encode("utf-16"))
    wide = await use("read_file", workspace, path="u16.txt", start_line=2, start_char=2)
    assert wide.endswith("\n路")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "PNG image"),
        (b"PK\x03\x04\0\0", "Office"),
        (b"%PDF-1.7 text", "PDF"),
        (b"a\0b", "binary file, 3 bytes"),
    ],
)
async def test_a_binary_file_is_named_and_not_shown(
    workspace: Path, data: bytes, word: str
) -> None:
    (workspace / "thing").write_bytes(data)
    for args in ({}, {"start_char": 1}):
        with pytest.raises(ToolError, match=word):
            await use("read_file", workspace, path="thing", **args)


async def test_other_encodings_are_read_as_text(workspace: Path) -> None:
    (workspace / "u16.txt").write_bytes("größe\n思路".encode("utf-16"))
    (workspace / "bom.txt").write_bytes(b"\xef\xbb\xbfhello")
    (workspace / "latin.txt").write_bytes("größe".encode("latin-1"))
    (workspace / "empty.txt").write_bytes(b"")
    assert "思路" in await use("read_file", workspace, path="u16.txt")
    assert "\thello" in await use("read_file", workspace, path="bom.txt")
    assert "gr" in await use("read_file", workspace, path="latin.txt")
    assert await use("read_file", workspace, path="empty.txt") == "empty.txt is empty"


async def test_a_kept_result_is_read_by_its_call_id(workspace: Path) -> None:
    async def kept(call_id: str) -> str | None:
        return "one\ntwo\nthree" if call_id == "call_7" else None

    tool = workspace_tools().find("read_file")
    context = ToolContext(workspace=workspace, read_result=kept)
    output = await tool.run({"path": "result:call_7", "start_line": 3}, context)
    assert "     3\tthree" in output.text
    with pytest.raises(ToolError, match="no kept result"):
        await tool.run({"path": "result:other"}, context)


# ------------------------------------------------------------------------------ the wall


@pytest.mark.parametrize("tool", ["read_file", "list_files", "search_files"])
@pytest.mark.parametrize("path", ["../secret.txt", "..", "/etc", "src/../../secret.txt", "out"])
async def test_nothing_outside_the_workspace_can_be_reached(
    workspace: Path, tool: str, path: str
) -> None:
    (workspace / "out").symlink_to(workspace.parent)
    args = {"path": path, **({"pattern": "secret"} if tool == "search_files" else {})}
    with pytest.raises(ToolError, match="outside the workspace"):
        await use(tool, workspace, **args)


async def test_a_link_to_a_file_outside_is_refused_and_one_inside_is_followed(
    workspace: Path,
) -> None:
    (workspace / "leak").symlink_to(workspace.parent / "secret.txt")
    (workspace / "alias").symlink_to("src/app.py")
    with pytest.raises(ToolError, match="outside"):
        await use("read_file", workspace, path="leak")
    assert "def main" in await use("read_file", workspace, path="alias")
    assert "secret" not in await use("search_files", workspace, pattern="secret")
    assert "leak (link)" in await use("list_files", workspace)


async def test_a_link_put_in_place_after_the_check_is_not_followed(workspace: Path) -> None:
    from silu.tools.paths import inside, open_inside

    relative = inside(workspace, "src/app.py")
    (workspace / "src").rename(workspace / "old")
    (workspace / "src").symlink_to(workspace.parent)
    (workspace.parent / "app.py").write_text("secret")
    with pytest.raises(ToolError):
        open_inside(workspace, relative)


async def test_pipes_folders_and_missing_files_are_errors_and_do_not_hang(workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    for path, word in [("pipe", "not a regular file"), ("src", "list_files"), ("no", "no such")]:
        with pytest.raises(ToolError, match=word):
            await use("read_file", workspace, path=path)
    with pytest.raises(ToolError, match="NUL"):
        await use("read_file", workspace, path="a\0b")


_piece = st.sampled_from(
    ["..", ".", "src", "out", "in", "/", "", "a b", "~", "leak", "\\", "app.py"]
)


@settings(max_examples=200, deadline=None)
@given(pieces=st.lists(_piece, max_size=6), absolute=st.booleans())
def test_no_spelling_of_a_path_leaves_the_workspace(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], absolute: bool
) -> None:
    from silu.tools.paths import inside

    top = tmp_path_factory.getbasetemp() / "wall"
    root = top / "work"
    if not root.exists():
        (root / "src").mkdir(parents=True)
        (root / "out").symlink_to(top)
        (root / "in").symlink_to(root / "src")
        (root / "leak").symlink_to("../../../etc/passwd")
    path = ("/" if absolute else "") + "/".join(pieces)
    try:
        relative = inside(root, path)
    except ToolError:
        return
    assert (root / relative).resolve().is_relative_to(root.resolve())
    assert ".." not in relative.parts


# ---------------------------------------------------------------------------- list_files


async def test_a_listing_leaves_out_what_gitignore_names(workspace: Path) -> None:
    names = [line.split(" ")[0] for line in (await use("list_files", workspace)).splitlines()]
    assert "src/" in names
    assert "src/app.py" in names
    assert "keep.log" in names
    assert "src/top.txt" in names
    assert not {"noise.log", "build/", "node_modules/", "top.txt"} & set(names)


async def test_ignored_files_come_when_asked_for(workspace: Path) -> None:
    text = await use("list_files", workspace, include_ignored=True)
    assert "noise.log" in text
    assert "node_modules/x/index.js" in text


async def test_depth_glob_and_start_narrow_a_listing(workspace: Path) -> None:
    assert "src/app.py" not in await use("list_files", workspace, depth=1)
    assert (
        await use("list_files", workspace, glob="*.py") == "src/app.py (43 B)\nsrc/util.py (10 B)"
    )
    assert await use("list_files", workspace, path="src", glob="u*") == "src/util.py (10 B)"
    assert "src/util.py" in await use("list_files", workspace, glob="src/**")
    assert await use("list_files", workspace, glob="*.rs") == ".: nothing found"
    with pytest.raises(ToolError, match="not a folder"):
        await use("list_files", workspace, path="readme.md")


async def test_a_long_listing_says_how_to_go_on(workspace: Path) -> None:
    many = workspace / "many"
    many.mkdir()
    for number in range(1_100):
        (many / f"{number:04}").touch()
    text = await use("list_files", workspace, path="many")
    assert text.endswith("[100 more entries; go on with skip 1000, or narrow]")
    assert (await use("list_files", workspace, path="many", skip=1_000)).startswith("many/1000")


@pytest.mark.parametrize(
    ("glob", "hit", "miss"),
    [
        ("*.{ts,js}", "a.js", "a.py"),
        ("[!a]*.py", "b.py", "a.py"),
        ("a?c", "abc", "a/c"),
        ("**/x", "d/e/x", "d/xy"),
        ("x/**", "x/y/z", "y/x"),
        ("\\*", "*", "a"),
        ("[", "[", "a"),
        ("{", "{", "a"),
    ],
)
def test_globs_mean_what_they_mean_elsewhere(glob: str, hit: str, miss: str) -> None:
    import re

    from silu.tools.ignore import glob_regex

    assert re.fullmatch(glob_regex(glob), hit)
    assert not re.fullmatch(glob_regex(glob), miss)


# -------------------------------------------------------------------------- search_files


@pytest.fixture(params=["ripgrep", "own"])
def search(request: pytest.FixtureRequest) -> Tool:
    import shutil

    program = shutil.which("rg")
    if request.param == "ripgrep" and program is None:
        pytest.skip("ripgrep is not installed")
    return search_tool(ripgrep=program if request.param == "ripgrep" else None)


async def find(tool: Tool, workspace: Path, **args: Any) -> list[str]:
    output = await tool.run(args, ToolContext(workspace=workspace))
    return output.text.splitlines()


async def test_hits_come_with_path_and_line(workspace: Path, search: Tool) -> None:
    hits = await find(search, workspace, pattern="main")
    assert "src/app.py:4:def main():" in hits
    assert "readme.md:2:main text" in hits
    assert not any("noise" in hit or "build/" in hit or "node_modules" in hit for hit in hits)


async def test_both_searches_take_the_same_options(workspace: Path, search: Tool) -> None:
    assert await find(search, workspace, pattern="TITLE", ignore_case=True) == [
        "readme.md:1:# Title"
    ]
    assert await find(search, workspace, pattern="main(", literal=True, path="src") == [
        "src/app.py:4:def main():"
    ]
    assert await find(search, workspace, pattern="main", files_only=True, glob="*.py") == [
        "src/app.py"
    ]
    assert await find(search, workspace, pattern="def", context=1, path="src/app.py") == [
        "src/app.py-3-",
        "src/app.py:4:def main():",
        "src/app.py-5-    return os.name",
    ]
    assert await find(search, workspace, pattern="nowhere") == ["no hits"]
    ignored = await find(search, workspace, pattern="main", include_ignored=True)
    assert "noise.log:1:main" in ignored


async def test_far_hits_are_parted_by_a_line(workspace: Path, search: Tool) -> None:
    (workspace / "far.txt").write_text("hit\na\nb\nc\nd\nhit\nhit\n")
    hits = await find(search, workspace, pattern="hit", context=1, path="far.txt")
    assert hits[2] == "--"
    assert hits[3:] == ["far.txt-5-d", "far.txt:6:hit", "far.txt:7:hit"]


async def test_a_bad_pattern_is_told_to_the_model(workspace: Path, search: Tool) -> None:
    with pytest.raises(ToolError, match="search failed"):
        await find(search, workspace, pattern="(")
    with pytest.raises(ToolError, match="not in the workspace"):
        await find(search, workspace, pattern="a", path="nowhere")


async def test_a_pattern_that_looks_like_an_option_stays_a_pattern(
    workspace: Path, search: Tool
) -> None:
    (workspace / "opt.txt").write_text("--pre=x\n")
    assert await find(search, workspace, pattern="--pre=x") == ["opt.txt:1:--pre=x"]


async def test_too_many_hits_are_stopped_and_said_so(workspace: Path, search: Tool) -> None:
    (workspace / "big.txt").write_text("hit hit hit hit hit hit\n" * 60_000)
    hits = await find(search, workspace, pattern="hit")
    assert hits[-1].startswith("[stopped: too many hits")


async def test_a_cancelled_search_leaves_no_process(workspace: Path) -> None:
    (workspace / "evil.txt").write_text("a" * 60 + "!\n")
    tool = search_tool(ripgrep=None)
    task = asyncio.ensure_future(find(tool, workspace, pattern="(a+)+$"))
    await asyncio.sleep(0.6)
    assert not task.done()
    before = asyncio.get_running_loop().time()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # The search itself would never end.
    assert asyncio.get_running_loop().time() - before < 5


async def test_a_listing_on_a_thread_stops_when_asked(workspace: Path) -> None:
    stop = threading.Event()
    stop.set()
    context = ToolContext(workspace=workspace, cancelled=stop.is_set)
    with pytest.raises(ToolError, match="stopped by the person"):
        await workspace_tools().find("list_files").run({}, context)


def test_our_own_search_reads_its_order_and_prints_hits(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from silu.tools import own_search

    (workspace / "data.bin").write_bytes(b"main\0")
    (workspace / "wide.txt").write_text("main " + "x" * 900)
    monkeypatch.chdir(workspace)
    orders = [
        (b'{"pattern": "main", "path": ".", "context": 1}', 0, "src/app.py:4:def main():"),
        (b'{"pattern": "MAIN", "path": "src", "ignore_case": true}', 0, "src/app.py:4:def main():"),
        (b'{"pattern": "main", "path": ".", "files_only": true}', 0, "src/app.py"),
        (b'{"pattern": "main", "path": "readme.md"}', 0, "readme.md:2:main text"),
        (b'{"pattern": "main", "path": ".", "glob": "*.txt"}', 0, "[line cut]"),
        (b'{"pattern": "nowhere(", "literal": true, "path": "."}', 1, ""),
        (b'{"pattern": "(", "path": "."}', 2, ""),
    ]
    for order, code, text in orders:
        stdin = io.TextIOWrapper(io.BytesIO(order))
        monkeypatch.setattr("sys.stdin", stdin)
        assert own_search.main() == code
        out = capsys.readouterr().out
        assert text in out
        assert "data.bin" not in out
