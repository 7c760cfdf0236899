"""What a person gets who installs silu from a checkout."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.house.tree import ROOT, files

APP = "silu/gateway/static/index.html"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout as git would give it, without anything built."""
    copy = tmp_path / "checkout"
    for path in files():
        inside = path.relative_to(ROOT)
        if inside.parts[0] in {"src", "web", "scripts"} or len(inside.parts) == 1:
            (copy / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy / inside)
    return copy


def build(kind: str, checkout: Path, **environment: str) -> tuple[Path, str]:
    """Build with hatchling itself, as pip does; the archive and what was said."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind],
        cwd=checkout,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    (archive,) = (checkout / "dist").iterdir()
    return archive, done.stdout + done.stderr


def contents(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_a_wheel_holds_the_web_app_that_was_built(checkout: Path) -> None:
    (checkout / "web" / "package.json").write_text(
        '{"name": "a", "version": "1.0.0", "scripts": {"build": "node build.mjs"}}'
    )
    (checkout / "web" / "package-lock.json").write_text(
        '{"name": "a", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {}}}'
    )
    (checkout / "web" / "build.mjs").write_text(
        "import fs from 'node:fs'\n"
        "const to = '../src/silu/gateway/static'\n"
        "fs.mkdirSync(to + '/assets', { recursive: true })\n"
        "fs.writeFileSync(to + '/index.html', '<!doctype html>')\n"
        "fs.writeFileSync(to + '/assets/app.js', '')\n"
    )
    wheel, _ = build("wheel", checkout)
    assert {APP, "silu/gateway/static/assets/app.js", "silu/py.typed"} <= contents(wheel)


def test_a_wheel_without_the_web_app_is_whole_otherwise_and_says_why(checkout: Path) -> None:
    shutil.rmtree(checkout / "web")
    wheel, said = build("wheel", checkout)
    assert APP not in contents(wheel)
    assert "silu/cli/main.py" in contents(wheel)
    assert "The web app could not be built" in said
    assert "web/package.json" in said


def test_the_web_app_can_be_left_out_on_purpose(checkout: Path) -> None:
    wheel, said = build("wheel", checkout, SILU_BUILD_WEB="0")
    assert APP not in contents(wheel)
    assert "could not be built" not in said


def test_the_source_archive_holds_all_that_a_wheel_is_built_from(checkout: Path) -> None:
    archive, _ = build("sdist", checkout)
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    needed = {"hatch_build.py", "scripts/webapp.py", "web/package.json", "web/package-lock.json"}
    assert needed <= names
    assert {"LICENSE", "NOTICE", "README.md", "src/silu/types/parts.py"} <= names
    assert not any("node_modules" in name for name in names)
