"""Settings as one value: environment, preferences, endpoints and keys of this process."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from silu.config.dotenv import read_dotenv
from silu.config.endpoints import Endpoint, EndpointFile
from silu.config.files import SharedFile
from silu.config.keys import KeyStore
from silu.config.paths import Paths
from silu.config.secrets import Secret, mask
from silu.types.capabilities import Prices
from silu.types.errors import UserError
from silu.types.levels import Level
from silu.types.policy import RunLimits, SearchEngine

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")


class Environment:
    """Variables of the process and of the `.env` file; its text shows no values."""

    __slots__ = ("_vars",)

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._vars = dict(variables)

    def get(self, name: str) -> str | None:
        """The value, `None` when the variable is missing or empty."""
        return self._vars.get(name) or None

    def secret(self, name: str) -> Secret | None:
        value = self._vars.get(name, "").strip()
        return Secret(value) if value else None

    def secrets(self) -> Iterator[Secret]:
        """Values of variables that are named like secrets, for masking."""
        for name, value in self._vars.items():
            if len(value) >= 8 and any(word in name.upper() for word in _SECRET_NAMES):
                yield Secret(value)

    def __repr__(self) -> str:
        return f"Environment({len(self._vars)} variables)"


class ModelOverride(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the person says of a model; stands above every other source."""

    context_window: int | None = None
    max_output: int | None = None
    thinking: Literal["supported", "unsupported", "unknown"] | None = None
    thinking_levels: tuple[Level, ...] | None = None
    thinking_default_level: Level | None = None
    images: bool | None = None
    tools: bool | None = None
    prices: Prices | None = None


class Preferences(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`settings.json`: what the person chose. `None` means "not chosen".

    `local_servers` lets silu look for servers on their usual ports of this machine.
    `models` maps `vendor/model-id` to what the person says of it. `sampling` is `vendor`
    (nothing is sent) or `recommended` (the family's own advice). `limits` is where every run
    stops by itself. `sandbox: false` lets commands run as the person does; `shell_network` opens
    the network to commands. `web_hosts` are hosts of the person's own network that `web_fetch`
    may reach (`name`, `name:port`); `search_engine` is who searches the web, by itself the first
    that has what it needs; `searxng_url` is the person's SearXNG server. Of `trusted_folders` and
    what lies below them the commands and skills are read. `helper_model` writes summaries; without
    one the session's own model does.
    """

    default_model: str | None = None
    language: Literal["en", "zh"] | None = None
    thinking_enabled: bool = True
    fallback: tuple[str, ...] = ()
    workspace_roots: tuple[str, ...] = ()
    local_servers: bool = True
    sampling: Literal["vendor", "recommended"] = "vendor"
    models: dict[str, ModelOverride] = {}
    limits: RunLimits = RunLimits()
    sandbox: bool = True
    shell_network: bool = False
    web_hosts: tuple[str, ...] = ()
    search_engine: SearchEngine | None = None
    searxng_url: str | None = None
    trusted_folders: tuple[str, ...] = ()
    helper_model: str | None = None


class Settings:
    """What this process runs with. Endpoints and saved keys are looked up afresh each time."""

    def __init__(
        self,
        *,
        paths: Paths,
        env: Environment,
        preferences: Preferences | None = None,
        endpoints: EndpointFile | None = None,
        keys: KeyStore | None = None,
        trial: tuple[Endpoint, Secret | None] | None = None,
    ) -> None:
        self.paths = paths
        self.env = env
        self.preferences = preferences or Preferences()
        self.endpoints = endpoints or EndpointFile(paths.endpoints_file)
        self.keys = keys or KeyStore(paths.keys_file)
        self._trial = trial

    @classmethod
    def load(
        cls, paths: Paths, env: Mapping[str, str], *, dotenv: Path | None = None
    ) -> "Settings":
        """Read the settings. `dotenv` names a `.env` file; without it only the config folder's
        own is read. Variables of the process win over both."""
        source = dotenv or paths.dotenv_file
        if dotenv is not None and not dotenv.is_file():
            raise UserError(
                f"There is no file {dotenv}.", code="bad_argument", setting="--env-file"
            )
        variables = {**read_dotenv(source), **env}
        environment = Environment(variables)
        return cls(
            paths=paths,
            env=environment,
            preferences=_with_variables(_preferences_file(paths).read(), environment),
        )

    def with_preferences(self, preferences: Preferences) -> "Settings":
        """The same settings under other preferences (variables of the process still win)."""
        return Settings(
            paths=self.paths,
            env=self.env,
            preferences=_with_variables(preferences, self.env),
            endpoints=self.endpoints,
            keys=self.keys,
        )

    def trying(self, endpoint: Endpoint, key: str | None = None) -> "Settings":
        """The same settings with one endpoint (and its key) that is not saved, for a test."""
        return Settings(
            paths=self.paths,
            env=self.env,
            preferences=msgspec.structs.replace(self.preferences, fallback=()),
            endpoints=self.endpoints,
            keys=self.keys,
            trial=(endpoint, Secret(key) if key else None),
        )

    def endpoint(self, name: str) -> Endpoint | None:
        """An endpoint of the person's own by its name."""
        if self._trial is not None and self._trial[0].name == name:
            return self._trial[0]
        return self.endpoints.get(name)

    def key(self, name: str, variables: tuple[str, ...]) -> tuple[Secret, str] | None:
        """A vendor's key and where it is from (`env:NAME` or `file`); `None` without one."""
        if self._trial is not None and self._trial[0].name == name and self._trial[1]:
            return self._trial[1], "given"
        for variable in variables:
            if secret := self.env.secret(variable):
                return secret, f"env:{variable}"
        if secret := self.keys.get(name):
            return secret, "file"
        return None

    def mask(self, text: str) -> str:
        """`text` without any configured secret or key-like string (F183)."""
        return mask(text, self.secrets())

    def secrets(self) -> list[Secret]:
        """Every secret this process knows of."""
        found = [*self.env.secrets(), *self.keys.all()]
        for endpoint in self.endpoints.all().values():
            # A person may keep a key in a variable that is not named like one.
            if endpoint.key_env and (secret := self.env.secret(endpoint.key_env)):
                found.append(secret)
        if self._trial is not None and self._trial[1]:
            found.append(self._trial[1])
        return found

    def __repr__(self) -> str:
        return f"Settings(config={self.paths.config})"


def save_preferences(paths: Paths, preferences: Preferences) -> None:
    """Write `settings.json`; a running process takes it up when it loads its settings again."""
    _preferences_file(paths).change(lambda _: preferences)


def load_preferences(paths: Paths) -> Preferences:
    """`settings.json` as it stands, without the process's variables."""
    return _preferences_file(paths).read()


def _preferences_file(paths: Paths) -> SharedFile[Preferences]:
    return SharedFile(paths.settings_file, Preferences, empty=Preferences)


def _with_variables(preferences: Preferences, env: Environment) -> Preferences:
    """`SILU_MODEL`, `SILU_FALLBACK`, `SILU_THINKING`, `SILU_LOCAL_SERVERS`, `SILU_LANGUAGE`,
    `SILU_SEARXNG_URL`."""
    changes: dict[str, object] = {}
    if model := env.get("SILU_MODEL"):
        changes["default_model"] = model
    if fallback := env.get("SILU_FALLBACK"):
        changes["fallback"] = tuple(word.strip() for word in fallback.split(",") if word.strip())
    if switch := env.get("SILU_THINKING"):
        changes["thinking_enabled"] = _boolean("SILU_THINKING", switch)
    if switch := env.get("SILU_LOCAL_SERVERS"):
        changes["local_servers"] = _boolean("SILU_LOCAL_SERVERS", switch)
    if searxng := env.get("SILU_SEARXNG_URL"):
        changes["searxng_url"] = searxng
    if language := env.get("SILU_LANGUAGE"):
        changes["language"] = "zh" if language.lower().startswith("zh") else "en"
    return msgspec.structs.replace(preferences, **changes) if changes else preferences


def _boolean(name: str, word: str) -> bool:
    if word.lower() in _TRUE:
        return True
    if word.lower() in _FALSE:
        return False
    raise UserError(
        f"{name}={word!r} is neither on nor off.",
        code="bad_config",
        setting=name,
        fix="Use true or false.",
    )
