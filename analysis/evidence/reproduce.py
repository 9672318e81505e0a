"""Build everything twice, as differently as one machine can, and compare every byte.

The two builds differ in folder (one with a space), time zone, locale, date, hash seed, number
of cores and home folder.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import checkout
from .errors import InputError
from .manifest import contents
from .verify import first_difference

# what is compared: below each of these, every file
OUTPUTS = ("build/report", "build/notebooks", "report/_generated", "public")


@dataclass(frozen=True)
class Way:
    """One way of building, so many days from today."""

    folder: str
    environment: dict[str, str]
    jobs: int
    cores: int
    days: int


WAYS = (
    Way("first", {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"}, 2, 2, 0),
    Way(
        "the second one",
        {
            "TZ": "Pacific/Kiritimati",
            "LC_ALL": "tr_TR.UTF-8",
            "LANG": "de_DE.UTF-8",
            "LANGUAGE": "zh_TW",
            "PYTHONHASHSEED": "4242",
            "COLUMNS": "40",
        },
        1,
        1,
        400,
    ),
)


def reproduce(*, renderer: str, say: Callable[[str], None]) -> int:
    """Build HEAD in both ways; 0 if every output agrees, 1 if not.

    Raises ``InputError`` if one of them does not build.
    """
    commit = checkout.resolve("HEAD")
    if checkout.is_dirty():
        say("reproduce: uncommitted changes are left out; HEAD is built")
    with tempfile.TemporaryDirectory(prefix="evidence-") as kept:
        folders = [_built(commit, way, Path(kept), renderer, say) for way in WAYS]
        count, wrong = 0, []
        for name in OUTPUTS:
            found, differing = differing_files(*(folder / name for folder in folders))
            count += found
            wrong += [f"{name}/{line}" for line in differing]
    for line in wrong:
        print(f"differs  {line}")
    print(f"{count - len(wrong)} of {count} files agree byte for byte")
    return 1 if wrong or not count else 0


def _built(commit: str, way: Way, kept: Path, renderer: str, say: Callable[[str], None]) -> Path:
    """Build in one way, and keep the outputs."""
    say(f"reproduce: building in “{way.folder}” on {way.cores} core(s), {way.days} days from now")
    home = kept / f"home of {way.folder}"
    home.mkdir()
    with checkout.worktree(commit, name=way.folder) as folder:
        if way.days:
            checkout.shift_clock(folder, way.days)
        built = checkout.make(
            folder,
            ["publish"],
            renderer=renderer,
            jobs=way.jobs,
            cores=way.cores,
            environment={**way.environment, "HOME": str(home)},
        )
        if not built.done:
            raise InputError(
                f"the build in “{way.folder}” failed:\n{built.said}\n", mend="see what make said"
            )
        for name in OUTPUTS:
            shutil.copytree(folder / name, kept / way.folder / name)
    return kept / way.folder


def differing_files(first: Path, second: Path) -> tuple[int, list[str]]:
    """How many files two folders hold between them, and a line for each that is not the same."""
    one, other = (dict(contents(folder)) for folder in (first, second))
    names = sorted(set(one) | set(other))
    return len(names), list(_differences(names, one, other))


def _differences(names: list[str], one: dict[str, Path], other: dict[str, Path]) -> Iterator[str]:
    for name in names:
        if name not in one or name not in other:
            yield f"{name}: only in the {'first' if name in one else 'second'}"
            continue
        old, new = one[name].read_bytes(), other[name].read_bytes()
        if old != new:
            yield f"{name}: {first_difference(old, new)}"
