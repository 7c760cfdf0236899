"""What a run changed in files: shown, undone and redone in a real folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.gateway.house import Workspace, ended
from tests.web.looking import Visitor, say, serious_findings, until, until_done
from tests.web.measures import replaying
from tests.web.texts import write_answer, write_call

BEFORE = "# Rye\n\nSalt 18 g.\n"
AFTER = "# Rye\n\nSalt 20 g.\nRest overnight.\n"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A model that writes one file and says so."""
    home = tmp_path_factory.mktemp("files")
    call, answer = home / "one.sse", home / "two.sse"
    write_call(call, "write_file", {"path": "rye.md", "content": AFTER})
    write_answer(answer, "The recipe is changed.", deltas=2)
    with replaying(call, answer) as endpoint:
        made = Workspace(home)
        made.add_endpoint(endpoint)
        with ended(made.start()):
            yield made


def test_a_changed_file_is_shown_undone_and_redone(visit: Visitor, tmp_path: Path) -> None:
    recipe = tmp_path / "rye.md"
    recipe.write_text(BEFORE)
    visit.call("PATCH", "/settings", {"workspace_roots": [str(tmp_path)]})
    rules = [{"tool": "write_file", "action": "allow"}]
    path = visit.new_session(model="replay/m", workspace=str(tmp_path), approvals=rules)
    page = visit.page(path)
    say(page, "More salt.")
    until_done(page)
    assert recipe.read_text() == AFTER
    page.get_by_role("button", name="Files 1").click()
    panel = page.get_by_role("dialog", name="Changed files")
    expect(panel.get_by_role("heading", name="More salt.")).to_be_visible()
    panel.locator("summary").get_by_text("rye.md").click()
    expect(panel.get_by_role("region", name="Changes")).to_contain_text("Rest overnight.")
    panel.get_by_role("button", name="Open", exact=True).click()
    expect(panel.locator("pre")).to_have_text(AFTER)
    assert serious_findings(page) == []
    panel.get_by_role("button", name="Close", exact=True).last.click()
    expect(panel.locator("pre")).to_have_count(0)
    panel.get_by_role("button", name="Undo").click()
    expect(panel.get_by_text("undone", exact=True)).to_be_visible()
    until(lambda: recipe.read_text() == BEFORE)
    panel.get_by_role("button", name="Redo").click()
    until(lambda: recipe.read_text() == AFTER)
    expect(panel.get_by_role("button", name="Undo")).to_be_visible()
    page.keyboard.press("Escape")
    say(page, "/undo")
    expect(page.get_by_text("The files are as they were before. rye.md")).to_be_visible()
    until(lambda: recipe.read_text() == BEFORE)
    say(page, "/redo")
    until(lambda: recipe.read_text() == AFTER)
