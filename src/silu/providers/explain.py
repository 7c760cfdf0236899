"""Failures in a sentence that names what to change: the vendor's words with our address."""

from urllib.parse import urlsplit

from msgspec.structs import replace

from silu.config import Settings
from silu.providers.prepare import Prepared, no_key
from silu.types.calls import HttpResponse
from silu.types.errors import Failure


def explain(failure: Failure, prepared: Prepared, settings: Settings) -> Failure:
    """A failure as a person reads it: where it happened, which setting, no secrets."""
    profile = prepared.profile
    message, setting, kind = failure.message, failure.setting, failure.kind
    said = message.removesuffix("Choose another model.").partition(":")[2]
    if failure.status == 404 and "model" not in said.lower():
        # A path nobody serves, not a model nobody knows.
        kind, setting = "not_an_api", "base_url"
        message = (
            f"There is nothing at {address(prepared.http.url)} (HTTP 404). "
            f"Check the base URL of {profile.label}."
        )
    if kind == "auth":
        setting = setting if failure.status is None and setting else no_key(profile).setting
        message = message.replace(
            "Check the API key of this endpoint.", f"Check the key of {profile.label} ({setting})."
        )
    if kind == "unknown_model" and profile.model not in message:
        message = f"{message} Asked for was {profile.model}."
    if hint := profile.vendor.notes.get(kind):
        message = f"{message} {hint}"
    return replace(failure, kind=kind, message=settings.mask(message), setting=setting)


def redirected(response: HttpResponse, prepared: Prepared) -> Failure:
    """A redirect is not followed: it would carry the key to another place."""
    target = response.headers.get("location", "")
    to = f" to {address(target)}" if target else ""
    return Failure(
        kind="not_an_api",
        message=(
            f"{address(prepared.http.url)} redirects{to} (HTTP {response.status}). "
            "Set the base URL to the address that answers itself."
        ),
        status=response.status,
        setting="base_url",
    )


def address(url: str) -> str:
    """A URL without query and credentials."""
    parts = urlsplit(url)
    host = parts.netloc.rsplit("@", 1)[-1]
    return f"{parts.scheme}://{host}{parts.path}" if host else parts.path
