"""The list of commands known to change nothing, tried out: every flag that passes the proof is
really run in a folder that could be written, and nothing in it may change."""

import hashlib
import subprocess
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from silu.tools.read_only import proves_read_only

PROGRAMS = """
sort uniq find sed rg file jq tail head cut diff tree date hostname
"""
GIT = """
blame branch cat-file describe diff log ls-files ls-tree merge-base name-rev remote rev-list
rev-parse shortlog show stash status tag worktree
"""
FLAGS = """
-n -i -e -f -o -w -c -d -D -F -O -R -x -z -T -C -m -ox -Ox -uox --output --output=x --out=x
--in-place --pre=touch --pre --compile --ext-diff --textconv --filters --no-index --exec=touch
--compress-program=touch --set=now --delete --list -v -exec -delete -fprint -fls -ok - --
"""
FORMS = ["{} {} a.txt new", "{} a.txt {} new", "{} {} new"]

READING = ["ls -la", "cat a.txt", "git log -1", "grep -n rose a.txt", "find . -name '*.txt'"]
WRITING = """
rm a.txt
touch new
tee new
sed -i s/a/b/ a.txt
python -c 'open("new", "w")'
cp a.txt new
git commit --amend
git branch -D main
find . -delete
find . -exec rm {} +
rg --pre touch x
sort -o a.txt a.txt
uniq a.txt new
xargs rm
env rm a.txt
sh -c 'rm a.txt'
cat a.txt > new
echo >> a.txt
: > new
A=b rm a.txt
"""
JOINTS = [" && ", " || ", "; ", " | ", "\n", " & ", " 2>&1 | ", " >/dev/null; "]
WRAPS = ["{}", "({})", "{{ {}; }}", "$({})", "`{}`", "! {}", "time {}", "if true; then {}; fi"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("proof")
    for name in ("a.txt", "b.txt"):
        (root / name).write_text("rose\niris\n")
    for args in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "first")):
        who = ("-c", "user.name=me", "-c", "user.email=me@example.com")
        subprocess.run(["git", *who, *args], cwd=root, check=True)
    return root


def picture(root: Path) -> dict[str, str]:
    """Every path with a digest of what it holds; git's own cache of file times left out."""
    found: dict[str, str] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name != ".git/index":
            data = path.read_bytes() if path.is_file() else b""
            found[name] = hashlib.sha256(data).hexdigest()
    return found


@pytest.mark.parametrize(
    "program", [*PROGRAMS.split(), *(f"git {command}" for command in GIT.split())]
)
def test_no_flag_that_passes_the_proof_lets_a_command_write(folder: Path, program: str) -> None:
    tried = [form.format(program, flag) for form, flag in product(FORMS, ["", *FLAGS.split()])]
    proven = [command for command in tried if proves_read_only(command)]
    before = picture(folder)
    subprocess.run(
        ["bash", "-c", "\n".join(proven)],
        cwd=folder,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(folder),
            "GIT_PAGER": "cat",
            "GIT_OPTIONAL_LOCKS": "0",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert picture(folder) == before, "\n".join(proven)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    before=st.lists(st.sampled_from(READING), max_size=2),
    writes=st.sampled_from(WRITING.strip().split("\n")),
    wrap=st.sampled_from(WRAPS),
    after=st.lists(st.sampled_from(READING), max_size=2),
    joint=st.sampled_from(JOINTS),
)
def test_a_command_that_writes_is_found_wherever_it_stands_in_a_line(
    before: list[str], writes: str, wrap: str, after: list[str], joint: str
) -> None:
    line = joint.join([*before, wrap.format(writes), *after])
    assert not proves_read_only(line)
