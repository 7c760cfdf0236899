"""Finding one's way: the palette, slash commands, search, branches in the list, the archive."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.gateway.house import Workspace
from tests.web.looking import THINK, Visitor, composer, say, serious_findings, until, until_done


@pytest.fixture(scope="module")
def workspace(instant: Workspace) -> Workspace:
    return instant


def test_the_palette_finds_commands_and_conversations_by_name(visit: Visitor) -> None:
    visit.new_session(title="Lifts in old houses")
    page = visit.page()
    page.keyboard.press("Control+k")
    palette = page.get_by_role("combobox")
    palette.fill("old lifts")
    palette.press("Enter")
    expect(page.get_by_role("heading", name="Lifts in old houses")).to_be_visible()
    page.keyboard.press("Control+k")
    palette.fill("shortcuts")
    palette.press("Enter")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(sheet).to_contain_text("Show or hide the list")
    assert serious_findings(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+b")
    expect(page.get_by_role("navigation", name="Conversations")).to_have_count(0)


def test_a_slash_offers_commands_and_carries_them_out(visit: Visitor) -> None:
    page = visit.page(visit.new_session())
    field = composer(page)
    field.press_sequentially("/pl")
    expect(page.get_by_role("listbox", name="Commands")).to_be_visible()
    field.press("Enter")
    expect(field).to_have_value("")
    plan = page.get_by_role("group", name="Mode").get_by_role("button", name="Plan")
    expect(plan).to_have_attribute("aria-pressed", "true")
    field.fill("/rename Only stairs")
    field.press("Enter")
    expect(page.get_by_role("heading", name="Only stairs")).to_be_visible()
    field.fill("/level nonsense")
    field.press("Enter")
    expect(page.get_by_text("is no thinking level here")).to_be_visible()


def test_a_command_kept_as_a_file_is_offered_and_sent(visit: Visitor) -> None:
    folder = visit.workspace.home / "config" / "commands"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stairs.md").write_text("Think about stairs.")
    page = visit.page(visit.new_session())
    composer(page).press_sequentially("/st")
    expect(page.get_by_role("option", name="/stairs")).to_be_visible()
    composer(page).press("Enter")
    composer(page).press("Enter")
    until_done(page)
    expect(page.locator(".turn .text").last).to_contain_text("89")


def test_words_are_found_in_thoughts_and_brought_into_view(visit: Visitor) -> None:
    page = visit.page(visit.new_session(title="A first one"))
    say(page, THINK)
    until_done(page)
    session = page.url.split("/s/")[1]
    found = next(
        message
        for message in visit.call("GET", f"/sessions/{session}/messages")["messages"]
        if message["thinking_content"]
    )
    word = max(re.findall(r"[a-z]{6,}", found["thinking_content"]), key=len)
    page.get_by_role("searchbox").fill(word)
    hit = page.locator(".hit").filter(has_text="in a thought").first
    expect(hit.locator("mark").first).to_have_text(re.compile(word, re.IGNORECASE))
    hit.click()
    page.keyboard.press("Control+Shift+f")
    search = page.get_by_role("search")
    search.get_by_role("checkbox").check()
    search.get_by_role("textbox").fill(word)
    search.get_by_role("textbox").press("Enter")
    expect(search.get_by_role("status")).to_contain_text(re.compile(r"^1 of "))
    until(lambda: page.evaluate("() => CSS.highlights.get('found-now')?.size") == 1)


def test_branches_fold_under_their_root_and_the_archive_takes_and_gives_back(
    visit: Visitor,
) -> None:
    path = visit.new_session(title="The root")
    page = visit.page(path)
    say(page, THINK)
    until_done(page)
    sidebar = page.get_by_role("navigation", name="Conversations")

    def act(title: str, name: str) -> None:
        row = sidebar.get_by_role("listitem").filter(has_text=title).first
        row.hover()
        row.get_by_role("button", name=re.compile("^Actions")).click()
        page.get_by_role("menuitem", name=name, exact=True).click()

    act("The root", "Branch")
    expect(page).not_to_have_url(re.compile(path))
    expect(sidebar.get_by_role("button", name=re.compile("one branch"))).to_be_visible()
    branch = page.url.split("/s/")[1]
    page.get_by_role("banner").get_by_role("link", name="Branch of The root").click()
    expect(page).to_have_url(re.compile(path))
    act("The root", "Archive")
    expect(page.get_by_text("was archived")).to_be_visible()
    assert visit.call("GET", f"/sessions/{branch}")["parent_id"] == path.removeprefix("s/")
    sidebar.get_by_role("button", name="Archive", exact=True).click()
    act("The root", "Take out of the archive")
    expect(sidebar.get_by_text("Nothing is archived.")).to_be_visible()
    sidebar.get_by_role("button", name="Back to the list").click()
    expect(sidebar.get_by_text("The root").first).to_be_visible()


def test_a_conversation_is_saved_as_a_file_that_can_be_imported(visit: Visitor) -> None:
    page = visit.page(visit.new_session(title="To keep"))
    say(page, THINK)
    until_done(page)
    composer(page).fill("/export")
    composer(page).press("Enter")
    sheet = page.get_by_role("dialog", name="Export")
    sheet.get_by_role("radio", name=re.compile("To keep or import again")).check()
    with page.expect_download() as saved:
        sheet.get_by_role("link", name="Save").click()
    kept = saved.value.path()
    assert THINK in json.dumps(json.loads(kept.read_text()), ensure_ascii=False)
    address = page.url
    page.get_by_label("Import…").set_input_files(kept)
    expect(page).not_to_have_url(address)
    expect(page.locator(".bubble").get_by_text(THINK)).to_be_visible()
    expect(page.locator(".think")).to_have_count(1)


def test_usage_is_summed_up_and_the_meter_tells_what_fills_the_context(visit: Visitor) -> None:
    page = visit.page(visit.new_session(title="To be counted"))
    say(page, THINK)
    until_done(page)
    page.get_by_role("button", name=re.compile("^Tokens and context")).click()
    meter = page.get_by_role("dialog", name="Tokens and context")
    expect(meter.get_by_text("What fills the context")).to_be_visible()
    assert serious_findings(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Usage").click()
    sheet = page.get_by_role("dialog", name="Usage")
    expect(sheet.locator("rect.thinking").last).not_to_have_attribute("height", "0")
    assert serious_findings(page) == []
    sheet.get_by_role("button", name="Conversation").click()
    row = sheet.get_by_role("row").filter(has_text="To be counted")
    expect(row.get_by_role("cell").nth(0)).to_have_text(re.compile(r"^\d"))
