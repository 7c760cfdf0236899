"""What the person chose for the whole workspace."""

import asyncio

import msgspec
from msgspec import UNSET

from silu.app.execution import Execution
from silu.app.folders import existing_folder
from silu.types import api
from silu.types.version import VERSION


class Preferences(Execution):
    """Services of the settings page."""

    async def settings_view(self) -> api.SettingsView:
        chosen = self.settings.preferences
        sandbox = await self.sandbox()
        return api.SettingsView(
            version=VERSION,
            data_dir=str(self.settings.paths.data),
            config_dir=str(self.settings.paths.config),
            default_model=chosen.default_model,
            language=chosen.language,
            thinking_enabled=chosen.thinking_enabled,
            workspace_roots=list(chosen.workspace_roots),
            approvals=await self.store.rules(),
            limits=chosen.limits,
            sandbox=chosen.sandbox,
            sandbox_state=sandbox.state,
            shell_network=chosen.shell_network,
            web_hosts=list(chosen.web_hosts),
            search_engine=chosen.search_engine,
            searxng_url=chosen.searxng_url,
            search_in_use=self.search_in_use(),
            trusted_folders=list(chosen.trusted_folders),
            helper_model=chosen.helper_model,
        )

    async def patch_settings(self, patch: api.SettingsPatch) -> api.SettingsView:
        """Keep what was chosen and put it in force at once; variables of the process win."""
        if isinstance(patch.default_model, str):
            self.client.model(patch.default_model)
        if isinstance(patch.helper_model, str):
            self.client.model(patch.helper_model)
        changes = {k: v for k, v in msgspec.structs.asdict(patch).items() if v is not UNSET}
        if patch.workspace_roots is not UNSET:
            folders = [await asyncio.to_thread(existing_folder, r) for r in patch.workspace_roots]
            changes["workspace_roots"] = tuple(map(str, folders))
        if patch.web_hosts is not UNSET:
            changes["web_hosts"] = tuple(patch.web_hosts)
        if patch.trusted_folders is not UNSET:
            changes["trusted_folders"] = tuple(patch.trusted_folders)
        if patch.approvals is not UNSET:
            await self.store.set_rules(changes.pop("approvals"))
        await self._prefer(**changes)
        return await self.settings_view()
