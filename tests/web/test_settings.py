"""Settings of tools: rules, limits, MCP servers. What is chosen is what the server has."""

import re
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.gateway.house import Workspace
from tests.web.looking import PATIENCE, Visitor, say, serious_findings, until, until_done

MCP_SERVER = Path(__file__).parents[1] / "tools" / "mcp_server.py"


@pytest.fixture(scope="module")
def workspace(instant: Workspace) -> Workspace:
    return instant


def pane(page: Page, name: str) -> Locator:
    page.get_by_role("button", name="Settings", exact=True).click()
    sheet = page.get_by_role("dialog", name="Settings")
    sheet.get_by_role("button", name=name, exact=True).click()
    return sheet


def test_a_rule_is_added_changed_and_removed(visit: Visitor) -> None:
    page = visit.page()
    sheet = pane(page, "Tools and approvals")
    sheet.get_by_label("Tool", exact=True).fill("shell")
    sheet.get_by_label("What it is called with").fill("git *")
    sheet.get_by_label("What then").select_option("allow")
    sheet.get_by_role("button", name="Add").first.click()
    expect(sheet.get_by_text("git *", exact=True)).to_be_visible()
    assert serious_findings(page) == []
    sheet.get_by_label("What happens with shell").select_option("deny")

    def rules() -> list[dict[str, str]]:
        return visit.call("GET", "/settings")["approvals"]

    until(lambda: rules() == [{"tool": "shell", "action": "deny", "pattern": "git *"}])
    sheet.get_by_role("button", name="Remove the rule for shell").click()
    until(lambda: rules() == [])


def test_folders_are_trusted_and_an_engine_is_chosen(visit: Visitor, tmp_path: Path) -> None:
    page = visit.page()
    sheet = pane(page, "Tools and approvals")
    field = sheet.get_by_label("Trusted folders")
    field.fill(str(tmp_path))
    field.press("Enter")
    expect(sheet.locator("code", has_text=str(tmp_path))).to_be_visible()
    sheet.get_by_label("Web search").select_option("none")
    until(lambda: visit.call("GET", "/settings")["search_engine"] == "none")
    assert visit.call("GET", "/settings")["trusted_folders"] == [str(tmp_path)]
    sheet.get_by_label("Web search").select_option("")
    sheet.get_by_role("button", name=f"Remove {tmp_path}").click()
    until(lambda: visit.call("GET", "/settings")["trusted_folders"] == [])


def test_a_limit_is_set_and_taken_away(visit: Visitor) -> None:
    page = visit.page()
    sheet = pane(page, "Server")
    field = sheet.get_by_label("Seconds of one thought")
    field.fill("90")
    field.press("Tab")
    until(lambda: visit.call("GET", "/settings")["limits"]["thinking_seconds"] == 90)
    field.fill("")
    field.press("Tab")
    until(lambda: visit.call("GET", "/settings")["limits"]["thinking_seconds"] is None)
    assert serious_findings(page) == []


def test_an_mcp_server_is_tried_added_switched_off_and_removed(visit: Visitor) -> None:
    page = visit.page()
    sheet = pane(page, "MCP servers")
    sheet.get_by_role("textbox", name="Name", exact=True).fill("mine")
    sheet.get_by_label("Command or address").fill("/no/such/command")
    sheet.get_by_role("button", name="Try and add").click()
    refusal = sheet.get_by_text(re.compile("/no/such/command")).first
    expect(refusal).to_be_visible(timeout=PATIENCE)
    sheet.get_by_label("Command or address").fill(f'"{sys.executable}" "{MCP_SERVER}"')
    sheet.get_by_role("button", name="Try and add").click()
    expect(sheet.get_by_text("connected", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(sheet.get_by_text(re.compile(r"^\d+ tools$"))).to_be_visible()
    assert serious_findings(page) == []
    sheet.get_by_role("switch", name="Use mine").press("Enter")
    expect(sheet.get_by_text("off", exact=True)).to_be_visible()
    sheet.get_by_role("button", name="Remove mine").click()
    expect(sheet.get_by_text("None yet.")).to_be_visible()
    assert visit.call("GET", "/mcp/servers")["servers"] == []


def test_a_token_for_programs_is_told_once_and_ended(visit: Visitor) -> None:
    page = visit.page()
    sheet = pane(page, "Access")
    sheet.get_by_label("Name of the program").fill("editor")
    sheet.get_by_role("button", name="New token").click()
    text = sheet.get_by_role("status").locator("code").inner_text()
    assert serious_findings(page) == []
    listed = visit.call("GET", "/tokens")
    assert [token["name"] for token in listed["tokens"]] == ["editor"]
    assert text not in str(listed)
    sheet.get_by_role("button", name="Remove editor").click()
    until(lambda: visit.call("GET", "/tokens")["tokens"] == [])


def test_agents_skills_and_commands_are_shown_as_they_were_read(visit: Visitor) -> None:
    folder = visit.workspace.home / "config" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gardener.md").write_text("---\ndescription: Knows roses\n---\nYou are a gardener.\n")
    page = visit.page()
    sheet = pane(page, "Agents and skills")
    expect(sheet.get_by_text("gardener", exact=True)).to_be_visible()
    expect(sheet.get_by_text("Knows roses")).to_be_visible()
    assert serious_findings(page) == []


def test_every_panel_is_accessible_in_the_dark_and_in_chinese(visit: Visitor) -> None:
    context = visit.context(color_scheme="dark", locale="zh-CN", reduced_motion="reduce")
    page = visit.page(context=context)
    say(page, "想一想楼梯。")
    until_done(page)

    def clean(name: str) -> None:
        page.wait_for_timeout(250)
        assert serious_findings(page) == [], name
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)

    page.keyboard.press("Control+k")
    page.get_by_role("combobox").wait_for()
    clean("palette")
    page.keyboard.press("Alt+i")
    page.get_by_role("dialog", name="检查器").locator(".waterfall").first.wait_for()
    clean("inspector")
    page.get_by_role("button", name="用量", exact=True).click()
    page.get_by_role("dialog", name="用量").get_by_role("table").wait_for()
    clean("usage")
    for section in ("工具与批准", "MCP 服务器", "助手与技能", "访问", "服务器"):
        pane = page.get_by_role("button", name="设置", exact=True)
        pane.click()
        page.get_by_role("dialog").get_by_role("button", name=section, exact=True).click()
        page.locator(".pane h3").first.wait_for()
        clean(section)
