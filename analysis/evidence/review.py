"""A comparison as Markdown for a pull request.

Whatever comes from data or from the other version stands in a code span or in a fenced block,
longer than any fence inside it: there nothing is a link, a mention, markup or HTML.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import pictures
from .compare import Changed, Comparison, GradeChange, TextChange, ValueChange, compare
from .errors import printable
from .paths import ROOT, write_atomically
from .snapshot import Snapshot

MARK = "<!-- evidence-compare -->"  # by which the workflow finds its own comment
MOST_BYTES = 59_000  # a comment holds 65,536 characters, and the issue allows 60,000
LONGEST_TEXT = 1_000  # characters of one sentence or value
LONG_TEXT = 300  # characters from which a changed sentence is cut to the change
CONTEXT = 80  # characters that then stay on either side of it
COMMENT = ROOT / "build" / "compare.md"
FOLDER = ROOT / "build" / "compare"
BARE = "No number, grade, claim, source, sentence or figure has changed."
LOOK = (
    "What a reader sees may still differ (style, links, forms of numbers, alternatives of"
    " pictures); look at the page and the PDF, for this has changed:"
)
UNCHANGED = "**Nothing a reader would see has changed.**"


def code(text: object) -> str:
    """``text`` as a code span that nothing in it can leave, in a table cell or elsewhere."""
    plain = _plain(str(text)).replace("|", "¦") or " "
    fence = "`" * (_longest_run(plain) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def diff_block(old: Sequence[str], new: Sequence[str]) -> str:
    """Removed and added lines as a fenced block that nothing in it can close.

    As many new as old ones stand in pairs, long ones cut to what differs.
    """
    if len(old) == len(new):
        pairs = [around(*pair) for pair in zip(old, new, strict=True)]
        lines = [
            f"{sign} {_plain(text)}"
            for pair in pairs
            for sign, text in zip("-+", pair, strict=True)
        ]
    else:
        lines = [f"- {_plain(text)}" for text in old] + [f"+ {_plain(text)}" for text in new]
    fence = "`" * max(3, _longest_run("".join(lines)) + 1)
    return "\n".join([f"{fence}diff", *lines, fence])


def around(old: str, new: str) -> tuple[str, str]:
    """Two long texts without most of what they share at their beginnings and ends."""
    shortest = min(len(old), len(new))
    if shortest <= LONG_TEXT:
        return old, new
    start = len(os.path.commonprefix([old, new]))
    end = len(os.path.commonprefix([old[start:][::-1], new[start:][::-1]]))
    first, left = max(0, start - CONTEXT), max(0, end - CONTEXT)
    return _window(old, first, left), _window(new, first, left)


def _window(text: str, first: int, left: int) -> str:
    cut = text[first : len(text) - left]
    return f"{'… ' if first else ''}{cut}{' …' if left else ''}"


def _plain(text: str) -> str:
    """One printable line, cut to a length."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= LONGEST_TEXT else line[:LONGEST_TEXT] + " …"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


@dataclass
class Section:
    """A heading, what stands above the items (a table's head), and the items."""

    title: str
    items: list[str]
    head: str = ""
    between: str = field(default="\n")

    def text(self, most: int | None = None) -> str:
        """The section, cut after ``most`` items with a note of how many are left."""
        kept = self.items if most is None else self.items[:most]
        left = len(self.items) - len(kept)
        note = f"\n\n… and {left} more in `compare/full.md` of the build." if left else ""
        return f"### {self.title}\n\n{self.head}{self.between.join(kept)}{note}\n"


# -- the sections ---------------------------------------------------------------------------


def sections(found: Comparison) -> list[Section]:
    """Everything that differs, in the order in which a reviewer should read it."""
    rising = [change for change in found.grades if change.rank == 0]
    other = [change for change in found.grades if change.rank != 0]
    made = [
        _grade_section("Became proven", rising),
        _grade_section("Other grades and verdicts", other),
        _value_section("Values that changed", [c for c in found.values if c.rank == 0]),
        _value_section(
            "Intervals behind an unchanged number", [c for c in found.values if c.rank != 0]
        ),
        _id_section("Values", found.value_ids),
        _id_section("Claims", found.claims),
        _id_section("Sources", found.sources),
        _text_section(found.text),
        _id_section("Figures", found.figures, note="side by side in `compare/index.html`"),
    ]
    return [section for section in made if section.items]


def _table(*titles: str) -> str:
    return f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}\n"


def _grade_section(title: str, changes: Sequence[GradeChange]) -> Section:
    rows = [
        f"| {change.kind} | {code(change.id)} | {code(change.old)} | {code(change.new)} |"
        for change in changes
    ]
    return Section(f"{title} ({len(rows)})", rows, _table("", "id", "was", "is"))


def _value_section(title: str, changes: Sequence[ValueChange]) -> Section:
    rows = [
        f"| {code(change.id)} | {code(change.old)} | {code(change.new)} | {change.direction} "
        f"| {', '.join(map(code, change.used)) or 'nowhere on the page'} |"
        for change in changes
    ]
    head = _table("value", "was", "is", "direction", "used in")
    return Section(f"{title} ({len(rows)})", rows, head)


def _id_section(title: str, changed: Changed, note: str = "") -> Section:
    items = [f"- added {code(id)}" for id in changed.added]
    items += [f"- removed {code(id)}" for id in changed.removed]
    items += [f"- changed {code(id)}{_parts(parts)}" for id, parts in changed.altered]
    title = f"{title} added, removed or otherwise changed ({len(items)})"
    return Section(f"{title}, {note}" if note else title, items)


def _parts(names: Sequence[str]) -> str:
    return f": {', '.join(map(code, names))}" if names else ""


def _text_section(changes: Sequence[TextChange]) -> Section:
    items = [f"{code(change.heading)}\n{diff_block(change.old, change.new)}" for change in changes]
    return Section(f"Text ({len(items)})", items, between="\n\n")


# -- the whole ------------------------------------------------------------------------------


def opening(found: Comparison) -> str:
    """What is compared, what stands in the way, the sizes, and whether anything changed."""
    base, head = found.base, found.head
    lines = [MARK, "## What changes for the reader", ""]
    lines.append(f"From {code(base.commit[:10])} to {code(head.commit)}.")
    if base.failed:
        lines += ["", "**The base does not build**; what could be compared follows. It said:", ""]
        lines.append(_quoted(base.failed))
    if found.missing:
        lines += ["", f"Not compared: {'; '.join(found.missing)}."]
    shaping = [name for name in found.looks if "/" in name]
    if found.anything:
        lines += ["", _counts(found)]
        if shaping:
            lines += ["", f"{LOOK} {_names(shaping)}."]
    elif found.looks:
        lines += ["", f"**{BARE}** {LOOK} {_names(found.looks)}."]
    elif not (base.failed or found.missing):
        lines += ["", UNCHANGED]
    return "\n".join([*lines, "", _sizes(base, head)])


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(code, names))


def _quoted(text: str) -> str:
    lines = [_plain(line) for line in text.splitlines()]
    fence = "`" * max(3, _longest_run("".join(lines)) + 1)
    return "\n".join([f"{fence}text", *lines, fence])


def _counts(found: Comparison) -> str:
    parts = [f"{section.title}" for section in sections(found)]
    return "In short: " + "; ".join(part[0].lower() + part[1:] for part in parts) + "."


def _sizes(base: Snapshot, head: Snapshot) -> str:
    def size(snapshot: Snapshot, name: str) -> str:
        return f"{snapshot.sizes[name]:,}" if name in snapshot.sizes else "not built"

    rows = [
        f"| {title} | {size(base, name)} | {size(head, name)} |"
        for title, name in (("page", "index.html"), ("PDF", "report.pdf"))
    ]
    return _table("bytes", "was", "is") + "\n".join(rows) + "\n"


def markdown(found: Comparison, most: int | None = MOST_BYTES) -> str:
    """The comment; with ``most``, sections are cut at whole items to stay within so many bytes."""
    parts = [opening(found)]
    made = sections(found)
    room = None if most is None else most - len(parts[0].encode())
    for number, section in enumerate(made):
        text = section.text()
        if room is not None:
            # what one section leaves over is there for the next
            share = room // (len(made) - number)
            text = _fitted(section, share)
            room -= len(text.encode()) + 1
        parts.append(text)
    return "\n".join(parts)


def _fitted(section: Section, share: int) -> str:
    low, high = 0, len(section.items)
    while low < high:
        middle = (low + high + 1) // 2
        if len(section.text(middle).encode()) <= share:
            low = middle
        else:
            high = middle - 1
    return section.text(low)


def write(base: Snapshot, head: Snapshot, comment: Path = COMMENT, folder: Path = FOLDER) -> str:
    """Write the comment, the whole comparison and the pictures; returns the comment."""
    found = compare(base, head)
    _empty(folder)
    if found.figures:
        ids = [*found.figures.added, *found.figures.removed]
        ids += [id for id, _ in found.figures.altered]
        pictures.write(folder, base.figures, head.figures, sorted(ids))
    write_atomically(folder / "full.md", markdown(found, None))
    text = markdown(found)
    write_atomically(comment, text)
    return text


def _empty(folder: Path) -> None:
    """Without the pictures of an earlier comparison."""
    for pattern in ("*.png", "index.html"):
        for file in folder.glob(pattern):
            file.unlink()
