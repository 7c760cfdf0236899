"""A bare HTTP client for tests: what was sent is exactly what the test wrote."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Raw:
    status: int
    headers: dict[str, str]
    body: bytes
    complete: bool = True

    def json(self) -> Any:
        return json.loads(self.body)


async def post(url: str, body: Any, headers: dict[str, str] | None = None) -> Raw:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await request("POST", url, data, headers or {})


async def get(url: str, headers: dict[str, str] | None = None) -> Raw:
    return await request("GET", url, b"", headers or {})


async def request(method: str, url: str, data: bytes, headers: dict[str, str]) -> Raw:
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    target = where.path + (f"?{where.query}" if where.query else "")
    lines = [f"{method} {target} HTTP/1.1", f"host: {where.netloc}", "connection: close"]
    lines += [f"{k}: {v}" for k, v in headers.items()]
    lines += ["content-type: application/json", f"content-length: {len(data)}"]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
    await writer.drain()
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        found = {k.lower(): v.strip() for k, _, v in (r.partition(":") for r in rest) if k}
        body, complete = await _body(reader, found)
    finally:
        writer.close()
    return Raw(int(first.split()[1]), found, body, complete)


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> tuple[bytes, bool]:
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers["content-length"])), True
    got = b""
    while True:
        line = await reader.readline()
        if not line:
            return got, False
        size = int(line, 16)
        if size == 0:
            return got, True
        piece = await reader.read(size)
        while len(piece) < size:
            more = await reader.read(size - len(piece))
            if not more:
                return got + piece, False
            piece += more
        got += piece
        await reader.readline()


def events(raw: Raw) -> list[dict[str, Any]]:
    """The JSON data of an event stream, `[DONE]` left out."""
    lines = raw.body.decode(errors="replace").split("\n")
    data = [line[6:] for line in lines if line.startswith("data: ")]
    return [json.loads(item) for item in data if item.startswith("{") and item.endswith("}")]
