"""What must not happen: text that becomes code, half-written files, builds that harm each other."""

import errno
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import bytecode
import pytest
import render
from evidence import errors, execute, paths
from evidence.errors import InputError
from evidence.outputs import Outputs
from evidence.paths import ROOT, write_atomically

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


# -- text from data is never code -------------------------------------------------------------


def test_no_escape_sequence_of_the_data_reaches_the_terminal(tmp_path):
    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data)
    table = data / "measurements.csv"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("mixed tok/s/kW", "\x1b]0;owned\x07\x1b[2J\u202e", 1), "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "evidence", "check", str(data)],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "analysis")},
    )  # fmt: skip
    assert run.returncode == 1 and "\\x1b]0;owned\\x07" in run.stderr
    assert not any(sign in run.stdout + run.stderr for sign in ("\x1b", "\x07", "\u202e"))


def test_no_name_on_the_command_line_of_make_is_run(tmp_path):
    mark = tmp_path / "mark"
    name = f"no'where $(shell touch {mark}) `touch {mark}` $$(touch {mark}) ; touch {mark} #"
    run = subprocess.run(
        ["make", "--no-print-directory", "baselines", f"DUMP={name}", f"PYTHON={sys.executable}"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode != 0 and f"$(shell touch {mark}) `touch" in run.stderr
    assert not mark.exists()


@pytest.mark.parametrize("name", ["../x.json", "/tmp/x.json", "tables/../../x.json"])
def test_no_file_that_a_notebook_emits_leaves_its_folder(name):
    with pytest.raises(InputError, match="leaves its folder"):
        Outputs("01-test").file(name, "")


@pytest.mark.parametrize("id", ["../x", "a/b", "", ".hidden", "a b", "x" * 200, "\x1b"])
def test_no_id_is_a_path(id):
    with pytest.raises(InputError, match="is malformed"):
        Outputs("01-test").table(id, columns=["a"], rows=[["b"]])


# -- files are whole, or not there -------------------------------------------------------------


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path):
    file, contents = tmp_path / "file", [b"a" * 500_000, b"b" * 500_000]
    write_atomically(file, contents[0])
    done = threading.Event()

    def write():
        for number in range(60):
            write_atomically(file, contents[number % 2])
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        assert file.read_bytes() in contents
    writer.join()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("step", ["fdopen", "replace", "chmod"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    file = tmp_path / "file"
    write_atomically(file, "old")

    def full(*arguments, **more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(paths.os, step, full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(file, "new")
    monkeypatch.undo()
    assert file.read_text() == "old" and [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "free space on the disk"), (errno.EROFS, "check the rights")],
)
def test_a_full_or_read_only_disk_ends_in_one_line_that_says_so(capsys, number, said):
    def main():
        raise OSError(number, os.strerror(number), "build/x\x1b")

    with pytest.raises(SystemExit) as stop:
        errors.run(main)
    line = capsys.readouterr().err
    assert stop.value.code == 1 and os.strerror(number) in line and said in line
    assert "\x1b" not in line and line.count("\n") == 1


def test_the_page_is_put_in_place_last(tmp_path, monkeypatch):
    """make takes the page for the sign that all outputs are there."""
    order = []
    monkeypatch.setattr(render, "read_config", lambda project: {})
    monkeypatch.setattr(render, "read_build", lambda project: {})
    monkeypatch.setattr(render, "read_sources", lambda project: [])
    monkeypatch.setattr(render, "render_embedded", lambda *given: (b"<p></p>", b"%PDF"))
    monkeypatch.setattr(render, "write_outputs", lambda out, files: order.extend(files))
    render.render(tmp_path, tmp_path, "embedded")
    assert order[-1] == "index.html" and "report.pdf" in order


def test_fonts_that_do_not_fit_on_the_disk_end_in_one_line(tmp_path):
    """The folder is a file: the write fails as on a full disk, in the first step of a build."""
    blocked = tmp_path / "generated"
    blocked.write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "evidence.assets"], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "analysis"), "EVIDENCE_OUT": str(blocked)},
    )  # fmt: skip
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ") and "then run the same make again" in done.stderr


def test_bytecode_cut_short_by_a_full_disk_is_not_left_behind(tmp_path, monkeypatch):
    (tmp_path / "module.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("x =\n")
    bytecode.compile_all(tmp_path)
    (kept,) = (tmp_path / "__pycache__").iterdir()

    def cut(*arguments, **more):
        kept.write_bytes(kept.read_bytes()[:20])
        return str(kept)

    monkeypatch.setattr(bytecode.py_compile, "compile", cut)
    with pytest.raises(OSError, match="is the disk full"):
        bytecode.compile_all(tmp_path)
    assert not kept.exists()


def test_two_kernels_never_want_the_same_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        drawn = [execute.free_ports(5) for _ in range(2)]
    for ports in drawn:
        assert len(set(ports)) == 5 and all(port in execute.PORTS for port in ports)
    assert drawn[0] != drawn[1]


# -- the whole build under attack ---------------------------------------------------------------


def copied(folder):
    """This project without what was built, in ``folder``; no git, so its date is fixed."""
    ignored = shutil.ignore_patterns(
        ".git", ".venv*", ".pytest*", ".hypothesis", ".ruff_cache", "__pycache__",
        "build", "public", "_generated",
    )  # fmt: skip
    shutil.copytree(ROOT, folder, ignore=ignored, dirs_exist_ok=True)
    return folder


def command(*arguments):
    return ["make", "report", "RENDERER=embedded", f"PYTHON={sys.executable}", *arguments]


def environment():
    foreign = ("MAKE", "MFLAGS", "EVIDENCE_", "PYTHON", "PYTEST")
    return {key: value for key, value in os.environ.items() if not key.startswith(foreign)}


def make(folder, *arguments, before=()):
    return subprocess.run([*before, *command(*arguments)], cwd=folder, env=environment(),
                          capture_output=True, text=True, timeout=600)  # fmt: skip


def start(folder, *arguments):
    return subprocess.Popen(command(*arguments), cwd=folder, env=environment(),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            start_new_session=True)  # fmt: skip


def outputs(folder):
    """Every output; names that start with a dot are what a killed write leaves."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for part in ("build/report", "build/notebooks", "report/_generated")
        for path in sorted((folder / part).rglob("*"))
        if path.is_file() and not any(name.startswith(".") for name in path.parts)
    }


def same(found, clean):
    return sorted(name for name in {*found, *clean} if found.get(name) != clean.get(name)) == []


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """The outputs of a build from nothing that nobody disturbed, and the time it took."""
    folder = copied(tmp_path_factory.mktemp("clean"))
    began = time.monotonic()
    done = make(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return outputs(folder), time.monotonic() - began


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_state_from_which_the_next_run_recovers(clean, tmp_path):
    wanted, seconds = clean
    draw = random.Random(20260825)
    for number in range(20):
        folder = copied(tmp_path / str(number))
        running = start(folder, "-j2")
        time.sleep(draw.uniform(0, seconds))
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        done = make(folder)
        assert done.returncode == 0, f"kill {number}: {done.stdout}{done.stderr}"
        assert same(outputs(folder), wanted), f"kill {number}"
        shutil.rmtree(folder)


@pytest.mark.slow
def test_a_kill_after_a_change_never_mixes_old_and_new(clean, tmp_path):
    """The page and the PDF both show the change after the next run, wherever the first stopped."""
    _, seconds = clean
    folder = copied(tmp_path / "project")
    text = (folder / "report" / "index.qmd").read_text(encoding="utf-8")
    assert make(folder).returncode == 0
    draw = random.Random(8)
    for number in range(5):
        changed = text.replace('subtitle: "', f'subtitle: "Edition {"ABCDE"[number]}. ')
        (folder / "report" / "index.qmd").write_text(changed, encoding="utf-8")
        running = start(folder)
        time.sleep(draw.uniform(0, seconds / 3))
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        assert make(folder).returncode == 0
        shutil.rmtree(folder / "again", ignore_errors=True)
        run = subprocess.run(
            [sys.executable, "report/render.py", "--renderer", "embedded", "--out", "again"],
            cwd=folder, env=environment(), capture_output=True, text=True,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        for name in ("index.html", "report.pdf"):
            built = (folder / "build" / "report" / name).read_bytes()
            assert built == (folder / "again" / name).read_bytes(), (number, name)


@pytest.mark.slow
def test_two_makes_at_once_with_eight_jobs_do_not_harm_each_other(clean, tmp_path):
    folder = copied(tmp_path / "project")
    running = [start(folder, "-j8") for _ in range(2)]
    for process in running:
        said, _ = process.communicate(timeout=600)
        assert process.returncode == 0, said
    assert same(outputs(folder), clean[0])
    assert make(folder).stdout.count("running") == 0


@pytest.fixture
def small_disk(tmp_path):
    """A function that mounts a disk of so many megabytes; what it mounts is gone afterwards."""
    if not (AS_ROOT and sys.platform == "linux" and shutil.which("mount")):
        pytest.skip("needs root, to mount a small disk")
    mounted: list[Path] = []

    def mount(place, size):
        place.mkdir(parents=True, exist_ok=True)
        options = ["-t", "tmpfs", "-o", f"size={size}m", "tmpfs"]
        if subprocess.run(["mount", *options, str(place)], capture_output=True).returncode:
            pytest.skip("mounting is not allowed here")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("room", [1, 12, 40])
def test_a_full_disk_ends_in_an_error_that_says_so_and_is_got_over(
    clean, small_disk, tmp_path, room
):
    size = sum(p.stat().st_size for p in copied(tmp_path / "size").rglob("*") if p.is_file())
    folder = copied(small_disk(tmp_path / "disk", size // 1_000_000 * 2 + 8))
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    (folder / "filler").write_bytes(b"\0" * max(0, free - room * 1_000_000))
    done = make(folder)
    if done.returncode == 0:
        pytest.skip(f"{room} MB are enough")
    assert "space" in (done.stdout + done.stderr).lower(), done.stdout + done.stderr
    (folder / "filler").unlink()
    subprocess.run(["mount", "-o", "remount,size=300m", str(folder)], check=True)
    assert (done := make(folder)).returncode == 0, done.stdout + done.stderr
    assert same(outputs(folder), clean[0])


@pytest.mark.slow
def test_a_read_only_build_folder_is_an_error_that_says_so(small_disk, tmp_path):
    folder = copied(tmp_path / "project")
    build = small_disk(folder / "build", 4)
    subprocess.run(["mount", "-o", "remount,ro", str(build)], check=True)
    done = make(folder)
    assert done.returncode != 0 and "the build folder cannot be written" in done.stderr


RAISE_LOOPBACK = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))
os.execvp(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.slow
def test_nothing_needs_the_network_after_set_up(clean, tmp_path):
    """Only the loopback is there, over which the notebooks' kernels talk."""
    if not shutil.which("unshare") or subprocess.run(["unshare", "-n", "true"]).returncode:
        pytest.skip("needs the right to cut the network off")
    folder = copied(tmp_path / "project")
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    done = make(folder, before=["unshare", "-n", sys.executable, "-c", RAISE_LOOPBACK])
    assert done.returncode == 0, done.stdout + done.stderr
    assert same(outputs(folder), clean[0])
