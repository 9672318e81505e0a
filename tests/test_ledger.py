"""Verdicts on claims whose answer is known by hand, and that wording cannot raise a grade."""

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest
from evidence import ledger, paths, publish
from evidence.cases import NEARNESS
from evidence.data import Data
from evidence.errors import InputError
from evidence.ledger import Verdict
from evidence.quantity import Grade
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

EXAMPLE = Path(__file__).parent / "fixtures" / "example-other"
CLASSIC, STEAMER = "espresso_classic_heat_up", "espresso_steamer_heat_up"
RATIO = f"{CLASSIC} / {STEAMER}"  # 179.5 / 45.5 to 180.5 / 44.5: 3.945 to 4.056


@pytest.fixture
def folder(tmp_path):
    copy = tmp_path / "data"
    shutil.copytree(EXAMPLE, copy)
    return copy


def claims(folder, text):
    """The ledger of the example with ``text`` as its only claims."""
    (folder / "claims" / "all.yml").write_text(text, encoding="utf-8")
    return ledger.build(Data(folder))


def claim(id="c", *, source="leaflet", **fields):
    fields = {"topic": "brewing", "statement": "Something.", **fields}
    fields.setdefault("said", f"[{{source: {source}, place: here}}]")
    return f"{id}:\n" + "".join(f"  {name}: {text}\n" for name, text in fields.items())


def verdict(folder, **fields):
    return claims(folder, claim(**fields))["c"].verdict


# -- by its own formula -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "formula", "expected"),
    [
        ("4×", RATIO, Verdict.REPRODUCES),
        ("3.9×", RATIO, Verdict.REPRODUCES),  # 3.95 is met
        ("3.8×", RATIO, Verdict.DIFFERS),
        ("4.1×", RATIO, Verdict.REPRODUCES),  # 4.05 is met
        ("4.2×", RATIO, Verdict.DIFFERS),
        ("about 4×", RATIO, Verdict.REPRODUCES),
        ("3–4×", f"range({RATIO}, 3)", Verdict.REPRODUCES),
        ("2–4×", f"range({RATIO}, 3)", Verdict.DIFFERS),
        ("3–5×", f"range({RATIO}, 3)", Verdict.DIFFERS),
        ("3–5×", RATIO, Verdict.DIFFERS),  # one number has no range
        ("4×", f"range({RATIO}, 3)", Verdict.DIFFERS),  # all of them must be four
        (">3×", RATIO, Verdict.REPRODUCES),
        (">4×", RATIO, Verdict.UNSUPPORTED),  # part of the interval lies below
        (">5×", RATIO, Verdict.DIFFERS),
        ("≤5×", RATIO, Verdict.REPRODUCES),
        ("≤4×", RATIO, Verdict.UNSUPPORTED),
        ("≤3×", RATIO, Verdict.DIFFERS),
        ("75 %", f"1 - 1 / ({RATIO})", Verdict.REPRODUCES),
        ("3 min", CLASSIC, Verdict.REPRODUCES),
        ("2 min", CLASSIC, Verdict.DIFFERS),
    ],
)
def test_printed_against_computed(folder, printed, formula, expected):
    assert verdict(folder, printed=f'"{printed}"', formula=f'"{formula}"') is expected


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (f"{STEAMER} < {CLASSIC}", Verdict.REPRODUCES),
        (f"{STEAMER} > {CLASSIC}", Verdict.DIFFERS),
        (f"{RATIO} > 4", Verdict.UNSUPPORTED),
    ],
)
def test_comparisons_answer_yes_no_or_leave_it_open(folder, formula, expected):
    assert verdict(folder, formula=f'"{formula}"') is expected


def parts(*items):
    return "".join(f"\n    - {{{item}}}" for item in items)


def test_all_parts_must_hold(folder):
    good = f"of: one, printed: 4×, formula: {RATIO}"
    bad = f"of: two, printed: 5×, formula: {RATIO}"
    unknown = "of: two, printed: 5×"
    assert verdict(folder, parts=parts(good, bad)) is Verdict.DIFFERS
    assert verdict(folder, parts=parts(good, unknown)) is Verdict.UNSUPPORTED
    entry = claims(folder, claim(parts=parts(good, good.replace("one", "two"))))["c"]
    assert entry.verdict is Verdict.REPRODUCES and entry.proven


def test_without_a_formula_nothing_supports_it(folder):
    entry = claims(folder, claim(printed="4×"))["c"]
    assert (entry.verdict, entry.grade, entry.proven) == (Verdict.UNSUPPORTED, Grade.STATED, False)


def test_a_literal_reading_is_checked_in_place_of_the_print(folder):
    entry = claims(folder, claim(printed="4×", reading="printed + 1", formula=f'"{RATIO}"'))["c"]
    assert entry.verdict is Verdict.DIFFERS
    assert publish.reading_text(entry.claim, entry.checked[0]) == "5"
    ok = claims(folder, claim(printed="3×", reading="printed + 1", formula=f'"{RATIO}"'))["c"]
    assert ok.verdict is Verdict.REPRODUCES


def test_it_says_by_how_much_it_differs(folder):
    entry = claims(folder, claim(printed="5×", formula=f'"{RATIO}"'))["c"]
    assert float(entry.difference.by) == pytest.approx(4.5 - 180.5 / 44.5)
    assert entry.difference.text == "too high by at least 0.44 (11 %)"
    low = claims(folder, claim(printed="3.0×", formula=f'"{RATIO}"'))["c"]
    assert low.difference.by < 0 and "too low" in low.difference.text


# -- grades, and what is proven -----------------------------------------------------------


def test_only_measurements_prove(folder):
    rated = claims(
        folder,
        claim(printed='"1,500"', exact="true", unit="W/package", formula="steamer_package_power"),
    )["c"]
    assert (rated.verdict, rated.grade, rated.proven) == (
        Verdict.REPRODUCES,
        Grade.PUBLISHED,
        False,
    )
    measured = claims(folder, claim(printed="45 s", formula=STEAMER))["c"]
    assert measured.grade is Grade.PUBLISHED and measured.proven


def test_a_second_hand_measurement_does_not_prove(folder):
    entry = claims(
        folder, claim(printed="9.3", unit="l/h", formula="espresso_classic_water_per_hour")
    )
    assert entry["c"].verdict is Verdict.REPRODUCES
    assert entry["c"].grade is Grade.STATED and not entry["c"].proven


def test_another_claims_figure_is_stated_at_most(folder):
    text = claim("seen-time", printed="45 s") + claim(printed="45 s", formula="seen_time")
    entry = claims(folder, text)["c"]
    assert (entry.verdict, entry.grade) == (Verdict.REPRODUCES, Grade.STATED)


def test_a_gap_is_open_whatever_it_computes(folder):
    entry = claims(folder, claim(gap="true", printed="45 s", formula=STEAMER))["c"]
    assert entry.grade is Grade.OPEN and not entry.proven


@pytest.mark.parametrize("field", ["grade", "verdict", "proven", "support", "stands"])
def test_nobody_can_type_a_verdict_or_a_grade(folder, field):
    with pytest.raises(InputError, match=f"field {field}: the field is not known here"):
        claims(folder, claim(**{field: "published"}))


WORDS = st.text(
    st.characters(
        min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=("Cc", "Cn", "Zl", "Zp")
    ),
    min_size=1,
    max_size=60,
).filter(lambda text: text.strip())


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(WORDS, WORDS, st.sampled_from(["proven", "published", "reproduced", "{grade: published}"]))
def test_no_wording_raises_a_grade(folder, statement, voice, boast):
    said = json.dumps([{"source": "leaflet", "place": boast, "voice": voice}], ensure_ascii=False)
    texts = {"statement": f"{statement} {boast}", "explain": boast, "settles": voice, "who": boast}
    entry = claims(
        folder, claim(said=said, **{k: json.dumps(v, ensure_ascii=False) for k, v in texts.items()})
    )["c"]
    assert (entry.verdict, entry.grade, entry.proven) == (Verdict.UNSUPPORTED, Grade.STATED, False)


# -- by what others say -------------------------------------------------------------------

PROVEN = claim("first", source="test-institute", printed="45 s", formula=STEAMER)


def test_a_second_source_as_near_turns_a_proven_claim_into_a_conflict(folder):
    alone = claims(folder, PROVEN)["first"]
    assert alone.verdict is Verdict.REPRODUCES and alone.proven
    second = claim("second", source="maker-sheet", printed="40 s", restates="first")
    both = claims(folder, PROVEN + second)
    assert both["first"].verdict is both["second"].verdict is Verdict.CONFLICTS
    assert not both["first"].proven and both["first"].grade is Grade.STATED
    assert [position.claim.id for position in both["first"].against] == ["second"]


@pytest.mark.parametrize("source", ["leaflet", "visitor"])
def test_a_farther_source_lowers_only_itself(folder, source):
    found = claims(
        folder, PROVEN + claim("second", source=source, printed="40 s", restates="first")
    )
    first, second = found["first"], found["second"]
    assert first.verdict is Verdict.REPRODUCES and first.proven
    assert (first.disputed_by, first.restated_by) == (("second",), ("second",))
    assert second.verdict is Verdict.DIFFERS and second.grade is Grade.STATED
    assert second.difference.text == "too low by at least 4 s (9.0 %)"


def test_a_second_source_inside_one_claim_counts_too(folder):
    said = "[{source: test-institute, place: t}, {source: %s, place: p, printed: 40 s}]"
    near = claims(folder, claim(said=said % "maker-sheet", printed="45 s", formula=STEAMER))
    assert near["c"].verdict is Verdict.CONFLICTS
    far = claims(folder, claim(said=said % "leaflet", printed="45 s", formula=STEAMER))
    assert far["c"].verdict is Verdict.REPRODUCES and far["c"].proven


def test_a_faithful_retelling_is_not_lowered_by_a_wrong_one(folder):
    good = claim("good", printed="45 s", formula=STEAMER, restates="first")
    wrong = claim("wrong", printed="40 s", restates="first")
    found = claims(folder, PROVEN + good + wrong)
    assert found["good"].verdict is Verdict.REPRODUCES and found["good"].proven
    assert found["wrong"].verdict is Verdict.DIFFERS


def test_two_retellings_without_a_nearer_source_conflict(folder):
    text = claim("one", printed="45 s", about="time") + claim("two", printed="40 s", about="time")
    found = claims(folder, text)
    assert {entry.verdict for entry in found.values()} == {Verdict.CONFLICTS}


def test_figures_that_meet_agree(folder):
    text = claim("one", printed="45 s", about="time") + claim(
        "two", printed="about 50 s", about="time"
    )
    assert {entry.verdict for entry in claims(folder, text).values()} == {Verdict.UNSUPPORTED}


def test_kinds_conflict_by_the_same_code(folder):
    text = (
        claim("one", source="test-institute", about="maker", value="[Bar Brothers, Steamworks]")
        + claim("two", source="visitor", about="maker", value="steamworks")
        + claim("three", source="leaflet", about="maker", value="Corner Shop")
        + claim("four", source="leaflet", about="something-else", value="Corner Shop")
    )
    found = claims(folder, text)
    assert found["one"].verdict is found["two"].verdict is Verdict.UNSUPPORTED
    assert found["three"].verdict is Verdict.CONFLICTS
    assert found["four"].verdict is Verdict.UNSUPPORTED
    assert found["one"].disputed_by == ("three",)


def test_parts_conflict_with_the_part_of_the_same_name(folder):
    one = claim("one", about="both", parts=parts("of: x, printed: 1", "of: y, printed: 3"))
    two = claim("two", about="both", parts=parts("of: y, printed: 1", "of: x, printed: 1"))
    found = claims(folder, one + two)
    assert {entry.verdict for entry in found.values()} == {Verdict.CONFLICTS}


def test_nearness_is_the_sources_own():
    assert NEARNESS["primary"] > NEARNESS["witness"] > NEARNESS["restates"]


def test_a_saying_may_lower_its_sources_nearness_and_never_raise_it(folder):
    def said(source, stands):
        return f"[{{source: {source}, place: here, stands: {stands}}}]"

    near = claim("near", said=said("visitor", "restates"), printed="45 s", about="time")
    far = claim("far", said=said("leaflet", "primary"), printed="40 s", about="time")
    found = claims(folder, near + far)
    assert {entry.verdict for entry in found.values()} == {Verdict.CONFLICTS}
    found = claims(folder, near.replace("stands: restates", "stands: witness") + far)
    assert found["near"].verdict is Verdict.UNSUPPORTED
    assert found["far"].verdict is Verdict.DIFFERS
    assert found["far"].difference.text == "differs by at least 4 s; may count other things"


# -- bad input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        (claim(topic="nothing"), "topic", "there is no topic"),
        (claim(source="nobody"), "said.0.source", "there is no source"),
        (claim(printed="4×", formula="nothing_at_all"), "formula", "nothing is called"),
        (claim(printed="4×", formula=f"{STEAMER} / espresso_steamer_water_per_hour"), "formula",
         "does not come to the figure"),
        (claim(printed="4×", formula=f"{STEAMER} + 1"), "formula", "cannot be compared"),
        (claim(printed="4×", formula=f"1 / ({STEAMER} - {STEAMER})"), "formula", "may be zero"),
        (claim(printed="4×", formula="open('x')"), "formula", "is not a formula"),
        (claim(printed="4×", formula='"' + "(" * 500 + "1" + ")" * 500 + '"'), "formula",
         "is not a formula"),
        (claim(printed="4×", formula=f"{STEAMER} < {CLASSIC}"), "formula", "yes or no"),
        (claim(printed="around the corner"), "printed", "is not a figure"),
        (claim(printed="4 furlongs"), "printed", "not a known unit"),
        (claim(printed="4", unit="furlongs"), "printed", "not a known unit"),
        (claim(printed="4 s", unit="W"), "printed", "is not in W"),
        (claim(restates="nothing"), "restates", "there is no claim"),
        (claim() + claim("d", restates="c") + claim("e", restates="d"), "restates", "itself"),
        (claim(value="x"), None, "name it in about"),
        (claim(about="x", restates="c"), None, "drop about"),
        (claim(parts=parts("of: x", "of: x")), None, "a name of its own"),
        (claim(parts=parts("of: x")), "parts", "at least 2 items"),
        (claim(printed="4×", parts=parts("of: x", "of: y")), None, "not both"),
        (claim(reading="printed"), None, "needs a printed figure"),
        (claim(printed="4×", reading="open(printed)"), "printed", "is not a formula"),
        (claim(printed="4×", reading="other + 1"), "printed", "a reading knows no"),
        (claim(said="[]"), "said", "at least 1 item"),
        (claim("Upper"), "id", "match pattern"),
        (claim("a_b"), "id", "match pattern"),
        (claim('"../x"'), "id", "match pattern"),
        (claim() + claim(), None, "stands twice"),
        (claim("one", printed="4 s", about="x") + claim("two", printed="4 W", about="x"), "about",
         "cannot be compared"),
        ("a: &x [1]\nb: [*x, *x]\n", None, "alias"),
        (claim(said="[{source: leaflet, place: p}, {source: leaflet, place: q, printed: 9 s}]",
               printed="4 s"), "said.1", "contradict each other"),
        (claim(printed="2 W", said="[{source: leaflet, place: p, printed: 2 s}]"), "said.0",
         "no figure like the claim's"),
        (claim(printed="4", formula="c"), "formula", "checked against itself: c needs c"),
        (claim("one", printed="4", formula="two") + claim("two", printed="4", formula="one"),
         "formula", "checked against itself"),
        (claim(said="[{source: leaflet, place: p}, {source: leaflet, place: q, value: y}]",
               about="z", value="x"), "said.1", "contradict each other"),
    ],
)  # fmt: skip
def test_a_wrong_entry_says_what_is_wrong(folder, text, field, words):
    with pytest.raises(InputError, match=words) as caught:
        claims(folder, text)
    assert caught.value.file == "data/claims/all.yml" and caught.value.line
    if field:
        assert (caught.value.field or "").startswith(field)
    assert caught.value.mend


@pytest.mark.parametrize("name", ["more.yaml", "more.YML", "deeper/more.yml"])
def test_a_claim_file_that_would_not_be_read_is_told(folder, name):
    stray = folder / "claims" / name
    stray.parent.mkdir(exist_ok=True)
    stray.write_text(claim(), encoding="utf-8")
    with pytest.raises(InputError, match="would not be read"):
        ledger.build(Data(folder))


def test_ids_are_unique_over_files(folder):
    (folder / "claims" / "more.yml").write_text(claim("heat-up-steamer"), encoding="utf-8")
    with pytest.raises(InputError, match="there is a claim .* in data/claims/all.yml already"):
        ledger.build(Data(folder))


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(max_size=200))
def test_any_claim_file_gives_a_ledger_or_an_input_error(folder, text):
    try:
        (folder / "claims" / "all.yml").write_text(text, encoding="utf-8", newline="")
    except UnicodeEncodeError:
        return
    try:
        ledger.build(Data(folder))
    except InputError as error:
        assert "\x1b" not in str(error)


FIELDS = st.dictionaries(
    st.sampled_from(
        "topic statement said printed unit formula reading parts about value restates gap".split()
    ),
    st.one_of(
        st.text(max_size=20),
        st.booleans(),
        st.sampled_from(["brewing", "4×", "45 s", RATIO, STEAMER, "c"]),
        st.lists(st.dictionaries(st.sampled_from(["source", "place", "of"]), st.text(max_size=9))),
    ),
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(FIELDS)
def test_any_claim_gives_a_ledger_or_an_input_error(folder, fields):
    base = {"topic": "brewing", "statement": "S", "said": [{"source": "leaflet", "place": "p"}]}
    text = json.dumps({"c": base | fields}, ensure_ascii=True)
    try:
        found = claims(folder, text)
    except InputError:
        return
    assert found["c"].verdict in Verdict


# -- as data ------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)",
    "[x](javascript:alert(1))",
    "#eval(1 + 1)",
    "{{< include ../../secret >}}",
    "`{=html}<b>`",
    "$x$ *a* _b_ \\textbf{c}",
    "=HYPERLINK(1)",
    "<!-- c -->",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_are_data_everywhere(folder, text):
    quoted = json.dumps(text)
    entries = claims(
        folder,
        claim(
            statement=quoted, explain=quoted, settles=quoted, who=quoted,
            said=json.dumps([{"source": "leaflet", "place": text, "voice": text}]),
        ),
    )  # fmt: skip
    data = Data(folder)
    record = publish.records(entries, data)[0]
    assert record["statement"] == text == record["sources"][0]["place"]
    reviews = publish.claim_reviews(
        entries, data, author="A", url="https://a.example", published="2026"
    )
    embedded = paths.script_json(reviews)
    assert "<" not in embedded and json.loads(embedded)[0]["claimReviewed"] == text
    rows = publish.ledger_rows(entries.values(), data)
    assert text in rows[0][0]["text"] and set(rows[0][0]) == {"text", "anchor", "header"}
    cells = publish.as_csv(entries, data).splitlines()[1]
    assert not re.search(r'(^|,)"?[=+@-]', cells)


REVIEW = {
    "type": "object",
    "required": [
        "@context", "@type", "url", "claimReviewed", "itemReviewed", "reviewRating", "author",
        "datePublished",
    ],
    "properties": {
        "@context": {"const": "https://schema.org"},
        "@type": {"const": "ClaimReview"},
        "url": {"type": "string", "pattern": "^https://.*#claim-[a-z0-9-]+$"},
        "claimReviewed": {"type": "string", "minLength": 1},
        "datePublished": {"type": "string", "pattern": r"^\d{4}(-\d\d){0,2}$"},
        "author": {"type": "object", "required": ["@type", "name"]},
        "itemReviewed": {
            "type": "object",
            "required": ["@type", "author", "appearance"],
            "properties": {
                "@type": {"const": "Claim"},
                "author": {"type": "object", "required": ["@type", "name"]},
                "appearance": {
                    "type": "array",
                    "minItems": 1,
                    "items": {"type": "object", "required": ["@type", "name"]},
                },
            },
        },
        "reviewRating": {
            "type": "object",
            "required": ["@type", "ratingValue", "worstRating", "bestRating", "alternateName"],
            "properties": {
                "@type": {"const": "Rating"},
                "ratingValue": {"type": "integer", "minimum": 1, "maximum": 5},
            },
        },
    },
}  # fmt: skip


def test_claim_reviews_have_the_published_shape():
    data = Data()
    entries = ledger.build(data)
    reviews = publish.claim_reviews(
        entries, data, author="The report", url="https://report.example/", published="2026-08-25"
    )
    assert len(reviews) == len(entries)
    shape = jsonschema.Draft202012Validator(REVIEW)
    assert [error.message for review in reviews for error in shape.iter_errors(review)] == []
    names = {review["reviewRating"]["alternateName"].partition(",")[0] for review in reviews}
    assert names == {str(kind) for kind in Verdict}


# -- not for one subject only -------------------------------------------------------------


def test_the_second_example_has_its_own_verdicts():
    found = ledger.build(Data(EXAMPLE))
    assert {id: (str(entry.verdict), entry.proven) for id, entry in found.items()} == {
        "heat-up-steamer": ("reproduces", True),
        "heat-up-four-times": ("reproduces", True),
        "heat-up-half-a-minute": ("differs", False),
        "less-water": ("reproduces", False),
        "boiler-by-bar-brothers": ("conflicts", False),
        "boiler-by-steamworks": ("unsupported", False),
        "lasts-ten-years": ("unsupported", False),
    }


@pytest.mark.parametrize(
    "module",
    ["formula", "ledger", "cases", "publish", "show", "model", "data", "quantity", "units"],
)
def test_no_code_knows_the_subject(module):
    path = Path(ledger.__file__).with_name(f"{module}.py")
    found = re.findall(
        r"jalape|gb[23]00|openai|nvidia|deepseek|kimi", path.read_text("utf-8"), re.I
    )
    assert not found


def test_json_and_csv_hold_what_they_promise():
    data = Data(EXAMPLE)
    entries = ledger.build(data)
    records = json.loads(publish.as_json(entries, data))
    for name in (
        "id topic statement verdict grade proven printed computed sources settles restated_by"
        " explain formula"
    ).split():
        assert all(name in record for record in records)
    first = records[0]
    assert first["computed"] == {"low": 44.5, "high": 45.5, "unit": "s", "text": "45 s"}
    assert first["restated_by"] == ["heat-up-half-a-minute"]
    assert records[2]["against"][0]["says"] == "45 s"
    assert publish.as_csv(entries, data).count("\n") == len(entries) + 1
