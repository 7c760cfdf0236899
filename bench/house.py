"""silu set up for a bench: settings of its own, an endpoint at the bench's vendor, a history."""

import atexit
import shutil
import tempfile
from pathlib import Path

from silu.config import Endpoint, EndpointFile, Paths, Settings
from silu.providers.client import Client
from silu.types.parts import Message, TextPart

KEY = "bench-key-0123456789"
LIKE = {"openai-chat": "deepseek", "anthropic-messages": "anthropic"}
ASKED = "Please tell me more of the lamp, of the rain, and of those who never asked. " * 3
SAID = "The lamp was lit before the rain began, and nobody asked who had lit it. " * 9


def endpoint(name: str, base: str, dialect: str, model: str) -> Endpoint:
    """A place at the bench's vendor whose models are a known vendor's."""
    return Endpoint(
        name=name,
        url=base,
        dialect=dialect,
        like=LIKE[dialect],
        key_env="NEAR_KEY",
        models=(model,),
    )


def home() -> Path:
    """A folder that is gone when this process ends."""
    made = Path(tempfile.mkdtemp(prefix="silu-bench-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def settle(folder: Path, *endpoints: Endpoint) -> Paths:
    """A home with these endpoints."""
    paths = Paths.under(folder)
    paths.config.mkdir(parents=True, exist_ok=True)
    for one in endpoints:
        EndpointFile(paths.endpoints_file).put(one)
    return paths


def client_at(base: str, dialect: str) -> Client:
    paths = settle(home(), endpoint("near", base, dialect, "bench-1"))
    return Client(Settings.load(paths, {"NEAR_KEY": KEY}))


def conversation(n: int) -> list[Message]:
    """`n` messages of a talk, and the question that follows."""
    told = [
        Message(
            role="assistant" if at % 2 else "user",
            id=f"m{at}",
            parts=[TextPart(id=f"p{at}", text=SAID if at % 2 else ASKED)],
        )
        for at in range(n)
    ]
    return [*told, Message(role="user", id="last", parts=[TextPart(id="ask", text="Go on.")])]
