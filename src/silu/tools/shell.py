"""`shell`: a command line in the sandbox."""

import shutil

from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.tools.process import Bounds, Finished, run_process
from silu.tools.read_only import proves_read_only
from silu.tools.sandbox import Sandbox
from silu.types.calls import ToolSpec

MAX_SECONDS = 1_800
_SECONDS = 120
_MAX_OUTPUT = 8_000_000


def shell_tool(sandbox: Sandbox, *, network: bool = False) -> Tool:
    """The tool in this sandbox; `network` lets commands reach it."""
    program = shutil.which("bash") or "/bin/sh"

    async def run(args: Args, context: ToolContext) -> ToolOutput:
        command = str(args["command"])
        seconds = float(args.get("timeout", _SECONDS))
        # Errors go where the output goes, in the order they came.
        line = [program, "-c", f"exec 2>&1\n{command}"]
        argv = sandbox.argv(line, context.workspace, write=context.mode != "plan", network=network)
        done = await run_process(
            argv,
            cwd=context.workspace,
            env=sandbox.environment("/nonexistent"),
            bounds=Bounds(seconds=seconds, stdout=_MAX_OUTPUT, drain=True),
        )
        return ToolOutput(text=_told(done, seconds), ok=done.code == 0 and not done.timed_out)

    def known(args: Args) -> bool:
        # Without a sandbox there is no second wall behind this one.
        return sandbox.state == "on" and proves_read_only(str(args.get("command", "")))

    effects = {"read", "write", "execute", "network"} if network else {"read", "write", "execute"}
    return Tool(
        spec=_SPEC,
        effects=frozenset(effects),  # pyright: ignore[reportArgumentType] -- all are effects
        run=run,
        proves_read_only=known,
    )


def _told(done: Finished, seconds: float) -> str:
    text = done.stdout.decode("utf-8", errors="replace")
    if done.lost:
        # The end says how it went; nobody reads megabytes in between.
        tail = done.tail.decode("utf-8", errors="replace")
        text = f"{text}\n[{done.lost} bytes of the output were not kept]\n{tail}"
    notes: list[str] = []
    if done.timed_out:
        notes.append(f"[stopped: it had not ended after {seconds:g} s]")
    elif done.code < 0:
        notes.append(f"[ended by signal {-done.code}]")
    elif done.code:
        notes.append(f"[exit code {done.code}]")
    if error := done.stderr.decode("utf-8", errors="replace").strip():
        # Only the sandbox itself writes here.
        notes.append(f"[sandbox: {error[:500]}]")
    body = text.rstrip("\n")
    return "\n".join([body, *notes] if body else notes)


_SPEC = ToolSpec(
    name="shell",
    description=describe(__file__),
    parameters=object_schema(
        {
            "command": {"type": "string", "minLength": 1, "maxLength": 20_000},
            "timeout": {
                "type": "number",
                "minimum": 1,
                "maximum": MAX_SECONDS,
                "description": "Seconds it may take.",
            },
        },
        required=("command",),
    ),
)
