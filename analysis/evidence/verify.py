"""Rebuild a publication at its commit, and say of every file whether the bytes agree."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from . import checkout, compare, manifest, remote
from .errors import InputError, printable, shown
from .manifest import Manifest
from .pagetext import from_page

MOST_SHOWN = 20  # differences of one file
Say = Callable[[str], None]


def verify(place: str, *, say: Say) -> int:
    """Verify the publication at ``place``; 0 if every byte agrees, 1 if not.

    ``place`` is a folder or its MANIFEST.json, or the address of either.
    Raises ``InputError`` for what cannot be rebuilt: no manifest, uncommitted changes, a
    commit that is not in this clone, a version that does not build.
    """
    base = place.removesuffix(manifest.NAME).rstrip("/") or "."
    raw = remote.read(base, manifest.NAME)
    if raw is None:
        raise InputError(f"there is no {manifest.NAME} at {shown(place)}", mend="check the place")
    published = manifest.read(raw, place)
    _can_be_rebuilt(published)
    for note in differing_conditions(published):
        say(f"verify: {note}")
    commit = checkout.resolve(published.commit)
    say(f"verify: rebuilding {commit[:10]} with the {published.renderer} renderer")
    with checkout.worktree(commit) as folder:
        built = checkout.make(folder, ["publish"], renderer=published.renderer)
        if not built.done:
            raise InputError(
                f"the version does not build here:\n{built.said}\n", mend="see what make said"
            )
        return _judge(published, base, folder / "public" / "latest")


def _can_be_rebuilt(published: Manifest) -> None:
    if not published.commit or published.dirty:
        why = "with uncommitted changes" if published.commit else "without a commit"
        raise InputError(
            f"it was published {why}, so nobody can build it again",
            mend="verify a publication of a commit",
        )


def differing_conditions(published: Manifest) -> Iterator[str]:
    """What is not the same here; the bytes are only promised where it is."""
    here = {
        "python": ".".join(map(str, sys.version_info[:2])),
        "platform": f"{sys.platform}-{platform.machine()}",
    }
    for name, value in here.items():
        made = published.made_with.get(name)
        if made != value:
            yield f"published with {name} {printable(str(made))}, here it is {value}"


def _judge(published: Manifest, base: str, rebuilt: Path) -> int:
    """Print one line a file, then what differs: values first, then text, then bytes."""
    ours = {
        name: path.read_bytes()
        for name, path in manifest.contents(rebuilt)
        if name != manifest.NAME
    }
    theirs = {name: remote.read(base, name) for name in published.files}
    alone = not any(content is not None for content in theirs.values())
    if alone:
        print("the published files are not beside the manifest: its checksums alone are compared")
    strays = _strays(base, published)
    names = sorted({*published.files, *ours, *strays}, key=_order)
    wrong = {
        name: found
        for name in names
        if (found := _found(name, published, theirs.get(name), ours, alone, name in strays))
    }
    for name in names:
        print(f"{'differs' if name in wrong else 'agrees '}  {printable(name)}")
    for name, found in wrong.items():
        print(f"\n{printable(name)}:")
        for line in found:
            print(line)
    print(f"{len(names) - len(wrong)} of {len(names)} files agree byte for byte")
    return 1 if wrong else 0


def _order(name: str) -> tuple[int, str]:
    return (0 if name.startswith("values.") else 1 if name.endswith(".html") else 2, name)


def _strays(base: str, published: Manifest) -> set[str]:
    """The files of a published folder that its manifest does not name; a site can't be listed."""
    if remote.is_address(base) or not Path(base).is_dir():
        return set()
    held = {name for name, _ in manifest.contents(Path(base))}
    return held - published.files.keys() - {manifest.NAME}


def _found(
    name: str,
    published: Manifest,
    theirs: bytes | None,
    ours: dict[str, bytes],
    alone: bool,
    stray: bool,
) -> list[str]:
    """What is wrong with one file, in lines; nothing if published, named and rebuilt agree."""
    if stray:
        return ["  it is published and its manifest does not name it"]
    named = published.files.get(name)
    if named is None:
        return ["  only in the rebuilt version"]
    if theirs is None and not alone:
        return ["  the manifest names it, and it is not published beside it"]
    if theirs is not None and manifest.sha256(theirs) != named:
        lines = ["  the published file is not the one that its own manifest names"]
        return lines + (list(differences(name, theirs, ours[name])) if name in ours else [])
    if name not in ours:
        return ["  only in the published version"]
    if manifest.sha256(ours[name]) == named:
        return []
    if theirs is None:
        return ["  its checksum differs"]
    return list(differences(name, theirs, ours[name]))


def differences(name: str, theirs: bytes, ours: bytes) -> Iterator[str]:
    """How two versions of one file differ, in the words that fit the file."""
    found: list[str] = []
    if name == "values.json":
        found = _values(theirs, ours)
    elif name.endswith(".html"):
        found = _text(theirs, ours)
    yield from (f"  {printable(line)}" for line in found[:MOST_SHOWN])
    if len(found) > MOST_SHOWN:
        yield f"  … and {len(found) - MOST_SHOWN} more"
    if not found:
        yield f"  {first_difference(theirs, ours)}"


def _values(theirs: bytes, ours: bytes) -> list[str]:
    try:
        old, new = json.loads(theirs), json.loads(ours)
    except ValueError:
        return []
    lines = [f"value {id}: only published" for id in sorted(set(old) - set(new))]
    lines += [f"value {id}: only rebuilt" for id in sorted(set(new) - set(old))]
    for id in sorted(set(old) & set(new)):
        if old[id] != new[id]:
            before, after = compare.printed(old[id]), compare.printed(new[id])
            keys = sorted(
                key for key in {*old[id], *new[id]} if old[id].get(key) != new[id].get(key)
            )
            what = f"{before} published, {after} rebuilt" if before != after else ", ".join(keys)
            lines.append(f"value {id}: {what}")
    return lines


def _text(theirs: bytes, ours: bytes) -> list[str]:
    pages = [from_page(raw.decode("utf-8", "replace")) for raw in (theirs, ours)]
    return [
        line
        for change in compare.text_changes(*pages)
        for line in (
            *(f"published: {text}" for text in change.old),
            *(f"rebuilt:   {text}" for text in change.new),
        )
    ]


def first_difference(theirs: bytes, ours: bytes) -> str:
    """Where two files first part, and how long they are."""
    at = next(
        (i for i, pair in enumerate(zip(theirs, ours, strict=False)) if pair[0] != pair[1]),
        min(len(theirs), len(ours)),
    )
    around = slice(max(0, at - 20), at + 20)
    return (
        f"bytes differ from {at:,} on ({len(theirs):,} published, {len(ours):,} rebuilt):"
        f" {theirs[around]!r} and {ours[around]!r}"
    )
