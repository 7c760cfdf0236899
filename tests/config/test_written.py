"""Agents and commands as files: what is read, and what is told of files that cannot be used."""

from pathlib import Path

import pytest

from silu.config.written import read_agents, read_commands
from silu.types import front_matter
from silu.types.agents import Sampling, ThinkingLimit
from silu.types.errors import UserError


def test_a_head_has_names_lists_quoted_and_folded_text() -> None:
    fields, body = front_matter.read(
        "---\n"
        "name: review\n"
        'title: "a: b # c"\n'
        "# a remark\n"
        "tools: [read_file, 'search_files']\n"
        "more:\n  - one\n- two\n"
        "about: >\n  first line\n  second line\n"
        "Argument-Hint: path  # what to read\n"
        "---\n\nThe text.\n---\nmore\n"
    )
    assert fields == {
        "name": "review",
        "title": "a: b # c",
        "tools": ["read_file", "search_files"],
        "more": ["one", "two"],
        "about": "first line second line",
        "argument_hint": "path",
    }
    assert body == "The text.\n---\nmore"


@pytest.mark.parametrize("text", ["no head", "", "--- not a fence\n---\n"])
def test_a_file_without_a_head_is_all_text(text: str) -> None:
    assert front_matter.read(text) == ({}, text)


@pytest.mark.parametrize("text", ["---\nname: x\n", "---\nwhat is this\n---\n"])
def test_a_head_that_cannot_be_read_names_its_line(text: str) -> None:
    with pytest.raises(UserError, match=r"Line [12] of the head"):
        front_matter.read(text)


def test_an_agents_file_says_who_answers_and_how(tmp_path: Path) -> None:
    (tmp_path / "reviewer.md").write_text(
        "---\ndescription: Reads and judges.\nmodel: demo/thinker\nlevel: high\n"
        "tools: read_file, search_*\nmax_tokens: 4000\ntemperature: 0.2\nthinking_seconds: 30\n"
        "---\nYou review code."
    )
    agent = read_agents(tmp_path).found["reviewer"]
    assert (agent.prompt, agent.model, agent.level) == ("You review code.", "demo/thinker", "high")
    assert agent.tools == ("read_file", "search_*")
    assert agent.sampling == Sampling(max_tokens=4000, temperature=0.2)
    assert agent.thinking_limit == ThinkingLimit(seconds=30)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\ntool: read_file\n---\nx", "`tool` is no field"),
        ("---\ntemperature: 9\n---\nx", "A number cannot be used"),
        ("---\nlevel: enormous\n---\nx", "enormous"),
        ("---\nnever ends", "is missing"),
    ],
)
def test_an_agents_file_that_is_wrong_is_told_and_gives_no_agent(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "bad.md").write_text(text)
    (tmp_path / "good.md").write_text("You are good.")
    (tmp_path / "silu.md").write_text("You are somebody else.")
    written = read_agents(tmp_path)
    assert list(written.found) == ["good"]
    assert len(written.problems) == 2
    assert why in written.problems[0] and "bad.md" in written.problems[0]


def test_a_command_keeps_its_text_and_says_what_follows_its_name(tmp_path: Path) -> None:
    (tmp_path / "fix.md").write_text(
        "---\ndescription: Fixes.\nargument-hint: <issue>\nmode: plan\nallowed-tools: [Bash]\n"
        "---\nFix $ARGUMENTS."
    )
    command = read_commands(tmp_path).found["fix"]
    assert (command.text, command.arguments, command.mode) == ("Fix $ARGUMENTS.", "<issue>", "plan")


def test_no_command_leaves_plan_mode_and_no_link_leaves_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "commands"
    folder.mkdir()
    (tmp_path / "secret").write_text("a secret")
    (folder / "go.md").write_text("---\nmode: build\n---\ngo")
    (folder / "out.md").symlink_to(tmp_path / "secret")
    (folder / "bytes.md").write_bytes(b"\xff\xfe")
    written = read_commands(folder)
    assert written.found == {}
    assert [problem.split(" ")[0] for problem in written.problems] == [
        "bytes.md",
        "go.md",
        "out.md",
    ]
    assert read_commands(tmp_path / "nowhere").problems == []
