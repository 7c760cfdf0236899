"""The bench runs: at a tiny size, and what it prints is not judged here."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_benches_of_client_gateway_and_store_run_and_print_their_goals() -> None:
    names = ["calls", "p5", "p8", "million"]
    done = subprocess.run(
        [sys.executable, "-m", "bench", *names, "--tiny", "--rounds", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for title in ("P1", "P2", "P5", "P8", "search in"):
        assert f"\n{title}" in done.stdout or f"\n    {title}" in done.stdout
    assert done.stdout.count("goal") > 8
    assert "lost or out of order at silu: 0" in done.stdout
