"""The report's text as a reader meets it: sentences under their headings, values by their ids.

Read from the built page, or, where there is none, from the document's source.
Two versions of a sentence that differ in a number alone have the same ``key``: the number
itself is compared as a value.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
UNSEEN = frozenset(("script", "style", "svg", "nav", "head", "template"))
BLOCKS = frozenset(
    "p li dt dd h1 h2 h3 h4 h5 h6 caption figcaption tr summary blockquote div section".split()
)
CELLS = frozenset(("td", "th"))
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
# parts of the page that another comparison covers, or that name the version itself
LEFT_OUT_IDS = frozenset(("sec-trace", "sec-cite"))
LEFT_OUT_CLASSES = frozenset(("build", "skip", "header-section-number"))
USE = re.compile(r"use-(.+)-\d+")
# a full stop ends a sentence where a new one starts behind it
SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"”’)\]]*\s+(?=[A-Z“‘\"(\[⟦])|(?<=[。！？])(?=\S)")


@dataclass(frozen=True)
class Sentence:
    """``key`` is what is compared, ``text`` what is shown, ``heading`` where it stands."""

    key: str
    text: str
    heading: str


@dataclass
class PageText:
    """The sentences in reading order, and for every value the headings it stands under."""

    sentences: list[Sentence] = field(default_factory=list)
    uses: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def from_page(html: str, version: Iterable[str] = ()) -> PageText:
    """The text of a built page; the strings of ``version`` (commit, date) never count."""
    reader = _Reader([text for text in version if text])
    reader.feed(html)
    reader.close()
    reader.end_block()
    return reader.page


def from_source(folder: Path) -> PageText:
    """The text of the document's source, which has one sentence per line."""
    page = PageText()
    for path in [folder / "index.qmd", *sorted((folder / "sections").glob("*.qmd"))]:
        if path.is_file():
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            page.sentences += [
                Sentence(line.strip(), line.strip(), path.name)
                for line in lines
                if line.strip() and not line.lstrip().startswith((":::", "{{<", "---"))
            ]
    return page


class _Reader(HTMLParser):
    """Walks a page; ``_skip`` counts the open elements inside one that is left out."""

    def __init__(self, version: list[str]) -> None:
        super().__init__()
        self.page = PageText()
        self._version = version
        self._skip = 0
        self._heading = ""
        self._block = ""
        self._key: list[str] = []
        self._text: list[str] = []
        self._value_depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        given = {name: value or "" for name, value in attrs}
        if self._skip or _left_out(tag, given):
            self._skip += 1
            return
        if self._value_depth:
            self._value_depth += 1
        elif use := USE.fullmatch(given.get("id", "")):
            self._value_depth = 1
            self._key.append(f"⟦{use[1]}⟧")
            self.page.uses[use[1]].append(self._heading)
        if tag in BLOCKS:
            self.end_block()
            self._block = tag
        elif tag in CELLS and "".join(self._key).strip():
            self._add(" | ")

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if self._skip:
            self._skip -= 1
            return
        if self._value_depth:
            self._value_depth -= 1
        if tag in BLOCKS:
            self.end_block()

    def handle_data(self, data: str) -> None:
        if self._skip:
            return
        if self._value_depth:
            self._text.append(data)
        else:
            self._add(data)

    def _add(self, data: str) -> None:
        self._key.append(data)
        self._text.append(data)

    def end_block(self) -> None:
        """Turn what was gathered into sentences; a heading names what follows."""
        key, text = (" ".join("".join(parts).split()) for parts in (self._key, self._text))
        self._key, self._text = [], []
        for name in self._version:
            key = key.replace(name, "⟦version⟧")
        if not key:
            return
        if self._block in HEADINGS:
            self._heading = text
        self.page.sentences += _sentences(key, text, self._heading, row=self._block == "tr")


def _left_out(tag: str, given: dict[str, str]) -> bool:
    return (
        tag in UNSEEN
        or given.get("id") in LEFT_OUT_IDS
        or not LEFT_OUT_CLASSES.isdisjoint(given.get("class", "").split())
    )


def _sentences(key: str, text: str, heading: str, *, row: bool) -> Iterator[Sentence]:
    """A table's row stays whole; so does a text whose two forms split differently."""
    keys, texts = SENTENCE_END.split(key), SENTENCE_END.split(text)
    if row or len(keys) != len(texts):
        keys, texts = [key], [text]
    for one, other in zip(keys, texts, strict=True):
        yield Sentence(one, other, heading)
