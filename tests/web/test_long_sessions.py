"""A conversation of many turns: pages of it, and the place of the reader."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.gateway.house import Workspace, ended
from tests.web.looking import PATIENCE, Visitor, composer, say

TURNS = 45


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Answers at once: a long conversation is soon had."""
    made = Workspace(tmp_path_factory.mktemp("long"), env={"SILU_DEMO_RATE": "0"})
    with ended(made.start()):
        yield made


def bubble(page: Page, number: int) -> Locator:
    return page.locator(".bubble").get_by_text(f"Hello {number}", exact=True)


def test_a_long_conversation_opens_at_its_end_and_older_pages_hold_the_place(
    visit: Visitor,
) -> None:
    path = visit.new_session()
    context = visit.context()
    page = visit.page(path, context=context)
    for number in range(TURNS):
        say(page, f"Hello {number}")
        expect(composer(page)).to_have_value("")
    expect(bubble(page, TURNS - 1)).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0, timeout=PATIENCE)
    expect(page.get_by_role("list", name="Queued")).to_have_count(0, timeout=PATIENCE)

    page = visit.page(path, context=context)
    last = bubble(page, TURNS - 1)
    expect(last).to_be_in_viewport()
    log = page.get_by_role("region", name="Conversation")
    # Only what is near is drawn.
    assert page.locator(".turn").count() < TURNS
    for _ in range(60):
        log.evaluate("(node) => node.scrollBy(0, -900)")
        page.wait_for_timeout(60)
        if bubble(page, 0).count():
            break
    expect(bubble(page, 0)).to_be_visible()
    seen = page.evaluate("() => [...document.querySelectorAll('.bubble')].map((n) => n.innerText)")
    assert seen == [f"Hello {number}" for number in range(len(seen))]
    page.get_by_role("button", name="Jump to the latest").click()
    expect(last).to_be_in_viewport()
