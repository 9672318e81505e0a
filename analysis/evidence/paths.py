"""Where things are, and how a file is written. The one module that knows the layout."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
TOKENS = ROOT / "report" / "theme" / "tokens.json"
EXECUTED = ROOT / "build" / "notebooks"
CACHE = ROOT / ".cache"
DEPENDENCIES = ROOT / "build" / "deps"
BY_HAND = ROOT / "build" / "by-hand"


def generated() -> Path:
    """The folder that the notebooks fill; ``EVIDENCE_OUT`` moves it, for tests."""
    return Path(os.environ.get("EVIDENCE_OUT", ROOT / "report" / "_generated"))


def shown(path: Path) -> str:
    """A path in messages and dependencies: below the root where it is, else whole."""
    path = path.resolve()
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write ``path`` so that it is never seen half-written; the folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = content.encode() if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def script_json(value: Any) -> str:
    """Compact JSON that can stand inside a ``<script>``: nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
