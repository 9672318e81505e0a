"""MANIFEST.json: what a publication holds, byte by byte, and what it was made with."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from .errors import InputError, shown
from .outputs import as_json

NAME = "MANIFEST.json"
MOST_BYTES = 4_000_000
COMMIT = re.compile(r"[0-9a-f]{40}")
SHA256 = re.compile(r"[0-9a-f]{64}")
FOLDER = re.compile(r"\d{4}-\d\d-\d\d-(?:[0-9a-f]{4,40}|unversioned)(?:-dirty)?")


@dataclass(frozen=True)
class Manifest:
    """A manifest that was read and is in order; ``files`` are SHA-256 by relative path."""

    commit: str
    dirty: bool
    renderer: str
    made_with: dict[str, Any]
    files: dict[str, str]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def contents(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file below ``folder`` with its relative path, in order."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path


def text(folder: Path, version: dict, renderer: dict, locks: list[Path]) -> str:
    """The manifest of everything in ``folder``, itself excepted."""
    files = {name: sha256(path.read_bytes()) for name, path in contents(folder) if name != NAME}
    return as_json(
        {
            "format": 1,
            **version,
            "locks": {lock.name: sha256(lock.read_bytes()) for lock in locks},
            "renderer": renderer,
            "python": ".".join(map(str, sys.version_info[:2])),
            "platform": f"{sys.platform}-{platform.machine()}",
            "files": files,
        }
    )


def read(raw: bytes, named: str) -> Manifest:
    """A manifest from anywhere; raises ``InputError`` unless every part of it is in order.

    In particular no path in it leaves the publication's folder.
    """
    try:
        if len(raw) > MOST_BYTES:
            raise ValueError(f"it has {len(raw):,} bytes")
        data = json.loads(raw)
        files = {_safe(name): _matching(SHA256, sum) for name, sum in data["files"].items()}
        commit = data["commit"] and _matching(COMMIT, data["commit"])
        renderer = _matching(re.compile("embedded|quarto"), data["renderer"]["name"])
        made_with = {key: data.get(key) for key in ("renderer", "python", "platform", "locks")}
        return Manifest(commit, bool(data["dirty"]), renderer, made_with, files)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"this is no manifest of a publication ({type(error).__name__}: {error})",
            file=named,
            mend="give MANIFEST.json of a publication, or its folder or address",
        ) from None


def _matching(pattern: re.Pattern, found: Any) -> str:
    if not isinstance(found, str) or not pattern.fullmatch(found):
        raise ValueError(f"{shown(found)} is not what belongs there")
    return found


def _safe(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in name or ":" in name:
        raise ValueError(f"the path {shown(name)} leaves the folder")
    return name
