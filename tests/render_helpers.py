"""What the tests of the renderer share: a project to render, and the texts of its outputs."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pypdf
import pytest
import render

ROOT = Path(__file__).resolve().parent.parent
FIXTURE = ROOT / "tests" / "fixtures" / "render"
FONT_FOLDERS = (
    ("fontpkg_source_serif_4", "files"),
    ("fontpkg_ibm_plex_sans", "files"),
    ("noto_cjk_sans_otc", "."),
)
HEAD = '---\ntitle: "A short document"\n---\n\n'


@dataclass
class Project:
    """A temporary document with the real filters, theme and configuration."""

    folder: Path
    out: Path

    def write(self, text: str, name: str = "index.qmd") -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def body(self, text: str) -> None:
        """Replace the document by one whose fifth line is the first of ``text``."""
        self.write(HEAD + text)

    def data(self, name: str) -> dict:
        return json.loads((self.folder / "_generated" / name).read_text("utf-8"))

    def write_data(self, name: str, data: object) -> None:
        self.write(json.dumps(data, ensure_ascii=False), f"_generated/{name}")

    def render(self) -> None:
        render.render(self.folder, self.out, "embedded")

    def refusal(self) -> str:
        """The message with which the render stops."""
        with pytest.raises(render.RenderError) as caught:
            self.render()
        return str(caught.value)

    @property
    def html(self) -> str:
        return (self.out / "index.html").read_text("utf-8")

    @property
    def pdf(self) -> pypdf.PdfReader:
        return pypdf.PdfReader(self.out / "report.pdf")


def make_project(folder: Path) -> Project:
    """The fixture document in a folder of its own, named ``report`` as the real one is."""
    project = folder / "report"
    shutil.copytree(FIXTURE, project)
    for name in ("filters", "theme"):
        shutil.copytree(ROOT / "report" / name, project / name)
    shutil.copy(ROOT / "report" / "_quarto.yml", project)
    fonts = project / "_generated" / "fonts"
    fonts.mkdir()
    for package, inside in FONT_FOLDERS:
        for font in (Path(str(files(package))) / inside).glob("*.[to]t[fc]"):
            (fonts / font.name).symlink_to(font)
    return Project(project, folder / "out")


class _Text(HTMLParser):
    """The words of a page, without its scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.skipping = 0

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.skipping += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.skipping -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self.skipping:
            self.parts.append(data)


def squeezed(text: str) -> str:
    """Text without any white space, so that line breaks do not matter."""
    return re.sub(r"[\s\u00a0\u200b]+", "", text)


def html_text(html: str) -> str:
    parser = _Text()
    parser.feed(html)
    return squeezed("".join(parser.parts))


def pdf_text(pdf: pypdf.PdfReader) -> str:
    return squeezed("".join(page.extract_text() for page in pdf.pages))


def missing_values(project: Project, html: str, pdf: pypdf.PdfReader) -> list[str]:
    """What a reader of one output would not find: each value's printed text, by output and id."""
    texts = {"html": html_text(html), "pdf": pdf_text(pdf)}
    used = re.findall(r'id="trace-([^"]+)"', html)
    values = project.data("values.json")
    return [
        f"{output}: {id}"
        for id in used
        for output, text in texts.items()
        if squeezed(values[id]["text"] + values[id]["suffix"]) not in text
    ]
