"""The outputs of one build, read for comparison; what a version does not have is None."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import checkout, yamlfile
from .checkout import Built
from .errors import InputError
from .outputs import FILE_ID, as_json
from .pagetext import PageText, from_page, from_source
from .paths import ROOT, write_atomically

KEPT = ("values.json", "ledger.json", "references.json", "build.json")
OUTPUTS = ("index.html", "report.pdf")
# what shapes page and PDF beside their text, below report/
SHAPING = ("_quarto.yml", "theme/*", "filters/*")


@dataclass
class Snapshot:
    """One version as its outputs show it.

    ``values``, ``claims`` and ``sources`` are records by id. ``page`` is None where the page
    was not built; ``source_text`` is the document's source, for that case.
    ``sizes`` are bytes by output file. ``looks`` are checksums of the page as a whole, without
    its version, and of the files that shape page and PDF: what nothing else here compares.
    """

    commit: str
    failed: str = ""
    values: dict[str, dict] | None = None
    claims: dict[str, dict] | None = None
    sources: dict[str, dict] | None = None
    page: PageText | None = None
    source_text: PageText = field(default_factory=PageText)
    figures: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    looks: dict[str, str] = field(default_factory=dict)


def read(root: Path, *, commit: str, failed: str = "") -> Snapshot:
    """The snapshot of the build in ``root``, of a whole project or of a cached one."""
    generated, built = root / "report" / "_generated", root / "build" / "report"
    version = _json(generated / "build.json") or {}
    page = built / "index.html"
    given = (version.get("commit"), version.get("short"), version.get("date"))
    names = [name for name in given if isinstance(name, str) and name]
    return Snapshot(
        commit=commit,
        failed=failed,
        values=_records(_json(generated / "values.json")),
        claims=_records(_json(generated / "ledger.json")),
        sources=_records(_json(generated / "references.json")) or _source_ids(root),
        page=_page(page, names),
        source_text=from_source(root / "report"),
        figures={
            file.stem: file.read_text(encoding="utf-8", errors="replace")
            for file in sorted((generated / "figures").glob("*.svg"))
            if FILE_ID.fullmatch(file.stem)
        },
        sizes={name: (built / name).stat().st_size for name in OUTPUTS if (built / name).is_file()},
        looks=dict(_looks(root, page, names)),
    )


def _looks(root: Path, page: Path, version: list[str]) -> Iterator[tuple[str, str]]:
    if not page.is_file():
        return
    text = page.read_text(encoding="utf-8", errors="replace")
    for name in (*version, " with uncommitted changes"):
        text = text.replace(name, "")
    yield "the page", hashlib.sha256(text.encode()).hexdigest()
    for file in _shaping(root):
        yield file.as_posix(), hashlib.sha256((root / file).read_bytes()).hexdigest()


def _shaping(root: Path) -> list[Path]:
    """The files that shape page and PDF, relative to ``root``."""
    found = [path for form in SHAPING for path in (root / "report").glob(form) if path.is_file()]
    return sorted(path.relative_to(root) for path in found)


def of_version(commit: str, *, renderer: str, say: Callable[[str], None]) -> Snapshot:
    """The snapshot of ``commit``, built in a temporary worktree unless it is in the cache.

    A version that does not build is said to be so in ``failed``, is read as far as it came,
    and is not cached: the reason may lie in this machine.
    """
    cached = ROOT / "build" / "cache" / f"{commit}-{renderer}-2"  # 2: with what shapes it
    if (cached / "complete").exists():
        say(f"{commit[:10]} is in the cache")
        return read(cached, commit=commit)
    say(f"building {commit[:10]}")
    with checkout.worktree(commit) as folder:
        checkout.lend_cache(folder)
        built = checkout.make(folder, ["report"], renderer=renderer)
        if not built.done:
            return read(folder, commit=commit, failed=_reason(built))
        _keep(folder, cached)
    return read(cached, commit=commit)


def _reason(built: Built) -> str:
    return built.said or "make ended without a message"


def _keep(folder: Path, cached: Path) -> None:
    """Copy what ``read`` reads into the cache; the file ``complete`` comes last."""
    shutil.rmtree(cached, ignore_errors=True)
    inside = Path("report") / "_generated"
    files = [inside / name for name in KEPT]
    files += [path.relative_to(folder) for path in (folder / inside / "figures").glob("*.svg")]
    files += [Path("build") / "report" / name for name in OUTPUTS]
    files += _shaping(folder)
    files += [path.relative_to(folder) for path in (folder / "report").glob("index.qmd")]
    files += [path.relative_to(folder) for path in (folder / "report").glob("sections/*.qmd")]
    for file in files:
        if (folder / file).is_file():
            write_atomically(cached / file, (folder / file).read_bytes())
    write_atomically(cached / "complete", as_json({"format": 1}))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _records(data: Any) -> dict[str, dict] | None:
    """Records by id, from a mapping or a list; None where it is neither."""
    if isinstance(data, list):
        data = {item["id"]: item for item in data if isinstance(item, dict) and "id" in item}
    if not isinstance(data, dict):
        return None
    return {str(id): record for id, record in data.items() if isinstance(record, dict)}


def _source_ids(root: Path) -> dict[str, dict] | None:
    """The bare ids of the sources in the data, where no bibliography was made."""
    file = root / "data" / "sources.yml"
    try:
        written = yamlfile.read(file, file.name).value
    except InputError:
        return None
    return {str(id): {} for id in written} if isinstance(written, dict) else None


def _page(path: Path, version: list[str]) -> PageText | None:
    if not path.is_file():
        return None
    return from_page(path.read_text(encoding="utf-8", errors="replace"), version)
