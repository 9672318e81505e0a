"""The command line: ``python -m evidence COMMAND``; each command is one function elsewhere."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from . import paths, versions_cli
from .errors import InputError, printable


def parser() -> argparse.ArgumentParser:
    """All commands; each sets ``run``, which takes the parsed arguments."""
    top = argparse.ArgumentParser(prog="evidence", description=__doc__.partition(";")[0])
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _check(commands.add_parser("check", help="check a data folder"))
    _import_inferencex(
        commands.add_parser(
            "import-inferencex",
            help="refresh the comparators from public InferenceX rows",
            description="Reads the dump's tables (a folder of CSV files, or SQL), the API's JSON or"
            " the dashboard's CSV export, plain or gzipped, and updates MODEL-HARDWARE.csv.",
        )
    )
    versions_cli.add(commands)
    _ledger(commands.add_parser("ledger", help="print every claim with its verdict"))
    _trace(commands.add_parser("trace", help="print where a claim or a figure comes from"))
    _schema(commands.add_parser("schema", help="write the JSON Schema of claim files"))
    return top


def _folder(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", nargs="?", type=Path, default=paths.DATA)


def _check(command: argparse.ArgumentParser) -> None:
    _folder(command)

    def run(given: argparse.Namespace) -> None:
        from . import show

        print(show.check(given.folder))

    command.set_defaults(run=run)


def _ledger(command: argparse.ArgumentParser) -> None:
    _folder(command)
    command.add_argument("--form", choices=("text", "json", "csv"), default="text")

    def run(given: argparse.Namespace) -> None:
        from . import show

        print(show.listed(given.folder, given.form).rstrip("\n"))

    command.set_defaults(run=run)


def _trace(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", help="a claim, or a name that formulas use")
    command.add_argument("folder", nargs="?", type=Path, default=paths.DATA)

    def run(given: argparse.Namespace) -> None:
        from . import show

        print(show.trace(given.folder, given.id))

    command.set_defaults(run=run)


def _schema(command: argparse.ArgumentParser) -> None:
    _folder(command)

    def run(given: argparse.Namespace) -> None:
        from . import show

        print(show.write_schema(given.folder))

    command.set_defaults(run=run)


def _import_inferencex(command: argparse.ArgumentParser) -> None:
    command.add_argument("path", type=Path, metavar="PATH")
    command.add_argument("--model", help="with --hardware; without both, all comparators")
    command.add_argument("--hardware")
    command.add_argument("--precision", default="fp4", help="default: fp4")
    command.add_argument("--isl", type=int, default=8192, help="input tokens; default: 8192")
    command.add_argument("--osl", type=int, default=1024, help="output tokens; default: 1024")
    command.add_argument("--source", default="inferencex-database", help="id in data/sources.yml")
    command.add_argument("--dump", metavar="DATE", help="the dump's date, where it is a dump")
    command.add_argument("--out", type=Path, default=paths.DATA / "inferencex", metavar="FOLDER")

    def run(given: argparse.Namespace) -> None:
        from . import inferencex, points
        from .data import Data

        if (given.model is None) != (given.hardware is None):
            raise InputError(
                "--model and --hardware belong together",
                mend="give both, or neither for all comparators",
            )
        pairs = [(given.model, given.hardware)] if given.model else points.COMPARATORS.items()
        report = inferencex.import_rows(
            given.path,
            pairs,
            data=Data(),
            out=given.out,
            precision=given.precision,
            isl=given.isl,
            osl=given.osl,
            source=given.source,
            dump=given.dump,
        )
        for line in report.lines():
            print(printable(line))

    command.set_defaults(run=run)


def main(arguments: Sequence[str] | None = None) -> int | None:
    """Run one command; its exit status. Raises ``InputError`` for input that is wrong."""
    given = parser().parse_args(arguments)
    try:
        return given.run(given)
    except BrokenPipeError:
        raise InputError("the output was closed", mend="read it to its end") from None
