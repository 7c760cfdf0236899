"""Google Vertex AI: Gemini in its own dialect, Claude in Anthropic's.

Sources: docs.cloud.google.com "Thinking" (read 2026-11); Claude's body carries
`anthropic_version` there instead of a model, which stands in the path. Sign-in is OAuth: an
access token in VERTEX_ACCESS_TOKEN, or the credentials that the `google-auth` package finds.
"""

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

import msgspec

from silu.config import Secret
from silu.providers.facts import Facts
from silu.providers.forms import anthropic_thinking, claude_headers, gemini_config
from silu.providers.vendor import Door, Vendor
from silu.providers.vendors.gemini import calls_signed
from silu.types.calls import HttpRequest
from silu.types.errors import UserError

if TYPE_CHECKING:
    from silu.config import Settings

TOKEN = "VERTEX_ACCESS_TOKEN"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_UNSET = "https://aiplatform.googleapis.com/v1/projects/YOUR-PROJECT/locations/global/publishers"


def _base(settings: "Settings") -> str | None:
    env = settings.env
    project = env.get("GOOGLE_CLOUD_PROJECT") or env.get("VERTEX_PROJECT")
    if project is None:
        return None
    location = env.get("GOOGLE_CLOUD_LOCATION") or env.get("VERTEX_LOCATION") or "global"
    host = "aiplatform.googleapis.com"
    host = host if location == "global" else f"{location}-{host}"
    return f"https://{host}/v1/projects/{project}/locations/{location}/publishers"


def _google(settings: "Settings") -> str | None:
    base = _base(settings)
    return f"{base}/google" if base else None


def _anthropic(settings: "Settings") -> str | None:
    base = _base(settings)
    return f"{base}/anthropic" if base else None


def _encode(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {**calls_signed(facts, thinking), "extra": {"path_prefix": ""}}


def _raw_predict(request: HttpRequest) -> HttpRequest:
    """The model moves from the body into the path."""
    body: dict[str, Any] = msgspec.json.decode(request.body)
    model = body.pop("model")
    method = "streamRawPredict" if body.get("stream") else "rawPredict"
    base = request.url.removesuffix("/v1/messages")
    body = {"anthropic_version": "vertex-2023-10-16", **body}
    headers = {k: v for k, v in request.headers.items() if k != "anthropic-version"}
    return HttpRequest(
        method=request.method,
        url=f"{base}/models/{model}:{method}",
        headers=headers,
        body=msgspec.json.encode(body),
    )


async def _sign(request: HttpRequest, settings: "Settings") -> HttpRequest:
    if "authorization" in request.headers:
        return request
    token = await asyncio.to_thread(google_token)
    if token is None:
        raise UserError(
            "There is no sign-in for Vertex AI.",
            code="no_key",
            setting=TOKEN,
            fix=f"Set {TOKEN}, or install google-auth and sign in with gcloud.",
        )
    headers = {**request.headers, "authorization": f"Bearer {token.reveal()}"}
    return HttpRequest(method=request.method, url=request.url, headers=headers, body=request.body)


def google_token() -> Secret | None:
    """A fresh access token from Google's default credentials; `None` without the package or
    without a sign-in. Blocking."""
    try:
        auth = importlib.import_module("google.auth")
        transport = importlib.import_module("google.auth.transport.requests")
    except ImportError:
        return None
    try:
        credentials, _ = auth.default(scopes=[_SCOPE])
    except auth.exceptions.DefaultCredentialsError:
        return None
    credentials.refresh(transport.Request())
    return Secret(credentials.token)


def _ready(settings: "Settings") -> bool:
    signed_in = settings.env.get(TOKEN) or settings.env.get("GOOGLE_APPLICATION_CREDENTIALS")
    return _base(settings) is not None and signed_in is not None


def _dialect(model: str) -> str:
    return "anthropic-messages" if "claude" in model.lower() else "gemini-generate"


VENDOR = Vendor(
    id="vertex",
    label="Google Vertex AI",
    key_vars=(TOKEN,),
    needs_key=False,
    ready=_ready,
    listing="none",
    door_of=_dialect,
    start_models=("gemini-3.8-flash",),
    models=("gemini-3.8-flash", "gemini-3.1-pro-preview", "claude-sonnet-5"),
    doors=(
        Door(
            dialect="gemini-generate",
            base_url=f"{_UNSET}/google",
            place=_google,
            form=gemini_config,
            encode=_encode,
            sign=_sign,
        ),
        Door(
            dialect="anthropic-messages",
            base_url=f"{_UNSET}/anthropic",
            place=_anthropic,
            form=anthropic_thinking,
            header_rules=claude_headers,
            rewrite=_raw_predict,
            sign=_sign,
        ),
    ),
    notes={"unreachable": "Set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION."},
    sources=("docs.cloud.google.com Thinking (2026-11)",),
)
