"""`read_document` on real files: what is read, how to read on, and files made to do harm."""

import io
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pypdf
import pytest
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from silu.tools import ToolContext
from silu.tools.documents import Extract, Order, extract
from silu.tools.documents.charsets import decoded
from silu.tools.documents.html import read as read_html
from silu.tools.documents.kinds import kind_of
from silu.tools.documents.worker import answer
from silu.tools.read_document import READ_DOCUMENT
from silu.types.errors import ToolError

pytestmark = pytest.mark.anyio


async def read(folder: Path, path: str, **args: Any) -> str:
    output = await READ_DOCUMENT.run({"path": path, **args}, ToolContext(workspace=folder))
    return output.text


def read_here(data: bytes, name: str = "", **more: Any) -> Extract:
    """What the reading program answers, without starting it."""
    kind = kind_of(data, name=name)
    assert kind is not None
    return answer(Order(kind=kind, name=name, **more), data)


def pdf(*pages: str, password: str | None = None) -> bytes:
    """A PDF that shows one line of text a page."""
    writer = pypdf.PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(300, 300)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        content = DecodedStreamObject()
        content.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(content)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


# --------------------------------------------------------------------------------- pdf


async def test_pages_of_a_pdf_are_read_with_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("Roses are red", "Violets are blue"))
    text = await read(tmp_path, "a.pdf")
    assert text.startswith("a.pdf, pages 1-2 of 2\n--- page 1 ---\nRoses are red")
    assert "--- page 2 ---\nViolets are blue" in text


async def test_a_part_of_a_pdf_tells_how_to_read_on(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("one", "two", "three"))
    text = await read(tmp_path, "a.pdf", start=2, count=1)
    assert "two" in text
    assert "one" not in text
    assert text.endswith("[more pages follow; read on with start 3]")


def test_a_page_behind_the_last_is_an_error() -> None:
    found = read_here(pdf("one"), start=2)
    assert found.error == "it has 1 pages; there is no page 2"


def test_a_pdf_without_text_says_that_it_may_be_scanned() -> None:
    assert "may be scanned" in read_here(pdf("")).notes[0]


def test_a_locked_pdf_is_told_as_locked() -> None:
    assert read_here(pdf("secret", password="rose")).error == "it is locked with a password"


def test_a_part_ends_where_there_is_no_room_left() -> None:
    found = read_here(pdf("one", "two", "three"), max_chars=30)
    assert (found.first, found.last, found.total, found.more) == (1, 2, 3, True)


# -------------------------------------------------------------------------------- word


def test_a_word_file_keeps_headings_lists_and_tables_in_order() -> None:
    document = docx.Document()
    document.add_heading("Plan", 1)
    document.add_paragraph("Water the roses.")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "rose", "red, dark"
    document.add_paragraph("buy soil", style="List Bullet")
    document.core_properties.title = "The plan"
    file = io.BytesIO()
    document.save(file)
    found = read_here(file.getvalue())
    assert found.title == "The plan"
    assert found.text == '# Plan\nWater the roses.\nrose,"red, dark"\n- buy soil'
    part = read_here(file.getvalue(), start=2, count=1)
    assert (part.text, part.unit, part.more) == ("Water the roses.", "paragraphs", True)


# ------------------------------------------------------------------------------- sheets


def workbook() -> bytes:
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    first.title = "Costs"
    first.append(["what", "price"])
    first.append(["soil", 12.5])
    first.append(["sum", "=SUM(B2:B2)"])
    first.append([datetime(2026, 11, 30), datetime(2026, 11, 30, 12, 30), None, None])
    book.create_sheet("Notes").append(["dry"])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_rows_of_a_workbook_have_numbers_and_uncomputed_formulas_show() -> None:
    found = read_here(workbook())
    assert found.text.split("\n") == [
        "1\twhat,price",
        "2\tsoil,12.5",
        "3\tsum,=SUM(B2:B2)",
        "4\t2026-11-30,2026-11-30 12:30:00",
    ]
    assert found.notes == ["sheet 'Costs' of: Costs, Notes"]
    part = read_here(workbook(), start=2, count=1)
    assert (part.text, part.more) == ("2\tsoil,12.5", True)


def test_a_sheet_is_chosen_by_its_name() -> None:
    assert read_here(workbook(), sheet="Notes").text == "1\tdry"
    found = read_here(workbook(), sheet="Plants")
    assert found.error == "it has no sheet 'Plants'; its sheets are: Costs, Notes"


def test_csv_rows_are_told_apart_whatever_parts_their_cells() -> None:
    data = b'name;note\nrose;"two\nlines"\niris;blue\n'
    assert '2\trose,"two\nlines"' in read_here(data, "c.csv").text
    part = read_here(data, "c.csv", start=3, count=1)
    assert (part.text, part.more) == ("3\tiris,blue", False)
    assert read_here(b"a\tb,c\n", "c.tsv").text == '1\ta,"b,c"'
    assert read_here(b"rose\n", "c.csv").text == "1\trose"


async def test_csv_in_another_encoding_is_read_when_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_bytes("名称,价格\n玫瑰,12\n".encode("gb18030"))
    assert "玫瑰,12" in await read(tmp_path, "c.csv", encoding="gbk")
    assert "`encoding` says otherwise" in await read(tmp_path, "c.csv", start=2)


# ---------------------------------------------------------------------------- encodings


@pytest.mark.parametrize(
    ("data", "told", "text"),
    [
        ("玫瑰".encode(), None, "玫瑰"),
        ("玫瑰".encode("gb18030"), "GB2312", "玫瑰"),
        ("玫瑰".encode("utf-16"), "utf-8", "玫瑰"),
        ("größe".encode("latin-1"), None, "größe"),
        ("größe".encode("latin-1"), "no-such-charset", "größe"),
        ("größe".encode("latin-1"), "hex", "größe"),
        (b"\x93rose\x94", "iso-8859-1", "“rose”"),
    ],
)
def test_bytes_become_text_in_the_encoding_they_are_in(
    data: bytes, told: str | None, text: str
) -> None:
    assert decoded(data, told) == text


def test_a_page_may_say_its_own_encoding() -> None:
    data = "<meta charset=gbk>玫瑰".encode("gbk")
    assert decoded(data, page=True).endswith("玫瑰")


@pytest.mark.parametrize(
    ("data", "media_type", "kind"),
    [
        (b"<p>x</p>", "text/html", "html"),
        (b"\n<!DOCTYPE html><p>", "", "html"),
        (b'{"a": 1}', "application/json", "text"),
        ("玫瑰".encode() * 2_000, "application/octet-stream", "text"),
        (b"\xff\xd8\xff", "image/jpeg", None),
        (b"a,b", "text/csv", "csv"),
        (b"%PDF-1.7", "text/plain", "pdf"),
    ],
)
def test_what_a_file_is_shows_in_its_content(
    data: bytes, media_type: str, kind: str | None
) -> None:
    assert kind_of(data, media_type=media_type) == kind


# ------------------------------------------------------------------------ made to harm


async def test_an_archive_that_unpacks_to_far_too_much_is_refused(tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(tmp_path / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("word/document.xml", "w") as file,
    ):
        for _ in range(31):
            file.write(b" " * 10_000_000)
    with pytest.raises(ToolError, match="far too large"):
        await read(tmp_path, "bomb.docx")


async def test_entities_that_multiply_end_as_a_damaged_file(tmp_path: Path) -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    xml = f'<!DOCTYPE x [<!ENTITY e0 "rose">{levels}]><workbook>&e11;</workbook>'
    with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", xml)
        archive.writestr("[Content_Types].xml", xml)
    with pytest.raises(ToolError, match="damaged"):
        await read(tmp_path, "bomb.xlsx")


async def test_reading_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(ToolError, match=r"took more than 0\.3 seconds"):
        await extract(b"<div>" * 400_000, Order(kind="html"), seconds=0.3)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.pdf", b"%PDF-1.7 nothing more", "damaged"),
        ("a.docx", b"PK\x03\x04 cut", "no PDF, docx, xlsx or CSV"),
        ("a.doc", b"\xd0\xcf\x11\xe0\0\0", "old Office format"),
        ("a.png", b"\x89PNG\0", "no PDF, docx, xlsx or CSV"),
        ("a.txt", b"hello", "plain text; read it with read_file"),
    ],
)
async def test_what_cannot_be_read_is_told_in_a_sentence(
    tmp_path: Path, name: str, data: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ToolError, match=why):
        await read(tmp_path, name)


async def test_no_document_outside_the_workspace_is_read(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (tmp_path / "a.pdf").write_bytes(pdf("secret"))
    (workspace / "link.pdf").symlink_to(tmp_path / "a.pdf")
    for path in ("../a.pdf", "link.pdf", str(tmp_path / "a.pdf")):
        with pytest.raises(ToolError, match="outside the workspace"):
            await read(workspace, path)


# -------------------------------------------------------------------------------- html


def page(body: str) -> str:
    return read_html(Order(kind="html", base_url="https://e.org/d/"), body.encode()).text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<h2>A <b>big</b> day</h2>text", "## A big day\n\ntext"),
        ("<p>one<br>two</p><p>three</p>", "one\ntwo\n\nthree"),
        ("<ul><li>a<ol><li>b</li><li>c</li></ol></li><li>d</li></ul>", "- a\n  1. b\n  2. c\n- d"),
        ("<pre>x = 1\n  y</pre>", "```\nx = 1\n  y\n```"),
        ("<table><tr><th>A<th>B<tr><td>1<td><p>2</p></table>", "| A | B |\n| 1 | 2 |"),
        ("<p>use <code>a  b</code> or <kbd>c</kbd></p>", "use `a b` or `c`"),
        ("<blockquote><p>said</p></blockquote>", "> said"),
        ('<a href="../x?a=1">an  x</a>', "[an x](https://e.org/x?a=1)"),
        ('<a href="javascript:alert(1)">go</a>', "go"),
        ('<a href="#top">up</a>', "up"),
        ('<img src="x" alt="a rose">', "[image: a rose]"),
        ("<p hidden>no</p><i aria-hidden=true>no</i><p style='visibility:hidden'>no</p>yes", "yes"),
        ("<form>no<input></form><nav>no</nav><script>no</script><template>no</template>yes", "yes"),
        ("<table><tr><td><table><tr><td>in<td>ner</table></table>", "| in | ner |"),
    ],
)
def test_html_becomes_light_markdown(body: str, text: str) -> None:
    assert page(body) == text


def test_the_main_part_of_a_page_stands_for_it_when_it_says_enough() -> None:
    long = "Roses bloom. " * 20
    assert "aside" not in page(f"<div>aside</div><main>{long}</main>")
    assert "aside" in page("<div>aside</div><main>short</main>")


def test_deep_nesting_does_not_end_the_walk() -> None:
    assert page(f"{'<b>' * 3_000}deep") == "deep"
