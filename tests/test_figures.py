"""Printed figures: every form by hand, and what must hold for all of them."""

import math
from fractions import Fraction as F

import pytest
from evidence import figures
from evidence.errors import InputError
from evidence.figures import exact, parse
from hypothesis import given
from hypothesis import strategies as st

FORMS = {
    "85,448": (F("85447.5"), F("85448.5"), None),
    "0.69": (F("0.685"), F("0.695"), None),
    "5.90": (F("5.895"), F("5.905"), None),
    "≈1.9×": (F("1.85"), F("1.95"), ""),
    "~1.9x": (F("1.85"), F("1.95"), ""),
    "1.5–1.9": (F("1.45"), F("1.95"), None),
    "1.5～1.9": (F("1.45"), F("1.95"), None),
    "1.5 to 1.9 倍": (F("1.45"), F("1.95"), ""),
    "1/1.7": (1 / F("1.75"), 1 / F("1.65"), None),
    "1/1.7～1/3.6": (1 / F("3.65"), 1 / F("1.65"), None),
    "about 700": (F(650), F(750), None),
    "about 169": (F("168.5"), F("169.5"), None),
    "约 700 token/s": (F(650), F(750), "output_token/s"),
    ">9": (F(9), math.inf, None),
    "≥9": (F(9), math.inf, None),
    "over 9x": (F(9), math.inf, ""),
    "≤550": (F(0), F(550), None),
    "≤550 W": (F(0), F(550), "W"),
    "8.54万": (F(85350), F(85450), None),
    "１．４３": (F("1.425"), F("1.435"), None),
    "85\u2009448": (F("85447.5"), F("85448.5"), None),
    "85\u202f448 mixed tok/s/kW": (F("85447.5"), F("85448.5"), "mixed_token/s/kW"),
    "0.69 ms": (F("0.685"), F("0.695"), "ms"),
    "104.3×": (F("104.25"), F("104.35"), ""),
    "0": (F("-0.5"), F("0.5"), None),
    "−5": (F("-5.5"), F("-4.5"), None),
}


@pytest.mark.parametrize("printed", FORMS)
def test_each_form_by_hand(printed):
    figure = parse(printed)
    assert (figure.low, figure.high, figure.unit) == FORMS[printed]


REFUSED = [
    "", "  ", "n/a", "1,23", "12,34,567", "1.2.3", "1e5", "2x4", "--5", "9-5", "about", ">", "1/0",
    "5 parsecs", "≥1-2", "0.69ms ms", "٣", "1٣", "nan", "inf", "1_000", "5.90³", "10²", "①", "½", "9" * 300, "5 – 6 – 7", "1/",
]  # fmt: skip


@pytest.mark.parametrize("printed", REFUSED)
def test_what_is_not_understood_is_refused(printed):
    with pytest.raises(InputError) as error:
        parse(printed)
    assert "To mend it" in str(error.value)


def test_exact_figures_are_points_and_nothing_else():
    assert exact("1,200 W").low == exact("1,200 W").high == 1200
    for printed in ("about 700", "≤550", "1–2"):
        with pytest.raises(InputError):
            exact(printed)


def test_a_trailing_zero_counts():
    """5.9 and 5.90 are printed differently and stand for different intervals."""
    assert parse("5.9").high - parse("5.9").low == 10 * (parse("5.90").high - parse("5.90").low)


decimals = st.builds(
    lambda whole, places, digits: (
        f"{whole:,}" + (f".{digits % 10**places:0{places}d}" if places else "")
    ),
    st.integers(0, 10**9),
    st.integers(0, 6),
    st.integers(0, 10**6),
)


@given(decimals)
def test_the_interval_holds_the_printed_value(printed):
    assert parse(printed).holds(F(printed.replace(",", "")))


@given(decimals, st.sampled_from(["about ", "≈", ">", "≥", "≤", "<"]))
def test_a_prefixed_interval_holds_the_printed_value(prefix_of, prefix):
    assert parse(prefix + prefix_of).holds(F(prefix_of.replace(",", "")))


@given(decimals, decimals, st.sampled_from(["–", "—", "～", " to ", "-"]))
def test_a_range_holds_both_ends(a, b, between):
    low, high = sorted((a, b), key=lambda text: F(text.replace(",", "")))
    figure = parse(low + between + high)
    assert figure.holds(F(low.replace(",", ""))) and figure.holds(F(high.replace(",", "")))


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_never_anything_else(text):
    try:
        figure = parse(text)
    except InputError:
        return
    assert figure.low <= figure.high


@given(st.text(alphabet="0123456789.,-–~≈<>≤≥ 万亿x×/abtou", max_size=30))
def test_near_figures_are_read_or_refused(text):
    try:
        figure = parse(text)
    except InputError:
        return
    assert figure.low <= figure.high


def test_every_unit_spelling_is_known_to_pint():
    from evidence.quantity import unit_of

    for unit in set(figures.UNITS.values()):
        unit_of(unit)
