"""The command line: ``python -m evidence COMMAND``; each command is one function elsewhere."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import paths
from .errors import InputError


def parser() -> argparse.ArgumentParser:
    """All commands; each sets ``run``, which takes the parsed arguments."""
    top = argparse.ArgumentParser(prog="evidence", description=__doc__.partition(";")[0])
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _check(commands.add_parser("check", help="check a data folder"))
    _compare(commands.add_parser("compare", help="what changed for the reader since a version"))
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


def _renderer(command: argparse.ArgumentParser) -> None:
    command.add_argument("--renderer", choices=("auto", "embedded", "quarto"), default="auto")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _compare(command: argparse.ArgumentParser) -> None:
    command.add_argument("base", help="a branch, tag or commit")
    _renderer(command)

    def run(given: argparse.Namespace) -> None:
        from . import checkout, review, snapshot

        commit = checkout.resolve(given.base)
        base = snapshot.of_version(
            commit, renderer=given.renderer, say=lambda text: _say(f"compare: {text}")
        )
        head = checkout.resolve("HEAD")[:10]
        if checkout.is_dirty():
            head += " with uncommitted changes"
        review.write(base, snapshot.read(paths.ROOT, commit=head))
        _say("compare: written to build/compare.md, build/compare/")

    command.set_defaults(run=run)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; raises ``InputError`` for input that is wrong."""
    given = parser().parse_args(arguments)
    try:
        given.run(given)
    except BrokenPipeError:
        raise InputError("the output was closed", mend="read it to its end") from None
