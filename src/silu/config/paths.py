"""Where silu keeps things: `SILU_HOME` when set, else the XDG data and config folders."""

from collections.abc import Mapping
from pathlib import Path

import msgspec


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """The two folders everything lives in; nothing is created before it is written."""

    data: Path
    config: Path

    @classmethod
    def find(cls, env: Mapping[str, str]) -> "Paths":
        """The folders for this environment; platformdirs is imported only when it decides."""
        if home := env.get("SILU_HOME"):
            return cls.under(Path(home).expanduser().absolute())
        xdg_data, xdg_config = env.get("XDG_DATA_HOME"), env.get("XDG_CONFIG_HOME")
        if xdg_data and xdg_config:
            return cls(data=Path(xdg_data) / "silu", config=Path(xdg_config) / "silu")
        import platformdirs

        data = Path(xdg_data) / "silu" if xdg_data else platformdirs.user_data_path("silu")
        config = Path(xdg_config) / "silu" if xdg_config else platformdirs.user_config_path("silu")
        return cls(data=data, config=config)

    @classmethod
    def under(cls, home: Path) -> "Paths":
        """Data in `home` itself, what the person may edit in `home/config`."""
        return cls(data=home, config=home / "config")

    @property
    def endpoints_file(self) -> Path:
        return self.config / "endpoints.json"

    @property
    def keys_file(self) -> Path:
        return self.config / "keys.json"

    @property
    def settings_file(self) -> Path:
        return self.config / "settings.json"

    @property
    def tokens_file(self) -> Path:
        return self.config / "tokens.json"

    @property
    def mcp_file(self) -> Path:
        return self.config / "mcp.json"

    @property
    def hooks_file(self) -> Path:
        return self.config / "hooks.json"

    @property
    def agents_folder(self) -> Path:
        return self.config / "agents"

    @property
    def skills_folder(self) -> Path:
        return self.config / "skills"

    @property
    def commands_folder(self) -> Path:
        return self.config / "commands"

    @property
    def dotenv_file(self) -> Path:
        return self.config / ".env"

    @property
    def learned_file(self) -> Path:
        return self.data / "learned.json"
