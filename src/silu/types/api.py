"""Bodies of the gateway's HTTP interface (v1) that are not frames: what goes in and comes out.

Answers always carry every field, `null` when unknown; in requests a field with a default may be
left out. No struct here has a place for a key on the way out.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from silu.types.agents import Count, Share, Temperature, ThinkingLimit
from silu.types.capabilities import Learned, ModelInfo, Resolution
from silu.types.facts import ErrorInfo, LevelState, Mode, QueuedSend, TokenUpdate
from silu.types.frames import Name, SessionItem, Wait
from silu.types.policy import Rule, RunLimits, SearchEngine
from silu.types.todos import Plan, Todo
from silu.types.usage import Usage

MOST_PROMPT = 100_000
"""Characters of a session's own prompt."""

# --------------------------------------------------------------------------- requests


class SessionCreate(msgspec.Struct, kw_only=True):
    """A new session. `workspace` is an allowed root or a folder below one; without it the
    session gets a folder of its own. Without `model` the agent's or else the default model
    answers. `approvals` are rules for calls of this session, after those for all; the last match
    wins. `agent` is one of the config folder, `prompt` the person's own words for this session's
    system text. What is `null` is the agent's choice, else the vendor's."""

    model: str | None = None
    level: str | None = None
    mode: Mode = "build"
    title: str | None = None
    workspace: str | None = None
    language: Literal["en", "zh"] | None = None
    approvals: list[Rule] = []
    agent: str | None = None
    prompt: Annotated[str, msgspec.Meta(max_length=MOST_PROMPT)] | None = None
    max_tokens: Count | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None
    thinking_limit: ThinkingLimit | None = None
    client_id: Name | None = None


class SessionPatch(msgspec.Struct, kw_only=True):
    """Fields left out stay as they are, `null` goes back to the default. `workspace` can change
    before the first tool call only. A new `agent` (`null`: the built-in one) brings its model and
    is in force from the next turn on, like a new `prompt`. `workspace_trusted`: the commands and
    skills that the session's folder brings are read."""

    title: str | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    workspace: str | UnsetType = UNSET
    approvals: list[Rule] | UnsetType = UNSET
    agent: str | UnsetType | None = UNSET
    prompt: Annotated[str, msgspec.Meta(max_length=MOST_PROMPT)] | UnsetType | None = UNSET
    max_tokens: Count | UnsetType | None = UNSET
    temperature: Temperature | UnsetType | None = UNSET
    top_p: Share | UnsetType | None = UNSET
    thinking_limit: ThinkingLimit | UnsetType | None = UNSET
    workspace_trusted: bool | UnsetType = UNSET


class SessionFork(msgspec.Struct, kw_only=True):
    """A sibling that shares the messages up to and including `message_id` (all when null)."""

    message_id: str | None = None
    client_id: Name | None = None


class EndpointCreate(msgspec.Struct, kw_only=True):
    """An endpoint of the person's own: `name/model-id` from then on.

    `key` is stored in a 0600 file and never shown again; `key_env` names a variable instead.
    `like` borrows the form of a known vendor. `test` makes one real call first and refuses the
    endpoint when it fails.
    """

    name: str
    url: str
    dialect: str | None = None
    key: str | None = None
    key_env: str | None = None
    models: list[str] = []
    like: str | None = None
    test: bool = False


class EndpointTry(msgspec.Struct, kw_only=True):
    """A test of an endpoint that need not be saved; `name` alone tests a known one."""

    name: str
    url: str | None = None
    dialect: str | None = None
    key: str | None = None
    key_env: str | None = None
    models: list[str] = []
    like: str | None = None


class KeySave(msgspec.Struct, kw_only=True):
    """A vendor's key; an empty one removes what was saved."""

    key: str


class SettingsPatch(msgspec.Struct, kw_only=True):
    """Fields left out stay as they are; `null` goes back to the default."""

    default_model: str | UnsetType | None = UNSET
    language: Literal["en", "zh"] | UnsetType | None = UNSET
    thinking_enabled: bool | UnsetType = UNSET
    workspace_roots: list[str] | UnsetType = UNSET
    approvals: list[Rule] | UnsetType = UNSET
    limits: RunLimits | UnsetType = UNSET
    sandbox: bool | UnsetType = UNSET
    shell_network: bool | UnsetType = UNSET
    web_hosts: list[str] | UnsetType = UNSET
    search_engine: SearchEngine | UnsetType | None = UNSET
    searxng_url: str | UnsetType | None = UNSET
    trusted_folders: list[str] | UnsetType = UNSET
    helper_model: str | UnsetType | None = UNSET


class TokenPost(msgspec.Struct, kw_only=True):
    """The one-time token of the URL fragment, traded for a cookie."""

    token: str


# ---------------------------------------------------------------------------- answers


class ErrorBody(msgspec.Struct, kw_only=True):
    """Every HTTP error: one sentence for the person, stable words for programs."""

    error: ErrorInfo


class Ok(msgspec.Struct, kw_only=True):
    ok: bool = True


class SessionList(msgspec.Struct, kw_only=True):
    """Newest first. `n` is the list's own counter: subscribe with `{list: true, since: n}`."""

    sessions: list[SessionItem]
    n: int


class SessionView(SessionItem, kw_only=True):
    """One session, whole: what stands on the page beside its messages."""

    level: LevelState
    workspace: str
    workspace_locked: bool
    forked_at: str | None
    run_id: str | None
    todos: list[Todo]
    plan: Plan | None
    tokens: TokenUpdate | None
    queue: list[QueuedSend]
    waits: list[Wait]
    approvals: list[Rule]
    agent: str | None
    prompt: str | None
    max_tokens: int | None
    temperature: float | None
    top_p: float | None
    thinking_limit: ThinkingLimit | None
    workspace_trusted: bool


class ModelList(msgspec.Struct, kw_only=True):
    """What can be chosen. `default` is used where nothing is; `demo_only` when nothing else was
    found; `problems` are sources that could not be listed, in sentences for people."""

    models: list[ModelInfo]
    default: str
    demo_only: bool
    problems: list[str] = []


class EndpointView(msgspec.Struct, kw_only=True):
    """An endpoint that answers or could: `source` tells who named it.

    `key` says where the key comes from (`env`, `file`, `none needed`) and is null without one;
    `key_env` is the variable to set.
    """

    name: str
    label: str
    url: str
    dialect: str
    source: Literal["environment", "local", "config", "demo"]
    key: str | None
    key_env: str | None
    models: list[str]
    like: str | None
    removable: bool


class VendorView(msgspec.Struct, kw_only=True):
    """A vendor silu knows: what a key alone would open."""

    id: str
    label: str
    key_env: str | None
    has_key: bool
    key_source: str | None


class EndpointList(msgspec.Struct, kw_only=True):
    """`dialects` are the wire forms a new endpoint may speak."""

    endpoints: list[EndpointView]
    vendors: list[VendorView]
    dialects: list[str]


class EndpointReport(msgspec.Struct, kw_only=True):
    """What a real call to an endpoint gave: `message` says it in one sentence."""

    ok: bool
    message: str
    model: str | None = None
    models: list[str] = []
    thinking: bool | None = None
    duration_ms: int | None = None
    error: ErrorInfo | None = None


class SettingsView(msgspec.Struct, kw_only=True):
    """`sandbox` is what was chosen; `sandbox_state` what commands get: `missing` where no sandbox
    can be had here (they are refused), `off` where the person did without. `search_engine` and
    `searxng_url` are what was chosen; `search_in_use` is who is asked, null where nobody can be
    (`web_search` is not offered then)."""

    version: str
    data_dir: str
    config_dir: str
    default_model: str | None
    language: str | None
    thinking_enabled: bool
    workspace_roots: list[str]
    approvals: list[Rule]
    limits: RunLimits
    sandbox: bool
    sandbox_state: Literal["on", "missing", "off"]
    shell_network: bool
    web_hosts: list[str]
    search_engine: SearchEngine | None
    searxng_url: str | None
    search_in_use: SearchEngine | None
    trusted_folders: list[str]
    helper_model: str | None


class FileChange(msgspec.Struct, kw_only=True):
    """What a run did to a file; `diff` is "" where a side is not text."""

    path: str
    kind: Literal["created", "changed", "deleted"]
    diff: str


class RunChanges(msgspec.Struct, kw_only=True):
    """The files a run changed. `state` is `open` while it runs, `undone` after an undo."""

    run_id: str
    state: Literal["open", "done", "undone"]
    files: list[FileChange]


class ChangeList(msgspec.Struct, kw_only=True):
    """What a session's runs did to files, oldest run first."""

    runs: list[RunChanges]


class FileText(msgspec.Struct, kw_only=True):
    """A text file of the workspace as it is now; `size` is in bytes, `truncated` when only its
    beginning is here."""

    path: str
    text: str
    size: int
    truncated: bool


class Restored(msgspec.Struct, kw_only=True):
    """What an undo or a redo did. `left` are files that were changed since and stay as they are."""

    run_id: str
    done: list[str]
    left: list[str]


class CallView(msgspec.Struct, kw_only=True):
    """One model call for the inspector. `body` is the request as sent, secrets masked; times
    are milliseconds, `first_*_ms` from when the request was sent; `cost` in US dollars."""

    id: str
    run_id: str
    message_id: str | None
    step: int
    attempt: int
    purpose: Literal["turn", "summary"] = "turn"
    model: str
    resolution: Resolution
    url: str
    headers: dict[str, str]
    body: str
    dropped: list[dict[str, Any]]
    usage: Usage
    finish_reason: str | None
    raw_finish: str | None
    error: str | None
    started_at: int
    first_byte_ms: int | None
    first_thinking_ms: int | None
    first_text_ms: int | None
    duration_ms: int | None
    cost: float | None


class EchoView(msgspec.Struct, kw_only=True):
    """A thought that went back to its vendor with a call: `chars` code points of its text, and
    whether opaque data of it went along (`sealed`)."""

    message_id: str
    part_id: str
    chars: int
    sealed: bool


class EchoList(msgspec.Struct, kw_only=True):
    """The thoughts that are found in the bytes a call sent, oldest first."""

    thoughts: list[EchoView]


class CallList(msgspec.Struct, kw_only=True):
    calls: list[CallView]


class LearnedList(msgspec.Struct, kw_only=True):
    learned: list[Learned]


class Health(msgspec.Struct, kw_only=True):
    status: Literal["ok"]
    version: str


class Ready(msgspec.Struct, kw_only=True):
    """`checks` maps a part of the house to `ok` or to what is wrong with it."""

    ready: bool
    checks: dict[str, str]
