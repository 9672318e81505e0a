"""Lay out ``public/``: what was built, with everything needed to check it.

Each publication has a folder of its own by date and commit, which never changes again;
``latest/`` is a copy of the newest.
A publication is written beside its place and moved there whole.
"""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from . import crate, datapackage, manifest
from .cite import citation
from .errors import InputError, shown
from .notebookpage import page as notebook_page
from .outputs import as_json
from .paths import DATA, EXECUTED, ROOT, generated, write_atomically

PUBLIC = ROOT / "public"
BUILT = ROOT / "build" / "report"
LOCKS = [ROOT / "requirements.txt", ROOT / "requirements-publish.txt"]
TABLES = (".csv", ".yml", ".md", ".json")
# where a spreadsheet would take a text for a formula
FORMULA = re.compile(r"[=+@\t\r]|-(?![\d.])")


def publish(public: Path = PUBLIC) -> Path:
    """Publish the build; returns the publication's folder.

    Raises ``InputError`` if there is no complete build, or if the same version was published
    with other bytes.
    """
    version, renderer = _built("version.json"), _built("report/renderer.json")
    public.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=public, prefix=".new-") as scratch:
        folder = Path(scratch) / folder_name(version)
        _fill(folder, version, renderer)
        target = _put(folder, public / folder.name, replace=version["dirty"])
        _put(_copied(target, Path(scratch) / "latest"), public / "latest", replace=True)
    write_index(public)
    return target


def _built(name: str) -> dict[str, Any]:
    try:
        return json.loads((ROOT / "build" / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(
            "there is no complete build", file=f"build/{name}", mend="run make report first"
        ) from None


def folder_name(version: dict[str, Any]) -> str:
    """The folder of a version: its date and commit, and whether there were changes on top."""
    dirty = "-dirty" if version["dirty"] else ""
    return f"{version['date']}-{version['short'] or 'unversioned'}{dirty}"


# -- what a publication holds ---------------------------------------------------------------


def _fill(folder: Path, version: dict, renderer: dict) -> None:
    """Everything; the crate describes all other files, the manifest then covers the crate."""
    cited = citation()
    executed = sorted(EXECUTED.glob("*.ipynb"))
    with ProcessPoolExecutor(max_workers=2) as pool:
        pages = pool.map(notebook_page, executed)
        for name, source in sources(executed):
            _copy(source, folder / name)
        _tables(folder)
        write_atomically(folder / datapackage.NAME, datapackage.text(folder, cited, version))
        datapackage.check(folder)
        for notebook, text in zip(executed, pages, strict=True):
            write_atomically(folder / "notebooks" / f"{notebook.stem}.html", text)
    write_atomically(folder / crate.NAME, crate.text(folder, version, renderer, cited))
    write_atomically(folder / manifest.NAME, manifest.text(folder, version, renderer, LOCKS))


def sources(executed: Iterable[Path]) -> Iterable[tuple[str, Path]]:
    """The files that are published as they are, by the name they get."""
    yield "index.html", BUILT / "index.html"
    yield "report.pdf", BUILT / "report.pdf"
    yield "values.json", generated() / "values.json"
    for notebook in executed:
        yield f"notebooks/{notebook.name}", notebook
    for lock in LOCKS:
        yield f"environment/{lock.name}", lock
    for name, path in manifest.contents(DATA):
        if path.suffix in TABLES and not path.name.startswith("."):
            yield f"data/{name}", path
    for name in ("ledger.json", "ledger.csv"):
        if (generated() / name).exists():
            yield name, generated() / name


def _copy(source: Path, target: Path) -> None:
    """Copy a file of the project; raises ``InputError`` for one that is missing or leads out."""
    if not source.resolve().is_relative_to(ROOT.resolve()):
        raise InputError(
            f"{shown(source.name)} is a link that leaves the project",
            mend="put the file itself there",
        )
    if not source.is_file():
        raise InputError(f"{shown(source.name)} is missing", mend="run make report first")
    write_atomically(target, source.read_bytes())


def _tables(folder: Path) -> None:
    """Values as CSV, and the ledger too where its own CSV was not made."""
    values = json.loads((folder / "values.json").read_text(encoding="utf-8"))
    rows = [{"id": id, **value} for id, value in sorted(values.items())]
    write_atomically(folder / "values.csv", as_csv(rows, first=("id", "label", "text", "suffix")))
    ledger = folder / "ledger.json"
    if ledger.exists() and not (folder / "ledger.csv").exists():
        claims = json.loads(ledger.read_text(encoding="utf-8"))
        write_atomically(folder / "ledger.csv", as_csv(claims, first=("id", "topic", "verdict")))


def as_csv(records: list[dict[str, Any]], first: tuple[str, ...]) -> str:
    """Records as a table; lists stand in one cell, and no cell is a spreadsheet's formula."""
    known = {key for record in records for key in record}
    columns = [*(key for key in first if key in known), *sorted(known - set(first))]
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([[cell(record.get(key)) for key in columns] for record in records])
    return written.getvalue()


def cell(value: Any) -> str:
    """A value as the text of a CSV cell; what would be a formula gets an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        text = "; ".join(_part(item) for item in value)
    else:
        text = _part(value)
    # the csv module does not quote a lone carriage return, and a reader would end the row there
    plain = text.replace("\r", " ")
    return f"'{plain}" if FORMULA.match(text) else plain


def _part(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"id", "place"}:
        return f"{value['id']}: {value['place']}" if value["place"] else str(value["id"])
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


# -- in place -------------------------------------------------------------------------------


def _copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    return target


def _put(new: Path, target: Path, *, replace: bool) -> Path:
    """Move a folder to its place; without ``replace`` what is there must be the same."""
    if target.exists() and not replace:
        if _sums(new) == _sums(target):
            return target
        raise InputError(
            f"{target.name} was published before, with other bytes",
            mend=f"find out why (make reproduce); to publish it anew, remove public/{target.name}",
        )
    if target.exists():
        os.replace(target, new.with_name(f"{new.name}.old"))
    os.replace(new, target)
    return target


def _sums(folder: Path) -> dict[str, str]:
    return {name: manifest.sha256(path.read_bytes()) for name, path in manifest.contents(folder)}


def publications(public: Path) -> list[dict[str, str]]:
    """The publications in ``public``, the newest first, each with its manifest's checksum."""
    found = []
    for path in public.glob(f"*/{manifest.NAME}"):
        if manifest.FOLDER.fullmatch(path.parent.name):
            raw = path.read_bytes()
            made = json.loads(raw)
            found.append((made["epoch"], path.parent.name, manifest.sha256(raw)))
    return [{"folder": name, "manifest": sum} for _, name, sum in sorted(found, reverse=True)]


def write_index(public: Path) -> None:
    """Write publications.json and the plain page that lists them."""
    listed = publications(public)
    write_atomically(public / "publications.json", as_json(listed))
    items = "\n".join(
        f'<li><a href="{name}/index.html">{name}</a>: <a href="{name}/report.pdf">PDF</a>,'
        f' <a href="{name}/{manifest.NAME}">manifest</a>,'
        f' <a href="{name}/{crate.NAME}">RO-Crate</a></li>'
        for name in (html.escape(entry["folder"]) for entry in listed)
    )
    title = html.escape(citation()["title"])
    write_atomically(
        public / "index.html",
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">\n'
        f"<title>{title}: publications</title>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f'<p><a href="latest/index.html">The newest version</a></p>\n'
        f"<h2>All publications</h2>\n<ul>\n{items}\n</ul>\n</body>\n</html>\n",
    )
