"""`python -m silu` is the `silu` command."""

import sys

from silu.cli.main import main

sys.exit(main())
