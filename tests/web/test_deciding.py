"""What waits for the person, and what an answer looks like, with a fake vendor behind it."""

import asyncio
import json
import re
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from silu.config import Endpoint
from silu.fakes import FakeDeepSeek, serve
from silu.fakes.script import Answer, Asked, Call, Think, answer, chatty
from tests.gateway.house import Workspace, ended
from tests.web.looking import PATIENCE, Visitor, say, serious_findings, settled, until_done

MODEL = "deepseek-v4-flash"
REF = f"near/{MODEL}"
STEPS = [{"text": "pack the books"}, {"text": "hire a van"}]
DRAWN = """The sum $a^2+b^2$ and

$$
\\sum_{k=0}^{5} k = 15
$$

```python
def f(x):
    return "x"
```

```mermaid
graph TD; A[Read]-->B[Write];
```
"""


def script(asked: Asked) -> Answer:
    """`use NAME {json}` is a call; `draw` is an answer with all that is drawn."""
    if asked.user.endswith("draw"):
        return answer(Think("A picture says more."), DRAWN)
    # Notices ride at the head of what the person said.
    wanted = re.search(r"^use (\w+) (\{.*\})$", asked.user, re.MULTILINE)
    if wanted and not asked.results:
        return answer(Think("They want a tool."), Call(wanted[1], wanted[2]))
    return chatty(asked)


@pytest.fixture(scope="module")
def vendor() -> Iterator[str]:
    """The fake's address; it lives in a loop of its own, beside the browser's."""
    found: list[str] = []
    ready, over = threading.Event(), threading.Event()

    async def live() -> None:
        async with serve(FakeDeepSeek(script)) as url:
            found.append(url)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    assert ready.wait(10)
    yield found[0]
    over.set()
    thread.join(10)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, vendor: str) -> Iterator[Workspace]:
    made = Workspace(tmp_path_factory.mktemp("deciding"))
    near = Endpoint(name="near", url=vendor, like="deepseek", key_env="NEAR_KEY", models=(MODEL,))
    made.add_endpoint(near)
    with ended(made.start()):
        yield made


def use(page: Page, tool: str, **arguments: object) -> None:
    say(page, f"use {tool} {json.dumps(arguments)}")


def test_a_write_shows_its_change_waits_through_a_reload_and_is_allowed(visit: Visitor) -> None:
    page = visit.page(visit.new_session(model=REF))
    use(page, "write_file", path="rye.md", content="# Rye\n")
    card = page.locator(".tool[data-state=waiting]")
    expect(card.locator(".diff [data-kind=add]")).to_contain_text("# Rye")
    assert serious_findings(page) == []
    page.reload()
    expect(card.locator(".diff [data-kind=add]")).to_contain_text("# Rye")
    card.get_by_role("button", name="Allow once").click()
    until_done(page)
    expect(page.locator(".tool")).to_have_attribute("data-state", "ok")
    live = settled(page)
    page.reload()
    until_done(page)
    assert settled(page) == live


def test_a_denial_is_told_to_the_model_with_its_reason(visit: Visitor) -> None:
    page = visit.page(visit.new_session(model=REF))
    use(page, "write_file", path="rye.md", content="x")
    page.get_by_placeholder("Why not?").fill("not that file")
    page.get_by_role("button", name="Deny").click()
    until_done(page)
    expect(page.locator(".tool")).to_have_attribute("data-state", "denied")
    expect(page.locator(".turn .text").last).to_contain_text("not that file")


def test_a_question_is_answered_in_another_tab(visit: Visitor) -> None:
    context = visit.context()
    path = visit.new_session(model=REF)
    first, second = visit.page(path, context=context), visit.page(path, context=context)
    use(first, "ask_user", question="Rye or wheat?", choices=["rye", "wheat"])
    expect(first.get_by_role("button", name="rye", exact=True)).to_be_visible()
    second.get_by_role("button", name="wheat", exact=True).click()
    until_done(first)
    expect(first.locator(".question")).to_have_count(0)
    expect(first.locator(".turn .text").last).to_contain_text("wheat")


def test_a_plan_is_drafted_changed_and_approved_by_its_revision(visit: Visitor) -> None:
    page = visit.page(visit.new_session(model=REF, mode="plan"))
    use(page, "plan", goal="Move house", steps=STEPS)
    until_done(page)
    use(page, "plan", goal="Move house", steps=[{"text": "pack everything"}, STEPS[1]])
    plans = page.locator(".plan")
    expect(plans).to_have_count(2, timeout=PATIENCE)
    # The end of a turn folds its thoughts, and what is below moves.
    until_done(page)
    expect(plans.first).to_contain_text("superseded")
    plans.last.get_by_role("button", name="Changes since revision 1").click()
    expect(plans.last.locator("ins")).to_have_text("everything")
    assert serious_findings(page) == []
    plans.last.get_by_role("button", name="Approve and build").click()
    expect(page.locator(".bubble").last).to_have_text("Carry out the plan.", timeout=PATIENCE)
    expect(plans.last).to_contain_text("approved")
    expect(page.get_by_role("button", name="Build", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(page.get_by_role("region", name="Task plan")).to_contain_text("hire a van")


def test_formulas_code_and_diagrams_are_drawn_from_the_page_s_own_files(visit: Visitor) -> None:
    page = visit.page(visit.new_session(model=REF))
    say(page, "draw")
    until_done(page)
    expect(page.locator(".md-math .katex")).to_have_count(1)
    expect(page.locator(".md-math-block .katex-display")).to_have_count(1)
    expect(page.locator(".hljs-keyword").first).to_have_text("def")
    picture = page.locator(".md-diagram")
    expect(picture).to_be_visible(timeout=PATIENCE)
    assert picture.evaluate("(node) => node.decode().then(() => node.naturalWidth)") > 0
    assert serious_findings(page) == []


def test_an_answer_is_asked_for_again_and_stands_beside_the_first(visit: Visitor) -> None:
    page = visit.page(visit.new_session(model=REF))
    say(page, "Hello")
    until_done(page)
    page.get_by_role("button", name=re.compile("^Regenerate")).click()
    page.get_by_role("group", name="At another level").get_by_role("button", name="Off").click()
    columns = page.locator(".compare .one")
    expect(columns.get_by_role("button", name="Keep this one")).to_have_count(2, timeout=PATIENCE)
    expect(columns.locator(".by").nth(1)).to_contain_text("Off")
    expect(columns.nth(1).locator(".think")).to_have_count(0)
    assert serious_findings(page) == []
    page.reload()
    expect(columns).to_have_count(2)
    columns.nth(1).get_by_role("button", name="Keep this one").click()
    expect(page.locator(".compare")).to_have_count(0)
    expect(page.locator(".by")).to_contain_text("Off")
    rows = page.get_by_role("navigation", name="Conversations").get_by_role("listitem")
    expect(rows.filter(has_text="Hello").first).to_be_visible()


def test_an_attached_file_is_seen_in_another_tab_and_after_a_reload(visit: Visitor) -> None:
    context, path = visit.context(), visit.new_session(model=REF)
    page, other = visit.page(path, context=context), visit.page(path, context=context)
    note = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"rye and water"}
    page.locator(".composer input[type=file]").set_input_files([note])
    expect(page.locator(".composer .attached")).to_contain_text("notes.txt")
    say(page, "See the notes")
    until_done(page)
    for tab in (page, other):
        expect(tab.locator(".mine .attached")).to_contain_text("notes.txt")
    page.reload()
    expect(page.locator(".mine .attached")).to_contain_text("notes.txt")


_DROP = """(name) => {
  const data = new DataTransfer()
  data.items.add(new File(['rye and water'], name, { type: 'text/plain' }))
  const target = document.querySelector('.composer')
  const how = { dataTransfer: data, bubbles: true, cancelable: true }
  for (const kind of ['dragenter', 'dragover', 'drop']) {
    target.dispatchEvent(new DragEvent(kind, how))
  }
}"""


def test_a_file_is_dropped_onto_the_composer_and_another_one_pasted(visit: Visitor) -> None:
    page = visit.page(visit.new_session(model=REF))
    page.evaluate(_DROP, "dropped.txt")
    attached = page.locator(".composer .attached")
    expect(attached).to_contain_text("dropped.txt")
    page.evaluate(
        """() => {
          const data = new DataTransfer()
          data.items.add(new File(['x'], 'pasted.txt', { type: 'text/plain' }))
          document.querySelector('#composer-field').dispatchEvent(
            new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
          )
        }"""
    )
    expect(attached).to_contain_text("pasted.txt")
    say(page, "See both")
    until_done(page)
    expect(page.locator(".mine .attached")).to_contain_text("dropped.txt")
    expect(page.locator(".mine .attached")).to_contain_text("pasted.txt")


_LOOK = """(state) => {
  const how = { get: () => state, configurable: true }
  Object.defineProperty(document, 'visibilityState', how)
  document.dispatchEvent(new Event('visibilitychange'))
}"""
"""Headless pages are always seen: this is what a page is told when its tab is left."""


def test_a_run_that_waits_while_nobody_looks_marks_the_title(visit: Visitor) -> None:
    path = visit.new_session(model=REF, title="Bread")
    page = visit.page(path)
    page.evaluate(_LOOK, "hidden")
    use(page, "ask_user", question="Rye or wheat?", choices=["rye", "wheat"])
    page.wait_for_function("() => document.title.startsWith('◆ ')")
    page.evaluate(_LOOK, "visible")
    page.wait_for_function("() => !document.title.startsWith('◆ ')")
    page.get_by_role("button", name="rye", exact=True).click()
    until_done(page)
