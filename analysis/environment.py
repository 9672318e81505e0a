"""Make the environment the Makefile works in, from the locks; needs nothing but Python 3.11.

    python environment.py sync  .venv requirements.txt [requirements-dev.txt ...]
    python environment.py check requirements.txt [requirements-dev.txt ...]
    python environment.py lock

``sync`` makes or mends the environment; ``check`` says whether the running Python has what the
lock names; ``lock`` resolves pyproject.toml anew and brings environment.yml in line.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)\s*(?:;\s*([^\\]+?))?\s*\\?$")

# the extras of pyproject.toml that have a lock of their own, on top of requirements.txt
EXTRAS = ("dev", "publish")

# conda-forge packages of environment.yml; everything else it takes from PyPI at the lock's version
CONDA = ("python=3.12", "quarto=1.11", "jupyter", "pip")


class SetupError(Exception):
    """What stands in the way, and how to get past it; ``said``, what a command had to say."""

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said

    @property
    def reason(self) -> str:
        """The last line of ``said`` that says something."""
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        return lines[-1][:200] if lines else str(self)


def name_of(package: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", package).lower()


def canonical(version: str) -> str:
    """A version without leading zeros: a wheel may call 4.4 what its metadata call 4.004."""
    return re.sub(r"(^|\.)0+(?=\d)", r"\1", version)


def entries(path: Path) -> list[tuple[str, str, str | None]]:
    """The (name, version, marker) of every entry of a lock."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [match.groups() for line in lines if (match := LOCKED.match(line))]
    return [(name_of(name), version, marker) for name, version, marker in found]


def _only(lock: Path, wanted: Callable[[str], bool]) -> str:
    """The text of a lock's entries whose name is ``wanted``."""
    kept, keep = [], True
    for line in lock.read_text(encoding="utf-8").splitlines():
        if match := LOCKED.match(line):
            keep = wanted(name_of(match[1]))
        if keep:
            kept.append(line + "\n")
    return "".join(kept)


def locked(path: Path) -> dict[str, str]:
    """The versions that a lock names for this platform."""
    return {
        name: version
        for name, version, marker in entries(path)
        if marker is None or _applies(marker)
    }


def _applies(marker: str) -> bool:
    """The few markers that the lock has: is one of these true here?"""
    import os

    values = {
        "sys_platform": sys.platform,
        "platform_python_implementation": sys.implementation.name,
        "implementation_name": sys.implementation.name,
        "os_name": os.name,
        "python_full_version": ".".join(map(str, sys.version_info[:3])),
    }
    for clause in re.split(r"\s+and\s+", marker):
        match = re.fullmatch(r"(\w+)\s*(==|!=)\s*'([^']*)'", clause.strip())
        if not match or match[1] not in values:
            return False
        if (values[match[1]] == match[3]) != (match[2] == "=="):
            return False
    return True


def check(locks: Sequence[Path]) -> None:
    """Raise ``SetupError`` unless the running Python has every locked package at its version."""
    wrong = []
    for lock in locks:
        for name, version in locked(lock).items():
            try:
                found = metadata.version(name)
            except metadata.PackageNotFoundError:
                found = "missing"
            if canonical(found) != canonical(version):
                wrong.append(f"{name} {found} (the lock has {version})")
    if wrong:
        raise SetupError(
            f"this Python ({sys.executable}) does not match the lock: "
            + ", ".join(wrong[:5])
            + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")
            + ". Install the locks with hashes, or leave PYTHON= away to use .venv"
        )


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Hold ``lock``: two makes at once set up one after the other."""
    try:
        import fcntl
    except ImportError:  # no advisory locks on this platform
        yield
        return
    with open(lock, "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("another make is setting up; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def sync(venv: Path, locks: Sequence[Path]) -> None:
    """Make ``venv`` hold what ``locks`` name; an environment left half-made is made anew."""
    with _alone(ROOT / ".venv.lock"):
        python = venv / "bin" / "python"
        if not _works(python):
            _say(f"making {venv.name} with Python {sys.version.split()[0]}")
            _run([sys.executable, "-m", "venv", "--clear", str(venv)])
        names = ", ".join(lock.name for lock in locks)
        count = sum(len(locked(lock)) for lock in locks)
        _say(f"installing {count} packages from {names} (half a minute or so the first time)")
        _install(python, locks)
        if broken := _broken(python):
            _say(f"files of {', '.join(broken[:5])} are gone; installing everything anew")
            _install(python, locks, anew=True)
        _say("environment ready")


def _install(python: Path, locks: Sequence[Path], *, anew: bool = False) -> None:
    """Install ``locks`` into the environment of ``python``: with uv, or where uv can't, with pip.

    uv does it in a tenth of pip's time, but knows nothing of an index set up for pip alone.
    """
    files = [option for lock in locks for option in ("-r", str(lock))]
    strictly = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    pip = [str(python), "-m", "pip", "install", *strictly]
    pip += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    uv = [str(python), "-m", "uv", "pip", "install", *strictly, "--python", str(python)]
    uv += ["--compile-bytecode", "--no-progress", "--color", "never"]

    if own := "".join(_only(lock, lambda name: name == "uv") for lock in locks):
        with tempfile.TemporaryDirectory() as folder:
            alone = Path(folder) / "uv.txt"
            alone.write_text(own, encoding="utf-8")
            _run([*pip, "-r", str(alone)])
        try:
            _run([*uv, *files, *(["--reinstall"] if anew else [])], counting=UV_STEPS)
            return
        except SetupError as error:
            _say(f"uv could not install them ({error.reason}); trying pip, which takes longer")
    _run([*pip, *files, *(["--force-reinstall"] if anew else [])], counting=PIP_STEPS)


# pip takes a package for installed while its metadata stand, whatever else is gone
MISSING_FILES = """
from importlib.metadata import distributions
for package in distributions():
    files = package.files or ()
    if any(file.suffix != ".pyc" and not file.locate().exists() for file in files):
        print(package.name)
"""


def _broken(python: Path) -> list[str]:
    """The installed packages that lack files of theirs."""
    done = subprocess.run([str(python), "-c", MISSING_FILES], capture_output=True, text=True)
    return done.stdout.split()


def _works(python: Path) -> bool:
    if not python.exists():
        return False
    probe = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([str(python), "-c", probe], capture_output=True).returncode == 0


# what the installers say, and what of it is shown
UV_STEPS = {"Resolved": "fetching", "Prepared": "unpacking", "Installed": "compiling"}
PIP_STEPS = {"Collecting": "", "Requirement already": "", "Installing": "unpacking"}


def _run(command: list[str], *, counting: Mapping[str, str] | None = None) -> None:
    """Run ``command``, and say nothing but the steps of ``counting``, by how their lines start."""
    steps = counting or {}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        said, done = [], 0
        for line in process.stdout:
            said.append(line)
            step = next((step for start, step in steps.items() if line.startswith(start)), None)
            if step:
                _say(f"  {step} …")
            elif step == "":
                done += 1
                if done % 10 == 0:
                    _say(f"  {done} packages …")
    if process.returncode:
        raise SetupError(
            f"{' '.join(command[:4])} … ended with {process.returncode}; see above."
            " Check the network and the disk, then run the same make again",
            said="".join(said[-30:]),
        )


def _say(text: str) -> None:
    print(f"setup: {text}", flush=True)


# -- the lock -----------------------------------------------------------------------------


def lock() -> None:
    """Resolve pyproject.toml into the locks, and environment.yml from them."""
    runtime = ROOT / "requirements.txt"
    _resolve(runtime, [])
    held = {name for name, _, _ in entries(runtime)}
    settled = [runtime]
    for extra in EXTRAS:
        target = ROOT / f"requirements-{extra}.txt"
        constraints = [option for lock in settled for option in ("--constraint", str(lock))]
        _resolve(target, ["--extra", extra, *constraints])
        target.write_text(_only(target, lambda name: name not in held), encoding="utf-8")
        settled.append(target)
    (ROOT / "environment.yml").write_text(conda(), encoding="utf-8")


def _resolve(target: Path, options: list[str]) -> None:
    _say(f"resolving {target.name}")
    command = [sys.executable, "-m", "uv", "pip", "compile", "--universal", "--generate-hashes"]
    command += ["--fork-strategy", "fewest", "--python-version", "3.11", "--no-header"]
    command += ["--no-annotate", "--no-emit-index-url", "--upgrade", "--quiet", *options]
    _run([*command, str(ROOT / "pyproject.toml"), "--output-file", str(target)])


def conda() -> str:
    """environment.yml: conda-forge for Python, Quarto and Jupyter, the locks for the rest."""
    locks = (ROOT / "requirements.txt", *(ROOT / f"requirements-{extra}.txt" for extra in EXTRAS))
    pinned = sorted({entry for lock in locks for entry in entries(lock)}, key=str)
    lines = [
        "# For those who use conda: written by make lock, from the locks.",
        "name: jalapeno-evidence",
        "channels:",
        "  - conda-forge",
        "  - nodefaults",
        "dependencies:",
        *(f"  - {package}" for package in CONDA),
        "  - pip:",
        *(
            f'      - "{name}=={version}' + (f" ; {marker}" if marker else "") + '"'
            for name, version, marker in pinned
        ),
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> None:
    if sys.version_info < (3, 11):
        raise SetupError(f"Python 3.11 or later is needed, this is {sys.version.split()[0]}")
    match list(arguments):
        case ["sync", venv, *locks] if locks:
            sync(Path(venv).absolute(), [Path(lock) for lock in locks])
        case ["check", *locks] if locks:
            check([Path(lock) for lock in locks])
        case ["lock"]:
            lock()
        case _:
            raise SetupError(f"usage:{(__doc__ or '').partition(chr(10))[2]}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except SetupError as error:
        sys.stderr.write(error.said)
        sys.exit(f"error: {error}")
