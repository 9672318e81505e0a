"""The importer: every form gives the same rows, every bad input one error or a counted report."""

import csv
import gzip
import json
import shutil
import tempfile
from pathlib import Path

import pytest
from evidence import cli, inferencex, points, rowforms
from evidence.data import Data
from evidence.errors import InputError
from evidence.inferencex import import_rows
from hypothesis import given, settings
from hypothesis import strategies as st

FIXTURES = Path(__file__).parent / "fixtures" / "inferencex"
FORMS = ("dump", "dump.sql", "api.json", "dashboard.csv")
PAIR = [("dsr1", "gb300")]


@pytest.fixture(scope="session")
def data():
    return Data()


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def copied(name, tmp_path):
    target = tmp_path / name
    (shutil.copytree if (FIXTURES / name).is_dir() else shutil.copy)(FIXTURES / name, target)
    return target


def table(out, name="dsr1-gb300"):
    with (out / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def api(change=None, **fields):
    """One API row like the first of the fixture, with metrics and fields changed."""
    row = json.loads((FIXTURES / "api.json").read_text())[0]
    row["metrics"] |= change or {}
    return row | fields


def written(tmp_path, rows, name="rows.json"):
    path = tmp_path / name
    path.write_text(json.dumps(rows))
    return path


def reasons(tmp_path, out, data, *rows):
    """Why ``rows`` are left out when they stand beside a good one."""
    path = written(tmp_path, [api(conc=999), *rows])
    return import_rows(path, PAIR, data=data, out=out).tally.dropped


# -- the forms ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_measurements(form, out, data):
    report = import_rows(FIXTURES / form, PAIR, data=data, out=out)
    rows = [(r["decoding"], r["framework"], r["concurrency"], r["throughput_per_gpu_tok_s"],
             r["mean_tpot_ms"], r["median_e2e_s"], r["date"]) for r in table(out)]  # fmt: skip
    assert rows == [
        ("mtp", "dynamo-trt", "4", "315.25", "3.0", "3.21", "2026-02-03"),
        ("stp", "dynamo-trt", "4", "150.25", "6.0", "5.97", "2026-02-03"),
        ("stp", "dynamo-trt", "8", "310.5", "6.5", "6.43", "2026-05-20"),
        ("stp", "dynamo-trt", "3000", "16500.125", "45.0", "45.45", "2026-02-03"),
        ("stp", "trt", "16", "400.5", "8.0", "", "2026-02-03"),
    ]
    assert report.tally.kept == 5
    assert report.tally.read == report.tally.kept + sum(report.tally.dropped.values())


@pytest.mark.parametrize("form", ["dump.sql", "api.json", "dashboard.csv"])
def test_gzip_is_read_as_it_is(form, tmp_path, out, data):
    path = tmp_path / f"{form}.gz"
    path.write_bytes(gzip.compress((FIXTURES / form).read_bytes()))
    import_rows(path, PAIR, data=data, out=out)
    assert len(table(out)) == 5


def test_a_table_of_the_dump_stands_for_its_folder(out, data):
    import_rows(FIXTURES / "dump" / "benchmark_results.csv", PAIR, data=data, out=out)
    assert len(table(out)) == 5


def test_the_dump_gives_configurations_and_run_addresses(out, data):
    import_rows(FIXTURES / "dump.sql", PAIR, data=data, out=out)
    first = table(out)[1]
    assert first["config_id"] == "1" and first["attribution"] == "row"
    assert first["run_url"].endswith("/actions/runs/1001/attempts/2")
    assert (first["prefill_dp_attention"], first["decode_dp_attention"]) == ("true", "false")


def test_metrics_may_stand_in_columns(tmp_path, out, data):
    folder = copied("dump", tmp_path)
    path = folder / "benchmark_results.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != "metrics"]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, *rowforms.METRICS])
        for row in rows:
            metrics = json.loads(row["metrics"])
            writer.writerow([row[n] for n in names] + [metrics.get(m) for m in rowforms.METRICS])
    import_rows(folder, PAIR, data=data, out=out)
    assert len(table(out)) == 5


def test_an_alias_is_mapped(out, data):
    import_rows(FIXTURES / "dump", [("DeepSeek-R1-0528", "GB300")], data=data, out=out)
    assert {row["framework"] for row in table(out)} == {"dynamo-trt", "trt"}


def test_all_comparators_at_once(out, data):
    report = import_rows(FIXTURES / "api.json", points.COMPARATORS.items(), data=data, out=out)
    assert list(report.tables) == ["dsr1-gb300.csv"]


def test_columns_may_come_in_another_order_and_more_may_follow(tmp_path, out, data):
    lines = (FIXTURES / "dashboard.csv").read_text().splitlines()
    rows = list(csv.reader(lines[2:]))
    path = tmp_path / "export.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([*reversed(row), "more"] for row in rows)
    import_rows(path, PAIR, data=data, out=out)
    assert len(table(out)) == 5


def test_milliseconds_are_read_where_the_header_says_so(tmp_path, out, data):
    lines = (FIXTURES / "dashboard.csv").read_text().splitlines()
    rows = list(csv.reader(lines[2:]))
    at = [i for i, name in enumerate(rows[0]) if "TPOT" in name]
    for i in at:
        rows[0][i] = rows[0][i].replace("(s)", "(ms)")
        for row in rows[1:]:
            row[i] = row[i] and repr(float(row[i]) * 1000)
    path = tmp_path / "export.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    import_rows(path, PAIR, data=data, out=out)
    assert [float(row["mean_tpot_ms"]) for row in table(out)] == pytest.approx([3, 6, 6.5, 45, 8])


@pytest.mark.parametrize("unit", ["", " (us)", " (minutes)"])
def test_a_latency_without_a_known_unit_is_refused(unit, tmp_path, out, data):
    text = (FIXTURES / "dashboard.csv").read_text().replace("Mean TPOT (s)", f"Mean TPOT{unit}")
    (tmp_path / "export.csv").write_text(text)
    with pytest.raises(InputError, match="no unit that is known"):
        import_rows(tmp_path / "export.csv", PAIR, data=data, out=out)


# -- which row wins -----------------------------------------------------------------------


def test_the_newest_run_wins_whatever_the_order(tmp_path, out, data):
    old = api({"tput_per_gpu": 1.0}, date="2026-02-02")
    again = api({"tput_per_gpu": 2.0}, run_url=api()["run_url"].replace("attempts/2", "attempts/9"))
    for rows in ([old, api(), again], [again, old, api()]):
        report = import_rows(written(tmp_path, rows), PAIR, data=data, out=out)
        assert [row["throughput_per_gpu_tok_s"] for row in table(out)] == ["2.0"]
        assert report.tally.dropped == {"an older run of the same point": 2}


def test_two_rows_of_one_run_are_told_and_do_not_depend_on_their_order(tmp_path, data):
    texts = set()
    for number, rows in enumerate(
        ([api(), api({"tput_per_gpu": 7.0})], [api({"tput_per_gpu": 7.0}), api()])
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        report = import_rows(written(tmp_path, rows), PAIR, data=data, out=folder)
        assert report.tally.dropped == {"another row of the same point and run": 1}
        texts.add((folder / "dsr1-gb300.csv").read_text())
    assert len(texts) == 1


def test_rows_that_the_import_does_not_speak_of_stay(tmp_path, out, data):
    import_rows(FIXTURES / "dump", PAIR, data=data, out=out)
    before = table(out)
    moved = api({"tput_per_gpu": 151.0}, date="2026-06-01")
    report = import_rows(written(tmp_path, [moved]), PAIR, data=data, out=out)
    after = table(out)
    assert report.tables["dsr1-gb300.csv"] == {"replaced": 1, "stayed": 4}
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert [row["throughput_per_gpu_tok_s"] for row in changed] == ["151.0"]
    assert changed[0]["config_id"] == "1"  # the API gives none: joined by the natural key


def test_the_same_rows_again_change_nothing(out, data):
    import_rows(FIXTURES / "dump", PAIR, data=data, out=out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    import_rows(FIXTURES / "dashboard.csv", PAIR, data=data, out=out)
    report = import_rows(FIXTURES / "dump", PAIR, data=data, out=out)
    assert report.tables["dsr1-gb300.csv"] == {"unchanged": 5}
    assert (out / "dsr1-gb300.csv").read_bytes() == before["dsr1-gb300.csv"]


def test_a_newer_run_in_the_table_is_not_overwritten(tmp_path, out, data):
    import_rows(FIXTURES / "dump", PAIR, data=data, out=out)
    old = api({"tput_per_gpu": 1.0}, date="2025-12-31")
    report = import_rows(written(tmp_path, [old]), PAIR, data=data, out=out)
    assert report.tables["dsr1-gb300.csv"]["left out: the table has a newer run"] == 1
    assert "1.0" not in {row["throughput_per_gpu_tok_s"] for row in table(out)}


def test_an_inferred_row_that_an_import_confirms_names_its_system(tmp_path, out, data):
    import_rows(FIXTURES / "dump", PAIR, data=data, out=out)
    path = out / "dsr1-gb300.csv"
    path.write_text(path.read_text().replace(",row,", ",inferred,"))
    import_rows(FIXTURES / "api.json", PAIR, data=data, out=out)
    assert {row["attribution"] for row in table(out)} == {"row"}


def test_a_row_that_fits_several_of_the_table_is_left_out_and_counted(tmp_path, out, data):
    twins = [api(prefill_ep=1), api(prefill_ep=2)]
    import_rows(written(tmp_path, twins), PAIR, data=data, out=out)
    report = import_rows(FIXTURES / "dashboard.csv", PAIR, data=data, out=out)
    counts = report.tables["dsr1-gb300.csv"]
    assert counts["left out: it fits several rows of the table"] == 1 and counts["stayed"] == 2


# -- provenance ---------------------------------------------------------------------------


def test_provenance_names_the_file_and_counts_every_row(out, data):
    import_rows(FIXTURES / "dump.sql", PAIR, data=data, out=out, dump="2026-07-20")
    (record,) = json.loads((out / "dsr1-gb300.import.json").read_text())
    (sha,) = record["files"].values()
    assert list(record["files"]) == ["dump.sql"] and len(sha) == 64
    assert record["rows"]["read"] == 14 and record["rows"]["kept"] == 5
    assert record["rows"]["dropped"]["the run failed"] == 1
    assert record["dump"] == "2026-07-20" and {row["dump"] for row in table(out)} == {"2026-07-20"}


def test_two_imports_write_the_same_bytes(tmp_path, data):
    written = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        import_rows(FIXTURES / "api.json", PAIR, data=data, out=folder)
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1]


MILLISECONDS = "TPOT and interactivity do not multiply to one: TPOT is not in seconds"
MINUTE = "TPOT is above a minute: absurd, or not in seconds"
TOGETHER = "E2E, TTFT and TPOT do not fit together: not all are in seconds"


IN_FLIGHT = "throughput times latency is not what is in flight: a unit is wrong"
FIRST_ROW = json.loads((FIXTURES / "api.json").read_text())[0]["metrics"]
# every latency in ms: they fit each other, and only throughput tells
LATENCIES = {
    name: value for name, value in FIRST_ROW.items() if name.endswith(("_tpot", "_ttft", "_e2el"))
}
UNSAID = {"mean_intvty": None, "median_intvty": None}


# -- rows that are wrong ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "fields", "reason"),
    [
        ({"tput_per_gpu": None}, {}, "throughput is not given"),
        ({"tput_per_gpu": float("nan")}, {}, "throughput is not given"),
        ({"tput_per_gpu": -1.0}, {}, "throughput is not between 0 and 1,000,000 tok/s per GPU"),
        ({"tput_per_gpu": 1e9}, {}, "throughput is not between 0 and 1,000,000 tok/s per GPU"),
        ({"tput_per_gpu": "many"}, {}, "tput_per_gpu is no number"),
        ({"mean_tpot": None, "median_tpot": None}, {}, "TPOT is not given"),
        ({"mean_tpot": 0}, {}, "TPOT is not above zero"),
        ({"median_tpot": -0.006}, {}, "TPOT is not above zero"),
        ({"mean_tpot": 6.0}, {}, MILLISECONDS),
        ({"mean_tpot": 90.0, "mean_intvty": None}, {}, MINUTE),
        ({"mean_ttft": -0.1}, {}, "TTFT or E2E is not between 0 and 100,000 s"),
        ({"mean_e2el": 6026.0}, {}, TOGETHER),
        ({}, {"conc": 0}, "concurrency is not between 1 and 1,000,000"),
        ({}, {"conc": -4}, "concurrency is not between 1 and 1,000,000"),
        ({}, {"conc": 4.5}, "concurrency is no whole number"),
        ({}, {"isl": None}, "isl or osl is not given"),
        ({}, {"isl": 1024}, "another isl or osl"),
        ({}, {"osl": 8192}, "another isl or osl"),
        ({}, {"hardware": "rubin"}, "unknown hardware rubin"),
        ({}, {"hardware": ["gb300"]}, "unknown hardware ['gb300']"),
        ({}, {"spec_method": "eagle"}, "unknown decoding eagle"),
        ({}, {"framework": ""}, "the framework is not given or has no proper name"),
        ({}, {"precision": "fp8"}, "another precision"),
        ({}, {"date": "yesterday"}, "the date is missing or is none"),
        ({}, {"date": "2026-02-31"}, "the date is missing or is none"),
        ({}, {"run_url": 7}, "the run's address is no text"),
        ({}, {"num_decode_gpu": 10**400}, "num_decode_gpu is no number"),
        ({name: 1000 * value for name, value in LATENCIES.items()} | UNSAID, {}, IN_FLIGHT),
        ({}, {"num_decode_gpu": 0}, "a number of GPUs is not at least 1"),
        ({}, {"decode_tp": 0}, "decode_tp is not valid"),
        ({}, {"run_url": "javascript:alert(1)"}, "run_url is not valid"),
        ({}, {"disagg": "perhaps"}, "a yes or no is neither"),
        ({}, {"error": "out of memory"}, "the run failed"),
        ({}, {"benchmark_type": "agentic_traces"}, "another benchmark type"),
        ({}, {"metrics": None}, "the metrics are not JSON"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_left_out_and_counted(change, fields, reason, tmp_path, out, data):
    assert reasons(tmp_path, out, data, api(change, **fields)) == {reason: 1}
    assert len(table(out)) == 1


def test_cells_that_are_null_or_nan_stay_empty_and_are_counted(tmp_path, out, data):
    row = api({"mean_ttft": None, "median_e2el": float("nan")})
    report = import_rows(written(tmp_path, [row]), PAIR, data=data, out=out)
    assert report.tally.missing == {
        "mean_ttft is not given": 1,
        "median_e2el is NaN or infinite": 1,
    }
    assert (table(out)[0]["mean_ttft_s"], table(out)[0]["median_e2e_s"]) == ("", "")


def test_wrong_rows_are_named_and_reasons_stay_few(tmp_path, out, data):
    rows = [api(), *(api(hardware=f"chip{number}") for number in range(500))]
    report = import_rows(written(tmp_path, rows), PAIR, data=data, out=out)
    assert len(report.tally.dropped) <= inferencex.MOST_REASONS + 1
    assert "unknown hardware chip0 (at 2)" in "\n".join(report.lines())


def test_a_configuration_that_is_not_among_them_is_told(tmp_path, out, data):
    folder = copied("dump", tmp_path)
    lines = (folder / "configs.csv").read_text().splitlines()
    (folder / "configs.csv").write_text("\n".join(lines[:-1]))
    report = import_rows(folder, PAIR, data=data, out=out)
    assert report.tally.dropped["its configuration is not among the configurations"] == 1


# -- files that are wrong -----------------------------------------------------------------

API = (FIXTURES / "api.json").read_bytes()
DASHBOARD = (FIXTURES / "dashboard.csv").read_bytes()
SQL = (FIXTURES / "dump.sql").read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"  \n", "the file is empty"),
        (b"[]", "no row of dsr1 on gb300"),
        (b'{"error": "not found"}', "an object, not a list"),
        (API[:3000], "breaks off or is not JSON"),
        (API.rstrip()[:-1], "the list breaks off"),
        (API + b"[]", "holds something that is no row"),
        (b"[1, 2]", "holds something that is no row"),
        (b'[{"hardware": "gb300"}]', "another version of the API"),
        (b"[" * 100_000, "holds something that is no row"),
        (b'[{"a": ' + b"[" * 100_000, "cannot be read"),
        (gzip.compress(API)[:-40], "cut off or damaged"),
        (gzip.compress(API)[:200], "cut off or damaged"),
        (API.replace(b"DeepSeek", b"\xff\xfe").replace(b"image:1", b"\xff"), "is not UTF-8"),
        (b"PGDMP\x01\x0e\x00", "PostgreSQL’s own format"),
        (b"\x28\xb5\x2f\xfd" + bytes(20), "compressed with zstd"),
        (bytes(100), "the file is not text"),
        (b"name,age\na,1\n", "no form of InferenceX rows"),
        (DASHBOARD.replace(b",", b";"), "separated by"),
        (DASHBOARD.replace(b",", b"\t"), "separated by"),
        (DASHBOARD.replace(b"Concurrency", b"Conc."), "lacks the columns Concurrency"),
        (DASHBOARD.replace(b"M" b"ean TPOT (s)", b"A").replace(b"Median TPOT (s)", b"B"),
         "lacks the columns Mean TPOT"),
        (DASHBOARD.replace(b"Median TPOT (s)", b"Mean TPOT (s)"), "twice"),
        (DASHBOARD[:-200], "cells, the header"),
        (DASHBOARD + b'"open', "not CSV"),
        (SQL[: len(SQL) // 3], "has no end"),
        (SQL.replace(b"COPY public.configs", b"COPY public.settings"), "no table configs"),
        (SQL.replace(b"spec_method", b"speculation"), "lacks spec_method: another version"),
        (SQL.replace(b", metrics,", b", results,"), "lacks metrics: another version"),
        (SQL.replace(b", conc,", b", concurrency,"), "lacks conc: another version"),
    ],
)  # fmt: skip
def test_a_broken_file_is_one_error_and_the_table_stays(content, message, tmp_path, out, data):
    import_rows(FIXTURES / "dump", PAIR, data=data, out=out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    path = tmp_path / "input"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        import_rows(path, PAIR, data=data, out=out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("form", ["dashboard.csv", "api.json"])
def test_a_byte_order_mark_and_crlf_are_accepted(form, tmp_path, out, data):
    path = tmp_path / form
    text = (FIXTURES / form).read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text)
    import_rows(path, PAIR, data=data, out=out)
    assert len(table(out)) == 5


def test_a_folder_without_the_tables_is_refused(tmp_path, out, data):
    with pytest.raises(InputError, match="no configs.csv and no benchmark_results.csv"):
        import_rows(tmp_path, PAIR, data=data, out=out)


@pytest.mark.parametrize(
    ("pair", "options", "message"),
    [
        (("gpt5", "gb300"), {}, "there is no model “gpt5”"),
        (("dsr1", "jalapeno"), {}, "there is no hardware “jalapeno”"),
        (("dsr1", "gb300"), {"source": "nowhere"}, "there is no source “nowhere”"),
        (("dsr1", "gb300"), {"isl": 7}, "no row of dsr1 on gb300"),
        (("kimik25", "gb300"), {}, "no row of kimik25 on gb300"),
    ],
)
def test_a_selection_that_cannot_be_met_is_one_error(pair, options, message, out, data):
    with pytest.raises(InputError, match=message):
        import_rows(FIXTURES / "dump", [pair], data=data, out=out, **options)
    assert not list(out.iterdir())


def test_more_points_than_memory_allows_are_refused(tmp_path, out, data, monkeypatch):
    monkeypatch.setattr(inferencex, "MOST_KEPT", 3)
    with pytest.raises(InputError, match="over 3 points"):
        import_rows(FIXTURES / "dump", PAIR, data=data, out=out)


def test_a_row_without_end_is_refused_before_it_fills_memory(tmp_path, out, data, monkeypatch):
    monkeypatch.setattr(rowforms, "LONGEST", 5_000)
    monkeypatch.setattr(rowforms, "CHUNK", 1_000)
    path = tmp_path / "long.json"
    path.write_text('[{"hardware": "' + "x" * 100_000)
    with pytest.raises(InputError, match="longer than 5,000 characters"):
        import_rows(path, PAIR, data=data, out=out)


def test_a_table_that_cannot_be_replaced_stays_whole(tmp_path, out, data, monkeypatch):
    import_rows(FIXTURES / "dump", PAIR, data=data, out=out)
    before = (out / "dsr1-gb300.csv").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        import_rows(written(tmp_path, [api({"tput_per_gpu": 9.0})]), PAIR, data=data, out=out)
    assert (out / "dsr1-gb300.csv").read_bytes() == before
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("content", ["{", "[1]", "null", '"x"', "\xff", "{}"])
def test_a_broken_record_of_imports_is_told_before_anything_is_written(content, out, data):
    import_rows(FIXTURES / "api.json", PAIR, data=data, out=out)
    before = (out / "dsr1-gb300.csv").read_bytes()
    record = out / "dsr1-gb300.import.json"
    record.write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match="no list of imports"):
        import_rows(FIXTURES / "dump", PAIR, data=data, out=out)
    assert (out / "dsr1-gb300.csv").read_bytes() == before
    assert record.read_bytes() == content.encode("latin-1")


def test_the_same_file_again_leaves_the_record_of_what_it_did(out, data):
    import_rows(FIXTURES / "dump", PAIR, data=data, out=out)
    before = (out / "dsr1-gb300.import.json").read_bytes()
    import_rows(FIXTURES / "dump", PAIR, data=data, out=out)
    assert (out / "dsr1-gb300.import.json").read_bytes() == before


def test_a_file_of_which_no_row_is_valid_is_refused(tmp_path, out, data):
    path = written(tmp_path, [api(run_url="javascript:alert(1)")])
    with pytest.raises(InputError, match="no row of dsr1 on gb300"):
        import_rows(path, PAIR, data=data, out=out)
    assert not list(out.iterdir())


def test_a_header_without_end_is_an_input_error(tmp_path, out, data):
    path = tmp_path / "rows.csv"
    path.write_text("x" * 200_000 + "\n1\n")
    with pytest.raises(InputError):
        import_rows(path, PAIR, data=data, out=out)


# -- the command --------------------------------------------------------------------------


def test_the_command_reports_what_it_did(out, capsys):
    pair = ["--model", "dsr1", "--hardware", "gb300"]
    cli.main(["import-inferencex", str(FIXTURES / "dump.sql"), *pair, "--out", str(out)])
    said = capsys.readouterr().out
    assert "dump as SQL: 14 rows read from dump.sql, 5 kept" in said
    assert "dropped 1: the run failed" in said and "dsr1-gb300.csv: 5 new" in said


def test_the_command_wants_model_and_hardware_together(out):
    with pytest.raises(InputError, match="belong together"):
        cli.main(["import-inferencex", str(FIXTURES / "dump.sql"), "--model", "dsr1"])


# -- anything at all ----------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["api.json", "dashboard.csv", "dump.sql"]),
    st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=4), st.integers(0, 40)), max_size=6),
    st.booleans(),
)
def test_a_damaged_file_is_an_input_error_or_a_counted_report(form, cuts, zipped):
    content = (FIXTURES / form).read_bytes()
    for where, put, gone in cuts:
        at = int(where * len(content))
        content = content[:at] + put + content[at + gone :]
    with tempfile.TemporaryDirectory() as scratch:
        path, out = Path(scratch) / "input", Path(scratch) / "out"
        path.write_bytes(gzip.compress(content) if zipped else content)
        out.mkdir()
        try:
            report = import_rows(path, PAIR, data=Data(), out=out)
        except InputError:
            assert not list(out.iterdir())
        else:
            assert report.tally.read == report.tally.kept + sum(report.tally.dropped.values())
            assert len(table(out)) == report.tally.kept
