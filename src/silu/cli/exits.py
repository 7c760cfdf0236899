"""Exit codes of every command, as documented in `silu --help`."""

OK = 0
FAULT_OF_VENDOR = 1
FAULT_OF_USER = 2
INTERRUPTED = 130
