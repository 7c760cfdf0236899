"""Zhipu GLM.

Sources: docs.z.ai and docs.bigmodel.cn "Thinking Mode" / "深度思考" (read 2026-11), client
catalogues (vendors.md §7). The open weights of 5.3 map every strange effort, "none" included,
to max: only low, high and max are ever sent.
"""

import re
from typing import Any

from msgspec.structs import replace

from silu.providers.facts import Facts, always_on, switchable
from silu.types.levels import Level

_SWITCH: dict[str, Any] = {"template_switch": ("enable_thinking",)}

SWITCH = switchable(family="glm", generation="4.5", default=Level.MEDIUM, extra=_SWITCH)
# none and minimal skip thinking, low and medium run as high, xhigh as max.
GLM_52 = Facts(
    family="glm",
    generation="5.2",
    levels=(Level.OFF, Level.HIGH, Level.MAX),
    default=Level.MAX,
    extra=_SWITCH,
)
GLM_53 = replace(GLM_52, generation="5.3", levels=(Level.LOW, Level.HIGH, Level.MAX))
_SILENT = Facts(family="glm", generation="4", thinking="unsupported")


def facts(model: str) -> Facts | None:
    if not re.match(r"(?:chat)?glm-?", model):
        return None
    if "-z1" in model or "thinking" in model:
        return always_on(family="glm", generation="z1")
    found = re.match(r"glm-(\d)(?:[.p-](\d))?(?!\d)", model)
    if found is None:
        return _SILENT if model.startswith("chatglm") else GLM_53
    version = (int(found[1]), int(found[2] or 0))
    if version < (4, 5):
        return _SILENT
    if version < (5, 2):
        return SWITCH
    return GLM_52 if version == (5, 2) else GLM_53
