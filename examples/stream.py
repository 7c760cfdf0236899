"""A call with a tool, step by step, on the built-in demo: `python examples/stream.py [MODEL]`.

The thought goes to the error output, the answer to the output. Nothing but the model's name
changes for another vendor: `python examples/stream.py deepseek/deepseek-v4-pro`.
"""

import asyncio
import sys

import silu
from silu.types.calls import CallEnd
from silu.types.events import TextDelta, ThinkingDelta
from silu.types.parts import ToolCallPart, ToolResultPart

LIST_FILES = {
    "name": "list_files",
    "description": "List the files of the workspace.",
    "parameters": {"type": "object", "properties": {}},
}


async def main(model: str) -> None:
    messages: list[silu.Message | dict[str, str]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is in here?"},
    ]
    async with silu.Client() as client:
        while True:
            said = await step(client, model, messages)
            calls = [part for part in said.parts if isinstance(part, ToolCallPart)]
            if not calls:
                break
            # The answer goes back as it came: its thinking and its signatures are in it.
            results = [
                ToolResultPart(
                    call_id=call.call_id, name=call.name, status="ok", shown="tea.txt (3 B)"
                )
                for call in calls
            ]
            messages += [said, silu.Message(role="tool", parts=list(results))]
    print()


async def step(
    client: silu.Client, model: str, messages: list[silu.Message | dict[str, str]]
) -> silu.Message:
    """One model call, shown as it comes."""
    async for event in client.stream(model, messages, level="high", tools=[LIST_FILES]):
        match event:
            case ThinkingDelta():
                print(event.text, end="", flush=True, file=sys.stderr)
            case TextDelta():
                print(event.text, end="", flush=True)
            case CallEnd(failure=failure) if failure is not None:
                sys.exit(f"\n{failure.message}")
            case CallEnd():
                return event.message
            case _:
                pass
    raise AssertionError("a call ends with CallEnd")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "demo/thinker"))
