"""The page around the chat: sidebar, settings, inspector, broken connections, small screens."""

import re
import time

import pytest
from playwright.sync_api import Page, expect

from tests.gateway.house import Workspace
from tests.web.looking import (
    LOOK,
    PATIENCE,
    THINK,
    Visitor,
    composer,
    live_thought,
    say,
    serious_findings,
    stop_button,
    until,
    until_done,
)


def test_a_chat_is_renamed_deleted_and_taken_back(visit: Visitor) -> None:
    path = visit.new_session(title="Stairs and lifts")
    page = visit.page(path)
    sidebar = page.get_by_role("navigation", name="Conversations")
    row = sidebar.get_by_role("listitem").filter(has_text="Stairs and lifts")
    row.hover()
    row.get_by_role("button", name=re.compile("^Actions")).click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("textbox", name="Rename").fill("Only stairs")
    page.get_by_role("textbox", name="Rename").press("Enter")
    row = sidebar.get_by_role("listitem").filter(has_text="Only stairs")
    expect(page.get_by_role("heading", name="Only stairs")).to_be_visible()
    row.hover()
    row.get_by_role("button", name=re.compile("^Actions")).click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(row).to_have_count(1)
    assert visit.call("GET", "/" + path.replace("s/", "sessions/"))["title"] == "Only stairs"


def test_the_sidebar_shows_what_runs_and_how_far_its_tasks_are(visit: Visitor) -> None:
    page = visit.page(visit.new_session())
    say(page, LOOK)
    row = page.get_by_role("navigation", name="Conversations").get_by_role("listitem").first
    expect(row).to_contain_text("Running…")
    until_done(page)
    expect(row).to_contain_text(re.compile(r"\d/3"))
    expect(row).not_to_contain_text("Running…")
    until(lambda: not visit.call("GET", "/sessions")["sessions"][0]["unread"])


def test_an_endpoint_that_does_not_answer_is_explained_before_it_is_added(
    visit: Visitor,
) -> None:
    page = visit.page()
    page.get_by_role("button", name="Settings").click()
    sheet = page.get_by_role("dialog", name="Settings")
    sheet.get_by_label("Name").fill("mine")
    sheet.get_by_label("Address").fill("http://127.0.0.1:9/v1")
    sheet.get_by_role("button", name="Test connection").last.click()
    expect(sheet.get_by_text("It does not answer as it should.")).to_be_visible()
    expect(sheet.locator(".report")).to_contain_text("127.0.0.1:9")
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)


def test_theme_and_language_change_at_once_and_stay(visit: Visitor) -> None:
    page = visit.page()
    page.get_by_role("button", name=re.compile("^Appearance")).click()
    page.get_by_role("button", name=re.compile("^Appearance")).click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Switch to Chinese").click()
    expect(composer(page)).to_have_attribute("placeholder", "问点什么…")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(page.get_by_role("button", name="新对话")).to_be_visible()


def test_the_inspector_shows_what_was_asked_and_the_bytes_that_were_sent(
    visit: Visitor,
) -> None:
    page = visit.page(visit.new_session())
    say(page, "Hello")
    until_done(page)
    page.get_by_role("button", name="Inspector").click()
    drawer = page.get_by_role("dialog", name="Inspector")
    expect(drawer).to_contain_text(re.compile(r"Call \d"))
    expect(drawer).to_contain_text("Medium")
    drawer.get_by_text("Bytes sent").first.click()
    expect(drawer.locator("pre").nth(1)).to_contain_text("Hello")
    # The last of the demo's calls has the thoughts of those before it.
    expect(drawer).to_contain_text(re.compile(r"Sent back.*2 thoughts: \d+ characters", re.DOTALL))
    drawer.locator("summary").filter(has_text="Call 1").first.click()
    expect(drawer).to_contain_text("No thought went back with this call.")


def test_a_phone_shows_everything_without_scrolling_sideways(visit: Visitor) -> None:
    page = visit.page(visit.new_session(), width=390, height=844, has_touch=True)
    say(page, THINK)
    expect(live_thought(page)).to_be_visible()
    wide = "() => document.documentElement.scrollWidth - innerWidth"
    assert page.evaluate(wide) <= 0
    stop_button(page).click()
    until_done(page)
    say(page, LOOK)
    expect(page.locator("footer.meta")).to_have_count(2, timeout=PATIENCE)
    assert page.evaluate(wide) <= 0
    box = page.get_by_role("button", name="Send").bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390
    page.get_by_role("button", name="Open the list of conversations").click()
    page.get_by_role("navigation", name="Conversations").get_by_text("New chat").first.click()
    expect(page.get_by_role("navigation", name="Conversations")).to_have_count(0)
    assert page.url.endswith("/")


def test_a_server_that_is_restarted_in_mid_thought_is_followed_again(
    visit: Visitor, workspace: Workspace
) -> None:
    visit.expect_trouble = True
    page = visit.page(visit.new_session())
    say(page, THINK)
    live_thought(page).locator(".md p").first.wait_for()
    port = workspace.host.rpartition(":")[2]
    workspace.kill()
    expect(page.get_by_text("Connection lost")).to_be_visible()
    workspace.start("--port", port)
    expect(page.get_by_text("Connection lost")).to_have_count(0, timeout=PATIENCE)
    until_done(page)
    expect(page.locator(".bubble")).to_have_count(1)
    say(page, "Hello")
    expect(page.locator("footer.meta")).to_have_count(2, timeout=PATIENCE)


def test_going_offline_and_back_loses_nothing(visit: Visitor) -> None:
    visit.expect_trouble = True
    context = visit.context()
    page = visit.page(visit.new_session(), context=context)
    page.evaluate(
        """() => {
          // Chromium's offline mode leaves open sockets alone: close this one as a network would.
          const send = WebSocket.prototype.send
          WebSocket.prototype.send = function (data) { window.socket = this; send.call(this, data) }
        }"""
    )
    say(page, THINK)
    live_thought(page).locator(".md p").first.wait_for()
    context.set_offline(True)
    page.evaluate("() => window.socket.close()")
    time.sleep(1)
    say(page, "Hello")
    context.set_offline(False)
    expect(page.locator(".bubble")).to_have_count(1)
    expect(page.locator("footer.meta")).to_have_count(2, timeout=PATIENCE)
    expect(page.locator(".bubble").last).to_have_text("Hello")


def test_the_keyboard_alone_is_enough(visit: Visitor) -> None:
    page = visit.page(visit.new_session())
    composer(page).focus()
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_accessible_name("Attach files")
    page.keyboard.press("Tab")
    for name in ("Plan", "Build"):
        expect(page.locator(":focus")).to_have_text(name)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menu")).to_be_visible()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(":focus")).to_have_accessible_name("Thinking level: Off")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.type("zzz")
    expect(page.get_by_text("No model matches “zzz”.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(":focus")).to_have_accessible_name(re.compile("^Model"))


def test_one_polite_line_tells_a_listener_what_happens(visit: Visitor) -> None:
    page = visit.page(visit.new_session())
    line = page.locator("p[role=status][aria-live=polite]")
    expect(line).to_have_count(1)
    say(page, THINK)
    expect(line).to_have_text("Thinking")
    expect(line).to_have_text("Answer finished", timeout=PATIENCE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_axe_finds_nothing_serious_on_any_screen(visit: Visitor, scheme: str, locale: str) -> None:
    context = visit.context(color_scheme=scheme, locale=locale, reduced_motion="reduce")
    page = visit.page(context=context)
    _clean(page, "start")
    page.goto(visit.workspace.url + visit.new_session())
    composer(page).wait_for()
    english = locale == "en-US"
    say(page, LOOK if english else "这个文件夹里有什么？")
    expect(page.locator("footer.meta")).to_have_count(1, timeout=PATIENCE)
    say(page, THINK if english else "想一想楼梯。")
    live_thought(page).wait_for()
    _clean(page, "in mid-thought")
    page.locator(".round.stop").click()
    expect(page.locator("footer.meta")).to_have_count(2, timeout=PATIENCE)
    page.locator(".think button.toggle").first.click()
    page.locator(".tool .line").first.click()
    page.wait_for_timeout(500)
    _clean(page, "after")
    page.locator(".chip.level").click()
    page.get_by_role("menu").wait_for()
    _clean(page, "levels")
    page.keyboard.press("Escape")
    page.locator(".chip.model").click()
    page.get_by_role("listbox").wait_for()
    _clean(page, "models")
    page.keyboard.press("Escape")
    page.locator(".meter").click()
    _clean(page, "meter")
    page.keyboard.press("Escape")
    page.locator(".bar .inspector").click()
    page.locator(".call").first.wait_for()
    _clean(page, "inspector")
    page.keyboard.press("Escape")
    page.locator(".sidebar .foot-button").nth(1).click()
    page.locator(".pane .rows").first.wait_for()
    _clean(page, "settings: models")
    for section in range(1, page.locator(".sections button").count()):
        page.locator(".sections button").nth(section).click()
        page.locator(".pane section").first.wait_for()
        _clean(page, f"settings: section {section}")


def _clean(page: Page, screen: str) -> None:
    assert serious_findings(page) == [], screen
