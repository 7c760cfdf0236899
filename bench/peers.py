"""The peers' packages, in an environment of their own under build/: never among ours."""

import json
import subprocess
import sys
import venv

from bench.clients import PEERS
from bench.processes import ROOT

HOME = ROOT / "build" / "peers"
PACKAGES = ("openai", "anthropic", "litellm", "pydantic-ai-slim[openai,anthropic]", "aiohttp")
"""aiohttp is LiteLLM's own transport."""
_TOLD = ("openai", "anthropic", "litellm", "pydantic-ai-slim")


def installed() -> str:
    """The interpreter that has the peers; installs them when they are not there."""
    python = HOME / "bin" / "python"
    if not (HOME / "ready").exists():
        venv.create(HOME, with_pip=True, clear=True)
        command = [python, "-m", "pip", "install", "-q", *PACKAGES]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"The peers could not be installed: {done.stderr[-600:]}")
        (HOME / "ready").touch()
    return str(python)


def versions(python: str) -> str:
    """The peers' versions and the interpreter's, in one line."""
    code = (
        "import json, importlib.metadata as m;"
        f"print(json.dumps({{n: m.version(n) for n in {_TOLD!r}}}))"
    )
    told = json.loads(subprocess.check_output([python, "-c", code], text=True))
    python_version = ".".join(map(str, sys.version_info[:3]))
    return ", ".join(f"{name} {version}" for name, version in told.items()) + (
        f"; Python {python_version}"
    )


def speaking(dialect: str) -> list[str]:
    return [name for name, (_, dialects) in PEERS.items() if dialect in dialects]
