"""A keyring for tests, shaped like the `keyring` package."""
