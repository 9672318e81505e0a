"""The locks, pyproject.toml and environment.yml say the same; the set-up does what it says."""

import hashlib
import re
import subprocess
import sys
import tomllib
import zipfile

import environment
import pytest
import yaml
from evidence.paths import ROOT

LOCKS = [ROOT / f"requirements{extra}.txt" for extra in ("", "-dev", "-publish")]


def direct(extra=None):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return {environment.name_of(re.split(r"[<>=!~;\[ ]", item)[0]) for item in listed}


def names(lock):
    return [name for name, _, _ in environment.entries(lock)]


def test_every_direct_dependency_is_locked():
    assert direct() <= set(names(LOCKS[0]))
    assert direct("dev") <= set(names(LOCKS[0]) + names(LOCKS[1]))


def test_one_version_of_each_package_for_every_platform():
    listed = names(LOCKS[0]) + names(LOCKS[1])
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_entry_is_exact_and_hashed_and_no_address_is_recorded(lock):
    text = lock.read_text()
    assert "://" not in text and "--index" not in text and "--find-links" not in text
    blocks = re.split(r"\n(?=[A-Za-z])", text.strip())
    assert len(blocks) == len(names(lock))
    for block in blocks:
        assert re.match(r"[A-Za-z0-9._-]+==[^ ]+", block) and "--hash=sha256:" in block, block[:60]


def test_environment_yml_agrees_with_the_locks():
    assert (ROOT / "environment.yml").read_text() == environment.conda()
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert listed["channels"][0] == "conda-forge"
    conda = [item for item in listed["dependencies"] if isinstance(item, str)]
    pip = next(item["pip"] for item in listed["dependencies"] if isinstance(item, dict))
    assert {re.split("[=]", item)[0] for item in conda} == {"python", "quarto", "jupyter", "pip"}
    assert re.fullmatch(
        r"quarto=\d+\.\d+(\.\d+)?", next(i for i in conda if i.startswith("quarto"))
    )
    versions = dict(item.split(" ;")[0].split("==") for item in pip)
    for lock in LOCKS:
        assert {
            name: version for name, version, _ in environment.entries(lock)
        }.items() <= versions.items()


def test_every_direct_dependency_says_why_it_is_there():
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    for line in lines:
        if re.match(r'^  "[A-Za-z]', line) and ":" not in line.split("#")[0]:
            assert re.search(r"#\s+\S+", line), line


def test_an_environment_that_does_not_match_is_told_what_differs(tmp_path):
    lock = tmp_path / "lock.txt"
    lock.write_text("pandas==0.0.1 \\\n    --hash=sha256:00\nnosuchpackage==1.0 \\\n")
    with pytest.raises(environment.SetupError) as error:
        environment.check([lock])
    assert "pandas" in str(error.value) and "nosuchpackage missing" in str(error.value)


def test_this_environment_satisfies_the_lock():
    environment.check(LOCKS[:2])  # make publish adds the third when it is first asked for


def test_a_failed_install_says_what_to_do(tmp_path):
    lock = tmp_path / "lock.txt"
    lock.write_text("nosuchpackage==1.0 --hash=sha256:" + "0" * 64 + "\n")
    script = ROOT / "analysis" / "environment.py"
    done = subprocess.run(
        [sys.executable, script, "sync", tmp_path / "venv", lock],
        capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1"},
    )  # fmt: skip
    assert done.returncode == 1
    assert "error:" in done.stderr and "run the same make again" in done.stderr
    assert "Traceback" not in done.stderr


def wheel(folder, name, files):
    """A wheel of ``files`` in ``folder``; its lock entry."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    files = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in (files | {f"{info}/RECORD": record}).items():
            archive.writestr(file, text)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name}==1.0 \\\n    --hash=sha256:{digest}\n"


def test_where_uv_cannot_install_pip_does(tmp_path):
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    refuses = "import sys\nprint('no such index', file=sys.stderr)\nsys.exit(2)\n"
    lock = tmp_path / "lock.txt"
    lock.write_text(
        wheel(shelf, "tiny", {"tiny.py": "size = 1\n"})
        + wheel(shelf, "uv", {"uv/__init__.py": "", "uv/__main__.py": refuses})
    )
    script = ROOT / "analysis" / "environment.py"
    venv = tmp_path / "venv"
    done = subprocess.run(
        [sys.executable, script, "sync", venv, lock], capture_output=True, text=True,
        env={"PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(shelf)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "uv could not install them (no such index); trying pip" in done.stdout
    probe = subprocess.run([venv / "bin" / "python", "-c", "import tiny; print(tiny.size)"],
                           capture_output=True, text=True)  # fmt: skip
    assert probe.stdout == "1\n"


def test_uv_gets_the_locks_their_hashes_and_nothing_else_to_choose(tmp_path, monkeypatch):
    lock = tmp_path / "lock.txt"
    lock.write_text("tiny==1.0 \\\n    --hash=sha256:00\nuv==1.0 \\\n    --hash=sha256:11\n")
    ran = []

    def run(command, *, counting=None):
        held = [open(path).read() for flag, path in zip(command, command[1:]) if flag == "-r"]
        ran.append((command, held))

    monkeypatch.setattr(environment, "_run", run)
    environment._install(tmp_path / "python", [lock], anew=True)
    (pip, first), (uv, second) = ran
    assert pip[2] == "pip" and first == ["uv==1.0 \\\n    --hash=sha256:11\n"]
    assert uv[2] == "uv" and second == [lock.read_text()]
    for command in (pip, uv):
        assert {"--require-hashes", "--no-deps", "--only-binary"} <= set(command)
    assert "--reinstall" in uv and "--compile-bytecode" in uv
