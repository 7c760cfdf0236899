"""Strict fake vendors: they refuse what the real ones refuse, and misbehave on demand.

Their rules are written from the vendors' documents and look at raw JSON; they share no code with
our encoders. They are the test bench of the house and the rule book of `silu wire replay`.
"""

from silu.fakes.anthropic import FakeAnthropic
from silu.fakes.bedrock import FakeBedrock
from silu.fakes.compat import CompatServer
from silu.fakes.deepseek import FakeDeepSeek
from silu.fakes.gemini import FakeGemini
from silu.fakes.glm import FakeGlm
from silu.fakes.groq import FakeCerebras, FakeGroq
from silu.fakes.kimi import FakeKimi
from silu.fakes.llamacpp import FakeLlamaCpp
from silu.fakes.mimo import FakeMiMo
from silu.fakes.minimax import FakeMiniMax
from silu.fakes.mistral import FakeMistral
from silu.fakes.ollama import FakeOllama
from silu.fakes.openai import FakeOpenAI
from silu.fakes.openrouter import FakeOpenRouter
from silu.fakes.qwen import FakeQwen
from silu.fakes.script import (
    Answer,
    Asked,
    Call,
    Own,
    Say,
    Script,
    Think,
    Trouble,
    answer,
    chatty,
    play,
)
from silu.fakes.vendor import FakeVendor, RefusalError, Seen, serve
from silu.fakes.xai import FakeGrok

__all__ = [
    "Answer",
    "Asked",
    "Call",
    "CompatServer",
    "FakeAnthropic",
    "FakeBedrock",
    "FakeCerebras",
    "FakeDeepSeek",
    "FakeGemini",
    "FakeGlm",
    "FakeGrok",
    "FakeGroq",
    "FakeKimi",
    "FakeLlamaCpp",
    "FakeMiMo",
    "FakeMiniMax",
    "FakeMistral",
    "FakeOllama",
    "FakeOpenAI",
    "FakeOpenRouter",
    "FakeQwen",
    "FakeVendor",
    "Own",
    "RefusalError",
    "Say",
    "Script",
    "Seen",
    "Think",
    "Trouble",
    "answer",
    "chatty",
    "play",
    "serve",
]
