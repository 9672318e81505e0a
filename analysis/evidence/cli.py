"""The command line: ``python -m evidence COMMAND``; each command is one function elsewhere."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from . import paths
from .errors import InputError


def parser() -> argparse.ArgumentParser:
    """All commands; each sets ``run``, which takes the parsed arguments."""
    top = argparse.ArgumentParser(prog="evidence", description=__doc__.partition(";")[0])
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _check(commands.add_parser("check", help="check a data folder"))
    return top


def _check(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", nargs="?", type=Path, default=paths.DATA)

    def run(given: argparse.Namespace) -> None:
        from .data import Data

        data = Data(given.folder)
        print(
            f"{len(data.measurements)} measurements from {len(data.sources)} sources are in order"
        )

    command.set_defaults(run=run)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; raises ``InputError`` for input that is wrong."""
    given = parser().parse_args(arguments)
    try:
        given.run(given)
    except BrokenPipeError:
        raise InputError("the output was closed", mend="read it to its end") from None
