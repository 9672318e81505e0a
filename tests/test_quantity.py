"""Quantities: arithmetic by hand and by property, units, grades, traces and printing."""

import math
from fractions import Fraction as F

import pytest
from evidence.errors import InputError
from evidence.figures import parse
from evidence.quantity import (
    Answer,
    Grade,
    Quantity,
    QuantityError,
    decimal_text,
    largest,
    number_text,
    range_text,
    ratio,
    smallest,
    unit_of,
)
from hypothesis import assume, given
from hypothesis import strategies as st

MIXED = "mixed_token/s/kW"
SPEED = "output_token/s/user"
TBT = "ms*user/output_token"


def read(printed, unit="", grade=Grade.PUBLISHED, id="x"):
    return Quantity.read(parse(printed), unit, grade=grade, id=id, sources=[("s", "p")])


# -- arithmetic ---------------------------------------------------------------------------

fractions = st.fractions(min_value=-1000, max_value=1000, max_denominator=1000)


positive = st.fractions(min_value=F(1, 1000), max_value=10**6, max_denominator=1000)


@st.composite
def intervals(draw, of=fractions):
    a, b = sorted((draw(of), draw(of)))
    return Quantity(a, b)


@given(intervals(), intervals(), st.data())
def test_every_result_of_two_members_lies_in_the_result(a, b, data):
    x = data.draw(st.fractions(min_value=a.low, max_value=a.high, max_denominator=10**6))
    y = data.draw(st.fractions(min_value=b.low, max_value=b.high, max_denominator=10**6))
    for result, value in ((a + b, x + y), (a - b, x - y), (a * b, x * y)):
        assert result.low <= value <= result.high
    if b.low > 0 or b.high < 0:
        quotient = a / b
        assert quotient.low <= x / y <= quotient.high


@given(intervals(), intervals())
def test_the_ends_are_reached(a, b):
    """The result is no wider than it must be: each end comes from a pair of ends."""
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    assert ((a * b).low, (a * b).high) == (min(products), max(products))


def test_dividing_the_middles_would_hide_the_digits_that_are_not_known():
    """The tempting wrong way gives one number, 103.88, where 103.4 to 104.3 is known."""
    quotient = ratio(read("12,258", MIXED), read("118", MIXED))
    assert (round(float(quotient.low), 2), round(float(quotient.high), 2)) == (103.44, 104.33)
    assert quotient.low < F(1043, 10) < quotient.high
    assert quotient.text() == quotient.range() == "103.4 to 104.3"


def test_what_may_be_zero_divides_nothing():
    with pytest.raises(QuantityError, match="may be zero"):
        read("1") / Quantity(F(-1), F(1))
    with pytest.raises(QuantityError, match="may be zero"):
        read("1") / Quantity(F(0), F(0))


def test_at_most_below_the_line_gives_at_least():
    quotient = Quantity.point(700, "W") / read("≤550", "W")
    assert (quotient.low, quotient.high) == (F(14, 11), math.inf)
    assert quotient.text(3) == "at least 1.27"


def test_unbounded_sides_stay_unbounded():
    more = read(">9")
    assert (more * 2).low == 18 and math.isinf((more * 2).high)
    assert ((more / more).low, (more / more).high) == (0, math.inf)
    assert ((more - more).low, (more - more).high) == (-math.inf, math.inf)
    assert (more - more).text() == "any"


def test_min_and_max_hold_the_extreme_whichever_it_is():
    a, b = read("1.0"), read("0.98")
    assert (smallest(a, b).low, smallest(a, b).high) == (F("0.95"), F("0.985"))
    assert (largest(a, b).low, largest(a, b).high) == (F("0.975"), F("1.05"))


# -- units --------------------------------------------------------------------------------


def test_mixed_tokens_over_decode_speed_is_an_error_though_pint_would_allow_it():
    mixed, speed = read("19,641", MIXED), read("700", SPEED)
    assert (mixed.unit / speed.unit).dimensionality  # pint alone answers
    for wrong in (
        lambda: mixed / speed,
        lambda: speed / mixed,
        lambda: mixed * read("1.43", TBT),
        lambda: mixed + speed,
        lambda: mixed < speed,
        lambda: ratio(mixed, speed),
        lambda: smallest(mixed, speed),
    ):
        with pytest.raises(QuantityError):
            wrong()


def test_a_ratio_is_of_like_things():
    with pytest.raises(QuantityError, match="not a ratio of like things"):
        ratio(read("1.65", "s"), read("1.43", TBT))


def test_tbt_and_decode_speed_are_inverses():
    product = read("1.43", TBT) * read("700", SPEED)
    assert product.unit.dimensionless and product.meets(Quantity.point(1))


def test_scales_are_converted_exactly():
    assert (Quantity.point(700, "W") / Quantity.point(F(7, 10), "kW")).low == 1
    assert Quantity.point(1, "kW").to("W").low == 1000
    assert (Quantity.point(1, "s") + Quantity.point(1, "ms")).low == F(1001, 1000)
    length = read("5.31", "s") / read("5.48", TBT)
    assert str(length.unit) == "output_token / user"
    assert 960 < length.low < length.high < 975


@pytest.mark.parametrize(
    "text", ["parsnip", "ms**9999999", "(", "ms;", "1e400*s", "s" * 100, "m^2"]
)
def test_unknown_units_are_refused(text):
    with pytest.raises(InputError):
        unit_of(text)


# -- grades -------------------------------------------------------------------------------

grades = st.sampled_from(Grade)


@given(grades, grades)
def test_arithmetic_keeps_the_weakest_grade(a, b):
    x, y = read("2", grade=a), read("3", grade=b)
    for result in (x + y, x - y, x * y, x / y, smallest(x, y), largest(x, y)):
        assert result.grade == min(a, b)


def test_constants_claim_nothing_and_grading_never_raises():
    assert (read("2", grade=Grade.STATED) * 10).grade is Grade.STATED
    assert read("2", grade=Grade.STATED).graded(Grade.REPRODUCED).grade is Grade.STATED
    assert read("2").graded(Grade.ASSUMED).grade is Grade.ASSUMED
    assert [g.proven for g in Grade] == [False, False, False, True, True]
    with pytest.raises(InputError):
        Grade.of("proven")


# -- comparison ---------------------------------------------------------------------------


def test_comparison_answers_yes_no_or_undecided():
    one, two, wide = read("1.0"), read("2.0"), read("1–2")
    assert (one < two) is Answer.YES and (two < one) is Answer.NO
    assert (wide < two) is Answer.UNDECIDED
    assert (two > one) is Answer.YES and (one >= two) is Answer.NO
    with pytest.raises(QuantityError, match="undecided"):
        bool(wide < two)


@given(intervals(), intervals(), st.data())
def test_a_decided_comparison_holds_for_all_members(a, b, data):
    x = data.draw(st.fractions(min_value=a.low, max_value=a.high, max_denominator=1000))
    y = data.draw(st.fractions(min_value=b.low, max_value=b.high, max_denominator=1000))
    answer = a < b
    if answer is not Answer.UNDECIDED:
        assert bool(answer) == (x < y)


# -- traces -------------------------------------------------------------------------------


def test_the_formula_says_what_was_computed():
    a, b, c = (read("2", id=id) for id in "abc")
    assert ((a - b) / c).trace.formula == "(a - b) / c"
    assert (a - (b - c)).trace.formula == "a - (b - c)"
    assert (a / (b * c)).trace.formula == "a / (b * c)"
    assert (10 * (a + b)).trace.formula == "10 * (a + b)"
    assert (a + b - c).trace.formula == "a + b - c"
    assert smallest(a, b / c).trace.formula == "min(a, b / c)"
    assert ((a / b).named("r") * c).trace.formula == "r * c"


def test_inputs_and_sources_are_gathered_once():
    a = Quantity.read(parse("2"), "", grade=Grade.PUBLISHED, id="a", sources=[("s", "p")])
    b = Quantity.read(
        parse("3"), "", grade=Grade.PUBLISHED, id="b", sources=[("s", "p"), ("t", "q")]
    )
    trace = (a / b + a).trace
    assert trace.inputs == ("a", "b") and trace.sources == (("s", "p"), ("t", "q"))


# -- printing -----------------------------------------------------------------------------


@given(intervals(of=positive), st.sampled_from([None, 1, 2, 3, 4, 5]))
def test_what_is_printed_holds_what_it_stands_for(quantity, digits):
    """Parsing what we print gives an interval that holds the quantity, whatever the digits."""
    for text in (quantity.text(digits), quantity.range()):
        if quantity.low == quantity.high:
            assert parse(text).holds(quantity.low)
        else:
            figure = parse(text)
            assert figure.low <= quantity.low and quantity.high <= figure.high


@given(intervals(of=positive))
def test_fewer_digits_on_request_never_more(quantity):
    assume(quantity.low < quantity.high)
    full = quantity.text()
    for digits in (4, 9, 30):
        asked = quantity.text(digits)
        assert len(asked) <= len(full) or " to " in full


def test_printing_by_hand():
    assert number_text(F("1.90052"), F("1.90057")) == "1.901"
    assert number_text(F("1.90052"), F("1.90057"), 3) == "1.90"
    assert number_text(F("1.7343"), F("1.7610")) == "1.73 to 1.76"
    assert number_text(F("103.44"), F("104.33")) == "103.4 to 104.3"
    assert number_text(F("967"), F("971"), 2) == "about 970"
    assert number_text(F("59813.2"), F("59814.0"), 3) == "about 59,800"
    assert number_text(F("7500"), F("12000")) == "7,500 to 12,000"
    assert number_text(F(1200), F(1200)) == "1,200"
    assert number_text(F(12, 7), F(12, 7)) == "1.714"
    assert range_text(F(0), F("1.2345678")) == "at most 1.235"
    assert range_text(F("1.2727272"), math.inf) == "at least 1.272"
    assert decimal_text(F("-1234.5"), 1) == "−1,234.5"
    assert range_text(F("0.5124"), F("1.9005")) == "0.51 to 1.90"
    assert range_text(F("3.94"), F("16.41")) == "3.9 to 16.4"
    assert read("1.03").range() == "1.025 to 1.035" and read("427").range() == "426.5 to 427.5"
    assert (read("1.80") / read("1.03")).range() == "1.73 to 1.76"
    assert Quantity.point(F("12951.1098")).range() == "12,951.11"
    assert read("5.90").text() == "5.90" and read("5.90").text(2) == "5.9"


def test_a_quantity_of_nothing_is_refused():
    with pytest.raises(QuantityError):
        Quantity(F(2), F(1))
    with pytest.raises(QuantityError):
        smallest()
    with pytest.raises(TypeError):
        read("1") + 0.1
