"""The comparators, recomputed from public rows, and what changes with another baseline.

Which row stands behind a printed figure is found by rule, never by row number: the highest
throughput, the lowest TPOT, the lowest end-to-end latency. Whether a printed TBT is a mean or a
median is found by asking which of the two lies in the printed interval.

Grades. A printed figure that a row naming its own system reproduces is ``reproduced``; one that
a row with an inferred system reproduces stays ``published``, as printed. A reading between two
measured points was measured by nobody, so it is ``assumed``; the next faster measured point is not.
The package rating defines what a rated kW is and does not lower the grade of a reproduction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from . import figures, points
from .data import Data
from .frontier import METHODS, Front, Method
from .points import (
    COMPARATORS,
    PER_KW,
    SPEED,
    AllInPower,
    Alternative,
    Decoding,
    OperatingPoint,
    Statistic,
    per_kw,
    rated_power,
)
from .quantity import Grade, Quantity, ratio

SUBJECT = "jalapeno"
STATISTICS: tuple[Statistic, ...] = ("mean", "median")
MEAN_OUTPUT = 922  # tokens: requests draw 80 to 100 % of 1,024 evenly, so 0.9 * 1024 on average


@dataclass(frozen=True)
class Comparator:
    """The rows of one model on the system it was compared with."""

    data: Data
    model: str
    hardware: str
    rows: tuple[OperatingPoint, ...]

    @classmethod
    def of(cls, data: Data, model: str) -> Comparator:
        hardware = COMPARATORS[model]
        return cls(data, model, hardware, tuple(points.read(data, model, hardware)))

    def decoded(self, decoding: Decoding) -> list[OperatingPoint]:
        return [row for row in self.rows if row.decoding == decoding]

    def front(
        self, decoding: Decoding, statistic: Statistic, framework: str | None = None
    ) -> Front:
        key = decoding, statistic, framework
        if key not in self._fronts:
            rows = self.decoded(decoding)
            self._fronts[key] = Front.of(rows, statistic=statistic, framework=framework)
        return self._fronts[key]

    @cached_property
    def _fronts(self) -> dict[tuple, Front]:
        return {}

    def peak(self, decoding: Decoding = "stp") -> OperatingPoint:
        """The point with the highest throughput."""
        return max(self.decoded(decoding), key=lambda row: row.throughput_per_gpu_tok_s)

    def fastest(self, decoding: Decoding, statistic: Statistic) -> OperatingPoint | None:
        """The point with the lowest TPOT, or None where no row gives the statistic."""
        return _least(self.decoded(decoding), f"{statistic}_tpot_ms")

    def soonest(self, decoding: Decoding, statistic: Statistic) -> OperatingPoint | None:
        """The point with the lowest end-to-end latency, or None where no row gives it."""
        return _least(self.decoded(decoding), f"{statistic}_e2e_s")

    @cached_property
    def statistic(self) -> Statistic:
        """The TPOT statistic that the printed TBT of this comparator is."""
        return next(row for row in reproduced(self, "stp") if row.metric == "tbt_min").statistic

    def per_kw(self, row: OperatingPoint) -> Quantity:
        return per_kw(row, self.data)

    def printed(self, metric: str, *, system: str | None = None, decoding: str = "stp") -> Quantity:
        return self.data.measurement(f"{self.model}_{system or self.hardware}_{decoding}_{metric}")


def _least(rows: Iterable[OperatingPoint], column: str) -> OperatingPoint | None:
    given = [row for row in rows if getattr(row, column) is not None]
    return min(given, key=lambda row: getattr(row, column), default=None)


# -- the reproduction table ---------------------------------------------------------------


@dataclass(frozen=True)
class Reproduced:
    """One printed comparator figure beside what the rows give.

    ``row``, ``statistic`` and ``value`` are None where the rows have no such figure;
    ``fits`` says whether the value lies in the printed interval.
    """

    model: str
    decoding: Decoding
    metric: str
    printed: Quantity
    row: OperatingPoint | None = None
    statistic: Statistic | None = None
    value: Quantity | None = None

    @property
    def fits(self) -> bool | None:
        if self.value is None:
            return None
        return self.printed.meets(self.value)

    @property
    def grade(self) -> Grade:
        """The grade of the printed figure after the attempt to reproduce it."""
        if self.fits and self.row.attribution == "row":
            return Grade.REPRODUCED
        return self.printed.grade

    @property
    def moved(self) -> Quantity | None:
        """The rows' value over the printed one: how far the comparator moved since."""
        return None if self.value is None else ratio(self.value, self.printed)


def reproduced(comparator: Comparator, decoding: Decoding) -> list[Reproduced]:
    """The printed figures of a comparator beside the rows', in the order they are printed.

    The last two are the speed that the equal-speed point is labelled with, and the E2E latency.
    """
    c = comparator
    peak = c.peak(decoding)
    tbt, label = c.printed("tbt_min", decoding=decoding), f"{c.model}_{c.hardware}_{decoding}"
    fastest, statistic = _fitting(
        tbt, ((c.fastest(decoding, s), s) for s in STATISTICS), lambda row, s: row.tpot(s)
    )
    e2e = c.printed("e2e_latency_min", decoding=decoding)
    soonest, of_e2e = _fitting(
        e2e, ((c.soonest(decoding, s), s) for s in STATISTICS), lambda row, s: row.seconds("e2e", s)
    )
    own = "throughput_per_kw_at_own_best_tbt"
    speed = fastest.speed(statistic)

    def line(metric: str, row, statistic, value, printed: Quantity | None = None) -> Reproduced:
        printed = printed or c.printed(metric, decoding=decoding)
        return Reproduced(c.model, decoding, metric, printed, row, statistic, value)

    return [
        line("peak_throughput_per_kw", peak, None, _regraded(c.per_kw(peak), peak)),
        line("tbt_min", fastest, statistic, fastest.tpot(statistic), tbt),
        line("decode_speed_max", fastest, statistic, speed),
        line(own, fastest, statistic, _regraded(c.per_kw(fastest), fastest)),
        line("speed_label", fastest, statistic, speed, c.data.speed_of(f"{label}_{own}")),
        line(
            "e2e_latency_min", soonest, of_e2e, soonest and soonest.seconds("e2e", of_e2e), e2e
        ),
    ]  # fmt: skip


def _fitting(printed: Quantity, candidates, value):
    """The (row, statistic) whose value lies in the printed interval, else the first there is."""
    given = [(row, statistic) for row, statistic in candidates if row is not None]
    fits = [pair for pair in given if printed.meets(value(*pair))]
    return (fits or given or [(None, None)])[0]


def _regraded(value: Quantity, row: OperatingPoint) -> Quantity:
    return replace(value, grade=row.grade)


# -- readings at a speed ------------------------------------------------------------------


def reading(
    comparator: Comparator,
    speed: Quantity,
    *,
    decoding: Decoding,
    statistic: Statistic,
    method: Method = "steffen",
) -> Quantity:
    """Mixed throughput per rated kW at ``speed`` along the comparator's pooled front.

    A reading that falls between measured points is graded ``assumed``; one that is a measured
    point carries that point's grade. ``speed`` is exact or an interval whose middle is taken.
    """
    c = comparator
    front = c.front(decoding, statistic)
    at = speed.to(SPEED)
    read = front.at(at.middle, method=method)
    rows = _read_from(front, at.middle, read.measured)
    if read.measured:
        return _regraded(c.per_kw(rows[-1]), rows[-1])
    name = f"{c.model}_{c.hardware}_{decoding}_{method.replace('-', '_')}_{statistic}"
    power = rated_power(c.data, c.hardware)
    value = Quantity.point(
        Fraction(repr(read.throughput)), points.PER_PACKAGE,
        grade=min(Grade.ASSUMED, *(row.grade for row in rows)), id=f"{name}_throughput",
        sources=[source for row in rows for source in row.throughput.trace.sources],
    )  # fmt: skip
    return (value / power).to(PER_KW)


def _read_from(front: Front, speed: float, measured: bool) -> list[OperatingPoint]:
    """The measured points on both sides of ``speed``, or the one that answers for it."""
    faster = front.next_faster(speed) or front.fastest
    if measured:
        return [front.peak if speed < front.speeds[0] else faster]
    return [front.points[front.points.index(faster) - 1], faster]


# -- what depends on the baseline ---------------------------------------------------------


@dataclass(frozen=True)
class EqualSpeed:
    """The lead at the comparator's own fastest STP speed, by one TPOT statistic."""

    statistic: Statistic
    speed: Quantity
    stp: Quantity
    mtp: dict[Method, Quantity]
    lead_stp: Quantity
    lead_mtp: dict[Method, Quantity]


def equal_speed(comparator: Comparator, statistic: Statistic) -> EqualSpeed:
    """The subject's equal-speed throughput over the comparator's, without MTP and with it.

    The subject's point is taken at the comparator's fastest STP row, whichever statistic is
    meant: nobody says which one the subject's point uses.
    """
    c = comparator
    fastest = c.fastest("stp", statistic)
    speed = fastest.speed(statistic)
    subject = c.printed("throughput_per_kw_at_comparator_best_tbt", system=SUBJECT)
    stp = _regraded(c.per_kw(fastest), fastest)
    mtp = {
        method: reading(c, speed, decoding="mtp", statistic=statistic, method=method)
        for method in METHODS
    }
    return EqualSpeed(
        statistic, speed, stp, mtp,
        ratio(subject, stp), {method: ratio(subject, value) for method, value in mtp.items()},
    )  # fmt: skip


@dataclass(frozen=True)
class Leads:
    """The subject's three leads over one decoding mode of the comparator."""

    decoding: Decoding
    peak: Quantity
    tbt: Quantity
    e2e: Quantity | None


def leads(comparator: Comparator, decoding: Decoding) -> Leads:
    """Peak, TBT and E2E leads with the rows' exact values in the comparator's place.

    Latencies are leads of the comparator's over the subject's, so that more is better for the
    subject in all three. ``e2e`` is None where the rows have no end-to-end latency.
    """
    c = comparator
    rows = {row.metric: row for row in reproduced(c, decoding)}

    def subject(metric: str) -> Quantity:
        return c.printed(metric, system=SUBJECT)

    peak, tbt, e2e = (
        rows[m].value for m in ("peak_throughput_per_kw", "tbt_min", "e2e_latency_min")
    )
    return Leads(
        decoding,
        ratio(subject("peak_throughput_per_kw"), peak),
        ratio(tbt, subject("tbt_min")),
        e2e and ratio(e2e, subject("e2e_latency_min")),
    )


@dataclass(frozen=True)
class Endpoint:
    """The fastest point of a front beside the next slower one.

    ``slower`` is the relative step in TPOT, ``more`` the ratio of throughputs,
    ``lead`` the subject's equal-speed throughput over the slower point's,
    ``share`` the fastest point's throughput as a share of the peak.
    """

    fastest: OperatingPoint
    neighbour: OperatingPoint
    slower: Quantity
    more: Quantity
    lead: Quantity
    share: Quantity


def endpoint(comparator: Comparator) -> Endpoint:
    """How steeply the comparator's STP front ends."""
    c = comparator
    front = c.front("stp", c.statistic)
    last, before = front.points[-1], front.points[-2]
    subject = c.printed("throughput_per_kw_at_comparator_best_tbt", system=SUBJECT)
    step = ratio(before.tpot(c.statistic), last.tpot(c.statistic)) - Quantity.point(1)
    return Endpoint(
        last, before, step, ratio(before.throughput, last.throughput),
        ratio(subject, _regraded(c.per_kw(before), before)), front.share_of_peak(last),
    )  # fmt: skip


# -- other systems ------------------------------------------------------------------------


@dataclass(frozen=True)
class Beats:
    """Another public system whose peak per rated kW is above the chosen comparator's."""

    row: Alternative
    per_kw: Quantity
    lead: Quantity

    @property
    def date(self) -> str:
        return self.row.date or "not known"


def beating(comparator: Comparator) -> list[Beats]:
    """The systems that beat the chosen STP comparator at peak per rated kW, best first."""
    c = comparator
    subject = c.printed("peak_throughput_per_kw", system=SUBJECT)
    chosen = c.per_kw(c.peak())
    rows = [r for r in points.alternatives(c.data) if r.model == c.model and r.which == "peak"]
    found = [Beats(row, value, ratio(subject, value)) for row in rows if
             (value := per_kw(row, c.data)).low > chosen.low]  # fmt: skip
    return sorted(found, key=lambda beats: -beats.per_kw.low)


@dataclass(frozen=True)
class Quicker:
    """Another public system whose fastest point is faster than the comparator's, like for like."""

    row: Alternative
    comparator: Quantity
    lead: Quantity


def quicker(comparator: Comparator, decoding: Decoding) -> list[Quicker]:
    """The systems with a lower median TPOT than the comparator in the same decoding mode.

    ``lead`` sets their median against the subject's printed TBT, which may be a mean.
    """
    c = comparator
    fastest = c.fastest(decoding, "median")
    if fastest is None:
        return []
    own, subject = fastest.tpot("median"), c.printed("tbt_min", system=SUBJECT)
    rows = [r for r in points.alternatives(c.data) if (r.model, r.decoding) == (c.model, decoding)]
    found = [
        Quicker(row, own, ratio(row.tpot, subject))
        for row in rows
        if row.which == "fastest" and row.tpot.high < own.low
    ]
    return sorted(found, key=lambda quick: quick.row.tpot.low)


# -- power bases --------------------------------------------------------------------------


@dataclass(frozen=True)
class PowerBasis:
    """The peak lead per kW of one pair of all-in figures."""

    subject: AllInPower
    comparator: AllInPower
    lead: Quantity
    rated: Quantity

    @property
    def same_source(self) -> bool:
        return self.subject.basis is not None and self.subject.basis == self.comparator.basis

    @property
    def change(self) -> str:
        """Whether the lead per rated kW shrinks or widens on this basis."""
        if self.lead.meets(self.rated):
            return "undecided"
        return "shrinks" if self.lead.high < self.rated.low else "widens"


def power_bases(comparator: Comparator) -> list[PowerBasis]:
    """The peak lead under every pair of all-in figures, pairs of one source first."""
    c = comparator
    peaks = [c.printed("peak_throughput_per_kw", system=system) for system in (SUBJECT, c.hardware)]
    packages = [
        peak * c.data.power(system).to("kW/package")
        for peak, system in zip(peaks, (SUBJECT, c.hardware), strict=True)
    ]
    power = points.all_in(c.data).values()
    bases = [
        PowerBasis(
            ours, theirs,
            ratio(packages[0] / ours.quantity, packages[1] / theirs.quantity), ratio(*peaks),
        )
        for ours in power if ours.system == SUBJECT
        for theirs in power if theirs.system == c.hardware
    ]  # fmt: skip
    return sorted(bases, key=lambda basis: not basis.same_source)


# -- end-to-end latency -------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """One end-to-end latency taken apart.

    ``tokens`` is the mean output length (output tokens per user); ``first`` what passes before
    decoding, ``decode`` the rest.
    """

    name: str
    e2e: Quantity
    first: Quantity
    decode: Quantity
    tokens: Quantity
    row: OperatingPoint | None = None

    @property
    def share(self) -> Quantity:
        """Decoding's share of the whole."""
        return ratio(self.decode, self.e2e)


def measured_parts(row: OperatingPoint) -> Parts:
    """A row's mean E2E latency split by its mean TTFT: exact, nothing assumed but that means add.

    The output length (E2E - TTFT) / TPOT + 1 divides means by means; it equals the mean length
    only as far as TPOT does not depend on length.
    """
    e2e, first, tpot = row.seconds("e2e", "mean"), row.seconds("ttft", "mean"), row.tpot("mean")
    decode = e2e - first
    tokens = (decode / tpot).to("output_token/user") + Quantity.point(1, "output_token/user")
    return Parts(row.id, e2e, first, decode, tokens, row)


def assumed_parts(
    comparator: Comparator, system: str, *, tokens: int = MEAN_OUTPUT, decoding: Decoding = "stp"
) -> Parts:
    """A printed E2E latency split by the printed TBT, for ``tokens`` output tokens.

    Assumes that both printed minima belong to one operating point; so it is ``assumed``.
    """
    c = comparator
    e2e = c.printed("e2e_latency_min", system=system, decoding=decoding)
    tbt = c.printed("tbt_min", system=system, decoding=decoding)
    length = Quantity.point(
        tokens, "output_token/user", grade=Grade.ASSUMED, id="mean_output_tokens"
    )
    decode = (tbt * (length - Quantity.point(1, "output_token/user"))).to("s")
    return Parts(f"{c.model}_{system}", e2e, e2e - decode, decode, length)


# -- "over 9x at 100 tok/s/user" ----------------------------------------------------------

KIMI_CLAIM = ">9"
KIMI_SPEED = 100


@dataclass(frozen=True)
class Implied:
    """What a claimed lead at a speed implies, per rated kW, for one reading of the front.

    ``most`` is the lead that the subject's own peak would allow: no point can be above it.
    """

    method: Method
    comparator: Quantity
    subject: Quantity
    most: Quantity


def kimi_speed() -> Quantity:
    return Quantity.point(KIMI_SPEED, SPEED)


def implied(comparator: Comparator) -> list[Implied]:
    """The subject's throughput per rated kW that "over 9x at 100 tok/s/user" implies."""
    claim = _claim()
    peak = comparator.printed("peak_throughput_per_kw", system=SUBJECT)
    found = []
    for method in METHODS:
        value = reading(
            comparator, kimi_speed(), decoding="stp", statistic=comparator.statistic, method=method
        )
        found.append(Implied(method, value, claim * value, ratio(peak, value)))
    return found


def implied_all_in(comparator: Comparator, ours: AllInPower, theirs: AllInPower) -> Quantity:
    """The same per rated kW if the claim counts all-in power, by the dashboard's curve.

    The claim's lead per all-in kW is turned into rated kW by each system's two figures.
    """
    c = comparator
    value = reading(c, kimi_speed(), decoding="stp", statistic=c.statistic)
    theirs_share = theirs.quantity / c.data.power(c.hardware)
    ours_share = ours.quantity / c.data.power(SUBJECT)
    return (_claim() * (value / theirs_share) * ours_share).to(PER_KW)


def _claim() -> Quantity:
    return Quantity.read(
        figures.parse(KIMI_CLAIM), "", grade=Grade.STATED, id="kimi_lead_at_100",
        sources=[
            ("semianalysis-jalapeno", "Kimi K2.5 at 100 tok/s/user, per all-in utility power"),
            ("geekpark", "paragraph 37"),
        ],
    )  # fmt: skip
