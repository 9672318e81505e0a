"""Another version of the project, built beside this one with its own code.

A version is checked out into a temporary git worktree and built there by its own Makefile.
Where its locks are ours, it borrows our environment; else it makes its own.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import InputError, printable, shown
from .paths import CACHE, ROOT

LOCKS = ("requirements.txt", "requirements-dev.txt", "requirements-publish.txt")
LENT = ".venv"
LAST_LINES = 15  # of a failed build's messages


@dataclass(frozen=True)
class Built:
    """Whether a build came through; if not, the last that it said."""

    done: bool
    said: str = ""


def git(*arguments: str, root: Path = ROOT) -> str:
    """What git answers; raises ``InputError`` with git's own last line if it refuses."""
    command = ["git", "-c", "core.hooksPath=/dev/null", "-C", str(root), *arguments]
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except FileNotFoundError:
        raise InputError("there is no git on the PATH", mend="install git") from None
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        raise InputError(f"git {arguments[0]} failed: {printable(last)}", mend="see git's message")
    return run.stdout.strip()


def resolve(ref: str, root: Path = ROOT) -> str:
    """The full commit that ``ref`` names.

    Raises ``InputError`` if this is no git checkout or the commit is not in it; in a shallow
    clone the mend is to fetch more.
    """
    try:
        shallow = git("rev-parse", "--is-shallow-repository", root=root) == "true"
    except InputError:
        raise InputError(
            "this folder is no git checkout, so there is no other version to build",
            mend="work in a clone of the project",
        ) from None
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}",
                   root=root)  # fmt: skip
    except InputError:
        mend = "name a branch, tag or commit that git log shows"
        if shallow:
            mend = "fetch it: git fetch --unshallow, or git fetch --depth=1 origin and the commit"
        kind = "this shallow clone" if shallow else "this clone"
        raise InputError(f"the version {shown(ref)} is not in {kind}", mend=mend) from None


def is_dirty(root: Path = ROOT) -> bool:
    """Whether a file that git knows has changes that are not committed."""
    return bool(git("status", "--porcelain", "--untracked-files=no", root=root))


@contextlib.contextmanager
def worktree(commit: str, *, name: str = "version", root: Path = ROOT) -> Iterator[Path]:
    """``commit`` in a temporary folder called ``name``, which is gone afterwards."""
    git("worktree", "prune", root=root)
    with tempfile.TemporaryDirectory(prefix="evidence-") as parent:
        folder = Path(parent).resolve() / name
        git("worktree", "add", "--detach", "--force", str(folder), commit, root=root)
        try:
            _lend_environment(folder, root)
            yield folder
        finally:
            with contextlib.suppress(InputError):
                git("worktree", "remove", "--force", str(folder), root=root)


def _lend_environment(folder: Path, root: Path) -> None:
    """Link the running environment as ``LENT``, if every lock of the version is ours too.

    A link, because the Makefile takes PYTHON= unquoted and our own path may hold a space.
    """
    if all(_text(folder / lock) in (None, _text(root / lock)) for lock in LOCKS):
        (folder / LENT).symlink_to(sys.prefix, target_is_directory=True)


def shift_clock(folder: Path, days: int) -> None:
    """Replace the lent environment by one with the same packages in which it is another day.

    Only Python's dates move; waiting times do not.
    """
    lent = folder / LENT
    lent.unlink()
    site = lent / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    (lent / "bin").mkdir(parents=True)
    site.mkdir(parents=True)
    base = Path(sys._base_executable).resolve()
    (lent / "bin" / "python").symlink_to(base)
    (lent / "pyvenv.cfg").write_text(f"home = {base.parent}\n", encoding="utf-8")
    (lent / "share").symlink_to(Path(sys.prefix) / "share", target_is_directory=True)
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        (site / package.name).symlink_to(package)
    (site / "sitecustomize.py").write_text(
        "import datetime, time_machine\n"
        f"then = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta({days})\n"
        "time_machine.travel(then, tick=True).start()\n",
        encoding="utf-8",
    )


def lend_cache(folder: Path) -> None:
    """Link what is kept between builds and depends on the locked packages alone."""
    CACHE.mkdir(exist_ok=True)
    if not (folder / CACHE.name).exists():
        (folder / CACHE.name).symlink_to(CACHE, target_is_directory=True)


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def make(
    folder: Path,
    targets: Sequence[str],
    *,
    renderer: str,
    jobs: int = 2,
    environment: Mapping[str, str] | None = None,
    cores: int | None = None,
) -> Built:
    """Run make in ``folder``; ``cores`` binds it to so many, where the platform can."""
    command = ["make", f"-j{jobs}", *targets, f"RENDERER={renderer}"]
    if (folder / LENT).exists():
        command.append(f"PYTHON={LENT}/bin/python")
    run = subprocess.run(
        command,
        cwd=folder,
        env={**_plain_environment(), **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        preexec_fn=None if cores is None else lambda: _bind(cores),
    )
    if run.returncode == 0:
        return Built(True)
    lines = printable(run.stdout).strip().splitlines()[-LAST_LINES:]
    return Built(False, "\n".join(lines).replace(str(folder), "."))


def _bind(cores: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))


def _plain_environment() -> dict[str, str]:
    """Ours without what a make around us, or a git hook, would tell the one inside."""
    foreign = ("MAKE", "MFLAGS", "GIT_", "EVIDENCE_", "RENDERER", "PYTHONPATH", "VIRTUAL_ENV")
    return {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
