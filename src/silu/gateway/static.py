"""The web app's files: read from the package, cached by name, never from outside the folder."""

import mimetypes
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import msgspec

ROOT = Path(__file__).with_name("static")

_HASHED_FOLDER = "assets/"
"""The build names files in here by their content, so that they never change."""

_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
    ".map": "application/json",
}

_ABSENT = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>silu</title>
<h1>silu is running</h1>
<p>The web workspace has not been built into this installation.
In a checkout, <code>make run</code> (or <code>npm ci</code> and <code>npm run build</code> in
<code>web/</code>) builds it; then load this page again.</p>
<p>The interface for programs works as it is: <code>/api/v1/openapi.json</code>,
<code>/api/v1/protocol.json</code>.</p>
</html>
"""


class Page(msgspec.Struct, frozen=True):
    """A file as it goes out."""

    body: bytes
    media_type: str
    etag: str
    cache: str
    encoding: str | None = None

    @property
    def is_html(self) -> bool:
        return self.media_type.startswith("text/html")


def find(path: str, *, root: Path = ROOT, gzip: bool = False) -> Page | None:
    """The file for a URL path. Paths without a dot are the app's own routes: its first page.

    `None` when there is no such file. A build-time `.gz` twin is used where the client takes it.
    """
    name = path.lstrip("/")
    is_route = "." not in name.rpartition("/")[2]
    if is_route:
        name = "index.html"
    file = _inside(root, name)
    if file is None or not file.is_file():
        return _page_when_absent(root) if is_route else None
    media_type = _TYPES.get(file.suffix) or mimetypes.guess_type(name)[0]
    twin = file.with_name(f"{file.name}.gz")
    zipped = gzip and twin.is_file()
    stamp = (twin if zipped else file).stat().st_mtime_ns
    body, etag = _read(twin if zipped else file, stamp)
    return Page(
        body=body,
        media_type=media_type or "application/octet-stream",
        etag=etag,
        cache=_cache(name),
        encoding="gzip" if zipped else None,
    )


def _inside(root: Path, name: str) -> Path | None:
    """The named file when it really lies below `root`, links and dots followed."""
    if "\0" in name or "\\" in name:
        return None
    try:
        file = (root / name).resolve()
    except (OSError, ValueError):
        return None
    return file if file.is_relative_to(root.resolve()) else None


def _cache(name: str) -> str:
    if name.startswith(_HASHED_FOLDER):
        return "public, max-age=31536000, immutable"
    return "no-cache"


@lru_cache(maxsize=256)
def _read(file: Path, stamp: int) -> tuple[bytes, str]:
    """Body and ETag; `stamp` (the file's time) makes a rebuilt file a new entry."""
    body = file.read_bytes()
    return body, f'"{sha256(body).hexdigest()[:32]}"'


def _page_when_absent(root: Path) -> Page | None:
    if (root / "index.html").is_file():
        return None
    etag = f'"{sha256(_ABSENT).hexdigest()[:32]}"'
    return Page(_ABSENT, "text/html; charset=utf-8", etag, "no-store")
