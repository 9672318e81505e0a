"""What a reader may doubt, answered for every choice: the numbers behind the page's controls.

An answer is a quantity or the reason why there is none. What can be listed is listed here, so
that the page only looks it up; what depends on free choices (steps, lengths, prices) is given
as the intervals that the page's simple arithmetic starts from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from . import baselines, points, results
from .baselines import SUBJECT, Comparator
from .data import Data
from .points import SPEED
from .quantity import Grade, Quantity, ratio

STEP = 1  # per cent of the comparator's fastest speed between two readings
SLOWEST = 5


@dataclass(frozen=True)
class Answer:
    """One model's answer to one choice; ``reason`` stands where there is no quantity."""

    model: str
    against: str
    quantity: Quantity | None = None
    reason: str = ""


@dataclass(frozen=True)
class At:
    """The comparator at one speed, and what that leaves open of the subject.

    ``value`` is per rated kW; ``share`` that of the comparator's own peak; ``lead`` holds every
    lead that the subject's published points allow at this speed or above.
    """

    percent: int
    speed: Quantity
    value: Quantity
    share: Quantity
    measured: bool
    lead: Quantity
    exact: bool


class Questions:
    """The answers from one data folder."""

    def __init__(self, data: Data) -> None:
        self.data = data

    @cached_property
    def comparators(self) -> dict[str, Comparator]:
        return {model: Comparator.of(self.data, model) for model in self.data.models}

    def model_name(self, model: str) -> str:
        return self.data.models[model].name

    def rival_name(self, model: str) -> str:
        return self.data.systems[self.comparators[model].hardware].name

    # -- power ----------------------------------------------------------------------------

    @cached_property
    def all_in(self) -> dict[str, points.AllInPower]:
        return points.all_in(self.data)

    def own_power(self) -> dict[str, str]:
        """What can be charged to a package of the subject: option by key."""
        system = self.data.systems[SUBJECT]
        options = {
            "rating": f"package rating, {system.package_power.printed} W",
            "measured": f"measured, {system.measured_power.printed} W",
        }
        for power in self.all_in.values():
            if power.system == SUBJECT:
                kilowatts = power.quantity
                middle = Quantity.point(Fraction(kilowatts.low + kilowatts.high) / 2).text(3)
                options[_key(power)] = f"all-in, about {middle} kW: {self._origin(power)}"
        return options

    def rival_power(self) -> dict[str, str]:
        """What can be charged to a package of the comparator: option by key."""
        options = {"rating": "package rating", "measured": "measured"}
        for power in self.all_in.values():
            if power.system != SUBJECT:
                options[_key(power)] = f"all-in: {self._origin(power)}"
        return options

    def _origin(self, power: points.AllInPower) -> str:
        return f"{self.data.sources[power.source].name}, {power.place.partition(',')[0]}"

    def power(self, ours: str, theirs: str) -> list[Answer]:
        """The lead in peak throughput per kW on the chosen powers, one answer a model."""
        return [self._power(model, ours, theirs) for model in self.data.models]

    def _power(self, model: str, ours: str, theirs: str) -> Answer:
        rival = self.comparators[model].hardware
        answer = Answer(model, self.rival_name(model))
        kinds = [key if key in ("rating", "measured") else "all-in" for key in (ours, theirs)]
        if kinds == ["measured", "measured"]:
            why = (
                f"refused: no measured power of {answer.against} is published with these results,"
                " so there is nothing to divide by, in either direction"
            )
            return replace(answer, reason=why)
        if kinds[0] != kinds[1]:
            why = (
                f"refused: {_spoken(kinds[0])} on one side and {_spoken(kinds[1])} on the other"
                " count different things"
            )
            return replace(answer, reason=why)
        if kinds[0] == "rating":
            return replace(
                answer, quantity=results.lead(self.data, model, "peak_throughput_per_kw")
            )
        powers = [self.all_in.get(f"{s}_{key}") for s, key in ((SUBJECT, ours), (rival, theirs))]
        if powers[1] is None:
            return replace(answer, reason=f"this source has no all-in figure of {answer.against}")
        own, other = (
            work / power.quantity
            for work, power in zip(results.per_package(self.data, model), powers)
        )
        return replace(answer, quantity=ratio(own, other))

    def same_source(self, ours: str, theirs: str) -> bool:
        """Whether one source gives both all-in figures side by side."""
        bases = {
            power.basis
            for power in self.all_in.values()
            if (_key(power) == ours and power.system == SUBJECT)
            or (_key(power) == theirs and power.system != SUBJECT)
        }
        return len(bases) == 1 and None not in bases

    # -- baseline -------------------------------------------------------------------------

    @cached_property
    def others(self) -> dict[tuple[str, str, str, str], points.Alternative]:
        rows = points.alternatives(self.data)
        return {(row.hardware, row.decoding, row.model, row.which): row for row in rows}

    @cached_property
    def chips(self) -> dict[str, points.Hardware]:
        return points.hardware(self.data)

    def baselines(self) -> dict[str, str]:
        """The systems that the subject can be set against: option by key."""
        found = {(hardware, decoding) for hardware, decoding, *_ in self.others}
        options = {
            "stp": "the published comparator, STP",
            "mtp": "the published comparator with MTP (DeepSeek R1 only)",
        }
        for hardware, decoding in sorted(found, key=lambda pair: (pair[1] != "stp", pair[0])):
            options[f"{hardware}-{decoding}"] = f"{self.chips[hardware].name}, {decoding.upper()}"
        return options

    def baseline(self, key: str, metric: str) -> list[Answer]:
        """The lead in ``metric`` (``peak`` or ``speed``) over a baseline, one answer a model."""
        return [self._baseline(model, key, metric) for model in self.data.models]

    def _baseline(self, model: str, key: str, metric: str) -> Answer:
        comparator = self.comparators[model]
        if key == "stp":
            name = "peak_throughput_per_kw" if metric == "peak" else "decode_speed_max"
            return Answer(model, self.rival_name(model), results.lead(self.data, model, name))
        if key == "mtp":
            if not comparator.decoded("mtp"):
                reason = f"no public row of {self.rival_name(model)} with MTP"
                return Answer(model, self.rival_name(model), reason=reason)
            leads = baselines.leads(comparator, "mtp")
            return Answer(
                model,
                f"{self.rival_name(model)} with MTP",
                leads.peak if metric == "peak" else leads.tbt,
            )
        return self._other(comparator, key, metric)

    def _other(self, comparator: Comparator, key: str, metric: str) -> Answer:
        hardware, decoding = key.split("-")
        which = "peak" if metric == "peak" else "fastest"
        name = self.chips[hardware].name + (" with MTP" if decoding == "mtp" else "")
        if (hardware, decoding) == (comparator.hardware, "stp"):
            return self._baseline(comparator.model, "stp", metric)
        row = self.others.get((hardware, decoding, comparator.model, which))
        if row is None:
            return Answer(comparator.model, name, reason="no public row in the table read here")
        if metric == "peak":
            own = comparator.printed("peak_throughput_per_kw", system=SUBJECT)
            return Answer(comparator.model, name, ratio(own, points.per_kw(row, self.data)))
        own = comparator.printed("decode_speed_max", system=SUBJECT)
        return Answer(comparator.model, name, ratio(own, row.speed))

    # -- equal speed ----------------------------------------------------------------------

    def fronts(self) -> dict[str, tuple[str, str]]:
        """(model, decoding) of every comparator curve, by key."""
        found = {model: (model, "stp") for model in self.data.models}
        for model, comparator in self.comparators.items():
            if comparator.decoded("mtp"):
                found[f"{model}-mtp"] = (model, "mtp")
        return found

    def at_speeds(self, key: str) -> list[At]:
        """The comparator's curve read from slow to fast, in per cent of its fastest speed.

        Where a measured point lies within half a step, that point is read.
        """
        if key not in self._readings:
            self._readings[key] = list(self._read(key))
        return self._readings[key]

    @cached_property
    def _readings(self) -> dict[str, list[At]]:
        return {}

    def _read(self, key: str) -> Iterator[At]:
        model, decoding = self.fronts()[key]
        comparator = self.comparators[model]
        front = comparator.front(decoding, comparator.statistic)
        fastest = front.speeds[-1]
        for percent in range(SLOWEST, 101, STEP):
            wanted = fastest * percent / 100
            near = min(range(len(front.points)), key=lambda i: abs(front.speeds[i] - wanted))
            if abs(front.speeds[near] - wanted) <= fastest * STEP / 200:
                speed = front.points[near].speed(comparator.statistic)
                wanted = front.speeds[near]
            else:
                speed = Quantity.point(Fraction(repr(float(wanted))), SPEED)
            if wanted < front.speeds[0]:
                continue  # slower than any measured point: nothing to read
            yield self._at(comparator, decoding, percent, speed, float(wanted))

    def _at(
        self, comparator: Comparator, decoding: str, percent: int, speed: Quantity, wanted: float
    ) -> At:
        statistic = comparator.statistic
        front = comparator.front(decoding, statistic)
        measured = any(wanted == known for known in front.speeds)
        if measured:
            row = next(p for p, known in zip(front.points, front.speeds) if known == wanted)
            value = replace(comparator.per_kw(row), grade=row.grade)
        else:
            value = baselines.reading(comparator, speed, decoding=decoding, statistic=statistic)
        peak = replace(comparator.per_kw(front.peak), grade=front.peak.grade)
        least, exact = self._least(comparator, decoding, percent, speed)
        most = least if exact else self._most(comparator, decoding, speed)
        low, high = ratio(least, value), ratio(most, value)
        lead = replace(low, high=high.high, grade=min(low.grade, high.grade))
        return At(percent, speed, value, ratio(value, peak).to("percent"), measured, lead, exact)

    def _least(
        self, comparator: Comparator, decoding: str, percent: int, speed: Quantity
    ) -> tuple[Quantity, bool]:
        """What the subject surely still does at ``speed``, and whether that is its very figure.

        A point that serves users at one speed serves them at any slower one.
        """
        at_stp = comparator.printed("throughput_per_kw_at_comparator_best_tbt", system=SUBJECT)
        if decoding == "stp":
            return at_stp, percent == 100
        slower = comparator.front("stp", comparator.statistic).speeds[-1]
        if speed.middle <= slower:
            return at_stp, False
        fastest = comparator.printed("throughput_per_kw_at_mtp_best_tbt", system=SUBJECT)
        return fastest, percent == 100

    def _most(self, comparator: Comparator, decoding: str, speed: Quantity) -> Quantity:
        """What the subject does at most at ``speed``: what it does where it serves users slower.

        Along a front the throughput falls as the speed rises; the peak is at an unknown speed,
        and nothing is above it.
        """
        slower = comparator.front("stp", comparator.statistic).speeds[-1]
        if decoding == "mtp" and speed.middle > slower:
            return comparator.printed("throughput_per_kw_at_comparator_best_tbt", system=SUBJECT)
        return comparator.printed("peak_throughput_per_kw", system=SUBJECT)

    def published(self, key: str) -> list[tuple[Quantity, Quantity]]:
        """The (speed, throughput per rated kW) that the subject has been published at."""
        model, decoding = self.fronts()[key]
        names = ["throughput_per_kw_at_comparator_best_tbt"]
        if decoding == "mtp":
            names.append("throughput_per_kw_at_mtp_best_tbt")
        ids = [f"{model}_{SUBJECT}_stp_{name}" for name in names]
        return [(self.data.speed_of(id), self.data.measurement(id)) for id in ids]

    # -- what free choices start from -----------------------------------------------------

    def latencies(self, model: str) -> tuple[Quantity, Quantity]:
        """The lowest E2E latency of subject and comparator, in s."""
        return results.pair(self.data, model, "e2e_latency_min")

    def gaps_between_tokens(self, model: str) -> tuple[Quantity, Quantity]:
        """The lowest TBT of subject and comparator, in ms a token."""
        return results.pair(self.data, model, "tbt_min")

    def work_of_a_package(self, model: str) -> Quantity:
        """The subject's peak throughput a package over the comparator's."""
        return ratio(*results.per_package(self.data, model))

    def rated_power(self, model: str) -> Quantity:
        """The subject's package rating over the comparator's."""
        return ratio(self.data.power(SUBJECT), self.data.power(self.comparators[model].hardware))

    def even_price(self, model: str) -> Quantity:
        """The price of a package, over the comparator's, at which a token costs the same.

        With both fully used and power left out: a what-if, so ``assumed``.
        """
        return self.work_of_a_package(model).graded(Grade.ASSUMED)


def _key(power: points.AllInPower) -> str:
    return power.id.partition("_")[2]


def _spoken(kind: str) -> str:
    return {"rating": "a rating", "measured": "a measured draw", "all-in": "an all-in figure"}[kind]
