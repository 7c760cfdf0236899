"""`read_document` on real files: what is read, how to read on, and files made to do harm."""

import io
import zipfile
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pypdf
import pytest
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from silu.tools import ToolContext
from silu.tools.documents import Order, extract
from silu.tools.documents.html import read as read_html
from silu.tools.read_document import READ_DOCUMENT
from silu.types.errors import ToolError

pytestmark = pytest.mark.anyio


async def read(folder: Path, path: str, **args: Any) -> str:
    output = await READ_DOCUMENT.run({"path": path, **args}, ToolContext(workspace=folder))
    return output.text


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


async def test_a_page_behind_the_last_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("one"))
    with pytest.raises(ToolError, match="has 1 pages; there is no page 2"):
        await read(tmp_path, "a.pdf", start=2)


async def test_a_pdf_without_text_says_that_it_may_be_scanned(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(""))
    assert "may be scanned" in await read(tmp_path, "a.pdf")


async def test_a_locked_pdf_is_told_as_locked(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("secret", password="rose"))
    with pytest.raises(ToolError, match="locked with a password"):
        await read(tmp_path, "a.pdf")


# -------------------------------------------------------------------------------- word


async def test_a_word_file_keeps_headings_lists_and_tables_in_order(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Plan", 1)
    document.add_paragraph("Water the roses.")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "rose", "red, dark"
    document.add_paragraph("buy soil", style="List Bullet")
    document.save(str(tmp_path / "plan.docx"))
    text = await read(tmp_path, "plan.docx")
    assert text.split("\n")[1:] == ["# Plan", "Water the roses.", 'rose,"red, dark"', "- buy soil"]
    part = await read(tmp_path, "plan.docx", start=2, count=1)
    assert part == (
        "plan.docx, paragraphs 2-2\nWater the roses.\n"
        "[more paragraphs follow; read on with start 3]"
    )


# ------------------------------------------------------------------------------- sheets


def workbook(path: Path) -> None:
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    first.title = "Costs"
    first.append(["what", "price"])
    first.append(["soil", 12.5])
    first.append(["sum", "=SUM(B2:B2)"])
    book.create_sheet("Notes").append(["dry"])
    book.save(path)


async def test_rows_of_a_workbook_have_numbers_and_uncomputed_formulas_show(tmp_path: Path) -> None:
    workbook(tmp_path / "b.xlsx")
    lines = (await read(tmp_path, "b.xlsx")).split("\n")
    assert lines == [
        "b.xlsx, rows 1-3",
        "1\twhat,price",
        "2\tsoil,12.5",
        "3\tsum,=SUM(B2:B2)",
        "[sheet 'Costs' of: Costs, Notes]",
    ]


async def test_a_sheet_is_chosen_by_its_name(tmp_path: Path) -> None:
    workbook(tmp_path / "b.xlsx")
    assert "1\tdry" in await read(tmp_path, "b.xlsx", sheet="Notes")
    with pytest.raises(ToolError, match="no sheet 'Plants'; its sheets are: Costs, Notes"):
        await read(tmp_path, "b.xlsx", sheet="Plants")


async def test_csv_rows_are_told_apart_whatever_parts_their_cells(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text('name;note\nrose;"two\nlines"\niris;blue\n')
    lines = await read(tmp_path, "c.csv")
    assert '2\trose,"two\nlines"' in lines
    assert (await read(tmp_path, "c.csv", start=3)).endswith("3\tiris,blue")


async def test_csv_in_another_encoding_is_read_when_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_bytes("名称,价格\n玫瑰,12\n".encode("gb18030"))
    assert "玫瑰,12" in await read(tmp_path, "c.csv", encoding="gbk")
    assert "`encoding` says otherwise" in await read(tmp_path, "c.csv")


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
