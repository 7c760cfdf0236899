"""Sessions as people see them: listed, changed, forked, put away, deleted."""

import pytest

from silu.store import NewSession, Store, log, runs
from silu.store.sql import Tx
from silu.types.errors import UserError
from silu.types.facts import Question, WaitResolved
from silu.types.todos import Todo
from tests.store.rows import begin

pytestmark = pytest.mark.anyio


async def test_a_new_session_has_what_it_was_given_and_nothing_runs(store: Store) -> None:
    made = await store.create_session(
        NewSession(model="demo/thinker", level="high", title="Plans", language="zh")
    )
    assert made.model == "demo/thinker"
    assert made.level == "high"
    assert made.language == "zh"
    assert made.item.title == "Plans"
    assert not made.item.is_running
    assert not made.item.unread
    assert made.item.todo_summary.total == 0
    assert (await store.session(made.item.id)) == made


async def test_the_same_client_id_makes_one_session_also_after_a_restart(
    place: str, tmp_path
) -> None:
    store = await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")
    first = await store.create_session(NewSession(title="one"), client_id="c1")
    again = await store.create_session(NewSession(title="two"), client_id="c1")
    await store.close()
    store = await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")
    later = await store.create_session(NewSession(title="three"), client_id="c1")
    page = await store.list_sessions()
    await store.close()
    assert first.item.id == again.item.id == later.item.id
    assert [item.title for item in page.sessions] == ["one"]


async def test_a_client_id_of_another_command_is_refused(store: Store) -> None:
    made = await store.create_session(NewSession(), client_id="c1")
    with pytest.raises(UserError) as told:
        await store.rename(made.item.id, "x", client_id="c1")
    assert told.value.code == "bad_argument"


async def test_the_list_is_newest_first_and_tells_what_changed_since(store: Store) -> None:
    a = await store.create_session(NewSession(title="a"))
    b = await store.create_session(NewSession(title="b"))
    page = await store.list_sessions()
    assert {item.title for item in page.sessions} == {"a", "b"}
    await store.rename(a.item.id, "A")
    changed = await store.list_sessions(since=page.n)
    assert [item.title for item in changed.sessions] == ["A"]
    await store.purge(b.item.id)
    gone = await store.list_sessions(since=changed.n)
    assert gone.sessions == []
    assert gone.gone == [b.item.id]
    assert gone.n > changed.n


async def test_an_archived_or_trashed_session_leaves_the_list_and_comes_back(store: Store) -> None:
    one = (await store.create_session(NewSession(title="one"))).item.id
    await store.archive(one)
    assert (await store.list_sessions()).sessions == []
    assert len((await store.list_sessions(archived=True)).sessions) == 1
    await store.archive(one, False)
    await store.trash(one)
    assert (await store.list_sessions()).sessions == []
    assert len((await store.list_sessions(trashed=True)).sessions) == 1
    await store.restore(one)
    assert [item.id for item in (await store.list_sessions()).sessions] == [one]


async def test_plan_and_build_have_their_own_model_and_level(store: Store) -> None:
    one = (await store.create_session(NewSession(model="v/b", level="low"))).item.id
    await store.set_mode(one, "plan")
    assert (await store.session(one)).model == "v/b"
    await store.set_model(one, "v/p")
    await store.set_level(one, "high")
    session = await store.session(one)
    assert (session.model, session.level) == ("v/p", "high")
    await store.set_mode(one, "build")
    session = await store.session(one)
    assert (session.model, session.level) == ("v/b", "low")


async def test_every_change_of_the_todos_is_kept(store: Store) -> None:
    one = (await store.create_session(NewSession())).item.id
    first = [Todo(id="1", content="读\x00书", status="pending")]
    second = [Todo(id="1", content="读\x00书", status="completed", origin="person")]
    await store.put_todos(one, first, by="person")
    await store.put_todos(one, second, by="person")
    assert await store.todos(one) == second
    assert [(by, todos) for _, by, todos in await store.todo_history(one)] == [
        ("person", first),
        ("person", second),
    ]
    assert (await store.session(one)).item.todo_summary.completed == 1
    assert [fact.type for fact in await store.facts(one, 0)] == ["todo_update", "todo_update"]


async def test_what_is_not_there_is_said_in_a_sentence(store: Store) -> None:
    for asked in (
        store.session("s_none"),
        store.messages("s_none"),
        store.rename("s_none", "x"),
        store.purge("s_none"),
        store.fork("s_none"),
        store.mark_read("s_none"),
        store.set_workspace("s_none", "/tmp"),
        store.set_level("s_none", "low"),
    ):
        with pytest.raises(UserError) as told:
            await asked
        assert told.value.code == "unknown_session"
    with pytest.raises(UserError) as told:
        await store.blob("../../etc/passwd")
    assert told.value.code == "unknown_blob"


async def test_a_run_that_comes_to_its_question_again_does_not_ask_again(store: Store) -> None:
    session = (await store.create_session(NewSession())).item.id
    ref = await begin(store, session)
    ask = Question(question_id=f"{ref.run_id}.q", text="Sure?", choices=[])

    def asked(tx: Tx) -> int:
        return len(log.append(tx, session, ref.run_id, [ask]))

    def answered(tx: Tx) -> bool:
        kept = runs.answer_wait(tx, session, ask.question_id, {"answer": "yes"})
        log.append(tx, session, None, [WaitResolved(wait_id=ask.question_id, decision="answered")])
        return kept

    assert await store.write(asked) == 1
    assert len((await store.session(session)).waits) == 1
    assert await store.write(answered)
    assert await store.write(asked) == 0
    assert (await store.session(session)).waits == []
    assert await store.read(lambda tx: runs.wait_is_over(tx, ask.question_id))
