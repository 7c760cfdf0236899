"""What is named in the files for servers is there: paths, variables, options, routes."""

import configparser
import re
import shutil
import subprocess

import pytest

from tests.house.tree import ROOT, SRC

FILES = ("Dockerfile", "docker-compose.yml", "deploy/silu.service", "deploy/nginx.conf")
PAGE = (ROOT / "docs" / "deploy.md").read_text()


def text_of(name: str) -> str:
    return (ROOT / name).read_text()


def test_everything_that_is_copied_into_the_image_exists_and_is_let_through() -> None:
    let_through = re.findall(r"^!(\S+)", text_of(".dockerignore"), re.MULTILINE)
    for line in re.findall(r"^COPY (?!--from)(.*)$", text_of("Dockerfile"), re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists(), name
            assert name in let_through, name
    assert all((ROOT / name).exists() for name in let_through)


@pytest.mark.parametrize("name", [*FILES, "docs/deploy.md"])
def test_every_variable_is_one_that_silu_reads(name: str) -> None:
    source = "".join(path.read_text() for path in SRC.rglob("*.py"))
    for variable in set(re.findall(r"SILU_[A-Z]+(?:_[A-Z]+)*", text_of(name))):
        assert f'"{variable}"' in source, f"{name} names {variable}"


@pytest.mark.parametrize("name", FILES)
def test_all_of_them_mean_the_same_port(name: str) -> None:
    assert set(re.findall(r"\b8\d{3}\b", text_of(name))) <= {"8765"}
    assert f"{name}" in PAGE


def test_the_proxy_lets_streams_sockets_and_hosts_through() -> None:
    proxy = text_of("deploy/nginx.conf")
    for needed in (
        "proxy_buffering off;",
        "proxy_set_header Host $http_host;",
        "proxy_set_header Upgrade $http_upgrade;",
        "proxy_http_version 1.1;",
    ):
        assert needed in proxy
    assert proxy.count("{") == proxy.count("}")


def test_the_unit_is_one_that_systemd_reads() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign] - keeps upper case
    unit.read(ROOT / "deploy" / "silu.service")
    assert unit["Service"]["ExecStart"].split()[1] == "serve"
    program = shutil.which("systemd-analyze")
    if program is None:
        return
    done = subprocess.run(
        [program, "verify", "--man=no", str(ROOT / "deploy" / "silu.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in done.stderr.splitlines() if "silu.service" in line]
    # The program and the file of variables are not on the machine of the tests.
    assert [line for line in told if "not executable" not in line] == []
