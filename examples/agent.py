"""An agent with a tool of your own, on the current folder: `python examples/agent.py`."""

import asyncio
from datetime import UTC, datetime

import silu


@silu.tool(effects={"read"})
def current_time() -> str:
    """Tell the date and time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


async def main() -> None:
    async with silu.Agent(tools=[current_time]) as agent:
        reply = await agent.run("What time is it, and which files are here?")
    print(reply.text)
    print(f"[{reply.status}; {reply.usage.api_calls} calls, {reply.usage.total_tokens} tokens]")


if __name__ == "__main__":
    asyncio.run(main())
