"""The curated tables: what they hold, and what each kind of wrong entry is told."""

import shutil

import pytest
from evidence import paths, points
from evidence.data import Data
from evidence.errors import InputError

FIRST = (
    'gptoss120b,jalapeno,stp,peak_throughput_per_kw,"85,448",mixed tok/s/kW,,,,'
    'openai-first-results,"appendix, peak throughput",primary,unsigned-analysis: paragraph 8,'
)


@pytest.fixture
def folder(tmp_path):
    copy = tmp_path / "data"
    shutil.copytree(paths.DATA, copy)
    return copy


def change(folder, name, old, new):
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def read_everything(folder):
    data = Data(folder)
    return data.measurements, data.gaps, data.systems, points.all_in(data)


# -- the record itself --------------------------------------------------------------------


def test_all_published_figures_are_there():
    data = Data()
    assert len(data.measurements) == 36
    assert sum(row.read == "primary" for row in data.measurements.values()) == 30
    for row in data.measurements.values():
        assert row.source in data.sources and row.place


def test_figures_that_articles_print_too_say_where():
    rows = Data().measurements
    assert rows["dsr1_jalapeno_stp_throughput_per_kw_at_comparator_best_tbt"].also == (
        "unsigned-analysis: paragraph 18; unsigned-news: paragraph 32"
    )
    assert rows["kimik25_jalapeno_stp_decode_speed_max"].also is None


def test_what_is_not_given_stays_empty():
    sources = Data().sources
    assert sources["unsigned-news"].title is None and sources["unsigned-news"].date is None
    assert sources["geekpark"].url is None and sources["36kr"].title is None
    for source in sources.values():
        assert source.language == "en" or not source.title or source.gloss


def test_a_measurement_knows_its_sources_and_grade():
    data = Data()
    tbt = data.measurement("dsr1_gb300_stp_tbt_min")
    assert tbt.trace.sources[0] == ("openai-first-results", "appendix, time between tokens")
    assert str(tbt.grade) == "published"
    assert str(data.measurement("dsr1_gb300_mtp_tbt_min").grade) == "stated"
    assert str(data.power("jalapeno").grade) == "published"
    assert str(data.power("jalapeno", "measured_power").grade) == "stated"


def test_only_what_was_asked_for_is_read():
    data = Data()
    assert data.sources
    assert [path.name for path in data.reads] == ["sources.yml"]


# -- wrong entries ------------------------------------------------------------------------

WRONG = [
    ("measurements.csv", "gptoss120b,jalapeno,", "gptoss,jalapeno,", 2, "model", "“gptoss”"),
    ("measurements.csv", ",jalapeno,", ",jalapeño,", 2, "system", "“jalapeño”"),
    ("measurements.csv", ",peak_throughput_per_kw,", ",peak,", 2, "metric", "“peak”"),
    ("measurements.csv", "openai-first-results,", "openai,", 2, "source", "“openai”"),
    ("measurements.csv", '"85,448"', '""', 2, "printed", "empty"),
    ("measurements.csv", '"85,448"', '"85,44"', 2, "printed", "85,44"),
    ("measurements.csv", '"85,448"', "lots", 2, "printed", "lots"),
    ("measurements.csv", '"85,448"', "0", 2, "printed", "not above zero"),
    ("measurements.csv", '"85,448"', "-5", 2, "printed", "not above zero"),
    ("measurements.csv", ",stp,", ",xyz,", 2, "decoding", "“xyz”"),
    ("measurements.csv", "appendix, peak throughput", "appendix\0", 2, "place", "control characters"),
    ("measurements.csv", "mixed tok/s/kW", "furlongs", 2, "unit", "furlongs"),
    ("measurements.csv", "mixed tok/s/kW", "ms", 2, "unit", "does not fit"),
    ("measurements.csv", '"85,448"', "85.448 ms", 2, "unit", "does not fit"),
    ("measurements.csv", "unsigned-analysis: paragraph 8", "unsigned-analysis", 2, "also", "no place"),
    ("measurements.csv", ",primary,", ",yes,", 2, "read", "“yes”"),
    ("measurements.csv", FIRST, FIRST + ",one more", 2, None, "15 cells"),
    ("measurements.csv", "model,system", "model;system", 1, None, "columns"),
    ("measurements.csv", "model,system", "model,sistem", 1, None, "sistem"),
    ("systems.yml", "unit: W", "unit: wats", 9, "package_power.unit", "wats"),
    ("systems.yml", 'printed: "700"', 'printed: "about 700"', 8, "package_power.printed", "700"),
    ("systems.yml", "source: openai-first-results", "source: nobody", 12, "package_power.source", "nobody"),
    ("systems.yml", "role: subject", "role: hero", 6, "role", "“hero”"),
    ("systems.yml", "  vendor: OpenAI\n", "", 3, "vendor", "missing"),
    ("sources.yml", "  kind: vendor", "  kind: oracle", 12, "kind", "“oracle”"),
    ("sources.yml", "date: 2026-08-25", "date: August", 9, "date", "2026-08-25"),
    ("sources.yml", "url: https://openai.com", "url: javascript:alert(1)//", 10, "url", "https://"),
    ("sources.yml", "language: en", "langauge: en", None, "langauge", "not known"),
    ("gaps.yml", "source: unsigned-news", "source: rumour", 8, "said.0.source", "rumour"),
    ("inferencex/allin.csv", ",1.18,", ",lots,", None, "printed", "lots"),
    ("inferencex/allin.csv", "jalapeno_deck,jalapeno", "jalapeno_deck,jalapeño", None, "system", "“jalapeño”"),
    ("metrics.yml", "unit: mixed_token/s/kW", "unit: mixed_tokens_s", 6, "unit", "mixed_tokens_s"),
]  # fmt: skip


@pytest.mark.parametrize("name, old, new, line, field, found", WRONG)
def test_a_wrong_entry_is_told_where_what_and_how(folder, name, old, new, line, field, found):
    change(folder, name, old, new)
    with pytest.raises(InputError) as caught:
        read_everything(folder)
    error = caught.value
    assert error.file == f"data/{name}"
    assert line is None or error.line == line
    assert field is None or error.field == field
    assert found in str(error) and "To mend it: " in str(error)


def test_a_duplicate_row_names_both_lines(folder):
    path = folder / "measurements.csv"
    path.write_text(path.read_text(encoding="utf-8") + FIRST + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2") as caught:
        read_everything(folder)
    assert caught.value.line == 38


@pytest.mark.parametrize(
    "text, found",
    [
        ("a: [1, 2", "not YAML"),
        ("a: &x 1\nb: *x", "alias"),
        ("jalapeno:\n  name: A\njalapeno:\n  name: B", "twice"),
        ("- a\n- b", "no mapping"),
        ("x: !!python/object/apply:os.system ['true']", "tag"),
        ("? [a]\n: b", "not plain text"),
        ("a: " + "[" * 40 + "]" * 40, "nested"),
        ("a: " + "[" * 100_000, ""),
        ("a: '\0'", "not YAML"),
        ("jalapeno: text", "no fields"),
    ],
)
def test_yaml_that_is_not_what_it_should_be(folder, text, found):
    (folder / "systems.yml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_everything(folder)
    assert found in str(caught.value) and caught.value.file == "data/systems.yml"


def test_anchors_that_would_expand_without_end_are_refused(folder):
    bomb = "a: &a [x, x]\n" + "".join(
        f"{c}: &{c} [*{b}, *{b}]\n" for b, c in zip("abcdefgh", "bcdefghi")
    )
    (folder / "systems.yml").write_text(bomb, encoding="utf-8")
    with pytest.raises(InputError, match="alias"):
        read_everything(folder)


@pytest.mark.parametrize("name", ["measurements.csv", "sources.yml"])
def test_a_file_that_is_not_utf8_names_the_line(folder, name):
    raw = (folder / name).read_bytes()
    at = raw.index(b"\n") + 1
    (folder / name).write_bytes(raw[:at] + b"\xff" + raw[at:])
    with pytest.raises(InputError, match="UTF-8") as caught:
        read_everything(folder)
    assert caught.value.line == 2


def test_a_missing_file_and_a_missing_folder(folder):
    (folder / "systems.yml").unlink()
    with pytest.raises(InputError, match="missing"):
        read_everything(folder)
    with pytest.raises(InputError, match="missing"):
        Data(folder / "nowhere")


def test_a_byte_order_mark_and_crlf_are_no_errors(folder):
    path = folder / "measurements.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert len(Data(folder).measurements) == 36


def test_control_characters_do_not_reach_the_terminal(folder):
    change(folder, "measurements.csv", '"85,448"', "\x1b[31mred")
    with pytest.raises(InputError) as caught:
        read_everything(folder)
    assert "\x1b" not in str(caught.value) and "\\x1b" in str(caught.value)


def test_an_error_of_another_file_keeps_its_own_place():
    error = InputError("the file is missing", file="data/measurements.csv", mend="restore it")
    placed = error.at(file="data/claims/power.yml", line=188, field="formula")
    assert (placed.file, placed.line, placed.field) == ("data/measurements.csv", None, None)
