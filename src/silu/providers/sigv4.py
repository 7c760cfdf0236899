"""AWS Signature Version 4 as a pure function of request, credentials and time.

Source: AWS "Create a signed AWS API request" (the algorithm) and its published test suite.
"""

import hashlib
import hmac
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote, urlsplit

import msgspec

from silu.config import Secret
from silu.types.calls import HttpRequest


class AwsKeys(msgspec.Struct, frozen=True, kw_only=True):
    """Credentials of one account; `token` comes with temporary ones."""

    key_id: str
    secret: Secret
    token: Secret | None = None


def signed(
    request: HttpRequest, keys: AwsKeys, *, region: str, service: str, now: datetime
) -> HttpRequest:
    """The request with its `authorization`. `request.url` must be encoded as it is sent."""
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    parts = urlsplit(request.url)
    headers = {**request.headers, "host": parts.netloc, "x-amz-date": stamp}
    if keys.token is not None:
        headers["x-amz-security-token"] = keys.token.reveal()
    canonical, names = _canonical(request.method, parts.path, parts.query, headers, request.body)
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{keys.secret.reveal()}".encode()
    for step in (stamp[:8], region, service, "aws4_request"):
        key = hmac.digest(key, step.encode(), "sha256")
    signature = hmac.new(key, text.encode(), "sha256").hexdigest()
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={keys.key_id}/{scope}, "
        f"SignedHeaders={names}, Signature={signature}"
    )
    return HttpRequest(method=request.method, url=request.url, headers=headers, body=request.body)


def _canonical(
    method: str, path: str, query: str, headers: dict[str, str], body: bytes
) -> tuple[str, str]:
    """The canonical request and the names of its signed headers."""
    # Every service but S3 encodes the path, as it stands on the wire, once more.
    where = quote(path or "/", safe="/-_.~")
    asked = "&".join(
        f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
        for name, value in sorted(parse_qsl(query, keep_blank_values=True))
    )
    low = {name.lower(): " ".join(value.split()) for name, value in headers.items()}
    lines = "".join(f"{name}:{low[name]}\n" for name in sorted(low))
    names = ";".join(sorted(low))
    digest = hashlib.sha256(body).hexdigest()
    return f"{method}\n{where}\n{asked}\n{lines}\n{names}\n{digest}", names
