"""Every recorded answer reads as its `expected.json` says, however its bytes are cut."""

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from silu.wire import DIALECTS
from tests.wire.reading import read, shape


def exchanges(shared: Path, dialect: str) -> list[tuple[dict[str, Any], Path]]:
    found: list[tuple[dict[str, Any], Path]] = []
    for file in sorted((shared / "wire" / dialect).rglob("meta.json")):
        for body in file.parent.glob("response.*"):
            found.append((json.loads(file.read_text()), body))
    return found


def test_the_judge_calls_every_recording_exact(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    judge = [sys.executable, str(shared / "bench" / "conformance.py"), str(shared / "wire")]
    command = f"{sys.executable} -m silu wire decode --batch"
    flags = [flag for dialect in DIALECTS for flag in ("--dialect", dialect)]
    done = subprocess.run(
        [*judge, "--batch", command, "--out", str(rows), *flags],
        capture_output=True,
        text=True,
        check=False,
    )
    told = [json.loads(line) for line in rows.read_text().splitlines()]
    score = {
        dialect: Counter(bool(row["exact"]) for row in told if row["dialect"] == dialect)
        for dialect in DIALECTS
    }
    with capsys.disabled():
        for dialect, count in score.items():
            print(f"\n  {dialect}: {count[True]} of {count.total()} exact", end="")
        print()
    assert done.returncode == 0, [row["notes"] for row in told if not row["exact"]]


def test_thinking_goes_back_where_it_belongs_and_nowhere_else(shared: Path) -> None:
    judge = [sys.executable, str(shared / "bench" / "way_back.py"), str(shared / "wire")]
    silu = f"{sys.executable} -m silu wire"
    flags = [flag for dialect in DIALECTS for flag in ("--dialect", dialect)]
    ours = ["--decode", f"{silu} decode --batch", "--encode-batch", f"{silu} encode --batch"]
    done = subprocess.run(
        [*judge, *ours, "--failures", "20", *flags],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("dialect", DIALECTS)
def test_single_bytes_and_one_piece_give_the_same_events(shared: Path, dialect: str) -> None:
    for meta, file in exchanges(shared, dialect):
        body = file.read_bytes()
        if len(body) > 60_000:
            continue
        form = {"streaming": meta["streaming"], "status": meta["status"]}
        at_once = shape(read(dialect, body, **form))
        assert shape(read(dialect, *(body[i : i + 1] for i in range(len(body))), **form)) == at_once


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_any_cuts_give_the_same_events(shared: Path, dialect: str, seed: int) -> None:
    dice = random.Random(seed)
    meta, file = dice.choice(exchanges(shared, dialect))
    body = file.read_bytes()
    form = {"streaming": meta["streaming"], "status": meta["status"]}
    cuts = sorted(dice.randrange(len(body) + 1) for _ in range(dice.randrange(1, 40)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert shape(read(dialect, *pieces, **form)) == shape(read(dialect, body, **form))


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_a_damaged_answer_never_breaks_the_reader(shared: Path, dialect: str, seed: int) -> None:
    """Cut short, with bytes changed, dropped or doubled: events in order, or a failure told."""
    dice = random.Random(seed)
    meta, file = dice.choice(exchanges(shared, dialect))
    body = bytearray(file.read_bytes()[: 1 << 16])
    for _ in range(dice.randrange(1, 6)):
        place = dice.randrange(len(body))
        match dice.randrange(4):
            case 0:
                del body[place : place + dice.randrange(1, 200)]
            case 1:
                body[place] = dice.randrange(256)
            case 2:
                body[place:place] = body[place : place + dice.randrange(1, 200)]
            case _:
                body = body[: place + 1]
        if not body:
            return
    read(dialect, bytes(body), streaming=meta["streaming"], status=meta["status"])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_cut_anywhere_is_never_taken_for_a_whole_one(shared: Path, dialect: str) -> None:
    for meta, file in exchanges(shared, dialect)[:12]:
        if meta["status"] != 200:
            continue
        body = file.read_bytes()
        for share in (0.2, 0.5, 0.8):
            answer = read(dialect, body[: int(len(body) * share)], streaming=meta["streaming"])
            assert answer.failure is not None or answer.finish is not None
            if answer.finish is None:
                assert answer.message.interrupted
