"""The error the `keyring` package raises."""


class KeyringError(Exception):
    """The backend refused."""
