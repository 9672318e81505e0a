"""datapackage.json: the published tables as a Frictionless data package."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

from .errors import InputError
from .manifest import contents, sha256
from .outputs import as_json

NAME = "datapackage.json"
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
WORDS = frozenset(("printed", "text", "range"))  # columns that keep a number's printed form
FORMATS = {".yml": ("yaml", "application/yaml"), ".json": ("json", "application/json"),
           ".md": ("markdown", "text/markdown")}  # fmt: skip


def text(folder: Path, cited: dict, version: dict) -> str:
    """The descriptor of ``values.*``, ``ledger.*`` and everything in ``data/`` of ``folder``."""
    listed = [
        _resource(name, path)
        for name, path in contents(folder)
        if name.startswith(("data/", "values.", "ledger."))
    ]
    return as_json(
        {
            "name": "jalapeno-evidence",
            "title": cited["title"],
            "description": " ".join(cited["abstract"].split()),
            "version": version["short"] or "unversioned",
            "created": f"{version['date']}T00:00:00Z",
            "licenses": [
                {
                    "name": "CC-BY-4.0",
                    "title": "Creative Commons Attribution 4.0",
                    "path": "https://creativecommons.org/licenses/by/4.0/",
                }
            ],
            "resources": listed,
        }
    )


def _resource(name: str, path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    resource: dict[str, Any] = {
        "name": re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"),
        "path": name,
        "scheme": "file",
        "encoding": "utf-8",
        "bytes": len(content),
        "hash": f"sha256:{sha256(content)}",
    }
    if path.suffix == ".csv":
        schema = {"fields": _fields(content.decode("utf-8")), "missingValues": [""]}
        return {
            **resource, "type": "table", "format": "csv", "mediatype": "text/csv", "schema": schema
        }  # fmt: skip
    format, mediatype = FORMATS.get(path.suffix, ("txt", "text/plain"))
    return {**resource, "type": "file", "format": format, "mediatype": mediatype}


def _fields(table: str) -> list[dict[str, str]]:
    """A column is a number if every cell that is given reads as one."""
    rows = list(csv.reader(io.StringIO(table)))
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [()] * len(rows[0])
    return [
        {"name": name, "type": _type(name, [cell for cell in cells if cell])}
        for name, cells in zip(rows[0], columns, strict=True)
    ]


def _type(name: str, cells: list[str]) -> str:
    if cells and name not in WORDS and all(NUMBER.fullmatch(cell) for cell in cells):
        return "number"
    return "string"


def check(folder: Path) -> None:
    """Raise ``InputError`` unless the frictionless library finds the package valid."""
    from frictionless import Package

    report = Package.from_descriptor(str(folder / NAME)).validate()
    if not report.valid:
        first = report.flatten(["type", "message"])[0]
        raise InputError(
            f"the data package is not valid ({': '.join(map(str, first))})",
            file=NAME,
            mend="mend the table that the message names",
        )
