"""What is printed becomes an interval: the one parser of printed figures.

A printed figure stands for every value that would have been printed the same way:

=====================  ======================================================
``85,448`` ``5.90``    half a unit of the last printed digit either way
``about 700`` ``≈1.9``  half a unit of the last digit that is not zero
``1.5–1.9``            from the low end of the first to the high end of the second
``1/1.7``              one over the interval of what is printed below the line
``>9`` ``≥9``          from the printed number to infinity
``≤550`` ``<1``        from zero to the printed number
``8.54万``             the interval of 8.54, times ten thousand
=====================  ======================================================

What is none of these is refused, never guessed.
Bounds are fractions, so that no rounding of the computer's enters; infinity is a float.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from .errors import InputError, shown

Bound = Fraction | float
Form = Literal["plain", "about", "range", "at least", "more than", "at most", "less than"]

LONGEST = 200  # characters; no printed figure is longer, and it bounds the work

SCALES = {"": 0, "万": 4, "萬": 4, "亿": 8, "億": 8}

# how a figure's unit may be spelled where it stands behind the number
UNITS = {
    "x": "", "×": "", "倍": "", "times": "", "fold": "",
    "%": "percent", "percent": "percent",
    "ms": "ms", "s": "s", "sec": "s", "seconds": "s", "秒": "s", "毫秒": "ms",
    "min": "min", "minutes": "min", "h": "h", "hours": "h",
    "days": "day", "weeks": "week", "months": "month", "个月": "month", "個月": "month",
    "years": "year", "年": "year", "nm": "nm",
    "W": "W", "瓦": "W", "kW": "kW", "MW": "MW", "GW": "GW",
    "tok/s": "output_token/s", "token/s": "output_token/s", "tokens/s": "output_token/s",
    "token/秒": "output_token/s",
    "tok/s/user": "output_token/s/user", "token/s/user": "output_token/s/user",
    "mixed tok/s/kW": "mixed_token/s/kW", "mixed TPS/kW": "mixed_token/s/kW",
    "tokens": "output_token", "tok": "output_token",
    "GB": "GB", "GiB": "GiB", "TiB": "TiB", "TB": "TB", "PB": "PB",
    "GB/s": "GB/s", "TB/s": "TB/s", "PB/s": "PB/s",
    "PFLOPS": "Pflop/s", "PFLOP/s": "Pflop/s", "EFLOPS": "Eflop/s", "EFLOP/s": "Eflop/s",
    "chips": "package", "USD": "USD", "$/h": "USD/h",
}  # fmt: skip

_PREFIXES: dict[str, Form] = {
    "≈": "about", "~": "about", "about ": "about", "around ": "about", "approximately ": "about",
    "roughly ": "about", "some ": "about", "约": "about", "約": "about", "大约": "about",
    "≥": "at least", ">=": "at least", "at least ": "at least",
    ">": "more than", "more than ": "more than", "over ": "more than", "above ": "more than",
    "≤": "at most", "<=": "at most", "at most ": "at most", "up to ": "at most",
    "<": "less than", "less than ": "less than", "under ": "less than", "below ": "less than",
}  # fmt: skip

_LONGEST_FIRST = sorted(_PREFIXES, key=len, reverse=True)

_NUMBER = r"[-−]?(?:\d{1,3}(?:[, ]\d{3})+|\d+)(?:\.\d+)?"
_NO_DIGITS = ("<super>", "<sub>", "<circle>", "<fraction>")
_ONE = re.compile(rf"(?P<over>1/)?(?P<number>{_NUMBER}) ?(?P<scale>[万萬亿億]?)", re.ASCII)
_RANGE = re.compile(
    rf"(?P<a>(?:1/)?{_NUMBER} ?[万萬亿億]?)(?P<ua>[x×倍%]?) ?(?:[–—~～〜-]|to\b) ?"
    rf"(?P<b>(?:1/)?{_NUMBER} ?[万萬亿億]?)",
    re.ASCII,
)


@dataclass(frozen=True)
class Figure:
    """A printed figure, read.

    ``low`` and ``high`` bound what it stands for, in units of ``unit``
    (a pint unit string; ``None`` where no unit is printed).
    """

    printed: str
    form: Form
    low: Bound
    high: Bound
    unit: str | None = None
    ends: tuple[tuple[Fraction, Fraction], ...] = ()

    def holds(self, value: Bound) -> bool:
        return self.low <= value <= self.high


def parse(printed: str) -> Figure:
    """Read a printed figure.

    Raises ``InputError`` for anything that is not one of the forms in the module's table.
    """
    if len(printed) > LONGEST:
        raise _refuse(printed, f"a figure has at most {LONGEST} characters")
    text = _plain(printed)
    if not text:
        raise InputError("the figure is empty", mend="write the figure exactly as it is printed")
    form: Form = "plain"
    for prefix in _LONGEST_FIRST:
        if text.lower().startswith(prefix):
            form, text = _PREFIXES[prefix], text[len(prefix) :].strip()
            break
    if span := _RANGE.match(text):
        if form not in ("plain", "about"):
            raise _refuse(printed, "a range cannot be one-sided")
        return _range(printed, span, text[span.end() :], form)
    one = _ONE.match(text)
    if not one:
        raise _refuse(printed, "it does not begin with a number")
    unit = _unit(printed, text[one.end() :])
    low, high = _interval(one, about=form == "about")
    if form in ("at least", "more than"):
        return Figure(printed, form, _value(one), math.inf, unit)
    if form in ("at most", "less than"):
        if _value(one) < 0:
            raise _refuse(printed, "an upper bound below zero leaves nothing")
        return Figure(printed, form, Fraction(0), _value(one), unit)
    return Figure(printed, form, low, high, unit)


def exact(printed: str) -> Figure:
    """Read a figure that is exact: a rating, a count, a nominal length."""
    figure = parse(printed)
    if figure.form != "plain":
        raise _refuse(printed, "an exact figure is a plain number")
    one = _ONE.match(_plain(printed))
    assert one is not None
    return Figure(printed, "plain", _value(one), _value(one), figure.unit)


def _plain(printed: str) -> str:
    """Full-width and compatibility forms folded, every kind of space made one.

    A raised, lowered or circled digit is a mark of a note or an exponent, no digit of the figure.
    """
    for sign in printed:
        if unicodedata.decomposition(sign).startswith(_NO_DIGITS):
            raise _refuse(printed, f"{shown(sign)} is no digit of a figure")
    folded = unicodedata.normalize("NFKC", printed).replace("−", "-")
    return re.sub(r"\s+", " ", folded).strip()


def _refuse(printed: str, why: str) -> InputError:
    return InputError(
        f"{shown(printed)} is not a figure that can be read: {why}",
        mend="print it like 85,448 or 5.90, ≈1.9×, about 700, 1.5–1.9, 1/1.7, >9, ≤550 or 8.54万,"
        " with a known unit or none behind it",
    )


def _range(printed: str, span: re.Match[str], rest: str, form: Form) -> Figure:
    first, second = (_ONE.fullmatch(span[end].strip()) for end in "ab")
    if first is None or second is None:
        raise _refuse(printed, "the ends of the range are not numbers")
    unit = _unit(printed, rest)
    if span["ua"] and _unit(printed, span["ua"]) != unit:
        raise _refuse(printed, "the ends of the range have different units")
    a, b = (_interval(end, about=form == "about") for end in (first, second))
    if _value(first) > _value(second) and not first["over"]:
        raise _refuse(printed, "the range runs downwards")
    return Figure(printed, "range", min(a[0], b[0]), max(a[1], b[1]), unit, (a, b))


def _unit(printed: str, behind: str) -> str | None:
    spelled = behind.strip()
    if not spelled:
        return None
    if spelled not in UNITS:
        raise _refuse(printed, f"{shown(spelled)} behind the number is not a known unit")
    return UNITS[spelled]


def _digits(one: re.Match[str]) -> str:
    return one["number"].replace(",", "").replace(" ", "")


def _value(one: re.Match[str]) -> Fraction:
    value = Fraction(_digits(one)) * 10 ** SCALES[one["scale"]]
    return 1 / value if one["over"] else value


def _interval(one: re.Match[str], *, about: bool) -> tuple[Fraction, Fraction]:
    digits = _digits(one)
    whole, _, decimals = digits.partition(".")
    place = -len(decimals)
    if about:
        significant = (whole + decimals).lstrip("-")
        kept = significant.rstrip("0")
        place += len(significant) - len(kept) if kept else 0
    half = Fraction(10) ** place / 2
    scale = 10 ** SCALES[one["scale"]]
    low, high = ((Fraction(digits) - half) * scale, (Fraction(digits) + half) * scale)
    if not one["over"]:
        return low, high
    if low <= 0:
        raise _refuse(one.group(), "what is below the line may be zero")
    return 1 / high, 1 / low
