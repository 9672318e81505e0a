"""The PDF as an analyst would check it: pages, fonts, order, outline, and the page's numbers."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pypdf
import pytest
from evidence.paths import ROOT
from render_helpers import Project, html_text, missing_values, squeezed

REPORT = ROOT / "build" / "report"
FONTS = ("SourceSerif4", "IBMPlexSans", "NotoSansCJK", "DejaVuSansMono")


@pytest.fixture(scope="module")
def pdf():
    return pypdf.PdfReader(REPORT / "report.pdf")


@pytest.fixture(scope="module")
def pages(pdf):
    return [page.extract_text() for page in pdf.pages]


def straight(text: str) -> str:
    """Typst writes straight apostrophes into the outline and the metadata."""
    return text.replace("’", "'")


def outline(pdf, entries=None, level=1):
    """(level, title, page index) of every outline entry."""
    found = []
    for entry in pdf.outline if entries is None else entries:
        if isinstance(entry, list):
            found += outline(pdf, entry, level + 1)
        else:
            found.append((level, entry.title, pdf.get_destination_page_number(entry)))
    return found


def test_page_x_of_y(pages):
    for number, text in enumerate(pages, 1):
        assert f"Page {number} of {len(pages)}" in text
    assert "What OpenAI’s first Jalapeño results show" in pages[1]  # the running head


def test_no_page_is_nearly_empty(pages):
    empty = [number for number, text in enumerate(pages[:-1], 1) if len(text) < 350]
    assert empty == []


def test_every_font_is_embedded_and_ours(pdf):
    names, loose = set(), set()
    for page in pdf.pages:
        fonts = page["/Resources"].get_object().get("/Font", {})
        for reference in fonts.values():
            font = reference.get_object()
            names.add(font["/BaseFont"].partition("+")[2])
            for part in font.get("/DescendantFonts", [font]):
                descriptor = part.get_object().get("/FontDescriptor", {})
                if not any(key.startswith("/FontFile") for key in descriptor):
                    loose.add(font["/BaseFont"])
    assert loose == set()
    assert all(name.replace("-", "").startswith(FONTS) for name in names), names


def test_the_outline_leads_through_the_sections_in_order(pdf, pages):
    entries = outline(pdf)
    places = [place for _, _, place in entries]
    assert places == sorted(places)
    top = [title for level, title, _ in entries if level == 1]
    assert top[0].endswith("Summary") and top[-1].endswith("Trace of every number")
    html = (REPORT / "index.html").read_text("utf-8")
    sections = re.findall(r'<h2[^>]*data-number="[^"]*"[^>]*>(.*?)</h2>', html)
    plain = [squeezed(re.sub(r"<[^>]+>", "", section)) for section in sections]
    numbered = [squeezed(title) for title in top if re.match(r"\d", title)]
    assert [straight(text.replace("&amp;", "&")) for text in plain] == numbered
    for _, title, place in entries:
        assert squeezed(re.sub(r"^[\d.]+ ", "", title)) in squeezed(straight(pages[place]))


def test_no_glyph_is_missing(pages):
    for number, text in enumerate(pages, 1):
        assert "\ufffd" not in text and "\x00" not in text, number


def test_numbers_are_those_of_the_page(pages):
    html = (REPORT / "index.html").read_text("utf-8")
    read = SimpleNamespace(pages=[SimpleNamespace(extract_text=lambda t=text: t) for text in pages])
    assert missing_values(Project(ROOT / "report", REPORT), html, read) == []


def test_text_comes_in_the_order_of_the_page(pages):
    text = squeezed("".join(pages))
    page = html_text((REPORT / "index.html").read_text("utf-8"))
    sentences = (
        "Allrunsdecode",
        "Thebenchmarksendsmanyrequestsatoncetoasystem",
        "Eachsubsectionholdsthepublishedfigures",
        "Thecomparatorsare",
        "Eachcharthereanswersonedoubt",
        "Aprintedfigureisaninterval",
        "Whattherecorddoesnotgive",
        "Eachentrygives",
    )
    for places in ([text.find(s) for s in sentences], [page.find(s) for s in sentences]):
        known = [place for place in places if place >= 0]
        assert len(known) >= 6 and known == sorted(known)


def test_standards_and_metadata(pdf):
    metadata = pdf.xmp_metadata
    raw = metadata.stream.get_data().decode() if metadata else ""
    assert "pdfuaid" in raw and "pdfaid" in raw
    assert straight(pdf.metadata.title) == "What OpenAI's first Jalapeño results show"
    assert str(pdf.trailer["/Root"].get("/Lang")).startswith("en")
    assert pdf.trailer["/Root"]["/MarkInfo"]["/Marked"]
