"""The version, where the command can read it without searching installed packages."""

VERSION = "0.1.0"
