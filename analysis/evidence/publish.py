"""The ledger as others read it: JSON, CSV, ClaimReview, and tables for the report.

Everything a person wrote is data here: JSON-LD escapes what could end a script, CSV disarms
what a spreadsheet would compute, and table cells are plain text.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable
from typing import Any

from .cases import Difference, Figured, Position, with_unit
from .data import Data
from .formula import Comparison
from .ledger import Checked, Entry, Ledger, Verdict, counts, found, read_figure
from .model import Claim, Part, Saying, Source, Topic
from .quantity import Quantity, number_text

Cells = list[list[Any]]

# schema.org wants a number: how much of the claim stands, from worst to best
RATINGS = {Verdict.DIFFERS: 1, Verdict.CONFLICTS: 2, Verdict.UNSUPPORTED: 3, Verdict.REPRODUCES: 4}
PROVEN_RATING = 5


def anchor(id: str) -> str:
    """Where a claim stands in the document."""
    return f"claim-{id}"


# -- in words -----------------------------------------------------------------------------


ENOUGH_DIGITS = 3  # where the ends agree on fewer, both are shown


def quantity_text(quantity: Quantity) -> str:
    """A quantity's digits and unit."""
    return with_unit(digits_text(quantity), quantity.unit_text())


def digits_text(quantity: Quantity) -> str:
    """The digits on which both ends agree, or both ends where that leaves too few."""
    text = quantity.text()
    if quantity.printed is not None or _digits(text) >= ENOUGH_DIGITS:
        return text
    low, between, high = quantity.range().partition(" to ")
    if between and _digits(low) < 2:
        low, high = (
            number_text(end, end, digits) for end, digits in ((quantity.low, 2), (quantity.high, 3))
        )
    return f"{low}{between}{high}"


def _digits(text: str) -> int:
    """How many digits of a number matter; of a range, those of its lower end."""
    return sum(char.isdigit() for char in text.partition(" to ")[0].lstrip("0."))


def _end(quantity: Quantity) -> str:
    """One end of a range, or one side of a comparison: ``103.4–104.3``."""
    return digits_text(quantity).replace(" to ", "–")


def computed_text(check: Checked) -> str | None:
    """What a formula comes to, in words: ``4.13 to 4.16``, or ``1.90 < 1.67: no``."""
    if check.result is None:
        return None
    outcome = check.result.outcome
    if isinstance(outcome, Quantity):
        return quantity_text(outcome)
    if not isinstance(outcome, Comparison):
        ends = f"from {_end(outcome.low)} to {_end(outcome.high)}"
        return with_unit(ends, outcome.low.unit_text())
    parts = [_end(outcome.operands[0])]
    for sign, operand in zip(outcome.signs, outcome.operands[1:], strict=True):
        parts += [sign, _end(operand)]
    sides = with_unit(" ".join(parts), outcome.operands[0].unit_text())
    return f"{sides}: {outcome.answer}"


def printed_text(part: Part, printed: str | None = None) -> str:
    """A printed figure, with its unit where none is printed behind it."""
    return with_unit(printed or part.printed or "", part.unit or "")


def _named(part: Part, text: str) -> str:
    """What is said of a part, with what it is the figure of."""
    return f"{part.of}: {text}" if part.of else text


def reading_text(claim: Claim, check: Checked) -> str | None:
    """What a printed figure says when it is read literally; None where no reading is given."""
    if claim.reading is None or not isinstance(check.said, Figured):
        return None
    printed = read_figure(check.part)
    ends = [_read_end(check.said.low, printed.low), _read_end(check.said.high, printed.high)]
    return with_unit("–".join(dict.fromkeys(ends)), check.said.low.unit_text())


def _read_end(read: Quantity, printed: Quantity) -> str:
    """The middle where the reading only shifts what is printed, else its range."""
    if read.high - read.low != printed.high - printed.low:
        return f"{_exactly(read.low)} to {_exactly(read.high)}"
    middle = (read.low + read.high) / 2
    return _exactly(middle)


def _exactly(value: Any) -> str:
    return number_text(value, value)


def against_text(entry: Entry, data: Data) -> str | None:
    """Who says otherwise, and where."""
    places = [
        f"{data.source(position.saying.source).name}, {position.saying.place}: {_content(position)}"
        for position in entry.against
    ]
    return "; ".join(places) or None


def _content(position: Position) -> str:
    claim, saying = position.claim, position.saying
    if value := saying.value or claim.value:
        return " and ".join(value)
    if printed := saying.printed or claim.printed:
        return printed_text(claim.figures[0], printed)
    content = position.content
    return quantity_text(content.low) if isinstance(content, Figured) else ""


def figure_text(entry: Entry, check: Checked) -> str:
    """One figure with what it comes to, as a line of the ledger."""
    parts = []
    if check.part.printed is not None:
        parts.append(f"printed {printed_text(check.part)}")
    if reading := reading_text(entry.claim, check):
        parts.append(f"read as {reading}")
    if computed := computed_text(check):
        parts.append(f"computed {computed} [{check.part.formula}]")
    elif check.part.of:
        parts.append("nothing public to compute it from")
    if check.difference is not None:
        parts.append(check.difference.text)
    return _named(check.part, "; ".join(parts)) if parts else ""


# -- JSON ---------------------------------------------------------------------------------


def records(ledger: Ledger, data: Data) -> list[dict[str, Any]]:
    """The ledger as a list of plain objects; an unbounded end is null."""
    return [_record(entry, data) for entry in ledger.values()]


def _record(entry: Entry, data: Data) -> dict[str, Any]:
    claim = entry.claim
    return {
        "id": claim.id,
        "anchor": anchor(claim.id),
        "short": str(entry.verdict),
        "topic": claim.topic,
        "topic_name": data.topics[claim.topic].name,
        "statement": claim.statement,
        "verdict": str(entry.verdict),
        "grade": str(entry.grade),
        "proven": entry.proven,
        "printed": _printed(entry),
        "computed": _computed(entry.checked),
        "difference": _difference(entry.difference),
        "figures": [_figure(entry, check) for check in entry.checked if check.part.of]
        or [_figure(entry, check) for check in entry.checked if check.said or check.result],
        "formula": "; ".join(c.part.formula for c in entry.checked if c.part.formula) or None,
        "about": claim.about,
        "value": list(claim.value) if claim.value else None,
        "sources": [_source(saying, data) for saying in claim.said],
        "against": [
            {
                "claim": p.claim.id,
                "source": p.saying.source,
                "place": p.saying.place,
                "says": _content(p),
            }
            for p in entry.against
        ],
        "disputed_by": list(entry.disputed_by),
        "restates": claim.restates,
        "restated_by": list(entry.restated_by),
        "explain": claim.explain,
        "settles": entry.settles,
        "who": entry.who,
    }


def _printed(entry: Entry) -> str | None:
    return "; ".join(c.part.printed for c in entry.checked if c.part.printed) or None


def _figure(entry: Entry, check: Checked) -> dict[str, Any]:
    return {
        "of": check.part.of or None,
        "printed": check.part.printed,
        "read_as": reading_text(entry.claim, check),
        "computed": _computed([check]),
        "verdict": str(check.verdict),
        "formula": check.part.formula,
        "inputs": list(check.result.inputs) if check.result else [],
        "difference": _difference(check.difference),
    }


def _computed(checked: Iterable[Checked]) -> dict[str, Any] | None:
    """The hull of what the formulas come to, where they have one unit; null bounds elsewhere."""
    results = [check for check in checked if check.result is not None]
    if not results:
        return None
    text = "; ".join(filter(None, map(computed_text, results)))
    hulls = [figure for check in results if (figure := found(check.result)) is not None]
    units = {hull.low.unit for hull in hulls}
    if len(hulls) < len(results) or len(units) > 1:
        return {"low": None, "high": None, "unit": "", "text": text}
    low = min(hull.low.low for hull in hulls)
    high = max(hull.high.high for hull in hulls)
    unit = hulls[0].low.unit_text()
    return {"low": _bound(low), "high": _bound(high), "unit": unit, "text": text}


def _bound(value: Any) -> float | None:
    return None if math.isinf(value) else float(value)


def _difference(difference: Difference | None) -> dict[str, Any] | None:
    if difference is None:
        return None
    percent = difference.percent
    return {
        "by": float(difference.by),
        "percent": None if percent is None else float(percent),
        "unit": difference.unit,
        "text": difference.text,
    }


def _source(saying: Saying, data: Data) -> dict[str, Any]:
    source = data.source(saying.source)
    return {
        "id": source.id,
        "name": source.name,
        "place": saying.place,
        "stands": source.stands,
        "voice": saying.voice,
        "printed": saying.printed,
        "value": list(saying.value) if saying.value else None,
    }


def as_json(ledger: Ledger, data: Data) -> str:
    return _dumped(records(ledger, data))


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


# -- CSV ----------------------------------------------------------------------------------

COLUMNS = (
    "id", "topic", "statement", "verdict", "grade", "proven", "printed", "computed_low",
    "computed_high", "unit", "computed", "difference", "formula", "sources", "against",
    "disputed_by", "restates", "restated_by", "explain", "settles", "who",
)  # fmt: skip


def as_csv(ledger: Ledger, data: Data) -> str:
    """One row a claim; a cell that a spreadsheet would compute is disarmed with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for record in records(ledger, data):
        row = _flat(record)
        writer.writerow([_disarmed(row[name]) for name in COLUMNS])
    return out.getvalue()


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    computed = record["computed"] or {}
    return {
        **record,
        "proven": "yes" if record["proven"] else "no",
        "computed_low": computed.get("low"),
        "computed_high": computed.get("high"),
        "unit": computed.get("unit"),
        "computed": computed.get("text"),
        "difference": (record["difference"] or {}).get("text"),
        "sources": "; ".join(f"{s['id']}: {s['place']}" for s in record["sources"]),
        "against": "; ".join(dict.fromkeys(p["claim"] for p in record["against"])),
        "disputed_by": "; ".join(record["disputed_by"]),
        "restated_by": "; ".join(record["restated_by"]),
    }


def _disarmed(cell: Any) -> Any:
    if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{cell}"
    return cell


# -- ClaimReview --------------------------------------------------------------------------


def claim_reviews(
    ledger: Ledger, data: Data, *, author: str, url: str, published: str
) -> list[dict[str, Any]]:
    """schema.org ClaimReview objects, in the shape that https://schema.org/ClaimReview gives.

    ``author`` and ``url`` are the report's own; ``published`` is its date.
    """
    return [
        {
            "@context": "https://schema.org",
            "@type": "ClaimReview",
            "url": f"{url}#{anchor(entry.claim.id)}",
            "claimReviewed": entry.claim.statement,
            "datePublished": published,
            "author": {"@type": "Organization", "name": author, "url": url},
            "itemReviewed": _reviewed(entry.claim, data),
            "reviewRating": _rating(entry),
        }
        for entry in ledger.values()
    ]


def _reviewed(claim: Claim, data: Data) -> dict[str, Any]:
    first = claim.said[0]
    source = data.source(first.source)
    dates = [date for saying in claim.said if (date := data.source(saying.source).date)]
    return {
        "@type": "Claim",
        "author": {"@type": "Organization", "name": first.voice or source.publisher or source.name},
        **({"datePublished": min(dates)} if dates else {}),
        "appearance": [_appearance(data.source(saying.source)) for saying in claim.said],
    }


def _appearance(source: Source) -> dict[str, Any]:
    return {
        "@type": "CreativeWork",
        "name": source.title or source.name,
        **({"url": source.url} if source.url else {}),
        **({"datePublished": source.date} if source.date else {}),
        "inLanguage": source.language,
    }


def _rating(entry: Entry) -> dict[str, Any]:
    words = f"{entry.verdict}, {'proven' if entry.proven else f'not proven ({entry.grade})'}"
    return {
        "@type": "Rating",
        "ratingValue": PROVEN_RATING if entry.proven else RATINGS[entry.verdict],
        "worstRating": min(RATINGS.values()),
        "bestRating": PROVEN_RATING,
        "alternateName": words,
        **({"ratingExplanation": entry.claim.explain} if entry.claim.explain else {}),
    }


# -- tables -------------------------------------------------------------------------------


def _claim_columns(claim: str, who: str, last: str) -> tuple[dict[str, Any], ...]:
    """The columns of a table of claims; in the PDF two of them stand under the one before."""
    return (
        {"title": claim, "align": "left"},
        {"title": who, "align": "left", "under": True},
        {"title": "Verdict", "align": "left"},
        {"title": "Grade", "align": "left", "under": True},
        {"title": last, "align": "left"},
    )


LEDGER_COLUMNS = _claim_columns("Claim", "Who says it", "Computation, or what would settle it")
LEDGER_WIDTHS = (7, 4, 3.4, 2.6, 9)


def ledger_rows(entries: Iterable[Entry], data: Data) -> Cells:
    """The rows of a topic's table: claim, sources, verdict, grade, computation."""
    return [
        [
            _head(entry),
            _who_says(entry.claim, data),
            str(entry.verdict),
            {"grade": str(entry.grade)},
            {"text": _why(entry, data)},
        ]
        for entry in entries
    ]


def topic_row(topic: Topic) -> list[Any]:
    """The last row of a topic's table: what would settle the claims that say nothing of it."""
    who = f" From: {topic.who}." if topic.who else ""
    return [
        {"text": f"To settle any other claim on: {topic.name}", "header": True},
        {"text": ""},
        {"text": ""},
        {"text": ""},
        {"text": f"{topic.settles or 'Not given.'}{who}"},
    ]


def _head(entry: Entry) -> dict[str, Any]:
    claim = entry.claim
    return {
        "text": f"{claim.statement} ({claim.id})",
        "anchor": anchor(claim.id),
        "header": True,
    }


def _who_says(claim: Claim, data: Data) -> dict[str, str]:
    """The sources with their places; the document's list of sources holds their addresses."""
    texts = []
    for saying in claim.said:
        voice = f", where {saying.voice} speaks" if saying.voice else ""
        texts.append(f"{data.source(saying.source).name}, {saying.place}{voice}")
    return {"text": "; ".join(texts)}


def _why(entry: Entry, data: Data) -> str:
    lines = [text for check in entry.checked if (text := figure_text(entry, check))]
    if entry.difference and not any(check.difference for check in entry.checked):
        lines.append(entry.difference.text)
    if against := against_text(entry, data):
        lines.append(f"against it: {against}")
    if entry.disputed_by:
        lines.append(f"disagreeing from farther away: {', '.join(entry.disputed_by)}")
    if entry.claim.explain:
        lines.append(entry.claim.explain)
    if entry.claim.settles:
        lines.append(f"To settle it: {_settling(entry)}")
    return " ".join(_sentence(line) for line in lines)


def _sentence(line: str) -> str:
    text = line[:1].upper() + line[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


SAID_COLUMNS = _claim_columns("What was said", "By", "What would settle it")
SAID_WIDTHS = (6, 4, 3, 2.4, 5)


def said_rows(entries: Iterable[Entry], data: Data) -> Cells:
    """A topic's claims in short: what was said, by whom, and what would settle it."""
    return [
        [
            {"text": entry.claim.statement, "header": True},
            _who_says(entry.claim, data),
            str(entry.verdict),
            {"grade": str(entry.grade)},
            {"text": _settling(entry)},
        ]
        for entry in entries
    ]


def _settling(entry: Entry) -> str:
    if not entry.settles:
        return "Settled by computation."
    return f"{_sentence(entry.settles)} From: {entry.who}." if entry.who else entry.settles


DISAGREEMENT_COLUMNS = (
    {"title": "Claim", "align": "left"},
    {"title": "Said", "align": "left"},
    {"title": "Found, or said elsewhere", "align": "left"},
    {"title": "In a sentence", "align": "left"},
)
DISAGREEMENT_WIDTHS = (5, 3, 5, 6)


def disagreement_rows(ledger: Ledger, data: Data, verdict: Verdict) -> Cells:
    """Every claim of one verdict, with what stands against it."""
    return [
        [
            {"text": entry.claim.statement, "header": True},
            {"text": _said(entry)},
            {"text": _found(entry, data)},
            {"text": entry.claim.explain or ""},
        ]
        for entry in ledger.values()
        if entry.verdict is verdict
    ]


def _said(entry: Entry) -> str:
    if entry.claim.value:
        return " and ".join(entry.claim.value)
    said = [_says(entry, check) for check in entry.checked]
    if len(said) > 1 and set(said) == {"yes"}:
        return "yes, in every part"
    return "; ".join(map(_named, entry.claim.figures, said))


def _says(entry: Entry, check: Checked) -> str:
    """What a claim says of one figure; a comparison, that it holds."""
    if check.part.printed is not None:
        reading = reading_text(entry.claim, check)
        return printed_text(check.part) + (f" (read as {reading})" if reading else "")
    if check.result is None:
        return "said without a figure"
    if isinstance(check.result.outcome, Comparison):
        return "yes"
    return computed_text(check) or ""


def _found(entry: Entry, data: Data) -> str:
    computed = [
        _named(check.part, text)
        for check in entry.checked
        if (text := computed_text(check)) and text != _says(entry, check)
    ]
    parts = ["; ".join(computed), against_text(entry, data) or ""]
    if entry.difference:
        verb = "it is " if entry.difference.alike else "it "
        parts.append(f"{verb}{entry.difference.text}")
    return ". ".join(_sentence(part).rstrip(".") for part in parts if part) + "."


def count_rows(ledger: Ledger, data: Data, cell: Callable[[str, Verdict | None], Any]) -> Cells:
    """Claims by topic and verdict, with totals; ``cell(topic, verdict)`` makes each number.

    The topic is "" for all topics, the verdict None for all verdicts.
    """
    by = counts(ledger)
    topics = [topic for topic in data.topics if any((topic, v) in by for v in Verdict)]
    rows = [
        [data.topics[topic].name, *(cell(topic, v) for v in Verdict), cell(topic, None)]
        for topic in topics
    ]
    return [*rows, ["All topics", *(cell("", v) for v in Verdict), cell("", None)]]


def count(ledger: Ledger, topic: str, verdict: Verdict | None) -> int:
    """How many claims have this topic ("" for any) and this verdict (None for any)."""
    return sum(
        topic in ("", entry.claim.topic) and verdict in (None, entry.verdict)
        for entry in ledger.values()
    )
