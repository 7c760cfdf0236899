"""Agents and commands that a person keeps as files, and the bodies of the routes about them."""

from typing import Annotated, Literal

import msgspec

Temperature = Annotated[float, msgspec.Meta(ge=0, le=2)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class ThinkingLimit(msgspec.Struct, frozen=True, kw_only=True):
    """Where one call's thinking ends and the answer begins: after so many seconds or (estimated)
    tokens, whichever comes first. `null` is no limit."""

    seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    tokens: Count | None = None


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How answers are drawn; `null`: as the vendor does by itself."""

    max_tokens: Count | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """Who answers in a session: `prompt` stands in place of silu's own identity ("" keeps it).
    `tools` are names or patterns of names (`null`: all). What is `null` is not chosen here."""

    name: str
    description: str = ""
    prompt: str = ""
    model: str | None = None
    level: str | None = None
    tools: tuple[str, ...] | None = None
    sampling: Sampling = Sampling()
    thinking_limit: ThinkingLimit | None = None
    source: Literal["built_in", "file"] = "file"


class AgentList(msgspec.Struct, kw_only=True):
    """The built-in agent first. `problems` are files that could not be read, in sentences."""

    agents: list[Agent]
    problems: list[str]


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A message kept as a file: `/name arguments` sends `text` with the arguments filled in.
    `arguments` says what is to follow the name; `level` and `mode` hold for that turn."""

    name: str
    text: str
    description: str = ""
    arguments: str = ""
    level: str | None = None
    mode: Literal["plan"] | None = None
    source: Literal["person", "project"] = "person"


class CommandList(msgspec.Struct, kw_only=True):
    """What can be sent with a slash. `untrusted` is true where the session's folder has commands
    that stay unread until the person trusts that folder."""

    commands: list[Command]
    untrusted: bool
    problems: list[str]


BUILT_IN = Agent(
    name="silu",
    description="Works with files, commands and the web in the session's folder.",
    source="built_in",
)
