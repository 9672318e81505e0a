"""What the commands print of a data folder: its state, its ledger, the trace of one id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import ledger, points, publish
from .data import Data
from .errors import InputError, printable, shown
from .ledger import Entry, Ledger, Verdict
from .model import Claim
from .quantity import Quantity

SCHEMA = "claims.schema.json"


def check(folder: Path) -> str:
    """Read everything in ``folder``; raises ``InputError`` for the first thing that is wrong."""
    data = Data(folder)
    rows = points.quantities(data)
    if rows:
        points.all_in(data)
        points.hardware(data)
    if (data.folder / "gaps.yml").exists():
        len(data.gaps)
    entries = ledger.build(data)
    parts = [f"{len(data.measurements)} measurements"]
    if rows:
        parts.append(f"{len(rows)} cells of public rows")
    parts.append(f"{len(entries)} claims ({_verdicts(entries)})")
    return f"{', '.join(parts)} from {len(data.sources)} sources are in order"


def _verdicts(entries: Ledger) -> str:
    words = [f"{publish.count(entries, '', verdict)} {verdict}" for verdict in Verdict]
    proven = sum(entry.proven for entry in entries.values())
    return ", ".join([*words, f"{proven} proven"])


def listed(folder: Path, form: str = "text") -> str:
    """The ledger of ``folder`` as ``text``, ``json`` or ``csv``."""
    data = Data(folder)
    entries = ledger.build(data)
    if form == "json":
        return publish.as_json(entries, data)
    if form == "csv":
        return publish.as_csv(entries, data)
    return printable("\n".join([*map(_line, entries.values()), _verdicts(entries)]))


def _line(entry: Entry) -> str:
    proven = "proven" if entry.proven else ""
    mark = f"{entry.verdict!s:12}{entry.grade!s:11}{proven:7}"
    return f"{mark}{entry.claim.id}: {entry.claim.statement}"


def trace(folder: Path, id: str) -> str:
    """Where a claim or a named figure comes from.

    ``id`` is a claim's, or anything that a formula may name.
    """
    data = Data(folder)
    if id in data.claims:
        return printable("\n".join(_claim(data, ledger.build(data)[id])))
    return printable("\n".join(_figure(ledger.Names(data)(id))))


def _claim(data: Data, entry: Entry) -> list[str]:
    claim = entry.claim
    lines = [claim.statement, f"  verdict: {entry.verdict}", f"  grade:   {entry.grade}"]
    lines.append(f"  proven:  {'yes' if entry.proven else 'no'}")
    for saying in claim.said:
        voice = f" ({saying.voice} speaks)" if saying.voice else ""
        lines.append(f"  said by: {data.source(saying.source).name}, {saying.place}{voice}")
    for check in entry.checked:
        if text := publish.figure_text(entry, check):
            lines.append(f"  figure:  {text}")
        names = ledger.Names(data)
        for name in check.result.inputs if check.result else ():
            lines.append(f"    from {name}: {_cited(names(name))}")
    if against := publish.against_text(entry, data):
        lines.append(f"  against: {against}")
    for name, text in (("explained", claim.explain), ("to settle", entry.settles)):
        if text:
            lines.append(f"  {name}: {text}")
    return lines


def _figure(quantity: Quantity) -> list[str]:
    return [f"{quantity.trace.formula}: {_cited(quantity)}"]


def _cited(quantity: Quantity) -> str:
    places = "; ".join(f"{source}, {place}" for source, place in quantity.trace.sources)
    return f"{publish.quantity_text(quantity)} ({quantity.range()}), {quantity.grade}; {places}"


def schema() -> str:
    """The JSON Schema of a claim file, for editors: a mapping from ids to claims."""
    claim = Claim.model_json_schema()
    definitions = claim.pop("$defs")
    id = claim["properties"].pop("id")
    claim["required"].remove("id")
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A file of claims",
        "type": "object",
        "propertyNames": {"pattern": id["pattern"], "maxLength": id["maxLength"]},
        "additionalProperties": claim,
        "$defs": definitions,
    }
    return json.dumps(_readable(whole), ensure_ascii=False, indent=1) + "\n"


def _readable(node: Any) -> Any:
    """The schema without pydantic's titles and defaults, which only repeat the names."""
    if isinstance(node, list):
        return [_readable(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _readable(field) for name, field in value.items()}
        if key in ("properties", "$defs")
        else _readable(value)
        for key, value in node.items()
        if not (key == "default" or (key == "title" and value != "A file of claims"))
    }


def write_schema(folder: Path) -> str:
    """Write the schema into ``folder``; raises ``InputError`` where it cannot be written."""
    path = folder / SCHEMA
    try:
        path.write_text(schema(), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{shown(path)} cannot be written ({error.strerror})", mend="name a data folder"
        ) from None
    return f"{path} is written"
