"""The ledger: what every claim is worth, computed from its formula and its sources.

A claim's verdict is the first of these that applies.

``conflicts``
    sources that stand equally near to the matter disagree, or a nearer one says something of
    another kind;
``differs``
    what is printed and what is computed do not meet, or a nearer source prints another figure;
``reproduces``
    they meet;
``unsupported``
    there is nothing public to check it against, or the check is undecided.

Nearness is the source's own: a primary document, a witness, a text that restates others.
A witness of one matter may stand farther from another, which its saying then says.
Claims that restate one another, or that name the same subject in ``about``, are compared.
A claim that every nearer source agrees with stands as near as they do, so that a wrong
retelling lowers neither the primary claim nor a faithful retelling.

The grade is the weakest of what the verdict rests on; a figure that stands only in a claim
file is ``stated`` at most.
A claim is proven only where it reproduces, at a proven grade, from at least one published
measurement.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from . import figures, formula, points
from .cases import (
    NEARNESS,
    Case,
    Content,
    Difference,
    Figured,
    Position,
    difference,
    disagree,
    words,
)
from .data import Data, printed_unit
from .errors import InputError, shown
from .figures import Figure
from .formula import Comparison, Result, Span
from .model import Claim, Part, Saying, Topic
from .quantity import Answer, Grade, Quantity, QuantityError, Trace, unit_of
from .units import pint

ONE_SIDED = ("at least", "more than", "at most", "less than")


class Verdict(Enum):
    CONFLICTS = "conflicts"
    DIFFERS = "differs"
    REPRODUCES = "reproduces"
    UNSUPPORTED = "unsupported"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Checked:
    """One figure of a claim beside what its formula comes to.

    ``said`` is what the claim says: its figure, its words, or what it computes without
    printing; ``difference`` is given where the verdict is ``differs`` and numbers differ.
    """

    part: Part
    said: Content | None
    result: Result | None
    verdict: Verdict
    difference: Difference | None = None


@dataclass(frozen=True)
class Entry:
    """A claim with its verdict and what the verdict rests on.

    ``against`` are the positions that lower it; ``disputed_by`` the claims that stand farther
    and disagree in vain; ``restated_by`` those that retell it.
    """

    claim: Claim
    verdict: Verdict
    grade: Grade
    proven: bool
    checked: tuple[Checked, ...]
    difference: Difference | None = None
    against: tuple[Position, ...] = ()
    disputed_by: tuple[str, ...] = ()
    restated_by: tuple[str, ...] = ()
    settles: str | None = None
    who: str | None = None


Ledger = dict[str, Entry]


def counts(ledger: Ledger) -> Counter[tuple[str, Verdict]]:
    """How many claims by (topic, verdict)."""
    return Counter((entry.claim.topic, entry.verdict) for entry in ledger.values())


def build(data: Data) -> Ledger:
    """Every claim of ``data`` with its verdict, in the order of the claim files.

    Raises ``InputError`` with file, line and field for a claim that cannot be read.
    """
    return _Builder(data).ledger()


class Names:
    """The quantities that formulas may name, made when first asked for.

    Measurements and powers of systems by their ids, cells of public rows, ratings of other
    chips; and the printed figure of another claim by its id with ``_`` for ``-``, which is
    ``stated`` at most.
    """

    def __init__(self, data: Data) -> None:
        self._data = data
        self._known: dict[str, Quantity] = {}

    @cached_property
    def _rows(self) -> dict[str, Quantity]:
        return points.quantities(self._data)

    @cached_property
    def _ratings(self) -> dict[str, Quantity]:
        return points.ratings(self._data)

    def __call__(self, name: str) -> Quantity:
        if name not in self._known:
            self._known[name] = (
                self._data.quantity(name)
                or self._rows.get(name)
                or self._ratings.get(name)
                or self._claimed(name)
            )
        return self._known[name]

    def measured(self, name: str) -> bool:
        """Whether ``name`` is a published measurement or a cell of a public row."""
        return name in self._data.measurements or name in self._rows

    def _claimed(self, name: str) -> Quantity:
        claim = self._data.claims.get(name.replace("_", "-"))
        if claim is None or claim.printed is None:
            raise self._unknown(name)
        figure = read_figure(claim.figures[0])
        sources = tuple((saying.source, saying.place) for saying in claim.said)
        hull = replace(figure.low, high=figure.high.high)
        return replace(hull, trace=Trace(name, (name,), sources))

    def _unknown(self, name: str) -> InputError:
        known = [*self._data.measurements, *(id.replace("-", "_") for id in self._data.claims)]
        close = difflib.get_close_matches(name, known, n=3)
        hint = f"perhaps {' or '.join(close)}" if close else "see measurements.csv and systems.yml"
        return InputError(f"nothing is called {shown(name)}", mend=hint)


# -- reading what is said -----------------------------------------------------------------


def read_figure(part: Part, reading: str | None = None) -> Figured:
    """What a printed figure stands for, in its unit; ``reading`` says it in other words."""
    figure = figures.exact(part.printed) if part.exact else figures.parse(part.printed)
    unit = _unit(part, figure)
    ends = [
        Quantity(low, high, unit, Grade.STATED)
        for low, high in figure.ends or ((figure.low, figure.high),)
    ]
    if reading is not None:
        ends = [_reread(end, reading) for end in ends]
    return Figured(ends[0], ends[-1], figure.form in ONE_SIDED)


def _unit(part: Part, figure: Figure | None) -> pint.Unit:
    behind = figure.unit if figure else None
    if part.unit is None:
        return unit_of(behind or "")
    unit = printed_unit(part.unit)
    if behind is not None and unit_of(behind) != unit:
        raise InputError(
            f"{shown(part.printed)} is not in {part.unit}",
            mend="give the unit once: behind the figure, or in unit",
        )
    return unit


def _reread(end: Quantity, reading: str) -> Quantity:
    def names(name: str) -> Quantity:
        if name != "printed":
            raise InputError(f"a reading knows no {shown(name)}", mend="use printed and numbers")
        return end

    outcome = formula.evaluate(reading, names).outcome
    if not isinstance(outcome, Quantity):
        raise InputError("a reading comes to one figure", mend="use printed, + - * / and between")
    return outcome.to_unit(end.unit)


def _evaluate(part: Part, printed: Figured | None, names: Names) -> Result:
    """What a part's formula comes to, in the unit of its figure."""
    result = formula.evaluate(part.formula, names)
    if isinstance(result.outcome, Comparison):
        if part.printed is not None:
            raise InputError(
                "a comparison answers yes or no, and a figure is printed",
                mend="drop the printed figure, or compute it without comparing",
            )
        return result
    unit = printed.low.unit if printed else _unit(part, None)
    try:
        outcome = result.outcome
        if isinstance(outcome, Span):
            outcome = Span(tuple(_in_unit(member, unit) for member in outcome.members))
        else:
            outcome = _in_unit(outcome, unit)
    except QuantityError as error:
        raise InputError(
            f"the formula does not come to the figure: {error}", mend="give the figure's unit"
        ) from None
    return replace(result, outcome=outcome)


def _in_unit(quantity: Quantity, unit: pint.Unit) -> Quantity:
    if not quantity.trace.inputs and quantity.unit.dimensionless:
        return replace(quantity, unit=unit)  # plain numbers count in the claim's unit
    return quantity.to_unit(unit)


def found(result: Result | None) -> Figured | None:
    """The figure that a formula comes to; None for a comparison."""
    if result is None or isinstance(result.outcome, Comparison):
        return None
    if isinstance(result.outcome, Span):
        return Figured(result.outcome.low, result.outcome.high)
    return Figured(result.outcome, result.outcome)


# -- comparing ----------------------------------------------------------------------------

_ANSWERS = {
    Answer.YES: Verdict.REPRODUCES,
    Answer.NO: Verdict.DIFFERS,
    Answer.UNDECIDED: Verdict.UNSUPPORTED,
}


def _verdict(printed: Figured | None, result: Result | None) -> Verdict:
    """What a figure's own formula says of it."""
    if result is not None and isinstance(result.outcome, Comparison):
        return _ANSWERS[result.outcome.answer]
    computed = found(result)
    if printed is None or computed is None:
        return Verdict.UNSUPPORTED
    if printed.misses(computed):
        return Verdict.DIFFERS
    if printed.one_sided and not printed.holds(computed):
        return Verdict.UNSUPPORTED
    return Verdict.REPRODUCES


class _Builder:
    """One pass over the claims: check each by its formula, then against what others say."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._claims = data.claims
        self._names = Names(data)
        self._cases: dict[tuple[str, str, bool], Case] = {}
        self._restated: dict[str, list[str]] = {}

    def ledger(self) -> Ledger:
        checked = {id: self._checked(claim) for id, claim in self._claims.items()}
        self._no_circle(checked)
        for id, claim in self._claims.items():
            for key, position in self._positions(claim, checked[id]):
                case = self._cases.setdefault(key, Case())
                with self._data.claim_field(id, "about"):
                    case.add(position)
            if claim.restates:
                self._restated.setdefault(claim.restates, []).append(id)
        return {id: self._entry(claim, checked[id]) for id, claim in self._claims.items()}

    def _no_circle(self, checked: dict[str, tuple[Checked, ...]]) -> None:
        """Raise ``InputError`` for a claim that is checked against itself in the end."""
        names = {
            id: {
                name.replace("_", "-")
                for check in checks
                if check.result
                for name in check.result.inputs
                if not self._names.measured(name)
            }
            & self._claims.keys()
            for id, checks in checked.items()
        }
        try:
            TopologicalSorter(names).prepare()
        except CycleError as error:
            circle = error.args[1]
            with self._data.claim_field(circle[0], "formula"):
                raise InputError(
                    f"the claim is checked against itself: {' needs '.join(reversed(circle))}",
                    mend="compute it from measurements, or leave the formula out",
                ) from None

    # -- by its own formula ---------------------------------------------------------------

    def _checked(self, claim: Claim) -> tuple[Checked, ...]:
        return tuple(
            self._check(claim, part, ("parts", i) if claim.parts else ())
            for i, part in enumerate(claim.figures)
        )

    def _check(self, claim: Claim, part: Part, at: tuple[str | int, ...]) -> Checked:
        printed = result = None
        if part.printed is not None:
            with self._data.claim_field(claim.id, *at, "printed"):
                printed = read_figure(part, claim.reading)
        if part.formula is not None:
            with self._data.claim_field(claim.id, *at, "formula"):
                result = _evaluate(part, printed, self._names)
        verdict = _verdict(printed, result)
        gap = None
        if verdict is Verdict.DIFFERS and printed is not None:
            gap = difference(printed, found(result))
        said = words(claim.value) if claim.value else printed or found(result)
        return Checked(part, said, result, verdict, gap)

    # -- by what others say ---------------------------------------------------------------

    def _positions(
        self, claim: Claim, checked: Iterable[Checked]
    ) -> Iterator[tuple[tuple[str, str, bool], Position]]:
        of_source: dict[tuple[str, str], Content | None] = {}
        for i, saying in enumerate(claim.said):
            for check in checked:
                with self._data.claim_field(claim.id, "said", i):
                    content = _content(claim, saying, check)
                    _comparable(check.said, content)
                    first = of_source.setdefault((saying.source, check.part.of), content)
                    _consistent(saying.source, first, content)
                if content is not None:
                    position = Position(claim, saying, self._near(saying), content)
                    yield self._key(claim, check, content), position

    def _near(self, saying: Saying) -> int:
        """The source's nearness; a saying may lower it for its matter and never raise it."""
        own = NEARNESS[self._data.sources[saying.source].stands]
        return min(own, NEARNESS[saying.stands]) if saying.stands else own

    def _key(self, claim: Claim, check: Checked, content: Content) -> tuple[str, str, bool]:
        root = self._claims[claim.restates] if claim.restates else claim
        subject = f"about {root.about}" if root.about else f"claim {root.id}"
        return subject, check.part.of, isinstance(content, frozenset)

    def _entry(self, claim: Claim, checked: tuple[Checked, ...]) -> Entry:
        weighed = [self._weigh(claim, check) for check in checked]
        verdicts = {one.verdict for one in weighed}
        verdict = next(kind for kind in _PRECEDENCE if kind in verdicts)
        against = tuple(position for one in weighed for position in one.against)
        grade = _grade(claim, checked, verdict)
        inputs = {id for check in checked if check.result for id in check.result.inputs}
        proven = verdict is Verdict.REPRODUCES and grade.proven
        return Entry(
            claim,
            verdict,
            grade,
            proven and any(map(self._names.measured, inputs)),
            checked,
            next((one.difference for one in weighed if one.difference), None),
            against,
            tuple(dict.fromkeys(id for one in weighed for id in one.disputed_by)),
            tuple(self._restated.get(claim.id, ())),
            *_settles(claim, self._data.topics[claim.topic], needed=not _settled(checked, verdict)),
        )

    def _weigh(self, claim: Claim, check: Checked) -> _Weighed:
        """A figure's verdict once the positions of others on the same matter are heard."""
        if check.said is None:
            return _Weighed(check.verdict, check.difference)
        case = self._cases[self._key(claim, check, check.said)]
        near = max(
            (
                self._near(saying)
                for saying in claim.said
                if not disagree(check.said, _content(claim, saying, check))
            ),
            default=0,
        )
        ranks = list(case.ranks())
        for rank in ranks:
            against = [p for p in case.against(check.said, rank) if rank > near]
            if against:
                return self._lowered(claim, check, against)
        standing = max(near, case.nearest())
        against = case.against(check.said, near) if standing == near else []
        if against:
            return _Weighed(Verdict.CONFLICTS, _nearest_gap(claim, check, against), tuple(against))
        farther = [
            position.claim.id
            for rank in ranks
            if rank < standing
            for position in case.against(check.said, rank)
        ]
        return _Weighed(check.verdict, check.difference, (), tuple(farther))

    def _lowered(self, claim: Claim, check: Checked, against: list[Position]) -> _Weighed:
        """What becomes of a figure that a nearer source contradicts."""
        if isinstance(check.said, frozenset):
            return _Weighed(Verdict.CONFLICTS, None, tuple(against))
        gap = check.difference or _nearest_gap(claim, check, against)
        return _Weighed(Verdict.DIFFERS, gap, tuple(against))


_PRECEDENCE = (Verdict.CONFLICTS, Verdict.DIFFERS, Verdict.UNSUPPORTED, Verdict.REPRODUCES)


@dataclass(frozen=True)
class _Weighed:
    verdict: Verdict
    difference: Difference | None = None
    against: tuple[Position, ...] = ()
    disputed_by: tuple[str, ...] = ()


def _content(claim: Claim, saying: Saying, check: Checked) -> Content | None:
    """What ``saying`` says: what it gives of its own, else what the claim says."""
    if saying.value is not None:
        return words(saying.value)
    if saying.printed is not None:
        return read_figure(check.part.model_copy(update={"printed": saying.printed}))
    return check.said


def _comparable(said: Content | None, content: Content | None) -> None:
    try:
        if said is not None and content is not None:
            disagree(said, content)
    except QuantityError as error:
        raise InputError(
            f"what it prints is no figure like the claim's: {error}",
            mend="give the figure in a unit of the same kind, or make another claim of it",
        ) from None


def _consistent(source: str, first: Content | None, then: Content | None) -> None:
    if first is not None and then is not None and disagree(first, then):
        raise InputError(
            f"{source} says two things here that contradict each other",
            mend="make two claims of them, each with its own place",
        )


def _nearest_gap(claim: Claim, check: Checked, against: list[Position]) -> Difference | None:
    """The smallest gap to what stands against a figure.

    Only a claim and its retellings count the same thing for certain; claims that share no
    more than a subject may count from another start or hold for another scope.
    """
    if not isinstance(check.said, Figured):
        return None
    root = claim.restates or claim.id
    gaps = [
        difference(
            check.said, position.content, alike=root in (position.claim.id, position.claim.restates)
        )
        for position in against
    ]
    return min(filter(None, gaps), key=lambda gap: abs(gap.by), default=None)


def _grade(claim: Claim, checked: tuple[Checked, ...], verdict: Verdict) -> Grade:
    """The weakest of what the verdict rests on.

    Formulas settle what reproduces and what differs from its own formula; whatever else a
    verdict comes from has only been said.
    """
    grades = [check.result.grade if check.result else Grade.STATED for check in checked]
    if not _settled(checked, verdict):
        grades.append(Grade.STATED)
    return min([*grades, *([Grade.OPEN] if claim.gap else [])])


def _settled(checked: tuple[Checked, ...], verdict: Verdict) -> bool:
    """Whether the verdict comes from the claim's own formulas."""
    return verdict in (Verdict.REPRODUCES, Verdict.DIFFERS) and any(
        check.verdict is verdict for check in checked
    )


def _settles(claim: Claim, topic: Topic, *, needed: bool) -> tuple[str | None, str | None]:
    """What would settle a claim and who could give it: its own words, else its topic's."""
    if not (claim.settles or needed):
        return None, None
    return claim.settles or topic.settles, claim.who or topic.who
