"""Quantity: an interval, a unit, an evidence grade and a trace.

Arithmetic works on intervals with exact fractions, keeps the weakest grade, checks units
with pint, and records the formula and the measurements it came from.

Two things go beyond pint.
Mixed (input + output) tokens and output tokens are different base units, and a product or
quotient that would hold both is refused: pint alone would divide mixed tok/s/kW by
tok/s/user and answer in user/kW, a number that the sources say must not be formed.
And where intervals overlap a comparison is undecided, not false.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from fractions import Fraction
from functools import lru_cache

from .errors import InputError, shown
from .figures import Bound, Figure
from .units import pint, registry

UNIT_LENGTH = 60  # characters; bounds the work of reading a unit


class QuantityError(ArithmeticError):
    """An operation that has no meaning for these quantities."""


class Grade(IntEnum):
    """How good the evidence is, from weakest to strongest."""

    OPEN = 0
    ASSUMED = 1
    STATED = 2
    PUBLISHED = 3
    REPRODUCED = 4

    @property
    def proven(self) -> bool:
        return self >= Grade.PUBLISHED

    def __str__(self) -> str:
        return self.name.lower()

    @classmethod
    def of(cls, name: str) -> Grade:
        """The grade called ``name``; raises ``InputError`` for any other word."""
        try:
            return cls[name.upper()]
        except KeyError:
            raise InputError(
                f"{shown(name)} is not a grade",
                mend="use one of " + ", ".join(str(grade) for grade in reversed(cls)),
            ) from None


class Answer(Enum):
    """What a comparison of two intervals says."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"

    def __bool__(self) -> bool:
        if self is Answer.UNDECIDED:
            raise QuantityError("the intervals overlap: the comparison is undecided")
        return self is Answer.YES

    def __str__(self) -> str:
        return self.value


# kinds of token that must never meet in one product or quotient
_APART = ("[mixed_token]", "[output_token]")


@lru_cache(maxsize=1024)
def unit_of(text: str) -> pint.Unit:
    """The pint unit that ``text`` spells; raises ``InputError`` for an unknown one."""
    if len(text) > UNIT_LENGTH or not re.fullmatch(r"(\*(?!\*)|[\w/ ().])*", text, re.ASCII):
        raise InputError(f"{shown(text)} is not a unit", mend="use a unit such as ms, W or tok/s")
    try:
        return registry().Unit(text)
    except Exception as error:  # pint raises many kinds, tokenizer errors among them
        raise InputError(
            f"{shown(text)} is not a known unit",
            mend="use a unit such as ms, s, W, kW, percent, USD or output_token/s/user, or add it"
            " to units.txt",
        ) from error


@lru_cache(maxsize=4096)
def _convert(source: pint.Unit, target: pint.Unit) -> Fraction:
    if source == target:
        return Fraction(1)
    try:
        return Fraction(registry().Quantity(Fraction(1), source).to(target).magnitude)
    except pint.DimensionalityError as error:
        raise QuantityError(f"{_spell(source)} cannot be compared with {_spell(target)}") from error


@lru_cache(maxsize=4096)
def _combine(left: pint.Unit, right: pint.Unit, sign: str) -> tuple[pint.Unit, Fraction]:
    unit = left * right if sign == "*" else left / right
    dimensions = unit.dimensionality
    kinds = {kind for part in (left, right) for kind in _APART if kind in part.dimensionality}
    if len(kinds) > 1:
        raise QuantityError(
            f"{_spell(left)} {sign} {_spell(right)}: mixed tokens (input and output together) and"
            " output tokens count different things, so this has no meaning"
        )
    if not dimensions:
        return registry().Unit(""), _convert(unit, registry().Unit(""))
    reduced = registry().Quantity(Fraction(1), unit).to_reduced_units()
    return reduced.units, Fraction(reduced.magnitude)


def unit_text(unit: pint.Unit) -> str:
    """A unit by its symbols, such as ``mixed_token/kW/s``; empty for a plain number.

    Written here because pint's own formats cannot print the exact exponents it keeps.
    """
    above, below = [], []
    for name, exponent in sorted(unit._units.items()):
        symbol = registry().get_symbol(name)
        power = abs(exponent)
        (above if exponent > 0 else below).append(symbol if power == 1 else f"{symbol}^{power}")
    return "*".join(above) + "".join(f"/{symbol}" for symbol in below) if above or below else ""


def _spell(unit: pint.Unit) -> str:
    return unit_text(unit) or "a plain number"


@dataclass(frozen=True)
class Trace:
    """Where a quantity comes from.

    ``formula`` names the ``inputs`` (ids of measurements, points or values);
    ``sources`` are (source id, place in the source) pairs of everything underneath.
    """

    formula: str
    inputs: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    level: int = 3  # binding strength of the formula's outermost sign: 1 sum, 2 product, 3 name


def _merge(*parts: Iterable) -> tuple:
    return tuple(dict.fromkeys(item for part in parts for item in part))


@dataclass(frozen=True)
class Quantity:
    """An interval [``low``, ``high``] of ``unit``, with its evidence.

    Bounds are ``Fraction``, or an infinite float on an open side.
    Operations raise ``QuantityError`` where units do not fit or a divisor may be zero.
    """

    low: Bound
    high: Bound
    unit: pint.Unit = field(default_factory=lambda: registry().Unit(""))
    grade: Grade = Grade.REPRODUCED
    trace: Trace = Trace("")
    printed: str | None = None

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise QuantityError(f"an interval from {self.low} to {self.high} holds nothing")

    # -- making ---------------------------------------------------------------------------

    @classmethod
    def read(
        cls,
        figure: Figure,
        unit: str,
        *,
        grade: Grade,
        id: str,
        sources: Iterable[tuple[str, str]] = (),
    ) -> Quantity:
        """The quantity that a printed figure stands for."""
        trace = Trace(id, (id,), tuple(sources))
        return cls(figure.low, figure.high, unit_of(unit), grade, trace, figure.printed)

    @classmethod
    def point(
        cls,
        value: Fraction | int | str,
        unit: str = "",
        *,
        grade: Grade = Grade.REPRODUCED,
        id: str | None = None,
        sources: Iterable[tuple[str, str]] = (),
    ) -> Quantity:
        """An exact quantity; without ``id`` a bare constant of a formula.

        A constant claims nothing about the world, so its grade never lowers a result.
        """
        exact = Fraction(value)
        trace = Trace(id, (id,), tuple(sources)) if id else Trace(_constant(exact))
        return cls(exact, exact, unit_of(unit), grade, trace)

    def named(self, id: str) -> Quantity:
        """The same quantity, to be called ``id`` in the formulas it enters."""
        return replace(self, trace=Trace(id, (id,), self.trace.sources))

    def graded(self, grade: Grade) -> Quantity:
        """The same quantity with a grade no stronger than ``grade``."""
        return replace(self, grade=min(self.grade, grade))

    def to(self, unit: str) -> Quantity:
        """The same quantity in another unit of the same dimension."""
        return self.to_unit(unit_of(unit))

    def to_unit(self, unit: pint.Unit) -> Quantity:
        """The same quantity in another unit of the same dimension."""
        if unit is self.unit or unit == self.unit:
            return self
        factor = _convert(self.unit, unit)
        return replace(
            self, low=self.low * factor, high=self.high * factor, unit=unit, printed=None
        )

    # -- arithmetic -----------------------------------------------------------------------

    def _with(self, other: Quantity, sign: str, low: Bound, high: Bound, unit) -> Quantity:
        level = 1 if sign in "+-" else 2
        left = _bracket(self.trace, level)
        right = _bracket(other.trace, level + (sign in "-/"))
        trace = Trace(
            f"{left} {sign} {right}",
            _merge(self.trace.inputs, other.trace.inputs),
            _merge(self.trace.sources, other.trace.sources),
            level,
        )
        return Quantity(low, high, unit, min(self.grade, other.grade), trace)

    def _same(self, other: Quantity) -> Quantity:
        return other.to_unit(self.unit)

    def __add__(self, other: Quantity | int | Fraction) -> Quantity:
        o = self._same(_quantity(other))
        return self._with(o, "+", self.low + o.low, self.high + o.high, self.unit)

    def __sub__(self, other: Quantity | int | Fraction) -> Quantity:
        o = self._same(_quantity(other))
        return self._with(o, "-", self.low - o.high, self.high - o.low, self.unit)

    def __mul__(self, other: Quantity | int | Fraction) -> Quantity:
        o = _quantity(other)
        unit, factor = _combine(self.unit, o.unit, "*")
        ends = [_times(a, b) for a in (self.low, self.high) for b in (o.low, o.high)]
        return self._with(o, "*", min(ends) * factor, max(ends) * factor, unit)

    def __truediv__(self, other: Quantity | int | Fraction) -> Quantity:
        o = _quantity(other)
        unit, factor = _combine(self.unit, o.unit, "/")
        if o.low == 0 and o.high > 0 and self.low >= 0 and math.isinf(o.high) is False:
            # "at most x" below the line: the quotient has a lower bound and no upper one
            return self._with(o, "/", self.low / o.high * factor, math.inf, unit)
        if o.low <= 0 <= o.high:
            raise QuantityError(f"{o.trace.formula} may be zero, so nothing can be divided by it")
        ends = [_over(a, b) for a in (self.low, self.high) for b in (o.low, o.high)]
        return self._with(o, "/", min(ends) * factor, max(ends) * factor, unit)

    def __radd__(self, other: int | Fraction) -> Quantity:
        return _quantity(other) + self

    def __rsub__(self, other: int | Fraction) -> Quantity:
        return _quantity(other) - self

    def __rmul__(self, other: int | Fraction) -> Quantity:
        return _quantity(other) * self

    def __rtruediv__(self, other: int | Fraction) -> Quantity:
        return _quantity(other) / self

    def __neg__(self) -> Quantity:
        return Quantity.point(0) - self if self.unit.dimensionless else self * -1

    # -- comparison -----------------------------------------------------------------------

    def __lt__(self, other: Quantity | int | Fraction) -> Answer:
        o = self._same(_quantity(other))
        if self.high < o.low:
            return Answer.YES
        return Answer.NO if self.low >= o.high else Answer.UNDECIDED

    def __le__(self, other: Quantity | int | Fraction) -> Answer:
        o = self._same(_quantity(other))
        if self.high <= o.low:
            return Answer.YES
        return Answer.NO if self.low > o.high else Answer.UNDECIDED

    def __gt__(self, other: Quantity | int | Fraction) -> Answer:
        return _quantity(other) < self

    def __ge__(self, other: Quantity | int | Fraction) -> Answer:
        return _quantity(other) <= self

    def meets(self, other: Quantity) -> bool:
        """Whether the two intervals have a value in common."""
        o = self._same(other)
        return self.low <= o.high and o.low <= self.high

    # -- printing -------------------------------------------------------------------------

    @property
    def middle(self) -> float:
        """The interval's middle as a float, for drawing only."""
        return float((self.low + self.high) / 2)

    def text(self, digits: int | None = None) -> str:
        """The digits on which both ends agree, at most ``digits`` significant ones.

        Where the ends agree on fewer than two digits that matter, the range.
        A figure that is printed stays as it is printed.
        """
        if self.printed is not None and digits is None:
            return self.printed
        return number_text(self.low, self.high, digits)

    def range(self) -> str:
        """Both ends, with the digits in which they begin to differ."""
        return interval_text(self.low, self.high)

    def unit_text(self) -> str:
        return unit_text(self.unit)


def ratio(left: Quantity, right: Quantity) -> Quantity:
    """``left / right``, which must come out as a plain number."""
    quotient = left / right
    if not quotient.unit.dimensionless:
        raise QuantityError(
            f"{_spell(left.unit)} over {_spell(right.unit)} is not a ratio of like things"
        )
    return quotient


def smallest(*parts: Quantity) -> Quantity:
    """The smallest of ``parts``: the interval that holds it whichever part it is."""
    return _extreme("min", min, parts)


def largest(*parts: Quantity) -> Quantity:
    """The largest of ``parts``."""
    return _extreme("max", max, parts)


def _extreme(name: str, pick: Callable, parts: tuple[Quantity, ...]) -> Quantity:
    if not parts:
        raise QuantityError(f"{name} of nothing")
    same = [parts[0]._same(part) for part in parts]
    return Quantity(
        pick(part.low for part in same),
        pick(part.high for part in same),
        parts[0].unit,
        min(part.grade for part in parts),
        Trace(
            f"{name}({', '.join(part.trace.formula for part in parts)})",
            _merge(*(part.trace.inputs for part in parts)),
            _merge(*(part.trace.sources for part in parts)),
        ),
    )


def _quantity(value: Quantity | int | Fraction) -> Quantity:
    if isinstance(value, Quantity):
        return value
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return Quantity.point(value)
    raise TypeError(f"{type(value).__name__} is no quantity: write it as a Fraction or a string")


def _constant(value: Fraction) -> str:
    """A number as formulas write it: with the sign of arithmetic, not that of print."""
    if (places := _places(value)) is None:
        return str(value)
    return decimal_text(value, places).replace("−", "-")


def _bracket(trace: Trace, level: int) -> str:
    return f"({trace.formula})" if trace.level < level else trace.formula


def _times(a: Bound, b: Bound) -> Bound:
    return Fraction(0) if a == 0 or b == 0 else a * b


def _over(a: Bound, b: Bound) -> Bound:
    return Fraction(0) if math.isinf(b) else a / b


# -- digits -------------------------------------------------------------------------------

MOST_DIGITS = 4  # of an exact number whose decimals do not end
LONG = 7  # significant digits of a single exact value where its interval is asked for
ENOUGH = 2  # significant digits on which the ends must agree to print one number


def decimal_text(value: Fraction, places: int) -> str:
    """``value`` rounded half to even at ``places`` decimals (negative: tens, hundreds)."""
    scaled = round(value * Fraction(10) ** places)
    sign, digits = ("−" if scaled < 0 else ""), str(abs(scaled))
    if places <= 0:
        return f"{sign}{int(digits) * 10**-places:,}"
    digits = digits.rjust(places + 1, "0")
    return f"{sign}{int(digits[:-places]):,}.{digits[-places:]}"


def _places(value: Fraction) -> int | None:
    """How many decimals write ``value`` exactly; None where they do not end."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def _leading(value: Bound) -> int:
    """The place of the first significant digit: 2 for 345, 0 for 3.4, -2 for 0.034."""
    size = abs(Fraction(value))
    if size == 0:
        return 0
    place = len(str(size.numerator)) - len(str(size.denominator))
    return place if size >= Fraction(10) ** place else place - 1


def number_text(low: Bound, high: Bound, digits: int | None = None) -> str:
    """One number where both ends round to it, else the range; see ``Quantity.text``."""
    if math.isinf(low) or math.isinf(high) or (low == 0 and high > 0):
        return range_text(low, high, digits)
    if low == high:
        places = _places(low)
        first = _leading(low)
        if places is None or places + first + 1 > 12:
            places = (digits or MOST_DIGITS) - 1 - first
        if digits is not None:
            places = min(places, digits - 1 - first)
        return _rounded(low, places)
    first = _leading(max(abs(low), abs(high)))
    places = _finest(low, high) + 1
    middle = (low + high) / 2
    if high - low == Fraction(10) ** -(places - 1) and _places(middle) == places - 1:
        if digits is None or digits >= places + first:
            return decimal_text(middle, places - 1)  # the very interval that this figure stands for
    fewest = max(ENOUGH - 1 - first, 0)
    if digits is not None:
        places = min(places, digits - 1 - first)
        fewest = min(fewest, places)
    while places >= fewest and decimal_text(low, places) != decimal_text(high, places):
        places -= 1
    return range_text(low, high) if places < fewest else _rounded(low, places)


def _finest(low: Bound, high: Bound) -> int:
    """The place of the first digit of the interval's width; never left of the point."""
    return max(math.ceil(-math.log10(float(high - low))), 0)


def _rounded(value: Bound, places: int) -> str:
    """``value`` at ``places`` decimals; "about" where digits before the point are rounded."""
    text = decimal_text(Fraction(value), places)
    return f"about {text}" if places < 0 and value % Fraction(10) ** -places else text


def range_text(low: Bound, high: Bound, digits: int | None = None) -> str:
    """The range, with the first decimals in which its ends differ visibly.

    A bound is rounded outwards, so that what is printed holds the interval.
    """
    if math.isinf(high) and math.isinf(low):
        return "any"
    if math.isinf(high):
        return f"at least {decimal_text(*_bound(low, digits, math.floor))}"
    if low == 0 and high > 0:
        return f"at most {decimal_text(*_bound(high, digits, math.ceil))}"
    if math.isinf(low):
        return f"at most {decimal_text(*_bound(high, digits, math.ceil))}"
    if low == high:
        return number_text(low, high)
    # a wide range keeps two digits of its smaller end: 0.51 to 1.90 is not "1 to 2"
    places = max(_finest(low, high), ENOUGH - 1 - _leading(min(abs(low), abs(high)) or high))
    while decimal_text(low, places) == decimal_text(high, places):
        places += 1
    return f"{decimal_text(low, places)} to {decimal_text(high, places)}"


def interval_text(low: Bound, high: Bound) -> str:
    """The interval itself: its exact ends where they are short, as those of printed figures are.

    1.03 stands for 1.025 to 1.035; ``range_text`` would give the ends one digit less.
    """
    if math.isinf(low) or math.isinf(high) or low == 0:
        return range_text(low, high)
    if low == high:
        return number_text(low, high, LONG)
    exact = [_places(Fraction(end)) for end in (low, high)]
    if None in exact or max(exact) > _finest(low, high) + 1:
        return range_text(low, high)
    places = max(exact)
    return f"{decimal_text(low, places)} to {decimal_text(high, places)}"


def outward_text(low: Bound, high: Bound) -> str:
    """The range of what is possible, to three digits: what is printed holds all of it."""
    ends = (_bound(low, 3, math.floor), _bound(high, 3, math.ceil))
    return " to ".join(decimal_text(*end) for end in ends)


def _bound(value: Bound, digits: int | None, outwards: Callable) -> tuple[Fraction, int]:
    exact = _places(Fraction(value))
    places = (digits or MOST_DIGITS) - 1 - _leading(value)
    if exact is not None and exact <= places and digits is None:
        return Fraction(value), max(exact, 0)
    scale = Fraction(10) ** places
    return outwards(value * scale) / scale, places
