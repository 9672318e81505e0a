"""The commands that set one version of the report beside another, or publish one."""

from __future__ import annotations

import argparse
import sys

from . import paths


def add(commands: argparse._SubParsersAction) -> None:
    """Add the commands to the command line; each sets ``run``."""
    _compare(commands.add_parser("compare", help="what changed for the reader since a version"))
    _publish(commands.add_parser("publish", help="lay out public/ from what was built"))
    _history(commands.add_parser("history", help="fetch the publications of a site into public/"))
    _verify(commands.add_parser("verify", help="rebuild a publication and compare the bytes"))
    _reproduce(commands.add_parser("reproduce", help="build twice and compare every byte"))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _renderer(command: argparse.ArgumentParser) -> None:
    command.add_argument("--renderer", choices=("auto", "embedded", "quarto"), default="auto")


def _compare(command: argparse.ArgumentParser) -> None:
    command.add_argument("base", help="a branch, tag or commit")
    _renderer(command)

    def run(given: argparse.Namespace) -> None:
        from . import checkout, review, snapshot

        base = snapshot.of_version(
            checkout.resolve(given.base),
            renderer=given.renderer,
            say=lambda text: _say(f"compare: {text}"),
        )
        if base.failed:
            _say("compare: the base does not build; comparing what there is")
        head = checkout.resolve("HEAD")[:10]
        if checkout.is_dirty():
            head += " with uncommitted changes"
        review.write(base, snapshot.read(paths.ROOT, commit=head))
        _say("compare: written to build/compare.md and build/compare/")

    command.set_defaults(run=run)


def _publish(command: argparse.ArgumentParser) -> None:
    def run(given: argparse.Namespace) -> None:
        from . import publication

        folder = publication.publish()
        _say(f"publish: {paths.shown(folder)} and public/latest")

    command.set_defaults(run=run)


def _history(command: argparse.ArgumentParser) -> None:
    command.add_argument("site", help="the address where public/ is served")

    def run(given: argparse.Namespace) -> None:
        from . import history

        count = history.fetch(given.site, paths.ROOT / "public")
        _say(f"history: {count} earlier publications in public/")

    command.set_defaults(run=run)


def _verify(command: argparse.ArgumentParser) -> None:
    command.add_argument("manifest", help="a publication's folder or MANIFEST.json, or its address")

    def run(given: argparse.Namespace) -> int:
        from . import verify

        return verify.verify(given.manifest, say=_say)

    command.set_defaults(run=run)


def _reproduce(command: argparse.ArgumentParser) -> None:
    _renderer(command)

    def run(given: argparse.Namespace) -> int:
        from . import reproduce

        return reproduce.reproduce(renderer=given.renderer, say=_say)

    command.set_defaults(run=run)
