"""make report from end to end, in a copy of the built project whose path holds a space."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from evidence.paths import ROOT


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A copy of this project, built, in a folder with a space in its name."""
    copy = tmp_path_factory.mktemp("a folder") / "my project"
    shutil.copytree(
        ROOT,
        copy,
        ignore=shutil.ignore_patterns(
            ".git", ".venv*", ".pytest*", "cache", ".hypothesis", "public"
        ),
    )
    done = make(copy)
    assert done.returncode == 0, done.stdout + done.stderr
    return copy


@pytest.fixture
def project(built):
    """The built copy; what a test changes is put back afterwards.

    Where nothing was made of the change, the old times come back too, so that the next test
    has nothing to build.
    """
    changed: dict[Path, tuple[bytes, os.stat_result]] = {}

    class Project:
        root = built

        def write(self, name, text):
            path = built / name
            changed.setdefault(path, (path.read_bytes(), path.stat()))
            path.write_text(text, encoding="utf-8")

        def change(self, name, old, new):
            text = (built / name).read_text(encoding="utf-8")
            assert old in text
            self.write(name, text.replace(old, new, 1))

        def make(self, *arguments):
            done = make(built, *arguments)
            made = done.returncode == 0 or "report: running" in done.stdout
            self.used = self.used or (made and "--dry-run" not in arguments)
            return done

        used = False

    project = Project()
    yield project
    for path, (content, stat) in changed.items():
        path.write_bytes(content)
        if not project.used:
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def make(folder, *arguments):
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("MAKE", "MFLAGS", "EVIDENCE_", "PYTHON"))
    }
    return subprocess.run(
        ["make", "report", "RENDERER=embedded", f"PYTHON={sys.executable}", *arguments],
        cwd=folder, capture_output=True, text=True, env=environment, timeout=300,
    )  # fmt: skip


def outputs(root):
    folder = root / "build" / "report"
    return {name: (folder / name).read_bytes() for name in ("index.html", "report.pdf")}


def ran(done):
    return set(re.findall(r"report: running ([\w-]+)", done.stdout))


def test_nothing_changed_and_nothing_runs(project):
    before = {
        path: path.stat().st_mtime_ns
        for path in (project.root / "build").rglob("*")
        if path.is_file()
    }
    done = project.make()
    assert done.returncode == 0 and "report:" not in done.stdout and not done.stderr
    after = {path: path.stat().st_mtime_ns for path in before}
    assert before == after


def test_what_is_lost_is_made_again(project):
    assert project.make().returncode == 0
    before = outputs(project.root)
    figure = project.root / "report/_generated/figures/peak-per-kw.svg"
    content = figure.read_bytes()
    figure.unlink()
    done = project.make()
    assert done.returncode == 0, done.stderr
    assert ran(done) == {"01-peak"}
    assert figure.read_bytes() == content and outputs(project.root) == before


def test_a_changed_row_would_run_its_readers_and_no_other_notebook(project):
    readers = {
        path.stem
        for path in (project.root / "build" / "deps").glob("*.d")
        if "data/measurements.csv" in path.read_text()
    }
    everything = {path.stem for path in (project.root / "analysis" / "notebooks").glob("*.ipynb")}
    assert "01-peak" in readers and "08-record" in everything - readers
    project.change("data/measurements.csv", '"85,448"', '"85,449"')
    assert ran(project.make("--dry-run")) == readers


def test_a_changed_colour_would_draw_every_chart_again(project):
    project.change("report/theme/tokens.json", '"jalapeno": "#', '"jalapeno": "#1')
    drawn = ran(project.make("--dry-run"))
    assert {"01-peak", "09-questions"} <= drawn and "08-record" not in drawn


def test_a_new_file_of_claims_would_run_the_ledger(project):
    claims = project.root / "data" / "claims"
    before = claims.stat()
    new = claims / "zz.yml"
    new.write_text("")
    try:
        assert "07-ledger" in ran(project.make("--dry-run"))
    finally:
        new.unlink()
        os.utime(claims, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("name", ["requirements.txt", "analysis/evidence/units.txt"])
def test_the_lock_and_the_units_are_inputs_of_every_notebook(project, name):
    project.change(name, "\n", "\n\n")
    assert ran(project.make("--dry-run")) >= {"00-summary", "01-peak", "08-record"}


def test_a_changed_entry_runs_its_reader_and_the_document_and_shows(project):
    project.change("data/gaps.yml", "name: Supply", "name: Deliveries")
    done = project.make()
    assert done.returncode == 0, done.stderr
    assert ran(done) == {"08-record"}
    assert "Deliveries" in (project.root / "build/report/index.html").read_text()


def test_a_wrong_row_is_told_and_the_last_good_output_stays(project):
    before = outputs(project.root)
    project.change("data/measurements.csv", "openai-first-results", "openai-frist-results")
    done = project.make()
    assert done.returncode != 0
    assert (
        "data/measurements.csv:2: field source: there is no source “openai-frist-results”"
        in done.stderr
    )
    assert "To mend it" in done.stderr and "Traceback" not in done.stderr
    assert outputs(project.root) == before


def test_a_kernel_that_dies_is_told_in_one_line(project):
    path = "analysis/notebooks/08-record.ipynb"
    notebook = json.loads((project.root / path).read_text())
    notebook["cells"][1]["source"] = ["import os\n", "os.kill(os.getpid(), 9)\n"]
    project.write(path, json.dumps(notebook))
    done = project.make()
    assert done.returncode != 0
    assert "analysis/notebooks/08-record.ipynb: field cell load: the kernel died" in done.stderr
    assert "Traceback" not in done.stderr and "nbclient" not in done.stderr


def test_a_notebook_that_raises_shows_its_cell_and_error_only(project):
    before = outputs(project.root)
    path = "analysis/notebooks/08-record.ipynb"
    notebook = json.loads((project.root / path).read_text())
    notebook["cells"][1]["source"] = ["1 / 0  # a slip\n"]
    project.write(path, json.dumps(notebook))
    done = project.make()
    assert done.returncode != 0
    assert (
        "analysis/notebooks/08-record.ipynb: field cell load: ZeroDivisionError: division by zero"
        in done.stderr
    )
    assert "1 / 0  # a slip" in done.stderr
    assert "Traceback" not in done.stderr and "nbclient" not in done.stderr
    assert outputs(project.root) == before
    assert not (project.root / "build/notebooks/08-record.ipynb.part").exists()


def test_a_notebook_with_outputs_is_refused(project):
    path = "analysis/notebooks/08-record.ipynb"
    notebook = json.loads((project.root / path).read_text())
    notebook["cells"][1]["execution_count"] = 3
    project.write(path, json.dumps(notebook))
    done = project.make()
    assert done.returncode != 0 and "carries outputs" in done.stderr


def test_an_id_that_two_notebooks_emit(project):
    path = "analysis/notebooks/08-record.ipynb"
    notebook = json.loads((project.root / path).read_text())
    notebook["cells"][1]["source"] += [
        "\nout.value('peak_ratio_dsr1', __import__('evidence.quantity').quantity.Quantity.point(2), label='again')"
    ]
    project.write(path, json.dumps(notebook))
    done = project.make()
    assert done.returncode != 0
    assert "“peak_ratio_dsr1” is emitted by 01-peak.ipynb too" in done.stderr


def test_an_id_in_the_text_that_no_notebook_emits(project):
    before = outputs(project.root)
    project.change(
        "report/sections/_method.qmd", "# Method", "# Method\n\n[no_such_value]{.val}\n\n#"
    )
    done = project.make()
    assert done.returncode != 0
    assert "_method.qmd:3" in done.stderr and "no_such_value" in done.stderr
    assert outputs(project.root) == before


def test_a_typed_number_is_refused_with_its_line(project):
    project.change(
        "report/sections/_method.qmd", "Arithmetic is done", "It is 4.13 times.\nArithmetic is done"
    )
    done = project.make()
    assert done.returncode != 0
    assert (
        "report/sections/_method.qmd:" in done.stderr
        and "the numeral “4.13” is typed" in done.stderr
    )


def test_a_weak_value_in_a_proven_block_stops_the_build(project):
    project.change(
        "report/sections/_results.qmd",
        "::: proven\n",
        "::: proven\n[jalapeno_measured_power]{.val}\n",
    )
    done = project.make()
    assert done.returncode != 0
    assert "_results.qmd:" in done.stderr and "graded stated" in done.stderr


def test_a_value_that_nobody_uses_is_a_warning(project):
    path = "analysis/notebooks/08-record.ipynb"
    notebook = json.loads((project.root / path).read_text())
    notebook["cells"][1]["source"] += [
        "\nout.value('idle_value', __import__('evidence.quantity').quantity.Quantity.point(2), label='idle')"
    ]
    project.write(path, json.dumps(notebook))
    done = project.make()
    assert done.returncode == 0
    assert "shown nowhere: " in done.stderr and "idle_value" in done.stderr


def test_a_notebook_run_by_hand_leaves_the_reports_values_alone(project):
    generated = project.root / "report" / "_generated"
    before = {path: path.read_bytes() for path in generated.rglob("*") if path.is_file()}
    notebook = json.loads((project.root / "analysis/notebooks/04-power.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    environment = {"PYTHONPATH": "analysis", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-"], input="\n".join(cells), text=True,
        cwd=project.root, env=environment, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "run by hand: written to build/by-hand" in done.stdout
    assert (project.root / "build/by-hand/parts/04-power.json").exists()
    assert before == {path: path.read_bytes() for path in generated.rglob("*") if path.is_file()}


def test_a_notebook_that_goes_takes_its_tables_with_it(project):
    path = project.root / "analysis/notebooks/08-record.ipynb"
    away = path.with_suffix(".away")
    path.rename(away)
    try:
        done = project.make()
        assert done.returncode != 0
        assert 'the table "open-subjects" is not in _generated/tables/' in done.stderr
    finally:
        away.rename(path)
    assert project.make().returncode == 0


def test_a_notebook_that_saves_nothing_is_refused(project):
    path = "analysis/notebooks/08-record.ipynb"
    project.change(path, "out.save()", "pass")
    done = project.make()
    assert done.returncode != 0
    assert "analysis/notebooks/08-record.ipynb: the notebook saved nothing" in done.stderr


def test_a_copied_notebook_keeps_no_name(project):
    copy = project.root / "analysis/notebooks/99-copy.ipynb"
    shutil.copy(project.root / "analysis/notebooks/08-record.ipynb", copy)
    try:
        done = project.make()
        assert done.returncode != 0
        assert "99-copy.ipynb" in done.stderr and 'outputs.Outputs("99-copy")' in done.stderr
    finally:
        copy.unlink()


def test_a_renderer_that_is_none_is_refused_before_anything_runs(project):
    done = project.make("RENDERER=nonsense")
    assert done.returncode != 0 and "report:" not in done.stdout
    assert "RENDERER=nonsense is not known: use auto, embedded or quarto" in done.stderr


def test_quarto_where_there_is_none_says_what_to_do(project):
    if shutil.which("quarto"):
        pytest.skip("Quarto is here")
    done = project.make("RENDERER=quarto")
    assert done.returncode != 0
    assert "environment.yml" in done.stderr and "RENDERER=embedded" in done.stderr
