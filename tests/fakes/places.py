"""Every strict fake, and how the house reaches it."""

from dataclasses import dataclass

from silu import fakes
from silu.fakes import FakeVendor
from silu.fakes.bedrock import MODELS as BEDROCK
from silu.fakes.claude_models import MODELS as CLAUDE
from silu.fakes.gemini import MODELS as GEMINI
from silu.fakes.openai_models import MODELS as OPENAI
from silu.fakes.openrouter import MODELS as ROUTED
from silu.fakes.qwen import MODELS as QWEN


@dataclass(frozen=True)
class Place:
    """A fake and how the house reaches it; `path` is what its base URL has behind the host."""

    like: str
    make: type[FakeVendor]
    models: tuple[str, ...]
    path: str
    dialect: str | None = None
    main: str = ""


PLACES = [
    Place("anthropic", fakes.FakeAnthropic, tuple(CLAUDE), "", main="claude-fable-5-2"),
    Place("deepseek", fakes.FakeDeepSeek, ("deepseek-v4-flash", "deepseek-v4-pro"), ""),
    Place(
        "deepseek",
        fakes.FakeDeepSeek,
        ("deepseek-v4-pro", "deepseek-v4-flash"),
        "/anthropic",
        dialect="anthropic-messages",
    ),
    Place("openai", fakes.FakeOpenAI, tuple(OPENAI), "/v1", main="gpt-5.6-sol"),
    Place("gemini", fakes.FakeGemini, tuple(GEMINI), "/v1beta", main="gemini-3.8-flash"),
    Place("kimi", fakes.FakeKimi, fakes.FakeKimi.models, "/v1", main="kimi-k2.6"),
    Place(
        "kimi",
        fakes.FakeKimi,
        fakes.FakeKimi.models,
        "/anthropic",
        dialect="anthropic-messages",
        main="kimi-k3.1-pro",
    ),
    Place(
        "mimo",
        fakes.FakeMiMo,
        fakes.FakeMiMo.models,
        "/anthropic",
        dialect="anthropic-messages",
        main="mimo-v2.6-pro",
    ),
    Place("qwen", fakes.FakeQwen, tuple(QWEN), "/compatible-mode/v1", main="qwen3.8-max"),
    Place("glm", fakes.FakeGlm, fakes.FakeGlm.models, "/api/paas/v4", main="glm-5.2"),
    Place("mimo", fakes.FakeMiMo, fakes.FakeMiMo.models, "/v1", main="mimo-v2.5"),
    Place("minimax", fakes.FakeMiniMax, fakes.FakeMiniMax.models, "/anthropic", main="MiniMax-M3"),
    Place("openrouter", fakes.FakeOpenRouter, tuple(ROUTED), "/api/v1"),
    Place("xai", fakes.FakeGrok, fakes.FakeGrok.models, "/v1", dialect="openai-chat"),
    Place("mistral", fakes.FakeMistral, fakes.FakeMistral.models, "/v1", main="mistral-large-4"),
    Place("groq", fakes.FakeGroq, fakes.FakeGroq.models, "/openai/v1"),
    Place("cerebras", fakes.FakeCerebras, fakes.FakeCerebras.models, "/v1"),
    Place("ollama", fakes.FakeOllama, ("qwen3:4b", "gpt-oss:20b"), ""),
    Place("bedrock", fakes.FakeBedrock, tuple(BEDROCK), "", main="us.anthropic.claude-sonnet-4-6"),
]
NAMES = [f"{place.like}{place.path.replace('/', '-')}" for place in PLACES]


def name_of(place: Place) -> str:
    return NAMES[PLACES.index(place)]


def ref_of(place: Place, model: str = "") -> str:
    return f"{name_of(place)}/{model or place.main or place.models[0]}"
