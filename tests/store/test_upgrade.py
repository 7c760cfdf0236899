"""Opening databases of every age and condition: made, migrated, or refused and left alone."""

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

from silu.store import NewSession, Store, schema, upgrade
from silu.store.database import Database
from silu.types.errors import UserError

pytestmark = pytest.mark.anyio


def _script() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(Path(upgrade.__file__).parent / "migrations"))
    return ScriptDirectory.from_config(config)


def _at(place: str, revision: str) -> None:
    """Make a database as an older silu left it."""
    from alembic import command

    config = Config()
    config.set_main_option("script_location", str(Path(upgrade.__file__).parent / "migrations"))
    database = Database(place)
    with database.connect() as connection:
        connection.exec_driver_sql(database.begin())
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.exec_driver_sql("COMMIT")
    database.dispose()


def _shape(place: str) -> dict[str, Any]:
    """Tables, columns and indexes, in a comparable form."""
    database = Database(place)
    with database.connect() as connection:
        look: Any = sa.inspect(connection)
        shape = {
            table: {
                "columns": {
                    c["name"]: (str(c["type"]), c["nullable"], str(c["default"]))
                    for c in look.get_columns(table)
                },
                "indexes": {i["name"]: i["column_names"] for i in look.get_indexes(table)},
                "key": look.get_pk_constraint(table)["constrained_columns"],
                "foreign": sorted(
                    (f["constrained_columns"], f["referred_table"], str(f["options"]))
                    for f in look.get_foreign_keys(table)
                ),
            }
            for table in look.get_table_names()
            if table != "alembic_version"
        }
    database.dispose()
    return shape


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


async def _refused(path: Path, tmp_path: Path, code: str) -> UserError:
    before, files = _digest(path), sorted(path.parent.iterdir())
    with pytest.raises(UserError) as told:
        await Store.open(path, blobs=tmp_path / "b", backups=tmp_path / "k")
    assert told.value.code == code
    assert str(path) in str(told.value)
    assert _digest(path) == before
    assert sorted(path.parent.iterdir()) == files
    return told.value


async def test_the_program_knows_exactly_the_revisions_that_are_there() -> None:
    script = _script()
    revisions = [one.revision for one in script.walk_revisions()][::-1]
    assert tuple(revisions) == schema.KNOWN
    assert script.get_current_head() == schema.HEAD


async def test_migrated_step_by_step_and_made_at_once_give_the_same_tables(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    _at(place, "head")
    if place.startswith("postgresql"):
        other = request.getfixturevalue("cluster").new_database()
    else:
        other = str(tmp_path / "other.db")
    await (await Store.open(other, blobs=tmp_path / "b", backups=tmp_path / "k")).close()
    assert _shape(place) == _shape(other)


async def test_an_old_database_is_brought_up_to_date_and_its_rows_stay_readable(
    place: str, tmp_path: Path
) -> None:
    _at(place, "0001_base")
    database = Database(place)
    with database.connect() as connection:
        for statement in (
            "INSERT INTO sessions (id, kind, mode, title) VALUES ('s1', 'root', 'build', 'old')",
            "INSERT INTO messages (id, session_id, role, parts, final) VALUES"
            """ ('m1', 's1', 'user', '[{"type": "text", "text": "hello", "id": "p"}]', true)""",
            "INSERT INTO history (session_id, seq, message_id) VALUES ('s1', 1, 'm1')",
        ):
            connection.exec_driver_sql(statement)
    database.dispose()
    store = await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")
    page = await store.messages("s1")
    await store.close()
    assert [(m.content, m.thinking_content) for m in page.messages] == [("hello", None)]
    copies = list((tmp_path / "k").glob("*")) if (tmp_path / "k").exists() else []
    if place.startswith("postgresql"):
        assert copies == []
    else:
        assert len(copies) == 1
        assert "0001_base" in copies[0].name
        old = sqlite3.connect(copies[0])
        assert old.execute("SELECT title FROM sessions").fetchall() == [("old",)]


async def test_columns_that_are_already_there_do_not_stop_a_migration(
    place: str, tmp_path: Path
) -> None:
    await (await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")).close()
    database = Database(place)
    with database.connect() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001_base'")
    database.dispose()
    store = await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")
    await store.create_session(NewSession(title="works"))
    await store.close()


async def test_a_newer_database_is_refused_and_left_alone(place: str, tmp_path: Path) -> None:
    await (await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")).close()
    database = Database(place)
    with database.connect() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0099_future'")
    database.dispose()
    if place.startswith("postgresql"):
        with pytest.raises(UserError) as told:
            await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")
        assert told.value.code == "newer_database"
    else:
        error = await _refused(Path(place), tmp_path, "newer_database")
        assert "0099_future" in str(error)


async def test_a_newer_revision_that_is_only_in_the_log_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "silu.db"
    await (await Store.open(path, blobs=tmp_path / "b", backups=tmp_path / "k")).close()
    other = sqlite3.connect(path)
    other.execute("UPDATE alembic_version SET version_num = '0099_future'")
    other.commit()
    await _refused(path, tmp_path, "newer_database")
    other.close()


async def test_a_failed_migration_leaves_the_database_as_it_was(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _at(place, "0001_base")
    before = _shape(place)
    broken = tmp_path / "migrations"
    shutil.copytree(Path(upgrade.__file__).parent / "migrations", broken)
    step = broken / "versions" / "0002_thinking.py"
    step.write_text(step.read_text() + "\n    raise ValueError('half way')\n")
    monkeypatch.setattr(upgrade, "_MIGRATIONS", broken)
    with pytest.raises(UserError) as told:
        await Store.open(place, blobs=tmp_path / "b", backups=tmp_path / "k")
    assert told.value.code == "migration_failed"
    assert _shape(place) == before


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "silu.db"
    path.write_bytes(b"dear diary" * 1000)
    await _refused(path, tmp_path, "not_a_database")


async def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "silu.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE songs (title TEXT)")
    other.close()
    await _refused(path, tmp_path, "not_a_database")


async def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "silu.db"
    await (await Store.open(path)).close()
    data = path.read_bytes()
    for keep in (100, 4096, len(data) // 2):
        path.write_bytes(data[:keep])
        await _refused(path, tmp_path, "damaged_database")


async def test_an_empty_file_becomes_a_new_database(tmp_path: Path) -> None:
    path = tmp_path / "silu.db"
    path.touch()
    store = await Store.open(path)
    assert (await store.list_sessions()).sessions == []
    await store.close()
    assert path.stat().st_mode & 0o077 in {0, 0o044}


async def test_a_new_database_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "silu.db"
    await (await Store.open(path)).close()
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


async def test_a_folder_in_the_files_place_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "silu.db"
    path.mkdir()
    with pytest.raises(UserError) as told:
        await Store.open(path)
    assert told.value.code == "not_a_database"


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("mysql://x/y", "bad_argument"),
        ("sqlite://", "bad_argument"),
        ("postgresql://user:geheim@127.0.0.1:1/none", "database_unreachable"),
        ("postgresql://[::bad/none", "bad_argument"),
    ],
)
async def test_a_database_that_cannot_be_used_is_explained_without_its_password(
    place: str, code: str
) -> None:
    with pytest.raises(UserError) as told:
        await Store.open(place)
    assert told.value.code == code
    assert told.value.setting == "SILU_DATABASE"
    assert "geheim" not in str(told.value)


def test_opening_an_up_to_date_database_does_not_import_the_migration_tool(
    tmp_path: Path,
) -> None:
    program = (
        "import asyncio, sys\n"
        "from silu.store import Store\n"
        "async def main():\n"
        "    store = await Store.open(sys.argv[1])\n"
        "    await store.close()\n"
        "asyncio.run(main())\n"
        "assert 'alembic' not in sys.modules\n"
        "assert 'psycopg' not in sys.modules\n"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program, str(tmp_path / "silu.db")], check=True)
