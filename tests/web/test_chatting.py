"""A person chats with a thinking model in a real browser."""

import re

from playwright.sync_api import Locator, expect

from tests.web.looking import (
    LOOK,
    PATIENCE,
    THINK,
    Visitor,
    composer,
    live_thought,
    say,
    settled,
    shape,
    stop_button,
    until,
    until_done,
)


def test_a_first_visitor_comes_to_an_answer_that_is_labelled_a_demo(visit: Visitor) -> None:
    page = visit.page()
    assert "token" not in page.url
    page.get_by_role("button", name=re.compile("Try the demo")).click()
    expect(live_thought(page)).to_be_visible()
    until_done(page)
    expect(page.locator(".by .demo")).to_have_text("Demo")
    expect(page.locator(".tool").first).to_contain_text("todo")
    expect(page.get_by_role("region", name="Task plan")).to_contain_text("completed")
    expect(page.locator(".turn .text").last).to_contain_text("demo")


def test_a_thought_streams_and_then_folds_to_one_line_above_the_answer(visit: Visitor) -> None:
    page = visit.page(visit.new_session())
    say(page, THINK)
    thought = live_thought(page)
    expect(thought).to_contain_text("Thinking…")
    before = thought.locator(".md").inner_text()
    page.wait_for_function(
        "(length) => document.querySelector('.think .md')?.textContent.length > length",
        arg=len(before),
    )
    until_done(page)
    folded = page.locator(".think").first
    expect(folded).to_have_attribute("data-state", "folded")
    expect(folded).to_contain_text(re.compile(r"Thought for \d+ s · [\d.]+K? tokens"))
    expect(folded.locator(".md")).to_have_count(0)
    first_of = "(node) => [...document.querySelectorAll('.think, .text')].indexOf(node)"
    assert folded.evaluate(first_of) == 0


def test_a_reload_in_mid_thought_shows_everything_so_far_and_goes_on(visit: Visitor) -> None:
    page = visit.page(visit.new_session())
    say(page, THINK)
    live_thought(page).locator(".md p").first.wait_for()
    page.wait_for_timeout(2200)
    before = live_thought(page).locator(".md").inner_text()
    seconds_before = seconds_of(live_thought(page))
    page.reload()
    thought = live_thought(page)
    expect(thought.locator(".md")).to_contain_text(before[:80])
    assert len(thought.locator(".md").inner_text()) >= len(before)
    # The clock goes on from the server's start; it does not begin again.
    assert seconds_of(thought) >= max(1, seconds_before)
    expect(page.locator(".by")).to_contain_text("Medium")
    until_done(page)
    expect(page.locator(".think").first).to_contain_text(re.compile(r"Thought for \d+ s"))


def seconds_of(thought: Locator) -> int:
    return int(re.sub(r"\D", "", thought.locator(".figures").inner_text()))


def test_live_and_after_a_reload_the_conversation_is_the_same(visit: Visitor) -> None:
    page = visit.page(visit.new_session())
    say(page, LOOK)
    until_done(page)
    page.wait_for_timeout(800)
    live = settled(page)
    assert [line.partition(":")[0] for line in live][:3] == ["bubble", "by", "think"]
    page.reload()
    until_done(page)
    page.wait_for_timeout(400)
    assert settled(page) == live


def test_stop_keeps_what_had_come_says_so_once_and_the_session_goes_on(visit: Visitor) -> None:
    page = visit.page(visit.new_session())
    say(page, THINK)
    live_thought(page).locator(".md p").first.wait_for()
    stop_button(page).click()
    until_done(page)
    expect(page.locator("footer.meta")).to_contain_text("Stopped")
    expect(page.locator(".think")).to_contain_text("Thinking interrupted")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.reload()
    expect(page.locator("footer.meta")).to_contain_text("Stopped")
    expect(page.locator(".think")).to_contain_text("Thinking interrupted")
    say(page, "Hello")
    expect(page.locator("footer.meta")).to_have_count(2, timeout=PATIENCE)
    expect(page.locator("footer.meta").last).not_to_contain_text("Stopped")


def test_two_tabs_show_the_same_turn_live(visit: Visitor) -> None:
    context = visit.context()
    path = visit.new_session()
    first = visit.page(path, context=context)
    second = visit.page(path, context=context)
    say(first, THINK)
    expect(second.locator(".bubble")).to_have_text(THINK)
    expect(live_thought(second)).to_be_visible()
    second.get_by_role("button", name=re.compile("^Thinking level")).click()
    second.get_by_role("menuitemradio", name=re.compile("^Low")).click()
    expect(first.get_by_role("button", name=re.compile("^Thinking level: Low"))).to_be_visible()
    stop_button(second).click()
    until_done(first)
    until_done(second)
    # The tab behind folds a little later.
    until(lambda: shape(first) == shape(second))


def test_a_message_said_during_a_run_waits_in_the_queue_and_is_answered(visit: Visitor) -> None:
    page = visit.page(visit.new_session())
    say(page, THINK)
    expect(live_thought(page)).to_be_visible()
    say(page, "Hello")
    queue = page.get_by_role("list", name="Queued")
    expect(queue).to_contain_text("Hello")
    stop_button(page).click()
    expect(queue).to_have_count(0)
    expect(page.locator("footer.meta")).to_have_count(2, timeout=PATIENCE)
    expect(page.locator(".bubble").last).to_have_text("Hello")


def test_enter_sends_shift_enter_breaks_and_a_composing_enter_does_neither(
    visit: Visitor,
) -> None:
    page = visit.page(visit.new_session())
    field = composer(page)
    field.fill("one")
    field.press("Shift+Enter")
    field.type("two")
    field.evaluate(
        """(node) => node.dispatchEvent(new KeyboardEvent('keydown',
          {key: 'Enter', isComposing: true, bubbles: true, cancelable: true}))"""
    )
    expect(field).to_have_value("one\ntwo")
    field.press("Enter")
    expect(page.locator(".bubble")).to_have_text("one\ntwo")
    expect(field).to_have_value("")


def test_what_was_typed_and_not_sent_is_still_there_after_a_reload(visit: Visitor) -> None:
    page = visit.page(visit.new_session())
    composer(page).fill("half a thou")
    page.reload()
    expect(composer(page)).to_have_value("half a thou")


def test_the_page_never_pulls_a_reader_who_scrolled_up(visit: Visitor) -> None:
    page = visit.page(visit.new_session(), height=420)
    say(page, LOOK)
    until_done(page)
    say(page, THINK)
    log = page.get_by_role("region", name="Conversation")
    expect(live_thought(page)).to_be_visible()
    log.hover(position={"x": 5, "y": 20})
    page.mouse.wheel(0, -250)
    page.wait_for_timeout(200)
    top = log.evaluate("(node) => node.scrollTop")
    expect(page.locator("footer.meta").last).to_be_attached()
    expect(stop_button(page)).to_have_count(0, timeout=PATIENCE)
    assert abs(log.evaluate("(node) => node.scrollTop") - top) <= 2
    page.get_by_role("button", name="Jump to the latest").click()
    end = "(node) => node.scrollHeight - node.clientHeight - node.scrollTop"
    assert log.evaluate(end) <= 6
    expect(page.get_by_role("button", name="Jump to the latest")).to_have_count(0)
