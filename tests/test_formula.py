"""Formulas: what they may hold, what they refuse, and that nothing else ever runs."""

from fractions import Fraction

import pytest
from evidence.errors import InputError
from evidence.formula import LONGEST, Comparison, Span, evaluate
from evidence.quantity import Answer, Grade, Quantity
from hypothesis import example, given, settings
from hypothesis import strategies as st

KNOWN = {
    "a": Quantity(Fraction(9), Fraction(11), grade=Grade.PUBLISHED),
    "b": Quantity(Fraction(4), Fraction(5), grade=Grade.STATED),
    "zero": Quantity(Fraction(-1), Fraction(1), grade=Grade.PUBLISHED),
    "watts": Quantity.point(700, "W", grade=Grade.PUBLISHED, id="watts"),
    "mixed": Quantity.point(9, "mixed_token/s/kW", grade=Grade.PUBLISHED, id="mixed"),
    "speed": Quantity.point(9, "output_token/s/user", grade=Grade.PUBLISHED, id="speed"),
}


def names(name):
    if name not in KNOWN:
        raise InputError(f"nothing is called {name}", mend="define it")
    return KNOWN[name].named(name)


def value(formula):
    outcome = evaluate(formula, names).outcome
    return outcome.low, outcome.high


# -- arithmetic ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "low", "high"),
    [
        ("a", 9, 11),
        ("a + b * 2", 17, 21),
        ("(a - 1) / 2", 4, 5),
        ("-b", -5, -4),
        ("0.1 + 0.2", Fraction(3, 10), Fraction(3, 10)),
        ("1_000", 1000, 1000),
        ("min(a, b)", 4, 5),
        ("max(a, b, 10)", 10, 11),
        ("between(b, a)", 4, 11),
        ("a /\n  b", Fraction(9, 5), Fraction(11, 4)),
    ],
)
def test_arithmetic_is_exact_and_keeps_intervals(formula, low, high):
    assert value(formula) == (low, high)


def test_range_keeps_all_of_its_members():
    outcome = evaluate("range(a, b, a / b)", names).outcome
    assert isinstance(outcome, Span)
    assert (outcome.low.low, outcome.high.high) == (Fraction(9, 5), 11)


@pytest.mark.parametrize(
    ("formula", "answer"),
    [
        ("b < a", Answer.YES),
        ("a < b", Answer.NO),
        ("a < 10", Answer.UNDECIDED),
        ("1 < b < a < 12", Answer.YES),
        ("1 < b < a < 10", Answer.UNDECIDED),
        ("b < a < b", Answer.NO),
        ("a >= 9", Answer.YES),
        ("a > 9", Answer.UNDECIDED),
    ],
)
def test_comparisons_have_three_answers(formula, answer):
    outcome = evaluate(formula, names).outcome
    assert isinstance(outcome, Comparison) and outcome.answer is answer


# -- grades -------------------------------------------------------------------------------


def test_the_weakest_grade_is_kept():
    assert evaluate("a + 1", names).grade is Grade.PUBLISHED
    assert evaluate("a / b", names).grade is Grade.STATED


@pytest.mark.parametrize(
    "formula",
    [
        "4.9",
        "a / a * 4.9",
        "0 * a + 9",
        "a - a + 4",
        "min(a, 3)",
        "(1 - 1) * a + 2",
        "(between(1, 1) - 1) * a + 2",
        "1 < 2",
        "a / a < 4.9",
        "range(1, 2)",
    ],
)
def test_numbers_of_a_formula_never_pass_for_measurements(formula):
    assert evaluate(formula, names).grade <= Grade.STATED


@pytest.mark.parametrize("formula", ["a * 2", "1 - 1 / a", "min(a, 30)", "a < 40", "a / 1000"])
def test_numbers_beside_a_measurement_do_not_lower_its_grade(formula):
    assert evaluate(formula, names).grade is Grade.PUBLISHED


# -- refusals -----------------------------------------------------------------------------

REFUSED = [
    "",
    "   ",
    "a b",
    "a +",
    "unknown + 1",
    "a ** 2",
    "9 ** 9 ** 9 ** 9",
    "a // 2",
    "a % 2",
    "a << 2",
    "a | b",
    "~a",
    "not a",
    "a and b",
    "a if b else a",
    "a == b",
    "a != b",
    "a in b",
    "a.real",
    "a.__class__",
    "a[0]",
    "[a, b]",
    "(a, b)",
    "{a}",
    "'text'",
    'f"{a}"',
    "b'x'",
    "True",
    "None",
    "...",
    "1j",
    "1e999",
    "1e20",
    "1234567890.1234567890",
    "lambda: a",
    "(lambda: a)()",
    "[x for x in a]",
    "sum(x for x in a)",
    "print(a)",
    "eval(a)",
    "__import__(a)",
    "max(*a)",
    "max(a, key=b)",
    "max()",
    "range()",
    "between()",
    "range(a, b) + 1",
    "1 + (a < b)",
    "max(a < b, a)",
    "a; b",
    "a = b",
    "a := b",
    "import os",
    "a # comment",
    "a \\ b",
    "a\0b",
    "ａ + b",
    "a + é",
    "(" * 1000 + "a" + ")" * 1000,
    "(" * 100 + "a",
    "-" * 900 + "a",
    "+".join(["a"] * 400),
    "max(" * 200 + "a" + ")" * 200,
    "a" * (LONGEST + 1),
    "<script>",
    "{{< include x >}}",
    "#eval(1)",
]


@pytest.mark.parametrize("formula", REFUSED, ids=lambda text: text[:20] or "empty")
def test_what_is_not_arithmetic_is_refused(formula):
    with pytest.raises(InputError) as caught:
        evaluate(formula, names)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("mixed / speed", "different things"),
        ("mixed + speed", "cannot be compared"),
        ("watts < a", "cannot be compared"),
        ("range(watts, a)", "cannot be compared"),
        ("a / zero", "may be zero"),
        ("a / (b - b)", "may be zero"),
        ("a / 0", "may be zero"),
    ],
)
def test_arithmetic_without_meaning_says_why(formula, words):
    with pytest.raises(InputError, match=words):
        evaluate(formula, names)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
@example("(a).__class__.__mro__")
def test_any_text_gives_a_result_or_an_input_error(text):
    try:
        evaluate(text, names)
    except InputError:
        pass


TOKENS = st.sampled_from(
    "a b zero watts mixed speed 1 0 2.5 + - * / ( ) , < <= > >= min( max( range( between(".split()
)


@settings(max_examples=500, deadline=None)
@given(st.lists(TOKENS, max_size=25))
def test_any_tokens_give_a_result_or_an_input_error(tokens):
    try:
        result = evaluate(" ".join(tokens), names)
    except InputError:
        return
    assert result.quantities and result.grade in Grade
