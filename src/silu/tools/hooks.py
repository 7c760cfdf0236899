"""Hooks around tools: commands that may refuse a call, change its arguments or see its result.

A hook is started without a shell, in the workspace, outside the sandbox: it is the person's own.
It reads one JSON object; a `before` hook may answer with one: `{"decision": "deny", "reason"}`
or `{"arguments": {…}}`. Exit code 2 refuses too, with what it wrote to its error output.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from silu.tools.base import Args, Tool, ToolContext, ToolOutput
from silu.tools.process import Bounds, Finished, run_process
from silu.types.errors import ToolError
from silu.types.hooks import Hook

REFUSE = 2
"""The exit code of a hook that refuses the call."""

MAX_SHOWN = 200_000
"""Characters of a result that an `after` hook gets."""

_USUAL = ("PATH", "HOME", "LANG", "LC_ALL", "USER", "TMPDIR")

Report = Callable[[str, ToolContext], None]
"""Told when a hook fails: a sentence for the person, and the call it was for."""


class _Answer(msgspec.Struct, kw_only=True):
    decision: Literal["allow", "deny"] = "allow"
    reason: str | None = None
    arguments: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The hooks in force. `variable` gives a variable of silu's own that they may see."""

    hooks: Sequence[Hook]
    variable: Callable[[str], str | None]
    report: Report

    def around(self, tool: Tool) -> Tool:
        """The tool with the hooks that match it; the tool itself where none does."""
        mine = [hook for hook in self.hooks if fnmatchcase(tool.name, hook.tools)]
        before = [hook for hook in mine if hook.event == "before"]
        after = [hook for hook in mine if hook.event == "after"]
        return replace(
            tool,
            prepare=self._preparing(tool, before) if before else tool.prepare,
            run=self._telling(tool, after) if after else tool.run,
        )

    # ----------------------------------------------------------------------------- before

    def _preparing(
        self, tool: Tool, hooks: Sequence[Hook]
    ) -> Callable[[Args, ToolContext], Awaitable[Args]]:
        async def prepare(args: Args, context: ToolContext) -> Args:
            if tool.prepare is not None:
                args = await tool.prepare(args, context)
            for hook in hooks:
                args = await self._before(hook, tool, args, context)
            return args

        return prepare

    async def _before(self, hook: Hook, tool: Tool, args: Args, context: ToolContext) -> Args:
        told = {**_call(tool, args, context), "event": "before"}
        try:
            done = await self._run(hook, told, context)
            if done.code == REFUSE:
                raise _refusal(tool, _words(done.stderr))
            answer = _answer(done)
        except _HookError as error:
            self.report(f"A hook before {tool.name} failed: {error}.", context)
            if hook.on_failure == "allow":
                return args
            raise _refusal(tool, f"the hook that guards it failed ({error})") from error
        if answer.decision == "deny":
            raise _refusal(tool, answer.reason)
        return args if answer.arguments is None else answer.arguments

    # ------------------------------------------------------------------------------ after

    def _telling(
        self, tool: Tool, hooks: Sequence[Hook]
    ) -> Callable[[Args, ToolContext], Awaitable[ToolOutput]]:
        async def run(args: Args, context: ToolContext) -> ToolOutput:
            try:
                output = await tool.run(args, context)
            except ToolError as error:
                await self._after(hooks, tool, args, context, ToolOutput(text=str(error), ok=False))
                raise
            await self._after(hooks, tool, args, context, output)
            return output

        return run

    async def _after(
        self,
        hooks: Sequence[Hook],
        tool: Tool,
        args: Args,
        context: ToolContext,
        output: ToolOutput,
    ) -> None:
        told = {
            **_call(tool, args, context),
            "event": "after",
            "status": "ok" if output.ok else "error",
            "result": output.text[:MAX_SHOWN],
        }
        for hook in hooks:
            try:
                _went_well(await self._run(hook, told, context))
            except _HookError as error:
                self.report(f"A hook after {tool.name} failed: {error}.", context)

    # ---------------------------------------------------------------------------- running

    async def _run(self, hook: Hook, told: dict[str, Any], context: ToolContext) -> Finished:
        wanted = ((name, self.variable(name)) for name in (*_USUAL, *hook.pass_env))
        env = {"PATH": os.defpath} | {name: value for name, value in wanted if value}
        try:
            done = await run_process(
                hook.command,
                cwd=context.workspace,
                env=env,
                bounds=Bounds(seconds=hook.seconds, stdout=1_000_000),
                stdin=msgspec.json.encode(told),
            )
        except OSError as error:
            why = (error.strerror or type(error).__name__).lower()
            raise _HookError(f"{hook.command[0]!r} could not be started: {why}") from error
        if done.timed_out:
            raise _HookError(f"{hook.command[0]!r} took more than {hook.seconds:g} seconds")
        return done


class _HookError(Exception):
    """A hook did not do what hooks do."""


def _call(tool: Tool, args: Args, context: ToolContext) -> dict[str, Any]:
    return {
        "tool": tool.name,
        "arguments": args,
        "effects": sorted(tool.effects),
        "call_id": context.call_id,
        "session_id": context.session_id,
        "run_id": context.run_id,
        "mode": context.mode,
        "workspace": str(context.workspace),
    }


def _answer(done: Finished) -> _Answer:
    _went_well(done)
    if not done.stdout.strip():
        return _Answer()
    try:
        return msgspec.json.decode(done.stdout, type=_Answer)
    except msgspec.MsgspecError as error:
        raise _HookError(f"its answer cannot be read ({error})") from error


def _went_well(done: Finished) -> None:
    if done.code != 0:
        words = _words(done.stderr)
        raise _HookError(f"it ended with code {done.code}{f': {words}' if words else ''}")


def _words(data: bytes) -> str:
    return data.decode("utf-8", errors="replace").strip()[:500]


def _refusal(tool: Tool, reason: str | None) -> ToolError:
    return ToolError(f"{tool.name} was not run: a hook of the person's refused it. {reason or ''}")
