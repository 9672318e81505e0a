"""Bring the publications of a site into ``public/``, so that a new one is added to them.

Every file is checked against its publication's manifest, and every manifest against the list.
"""

from __future__ import annotations

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import manifest, remote
from .errors import InputError, shown
from .paths import write_atomically
from .publication import write_index

LIST = "publications.json"


def fetch(site: str, public: Path) -> int:
    """Fetch every publication that is not there yet; returns how many the site has.

    A site without a list has published nothing. Raises ``InputError`` if anything is missing
    or is not what its checksum says: then nothing half-fetched stays.
    """
    raw = remote.read(site, LIST)
    if raw is None:
        return 0
    listed = _listed(raw, site)
    public.mkdir(parents=True, exist_ok=True)
    for folder, sum in listed:
        if not (public / folder / manifest.NAME).exists():
            _fetch_one(site, folder, sum, public)
    write_index(public)
    return len(listed)


def _listed(raw: bytes, site: str) -> list[tuple[str, str]]:
    try:
        listed = [(entry["folder"], entry["manifest"]) for entry in json.loads(raw)]
        for folder, sum in listed:
            if not (manifest.FOLDER.fullmatch(folder) and manifest.SHA256.fullmatch(sum)):
                raise ValueError(shown(folder))
        return listed
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"its list of publications is not in order ({error})", file=f"{site}/{LIST}",
            mend="restore the site's last good publication",
        ) from None  # fmt: skip


def _fetch_one(site: str, folder: str, sum: str, public: Path) -> None:
    base = f"{site.rstrip('/')}/{folder}"
    raw = _checked(base, manifest.NAME, sum)
    files = manifest.read(raw, base).files
    with tempfile.TemporaryDirectory(dir=public, prefix=".new-") as scratch:
        target = Path(scratch) / folder
        with ThreadPoolExecutor(8) as pool:
            contents = pool.map(lambda item: _checked(base, *item), files.items())
            for name, content in zip(files, contents, strict=True):
                write_atomically(target / name, content)
        write_atomically(target / manifest.NAME, raw)
        target.replace(public / folder)


def _checked(base: str, name: str, sum: str) -> bytes:
    content = remote.read(base, name)
    if content is None or manifest.sha256(content) != sum:
        found = "is missing" if content is None else "is not what its checksum says"
        raise InputError(
            f"{shown(name)} {found}", file=base, mend="restore the site's last good publication"
        )
    return content
