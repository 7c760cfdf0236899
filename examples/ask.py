"""Ask one question and watch the model think: `python examples/ask.py "Why is the sky blue?"`."""

import asyncio
import sys

import silu
from silu.types.calls import CallEnd
from silu.types.events import TextDelta, ThinkingDelta


async def main(question: str) -> None:
    async with silu.Client() as client:
        async for event in client.events(question, level="high"):
            match event:
                case ThinkingDelta():
                    print(event.text, end="", flush=True, file=sys.stderr)
                case TextDelta():
                    print(event.text, end="", flush=True)
                case CallEnd(failure=failure) if failure is not None:
                    sys.exit(f"\n{failure.message}")
                case _:
                    pass
    print()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "Why is the sky blue?"))
