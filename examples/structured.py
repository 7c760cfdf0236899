"""An answer as a value of your own type: `python examples/structured.py vendor/model`."""

import asyncio
import sys

import msgspec

import silu


class Bread(msgspec.Struct):
    name: str
    hours: int
    steps: list[str]


async def main(model: str) -> None:
    async with silu.Client() as client:
        found = await client.structured(model, "How do I bake rye?", output=Bread, level="low")
    print(f"{found.value.name}: {found.value.hours} hours")
    for step in found.value.steps:
        print(f"- {step}")


asyncio.run(main(sys.argv[1]))
