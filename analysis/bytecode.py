"""Compile the package once, before many processes import it at the same time.

    python bytecode.py analysis/evidence

Everything else runs with PYTHONDONTWRITEBYTECODE: on a full disk several versions of Python
leave bytecode cut short without an error, and every later import of the module then fails.
"""

from __future__ import annotations

import marshal
import py_compile
import sys
from pathlib import Path

HEADER = 16  # bytes before the code object


def compile_all(package: Path) -> None:
    """Compile every module that has changed; raises ``OSError`` if one cannot be kept whole.

    A module that is not Python is left to whoever imports it, who can say more.
    """
    for module in sorted(package.glob("*.py")):
        try:
            kept = Path(py_compile.compile(str(module), doraise=True) or "")
        except py_compile.PyCompileError:
            continue
        if not _whole(kept):
            kept.unlink(missing_ok=True)
            raise OSError(f"{kept} cannot be written whole: is the disk full?")


def _whole(file: Path) -> bool:
    try:
        marshal.loads(file.read_bytes()[HEADER:])
    except (EOFError, ValueError, TypeError, OSError):
        return False
    return True


if __name__ == "__main__":
    try:
        compile_all(Path(sys.argv[1]))
    except OSError as error:
        sys.exit(f"error: {error}. To mend it: free space or give rights, then run make again")
