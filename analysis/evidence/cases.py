"""What sources say of one matter, and who contradicts whom.

What is said is a figure (``Figured``) or words; two sayings disagree where the intervals do
not meet, or where the words share none.
A case holds every position on one matter, ordered by how near the source stands.
It answers who contradicts a saying from the extreme figures alone, so that many positions
cost no more than one pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from .errors import InputError
from .figures import Bound
from .model import Claim, Saying
from .quantity import Quantity, QuantityError, number_text

# TBT is printed in ms, and a package's power in W: what they are counted by goes without saying
_WORDS = {
    "ms*user/output_token": "ms",
    "W/package": "W",
    "1/s": "/s",
    "flop": "FLOP",
    "output_token": "tok",
    "mixed_token": "mixed tok",
    "month": "months",
    "percent": "%",
}

NEARNESS = {"primary": 3, "witness": 2, "restates": 1}


@dataclass(frozen=True)
class Figured:
    """A figure: one interval, or those of a range's two ends; ``one_sided`` for "over 9"."""

    low: Quantity
    high: Quantity
    one_sided: bool = False

    def misses(self, other: Figured) -> bool:
        return not (self.low.meets(other.low) and self.high.meets(other.high))

    def holds(self, other: Figured) -> bool:
        """Whether everything that ``other`` may be lies inside this one interval."""
        low, high = other.low.to_unit(self.low.unit), other.high.to_unit(self.low.unit)
        return self.low.low <= low.low and high.high <= self.low.high


Content = Figured | frozenset[str]


def words(value: Iterable[str]) -> frozenset[str]:
    """Words to compare: neither case nor spacing matters."""
    return frozenset(" ".join(word.casefold().split()) for word in value)


def disagree(one: Content, other: Content) -> bool:
    if one is other:
        return False
    if isinstance(one, Figured) and isinstance(other, Figured):
        return one.misses(other)
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return one.isdisjoint(other)
    return False


@dataclass(frozen=True)
class Position:
    """What one place in one source says; ``near`` is how near the source stands."""

    claim: Claim
    saying: Saying
    near: int
    content: Content


@dataclass
class _Pool:
    """The positions of one nearness: for figures only those whose ends lie outermost."""

    extremes: dict[str, tuple[Bound, Position]] = field(default_factory=dict)
    kinds: dict[frozenset[str], Position] = field(default_factory=dict)

    def add(self, position: Position) -> None:
        content = position.content
        if isinstance(content, frozenset):
            self.kinds.setdefault(content, position)
            return
        for name, end in (("low", content.low), ("high", content.high)):
            self._keep(f"{name} lowest", -end.high, position)
            self._keep(f"{name} highest", end.low, position)

    def _keep(self, name: str, rank: Bound, position: Position) -> None:
        if name not in self.extremes or rank > self.extremes[name][0]:
            self.extremes[name] = (rank, position)

    def against(self, content: Content) -> list[Position]:
        if isinstance(content, frozenset):
            found = next((p for kind, p in self.kinds.items() if kind.isdisjoint(content)), None)
            return [found] if found else []
        unlike = [p for _, p in self.extremes.values() if disagree(p.content, content)]
        return list({id(position): position for position in unlike}.values())


class Case:
    """Every position on one matter."""

    def __init__(self) -> None:
        self._pools: dict[int, _Pool] = {}
        self._unit = None

    def add(self, position: Position) -> None:
        """Raises ``InputError`` for a figure whose unit does not fit the earlier ones."""
        content = position.content
        if isinstance(content, Figured):
            self._unit = self._unit or content.low.unit
            try:
                content = in_unit(content, self._unit)
            except QuantityError as error:
                raise InputError(
                    f"claims on one subject are compared, and {error}",
                    mend="give the claim another subject, or its figure in the same unit",
                ) from None
        pool = self._pools.setdefault(position.near, _Pool())
        pool.add(replace(position, content=content))

    def nearest(self) -> int:
        return max(self._pools)

    def against(self, content: Content, near: int) -> list[Position]:
        """Positions of nearness ``near`` that contradict ``content``, the extreme ones."""
        pool = self._pools.get(near)
        return pool.against(content) if pool else []

    def ranks(self) -> Iterator[int]:
        """The kinds of nearness that occur, nearest first."""
        return iter(sorted(self._pools, reverse=True))


def in_unit(content: Figured, unit) -> Figured:
    low, high = content.low.to_unit(unit), content.high.to_unit(unit)
    if low is content.low and high is content.high:
        return content
    return replace(content, low=low, high=high)


@dataclass(frozen=True)
class Difference:
    """How far what is printed lies from what is found.

    ``by`` is the gap between the nearest ends, in ``unit``, positive where the printed figure
    is too high; ``percent`` is the gap over the end that is found, None where that is zero.
    Where the two may not count the same thing, ``alike`` is false and neither is too high.
    """

    by: Fraction
    percent: Fraction | None
    unit: str
    alike: bool = True

    @property
    def text(self) -> str:
        size = with_unit(_rough(abs(self.by)), self.unit)
        if not self.alike:
            return f"differs by at least {size}; may count other things"
        share = "" if self.percent is None else f" ({_rough(abs(self.percent))} %)"
        return f"too {'high' if self.by > 0 else 'low'} by at least {size}{share}"


def difference(said: Figured, found: Figured, *, alike: bool = True) -> Difference | None:
    """The larger of the gaps at the two ends; None where there is none."""
    found = in_unit(found, said.low.unit)
    gaps = [_gap(said.low, found.low), _gap(said.high, found.high)]
    by, end = max(gaps, key=lambda gap: abs(gap[0]))
    if by == 0:
        return None
    percent = abs(Fraction(by) / Fraction(end)) * 100 if end else None
    return Difference(Fraction(by), percent, said.low.unit_text(), alike)


def _gap(said: Quantity, found: Quantity) -> tuple[Bound, Bound]:
    """The gap between two intervals with its sign, and the found end that it is measured from."""
    if said.low > found.high:
        return said.low - found.high, found.high
    return (said.high - found.low, found.low) if said.high < found.low else (0, found.low)


def unit_words(unit: str) -> str:
    """A unit as the field writes it: ``mixed tok/s/kW`` and not ``mixed_token/kW/s``."""
    above, *below = unit.split("/")
    unit = "/".join([above, *sorted(below, key=lambda part: part != "s")])
    for name, word in _WORDS.items():
        unit = unit.replace(name, word)
    return unit


def with_unit(number: str, unit: str) -> str:
    """A number and its unit as the field writes it: ``5 ms``, but ``5/s``."""
    unit = unit_words(unit)
    return f"{number}{unit}" if unit.startswith("/") else f"{number} {unit}".strip()


def _rough(value: Fraction) -> str:
    return number_text(value, value, 2)
