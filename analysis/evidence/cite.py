"""How to cite the version that is built: for readers as a table, for machines as schema.org.

Runs once the version is known, just before the document is rendered.
Its one source besides the version is CITATION.cff.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import yamlfile
from .errors import InputError, run
from .paths import ROOT, generated, script_json, write_atomically

CITATION = ROOT / "CITATION.cff"
VERSION = ROOT / "build" / "version.json"
LICENCES = {
    "MIT": "https://spdx.org/licenses/MIT",
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
}


def citation(file: Path = CITATION) -> dict[str, Any]:
    """CITATION.cff; raises ``InputError`` for what the page needs and does not find."""
    given = yamlfile.read(file, file.name).value
    given = given if isinstance(given, dict) else {}
    for key in ("title", "authors", "version", "abstract", "license"):
        if not given.get(key):
            raise InputError("nothing is given", file=file.name, field=key, mend="give it")
    return given


def authors(given: dict[str, Any]) -> list[str]:
    """The authors' names, of persons and of groups."""
    return [
        author.get("name") or f"{author.get('given-names', '')} {author['family-names']}".strip()
        for author in given["authors"]
    ]


def text(given: dict[str, Any], version: dict[str, Any]) -> str:
    """The citation in one line."""
    commit = version["short"] or "without a commit"
    changed = " with uncommitted changes" if version["dirty"] else ""
    return (
        f"{', '.join(authors(given))} ({version['date'][:4]}). {given['title']}."
        f" Version {given['version']}, {commit}{changed}, {version['date']}."
    )


def table(given: dict[str, Any], version: dict[str, Any]) -> dict[str, Any]:
    """The box as a table of the document's contract."""
    rows = [
        ("Citation", text(given, version)),
        ("Commit", version["commit"] or "not under version control"),
        ("Licence", "code: MIT; text and data: CC BY 4.0"),
        ("To check it", "make verify MANIFEST=<address of the publication>"),
    ]
    return {
        "columns": [{"title": "Item", "align": "left"}, {"title": "This version", "align": "left"}],
        "rows": [[{"text": name, "header": True}, {"text": said}] for name, said in rows],
        "widths": [1, 4],
    }


def schema_org(given: dict[str, Any], version: dict[str, Any]) -> dict[str, Any]:
    """The report as schema.org sees it."""
    return {
        "@context": "https://schema.org",
        "@type": "Report",
        "name": given["title"],
        "abstract": " ".join(given["abstract"].split()),
        "author": [{"@type": "Organization", "name": name} for name in authors(given)],
        "datePublished": version["date"],
        "version": f"{given['version']}+{version['short'] or 'unversioned'}",
        "identifier": version["commit"] or None,
        "inLanguage": "en",
        "keywords": given.get("keywords", []),
        "license": [LICENCES[name] for name in given["license"] if name in LICENCES],
        "isAccessibleForFree": True,
    }


def dated(reviews: list[dict[str, Any]], version: dict[str, Any]) -> list[dict[str, Any]]:
    """The ledger's claim reviews, published with this version."""
    return [{**review, "datePublished": version["date"]} for review in reviews]


def write(folder: Path, version_file: Path = VERSION) -> None:
    """Write build.json, citation.json, reviews.json and the table ``cite`` for the document."""
    version = json.loads(version_file.read_text(encoding="utf-8"))
    given = citation()
    shown = json.dumps(table(given, version), ensure_ascii=False, indent=1, sort_keys=True)
    write_atomically(folder / "tables" / "cite.json", shown + "\n")
    write_atomically(folder / "citation.json", script_json(schema_org(given, version)) + "\n")
    reviews = json.loads((folder / "claimreview.json").read_text(encoding="utf-8"))
    write_atomically(folder / "reviews.json", script_json(dated(reviews, version)) + "\n")
    write_atomically(folder / "build.json", version_file.read_bytes())


if __name__ == "__main__":
    run(lambda: write(generated()))
