"""The one error that bad input gets: where it stands, what was found, how to mend it."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from pathlib import Path


class InputError(Exception):
    """Something a person wrote is wrong.

    Printed as ``file:line: field: found; mend``; parts that are not known are left out.
    """

    def __init__(
        self,
        found: str,
        *,
        mend: str,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        detail: str = "",
    ) -> None:
        self.detail = detail
        self.file = str(file) if file is not None else None
        self.line = line
        self.field = field
        self.found = found
        self.mend = mend
        super().__init__(str(self))

    def __str__(self) -> str:
        where = self.file or ""
        if where and self.line is not None:
            where += f":{self.line}"
        parts = [part for part in (where, self.field and f"field {self.field}") if part]
        text = ": ".join([*parts, self.found])
        detail = f"\n{self.detail}" if self.detail else ""
        return printable(f"{text}. To mend it: {self.mend}{detail}")

    def at(
        self, *, file: str | Path | None = None, line: int | None = None, field: str | None = None
    ) -> InputError:
        """The same error, placed: what is known already is kept, and another file's place too."""
        if self.file is not None and file is not None and self.file != str(file):
            return self
        return InputError(
            self.found,
            mend=self.mend,
            file=self.file or file,
            line=self.line if self.line is not None else line,
            field=self.field or field,
            detail=self.detail,
        )


def printable(text: str) -> str:
    """``text`` with control characters shown as escapes, so that data cannot drive a terminal."""
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )


def shown(value: object, limit: int = 80) -> str:
    """A found value, quoted and cut to ``limit`` characters, for an error message."""
    text = str(value)
    return f"“{text[:limit]}…”" if len(text) > limit else f"“{text}”"


def run(main: Callable[[], int | None]) -> None:
    """Run a command's ``main``; what went wrong becomes one line and exit status 1."""
    try:
        sys.exit(main() or 0)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:  # whoever pressed the keys knows
        sys.exit(130)
    except ModuleNotFoundError as error:
        missing = InputError(f"the package {error.name} is missing", mend="run make setup")
        print(f"error: {missing}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        print(f"error: {InputError(_cannot(error), mend=_mend(error))}", file=sys.stderr)
        sys.exit(1)


def _cannot(error: OSError) -> str:
    place = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror or type(error).__name__}{place}"


def _mend(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free space on the disk, then run the same make again"
    return "check the rights and the disk, then run the same make again"
