"""Read what is published, from a folder or over HTTP."""

from __future__ import annotations

import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from .errors import InputError, shown

SECONDS = 60
MOST_BYTES = 50_000_000  # of one file


def is_address(place: str) -> bool:
    return place.startswith(("https://", "http://"))


def read(base: str, name: str) -> bytes | None:
    """The file ``name`` below the folder or address ``base``; None where there is none.

    Raises ``InputError`` if it cannot be read or is too large.
    """
    if is_address(base):
        return _fetched(f"{base.rstrip('/')}/{urllib.parse.quote(name)}")
    path = Path(base) / name
    return path.read_bytes() if path.is_file() else None


def _fetched(address: str) -> bytes | None:
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            content = answer.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        if error.code in (404, 410):
            return None
        raise _unreadable(address, f"the server answers {error.code}") from None
    except (OSError, ValueError) as error:
        raise _unreadable(address, str(getattr(error, "reason", error))) from None
    if len(content) > MOST_BYTES:
        raise _unreadable(address, f"it has more than {MOST_BYTES:,} bytes")
    return content


def _unreadable(address: str, found: str) -> InputError:
    return InputError(
        f"{shown(address)} cannot be read: {found}", mend="check the address and the network"
    )
