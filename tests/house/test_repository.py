"""What must and must not stand in the repository's own files."""

import json
import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.house.tree import ROOT, files, show, texts

LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-node.lock")
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)", re.MULTILINE)

ADDRESS = re.compile(r"https?://|--(?:extra-)?index-url|--find-links|^-[if]\b", re.MULTILINE)

REGISTRY = re.compile(
    r"registry\s*=\s*[\"']?http|(?:extra-)?index-url\s*[=:]?\s*[\"']?http"
    r"|https?://[^\s\"']+\.(?:whl|tgz|tar\.gz)|\"resolved\"\s*:\s*\"http"
)

HOME_OF_SOMEONE = re.compile(r"(?<![\w.])/(?:home|Users)/(?!user\b|me\b|you\b|someone\b)[a-z]\w*")


def pins(name: str) -> dict[str, str]:
    text = (ROOT / name).read_text()
    return {canonicalize_name(found[1]): found[2] for found in PIN.finditer(text)}


def test_python_locks_name_no_address() -> None:
    for name in LOCKS:
        assert not ADDRESS.search((ROOT / name).read_text()), name


def test_every_pin_of_a_python_lock_has_hashes() -> None:
    for name in LOCKS:
        text = re.sub(r"\\\n\s*", " ", (ROOT / name).read_text())
        for line in text.splitlines():
            if "==" in line:
                assert "--hash=sha256:" in line, f"{name}: {line[:60]}"


def test_locks_hold_what_pyproject_asks_for() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = config["dependency-groups"]
    run = [*config["project"]["dependencies"], *groups["build"]]
    asked = {LOCKS[0]: run, LOCKS[1]: [*run, *groups["dev"]], LOCKS[2]: groups["node"]}
    for name, requirements in asked.items():
        held = pins(name)
        for requirement in map(Requirement, requirements):
            pin = held.get(canonicalize_name(requirement.name))
            assert pin is not None, f"{requirement.name} is not in {name}: run `make lock`"
            assert requirement.specifier.contains(Version(pin)), f"{requirement} against {pin}"


def test_both_python_locks_pin_the_same_versions() -> None:
    run, dev = pins(LOCKS[0]), pins(LOCKS[1])
    assert run.items() <= dev.items()


def test_the_web_lock_names_no_address_and_is_complete() -> None:
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())
    package = json.loads((ROOT / "web" / "package.json").read_text())
    top = lock["packages"][""]
    for kind in ("dependencies", "devDependencies"):
        assert top.get(kind) == package.get(kind), f"{kind} differ: run `npm install` in web/"
    for name, entry in lock["packages"].items():
        assert "resolved" not in entry, f"{name} has an address"
        assert not name or entry.get("link") or entry.get("integrity"), f"{name} has no hash"


def test_no_file_names_a_package_registry() -> None:
    here = Path(__file__)
    found = [show(path) for path, text in texts() if path != here and REGISTRY.search(text)]
    assert not found, found


def test_no_file_names_a_path_of_this_machine() -> None:
    here = Path(__file__)
    own = {str(Path.home())} - {"/root", "/"}
    if not (ROOT / str(ROOT).lstrip("/")).exists():  # a checkout at /src/silu looks like our src
        own.add(str(ROOT))
    found: list[str] = []
    for path, text in texts():
        if path == here or "node_modules" in path.parts:
            continue
        named = {place for place in own if place in text}
        named |= {match[0] for match in HOME_OF_SOMEONE.finditer(text)}
        found += [f"{show(path)}: {place}" for place in sorted(named)]
    assert not found, "\n".join(found)


def test_the_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text and "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert config["project"]["license"] == "Apache-2.0"
    assert json.loads((ROOT / "web" / "package.json").read_text())["license"] == "Apache-2.0"


def test_pre_commit_fetches_nothing() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall(r"^\s*- repo: (.*)$", text, re.MULTILINE) == ["local"]
    assert set(re.findall(r"language: (.*)", text)) == {"system"}


def test_nothing_is_left_to_do_in_the_code() -> None:
    mark = re.compile(
        r"(?:#|//|/\*|<!--).*\b(?:TO"
        + r"DO|FIX"
        + r"ME|XX"
        + r"X)\b|raise NotImplemented"
        + r"Error"
    )
    found = [
        f"{show(path)}:{number}"
        for path in files(".py", ".ts", ".vue")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if mark.search(line) and "generated" not in path.parts
    ]
    assert not found, "\n".join(found)


def test_a_silenced_checker_says_why() -> None:
    silenced = re.compile(
        r"#\s*(?:noqa(?::\s*[A-Z0-9, ]+)?|type:\s*ignore(?:\[[^]]*\])?"
        r"|pyright:\s*ignore(?:\[[^]]*\])?)(.*)$"
    )
    found = [
        f"{show(path)}:{number} {line.strip()[-60:]}"
        for path in files(".py")
        if ROOT / "tests" not in path.parents  # the type checker reads src alone
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (match := silenced.search(line)) and len(match[1].strip(" #-:—")) < 4
    ]
    assert not found, "\n".join(found)
