"""Settings, paths, keys and endpoints: plain values, read once and passed on."""

from silu.config.endpoints import Endpoint, EndpointFile
from silu.config.keys import KeyStore
from silu.config.paths import Paths
from silu.config.secrets import Secret, mask
from silu.config.settings import Environment, ModelOverride, Preferences, Settings

__all__ = [
    "Endpoint",
    "EndpointFile",
    "Environment",
    "KeyStore",
    "ModelOverride",
    "Paths",
    "Preferences",
    "Secret",
    "Settings",
    "mask",
]
