"""What is published, and how anyone can check it."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import jsonschema
import nbformat
import pytest
import yaml
from evidence import (
    checkout,
    cite,
    history,
    manifest,
    notebookpage,
    paths,
    publication,
    reproduce,
    verify,
)
from evidence.errors import InputError
from evidence.paths import ROOT

# what a page would load; a link that a reader follows is none
LOADS = re.compile(r"<(?!a\s)[a-z]+[^>]*\s(?:src|href|data|poster|srcset)=[\"'](?!data:|#)", re.I)


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """The build of this project, published into a folder of the tests."""
    folder = tmp_path_factory.mktemp("published") / "public"
    publication.publish(folder)
    return folder


@pytest.fixture(scope="module")
def latest(public):
    return public / "latest"


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


# -- what it holds --------------------------------------------------------------------------


def test_everything_is_there(latest):
    for name in ("index.html", "report.pdf", "values.json", "values.csv", "datapackage.json",
                 "data/measurements.csv", "environment/requirements.txt"):  # fmt: skip
        assert (latest / name).is_file(), name
    notebooks = {path.stem for path in (ROOT / "build" / "notebooks").glob("*.ipynb")}
    assert notebooks == {path.stem for path in (latest / "notebooks").glob("*.html")}


def test_the_manifest_names_every_file_and_what_it_was_made_with(latest):
    made = read(latest / manifest.NAME)
    files = dict(manifest.contents(latest))
    assert set(made["files"]) == set(files) - {manifest.NAME}
    for name, sum in made["files"].items():
        assert manifest.sha256(files[name].read_bytes()) == sum
    assert made["renderer"]["name"] in ("embedded", "quarto") and made["renderer"]["version"]
    lock = (ROOT / "requirements.txt").read_bytes()
    assert made["locks"]["requirements.txt"] == manifest.sha256(lock)
    assert {"commit", "date", "epoch", "dirty", "python", "platform"} <= set(made)


def test_the_pages_of_the_notebooks_load_and_run_nothing(latest):
    for page in (latest / "notebooks").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not LOADS.search(text), (page.name, LOADS.search(text))
        assert "<script" not in text and "@import" not in text
        assert "default-src 'none'" in text
        ids = re.findall(r"<svg.*?</svg>", text, re.S)
        named = [name for svg in ids for name in set(re.findall(r'\sid="([^"]+)"', svg))]
        assert len(named) == len(set(named)), page.name


def test_hostile_output_of_a_notebook_runs_nothing(tmp_path):
    bad = "<script>alert(1)</script><img src='https://evil.example/x' onerror=alert(1)>"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=[
        nbformat.v4.new_output("execute_result", {"text/plain": bad}),
        nbformat.v4.new_output("stream", text=bad + "\x1b[31m"),
    ])])  # fmt: skip
    nbformat.write(notebook, tmp_path / "a.ipynb")
    page = notebookpage.page(tmp_path / "a.ipynb")
    assert "<script>alert" not in page and "<img src='https" not in page and "\x1b" not in page


def test_values_as_a_table_agree_with_the_json(latest):
    values = read(latest / "values.json")
    rows = list(csv.DictReader((latest / "values.csv").open(encoding="utf-8")))
    assert {row["id"] for row in rows} == set(values)
    for row in rows:
        value = values[row["id"]]
        assert row["grade"] == value["grade"] and row["text"].lstrip("'") == value["text"]
        assert (row["low"] == "") == (value["low"] is None)


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "@SUM(A1)", "-x", "\t=1", "\r=1"])
def test_no_cell_is_a_formula_of_a_spreadsheet(text):
    table = io.StringIO(publication.as_csv([{"id": text}], ("id",)), newline="")
    assert list(csv.reader(table)) == [["id"], ["'" + text.replace("\r", " ")]]


@pytest.mark.parametrize("text", ["-1.5", "1", "a=b", "−2"])
def test_a_number_stays_a_number(text):
    assert publication.cell(text) == text


def test_the_data_package_is_valid_and_tells_of_a_damaged_table(latest, tmp_path):
    from evidence import datapackage

    copy = tmp_path / "copy"
    shutil.copytree(latest, copy)
    datapackage.check(copy)
    listed = {resource["path"] for resource in read(copy / "datapackage.json")["resources"]}
    assert (
        "values.csv" in listed
        and "data/measurements.csv" in listed
        and "data/sources.yml" in listed
    )
    with (copy / "data" / "measurements.csv").open("a") as file:
        file.write("too,short\n")
    with pytest.raises(InputError, match="data package is not valid"):
        datapackage.check(copy)


def test_the_crate_ties_outputs_to_inputs_code_and_environment(latest):
    graph = {entity["@id"]: entity for entity in read(latest / "ro-crate-metadata.json")["@graph"]}
    version = read(ROOT / "build" / "version.json")
    assert graph["./"]["datePublished"] == version["date"]
    files = {name for name, _ in manifest.contents(latest)} - {"ro-crate-metadata.json"}
    assert files <= set(graph)
    build = graph["#build"]
    inputs, outputs = ({entry["@id"] for entry in build[key]} for key in ("object", "result"))
    assert "data/measurements.csv" in inputs and "environment/requirements.txt" in inputs
    assert "index.html" in outputs and not inputs & outputs
    assert graph["#code"]["version"] == (version["commit"] or "unversioned")
    from rocrate.rocrate import ROCrate

    assert ROCrate(latest).mainEntity is None  # the library reads it back


# -- folders and links ----------------------------------------------------------------------


def test_each_publication_keeps_its_own_folder_and_latest_is_a_copy(public):
    version = read(ROOT / "build" / "version.json")
    folder = public / publication.folder_name(version)
    assert manifest.FOLDER.fullmatch(folder.name)
    assert read(folder / manifest.NAME) == read(public / "latest" / manifest.NAME)
    index = (public / "index.html").read_text()
    for link in re.findall(r'href="([^"]+)"', index):
        assert (public / link).exists(), link
    assert not list(public.glob(".*"))


def test_publishing_again_changes_nothing(public):
    before = publication._sums(public)
    publication.publish(public)
    assert publication._sums(public) == before


def test_a_published_version_is_never_replaced_by_other_bytes(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, text in ((old, "a"), (new, "b")):
        folder.mkdir()
        (folder / "x").write_text(text)
    with pytest.raises(InputError, match="published before, with other bytes"):
        publication._put(new, old, replace=False)
    assert (old / "x").read_text() == "a"


def test_a_link_that_leaves_the_project_is_not_published(tmp_path):
    (tmp_path / "link.csv").symlink_to("/etc/hostname")
    with pytest.raises(InputError, match="leaves the project"):
        publication._copy(tmp_path / "link.csv", tmp_path / "out" / "link.csv")


# -- history --------------------------------------------------------------------------------


@pytest.fixture
def site(public):
    """The published folder, served."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(public))
    handler.log_message = lambda *arguments: None
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_earlier_publications_are_fetched_from_the_site(site, public, tmp_path):
    assert history.fetch(site, tmp_path / "public") == 1
    name = publication.publications(public)[0]["folder"]
    assert publication._sums(tmp_path / "public" / name) == publication._sums(public / name)


def test_a_site_that_has_published_nothing_has_no_history(tmp_path):
    assert history.fetch(str(tmp_path), tmp_path / "public") == 0


@pytest.mark.parametrize("what", ["values.json", "MANIFEST.json"])
def test_a_damaged_publication_is_refused_whole(public, tmp_path, what):
    shutil.copytree(public, tmp_path / "site")
    name = publication.publications(public)[0]["folder"]
    (tmp_path / "site" / name / what).write_text("{}")
    with pytest.raises(InputError, match="not what its checksum says"):
        history.fetch(str(tmp_path / "site"), tmp_path / "public")
    assert not [path for path in (tmp_path / "public").iterdir() if path.is_dir()]


def test_a_list_that_leads_out_is_refused(tmp_path):
    bad = [{"folder": "../../etc", "manifest": "0" * 64}]
    (tmp_path / "publications.json").write_text(json.dumps(bad))
    with pytest.raises(InputError, match="not in order"):
        history.fetch(str(tmp_path), tmp_path / "public")


# -- verify ---------------------------------------------------------------------------------


def good():
    return {
        "commit": "a" * 40, "dirty": False, "renderer": {"name": "embedded", "version": "1"},
        "python": "3.11", "platform": "x", "locks": {}, "files": {"index.html": "0" * 64},
    }  # fmt: skip


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../x", "", "C:\\x", "file:x", "a\\..\\x"]
)
def test_no_path_of_a_manifest_leaves_its_folder(path):
    raw = json.dumps({**good(), "files": {path: "0" * 64}}).encode()
    with pytest.raises(InputError, match="no manifest of a publication"):
        manifest.read(raw, "here")


@pytest.mark.parametrize(
    "change",
    [{"commit": "--upload-pack=x"}, {"commit": 1}, {"renderer": {"name": "$(rm)"}}, {"files": []},
     {"files": {"a": "zz"}}],
)  # fmt: skip
def test_a_manifest_that_is_not_in_order_is_refused(change):
    with pytest.raises(InputError, match="no manifest of a publication"):
        manifest.read(json.dumps({**good(), **change}).encode(), "here")


def test_a_publication_that_nobody_can_build_again_says_so(tmp_path):
    (tmp_path / manifest.NAME).write_text(json.dumps({**good(), "dirty": True}))
    with pytest.raises(InputError, match="uncommitted changes"):
        verify.verify(str(tmp_path), say=print)
    with pytest.raises(InputError, match="there is no MANIFEST.json"):
        verify.verify(str(tmp_path / "nowhere"), say=print)


def test_differences_are_told_values_first_then_text_then_bytes():
    old, new = ({"a": {"text": text, "suffix": "×"}} for text in ("1.9", "2.0"))
    said = verify.differences("values.json", json.dumps(old).encode(), json.dumps(new).encode())
    assert list(said) == ["  value a: 1.9× published, 2.0× rebuilt"]
    said = verify.differences("index.html", b"<p>One.</p>", b"<p>Two.\x1b</p>")
    assert list(said) == ["  published: One.", "  rebuilt:   Two.\\x1b"]
    (said,) = verify.differences("report.pdf", b"abc", b"abd")
    assert "bytes differ from 2 on" in said


@pytest.mark.parametrize("harm", ["altered", "deleted", "added"])
def test_a_published_file_that_was_touched_is_told(tmp_path, capsys, harm):
    """The manifest and the rebuilt files agree; the folder that readers see does not."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
        for name in ("values.json", "report.pdf"):
            (folder / name).write_bytes(b'{"a": {"text": "1.90"}}')
    files = {name: manifest.sha256(path.read_bytes()) for name, path in manifest.contents(ours)}
    published = manifest.Manifest("0" * 40, False, "embedded", {}, files)
    assert verify._judge(published, str(theirs), ours) == 0
    touched = {"altered": "values.json", "deleted": "report.pdf", "added": "malware.html"}[harm]
    if harm == "deleted":
        (theirs / touched).unlink()
    else:
        (theirs / touched).write_bytes(b'{"a": {"text": "1.91"}}')
    capsys.readouterr()
    assert verify._judge(published, str(theirs), ours) == 1
    assert f"differs  {touched}" in capsys.readouterr().out


def test_each_file_is_judged(tmp_path, capsys):
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder, number in ((theirs, "1"), (ours, "2")):
        folder.mkdir()
        (folder / "values.json").write_text(json.dumps({"a": {"text": number}}))
        (folder / "same.csv").write_text("a\n")
    (theirs / "gone.csv").write_text("a\n")
    files = {name: manifest.sha256(path.read_bytes()) for name, path in manifest.contents(theirs)}
    published = manifest.read(json.dumps({**good(), "files": files}).encode(), "here")
    assert verify._judge(published, str(theirs), ours) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[:3] == ["differs  values.json", "differs  gone.csv", "agrees   same.csv"]
    assert "  value a: 1 published, 2 rebuilt" in said and "  only in the published version" in said
    assert said[-1] == "1 of 3 files agree byte for byte"


# -- reproduce ------------------------------------------------------------------------------


def test_every_byte_of_two_builds_is_compared(tmp_path):
    for folder, text in (("a", "one"), ("b", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").write_text(text)
        (tmp_path / folder / "same").write_text("same")
    (tmp_path / "a" / "only").write_text("")
    count, said = reproduce.differing_files(tmp_path / "a", tmp_path / "b")
    assert count == 3 and said[0] == "only: only in the first" and said[1].startswith("x: bytes")


def test_the_two_ways_of_building_share_nothing():
    first, second = reproduce.WAYS
    assert first.folder != second.folder and " " in second.folder
    assert first.days != second.days and first.jobs != second.jobs and first.cores != second.cores
    for name in ("TZ", "LC_ALL", "PYTHONHASHSEED"):
        assert first.environment[name] != second.environment[name]


def test_the_second_build_runs_on_another_day(tmp_path):
    (tmp_path / ".venv").symlink_to(sys.prefix)
    checkout.shift_clock(tmp_path, 400)
    code = "import datetime, yaml, sys; print(datetime.date.today(), sys.prefix)"
    python = str(tmp_path / ".venv" / "bin" / "python")
    there = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
    here = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert there.split()[0] > here.split()[0] and str(tmp_path) in there


@pytest.mark.slow
def test_both_builds_agree_in_every_byte():
    run = subprocess.run(["make", "reproduce", "RENDERER=embedded"], cwd=ROOT, text=True,
                         capture_output=True, timeout=1200)  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
def test_a_publication_verifies_and_compares_with_its_own_commit(tmp_path):
    """In a clone, so that what is published is a commit whatever the state of this folder."""
    clone = tmp_path / "a clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    (clone / ".venv").symlink_to(sys.prefix)

    def make(*arguments):
        command = ["make", *arguments, "RENDERER=embedded", "PYTHON=.venv/bin/python"]
        return subprocess.run(command, cwd=clone, text=True, capture_output=True, timeout=900)

    assert (done := make("publish")).returncode == 0, done.stderr
    done = make("verify", "MANIFEST=public/latest")
    assert done.returncode == 0 and "differs" not in done.stdout, done.stdout + done.stderr
    table = clone / "data" / "measurements.csv"
    table.write_text(table.read_text(encoding="utf-8").replace('"85,448"', '"85,449"', 1), "utf-8")
    assert (done := make("compare", "BASE=HEAD")).returncode == 0, done.stderr
    said = (clone / "build" / "compare.md").read_text(encoding="utf-8")
    assert "gptoss120b_jalapeno_stp_peak_throughput_per_kw" in said and "85,449" in said
    assert "Values that changed" in said and (clone / "build" / "compare" / "index.html").exists()


# -- citing ---------------------------------------------------------------------------------


def test_citation_is_valid_by_its_published_schema():
    schema = read(ROOT / "tests" / "fixtures" / "schemas" / "cff-1.2.0.json")
    given = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(given)
    assert set(given["license"]) == {"MIT", "CC-BY-4.0"}


def test_the_citation_and_the_document_have_one_title():
    front = (ROOT / "report" / "index.qmd").read_text(encoding="utf-8").split("---")[1]
    assert yaml.safe_load(front)["title"] == cite.citation()["title"]


def test_the_page_tells_how_to_cite_it_and_machines_too():
    page = (ROOT / "build" / "report" / "index.html").read_text(encoding="utf-8")
    version = read(ROOT / "build" / "version.json")
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.S)
    report = next(data for data in map(json.loads, found) if data["@type"] == "Report")
    assert report["datePublished"] == version["date"] and report["identifier"] == version["commit"]
    assert 'id="sec-cite"' in page and version["short"] in page.split('id="sec-cite"')[1]


def test_a_title_cannot_end_the_script_it_stands_in():
    bad = {**cite.citation(), "title": "</script><script>alert(1)</script><!--"}
    version = {"short": "", "commit": "", "date": "2026-01-01", "dirty": False}
    text = paths.script_json(cite.schema_org(bad, version))
    assert "<" not in text and json.loads(text)["name"] == bad["title"]


def test_a_citation_without_a_title_is_refused(tmp_path):
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\n")
    with pytest.raises(InputError, match="field title: nothing is given"):
        cite.citation(tmp_path / "CITATION.cff")
