"""Amazon Bedrock over Converse, signed with AWS keys or with a Bedrock bearer token.

Sources: botocore 1.44.8, pydantic-ai's live checks, recorded answers (vendors.md §13, 2026-11).
Of Qwen3, DeepSeek V3.2 and GLM up to 5 only "high" really thinks there.
"""

from configparser import ConfigParser
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from silu.config import Secret
from silu.providers.facts import SWITCH_ON, Facts, up_to
from silu.providers.forms import anthropic_thinking, claude_betas, word
from silu.providers.sigv4 import AwsKeys, signed
from silu.providers.vendor import Ask, Door, Turn, Vendor
from silu.types.calls import HttpRequest
from silu.types.errors import UserError
from silu.types.levels import Level

if TYPE_CHECKING:
    from silu.config import Settings

TOKEN = "AWS_BEARER_TOKEN_BEDROCK"
_REGION = "us-east-1"


def _fields(facts: Facts, ask: Ask) -> dict[str, Any]:
    match facts.family:
        case "claude":
            return anthropic_thinking(facts, ask)
        case "gpt" | "grok":
            return {"reasoning": {"effort": word(facts, ask.level) if ask.on else "none"}}
        case "qwen":
            return {"reasoning_config": word(facts, ask.level) if ask.on else "none"}
        case "nova":
            if not ask.on:
                return {"reasoningConfig": {"type": "disabled"}}
            effort = word(facts, ask.level)
            return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": effort}}
        case _:
            return {"reasoning_effort": word(facts, ask.level) if ask.on else "none"}


def _form(facts: Facts, ask: Ask) -> dict[str, Any]:
    return {"additionalModelRequestFields": _fields(facts, ask)}


def _here(facts: Facts, model: str) -> Facts:
    if facts.thinking != "supported":
        return facts
    if facts.family == "grok":
        return replace(facts, levels=up_to(Level.XHIGH, off=Level.OFF in facts.levels))
    if facts.family == "gpt" and Level.MINIMAL in facts.levels:
        levels = tuple(level for level in facts.levels if level is not Level.MINIMAL)
        return replace(facts, levels=levels)
    only_high = facts.family in {"qwen", "deepseek"} or (
        facts.family == "glm" and facts.switch_only
    )
    if not only_high:
        return facts
    levels = (SWITCH_ON,) if facts.forced else (Level.OFF, SWITCH_ON)
    return replace(
        facts,
        levels=levels,
        switch_only=True,
        default=SWITCH_ON if facts.forced else None,
        efforts={SWITCH_ON: "high"},
        budgets={},
        same={},
    )


def _betas(facts: Facts, turn: Turn) -> dict[str, Any]:
    named = claude_betas(facts, turn)
    return {"additionalModelRequestFields": {"anthropic_beta": named}} if named else {}


def region(settings: "Settings") -> str:
    return settings.env.get("AWS_REGION") or settings.env.get("AWS_DEFAULT_REGION") or _REGION


def _place(settings: "Settings") -> str:
    return f"https://bedrock-runtime.{region(settings)}.amazonaws.com"


def keys_of(settings: "Settings") -> AwsKeys | None:
    """AWS keys from the environment, else from the shared credentials file's profile."""
    env = settings.env
    key_id, secret = env.get("AWS_ACCESS_KEY_ID"), env.secret("AWS_SECRET_ACCESS_KEY")
    if key_id and secret:
        return AwsKeys(key_id=key_id, secret=secret, token=env.secret("AWS_SESSION_TOKEN"))
    named = env.get("AWS_SHARED_CREDENTIALS_FILE")
    home = env.get("HOME")
    if named is None and home is None:
        return None
    path = Path(named) if named else Path(home or "") / ".aws" / "credentials"
    parser = ConfigParser(interpolation=None)
    if not path.is_file() or not parser.read(path):
        return None
    profile = env.get("AWS_PROFILE") or "default"
    if not parser.has_option(profile, "aws_secret_access_key"):
        return None
    section = parser[profile]
    token = section.get("aws_session_token")
    return AwsKeys(
        key_id=section.get("aws_access_key_id", ""),
        secret=Secret(section["aws_secret_access_key"]),
        token=Secret(token) if token else None,
    )


def _ready(settings: "Settings") -> bool:
    return settings.env.get(TOKEN) is not None or keys_of(settings) is not None


async def _sign(request: HttpRequest, settings: "Settings") -> HttpRequest:
    if "authorization" in request.headers:
        return request
    keys = keys_of(settings)
    if keys is None:
        raise UserError(
            "There are no AWS keys for Bedrock.",
            code="no_key",
            setting=TOKEN,
            fix=f"Set {TOKEN}, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
        )
    return signed(request, keys, region=region(settings), service="bedrock", now=datetime.now(UTC))


def _strict(facts: Facts, thinking: bool) -> dict[str, Any]:
    # Claude's blocks need their signature; other models refuse one.
    return {"unsigned_ok": facts.family != "claude"}


VENDOR = Vendor(
    id="bedrock",
    label="Amazon Bedrock",
    key_vars=(TOKEN,),
    needs_key=False,
    ready=_ready,
    listing="none",
    start_models=("us.anthropic.claude-sonnet-5",),
    models=(
        "us.anthropic.claude-sonnet-5",
        "us.anthropic.claude-opus-4-8",
        "us.amazon.nova-2-lite-v1:0",
    ),
    doors=(
        Door(
            dialect="bedrock-converse",
            base_url=f"https://bedrock-runtime.{_REGION}.amazonaws.com",
            place=_place,
            form=_form,
            adapt=_here,
            body_rules=_betas,
            encode=_strict,
            sign=_sign,
        ),
    ),
    notes={"auth": "The account must have access to this model in this region (AWS_REGION)."},
    sources=("botocore 1.44.8 (2026-11)",),
)
