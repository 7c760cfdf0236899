"""Docs are true: links lead somewhere, commands exist."""

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from silu.app.tools import SEARCH_KEYS
from silu.providers.vendors import vendors
from silu.types import facts, frames
from tests.house.tree import ROOT, SRC, files, show

LINK = re.compile(r"\]\(<?([^)\s>]+)>?[^)]*\)|<(?:img|source)[^>]*?(?:src|srcset)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6}\s+(.*)$", re.MULTILINE)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)

PAGES = [path for path in files(".md") if SRC not in path.parents]


def anchors(path: Path) -> set[str]:
    """The anchors a page's headings get: lower case, no punctuation, blanks to hyphens."""
    prose = FENCE.sub("", path.read_text())
    heads = [re.sub(r"[^\w\- ]", "", head.strip().lower()) for head in HEADING.findall(prose)]
    return {head.replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=show)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for found in LINK.finditer(FENCE.sub("", page.read_text())):
        target = found[1] or found[2]
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        place = (page.parent / name).resolve() if name else page
        assert place.exists(), f"{show(page)} links to {target}"
        if anchor:
            assert anchor in anchors(place), f"{show(page)} links to {target}"


@cache
def make_targets() -> set[str]:
    text = (ROOT / "Makefile").read_text()
    return set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE))


@cache
def help_of(*command: str) -> str:
    call = [Path(sys.executable).with_name("silu"), *command, "--help"]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"silu {' '.join(command)} --help: {done.stderr}"
    return done.stdout


def commands() -> list[tuple[str, str]]:
    """Every line of the pages' shell blocks that calls make or silu, with its page."""
    found: list[tuple[str, str]] = []
    for page in PAGES:
        for language, block in FENCE.findall(page.read_text()):
            if language not in {"sh", "bash", "console", ""}:
                continue
            lines = block.replace("\\\n", " ").splitlines()
            calls = (re.sub(r"^\$ |\s+#.*$", "", line.strip()) for line in lines)
            found += [
                (show(page), part.strip())
                for call in calls
                for part in re.split(r"\||&&|;", call)
                if re.match(r"(?:make|silu)\b", part.strip())
            ]
    return found


@pytest.mark.parametrize(("page", "line"), commands())
def test_every_command_of_a_page_exists(page: str, line: str) -> None:
    words = [w for w in shlex.split(re.split(r"[<>]", line)[0]) if w != "…"]
    if words[0] == "make":
        targets = [w for w in words[1:] if "=" not in w and not w.startswith("-")]
        assert set(targets) <= make_targets(), f"{page}: {line}"
        return
    subcommands: list[str] = []
    for word in words[1:]:
        if not re.fullmatch(r"[a-z]+", word) or word not in help_of(*subcommands):
            break
        subcommands.append(word)
        if subcommands[0] not in {"mcp", "wire"} or len(subcommands) == 2:
            break
    text = help_of(*subcommands)
    flags = [w.partition("=")[0] for w in words[1:] if w.startswith("--")]
    missing = [flag for flag in flags if flag not in text]
    assert not missing, f"{page}: `{line}`: no {', '.join(missing)}"


def test_every_key_variable_a_page_names_is_read() -> None:
    known = {name for vendor in vendors().values() for name in vendor.key_vars}
    known |= {name for names in SEARCH_KEYS.values() for name in names}
    for page in PAGES:
        named = set(re.findall(r"\b[A-Z][A-Z0-9]*_API_KEY\b", page.read_text()))
        assert named <= known, f"{show(page)}: {named - known}"


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md", "docs/agent.md"])
def test_the_python_of_a_page_runs_with_the_demo(page: str, tmp_path: Path) -> None:
    blocks = [
        code for language, code in FENCE.findall((ROOT / page).read_text()) if language == "python"
    ]
    assert blocks
    for code in blocks:
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "SILU_HOME": str(tmp_path), "SILU_DEMO_RATE": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout.strip()


def test_the_protocol_page_names_every_frame() -> None:
    text = (ROOT / "docs" / "protocol.md").read_text()
    named = set(re.findall(r"`([a-z_]+)`", text))
    wanted = {*facts.FACTS, *get_args(facts.DeltaType), *frames.COMMANDS}
    assert not wanted - named
