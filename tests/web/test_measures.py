"""The page's measures in short. `make measures` takes all of them and holds them to the goals.

Here other tests share the processors, so that times may be some times longer; what was drawn and
what was thrown away does not depend on that.
"""

from collections.abc import Iterator

import pytest

from tests.gateway.house import Workspace, ended
from tests.web import measures
from tests.web.looking import Visitor
from tests.web.texts import long_session, mixed

SHARED = 5
"""How much longer a busy machine may take."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """An endpoint streams an answer of 6 kB in two and a half seconds."""
    home = tmp_path_factory.mktemp("measures")
    with measures.streaming(home, mixed(6_000), deltas=500) as endpoint:
        made = Workspace(home)
        made.add_endpoint(endpoint)
        with ended(made.start()):
            yield made


def test_much_text_streams_in_smoothly_and_ends_as_if_drawn_at_once(visit: Visitor) -> None:
    page = visit.page(visit.new_session(model="replay/m"))
    seen, same = measures.stream(page)
    assert same
    assert seen.removed <= measures.REMOVED
    assert seen.slow_frames <= SHARED * measures.SLOW_FRAMES
    assert seen.longest_task <= SHARED * measures.LONG_TASK_MS


def test_a_thousand_messages_open_within_a_second_and_scroll(visit: Visitor) -> None:
    made = visit.call("POST", "/sessions/import", long_session(500))
    page = visit.watched(visit.context())
    url = f"{visit.workspace.url}s/{made['id']}"
    assert measures.first_paint(page, url) <= SHARED * measures.FIRST_PAINT_MS
    assert page.locator(".turn").count() < 50
    seen = measures.scroll(page)
    assert seen.longest_task <= SHARED * measures.LONG_TASK_MS


def test_the_first_page_loads_few_bytes() -> None:
    assert 0 < measures.entry_kb() <= measures.ENTRY_KB
