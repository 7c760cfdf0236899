"""The web app's files: right types and caching, and nothing outside the folder."""

import gzip
from pathlib import Path

import pytest

from silu.gateway import static


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>silu</title>")
    (folder / "assets" / "app-1a2b.js").write_text("1")
    (folder / "assets" / "app-1a2b.js.gz").write_bytes(gzip.compress(b"1"))
    (folder / "icon.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


def test_every_route_of_the_app_is_its_first_page_never_kept(root: Path) -> None:
    for path in ("/", "/s/01ABC", "/settings"):
        page = static.find(path, root=root)
        assert page is not None
        assert page.is_html
        assert page.cache == "no-cache"


def test_built_files_are_kept_for_good(root: Path) -> None:
    page = static.find("/assets/app-1a2b.js", root=root)
    assert page is not None
    assert page.media_type.startswith("text/javascript")
    assert "immutable" in page.cache
    assert page.encoding is None


def test_a_compressed_twin_goes_to_who_takes_it(root: Path) -> None:
    page = static.find("/assets/app-1a2b.js", root=root, gzip=True)
    assert page is not None
    assert page.encoding == "gzip"
    assert gzip.decompress(page.body) == b"1"


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "//secret.txt/../../secret.txt",
        "/link.txt",
        "/..\\secret.txt",
        "/secret.txt\0.js",
        "/assets",
        "/assets/none.js",
        "/%2e%2e/secret.txt",
    ],
)
def test_nothing_outside_the_folder_is_served(root: Path, path: str) -> None:
    page = static.find(path, root=root)
    assert page is None or page.is_html
    assert page is None or b"secret" not in page.body


def test_a_rebuilt_page_is_seen_at_once(root: Path) -> None:
    before = static.find("/", root=root)
    (root / "index.html").write_text("<!doctype html><title>new</title>")
    after = static.find("/", root=root)
    assert before is not None
    assert after is not None
    assert before.etag != after.etag


def test_without_the_app_a_plain_page_says_how_to_build_it(tmp_path: Path) -> None:
    page = static.find("/", root=tmp_path / "nothing")
    assert page is not None
    assert b"make run" in page.body
    assert static.find("/assets/app.js", root=tmp_path / "nothing") is None
