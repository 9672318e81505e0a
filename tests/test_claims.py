"""The record's own claims: the hard ones by name, and what holds for every one of them."""

import json
import re
from functools import cache

import jsonschema
import pytest
from evidence import ledger, paths, points, publish, show, yamlfile
from evidence.cases import NEARNESS
from evidence.data import Data
from evidence.ledger import Verdict
from evidence.quantity import Grade

ARTICLES = ("unsigned-analysis", "unsigned-news", "geekpark", "jinse-finance")


@cache
def data():
    return Data()


@cache
def entries():
    return ledger.build(data())


@cache
def records():
    return {record["id"]: record for record in publish.records(entries(), data())}


# -- the hard ones ------------------------------------------------------------------------

# id: verdict, grade, ends of what is computed (None where nothing is), claims that stand against it
HARD = {
    "speed-dsr1-4-9": ("differs", "published", (4.13, 4.16), []),
    "wait-dsr1-three-quarters": ("reproduces", "published", (75.8, 76.0), []),
    "peak-range-more-by": ("differs", "published", (1.53, 1.90), ["peak-range"]),
    "peak-kimik25-more-by": ("differs", "published", (1.53, 1.53), []),
    "interactive-range": ("differs", "published", (2.68, 4.14), []),
    "interactive-range-with-mtp": ("reproduces", "stated", (2.11, 4.14), []),
    "iso-dsr1-ratio": ("reproduces", "published", (103.4, 104.3), []),
    "per-watt-by-measured-power": ("conflicts", "stated", None, ["per-watt-by-rated-power"]),
    "per-watt-by-rated-power": ("reproduces", "published", (11781, 11781), []),
    "hardware-partner-cerebras": ("conflicts", "stated", None, ["hardware-partners"]),
    "hardware-partners": ("conflicts", "stated", None, ["hardware-partner-cerebras"]),
    "larger-model-larger-lead": ("differs", "published", None, []),
    "two-models-ported": ("differs", "stated", None, ["three-models-ported"]),
    "three-models-ported": ("unsupported", "stated", None, []),
    "stp-is-a-platform": ("conflicts", "stated", None, ["stp-is-single-token-prediction"]),
    "nine-months": ("differs", "stated", None, ["concept-to-tapeout"]),
    "concept-to-tapeout": ("unsupported", "stated", (13, 13), []),
    "rubin-10x-per-megawatt": ("conflicts", "stated", None, ["rubin-5-4x-per-megawatt"]),
    "rubin-5-4x-per-megawatt": ("conflicts", "stated", None, ["rubin-10x-per-megawatt"]),
    "peak-all-nearly-double": ("differs", "published", (1.53, 1.90), []),
    "peak-gptoss120b-nearly-double": ("reproduces", "published", (1.90, 1.90), []),
    "same-electricity": ("unsupported", "stated", None, []),
    "stp-baseline-flatters": ("reproduces", "stated", None, []),
    "mtp-commonly-used": ("unsupported", "stated", None, []),
    "no-overall-speed-up": ("unsupported", "stated", None, []),
    "built-by-ai": ("conflicts", "stated", None, ["ai-helped-design"]),
    "rubin-splits-to-cpx": ("conflicts", "stated", None, ["cpx-left-roadmap"]),
    "complete-third-party-run": ("conflicts", "stated", None, ["numbers-from-openai"]),
    "iso-100-kimik25": ("unsupported", "stated", (3.89, 16.4), []),
    "iso-100-comparator-gb300": ("conflicts", "stated", None, ["iso-100-comparator"]),
    "ai-kernels-whole-chip": ("conflicts", "stated", None, ["ai-kernels-faster"]),
    "peak-flops-of-b0": ("conflicts", "stated", None, ["peak-flops-of-chip"]),
}  # fmt: skip


@pytest.mark.parametrize("id", HARD)
def test_the_hard_ones_come_out_by_computation(id):
    verdict, grade, ends, against = HARD[id]
    record = records()[id]
    assert (record["verdict"], record["grade"]) == (verdict, grade)
    assert [position["claim"] for position in record["against"]] == against
    if ends is None:
        assert record["computed"] is None or record["computed"]["low"] is None
    else:
        found = record["computed"]
        assert (found["low"], found["high"]) == pytest.approx(ends, rel=4e-3)
    if verdict in ("differs", "conflicts"):
        assert re.search(r"\w.*[.]$", record["explain"])


def test_by_how_much_the_best_known_ones_differ():
    assert records()["speed-dsr1-4-9"]["difference"]["by"] == pytest.approx(0.69, abs=0.01)
    assert records()["rubin-10x-per-megawatt"]["difference"]["by"] == pytest.approx(4.05)
    assert records()["two-models-ported"]["difference"]["by"] == -1
    assert records()["two-models-ported"]["difference"]["text"] == "too low by at least 1 (33 %)"
    assert records()["peak-all-nearly-double"]["figures"][0]["read_as"] == "1.75 to 2"
    assert records()["peak-range-more-by"]["figures"][0]["read_as"] == "2.5–2.9"
    assert records()["interactive-range-more-by"]["figures"][0]["read_as"] == "3.1–5.1"


def test_what_may_count_other_things_is_neither_too_high_nor_too_low():
    for id in ("nine-months", "hiring-to-tapeout", "rubin-10x-per-megawatt", "all-in-gb300-deck"):
        text = records()[id]["difference"]["text"]
        assert re.fullmatch(r"differs by at least [\d.]+( \w+)?; may count other things", text)


def test_figures_stand_with_names_units_and_full_digits():
    rows = publish.disagreement_rows(entries(), data(), Verdict.DIFFERS)
    cells = {row[0]["text"]: (row[1]["text"], row[2]["text"]) for row in rows}
    said, found = cells["The larger the model, the clearer Jalapeño’s advantage."]
    assert said == "yes, in every part" and "time between tokens: 2.68–2.74 < 4.11–4.14" in found
    said, found = cells["For the same hardware more useful work gets done."]
    assert "DeepSeek R1: 13,748.4–13,749.0 > 16,493–16,494 mixed tok/s/package: no" in found
    assert cells["From initial design to tapeout took nine months."][0] == "9 months"
    text = {id: publish.figure_text(entries()[id], entries()[id].checked[0]) for id in entries()}
    assert text["iso-dsr1-grows"].startswith(
        "printed 1.7–104.3×; computed from 1.667 to 103.4–104.3 ["
    )
    assert "printed 12,258 mixed tok/s/kW; computed 12,258 mixed tok/s/kW" in text["iso-dsr1"]
    assert "computed 27.3 to 27.5 EFLOP/s" in text["system-flops"]
    assert "computed 53.6 to 53.8 [" in text["iso-gptoss120b-ratio"]
    assert "computed 3.9 to 16.4 [" in text["iso-100-kimik25"]
    assert not re.search("mixed_token|/kW/s|Eflop", "".join(text.values()))


def test_the_trend_of_the_lead_is_shown():
    figures = {figure["of"]: figure for figure in records()["larger-model-larger-lead"]["figures"]}
    peak = figures["peak throughput per rated kW"]
    assert peak["computed"]["text"] == "1.901 < 1.667 < 1.534: no"
    assert {figure["verdict"] for figure in figures.values()} == {"differs"}


def test_a_wrong_retelling_leaves_the_primary_claim_alone():
    for primary, retelling in {
        "peak-range": "peak-range-more-by",
        "per-watt-by-rated-power": "per-watt-by-measured-power",
        "ai-helped-design": "built-by-ai",
        "concept-to-tapeout": "nine-months",
        "stp-is-single-token-prediction": "stp-is-a-platform",
        "three-models-ported": "two-models-ported",
    }.items():
        entry = entries()[primary]
        assert not entry.against and retelling in entry.disputed_by


def test_the_published_table_is_proven():
    for metric in ("peak", "e2e", "tbt", "speed"):
        for model in ("gptoss120b", "dsr1", "kimik25"):
            entry = entries()[f"{metric}-{model}"]
            assert entry.proven and entry.verdict is Verdict.REPRODUCES


# -- every one ----------------------------------------------------------------------------


def test_nothing_is_proven_without_a_published_measurement():
    for entry in entries().values():
        if entry.proven:
            inputs = {id for check in entry.checked for id in check.result.inputs}
            assert inputs & (set(data().measurements) | set(points.quantities(data())))
            assert entry.grade >= Grade.PUBLISHED and entry.verdict is Verdict.REPRODUCES
            assert not entry.claim.gap


def test_every_claim_that_nothing_supports_says_what_would_settle_it():
    for record in records().values():
        if record["verdict"] == "unsupported":
            assert record["settles"] and record["who"], record["id"]


def test_every_verdict_that_puzzles_is_explained_in_a_sentence():
    for record in records().values():
        if record["verdict"] in ("conflicts", "differs"):
            assert record["explain"], record["id"]
        if record["explain"]:
            assert record["explain"].endswith(".") and not re.search(r"\. [A-Z]", record["explain"])


def test_each_article_and_each_subject_has_its_claims():
    said = [saying.source for entry in entries().values() for saying in entry.claim.said]
    assert all(said.count(article) > 40 for article in ARTICLES)
    assert {entry.claim.topic for entry in entries().values()} == set(data().topics)
    for topic in ("production", "utilisation", "tco", "frontier-model", "availability", "supply"):
        grades = {e.grade for e in entries().values() if e.claim.topic == topic}
        assert Grade.OPEN in grades and max(grades) <= Grade.PUBLISHED


def test_claims_are_in_our_own_words_and_placed():
    for entry in entries().values():
        claim = entry.claim
        texts = [claim.statement, claim.explain or "", claim.settles or ""]
        assert not re.search(r"[\u3040-\u9fff]", "".join(texts)), claim.id
        assert claim.statement.endswith(".") and len(claim.statement) < 260, claim.id
        for saying in claim.said:
            assert data().sources[saying.source].stands in NEARNESS
            if saying.source in ARTICLES:
                assert re.match(r"paragraphs? \d+", saying.place), claim.id


# -- the files ----------------------------------------------------------------------------


def test_the_schema_is_current():
    assert (paths.DATA / show.SCHEMA).read_text(encoding="utf-8") == show.schema()


def test_the_schema_accepts_the_files_and_refuses_a_typed_verdict():
    shape = jsonschema.Draft202012Validator(json.loads(show.schema()))
    shape.check_schema(json.loads(show.schema()))
    for path in (paths.DATA / "claims").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("# yaml-language-server: $schema=../claims.schema.json\n")
        whole = yamlfile.read(path).value
        assert [error.message for error in shape.iter_errors(whole)] == []
    least = {"topic": "t", "statement": "S.", "said": [{"source": "s", "place": "p"}]}
    assert shape.is_valid({"an-id": least})
    assert not shape.is_valid({"an-id": least | {"verdict": "reproduces"}})
    assert not shape.is_valid({"An_Id": least})


def test_the_guides_five_lines_are_a_claim(tmp_path):
    guide = (paths.DATA / "claims" / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```yaml\n(.*?)```", guide, re.DOTALL)[1]
    assert len(example.strip().splitlines()) == 5
    path = tmp_path / "x.yml"
    path.write_text(example, encoding="utf-8")
    shape = jsonschema.Draft202012Validator(json.loads(show.schema()))
    assert shape.is_valid(yamlfile.read(path).value)


def test_commands_print_what_they_promise():
    assert re.search(r"36 measurements, .*\d+ conflicts, .* are in order", show.check(paths.DATA))
    text = show.trace(paths.DATA, "speed-dsr1-4-9")
    assert "verdict: differs" in text and "dsr1_gb300_stp_decode_speed_max: 169" in text
    assert "5.895 to 5.905" in show.trace(paths.DATA, "dsr1_gb300_stp_tbt_min")
    assert json.loads(show.listed(paths.DATA, "json"))[0]["id"] in entries()
