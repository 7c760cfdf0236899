"""Strict fake vendors: they refuse what the real ones refuse, and misbehave on demand.

Their rules are written from the vendors' documents and look at raw JSON; they share no code with
our encoders. They are the test bench of the house and the rule book of `silu wire replay`.
"""

from silu.fakes.anthropic import FakeAnthropic
from silu.fakes.compat import CompatServer
from silu.fakes.deepseek import FakeDeepSeek
from silu.fakes.script import Answer, Asked, Call, Say, Script, Think, Trouble, answer, chatty, play
from silu.fakes.vendor import FakeVendor, RefusalError, Seen, serve

__all__ = [
    "Answer",
    "Asked",
    "Call",
    "CompatServer",
    "FakeAnthropic",
    "FakeDeepSeek",
    "FakeVendor",
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
